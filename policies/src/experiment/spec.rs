//! What an experiment says.

use super::guard::GuardRails;
use super::outcome::{Better, Metric, Scale};
use crate::gain::GainPolicy;
use crate::slice::policy::{ApiVersion, FieldError, Metadata, check_name, wrong};
use crate::slice::{Document, FlowFacts, SliceScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Most arms: with more, what is learnt of each is little.
const MAX_ARMS: usize = 8;

/// Ways to guide flows, compared on a live network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Experiment {
    /// Version of this format.
    pub api_version: ApiVersion,
    /// Kind of the document.
    pub kind: Kind,
    /// Name and notes.
    pub metadata: Metadata,
    /// What it says.
    pub spec: Spec,
}

/// Kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Kind {
    /// An experiment.
    Experiment,
}

/// What an experiment says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// Which flows take part. Left out: all.
    #[serde(default, skip_serializing_if = "Scope::is_everything")]
    pub scope: Scope,
    /// What gets an arm: each UE, each cell, or each time slot of a cell.
    pub unit: Unit,
    /// The arms; the first one is the baseline that the others are compared with.
    pub arms: Vec<Arm>,
    /// The metric that decides.
    pub primary: Metric,
    /// What a winner may not give up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// Length of a time slot of the switchback, seconds.
    #[serde(default = "default_period")]
    pub period_seconds: f64,
    /// Flow-seconds after which a UE or a cell has been observed for long enough.
    #[serde(default = "default_observation")]
    pub observation_seconds: f64,
    /// What is left out after a flow got its arm, or its arm changed, seconds.
    #[serde(default = "default_warm_up")]
    pub warm_up_seconds: f64,
    /// When an arm stops by itself.
    #[serde(default)]
    pub guard_rails: GuardRails,
    /// Both arms as the first one: shows what chance alone does, before the experiment proper.
    #[serde(default)]
    pub a_a: bool,
    /// Probability with which a difference that is none is taken for one, over all looks at the report.
    #[serde(default = "default_alpha")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 0.5))]
    pub alpha: f64,
    /// Observations per arm for which the test is made most sensitive, and for which the report states its power.
    #[serde(default = "default_planned")]
    pub planned_observations: u32,
    /// The smallest difference of interest, as a part of the baseline.
    #[serde(default = "default_effect")]
    pub effect: f64,
    /// Key of the assignment. Left out: the name; then whoever knows the name can foresee the arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Which flows take part: those to which all parts apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Flows of this slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceScope>,
    /// Flows in one of these cells: E2 nodes as Cantor names them. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
    /// Flows of one of these edge servers. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<String>,
}

/// What gets an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Unit {
    /// Each UE.
    Ue,
    /// Each cell.
    Cell,
    /// Each time slot of each cell, the arms in turn.
    Switchback,
}

/// A way to guide flows. What it leaves out is as the flow's slice policy, or the configuration, says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arm {
    /// Its name.
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9._-]+$"))]
    pub name: String,
    /// Units that it gets, relative to the other arms.
    #[serde(default = "default_weight", skip_serializing_if = "is_default_weight")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
    /// Gain policies in order of preference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", length(max = 8))]
    pub gain_policies: Vec<GainPolicy>,
    /// PRB target factor f.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub target_factor: Option<f64>,
}

/// What a winner may not give up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Constraint {
    /// In this metric …
    pub metric: Metric,
    /// … it may be worse than the baseline by this much: a part of the baseline for rates and delays, otherwise the
    /// difference itself.
    #[schemars(range(min = 0))]
    pub margin: f64,
}

fn default_period() -> f64 {
    30.0
}

fn default_observation() -> f64 {
    300.0
}

fn default_warm_up() -> f64 {
    5.0
}

fn default_alpha() -> f64 {
    0.05
}

fn default_planned() -> u32 {
    50
}

fn default_effect() -> f64 {
    0.1
}

fn default_weight() -> f64 {
    1.0
}

fn is_default_weight(weight: &f64) -> bool {
    *weight == default_weight()
}

impl Experiment {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Key of the assignment.
    pub fn key(&self) -> &str {
        self.spec.key.as_deref().unwrap_or(self.name())
    }

