//! RAN links: what brings E2 indications into Cantor.
//!
//! A link connects E2 nodes (itself, or through a near-RT RIC), keeps the wanted subscriptions alive and
//! yields [`RanEvent`]s. Reconnecting, resubscribing and the rewriting of request ids end here: whoever
//! reads the events sees nodes, and octets that were verified to belong to one of our subscriptions.

mod counters;
pub mod direct;
pub mod flexric;
mod identity;
mod outlet;
mod plan;

pub use counters::Counters;
pub use outlet::Bounds;
pub use plan::{Slice, Wishes};

use std::time::Instant;

/// Name of an E2 node, from its GlobalE2node-ID: e.g. `gnb:001-01:00000e00/32`, with `:du:7` or `:cuup:7` behind it for split nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct NodeId(pub std::sync::Arc<str>);

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which service model a RAN function is, told by its OID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceModel {
    /// O-RAN E2SM-KPM.
    Kpm,
    /// FlexRIC MAC statistics.
    Mac,
    /// FlexRIC RLC statistics.
    Rlc,
    /// FlexRIC PDCP statistics.
    Pdcp,
    /// FlexRIC GTP statistics.
    Gtp,
    /// One that Cantor does not use.
    Other,
}

/// A RAN function that a node offers.
#[derive(Clone, Debug)]
pub struct RanFunction {
    /// RANfunctionID.
    pub id: u16,
    /// RANfunctionRevision.
    pub revision: u16,
    /// RANfunctionOID.
    pub oid: String,
    /// RANfunctionDefinition, as the service model encodes it.
    pub definition: Vec<u8>,
    /// Service model told by the OID.
    pub model: ServiceModel,
}

/// What a link tells its reader.
#[derive(Debug)]
pub enum RanEvent {
    /// A node is connected (again), or its functions changed.
    NodeUp {
        /// Which node.
        node: NodeId,
        /// Address of the peer that speaks for it.
        peer: String,
        /// E2AP version spoken, e.g. "2.03".
        e2ap_version: &'static str,
        /// What it offers.
        functions: Vec<RanFunction>,
    },
    /// A node is gone; its subscriptions are gone with it.
    NodeDown {
        /// Which node.
        node: NodeId,
        /// Why, for people.
        reason: String,
    },
    /// A subscription changed its state.
    Subscription {
        /// Which node.
        node: NodeId,
        /// Which subscription, and how it stands now.
        status: SubscriptionStatus,
    },
    /// A report of one of our active subscriptions.
    Indication {
        /// Which node.
        node: NodeId,
        /// Service model of the subscription.
        model: ServiceModel,
        /// RICindicationHeader.
        header: Vec<u8>,
        /// RICindicationMessage.
        message: Vec<u8>,
        /// When it was read from the socket.
        received: Instant,
    },
}

impl RanEvent {
    /// The node that it is about.
    pub fn node(&self) -> &NodeId {
        match self {
            RanEvent::NodeUp { node, .. }
            | RanEvent::NodeDown { node, .. }
            | RanEvent::Subscription { node, .. }
            | RanEvent::Indication { node, .. } => node,
        }
    }
}

/// How a subscription stands.
#[derive(Clone, Debug)]
pub struct SubscriptionStatus {
    /// RICrequestID: requestor.
    pub requestor: u16,
    /// RICrequestID: instance.
    pub instance: u16,
    /// RANfunctionID.
    pub function: u16,
    /// Service model.
    pub model: ServiceModel,
    /// Reporting period in milliseconds.
    pub period_ms: u32,
    /// KPM: names of the measurements asked for, in the order of the values of a report.
    pub measurements: Vec<&'static str>,
    /// State.
    pub state: SubscriptionState,
    /// For people: cause of a failure or end.
    pub detail: String,
}

/// State of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionState {
    /// Asked for, not answered yet.
    Requested,
    /// Admitted.
    Active,
    /// Admitted, but the node has reported nothing for long.
    Silent,
    /// Refused by the node.
    Failed,
    /// Ended, by us or by the node.
    Ended,
}
