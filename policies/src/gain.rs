//! Gain policies by name, their parameters, and which of them a RAN's measurements allow.

use crate::{
    controller::{Controller, Measurement},
    error::Error,
    rapid::{PrbStatistic, Rapid},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, time::Duration};

/// How a rate follows the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GainPolicy {
    /// RAPID: fixed gain, mean PRB use.
    Rapid,
    /// RAPID with the peak PRB use in place of the mean.
    #[serde(alias = "rapid_peak")]
    RapidPeak,
}

impl GainPolicy {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Rapid, Self::RapidPeak];

    /// The name in configuration, guidance and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rapid => "rapid",
            Self::RapidPeak => "rapid-peak",
        }
    }

    /// All names, for error messages.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Measurements without which it cannot decide.
    pub fn needs(self) -> &'static [Measurement] {
        match self {
            Self::Rapid | Self::RapidPeak => &[Measurement::Prbs],
        }
    }

    /// A controller of one flow.
    pub fn controller(self, parameters: &GainParameters) -> Result<Box<dyn Controller>, Error> {
        let statistic = match self {
            Self::Rapid => PrbStatistic::Mean,
            Self::RapidPeak => PrbStatistic::Peak {
                report_interval: parameters.report_interval,
            },
        };
        let rapid = Rapid::new(
            parameters.k,
            parameters.gamma_bps_per_prb,
            statistic,
            parameters.initial_bps,
        )?;
        Ok(Box::new(rapid))
    }

    /// The first policy of `preferences` whose needs `has` satisfies, and why the ones before it were passed over.
    pub fn select(preferences: &[Self], has: impl Fn(Measurement) -> bool) -> Selection {
        let mut passed_over = Vec::new();
        for &policy in preferences {
            let missing: Vec<_> = policy
                .needs()
                .iter()
                .copied()
                .filter(|m| !has(*m))
                .collect();
            if missing.is_empty() {
                return Selection {
                    policy: Some(policy),
                    passed_over,
                };
            }
            passed_over.push((policy, missing));
        }
        Selection {
            policy: None,
            passed_over,
        }
    }
}

impl fmt::Display for GainPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for GainPolicy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let wanted = name.replace('_', "-");
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == wanted)
            .ok_or_else(|| Error::UnknownGainPolicy { name: name.into() })
    }
}

/// Outcome of [`GainPolicy::select`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The policy to run; `None` if the RAN's measurements suffice for none.
    pub policy: Option<GainPolicy>,
    /// Preferred policies that cannot run here, with the measurements they lack.
    pub passed_over: Vec<(GainPolicy, Vec<Measurement>)>,
}

/// Parameters of the gain policies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GainParameters {
    /// K, the gain.
    pub k: f64,
    /// γ, bit/s per PRB per slot. At MCS 28 one PRB of every slot carries about 1.2 to 1.4 Mbit/s.
    pub gamma_bps_per_prb: f64,
    /// Rate of a flow before its first decision, bit/s.
    pub initial_bps: f64,
    /// δ, over which a peak is taken.
    pub report_interval: Duration,
}

impl Default for GainParameters {
    /// K and γ of RAPID's paper, δ of PRISM's; the start rate is ours (the papers do not give it).
    fn default() -> Self {
        Self {
            k: 0.5,
            gamma_bps_per_prb: 1e6,
            initial_bps: 1e6,
            report_interval: Duration::from_millis(50),
        }
    }
}