    /// The arm whose settings an arm runs with: its own, or the baseline's in an A/A experiment.
    pub fn settings(&self, arm: usize) -> Option<&Arm> {
        self.spec.arms.get(if self.spec.a_a { 0 } else { arm })
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

impl Document for Experiment {
    fn check(&self) -> Result<(), FieldError> {
        Self::check(self)
    }
}

impl Spec {
    fn check(&self) -> Result<(), FieldError> {
        if !(2..=MAX_ARMS).contains(&self.arms.len()) {
            return Err(wrong("spec.arms", format!("give 2 to {MAX_ARMS} arms")));
        }
        for (index, arm) in self.arms.iter().enumerate() {
            let path = |field: &str| format!("spec.arms[{index}].{field}");
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if !(1..=64).contains(&arm.name.len()) || !arm.name.chars().all(allowed) {
                let reason = "give 1 to 64 letters, digits, '-', '_' and '.'";
                return Err(wrong(&path("name"), reason));
            }
            if self.arms.iter().take(index).any(|a| a.name == arm.name) {
                return Err(wrong(
                    &path("name"),
                    format!("{:?} is named twice", arm.name),
                ));
            }
            if !(arm.weight.is_finite() && arm.weight > 0.0) {
                return Err(wrong(&path("weight"), "give a number above 0"));
            }
            if arm.target_factor.is_some_and(|f| !(f > 0.0 && f <= 1.0)) {
                return Err(wrong(
                    &path("targetFactor"),
                    "give a number above 0, at most 1",
                ));
            }
        }
        let equal = self.arms.windows(2).all(|w| w[0].weight == w[1].weight);
        if self.unit == Unit::Switchback && !equal {
            return Err(wrong(
                "spec.arms",
                "time slots in turn are shared equally: leave out the weights",
            ));
        }
        let numbers = [
            ("periodSeconds", self.period_seconds, 1.0, 86_400.0),
            (
                "observationSeconds",
                self.observation_seconds,
                1.0,
                604_800.0,
            ),
            ("warmUpSeconds", self.warm_up_seconds, 0.0, 86_400.0),
            ("alpha", self.alpha, 1e-6, 0.5),
            (
                "plannedObservations",
                f64::from(self.planned_observations),
                4.0,
                10_000.0,
            ),
            ("effect", self.effect, 0.001, 10.0),
        ];
        for (field, value, least, most) in numbers {
            if !(least..=most).contains(&value) {
                let reason = format!("{value} is not within {least} to {most}");
                return Err(wrong(&format!("spec.{field}"), reason));
            }
        }
        if self.unit == Unit::Switchback && self.warm_up_seconds >= self.period_seconds {
            return Err(wrong(
                "spec.warmUpSeconds",
                "is not below spec.periodSeconds: nothing of a period would be left",
            ));
        }
        for (index, constraint) in self.constraints.iter().enumerate() {
            let path = |field: &str| format!("spec.constraints[{index}].{field}");
            if !(constraint.margin.is_finite() && constraint.margin >= 0.0) {
                return Err(wrong(&path("margin"), "give a number, 0 or more"));
            }
            if constraint.metric == self.primary {
                return Err(wrong(&path("metric"), "is the primary metric already"));
            }
            let falls = constraint.metric.better() == Better::Higher;
            if falls && constraint.metric.scale() == Scale::Ratio && constraint.margin >= 1.0 {
                return Err(wrong(
                    &path("margin"),
                    "give a part of the baseline, below 1",
                ));
            }
        }
        self.guard_rails.check()
    }

    /// Length of a period of the switchback.
    pub fn period(&self) -> Duration {
        Duration::from_secs_f64(self.period_seconds)
    }

    /// What is left out after each change of a flow's arm.
    pub fn warm_up(&self) -> Duration {
        Duration::from_secs_f64(self.warm_up_seconds)
    }
}

impl Scope {
    fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a flow of an edge server takes part.
    pub fn contains(&self, flow: &FlowFacts, edge: &str) -> bool {
        let slice = self
            .slice
            .as_ref()
            .is_none_or(|wanted| flow.slice.is_some_and(|slice| wanted.contains(slice)));
        let cell = self.cells.is_empty() || self.cells.iter().any(|cell| **cell == *flow.cell);
        slice && cell && (self.edges.is_empty() || self.edges.iter().any(|e| e == edge))
    }
}
