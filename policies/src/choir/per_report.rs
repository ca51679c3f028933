//! The form for E2: a controller that runs on MAC and RLC reports.
//!
//! Reports give averages over their windows instead of single TTIs, so the windows of eqs. 3, 5, 6, 10 and 15 are whole numbers
//! of reports (at least one). PRBs are per slot over all slots, which has DN/TN of eq. 3 in it; PR_i·γ is the user data that one
//! such PRB carried. The cell's n stands for N_active and N_total.

use super::capacity::{Recent, Sent, allocation, bandwidth_bps};
use super::pattern::{Pattern, Step};
use super::sender::SenderParameters;
use super::{Guidance, Parameters, Path};
use crate::controller::{Controller, Decision, Interval, Measurement, Note};
use crate::gain::GainPolicy;
use crate::report::UeReport;
use std::collections::VecDeque;
use std::time::Duration;

/// The longest report period with which the law is of use: less than a frame interval.
pub const LONGEST_REPORT_PERIOD: Duration = Duration::from_millis(10);

/// What is known of a flow beside its reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoirFlow {
    /// Report period.
    pub report_period: Duration,
    /// From the end of a report's window until its guidance leaves for the edge server.
    pub e2_delay: Duration,
    /// WiredND: one way between edge server and base station.
    pub wired: Duration,
    /// FI, where the edge server announced it. Else it is read off the arrivals (eq. 9), if reports come often enough to see
    /// the gaps between frames.
    pub frame_interval: Option<Duration>,
}

impl ChoirFlow {
    fn path(self) -> Path {
        Path {
            round_trip: self.e2_delay.saturating_add(self.wired.saturating_mul(2)),
            // Eq. 12 over E2. WiredND is not added: FI·FNum covers the round trip already, and every millisecond more lets
            // as much queue stand.
            lead: self.report_period + self.e2_delay,
        }
    }
}

/// Choir as a [`Controller`]: decide after every report.
#[derive(Clone, Debug)]
pub struct Choir {
    recent: Recent,
    /// PRBs of the last reports: own and all per slot, and the seconds that they stand for.
    uses: VecDeque<(f64, f64, f64)>,
    most_uses: usize,
    pattern: Pattern,
    /// Queue at the end of the last report, to know what arrived where the RAN does not say it.
    queue_octets: Option<u64>,
    rate_bps: f64,
    guidance: Option<Guidance>,
}

impl Choir {
    /// A flow that starts at `initial_bps`.
    pub fn new(parameters: Parameters, flow: ChoirFlow, initial_bps: f64) -> Self {
        let period = flow.report_period.max(Duration::from_millis(1));
        let reports = |window: Duration| {
            let count = window.as_nanos().div_ceil(period.as_nanos());
            usize::try_from(count).unwrap_or(usize::MAX).clamp(1, 1000)
        };
        Self {
            recent: Recent::new(reports(parameters.short_window)),
            uses: VecDeque::new(),
            most_uses: reports(parameters.use_window),
            pattern: Pattern::new(parameters, flow.path(), flow.frame_interval, period),
            queue_octets: None,
            rate_bps: initial_bps,
            guidance: None,
        }
    }

    /// The newest guidance, with what led to it.
    pub fn guidance(&self) -> Option<&Guidance> {
        self.guidance.as_ref()
    }

    /// Takes a report; the PRBs per slot that the flow can use next, and the PRBs that it used.
    fn observe(&mut self, report: &UeReport, interval: &Interval<'_>) -> Option<(f64, f64)> {
        let own = report
            .prbs
            .filter(|prbs| prbs.is_finite() && *prbs >= 0.0)?;
        let queue_octets = report.queue_bytes?;
        let delivered = report.delivered_bytes?;
        let seconds = report.length.as_secs_f64();
        let first = (own - report.retx_prbs.unwrap_or(0.0)).max(0.0);
        let bits = delivered as f64 * 8.0;
        self.recent.push(Sent {
            // What blocks carry beside user data is in the PRBs already.
            block_bits: bits,
            user_bits: bits,
            prb_seconds: first * seconds,
            blocks: report.tb_sent.unwrap_or(0) as f64,
            retransmissions: report.tb_retx.unwrap_or(0) as f64,
        });
        let cell = interval.target.cell_prbs;
        let flows = interval.target.active_flows;
        // Where the cell's use is not known, nothing counts as idle.
        let used = report
            .used_prbs
            .filter(|prbs| prbs.is_finite())
            .unwrap_or(cell);
        let (mean_own, mean_used) = self.mean_use(own, used, seconds);
        let prbs = allocation(mean_own, mean_used, cell, flows, flows);
        let known = self.recent.known();
        let bandwidth_bps =
            known.map(|k| bandwidth_bps(prbs, k.bps_per_prb, k.payload, k.retransmissions));
        let before = self.queue_octets.replace(queue_octets);
        let arrived_octets = report.arrived_bytes.unwrap_or_else(|| {
            let before = before.unwrap_or(queue_octets);
            (queue_octets + delivered).saturating_sub(before)
        });
        self.pattern.observe(Step {
            now: report.end(),
            bandwidth_bps,
            queue_octets,
            arrived_octets,
        });
        Some((prbs, own))
    }

