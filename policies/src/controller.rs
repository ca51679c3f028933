//! The contract of a rate controller, as the xApp and the simulator call it.

use crate::{
    choir::LONGEST_REPORT_PERIOD, error::Error, gain::GainPolicy, guard::Cause, report::UeReport,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a controller is told at the end of a control interval (Δ).
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// Now, on the caller's monotonic clock.
    pub now: Duration,
    /// Reports of the flow's UE that ended in this interval, oldest first. May be empty.
    pub reports: &'a [UeReport],
    /// What the cell expects of the flow.
    pub target: Target,
    /// Bounds of the rate.
    pub bounds: RateBounds,
}

/// PRB target of a flow: Pε = f · P / n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// PRB target factor f.
    pub factor: f64,
    /// P: PRBs per slot that the cell can give ([`UeReport::cell_prbs`]).
    pub cell_prbs: f64,
    /// n: downlink flows active in the cell, guided or not; at least 1.
    pub active_flows: u32,
}

impl Target {
    /// Pε in PRBs per slot.
    pub fn prbs(&self) -> f64 {
        self.factor * self.cell_prbs / f64::from(self.active_flows.max(1))
    }
}

/// Bounds of a send rate, bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateBounds {
    /// Floor.
    pub min_bps: f64,
    /// Ceiling.
    pub max_bps: f64,
}

impl RateBounds {
    /// Bounds with 0 ≤ `min_bps` ≤ `max_bps`, both finite.
    pub fn new(min_bps: f64, max_bps: f64) -> Result<Self, Error> {
        let check = |parameter, value: f64, least: f64, wanted| {
            if value.is_finite() && value >= least {
                Ok(value)
            } else {
                Err(Error::Parameter {
                    parameter,
                    value,
                    wanted,
                })
            }
        };
        let min_bps = check("min_bps", min_bps, 0.0, "a finite number, 0 or more")?;
        let max_bps = check("max_bps", max_bps, min_bps, "finite, and not below min_bps")?;
        Ok(Self { min_bps, max_bps })
    }

    /// The nearest rate within the bounds; the floor if `rate_bps` is not a number. Where bounds contradict each other, the ceiling holds.
    pub fn clamp(&self, rate_bps: f64) -> f64 {
        // f64::max and f64::min return the other operand for NaN.
        rate_bps.max(self.min_bps).min(self.max_bps)
    }

    /// [`Self::clamp`], and which bound it was that held.
    pub fn hold(&self, wanted_bps: f64) -> (f64, Option<Note>) {
        let rate_bps = self.clamp(wanted_bps);
        let note = if wanted_bps < rate_bps {
            Some(Note::AtFloor)
        } else if wanted_bps > rate_bps {
            Some(Note::AtCeiling)
        } else {
            None
        };
        (rate_bps, note)
    }
}

/// Outcome of one control interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Send rate, bit/s.
    pub rate_bps: f64,
    /// Encoder target bitrate for frame-based video, bit/s.
    pub target_bitrate_bps: Option<f64>,
    /// Pacing rate for frame-based video, bit/s.
    pub pacing_rate_bps: Option<f64>,
    /// The PRB use that the law compared with its target (mean or peak), PRBs per slot.
    pub prbs: Option<f64>,
    /// Pε; 0 if unknown.
    pub target_prbs: f64,
    /// Gain applied, bit/s per PRB.
    pub gain_bps_per_prb: f64,
    /// The gain that a learned policy chose, before it was divided by n.
    pub chosen_gain: Option<f64>,
    /// Why the rate is not what the law alone would say.
    pub note: Option<Note>,
}

/// Why a rate is not what the law alone would say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// No usable report in the interval: the rate stays.
    NoReport,
    /// The PRB target of the flow is unknown: the rate stays.
    NoTarget,
    /// A learned policy got no answer of its model: the rate stays.
    NoGain,
    /// The largest step of a learned policy holds.
    StepLimited,
    /// The rate floor holds.
    AtFloor,
    /// The rate ceiling holds.
    AtCeiling,
    /// The rate ceiling of all flows of its slice policy holds.
    AtSliceCeiling,
}

/// A measurement that a controller cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measurement {
    /// [`UeReport::prbs`].
    Prbs,
    /// [`UeReport::mcs`].
    Mcs,
    /// [`UeReport::retransmission_ratio`].
    RetransmissionRatio,
    /// [`UeReport::sinr_db`] or [`UeReport::cqi`].
    ChannelQuality,
    /// [`UeReport::sinr_db`].
    Sinr,
    /// [`UeReport::queue_bytes`].
    Queue,
    /// [`UeReport::delivered_bytes`].
    Delivered,
    /// Reports at least every [`LONGEST_REPORT_PERIOD`].
    FrequentReports,
}

impl Measurement {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prbs => "PRB use",
            Self::Mcs => "MCS",
            Self::RetransmissionRatio => "HARQ retransmissions",
            Self::ChannelQuality => "SINR or CQI",
            Self::Sinr => "SINR",
            Self::Queue => "RLC queue",
            Self::Delivered => "volume delivered",
            Self::FrequentReports => "a report at least every 10 ms",
        }
    }

    /// Whether a report has it.
    pub fn is_in(self, report: &UeReport) -> bool {
        match self {
            Self::Prbs => report.prbs.is_some(),
            Self::Mcs => report.mcs.is_some(),
            Self::RetransmissionRatio => report.retransmission_ratio().is_some(),
            Self::ChannelQuality => report.sinr_db.is_some() || report.cqi.is_some(),
            Self::Sinr => report.sinr_db.is_some(),
            Self::Queue => report.queue_bytes.is_some(),
            Self::Delivered => report.delivered_bytes.is_some(),
            // Windows are not exact.
            Self::FrequentReports => report.length <= LONGEST_REPORT_PERIOD.mul_f64(1.5),
        }
    }
}

/// A rate controller of one flow. Pure: time and measurements are arguments.
pub trait Controller: Send {
    /// The gain policy that decides now.
    fn policy(&self) -> GainPolicy;

    /// Why another policy decides in the place of a learned one; `None` if it decides itself.
    fn demoted(&self) -> Option<Cause> {
        None
    }

    /// Of a learned policy: appends what it observes at the end of the interval to `batch`. `false`: its model is not needed.
    ///
    /// Comes before the decision about the same interval. See [`crate::Batch`], which asks the model for all flows at once.
    fn observe(&mut self, interval: &Interval<'_>, batch: &mut Vec<f32>) -> bool {
        let _ = (interval, batch);
        false
    }

    /// Ends a control interval with the model's answer to what was observed, one score for each gain: the next rate.
    fn decide_scored(&mut self, interval: &Interval<'_>, scores: &[f32]) -> Decision {
        let _ = scores;
        self.decide(interval)
    }

    /// Ends a control interval without a model's answer: the next rate.
    fn decide(&mut self, interval: &Interval<'_>) -> Decision;

    /// Current rate, bit/s.
    fn rate_bps(&self) -> f64;

    /// Goes on from another rate (state of a predecessor, or what the edge sends now), bit/s.
    fn set_rate_bps(&mut self, rate_bps: f64);
}
