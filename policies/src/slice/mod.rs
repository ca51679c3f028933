//! Slice policies: which flows get which latency objective, rates, PRBs and gain policies.
//!
//! [`document`] reads what people write (YAML or JSON), [`policy`] is what it says, [`set`] finds the policy of a
//! flow, [`effective`] is what a flow's controller needs of it, with its provenance. In a cell, [`control`] holds what the
//! flows of one policy have in common: [`objective`] adapts their PRB target factor until the delay ([`delay`]) is what the
//! policy asks for.

pub mod control;
pub mod delay;
pub mod document;
pub mod effective;
pub mod factor;
pub mod objective;
pub mod policy;
pub mod scope;
pub mod set;
mod tree;

pub use control::SliceControl;
pub use delay::{DelayMeter, DelaySource, EdgeDelay};
pub use document::{Document, Place, parse, read, schema, to_yaml};
pub use effective::{EffectivePolicy, Factor, Provenance};
pub use factor::TargetFactor;
pub use objective::{ObjectiveState, OuterLoop};
pub use policy::{
    ApiVersion, Delay, FieldError, Kind, Latency, Metadata, Prb, RateRange, SlicePolicy, Spec,
    Statistic,
};
pub use scope::{FlowFacts, Scope, SliceScope, UeScope};
pub use set::{Candidate, Entry, Origin, PolicySet, Source, Verdict};