    /// PRBs per slot of the flow and of all, averaged over some reports: a report of a few slots has more or fewer downlink
    /// slots in it than the TDD pattern has on average.
    fn mean_use(&mut self, own: f64, used: f64, seconds: f64) -> (f64, f64) {
        if self.uses.len() == self.most_uses {
            self.uses.pop_front();
        }
        self.uses.push_back((own, used, seconds));
        let sums = self
            .uses
            .iter()
            .fold((0.0, 0.0, 0.0), |sum, (own, used, seconds)| {
                (
                    sum.0 + own * seconds,
                    sum.1 + used * seconds,
                    sum.2 + seconds,
                )
            });
        if sums.2 > 0.0 {
            (sums.0 / sums.2, sums.1 / sums.2)
        } else {
            (own, used)
        }
    }

    fn decision(&self, prbs: Option<(f64, f64)>, note: Option<Note>) -> Decision {
        let guided = self.guidance.map(|g| g.guided_bps);
        Decision {
            rate_bps: self.rate_bps,
            target_bitrate_bps: guided,
            pacing_rate_bps: guided.map(|bps| SenderParameters::default().pacing * bps),
            prbs: prbs.map(|(_, own)| own),
            target_prbs: prbs.map_or(0.0, |(target, _)| target),
            gain_bps_per_prb: 0.0,
            chosen_gain: None,
            note,
        }
    }
}

impl Controller for Choir {
    fn policy(&self) -> GainPolicy {
        GainPolicy::Choir
    }

    fn decide(&mut self, interval: &Interval<'_>) -> Decision {
        let cell = interval.target.cell_prbs;
        if !(cell.is_finite() && cell > 0.0) {
            self.rate_bps = interval.bounds.clamp(self.rate_bps);
            return self.decision(None, Some(Note::NoTarget));
        }
        let mut prbs = None;
        for report in interval.reports {
            prbs = self.observe(report, interval).or(prbs);
        }
        let guidance = prbs.and_then(|_| self.pattern.guide());
        let Some(mut guidance) = guidance else {
            self.rate_bps = interval.bounds.clamp(self.rate_bps);
            return self.decision(prbs, Some(Note::NoReport));
        };
        // The floor is one of the rate, not of the guidance, which never exceeds η·BW.
        guidance.guided_bps = guidance.guided_bps.min(interval.bounds.max_bps);
        let wanted = guidance.guided_bps;
        self.guidance = Some(guidance);
        self.rate_bps = interval.bounds.clamp(wanted);
        let at = interval.reports.last().map_or(interval.now, UeReport::end);
        self.pattern.given(at, self.rate_bps);
        let note = if wanted < self.rate_bps {
            Some(Note::AtFloor)
        } else if wanted >= interval.bounds.max_bps {
            Some(Note::AtCeiling)
        } else {
            None
        };
        self.decision(prbs, note)
    }

    fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    fn set_rate_bps(&mut self, rate_bps: f64) {
        if rate_bps.is_finite() && rate_bps >= 0.0 {
            self.rate_bps = rate_bps;
        }
    }
}

/// PRBs and retransmissions of MAC, queue and volume of RLC, often enough.
pub(crate) const NEEDS: &[Measurement] = &[
    Measurement::Prbs,
    Measurement::RetransmissionRatio,
    Measurement::Queue,
    Measurement::Delivered,
    Measurement::FrequentReports,
];
