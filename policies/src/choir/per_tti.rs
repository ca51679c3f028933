//! The paper's form: in the base station, every TTI.

use super::capacity::{Recent, Sent, allocation, bandwidth_bps};
use super::pattern::{Guidance, Pattern, Step};
use super::{DownlinkTtis, Parameters, Path};
use std::collections::VecDeque;
use std::time::Duration;

/// What the base station knows of a flow after a TTI.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tti {
    /// Its end.
    pub now: Duration,
    /// It could carry downlink user data.
    pub downlink: bool,
    /// PRB_RAN.
    pub cell_prbs: f64,
    /// PRB_used: PRBs given to all UEs, retransmissions included.
    pub used_prbs: f64,
    /// uPRB_i: PRBs given to this flow, retransmissions included.
    pub own_prbs: f64,
    /// Those of them that carried a first transmission.
    pub first_prbs: f64,
    /// TBS_i: octets of the first transmission.
    pub block_octets: u64,
    /// Octets of user data in it.
    pub user_octets: u64,
    /// First transmissions and retransmissions of the flow in it.
    pub blocks: u64,
    /// See `blocks`.
    pub retransmissions: u64,
    /// N_active: flows that had data within [`Parameters::active_hold`].
    pub active: u32,
    /// N_total: flows of the cell.
    pub total: u32,
    /// Octets in the flow's RLC queue at the end.
    pub queue_octets: u64,
    /// Octets that arrived for the flow.
    pub arrived_octets: u64,
}

/// Choir for one flow, told of every TTI.
#[derive(Clone, Debug)]
pub struct PerTti {
    length: Duration,
    parameters: Parameters,
    recent: Recent,
    /// Which of the last TTIs count as DN (eq. 3).
    ttis: VecDeque<bool>,
    downlink_ttis: usize,
    /// uPRB_i and PRB_used of the last downlink TTIs, and their sums.
    uses: VecDeque<(f64, f64)>,
    sums: (f64, f64),
    prbs: f64,
    pattern: Pattern,
}

impl PerTti {
    /// TTIs of `length`; `wired` is WiredND, one way. The frame interval is measured.
    pub fn new(parameters: Parameters, length: Duration, wired: Duration) -> Self {
        let path = Path {
            round_trip: 2 * wired,
            lead: length,
        };
        Self {
            recent: Recent::new(count(parameters.short_window, length)),
            ttis: VecDeque::new(),
            downlink_ttis: 0,
            uses: VecDeque::new(),
            sums: (0.0, 0.0),
            prbs: 0.0,
            pattern: Pattern::new(parameters, path, None, length),
            length,
            parameters,
        }
    }

    /// A TTI has ended.
    pub fn observe(&mut self, tti: &Tti) {
        let counts = match self.parameters.downlink_ttis {
            DownlinkTtis::Usable => tti.downlink,
            DownlinkTtis::Used => tti.used_prbs > 0.0,
        };
        self.ttis.push_back(counts);
        self.downlink_ttis += usize::from(counts);
        if self.ttis.len() > count(self.parameters.share_window, self.length) {
            let gone = self.ttis.pop_front() == Some(true);
            self.downlink_ttis -= usize::from(gone);
        }
        self.recent.push(Sent {
            block_bits: tti.block_octets as f64 * 8.0,
            user_bits: tti.user_octets as f64 * 8.0,
            prb_seconds: tti.first_prbs * self.length.as_secs_f64(),
            blocks: tti.blocks as f64,
            retransmissions: tti.retransmissions as f64,
        });
        if tti.downlink {
            let (own, used) = self.mean_use(tti.own_prbs, tti.used_prbs);
            self.prbs = allocation(own, used, tti.cell_prbs, tti.active, tti.total);
        }
        // Eq. 3: DN/TN.
        let share = self.downlink_ttis as f64 / self.ttis.len() as f64;
        let bandwidth_bps = self.recent.known().map(|known| {
            bandwidth_bps(
                self.prbs,
                known.bps_per_prb * share,
                known.payload,
                known.retransmissions,
            )
        });
        self.pattern.observe(Step {
            now: tti.now,
            bandwidth_bps,
            queue_octets: tti.queue_octets,
            arrived_octets: tti.arrived_octets,
        });
    }

    /// PRBs of the flow and of all, averaged over the last downlink TTIs. PRBs are whole numbers: the sums stay exact.
    fn mean_use(&mut self, own: f64, used: f64) -> (f64, f64) {
        self.uses.push_back((own, used));
        self.sums = (self.sums.0 + own, self.sums.1 + used);
        let downlink = self.downlink_ttis as f64 / self.ttis.len() as f64;
        let window = self.parameters.use_window.mul_f64(downlink);
        while self.uses.len() > count(window, self.length)
            && let Some((own, used)) = self.uses.pop_front()
        {
            self.sums = (self.sums.0 - own, self.sums.1 - used);
        }
        let count = self.uses.len() as f64;
        (self.sums.0 / count, self.sums.1 / count)
    }

    /// The law's parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Guidance for an acknowledgement that passes now, at `now`; `None` while nothing was sent yet.
    pub fn feedback(&mut self, now: Duration) -> Option<Guidance> {
        let guidance = self.pattern.guide()?;
        self.pattern.given(now, guidance.guided_bps);
        Some(guidance)
    }
}

fn count(window: Duration, length: Duration) -> usize {
    let count = window.as_nanos().div_ceil(length.as_nanos().max(1));
    usize::try_from(count)
        .unwrap_or(usize::MAX)
        .clamp(1, 10_000)
}
