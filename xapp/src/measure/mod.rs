//! From indications of every dialect to [`UeReport`]s.
//!
//! Pure: octets and the time of their receipt go in, reports come out. One [`NodeMeasurements`] per E2 node holds
//! the cumulative counters of the last report, so that the next one gives differences over a window.
//!
//! What a MAC model gives (FlexRIC's, as OAI fills it) is preferred, joined with the RLC model's queues of the same
//! tick; KPM is the source where no MAC model reports. Values out of their physical range are quarantined: counted
//! by reason and never fed to a controller.

mod config;
mod counters;
mod error;
mod kpm;
mod mac;
mod rlc;
mod window;

pub use config::{CellConfig, DownlinkShare};
pub use counters::{Counters, Reason};
pub use error::Error;
pub use kpm::{KpmDialect, KpmUe};

use crate::ran::ServiceModel;
use e2sm::flexric::{MacUe, RlcBearer, Stats};
use policies::{UeId, UeReport};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use window::{Snapshot, Window};

/// Measurements of one E2 node with one subscription per service model.
#[derive(Debug)]
pub struct NodeMeasurements {
    config: CellConfig,
    counters: Counters,
    /// Counters at the start of the open window.
    base: Option<Snapshot>,
    /// Counters at its end, while the RLC report of the same tick is on its way.
    pending: Option<Snapshot>,
    /// The newest RLC report.
    rlc: Option<rlc::Report>,
    /// Smoothed time between MAC reports, µs.
    period_us: i64,
    /// Whether slot numbers move: newer OAI always says slot 0.
    slots_move: bool,
    /// Since when (RAN time, µs) a UE with data in its queue has got no new transport block.
    stalled: BTreeMap<u16, i64>,
    lost: BTreeSet<u16>,
    learned: LearnedShare,
    kpm: kpm::Kpm,
}

/// The largest downlink share of a whole second in which PRBs were seen.
#[derive(Debug, Default)]
struct LearnedShare {
    prbs: f64,
    slots: f64,
    share: f64,
}

impl NodeMeasurements {
    /// Nothing measured yet.
    pub fn new(config: CellConfig) -> Self {
        Self {
            config,
            counters: Counters::default(),
            base: None,
            pending: None,
            rlc: None,
            period_us: 0,
            slots_move: false,
            stalled: BTreeMap::new(),
            lost: BTreeSet::new(),
            learned: LearnedShare::default(),
            kpm: kpm::Kpm::default(),
        }
    }

    /// Takes an indication; gives the reports whose windows it completes. `received` is on the caller's monotonic clock.
    ///
    /// # Errors
    /// When the octets are not what the service model says. State and counters stay usable.
    pub fn on_indication(
        &mut self,
        model: ServiceModel,
        header: &[u8],
        message: &[u8],
        received: Duration,
    ) -> Result<Vec<UeReport>, Error> {
        let result = match model {
            ServiceModel::Mac => Stats::decode(message).map(|stats| self.on_mac(&stats, received)),
            ServiceModel::Rlc => Stats::decode(message).map(|stats| self.on_rlc(&stats)),
            ServiceModel::Kpm => return self.on_kpm(header, message, received),
            _ => Ok(Vec::new()),
        };
        self.count(result.map_err(|cause| Error::Message { model, cause }))
    }

    /// Names of the values that the KPM subscription asked for, for nodes that leave them out of their reports.
    pub fn kpm_subscribed(&mut self, names: impl IntoIterator<Item = String>) {
        self.kpm.subscribed(names);
    }

    /// What KPM last said of each UE.
    pub fn kpm_ues(&self) -> &BTreeMap<UeId, KpmUe> {
        self.kpm.latest()
    }

