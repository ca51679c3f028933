//! What operators see of a cell.

use super::core::UeView;
use crate::ran::{NodeId, RanFunction, SubscriptionStatus};
use policies::GainPolicy;
use policies::slice::{DelaySource, EffectivePolicy, FlowFacts, ObjectiveState, Provenance};
use std::sync::Arc;

/// Who speaks for a node.
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    /// Address of the peer.
    pub peer: String,
    /// E2AP version spoken.
    pub e2ap_version: &'static str,
    /// What it offers.
    pub functions: Vec<RanFunction>,
}

/// A cell, for operators.
#[derive(Clone, Debug)]
pub struct View {
    /// Which node.
    pub node: NodeId,
    /// Who speaks for it, last.
    pub info: NodeInfo,
    /// It is connected.
    pub connected: bool,
    /// It is, and has reported nothing for long.
    pub silent: bool,
    /// Its subscriptions.
    pub subscriptions: Vec<SubscriptionStatus>,
    /// Indications decoded.
    pub indications: u64,
    /// Indications that could not be decoded.
    pub rejected: u64,
    /// Values that were not used.
    pub quarantined: u64,
    /// n.
    pub active_ues: u32,
    /// PRBs per slot used by all UEs in the newest report.
    pub used_prbs: f64,
    /// PRBs per slot that the cell can give.
    pub available_prbs: f64,
    /// Its UEs.
    pub ues: Vec<UeView>,
}

/// A slice policy in a cell, for operators.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceView {
    /// Which policy.
    pub policy: Provenance,
    /// Flows that it rules here.
    pub flows: u32,
    /// PRB target factor f now.
    pub factor: f64,
    /// The measured statistic of its delay objective, ms, and how the objective stands.
    pub objective: Option<(Option<f64>, ObjectiveState)>,
}

/// What rules a flow, for operators.
#[derive(Clone, Debug)]
pub struct FlowRule {
    /// What decides which slice policy rules it.
    pub facts: FlowFacts,
    /// What rules it.
    pub effective: Arc<EffectivePolicy>,
    /// Gain policies in order of preference.
    pub preferences: Vec<GainPolicy>,
    /// The one that runs.
    pub running: Option<GainPolicy>,
    /// PRB target factor f now.
    pub factor: f64,
    /// Its slice policy in this cell.
    pub slice: Option<SliceView>,
    /// Where its delay comes from.
    pub delay_source: Option<DelaySource>,
}
