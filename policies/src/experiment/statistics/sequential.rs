//! A test that stays valid however often one looks.
//!
//! The anytime-valid t-test of Lindon, Ham, Tingley, Bojinov: Anytime-Valid Linear Models and Regression Adjusted
//! Causal Inference in Randomized Experiments (2022), for one coefficient: a Bayes factor of the t-statistic against
//! a normal mixture of standardised effects. For normal data of one unknown variance its probability of ever
//! exceeding 1/α without a difference is at most α, over all looks together, and in small samples too.

use super::{Interval, Moments, Samples};

/// Fewest degrees of freedom for a statement.
const LEAST_FREEDOM: f64 = 3.0;

/// The mixture's precision: how large effects are expected to be, in standard deviations, to the power −2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture(f64);

impl Mixture {
    /// The one for which the interval is narrowest after `planned` observations per arm (or pairs), at level `alpha`
    /// (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas: Time-uniform central limit theory, 2021, section B.2).
    pub fn tuned(planned: u32, paired: bool, alpha: f64) -> Self {
        let planned = f64::from(planned.max(1));
        let information = if paired { planned } else { planned / 2.0 };
        let log = -2.0 * alpha.ln();
        Self(information / (log + (log + 1.0).ln()))
    }
}

/// The test at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Estimated difference, treatment minus baseline.
    pub difference: f64,
    /// Interval that, over all looks together, misses the true difference with probability α at most.
    pub interval: Interval,
    /// Largest evidence against "no difference" so far, as a probability: 1 over the Bayes factor, at most 1.
    pub p_value: f64,
}

/// The whole course of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Course {
    /// The last look; `None`: too few values.
    pub now: Option<Look>,
    /// Number of values at which the test first decided, and the sign of the difference then.
    pub decided: Option<(usize, f64)>,
}

/// Follows a comparison through all its values.
pub fn course(samples: &Samples, mixture: Mixture, alpha: f64) -> Course {
    looks(samples, mixture, alpha, |_| ())
}

/// Follows a comparison through all its values; `each` sees the look after each of them.
pub fn looks(
    samples: &Samples,
    mixture: Mixture,
    alpha: f64,
    mut each: impl FnMut(&Look),
) -> Course {
    let (mut baseline, mut treatment) = (Moments::default(), Moments::default());
    let mut course = Course::default();
    let mut p_value: f64 = 1.0;
    for (index, (treated, value)) in samples.values.iter().enumerate() {
        let moments = if *treated {
            &mut treatment
        } else {
            &mut baseline
        };
        moments.add(*value);
        let Some(statistic) = Statistic::of(samples.paired, &baseline, &treatment) else {
            continue;
        };
        p_value = p_value.min(statistic.evidence(mixture).recip());
        if p_value < alpha && course.decided.is_none() {
            course.decided = Some((index + 1, statistic.difference.signum()));
        }
        let look = Look {
            difference: statistic.difference,
            interval: statistic.interval(mixture, alpha),
            p_value,
        };
        each(&look);
        course.now = Some(look);
    }
    course
}

/// A difference with its standard error.
#[derive(Clone, Copy, Debug)]
struct Statistic {
    difference: f64,
    /// Standard deviation of one value.
    deviation: f64,
    /// Values that the difference is worth: its variance is that of one value divided by this.
    information: f64,
    freedom: f64,
}

impl Statistic {
    fn of(paired: bool, baseline: &Moments, treatment: &Moments) -> Option<Self> {
        let statistic = if paired {
            Self {
                difference: treatment.mean,
                deviation: treatment.deviation(),
                information: treatment.count,
                freedom: treatment.count - 1.0,
            }
        } else {
            let (a, b) = (baseline.count, treatment.count);
            let freedom = a + b - 2.0;
            Self {
                difference: treatment.mean - baseline.mean,
                deviation: ((baseline.squares + treatment.squares) / freedom).sqrt(),
                information: a * b / (a + b),
                freedom,
            }
        };
        let both = paired || (baseline.count >= 2.0 && treatment.count >= 2.0);
        (both && statistic.freedom >= LEAST_FREEDOM).then_some(statistic)
    }

    /// The Bayes factor: theorem 3.2 of the paper for one coefficient.
    fn evidence(&self, Mixture(precision): Mixture) -> f64 {
        let shrink = precision / (precision + self.information);
        let t_squared = if self.deviation > 0.0 {
            (self.difference / self.deviation).powi(2) * self.information
        } else if self.difference == 0.0 {
            0.0
        } else {
            f64::INFINITY
        };
        let u = t_squared / self.freedom;
        let ratio = if u.is_finite() {
            (1.0 + u) / (1.0 + shrink * u)
        } else {
            shrink.recip()
        };
        shrink.sqrt() * ratio.powf((self.freedom + 1.0) / 2.0)
    }

    /// All differences against which the evidence is below 1/α.
    fn interval(&self, Mixture(precision): Mixture, alpha: f64) -> Interval {
        let shrink = precision / (precision + self.information);
        let bound = (alpha * shrink.sqrt())
            .recip()
            .powf(2.0 / (self.freedom + 1.0));
        let half = if bound * shrink < 1.0 {
            let u = (bound - 1.0) / (1.0 - bound * shrink);
            self.deviation * (u * self.freedom / self.information).sqrt()
        } else {
            f64::INFINITY
        };
        Interval {
            low: self.difference - half,
            high: self.difference + half,
        }
    }
}
