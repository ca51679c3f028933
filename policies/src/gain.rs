//! Gain policies by name, their parameters, and which of them a RAN's measurements allow.

use crate::{
    choir::{self, Choir, ChoirFlow},
    controller::{Controller, Measurement},
    error::Error,
    guard::{GuardRails, Guarded},
    model::Card,
    prism::Prism,
    rapid::{PrbStatistic, Rapid},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, sync::Arc, time::Duration};

/// How a rate follows the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GainPolicy {
    /// RAPID: fixed gain, mean PRB use.
    Rapid,
    /// RAPID with the peak PRB use in place of the mean.
    #[serde(alias = "rapid_peak")]
    RapidPeak,
    /// PRISM: a gain that a network chooses, peak PRB use.
    Prism,
    /// Choir: bandwidth guidance for video, from MAC and RLC reports.
    Choir,
}

impl GainPolicy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rapid, Self::RapidPeak, Self::Prism, Self::Choir];

    /// The name in configuration, guidance and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rapid => "rapid",
            Self::RapidPeak => "rapid-peak",
            Self::Prism => "prism",
            Self::Choir => "choir",
        }
    }

    /// All names, for error messages.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// It runs a model.
    pub fn learned(self) -> bool {
        matches!(self, Self::Prism)
    }

    /// It decides with every report, not at the end of each control interval.
    pub fn every_report(self) -> bool {
        matches!(self, Self::Choir)
    }

    /// A controller of one flow. `model`: the card of the model that the policy runs, if it is [`Self::learned`].
    ///
    /// # Errors
    /// When a parameter is out of its range, or the model is missing.
    pub fn controller(
        self,
        parameters: &GainParameters,
        model: Option<&Arc<Card>>,
    ) -> Result<Box<dyn Controller>, Error> {
        let rapid = |statistic| {
            Rapid::new(
                parameters.k,
                parameters.gamma_bps_per_prb,
                statistic,
                parameters.initial_bps,
            )
        };
        Ok(match self {
            Self::Rapid => Box::new(rapid(PrbStatistic::Mean)?),
            Self::RapidPeak => Box::new(rapid(PrbStatistic::Peak {
                report_interval: parameters.report_interval,
            })?),
            Self::Choir => {
                let flow = ChoirFlow {
                    report_period: parameters.report_interval,
                    e2_delay: parameters.e2_delay,
                    wired: parameters.wired_delay,
                    frame_interval: parameters.frame_interval,
                };
                Box::new(Choir::new(parameters.choir, flow, parameters.initial_bps))
            }
            Self::Prism => {
                let card = model.ok_or(Error::NoModel { policy: self })?;
                let prism = Prism::new(card.clone(), parameters.initial_bps)?;
                match parameters.guard {
                    None => Box::new(prism),
                    Some(rails) => {
                        rails.validate()?;
                        Box::new(Guarded::new(prism, rapid(PrbStatistic::Mean)?, rails))
                    }
                }
            }
        })
    }

    /// What the policy lacks here, where `model` is the card of its model and `has` says what the RAN gives.
    fn lacks(self, model: Option<&Card>, has: impl Fn(Measurement) -> bool) -> Option<Lack> {
        let needs = match (self, model) {
            (Self::Rapid | Self::RapidPeak, _) => vec![Measurement::Prbs],
            (Self::Choir, _) => choir::NEEDS.to_vec(),
            (Self::Prism, Some(card)) => card.needs(),
            (Self::Prism, None) => return Some(Lack::Model),
        };
        let missing: Vec<_> = needs.into_iter().filter(|m| !has(*m)).collect();
        (!missing.is_empty()).then_some(Lack::Measurements(missing))
    }

    /// The first policy of `preferences` that can run, and why the ones before it were passed over.
    ///
    /// `model` is the card of the model that is loaded for learned policies, `has` says what the RAN gives.
    pub fn select(
        preferences: &[Self],
        model: Option<&Card>,
        has: impl Fn(Measurement) -> bool,
    ) -> Selection {
        let mut passed_over = Vec::new();
        for &policy in preferences {
            match policy.lacks(model, &has) {
                Some(lack) => passed_over.push((policy, lack)),
                None => {
                    return Selection {
                        policy: Some(policy),
                        passed_over,
                    };
                }
            }
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
    /// The policy to run; `None` if none can.
    pub policy: Option<GainPolicy>,
    /// Preferred policies that cannot run here, with what they lack.
    pub passed_over: Vec<(GainPolicy, Lack)>,
}

/// Why a policy cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Measurements that the RAN does not give.
    Measurements(Vec<Measurement>),
    /// A model: none is loaded.
    Model,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measurements(missing) => {
                let names: Vec<_> = missing.iter().map(|m| m.name()).collect();
                write!(
                    f,
                    "needs {}, which the RAN does not give",
                    names.join(" and ")
                )
            }
            Self::Model => f.write_str("needs a model, and none is loaded"),
        }
    }
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
    /// Guard rails of learned policies; `None`: they decide alone.
    pub guard: Option<GuardRails>,
    /// Choir's law.
    pub choir: choir::Parameters,
    /// From the end of a report's window until guidance leaves.
    pub e2_delay: Duration,
    /// One way between edge server and base station.
    pub wired_delay: Duration,
    /// Interval between video frames, where the edge server announced it.
    pub frame_interval: Option<Duration>,
}

impl Default for GainParameters {
    /// K and γ of RAPID's paper, δ of PRISM's; the start rate and the delays are ours (the papers do not give them).
    fn default() -> Self {
        Self {
            k: 0.5,
            gamma_bps_per_prb: 1e6,
            initial_bps: 1e6,
            report_interval: Duration::from_millis(50),
            guard: Some(GuardRails::default()),
            choir: choir::Parameters::default(),
            e2_delay: Duration::from_millis(1),
            wired_delay: Duration::ZERO,
            frame_interval: None,
        }
    }
}
