//! How many downlink flows share the cell: n of Pε = f · P / n.

use crate::report::{UeId, UeReport};
use std::{collections::HashMap, mem::discriminant, time::Duration};

/// UEs that took part in the cell lately, guided or not.
///
/// A UE counts until `hold` after its last report with data: without it n, and with it every flow's target,
/// would jump whenever an application pauses for one report.
#[derive(Clone, Debug)]
pub struct ActiveUes {
    hold: Duration,
    last_active: HashMap<UeId, Duration>,
}

impl ActiveUes {
    /// `hold`: how long a UE counts after it was last active.
    pub fn new(hold: Duration) -> Self {
        Self {
            hold,
            last_active: HashMap::new(),
        }
    }

    /// Takes note of a report.
    pub fn observe(&mut self, report: &UeReport) {
        if report.active() {
            let last = self.last_active.entry(report.ue).or_default();
            *last = (*last).max(report.end());
        }
    }

    /// Forgets a UE that was released or lost.
    pub fn remove(&mut self, ue: UeId) {
        self.last_active.remove(&ue);
    }

    /// Forgets all that have paused too long and says how many are left.
    ///
    /// Service models name the same UE differently (see [`UeId`]), and one may take over from another: of the UEs
    /// under each kind of name only the most count.
    pub fn count(&mut self, now: Duration) -> u32 {
        self.last_active
            .retain(|_, last| now.saturating_sub(*last) <= self.hold);
        let mut kinds = HashMap::new();
        for ue in self.last_active.keys() {
            *kinds.entry(discriminant(ue)).or_default() += 1;
        }
        kinds.into_values().max().unwrap_or(0)
    }

    /// Whether this UE counts.
    pub fn contains(&self, ue: UeId, now: Duration) -> bool {
        self.last_active
            .get(&ue)
            .is_some_and(|last| now.saturating_sub(*last) <= self.hold)
    }
}
