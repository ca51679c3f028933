//! From indications of every dialect to [`UeReport`]s.
//!
//! Pure: octets and the time of their receipt go in, reports come out. One [`NodeMeasurements`] per E2 node holds
//! the cumulative counters of the last report, so that the next one gives differences over a window.
//!
//! What a MAC model gives (FlexRIC's, as OAI fills it) is preferred, joined with the RLC model's queues of the same
//! tick; KPM is the source where no MAC model reports, and adds slice and delay otherwise. PDCP and GTP tell which names
//! are one UE's. Values out of their physical range are quarantined: counted
//! by reason and never fed to a controller.

mod config;
mod counters;
mod error;
mod identities;
mod join;
mod kpm;
mod lost;
mod mac;
mod rlc;
mod share;
mod ticks;
mod window;

pub use config::{CellConfig, DownlinkShare};
pub use counters::{Counters, Reason};
pub use error::Error;
pub use identities::Identity;
pub use kpm::{KpmDialect, KpmUe};

use crate::ran::ServiceModel;
use e2sm::flexric::{GtpTunnel, MacUe, PdcpBearer, RlcBearer, Stats};
use identities::Identities;
use join::Join;
use lost::{Lost, Observation};
use policies::{UeId, UeReport};
use share::LearnedShare;
use std::{collections::BTreeMap, time::Duration};
use ticks::{Arrival, Ticks};
use window::Window;

/// Measurements of one E2 node with one subscription per service model.
#[derive(Debug)]
pub struct NodeMeasurements {
    config: CellConfig,
    counters: Counters,
    ticks: Ticks,
    /// Whether slot numbers move: newer OAI always says slot 0.
    slots_move: bool,
    lost: Lost,
    learned: LearnedShare,
    kpm: kpm::Kpm,
    join: Join,
    identities: Identities,
    mac_asked: Option<Duration>,
}

/// KPM becomes the source when the MAC model has reported nothing for so long.
const MAC_SILENT_AFTER: Duration = Duration::from_secs(5);

impl NodeMeasurements {
    /// Nothing measured yet.
    pub fn new(config: CellConfig) -> Self {
        Self {
            config,
            counters: Counters::default(),
            ticks: Ticks::default(),
            slots_move: false,
            lost: Lost::default(),
            learned: LearnedShare::default(),
            kpm: kpm::Kpm::default(),
            join: Join::default(),
            identities: Identities::default(),
            mac_asked: None,
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
            ServiceModel::Pdcp => Stats::decode(message).map(|stats| self.on_pdcp(&stats)),
            ServiceModel::Gtp => Stats::decode(message).map(|stats| self.on_gtp(&stats)),
            ServiceModel::Other => Ok(Vec::new()),
        };
        self.count(result.map_err(|cause| Error::Message { model, cause }))
    }

    /// Names of the values that the KPM subscription asked for, for nodes that leave them out of their reports.
    pub fn kpm_subscribed(&mut self, names: impl IntoIterator<Item = String>) {
        self.kpm.subscribed(names);
    }

    /// MAC reports were asked for at this time, on the clock of [`NodeMeasurements::on_indication`]; `None`: there
    /// will be none. KPM often reports first, and must not be the source while they are on their way.
    pub fn mac_asked(&mut self, at: Option<Duration>) {
        self.mac_asked = at;
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
        self.identities
            .refresh(self.join.joined(), self.kpm.latest());
        // MAC reports say more, and their UEs have other names: two sources would count every UE twice.
        let mac_heard = self.ticks.base().map(|mac| mac.received);
        let mac_reports = mac_heard
            .max(self.mac_asked)
            .is_some_and(|mac| received.saturating_sub(mac) < MAC_SILENT_AFTER);
        let result = result.map(|reports| if mac_reports { Vec::new() } else { reports });
        self.count(result.map_err(Error::from))
    }

    fn on_pdcp(&mut self, stats: &Stats<PdcpBearer>) -> Vec<UeReport> {
        self.join.pdcp(stats);
        self.identities
            .refresh(self.join.joined(), self.kpm.latest());
        Vec::new()
    }

    fn on_gtp(&mut self, stats: &Stats<GtpTunnel>) -> Vec<UeReport> {
        self.identities.gtp(stats);
        self.identities
            .refresh(self.join.joined(), self.kpm.latest());
        Vec::new()
    }

    /// Every other name of a UE, with the one in its reports.
    pub fn names(&self) -> &BTreeMap<Identity, UeId> {
        self.identities.names()
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
        self.lost.iter().map(UeId::CRnti)
    }

    /// PRBs per slot that the cell can give in downlink, averaged over all slots.
    pub fn cell_prbs(&self) -> f64 {
        let share = match self.config.downlink_share {
            DownlinkShare::Configured(share) => share,
            DownlinkShare::Learned { at_least } => at_least.max(self.learned.share()),
        };
        self.config.carrier_prbs * share
    }

    fn on_mac(&mut self, stats: &Stats<MacUe>, received: Duration) -> Vec<UeReport> {
        let snapshot = mac::snapshot(stats, received, &self.config, &mut self.counters);
        self.slots_move |= snapshot.ues.values().any(|ue| ue.slot > 0);
        match self.ticks.mac(snapshot) {
            Arrival::InTime => {}
            Arrival::Late => self.counters.late += 1,
            Arrival::ClockStep => {
                self.counters.clock_steps += 1;
                self.lost = Lost::default();
            }
        }
        self.close_windows()
    }

    fn on_rlc(&mut self, stats: &Stats<RlcBearer>) -> Vec<UeReport> {
        self.join.rlc(stats);
        let report = rlc::report(stats, &mut self.counters);
        if self.ticks.rlc(report) == Arrival::Late {
            self.counters.late += 1;
        }
        self.close_windows()
    }

    /// Reports of all windows whose ends are known.
    fn close_windows(&mut self) -> Vec<UeReport> {
        let mut reports = Vec::new();
        let cell_prbs = self.cell_prbs();
        while let Some((base, end)) = self.ticks.window() {
            let window = Window::new(base, end, &self.config, self.slots_move);
            let too_short = window.slots < window::MIN_SLOTS;
            if !too_short {
                let mut used = 0.0;
                let first = reports.len();
                for (&rnti, ue) in &end.ues {
                    let Some(mut report) = window.ue(rnti, ue, cell_prbs, &mut self.counters)
                    else {
                        continue;
                    };
                    if let Some(addition) = self.identities.addition(rnti, end.received) {
                        (report.slice, report.rlc_delay) = (addition.slice, addition.rlc_delay);
                    }
                    used += report.prbs.unwrap_or(0.0);
                    match self.lost.observe(rnti, &report, base, end, &self.config) {
                        Observation::Alive => reports.push(report),
                        Observation::JustLost => self.counters.lost += 1,
                        Observation::Lost => {}
                    }
                }
                for report in &mut reports[first..] {
                    report.used_prbs = Some(used);
                }
                self.lost.retain(end);
                self.learned
                    .observe(used, window.slots, self.config.carrier_prbs);
            }
            let end_us = end.tstamp_us;
            self.ticks.close(end_us, too_short);
        }
        reports
    }
}
