//! What can go wrong here, and what to do about it.

use crate::{gain::GainPolicy, model::Refusal};

/// Error of this crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// No gain policy has this name.
    #[error("unknown gain policy {name:?}: use one of {}", GainPolicy::names())]
    UnknownGainPolicy {
        /// The name asked for.
        name: String,
    },
    /// A parameter is not a usable number.
    #[error("{parameter} = {value} is out of range: {wanted}")]
    Parameter {
        /// Which parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        wanted: &'static str,
    },
    /// A learned policy without its model.
    #[error("gain policy {policy} needs a model: give the folder of its bundle")]
    NoModel {
        /// Which policy.
        policy: GainPolicy,
    },
    /// A model bundle that cannot be used.
    #[error(transparent)]
    Bundle(#[from] Refusal),
    /// A document is no slice policy, or one that cannot be used.
    #[error("{place}: {}{reason}", field_prefix(.field))]
    Document {
        /// Where it is written, e.g. `slices/xr.yaml:12`.
        place: String,
        /// Path of the field, e.g. `spec.latency.ms`; empty: the document as a whole.
        field: String,
        /// What is wrong, and what is accepted.
        reason: String,
    },
}

fn field_prefix(field: &str) -> String {
    if field.is_empty() {
        String::new()
    } else {
        format!("{field}: ")
    }
}
