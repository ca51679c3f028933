//! Comparing arms.
//!
//! The data are one value per observation (a UE, a cell, or a period of a switchback), on a logarithmic scale for rates
//! and delays. [`sequential`] has the test that may be looked at any time; [`bootstrap`] an interval for one look, with
//! no assumption about the distribution; [`ratio`] the check that no arm lost its observations; [`power`] what a
//! planned number of observations can find.

pub mod bootstrap;
pub mod power;
pub mod ratio;
pub mod sequential;

use serde::{Deserialize, Serialize};

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Both ends through an increasing function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            low: f(self.low),
            high: f(self.high),
        }
    }
}

/// Values of a treatment beside those of the baseline, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Whether each treatment value has a baseline value of the same block to be compared with.
    pub paired: bool,
    /// (of the treatment?, value); of pairs: (true, difference).
    pub values: Vec<(bool, f64)>,
}

/// Running count, mean and sum of squared deviations (Welford 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// Sum of squared deviations from it.
    pub squares: f64,
}

impl Moments {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.count;
        self.squares += distance * (value - self.mean);
    }

    /// Standard deviation; 0 for fewer than two values.
    pub fn deviation(&self) -> f64 {
        (self.squares / (self.count - 1.0).max(1.0)).sqrt()
    }
}
