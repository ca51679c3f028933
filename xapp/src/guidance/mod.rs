//! Guidance for edge servers: who is connected, which flows they have, which UE each flow goes to.
//!
//! [`registry`] holds the rules, without I/O; [`hub`] is the one task that owns it; [`service`] speaks gRPC;
//! [`outbox`] is what lies between a decision and the stream: one slot per flow, newest wins.

mod directory;
mod flow;
pub mod hub;
pub mod matching;
pub mod outbox;
pub mod registry;
pub mod service;
mod stored;
mod validate;

pub use directory::{BindingView, Source};
pub use policies::matching::FlowKey;
pub(crate) use stored::follow as follow_bindings;
pub(crate) use validate::{address, binding};
