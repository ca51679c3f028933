//! RAPID (arXiv 2610.13749): the rate follows the distance between the PRBs used and the PRBs meant for the flow.
//!
//! Every control interval Δ: r ← r − K·γ·(µ − Pε), where µ is the mean PRB use of the interval and Pε the
//! target. The "intermediate" variant of PRISM (arXiv 2611.02032, Table VI) puts the peak in place of the mean.
//!
//! The law is in velocity form: its only state is the rate. Keeping that state inside the bounds is therefore
//! all the anti-windup there is to do: the first error of the other sign moves the rate off the bound.

use crate::{
    controller::{Controller, Decision, Interval, Measurement, Note, RateBounds},
    error::Error,
    report::UeReport,
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
            note,
        }
    }
}

impl Controller for Rapid {
    fn name(&self) -> &'static str {
        match self.statistic {
            PrbStatistic::Mean => "rapid",
            PrbStatistic::Peak { .. } => "rapid-peak",
        }
    }

    fn needs(&self) -> &'static [Measurement] {
        &[Measurement::Prbs]
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
        self.rate_bps = bounds.clamp(wanted);
        let note = if wanted < self.rate_bps {
            Some(Note::AtFloor)
        } else if wanted > self.rate_bps {
            Some(Note::AtCeiling)
        } else {
            None
        };
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

/// Mean PRBs per slot over the reports, each weighted by the length of its window; `None` without a usable one.
///
/// With equal windows this is the papers' plain average; real reports come late and then early again.
pub fn mean_prbs(reports: &[UeReport]) -> Option<f64> {
    weighted_mean(usable(reports))
}

/// Largest mean PRB use over consecutive reports that together last at least `report_interval`.
///
/// What is left at the end counts with the group before it. `None` without a usable report.
pub fn peak_prbs(reports: &[UeReport], report_interval: Duration) -> Option<f64> {
    // A report that comes a little early (the timer's jitter) still closes its group.
    let enough = report_interval.as_secs_f64() * 0.75;
    let mut groups: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (prbs, seconds) in usable(reports) {
        open = (open.0 + prbs * seconds, open.1 + seconds);
        if open.1 >= enough {
            groups.push(open);
            open = (0.0, 0.0);
        }
    }
    if open.1 > 0.0 {
        match groups.last_mut() {
            Some(last) => *last = (last.0 + open.0, last.1 + open.1),
            None => groups.push(open),
        }
    }
    groups
        .into_iter()
        .map(|(sum, seconds)| sum / seconds)
        .reduce(f64::max)
}

fn usable(reports: &[UeReport]) -> impl Iterator<Item = (f64, f64)> + '_ {
    reports.iter().filter_map(|report| {
        let prbs = report.prbs.filter(|p| p.is_finite() && *p >= 0.0)?;
        let seconds = report.length.as_secs_f64();
        (seconds > 0.0).then_some((prbs, seconds))
    })
}

fn weighted_mean(samples: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, seconds) = samples.fold((0.0, 0.0), |acc, (prbs, s)| (acc.0 + prbs * s, acc.1 + s));
    let mean = sum / seconds;
    mean.is_finite().then_some(mean)
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
