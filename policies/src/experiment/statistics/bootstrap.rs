//! Cluster bootstrap: an interval for one look, whatever the distribution.
//!
//! Whole observations are drawn with replacement, never the intervals or packets within them, which are not independent
//! (Davison, Hinkley: Bootstrap Methods and their Application, 1997, section 3.8; percentile interval, section 5.3).

use super::{Interval, Samples};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Samples drawn.
const DRAWS: usize = 2000;
/// Fewest observations per arm for a statement.
const LEAST: usize = 3;

/// Interval of the difference of means, treatment minus baseline, that holds it with probability 1 − α. The same data
/// give the same interval.
pub fn interval(samples: &Samples, alpha: f64) -> Option<Interval> {
    let (treatment, baseline): (Vec<_>, Vec<_>) =
        samples.values.iter().partition(|(treated, _)| *treated);
    let enough = treatment.len() >= LEAST && (samples.paired || baseline.len() >= LEAST);
    if !enough {
        return None;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5eed);
    let mut mean = |values: &[(bool, f64)]| {
        let sum: f64 = (0..values.len())
            .filter_map(|_| values.get(random.random_range(0..values.len())))
            .map(|(_, value)| value)
            .sum();
        sum / values.len().max(1) as f64
    };
    let mut differences: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let of_baseline = if baseline.is_empty() {
                0.0
            } else {
                mean(&baseline)
            };
            mean(&treatment) - of_baseline
        })
        .collect();
    differences.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let index = (part * (DRAWS - 1) as f64).round() as usize;
        differences.get(index).copied()
    };
    Some(Interval {
        low: at(alpha / 2.0)?,
        high: at(1.0 - alpha / 2.0)?,
    })
}
