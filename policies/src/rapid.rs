//! RAPID (arXiv 2610.13749): the rate follows the distance between the PRBs used and the PRBs meant for the flow.
//!
//! Every control interval Δ: r ← r − K·γ·(µ − Pε), where µ is the mean PRB use of the interval and Pε the
//! target. The "intermediate" variant of PRISM (arXiv 2611.02032, Table VI) puts the peak in place of the mean.
//!
//! The law is in velocity form: its only state is the rate. Keeping that state inside the bounds is therefore
//! all the anti-windup there is to do: the first error of the other sign moves the rate off the bound.

use crate::{
    controller::{Controller, Decision, Interval, Note, RateBounds},
    error::Error,
    gain::GainPolicy,
    windows::{mean_prbs, peak_prbs},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Which PRB use of the control interval the law compares with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrbStatistic {
    /// µ: mean over the interval (RAPID).
    Mean,
    /// m: largest mean over a report interval δ within the control interval (peak RAPID).
    Peak {
        /// δ. Reports that come more often are averaged over at least this time, so that a peak means the
        /// same whatever the RAN's reporting period: one slot of 0.5 ms alone always has 0 or all PRBs.
        report_interval: Duration,
    },
}

/// RAPID with a fixed gain.
#[derive(Clone, Debug)]
pub struct Rapid {
    gain_bps_per_prb: f64,
    statistic: PrbStatistic,
    rate_bps: f64,
}

impl Rapid {
    /// `k` is K, `gamma_bps_per_prb` is γ; the flow starts at `initial_bps`, within the bounds of its first interval.
    pub fn new(
        k: f64,
        gamma_bps_per_prb: f64,
        statistic: PrbStatistic,
        initial_bps: f64,
    ) -> Result<Self, Error> {
        let gain_bps_per_prb =
            positive("k", k)? * positive("gamma_bps_per_prb", gamma_bps_per_prb)?;
        Ok(Self {
            gain_bps_per_prb: positive("k · gamma_bps_per_prb", gain_bps_per_prb)?,
            statistic,
            rate_bps: positive("initial_bps", initial_bps)?,
        })
    }

    fn hold(
        &mut self,
        note: Note,
        prbs: Option<f64>,
        target_prbs: f64,
        bounds: RateBounds,
    ) -> Decision {
        self.rate_bps = bounds.clamp(self.rate_bps);
        self.decision(Some(note), prbs, target_prbs)
    }

    fn decision(&self, note: Option<Note>, prbs: Option<f64>, target_prbs: f64) -> Decision {
        Decision {
            rate_bps: self.rate_bps,
            target_bitrate_bps: None,
            pacing_rate_bps: None,
            prbs,
            target_prbs,
            gain_bps_per_prb: self.gain_bps_per_prb,
            chosen_gain: None,
            note,
        }
    }
}

impl Controller for Rapid {
    fn policy(&self) -> GainPolicy {
        match self.statistic {
            PrbStatistic::Mean => GainPolicy::Rapid,
            PrbStatistic::Peak { .. } => GainPolicy::RapidPeak,
        }
    }

    fn decide(&mut self, interval: &Interval<'_>) -> Decision {
        let bounds = interval.bounds;
        let prbs = match self.statistic {
            PrbStatistic::Mean => mean_prbs(interval.reports),
            PrbStatistic::Peak { report_interval } => peak_prbs(interval.reports, report_interval),
        };
        let target_prbs = interval.target.prbs();
        if !(target_prbs.is_finite() && target_prbs > 0.0) {
            return self.hold(Note::NoTarget, prbs, 0.0, bounds);
        }
        let Some(prbs) = prbs else {
            return self.hold(Note::NoReport, None, target_prbs, bounds);
        };
        let wanted = self.rate_bps - self.gain_bps_per_prb * (prbs - target_prbs);
        let note;
        (self.rate_bps, note) = bounds.hold(wanted);
        self.decision(note, Some(prbs), target_prbs)
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

fn positive(parameter: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Error::Parameter {
            parameter,
            value,
            wanted: "a finite number above 0",
        })
    }
}
