//! The card of a model: what goes in, what comes out, and where it comes from.

use super::{Feature, Input, Refusal};
use crate::controller::Measurement;
use crate::gain::GainPolicy;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the card's format.
pub const FORMAT: u32 = 1;
/// Numbers in an observation, and gains, at most.
const MAX_INPUTS: usize = 1024;
const MAX_GAINS: usize = 256;

/// What is written on `card.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// [`FORMAT`].
    pub format: u32,
    /// Name of the model, e.g. "prism-v1".
    pub name: String,
    /// The gain policy that it is for.
    pub policy: GainPolicy,
    /// One sentence for people.
    #[serde(default)]
    pub about: String,
    /// SPDX identifier of the licence.
    pub licence: String,
    /// SHA-256 of `actor.onnx`, hexadecimal.
    pub onnx_sha256: String,
    /// Windows in an observation, the oldest first. Where there are fewer, the oldest is repeated.
    pub history: usize,
    /// Report window δ, ms: reports that come more often are averaged over it.
    pub report_interval_ms: u64,
    /// Control interval Δ, ms.
    pub control_interval_ms: u64,
    /// What each output of the network stands for: a in r ← r − a·γ·(m − Pε).
    pub gains: Vec<f64>,
    /// γ, bit/s per PRB.
    pub gamma_bps_per_prb: f64,
    /// A gain that increases the rate is divided by n.
    pub increase_divided_by_flows: bool,
    /// Features of a window, in order.
    pub features: Vec<Input>,
    /// SINR for RANs that give the CQI only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cqi_to_sinr: Option<CqiTable>,
    /// How it was trained.
    pub training: Training,
    /// How the candidates did in validation; the best became the model.
    #[serde(default)]
    pub validation: Vec<Validation>,
}

/// SINR of each CQI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CqiTable {
    /// Where the values are from.
    pub name: String,
    /// SINR in dB of CQI 1 to 15, ascending.
    pub sinr_db: [f64; 15],
}

/// How a model was trained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// The command that repeats it.
    pub command: String,
    /// The scenario.
    pub scenario: String,
    /// Seed of all that was drawn.
    pub seed: u64,
    /// Decisions that it learned from.
    pub samples: u64,
    /// Which candidate became the model.
    pub checkpoint: u32,
}

/// A candidate in validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// Number of the candidate.
    pub checkpoint: u32,
    /// Its score.
    pub score: f64,
    /// Goodput, Mbit/s.
    pub goodput_mbps: f64,
    /// Share of the packets lost.
    pub loss: f64,
    /// Mean one-way delay, ms.
    pub delay_mean_ms: f64,
    /// 95th percentile of the one-way delay, ms.
    pub delay_p95_ms: f64,
}

impl Card {
    /// Reads a card.
    ///
    /// # Errors
    /// When it is no TOML, lacks something, or contradicts itself.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let refuse = |reason| Refusal::Card { reason };
        let card: Self = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
        match card.fault() {
            Some(reason) => Err(refuse(reason)),
            None => Ok(card),
        }
    }

    /// As the text of `card.toml`.
    ///
    /// # Errors
    /// When it contradicts itself.
    pub fn to_toml(&self) -> Result<String, Refusal> {
        if let Some(reason) = self.fault() {
            return Err(Refusal::Card { reason });
        }
        toml::to_string(self).map_err(|error| Refusal::Card {
            reason: error.to_string(),
        })
    }

    /// Numbers in an observation.
    pub fn inputs(&self) -> usize {
        self.history * self.features.len()
    }

    /// δ.
    pub fn report_interval(&self) -> Duration {
        Duration::from_millis(self.report_interval_ms)
    }

    /// Δ.
    pub fn control_interval(&self) -> Duration {
        Duration::from_millis(self.control_interval_ms)
    }

    /// Measurements without which an observation cannot be made. The law itself needs the PRB use.
    pub fn needs(&self) -> Vec<Measurement> {
        let mut needs = vec![Measurement::Prbs];
        for needed in self.features.iter().filter_map(|input| input.name.needs()) {
            // Without a table the CQI is no substitute.
            let needed = match (needed, &self.cqi_to_sinr) {
                (Measurement::ChannelQuality, None) => Measurement::Sinr,
                _ => needed,
            };
            if !needs.contains(&needed) {
                needs.push(needed);
            }
        }
        needs
    }

    /// What is wrong with it.
    fn fault(&self) -> Option<String> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if self.format != FORMAT {
            return Some(format!("format {}, not {FORMAT}", self.format));
        }
        if self.name.is_empty() || self.name.len() > 64 {
            return Some("name: give one of 1 to 64 octets".into());
        }
        if !self.policy.learned() {
            return Some(format!("policy: {} has no model", self.policy));
        }
        if self.features.is_empty() || self.history == 0 || self.inputs() > MAX_INPUTS {
            return Some(format!(
                "history {} of {} features: an observation has 1 to {MAX_INPUTS} numbers",
                self.history,
                self.features.len()
            ));
        }
        if let Some(input) = self.features.iter().find(|input| !input.usable()) {
            let name = input.name.name();
            return Some(format!(
                "feature {name}: scale above 0, finite offset and range, its lower end first"
            ));
        }
        if !(2..=MAX_GAINS).contains(&self.gains.len())
            || !self.gains.iter().all(|gain| positive(*gain))
        {
            return Some(format!("gains: 2 to {MAX_GAINS} numbers above 0"));
        }
        if !positive(self.gamma_bps_per_prb) {
            return Some("gamma_bps_per_prb: a number above 0".into());
        }
        let interval = |ms: u64| (1..=10_000).contains(&ms);
        if !interval(self.report_interval_ms) || !interval(self.control_interval_ms) {
            return Some("report_interval_ms and control_interval_ms: 1 to 10000".into());
        }
        let table = self.cqi_to_sinr.as_ref().map(|table| &table.sinr_db);
        if table.is_some_and(|sinr| !sinr.is_sorted() || !sinr.iter().all(|x| x.is_finite())) {
            return Some("cqi_to_sinr: the SINR must not fall with the CQI".into());
        }
        None
    }

    /// It has this feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.iter().any(|input| input.name == feature)
    }
}

impl Input {
    fn usable(&self) -> bool {
        let [low, high] = self.range;
        self.scale.is_finite()
            && self.scale > 0.0
            && [self.offset, low, high].iter().all(|x| x.is_finite())
            && low <= high
    }
}
