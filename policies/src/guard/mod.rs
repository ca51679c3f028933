//! Guard rails: no learned policy moves a rate faster or further than it may, and one that is not to be trusted makes way
//! for RAPID until it is.
//!
//! - [`Guard`] judges: it demotes a policy for an answer that is no number, an output that no observation changes, an
//!   engine that fails, or observations far outside the training range, and lets it back after a time without any of them.
//! - [`Guarded`] is the controller of a flow: PRISM, RAPID in reserve, and the guard between them.

mod controller;

use crate::error::Error;
use crate::prism::Outside;
pub use controller::Guarded;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Limits of a learned policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GuardRails {
    /// Largest step of the rate per control interval, as a share of the rate's ceiling.
    pub max_step: f64,
    /// Observations are far outside when they are so many widths of the training range beyond it …
    pub outside_by: f64,
    /// … in so many control intervals in a row.
    pub outside_intervals: u32,
    /// An output that so many different observations in a row do not change is constant.
    pub constant_observations: u32,
    /// A demoted policy must be well for this long before it decides again.
    pub recovery: Duration,
    /// The time doubles with each demotion soon after the one before, up to this.
    pub longest_recovery: Duration,
}

impl Default for GuardRails {
    fn default() -> Self {
        Self {
            max_step: 0.5,
            outside_by: 0.5,
            outside_intervals: 3,
            constant_observations: 25,
            recovery: Duration::from_secs(10),
            longest_recovery: Duration::from_secs(600),
        }
    }
}

impl GuardRails {
    /// Checks the limits.
    ///
    /// # Errors
    /// When one of them is no usable number.
    pub fn validate(&self) -> Result<(), Error> {
        let numbers = [
            ("max_step", self.max_step, 0.01..=1.0, "0.01 to 1"),
            ("outside_by", self.outside_by, 0.0..=1e6, "0 or more"),
            (
                "outside_intervals",
                self.outside_intervals.into(),
                1.0..=1e6,
                "1 or more",
            ),
            (
                "constant_observations",
                self.constant_observations.into(),
                2.0..=1e6,
                "2 or more",
            ),
        ];
        match numbers
            .into_iter()
            .find(|(_, x, range, _)| !range.contains(x))
        {
            Some((parameter, value, _, wanted)) => Err(Error::Parameter {
                parameter,
                value,
                wanted,
            }),
            None => Ok(()),
        }
    }
}

/// Why a policy was demoted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// The model answered with something that is no finite number.
    NotFinite,
    /// The model answers the same whatever it observes.
    Constant,
    /// The engine that runs the model failed.
    NoAnswer,
    /// What is observed is far outside the training range.
    Outside(Outside),
}

impl Cause {
    /// The kind, for a label.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotFinite => "not_finite",
            Self::Constant => "constant",
            Self::NoAnswer => "no_answer",
            Self::Outside(_) => "outside",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("its model answers with what is no number"),
            Self::Constant => f.write_str("its model answers the same whatever it observes"),
            Self::NoAnswer => f.write_str("its model did not answer"),
            Self::Outside(outside) => write!(
                f,
                "{} = {:.4} is far outside the training range",
                outside.feature.name(),
                outside.value
            ),
        }
    }
}

/// What one interval showed of a learned policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signs {
    /// The model was asked and did not answer.
    pub no_answer: bool,
    /// It answered with what is no finite number.
    pub not_finite: bool,
    /// It answered exactly as before to another observation (`Some(true)`), or not so; `None`: the observation was the same.
    pub repeated: Option<bool>,
    /// What was farthest outside the training range.
    pub outside: Option<Outside>,
}

/// Judges one learned policy of one flow.
#[derive(Clone, Debug)]
pub struct Guard {
    rails: GuardRails,
    /// Intervals in a row far outside.
    outside: u32,
    /// Different observations in a row that changed nothing.
    constant: u32,
    demotion: Option<Demotion>,
    /// When the policy last came back, and the time that it had to be well for.
    promoted: Option<(Duration, Duration)>,
}

/// A policy that does not decide.
#[derive(Clone, Copy, Debug)]
struct Demotion {
    cause: Cause,
    /// Since when it is well.
    well_since: Option<Duration>,
    recovery: Duration,
}

impl Guard {
    /// A policy that is trusted.
    pub fn new(rails: GuardRails) -> Self {
        Self {
            rails,
            outside: 0,
            constant: 0,
            demotion: None,
            promoted: None,
        }
    }

    /// Why the policy does not decide; `None` if it does.
    pub fn demoted(&self) -> Option<Cause> {
        Some(self.demotion?.cause)
    }

    /// Takes what an interval showed. `true`: the policy may decide about it.
    pub fn judge(&mut self, now: Duration, signs: &Signs) -> bool {
        let cause = self.cause(signs);
        match &mut self.demotion {
            None => match cause {
                None => true,
                Some(cause) => {
                    self.demotion = Some(Demotion {
                        cause,
                        well_since: None,
                        recovery: self.recovery(now),
                    });
                    false
                }
            },
            Some(demotion) => {
                // The way back is narrower than the way out: any observation outside counts.
                if cause.is_some() || signs.outside.is_some() {
                    demotion.well_since = None;
                    demotion.cause = cause.unwrap_or(demotion.cause);
                    return false;
                }
                let since = *demotion.well_since.get_or_insert(now);
                if now.saturating_sub(since) < demotion.recovery {
                    return false;
                }
                self.promoted = Some((now, demotion.recovery));
                self.demotion = None;
                true
            }
        }
    }

    fn cause(&mut self, signs: &Signs) -> Option<Cause> {
        match signs.repeated {
            Some(true) => self.constant = self.constant.saturating_add(1),
            Some(false) => self.constant = 0,
            None => {}
        }
        let far = signs.outside.filter(|o| o.by > self.rails.outside_by);
        self.outside = far.map_or(0, |_| self.outside.saturating_add(1));
        if signs.no_answer {
            Some(Cause::NoAnswer)
        } else if signs.not_finite {
            Some(Cause::NotFinite)
        } else if self.constant >= self.rails.constant_observations {
            Some(Cause::Constant)
        } else if self.outside >= self.rails.outside_intervals {
            far.map(Cause::Outside)
        } else {
            None
        }
    }

    /// How long a policy that is demoted now must be well: twice as long as last time if that was lately.
    fn recovery(&self, now: Duration) -> Duration {
        match self.promoted {
            Some((at, recovery)) if now.saturating_sub(at) < recovery.saturating_mul(10) => {
                recovery
                    .saturating_mul(2)
                    .min(self.rails.longest_recovery.max(self.rails.recovery))
            }
            _ => self.rails.recovery,
        }
    }
}
