//! What a slice policy says.

use super::factor::TargetFactor;
use super::scope::Scope;
use crate::gain::GainPolicy;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeMap;
use std::{borrow::Cow, fmt, str::FromStr};

/// Longest name, octets (RFC 1123 labels have 63; A1 makes names of two identifiers).
pub const MAX_NAME: usize = 253;
/// Fastest rate that a policy may name: 1 Tbit/s.
const MAX_BPS: u64 = 1_000_000_000_000;
/// Longest delay that an objective may name: one minute.
const MAX_MS: f64 = 60_000.0;

/// Who gets which delay, rate, PRBs and gain policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SlicePolicy {
    /// Version of this format.
    pub api_version: ApiVersion,
    /// Kind of the document.
    pub kind: Kind,
    /// Name and notes.
    pub metadata: Metadata,
    /// What it says.
    pub spec: Spec,
}

/// Version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// The first one.
    #[serde(rename = "cantor.io/v1")]
    V1,
}

/// Kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Kind {
    /// A slice policy.
    SlicePolicy,
}

/// Name and notes, as in Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Name, unique within its source: 1 to 253 letters, digits, '-', '_' and '.'.
    #[schemars(length(min = 1, max = 253), regex(pattern = "^[A-Za-z0-9._-]+$"))]
    pub name: String,
    /// For people and their tools; Cantor reads none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// For people and their tools; Cantor reads none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// What a policy says. What it leaves out is as in the xApp's configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// Which flows it rules.
    #[serde(default, skip_serializing_if = "Scope::is_everything")]
    pub scope: Scope,
    /// Of policies with equal scopes from the same source, the one with the highest priority rules.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// Delay to keep to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Rate of each flow.
    #[serde(default, skip_serializing_if = "RateRange::is_open")]
    pub flow_rate: RateRange,
    /// Rate of all flows of the policy in a cell together.
    #[serde(default, skip_serializing_if = "RateRange::is_open")]
    pub slice_rate: RateRange,
    /// PRBs.
    #[serde(default, skip_serializing_if = "Prb::is_open")]
    pub prb: Prb,
    /// Gain policies in order of preference: a flow gets the first one whose measurements its RAN gives. They go before
    /// what the edge server asks for. Empty: as the edge server, or the configuration, says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", length(max = 8))]
    pub gain_policies: Vec<GainPolicy>,
}

/// A delay to keep to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// "mean", or a percentile such as "p99" or "p99.9".
    pub statistic: Statistic,
    /// What it must not exceed, milliseconds.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 60_000))]
    pub ms: f64,
    /// Which delay is meant.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: Delay,
}

/// Which delay an objective is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// The time in the base station's RLC queue.
    #[default]
    Queueing,
    /// From the edge server to the UE.
    OneWay,
}

/// Statistic of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// A percentile, above 0 and below 100.
    Percentile(f64),
}

/// Bounds of a rate, bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateRange {
    /// Floor, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
    pub min_bps: Option<u64>,
    /// Ceiling, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
    pub max_bps: Option<u64>,
}

/// PRBs of a policy's flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prb {
    /// PRB target factor f: a number above 0 and at most 1, or "auto": adapted until the latency objective holds.
    /// Left out: "auto" with a latency objective, else as configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_factor: Option<TargetFactor>,
    /// The smallest f that "auto" may choose; 0.2 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub min_factor: Option<f64>,
    /// The largest f that "auto" may choose; 0.95 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub max_factor: Option<f64>,
    /// The flows' targets in a cell together are at most this part of its PRBs, times f.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub share: Option<f64>,
}

/// A field that a policy may not have, or not with this value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct FieldError {
    /// Path of the field, e.g. `spec.latency.ms`.
    pub path: String,
    /// What is wrong, and what is accepted.
    pub reason: String,
}

pub(crate) fn wrong(path: &str, reason: impl Into<String>) -> FieldError {
    FieldError {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

impl SlicePolicy {
    /// A policy of this name.
    pub fn new(name: impl Into<String>, spec: Spec) -> Self {
        Self {
            api_version: ApiVersion::V1,
            kind: Kind::SlicePolicy,
            metadata: Metadata {
                name: name.into(),
                ..Metadata::default()
            },
            spec,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Checks what the types alone do not say.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(&self) -> Result<(), FieldError> {
        check_name(self.name())?;
        self.spec.check()
    }
}

/// Checks the name of a document.
pub(crate) fn check_name(name: &str) -> Result<(), FieldError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(allowed) {
        return Err(wrong(
            "metadata.name",
            format!("give 1 to {MAX_NAME} letters, digits, '-', '_' and '.'"),
        ));
    }
    Ok(())
}

impl Spec {
    fn check(&self) -> Result<(), FieldError> {
        self.scope.check()?;
        if let Some(latency) = &self.latency {
            latency.check()?;
        }
        self.flow_rate.check("spec.flowRate")?;
        self.slice_rate.check("spec.sliceRate")?;
        self.prb.check(self.latency.is_some())?;
        if let (Some(flow), Some(slice)) = (self.flow_rate.min_bps, self.slice_rate.max_bps)
            && flow > slice
        {
            return Err(wrong(
                "spec.flowRate.minBps",
                format!("{flow} is above spec.sliceRate.maxBps ({slice})"),
            ));
        }
        let mut seen = Vec::new();
        for (index, policy) in self.gain_policies.iter().enumerate() {
            if seen.contains(policy) {
                return Err(wrong(
                    &format!("spec.gainPolicies[{index}]"),
                    format!("{policy} is named twice"),
                ));
            }
            seen.push(*policy);
        }
        Ok(())
    }
}

impl Latency {
    fn check(&self) -> Result<(), FieldError> {
        if self.ms > 0.0 && self.ms <= MAX_MS {
            return Ok(());
        }
        Err(wrong(
            "spec.latency.ms",
            format!("{} is not within 0 (exclusive) to {MAX_MS}", self.ms),
        ))
    }
}

/// `p99 of the queueing delay at most 20 ms`.
impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statistic, ms, .. } = self;
        let delay = match self.delay {
            Delay::Queueing => "queueing",
            Delay::OneWay => "one-way",
        };
        write!(f, "{statistic} of the {delay} delay at most {ms} ms")
    }
}

