//! Capacity that fluctuates like a mobile link's, drawn by a seed: a model, not a recording.
//!
//! The logarithm of the capacity is the sum of two Ornstein–Uhlenbeck processes, a slow one (moving about) and a fast one
//! (fading), sampled every 10 ms; the opportunities to send follow it as in a mahimahi packet delivery trace.

use crate::link::Opportunities;
use crate::random::Xoshiro256PlusPlus;
use rand_distr::{Distribution, StandardNormal};
use serde::Deserialize;

/// Milliseconds between two samples of the capacity.
const STEP_MS: u64 = 10;
/// Capacity relative to its mean stays within these bounds.
const BOUNDS: (f64, f64) = (0.15, 2.5);

/// How a capacity fluctuates.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fluctuation {
    /// Mean capacity, Mbit/s (of the model: one draw differs).
    pub mean_mbps: f64,
    /// Standard deviation of the logarithm, slow part.
    pub slow_deviation: f64,
    /// Its correlation time, s.
    pub slow_s: f64,
    /// Standard deviation of the logarithm, fast part.
    pub fast_deviation: f64,
    /// Its correlation time, s.
    pub fast_s: f64,
}

impl Default for Fluctuation {
    fn default() -> Self {
        Self {
            mean_mbps: 20.0,
            slow_deviation: 0.35,
            slow_s: 2.0,
            fast_deviation: 0.15,
            fast_s: 0.1,
        }
    }
}

/// One Ornstein–Uhlenbeck process in its stationary state.
struct Process {
    value: f64,
    kept: f64,
    drawn: f64,
}

impl Process {
    fn new(deviation: f64, correlation_s: f64, random: &mut Xoshiro256PlusPlus) -> Self {
        let kept = (-(STEP_MS as f64) / 1e3 / correlation_s.max(1e-3)).exp();
        let first: f64 = StandardNormal.sample(random);
        Self {
            value: deviation * first,
            kept,
            drawn: deviation * (1.0 - kept * kept).sqrt(),
        }
    }

    fn next(&mut self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let draw: f64 = StandardNormal.sample(random);
        self.value = self.kept * self.value + self.drawn * draw;
        self.value
    }
}

impl Fluctuation {
    /// The opportunities of `seconds`.
    pub fn opportunities(&self, seconds: f64, random: &mut Xoshiro256PlusPlus) -> Opportunities {
        let mut slow = Process::new(self.slow_deviation, self.slow_s, random);
        let mut fast = Process::new(self.fast_deviation, self.fast_s, random);
        let variance = self.slow_deviation.powi(2) + self.fast_deviation.powi(2);
        let per_ms = self.mean_mbps.max(0.01) * 1e3 / 8.0 / f64::from(Opportunities::OCTETS);
        let (mut rate, mut credit) = (per_ms, 0.0);
        let mut at_ms = Vec::new();
        for ms in 1..=(seconds.max(0.001) * 1e3) as u64 {
            if ms % STEP_MS == 1 {
                // The mean of a log-normal variable is above its median.
                let log = slow.next(random) + fast.next(random) - variance / 2.0;
                rate = per_ms * log.exp().clamp(BOUNDS.0, BOUNDS.1);
            }
            credit += rate;
            while credit >= 1.0 {
                credit -= 1.0;
                at_ms.push(ms);
            }
        }
        Opportunities::of(at_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn a_seed_determines_it_and_the_mean_is_the_one_asked_for() {
        let draw = |seed| {
            let mut random = stream(seed, "capacity", 0);
            Fluctuation::default().opportunities(600.0, &mut random)
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let mbps = draw(1).mean_bps() / 1e6;
        assert!((17.0..23.0).contains(&mbps), "{mbps}");
    }
}
