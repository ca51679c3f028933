//! A decision with all that it was made from, as it is stored, exported and decided again.

use crate::controller::{Interval, Note, RateBounds, Target};
use crate::report::{SNssai, UeId, UeReport};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the layout of [`LoggedDecision`] in JSON.
pub const VERSION: u32 = 1;
/// Reports that are logged of one control interval: more are joined to as many (see [`join`]).
pub const MAX_REPORTS: usize = 64;

/// What was decided for a flow at the end of a control interval, and from what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedDecision {
    /// Edge server.
    pub edge: String,
    /// Flow of that edge server.
    pub flow: String,
    /// E2 node.
    pub node: String,
    /// UE of that node.
    pub ue: UeId,
    /// Sequence of the guidance.
    pub sequence: u64,
    /// Unix time of the decision, microseconds.
    pub time_us: i64,
    /// Gain policy that decided.
    pub controller: String,
    /// Slice policy that ruled the flow; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub slice_policy: String,
    /// Arm of the running experiment; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arm: String,
    /// Rate before, bit/s.
    pub previous_rate_bps: f64,
    /// Rate decided, bit/s.
    pub rate_bps: f64,
    /// Encoder target bitrate, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_bitrate_bps: Option<f64>,
    /// Pacing rate of video, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_rate_bps: Option<f64>,
    /// PRBs per slot that the law compared with its target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prbs: Option<f64>,
    /// Pε; 0 if unknown.
    pub target_prbs: f64,
    /// Gain applied, bit/s per PRB.
    pub gain_bps_per_prb: f64,
    /// The gain that a learned policy chose, before it was divided by n.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_gain: Option<f64>,
    /// Gain policy that decided in the shadow; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shadow_controller: String,
    /// Rate decided in the shadow, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow_rate_bps: Option<f64>,
    /// Why the rate is not what the law alone would say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
    /// PRB target factor f.
    pub target_factor: f64,
    /// P: PRBs per slot that the cell can give.
    pub cell_prbs: f64,
    /// n: active downlink UEs.
    pub active_ues: u32,
    /// Floor of the rate, bit/s.
    pub rate_min_bps: f64,
    /// Ceiling of the rate, bit/s.
    pub rate_max_bps: f64,
    /// Age of the newest report at the decision, microseconds.
    pub report_age_us: u64,
    /// Reports of the UE in the interval, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<LoggedReport>,
}

/// A [`UeReport`] of a logged decision. What the RAN does not give is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoggedReport {
    /// Time from the end of the window to the decision, microseconds.
    pub age_us: u64,
    /// Length of the window, microseconds.
    pub length_us: u64,
    /// End of the window on the RAN's clock, Unix microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_time_us: Option<i64>,
    /// [`UeReport::prbs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prbs: Option<f64>,
    /// [`UeReport::retx_prbs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retx_prbs: Option<f64>,
    /// [`UeReport::cell_prbs`].
    pub cell_prbs: f64,
    /// [`UeReport::used_prbs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_prbs: Option<f64>,
    /// [`UeReport::mcs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcs: Option<f64>,
    /// [`UeReport::tb_sent`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tb_sent: Option<u64>,
    /// [`UeReport::tb_retx`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tb_retx: Option<u64>,
    /// [`UeReport::tb_failed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tb_failed: Option<u64>,
    /// [`UeReport::sinr_db`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sinr_db: Option<f64>,
    /// [`UeReport::cqi`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cqi: Option<u8>,
    /// [`UeReport::delivered_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_bytes: Option<u64>,
    /// [`UeReport::arrived_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived_bytes: Option<u64>,
    /// [`UeReport::queue_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u64>,
    /// [`UeReport::head_of_line`], microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_of_line_us: Option<u64>,
    /// [`UeReport::rlc_delay`], microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rlc_delay_us: Option<u64>,
    /// [`UeReport::slice`]: slice/service type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sst: Option<u8>,
    /// [`UeReport::slice`]: slice differentiator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd: Option<u32>,
}

impl LoggedDecision {
    /// What the cell expected of the flow.
    pub fn target(&self) -> Target {
        Target {
            factor: self.target_factor,
            cell_prbs: self.cell_prbs,
            active_flows: self.active_ues,
        }
    }

    /// Bounds of the rate.
    pub fn bounds(&self) -> RateBounds {
        RateBounds {
            min_bps: self.rate_min_bps,
            max_bps: self.rate_max_bps,
        }
    }

    /// The reports as they were, where the decision was made at `now`.
    pub fn ue_reports(&self, now: Duration) -> Vec<UeReport> {
        let reports = self.reports.iter();
        reports.map(|report| report.at(self.ue, now)).collect()
    }

