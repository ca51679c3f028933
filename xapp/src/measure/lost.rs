//! UEs that the node lists, but has given up.
//!
//! Their records stay in every report, with counters that stand still, until the core network releases them
//! (measured at an OAI gNB: for as long as one cared to wait), while their queues grow.

use super::{CellConfig, window::Snapshot};
use policies::UeReport;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

#[derive(Debug, Default)]
pub(super) struct Lost {
    /// Since when (RAN time, µs) a UE with data in its queue has got no new transport block.
    stalled: BTreeMap<u16, i64>,
    lost: BTreeSet<u16>,
}

impl Lost {
    /// C-RNTIs of the lost UEs.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.lost.iter().copied()
    }

    /// Whether the UE of this report, made over the window from `base` to `end`, is lost.
    pub(super) fn observe(
        &mut self,
        rnti: u16,
        report: &UeReport,
        base: &Snapshot,
        end: &Snapshot,
        config: &CellConfig,
    ) -> Observation {
        let waits = match report.queue_bytes {
            Some(queue) => queue > 0,
            // Without an RLC report for once, what was known holds.
            None => self.stalled.contains_key(&rnti),
        };
        if report.tb_sent != Some(0) || !waits {
            self.stalled.remove(&rnti);
            self.lost.remove(&rnti);
            return Observation::Alive;
        }
        let since = *self.stalled.entry(rnti).or_insert(base.tstamp_us);
        let still = Duration::from_micros(u64::try_from(end.tstamp_us - since).unwrap_or(0));
        if still < config.lost_after {
            return Observation::Alive;
        }
        match self.lost.insert(rnti) {
            true => Observation::JustLost,
            false => Observation::Lost,
        }
    }

    /// Forgets UEs that the node lists no more.
    pub(super) fn retain(&mut self, listed: &Snapshot) {
        self.stalled.retain(|rnti, _| listed.ues.contains_key(rnti));
        self.lost.retain(|rnti| listed.ues.contains_key(rnti));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observation {
    Alive,
    JustLost,
    Lost,
}
