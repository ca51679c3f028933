//! The arm of an experiment that a flow is in, and what an edge server measured of the flow.

use policies::GainPolicy;
use policies::experiment::Choice;
use policies::slice::EdgeDelay;
use std::sync::Arc;

/// The arm of a flow now.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowArm {
    /// Which experiment.
    pub experiment: Arc<str>,
    /// Its name, after that of the experiment: "rapid-vs-prism/prism".
    pub name: Arc<str>,
    /// What the experiment chose.
    pub choice: Choice,
    /// Gain policies in order of preference; empty: as without the experiment.
    pub gain_policies: Arc<[GainPolicy]>,
    /// PRB target factor f; `None`: as without the experiment.
    pub target_factor: Option<f64>,
}

/// What an edge server measured of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeMeasured {
    /// One-way delay.
    pub delay: EdgeDelay,
    /// Octets sent, and how many of them arrived.
    pub sent_arrived_bytes: Option<(u64, u64)>,
}