    /// What a controller is told to decide it again at `now`, with the reports of [`Self::ue_reports`].
    pub fn interval<'a>(&self, now: Duration, reports: &'a [UeReport]) -> Interval<'a> {
        Interval {
            now,
            reports,
            target: self.target(),
            bounds: self.bounds(),
        }
    }
}

impl LoggedReport {
    /// A report on which it was decided at `now`.
    pub fn new(report: &UeReport, now: Duration) -> Self {
        Self {
            age_us: micros(now.saturating_sub(report.end())),
            length_us: micros(report.length),
            ran_time_us: report.ran_time_us,
            prbs: report.prbs,
            retx_prbs: report.retx_prbs,
            cell_prbs: report.cell_prbs,
            used_prbs: report.used_prbs,
            mcs: report.mcs,
            tb_sent: report.tb_sent,
            tb_retx: report.tb_retx,
            tb_failed: report.tb_failed,
            sinr_db: report.sinr_db,
            cqi: report.cqi,
            delivered_bytes: report.delivered_bytes,
            arrived_bytes: report.arrived_bytes,
            queue_bytes: report.queue_bytes,
            head_of_line_us: report.head_of_line.map(micros),
            rlc_delay_us: report.rlc_delay.map(micros),
            sst: report.slice.map(|slice| slice.sst),
            sd: report.slice.and_then(|slice| slice.sd),
        }
    }

    /// The report as it was, where the decision was made at `now`.
    pub fn at(&self, ue: UeId, now: Duration) -> UeReport {
        let length = Duration::from_micros(self.length_us);
        let end = now.saturating_sub(Duration::from_micros(self.age_us));
        UeReport {
            ue,
            start: end.saturating_sub(length),
            length,
            ran_time_us: self.ran_time_us,
            prbs: self.prbs,
            retx_prbs: self.retx_prbs,
            cell_prbs: self.cell_prbs,
            used_prbs: self.used_prbs,
            mcs: self.mcs,
            tb_sent: self.tb_sent,
            tb_retx: self.tb_retx,
            tb_failed: self.tb_failed,
            sinr_db: self.sinr_db,
            cqi: self.cqi,
            delivered_bytes: self.delivered_bytes,
            arrived_bytes: self.arrived_bytes,
            queue_bytes: self.queue_bytes,
            head_of_line: self.head_of_line_us.map(Duration::from_micros),
            rlc_delay: self.rlc_delay_us.map(Duration::from_micros),
            slice: self.sst.map(|sst| SNssai { sst, sd: self.sd }),
        }
    }
}

/// At most [`MAX_REPORTS`] reports: where there are more (a RAN may report every millisecond), equal numbers of
/// consecutive ones are joined. The mean PRB use of the interval stays what it was.
pub fn join(reports: &[UeReport]) -> Vec<UeReport> {
    let run = reports.len().div_ceil(MAX_REPORTS);
    if run <= 1 {
        return reports.to_vec();
    }
    reports.chunks(run).filter_map(join_run).collect()
}

fn join_run(run: &[UeReport]) -> Option<UeReport> {
    let (first, newest) = (run.first()?, run.last()?);
    Some(UeReport {
        start: first.start,
        length: run.iter().map(|report| report.length).sum(),
        prbs: mean(run, |report| report.prbs),
        retx_prbs: mean(run, |report| report.retx_prbs),
        used_prbs: mean(run, |report| report.used_prbs),
        mcs: mean(run, |report| report.mcs),
        sinr_db: mean(run, |report| report.sinr_db),
        tb_sent: sum(run, |report| report.tb_sent),
        tb_retx: sum(run, |report| report.tb_retx),
        tb_failed: sum(run, |report| report.tb_failed),
        delivered_bytes: sum(run, |report| report.delivered_bytes),
        arrived_bytes: sum(run, |report| report.arrived_bytes),
        ..newest.clone()
    })
}

/// Over those that have it, weighted by the lengths of their windows.
fn mean(run: &[UeReport], value: impl Fn(&UeReport) -> Option<f64>) -> Option<f64> {
    let weighted = |report: &UeReport| Some((value(report)?, report.length.as_secs_f64()));
    let (sum, seconds) = run
        .iter()
        .filter_map(weighted)
        .fold((0.0, 0.0), |sum, (v, s)| (sum.0 + v * s, sum.1 + s));
    (seconds > 0.0).then_some(sum / seconds)
}

fn sum(run: &[UeReport], value: impl Fn(&UeReport) -> Option<u64>) -> Option<u64> {
    let known = run.iter().filter_map(value);
    known.reduce(u64::saturating_add)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
