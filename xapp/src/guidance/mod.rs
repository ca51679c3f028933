//! Guidance for edge servers: who is connected, which flows they have, which UE each flow goes to.
//!
//! [`registry`] holds the rules, without I/O; [`hub`] is the one task that owns it; [`service`] speaks gRPC;
//! [`outbox`] is what lies between a decision and the stream: one slot per flow, newest wins.

mod directory;
mod flow;
pub mod hub;
pub mod outbox;
pub mod registry;
pub mod service;
mod validate;

use std::sync::Arc;

/// A flow of an edge server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// `edge_id` of the server's Hello.
    pub edge: Arc<str>,
    /// `flow_id` of the registration.
    pub flow: Arc<str>,
}

impl std::fmt::Display for FlowKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.edge, self.flow)
    }
}
