//! PRISM's reward (arXiv 2611.02032, equations 2 to 6).

use serde::{Deserialize, Serialize};

/// What followed from a decision: measurements of the control interval after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// m: peak PRB use, PRBs per slot.
    pub peak: f64,
    /// Pε: PRB target, PRBs per slot; above 0.
    pub target: f64,
    /// η/η_max: the UE's spectral efficiency relative to the largest of its MCS table.
    pub efficiency: f64,
}

/// Parameters of the reward.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reward {
    /// Exponent of the error below the target.
    pub under: f64,
    /// Exponent of the error above the target.
    pub over: f64,
    /// Weight of the reward for the gain: 1 as in the paper, 0 without it.
    pub gain_weight: f64,
    /// The gain wanted below the target, as a share of the efficiency, once the error is `full_error`.
    pub increase: f64,
    /// The error from which on that gain is wanted in full.
    pub full_error: f64,
    /// Least reward; the largest is 1.
    pub least: f64,
}

impl Default for Reward {
    /// As in the paper.
    fn default() -> Self {
        Self {
            under: 1.0,
            over: 2.0,
            gain_weight: 1.0,
            increase: 0.25,
            full_error: 0.3,
            least: -2.0,
        }
    }
}

impl Reward {
    /// The reward R of a gain, `max_gain` being the largest that can be chosen.
    pub fn of(&self, gain: f64, max_gain: f64, outcome: Outcome) -> f64 {
        let error = (outcome.peak - outcome.target) / outcome.target;
        let tracking =
            (-self.under * (-error).max(0.0)).exp() - (self.over * error.max(0.0)).exp() + 1.0;
        let wanted = match error > 0.0 {
            true => outcome.efficiency,
            false => self.increase * (error.abs() / self.full_error).min(1.0) * outcome.efficiency,
        };
        let choice = -(gain - wanted).abs() / max_gain;
        (tracking + self.gain_weight * choice).clamp(self.least, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reward(gain: f64, peak: f64, target: f64, efficiency: f64) -> f64 {
        let outcome = Outcome {
            peak,
            target,
            efficiency,
        };
        Reward::default().of(gain, 1.0, outcome)
    }

    #[test]
    fn it_is_the_papers() {
        let near =
            |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-6, "{value} {wanted}");
        // On target: tracking 1, wanted gain 0.
        near(reward(0.05, 20.0, 20.0, 0.8), 0.95);
        // 50 % below: e^-0.5; wanted ¼ · 0.8 = 0.2.
        near(reward(0.3, 10.0, 20.0, 0.8), 0.606_530_66 - 0.1);
        // 15 % below: e^-0.15; half of that.
        near(reward(0.1, 17.0, 20.0, 0.8), 0.860_707_98);
        // 20 % above: 1 - e^0.4 + 1; wanted 0.8.
        near(reward(0.5, 24.0, 20.0, 0.8), 2.0 - 1.491_824_70 - 0.3);
        // Far above it is bounded.
        near(reward(1.0, 60.0, 20.0, 1.0), -2.0);
    }

    #[test]
    fn without_the_reward_for_the_gain_only_tracking_counts() {
        let tracking = Reward {
            gain_weight: 0.0,
            ..Reward::default()
        };
        let outcome = Outcome {
            peak: 20.0,
            target: 20.0,
            efficiency: 0.5,
        };
        assert_eq!(tracking.of(1.0, 1.0, outcome), 1.0);
    }
}