impl RateRange {
    fn is_open(&self) -> bool {
        *self == Self::default()
    }

    fn check(&self, path: &str) -> Result<(), FieldError> {
        for (key, value) in [("minBps", self.min_bps), ("maxBps", self.max_bps)] {
            if let Some(bps) = value.filter(|bps| !(1..=MAX_BPS).contains(bps)) {
                let reason = format!("{bps} is not within 1 to {MAX_BPS}");
                return Err(wrong(&format!("{path}.{key}"), reason));
            }
        }
        match (self.min_bps, self.max_bps) {
            (Some(min), Some(max)) if min > max => Err(wrong(
                &format!("{path}.minBps"),
                format!("{min} is above {path}.maxBps ({max})"),
            )),
            _ => Ok(()),
        }
    }
}

impl Prb {
    fn is_open(&self) -> bool {
        *self == Self::default()
    }

    fn check(&self, latency: bool) -> Result<(), FieldError> {
        for (key, value) in [
            ("minFactor", self.min_factor),
            ("maxFactor", self.max_factor),
            ("share", self.share),
        ] {
            if let Some(part) = value.filter(|part| !(*part > 0.0 && *part <= 1.0)) {
                let reason = format!("{part} is not within 0 (exclusive) to 1");
                return Err(wrong(&format!("spec.prb.{key}"), reason));
            }
        }
        match self.target_factor {
            Some(TargetFactor::Auto) if !latency => Err(wrong(
                "spec.prb.targetFactor",
                "\"auto\" needs an objective: give spec.latency, or a number",
            )),
            Some(TargetFactor::Fixed(_)) if self.min_factor.or(self.max_factor).is_some() => {
                Err(wrong(
                    "spec.prb.targetFactor",
                    "a fixed factor has no bounds: leave out minFactor and maxFactor, or write \"auto\"",
                ))
            }
            None if !latency && self.min_factor.or(self.max_factor).is_some() => Err(wrong(
                "spec.prb",
                "minFactor and maxFactor bound what a latency objective adapts: give spec.latency",
            )),
            _ => self.factors().map(|_| ()),
        }
    }

    /// Bounds of an adapted f.
    pub(super) fn factors(&self) -> Result<(f64, f64), FieldError> {
        const DEFAULT: (f64, f64) = (0.2, 0.95);
        let min = self.min_factor;
        let max = self.max_factor;
        let (min, max) = (
            min.unwrap_or(DEFAULT.0.min(max.unwrap_or(1.0))),
            max.unwrap_or(DEFAULT.1.max(min.unwrap_or(0.0))),
        );
        if min > max {
            return Err(wrong(
                "spec.prb.minFactor",
                format!("{min} is above spec.prb.maxFactor ({max})"),
            ));
        }
        Ok((min, max))
    }
}

impl Statistic {
    /// The part of the delays that must not exceed the objective; `None`: their mean.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::Percentile(p) => Some(p / 100.0),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Percentile(p) => write!(f, "p{p}"),
        }
    }
}

impl FromStr for Statistic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "mean" {
            return Ok(Self::Mean);
        }
        text.strip_prefix('p')
            .filter(|digits| digits.chars().all(|c| c.is_ascii_digit() || c == '.'))
            .and_then(|digits| digits.parse::<f64>().ok())
            .filter(|p| *p > 0.0 && *p < 100.0)
            .map(Self::Percentile)
            .ok_or_else(|| {
                format!("{text:?} is no statistic: give \"mean\", or a percentile like \"p99\"")
            })
    }
}

impl Serialize for Statistic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Statistic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Statistic {
    fn schema_name() -> Cow<'static, str> {
        "Statistic".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(mean|p[0-9]{1,2}(\\.[0-9]+)?)$" })
    }
}

fn is_zero(priority: &i32) -> bool {
    *priority == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
