//! What a planned number of observations can find: by simulation, since the test may stop at any of them.

use super::sequential::{Mixture, course};
use super::{Moments, Samples};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Simulated experiments: the power is known to about ± 0.02.
const RUNS: u32 = 500;

/// Part of experiments with `planned` observations per arm (or pairs) in which a difference of `effect` standard
/// deviations is found at level `alpha`.
pub fn power(effect: f64, planned: u32, paired: bool, mixture: Mixture, alpha: f64) -> f64 {
    if !effect.is_finite() {
        return 1.0;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x90e7);
    let found = (0..RUNS)
        .filter(|_| {
            let mut samples = Samples {
                paired,
                values: Vec::new(),
            };
            for _ in 0..planned {
                let mut value = || -> f64 { StandardNormal.sample(&mut random) };
                if !paired {
                    samples.values.push((false, value()));
                }
                samples.values.push((true, effect + value()));
            }
            let decided = course(&samples, mixture, alpha).decided;
            decided.is_some_and(|(_, sign)| sign == effect.signum())
        })
        .count();
    found as f64 / f64::from(RUNS)
}

/// Standard deviation of the values that [`power`]'s effect is relative to; `None`: too few.
pub fn deviation(samples: &Samples) -> Option<f64> {
    let mut arms = [Moments::default(); 2];
    for (treated, value) in &samples.values {
        arms[usize::from(*treated)].add(*value);
    }
    let [baseline, treatment] = arms;
    let (squares, freedom) = if samples.paired {
        (treatment.squares, treatment.count - 1.0)
    } else {
        let freedom = treatment.count + baseline.count - 2.0;
        (treatment.squares + baseline.squares, freedom)
    };
    (freedom >= 2.0).then(|| (squares / freedom).sqrt())
}
