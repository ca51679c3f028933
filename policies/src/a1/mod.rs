//! A1 policies (O-RAN.WG2.A1TD v11) as slice policies.
//!
//! Cantor's own type carries what a slice policy says. O-RAN's slice SLA target and QoS target are mapped onto it as far as
//! they speak of downlink rates and delays; what else they say is left to others, and named.

mod qos;
mod scope;
mod sla;

use crate::error::Error;
use crate::slice::{FieldError, SlicePolicy, Spec};
use schemars::Schema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name of what is read, in errors.
const BODY: &str = "policy object";

/// A policy type that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PolicyType {
    /// Cantor's own: the spec of a slice policy.
    #[serde(rename = "Cantor_SlicePolicy_1.0.0")]
    SlicePolicy,
    /// Slice SLA target (A1TD clause 7.2.7).
    #[serde(rename = "ORAN_SliceSLATarget_4.0.1")]
    SliceSlaTarget,
    /// QoS target (A1TD clause 7.2.1).
    #[serde(rename = "ORAN_QoSTarget_6.0.0")]
    QosTarget,
}

/// What an A1 policy comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Translated {
    /// The slice policies that it stands for: none if nothing of it applies here, several if it names several cells.
    pub specs: Vec<Spec>,
    /// Why nothing of it applies.
    pub not_applicable: Option<NotApplicable>,
    /// Statements that are left to others, by their names.
    pub ignored: Vec<String>,
}

/// Why an A1 policy cannot be enforced at all (A1TD clause 7.1.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotApplicable {
    /// Its scope names nothing that is known here.
    Scope,
    /// None of its statements is about what is controlled here.
    Statement,
}

impl PolicyType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SlicePolicy, Self::SliceSlaTarget, Self::QosTarget];

    /// PolicyTypeId: type name and version.
    pub fn id(self) -> &'static str {
        match self {
            Self::SlicePolicy => "Cantor_SlicePolicy_1.0.0",
            Self::SliceSlaTarget => "ORAN_SliceSLATarget_4.0.1",
            Self::QosTarget => "ORAN_QoSTarget_6.0.0",
        }
    }

    /// The type of an identifier.
    pub fn of_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// JSON Schema of its policies.
    pub fn policy_schema(self) -> Schema {
        match self {
            Self::SlicePolicy => schemars::schema_for!(Spec),
            Self::SliceSlaTarget => schemars::schema_for!(sla::SliceSlaTarget),
            Self::QosTarget => schemars::schema_for!(qos::QosTarget),
        }
    }

    /// JSON Schema of the status of its policies (A1TD clause 7.1.2.2).
    pub fn status_schema(self) -> Value {
        serde_json::json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "description": "Policy status",
            "type": "object",
            "properties": {
                "enforceStatus": { "type": "string", "enum": ["ENFORCED", "NOT_ENFORCED"] },
                "enforceReason": {
                    "type": "string",
                    "enum": ["SCOPE_NOT_APPLICABLE", "STATEMENT_NOT_APPLICABLE", "OTHER_REASON"]
                }
            },
            "additionalProperties": false,
            "required": ["enforceStatus"]
        })
    }

    /// What a policy of this type comes to.
    ///
    /// # Errors
    /// [`Error::Document`] for the first field that is wrong.
    pub fn translate(self, body: &Value) -> Result<Translated, Error> {
        let objectives = match self {
            Self::SlicePolicy => None,
            Self::SliceSlaTarget => Some("sliceSlaObjectives"),
            Self::QosTarget => Some("qosObjectives"),
        };
        if let Some(key) = objectives
            && body
                .get(key)
                .and_then(Value::as_object)
                .is_some_and(|o| o.is_empty())
        {
            return Err(Error::Document {
                place: BODY.to_owned(),
                field: key.to_owned(),
                reason: "empty: give at least one objective".to_owned(),
            });
        }
        let translated = match self {
            Self::SlicePolicy => Translated {
                specs: vec![read(body)?],
                ..Translated::default()
            },
            Self::SliceSlaTarget => read::<sla::SliceSlaTarget>(body)?.translate(),
            Self::QosTarget => read::<qos::QosTarget>(body)?.translate(),
        };
        for spec in &translated.specs {
            SlicePolicy::new("a1", spec.clone())
                .check()
                .map_err(|error| self.wrong(error))?;
        }
        Ok(translated)
    }

    /// A value that the slice policy refuses; of its own type the field is the policy's.
    fn wrong(self, error: FieldError) -> Error {
        let FieldError { path, reason } = error;
        let field = match self {
            Self::SlicePolicy => path.strip_prefix("spec.").unwrap_or(&path).to_owned(),
            _ => String::new(),
        };
        let reason = match self {
            Self::SlicePolicy => reason,
            _ => format!("as slice policy: {path}: {reason}"),
        };
        Error::Document {
            place: self.id().to_owned(),
            field,
            reason,
        }
    }
}

fn read<T: DeserializeOwned>(body: &Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(body.clone()).map_err(|error| {
        let path = error.path().to_string();
        Error::Document {
            place: BODY.to_owned(),
            field: if path == "." { String::new() } else { path },
            reason: error.into_inner().to_string(),
        }
    })
}

/// kbit/s, as A1 gives rates, in bit/s.
fn bps(kbps: Option<f64>) -> Option<u64> {
    kbps.map(|kbps| (kbps * 1e3) as u64)
}

/// A1's priorities are the higher the lower their value; slice policies' the other way round.
fn priority(value: Option<f64>) -> i32 {
    value.map_or(0, |value| -(value as i32))
}
