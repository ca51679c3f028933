//! What is recorded of a run.

use edge::flow::{FlowTotals, ReceiverSample, SenderSample};
use sim::live::LiveStats;

/// Everything recorded of one run.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Guided by the xApp, or sent at a fixed rate.
    pub guided: bool,
    /// Transport of E2, e.g. "sctp"; empty where no E2 ran.
    pub transport: &'static str,
    /// The edge flows, in the order of their UEs.
    pub flows: Vec<FlowSeries>,
    /// The cell, every 100 ms.
    pub cell: Vec<LiveStats>,
    /// When the senders started, on the cell's clock, seconds.
    pub start_s: f64,
    /// How long they sent, seconds.
    pub length_s: f64,
}

/// Everything recorded of one flow.
#[derive(Clone, Debug, Default)]
pub struct FlowSeries {
    /// What was sent, by intervals.
    pub sent: Vec<SenderSample>,
    /// What was received, by intervals.
    pub received: Vec<ReceiverSample>,
    /// The flow as a whole, as its receiver saw it.
    pub totals: Option<FlowTotals>,
}

impl Series {
    /// Snapshots of the cell while the flows were sent, without the first `settling_s`.
    pub fn settled(&self, settling_s: f64) -> impl Iterator<Item = &LiveStats> {
        let sent = self.start_s + settling_s..self.start_s + self.length_s;
        self.cell
            .iter()
            .filter(move |s| sent.contains(&s.at.as_secs_f64()))
    }
}