    fn on_kpm(
        &mut self,
        header: &[u8],
        message: &[u8],
        received: Duration,
    ) -> Result<Vec<UeReport>, Error> {
        let cell_prbs = self.cell_prbs();
        let (config, counters) = (&self.config, &mut self.counters);
        let result = self
            .kpm
            .on_indication(header, message, received, config, cell_prbs, counters);
        // MAC reports say more, and their UEs have other names: two sources would count every UE twice.
        const MAC_SILENT_AFTER: Duration = Duration::from_secs(5);
        let mac_reports = self
            .base
            .as_ref()
            .is_some_and(|mac| received.saturating_sub(mac.received) < MAC_SILENT_AFTER);
        let result = result.map(|reports| if mac_reports { Vec::new() } else { reports });
        self.count(result.map_err(Error::from))
    }

    fn count(&mut self, result: Result<Vec<UeReport>, Error>) -> Result<Vec<UeReport>, Error> {
        match &result {
            Ok(reports) => {
                self.counters.decoded += 1;
                self.counters.reports += reports.len() as u64;
            }
            Err(_) => self.counters.undecodable += 1,
        }
        result
    }

    /// What was counted so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// UEs that the node still lists, but has given up: their counters stand still while data waits for them.
    pub fn lost_ues(&self) -> impl Iterator<Item = UeId> + '_ {
        self.lost.iter().copied().map(UeId::CRnti)
    }

    /// PRBs per slot that the cell can give in downlink, averaged over all slots.
    pub fn cell_prbs(&self) -> f64 {
        let share = match self.config.downlink_share {
            DownlinkShare::Configured(share) => share,
            DownlinkShare::Learned { at_least } => at_least.max(self.learned.share),
        };
        self.config.carrier_prbs * share
    }

    fn on_mac(&mut self, stats: &Stats<MacUe>, received: Duration) -> Vec<UeReport> {
        let mut snapshot = mac::snapshot(stats, received, &self.config, &mut self.counters);
        self.slots_move |= snapshot.ues.values().any(|ue| ue.slot > 0);
        let newest = self
            .pending
            .as_ref()
            .or(self.base.as_ref())
            .map(|s| s.tstamp_us);
        if let Some(newest) = newest {
            let step = snapshot.tstamp_us.saturating_sub(newest);
            if step.unsigned_abs() > window::CLOCK_STEP_US {
                // The node restarted or its clock was set: differences across the step mean nothing.
                self.counters.clock_steps += 1;
                self.forget();
            } else if step <= 0 {
                self.counters.late += 1;
                return Vec::new();
            } else {
                self.period_us = if self.period_us == 0 {
                    step
                } else {
                    (self.period_us * 7 + step) / 8
                };
            }
        }
        if let Some(rlc) = &self.rlc
            && near(rlc.tstamp_us, snapshot.tstamp_us, self.tolerance_us())
        {
            snapshot.rlc = Some(rlc.clone());
        }
        if self.base.is_none() {
            self.base = Some(snapshot);
            return Vec::new();
        }
        self.pending = Some(snapshot);
        self.complete()
    }

    fn on_rlc(&mut self, stats: &Stats<RlcBearer>) -> Vec<UeReport> {
        let report = rlc::report(stats, &mut self.counters);
        if let Some(last) = &self.rlc {
            let step = report.tstamp_us.saturating_sub(last.tstamp_us);
            if step <= 0 && step.unsigned_abs() < window::CLOCK_STEP_US {
                self.counters.late += 1;
                return Vec::new();
            }
        }
        let tstamp_us = report.tstamp_us;
        let tolerance_us = self.tolerance_us();
        for snapshot in [self.pending.as_mut(), self.base.as_mut()]
            .into_iter()
            .flatten()
        {
            if snapshot.rlc.is_none() && near(snapshot.tstamp_us, tstamp_us, tolerance_us) {
                snapshot.rlc = Some(report.clone());
                break;
            }
        }
        self.rlc = Some(report);
        self.complete()
    }

    /// How far apart MAC and RLC reports of one tick may be: half a period.
    fn tolerance_us(&self) -> i64 {
        const BEFORE_A_PERIOD_IS_KNOWN: i64 = 5000;
        if self.period_us == 0 {
            BEFORE_A_PERIOD_IS_KNOWN
        } else {
            self.period_us / 2
        }
    }

    /// Closes the window if both its ends are known, or the RLC report of its end will not come.
    fn complete(&mut self) -> Vec<UeReport> {
        let (Some(base), Some(pending)) = (&self.base, &self.pending) else {
            return Vec::new();
        };
        let length_us = pending.tstamp_us - base.tstamp_us;
        if pending.rlc.is_none() && self.rlc_is_coming(pending, length_us) {
            return Vec::new();
        }
        let window = Window::new(base, pending, &self.config, self.slots_move);
        if window.slots < window::MIN_SLOTS {
            // Reports that pile up come microseconds apart: the next one closes the window.
            return Vec::new();
        }
        let mut reports = Vec::new();
        let mut used = 0.0;
        let cell_prbs = self.cell_prbs();
        for (&rnti, ue) in &pending.ues {
            let Some(report) = window.ue(rnti, ue, cell_prbs, &mut self.counters) else {
                continue;
            };
            used += report.prbs.unwrap_or(0.0);
            if stands_still(
                &mut self.stalled,
                rnti,
                &report,
                base,
                pending,
                &self.config,
            ) {
                self.counters.lost += u64::from(self.lost.insert(rnti));
            } else {
                self.lost.remove(&rnti);
                reports.push(report);
            }
        }
        self.stalled
            .retain(|rnti, _| pending.ues.contains_key(rnti));
        self.lost.retain(|rnti| pending.ues.contains_key(rnti));
        self.learned
            .observe(used, window.slots, self.config.carrier_prbs);
        self.base = self.pending.take();
        reports
    }

    /// Whether to wait: RLC reports arrived until lately. A tick that lacks one becomes part of the next window, so
    /// that no octets go uncounted: under load one in 25 is missing at a period of 10 ms.
    fn rlc_is_coming(&self, pending: &Snapshot, length_us: i64) -> bool {
        const PATIENCE_US: i64 = 500_000;
        let patience_us = PATIENCE_US.max(self.period_us.saturating_mul(3));
        self.rlc.as_ref().is_some_and(|rlc| {
            near(rlc.tstamp_us, pending.tstamp_us, patience_us) && length_us < patience_us
        })
    }

    fn forget(&mut self) {
        self.base = None;
        self.pending = None;
        self.rlc = None;
        self.period_us = 0;
        self.stalled.clear();
        self.lost.clear();
    }
}

