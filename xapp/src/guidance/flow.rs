//! A flow as cells, operators and the registry see it.

use super::FlowKey;
use super::directory::Source;
use super::outbox::Outbox;
use crate::ran::NodeId;
use policies::{GainPolicy, SNssai, UeId};
use proto::guidance::FlowReport;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A stream, unique within this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);

/// What a cell is to do.
#[derive(Debug)]
pub enum Effect {
    /// Guide this flow.
    Bind(NodeId, BoundFlow),
    /// Guide it no more.
    Unbind(NodeId, FlowKey),
}

/// A flow as its cell needs it.
#[derive(Clone, Debug)]
pub struct BoundFlow {
    /// Which flow.
    pub key: FlowKey,
    /// Its UE.
    pub ue: UeId,
    /// IP address of the UE, if it was registered by that.
    pub address: Option<IpAddr>,
    /// Slice of the flow, if the edge server knows it.
    pub slice: Option<SNssai>,
    /// One-way delay between edge server and base station; 0 if unknown.
    pub wired: Duration,
    /// Interval between its video frames; `None`: not announced.
    pub frame_interval: Option<Duration>,
    /// Gain policies in order of preference.
    pub policies: Vec<GainPolicy>,
    /// Rate at which the edge sends now, if it said so, bit/s.
    pub current_rate_bps: Option<f64>,
    /// Sequence of the newest guidance that the edge has; 0: none.
    pub last_sequence: u64,
    /// Where its guidance goes.
    pub outbox: Arc<Outbox>,
}

/// How a flow stands, for operators.
#[derive(Clone, Debug)]
pub struct FlowView {
    /// Which flow.
    pub key: FlowKey,
    /// Its UE, if it is bound.
    pub bound: Option<(NodeId, UeId)>,
    /// How that is known.
    pub source: Option<Source>,
    /// Guidance is given.
    pub guided: bool,
    /// Why it is as it is.
    pub detail: String,
    /// The edge's stream is connected.
    pub connected: bool,
    /// Newest report of the edge, and when it came.
    pub report: Option<(FlowReport, Instant)>,
}
