//! PRISM (arXiv 2611.02032): RAPID's law with the peak PRB use, and a gain that a network chooses anew every interval.
//!
//! Every Δ: the network sees the last report windows and picks a out of its gains; if m < Pε then a ← a / n;
//! r ← r − a·γ·(m − Pε), where m is the largest PRB use over a report interval δ.
//!
//! Everything that was fixed in training (features, normalisers, gains, γ, δ) is on the model's [`Card`].

mod observation;

use crate::{
    controller::{Controller, Decision, Interval, Note, RateBounds},
    error::Error,
    gain::GainPolicy,
    model::{Card, best},
    windows::peak_prbs,
};
pub use observation::{Observations, Outside};
use std::sync::Arc;

/// PRISM's controller of one flow. The network itself is asked from outside: see [`crate::Batch`].
#[derive(Clone, Debug)]
pub struct Prism {
    card: Arc<Card>,
    observations: Observations,
    rate_bps: f64,
}

impl Prism {
    /// A flow that starts at `initial_bps`.
    ///
    /// # Errors
    /// When that is no rate.
    pub fn new(card: Arc<Card>, initial_bps: f64) -> Result<Self, Error> {
        if !(initial_bps.is_finite() && initial_bps > 0.0) {
            return Err(Error::Parameter {
                parameter: "initial_bps",
                value: initial_bps,
                wanted: "a finite number above 0",
            });
        }
        Ok(Self {
            observations: Observations::new(card.clone()),
            card,
            rate_bps: initial_bps,
        })
    }

    /// The card of its model.
    pub fn card(&self) -> &Arc<Card> {
        &self.card
    }

    /// What it has observed.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// Ends the interval with the gain of this index on the card: the choice of the network, or of whoever trains it.
    pub fn decide_with(&mut self, interval: &Interval<'_>, gain: Option<usize>) -> Decision {
        let prbs = peak_prbs(interval.reports, self.card.report_interval());
        let target_prbs = interval.target.prbs();
        let gain = gain.and_then(|index| self.card.gains.get(index)).copied();
        let held = if !(target_prbs.is_finite() && target_prbs > 0.0) {
            Some(Note::NoTarget)
        } else if prbs.is_none() {
            Some(Note::NoReport)
        } else if gain.is_none() {
            Some(Note::NoGain)
        } else {
            None
        };
        let (Some(m), Some(a), None) = (prbs, gain, held) else {
            let target_prbs = if held == Some(Note::NoTarget) {
                0.0
            } else {
                target_prbs
            };
            return self.hold(held, prbs, target_prbs, interval.bounds);
        };
        let n = f64::from(interval.target.active_flows.max(1));
        let divided = m < target_prbs && self.card.increase_divided_by_flows;
        let gain_bps_per_prb = self.card.gamma_bps_per_prb * if divided { a / n } else { a };
        let wanted = self.rate_bps - gain_bps_per_prb * (m - target_prbs);
        let note;
        (self.rate_bps, note) = interval.bounds.hold(wanted);
        Decision {
            rate_bps: self.rate_bps,
            target_bitrate_bps: None,
            pacing_rate_bps: None,
            prbs,
            target_prbs,
            gain_bps_per_prb,
            chosen_gain: Some(a),
            note,
        }
    }

    fn hold(
        &mut self,
        note: Option<Note>,
        prbs: Option<f64>,
        target_prbs: f64,
        bounds: RateBounds,
    ) -> Decision {
        self.rate_bps = bounds.clamp(self.rate_bps);
        Decision {
            rate_bps: self.rate_bps,
            target_bitrate_bps: None,
            pacing_rate_bps: None,
            prbs,
            target_prbs,
            gain_bps_per_prb: 0.0,
            chosen_gain: None,
            note,
        }
    }
}

impl Controller for Prism {
    fn policy(&self) -> GainPolicy {
        GainPolicy::Prism
    }

    fn observe(&mut self, interval: &Interval<'_>, batch: &mut Vec<f32>) -> bool {
        let news = self.observations.observe(interval, self.rate_bps);
        if news {
            batch.extend_from_slice(self.observations.newest());
        }
        news
    }

    fn decide_scored(&mut self, interval: &Interval<'_>, scores: &[f32]) -> Decision {
        self.decide_with(interval, best(scores))
    }

    fn decide(&mut self, interval: &Interval<'_>) -> Decision {
        self.decide_with(interval, None)
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