impl LearnedShare {
    fn observe(&mut self, prbs: f64, slots: f64, carrier_prbs: f64) {
        const SLOTS: f64 = 1000.0;
        self.prbs += prbs * slots;
        self.slots += slots;
        if self.slots >= SLOTS {
            self.share = self
                .share
                .max(self.prbs / self.slots / carrier_prbs)
                .min(1.0);
            (self.prbs, self.slots) = (0.0, 0.0);
        }
    }
}

/// Whether the UE has had data but no new transport block for so long that the node must have lost it.
fn stands_still(
    stalled: &mut BTreeMap<u16, i64>,
    rnti: u16,
    report: &UeReport,
    base: &Snapshot,
    pending: &Snapshot,
    config: &CellConfig,
) -> bool {
    let waits = match report.queue_bytes {
        Some(queue) => queue > 0,
        // Without an RLC report for once, what was known holds.
        None => stalled.contains_key(&rnti),
    };
    if report.tb_sent != Some(0) || !waits {
        stalled.remove(&rnti);
        return false;
    }
    let since = *stalled.entry(rnti).or_insert(base.tstamp_us);
    let still_us = u64::try_from(pending.tstamp_us - since).unwrap_or(0);
    Duration::from_micros(still_us) >= config.lost_after
}

fn near(a: i64, b: i64, tolerance: i64) -> bool {
    a.abs_diff(b) <= tolerance.unsigned_abs()
}
