//! What must outlive a stream or a cell task: the last decision of each flow, and the latest decisions of all.

mod memory;

pub use memory::Memory;

use crate::cell::DecisionRecord;
use crate::guidance::FlowKey;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Where decisions are kept. Every implementation is bounded.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Keeps the decisions of one interval.
    fn record(&self, decisions: Vec<DecisionRecord>);

    /// The last decision of a flow: a flow that comes back goes on from it.
    fn last(&self, flow: &FlowKey) -> Option<Arc<DecisionRecord>>;

    /// Decisions from now on. A receiver that is too slow is told how many it lost.
    fn watch(&self) -> broadcast::Receiver<Arc<DecisionRecord>>;
}
