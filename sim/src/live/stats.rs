//! What a live cell tells about itself.

use crate::cell::{Cell, MacCounters};
use crate::measure::rnti;
use crate::pdcp::PdcpCounters;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// State of the connection to the RIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum E2Status {
    /// No RIC is configured, or it does not answer.
    #[default]
    Down,
    /// E2 Setup is under way.
    Setup,
    /// The RIC has accepted the node.
    Up,
}

/// A snapshot of a live cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveStats {
    /// Time the cell has run (serialised in seconds).
    #[serde(serialize_with = "seconds")]
    pub at: Duration,
    /// Slots run.
    pub slots: u64,
    /// Slots that were left out because the machine was too slow.
    pub skipped_slots: u64,
    /// Connection to the RIC.
    pub e2: E2Status,
    /// Subscriptions of the RIC.
    pub subscriptions: usize,
    /// The UEs.
    pub ues: Vec<UeStats>,
    /// The relays.
    pub relays: Vec<RelayStats>,
}

/// One UE, over the time since the last snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UeStats {
    /// C-RNTI.
    pub rnti: u16,
    /// MCS index.
    pub mcs: u8,
    /// PRBs per slot, retransmissions included, over all slots.
    pub prbs: f64,
    /// Retransmissions per first transmission.
    pub retransmission_ratio: f64,
    /// User data delivered, bit/s.
    pub rate_bps: f64,
    /// Octets in the RLC queue.
    pub queue_bytes: u64,
    /// Age of the oldest SDU in the queue (serialised in seconds).
    #[serde(serialize_with = "seconds")]
    pub head_of_line: Duration,
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Cumulative counts of one relay, datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RelayStats {
    /// Received.
    pub received: u64,
    /// Dropped because they were too long.
    pub too_long: u64,
    /// Dropped because the RLC queue was full.
    pub queue_full: u64,
    /// Lost on the air.
    pub lost: u64,
    /// Sent on.
    pub forwarded: u64,
    /// That the kernel refused to send on.
    pub send_failed: u64,
}

/// Turns the counts of the cell into [`UeStats`].
#[derive(Debug, Default)]
pub(super) struct Window {
    slot: u64,
    last: Vec<(MacCounters, PdcpCounters)>,
}

impl Window {
    /// The UEs since the last call.
    pub(super) fn close(&mut self, cell: &Cell) -> Vec<UeStats> {
        self.last.resize(cell.ue_count(), Default::default());
        let slots = (cell.slot() - self.slot).max(1);
        let seconds = cell.duration(slots).as_secs_f64();
        self.slot = cell.slot();
        let since = self.last.iter_mut().zip(cell.ues()).enumerate();
        since
            .map(|(index, ((mac, pdcp), ue))| {
                let prbs = ue.mac.prbs + ue.mac.retx_prbs - mac.prbs - mac.retx_prbs;
                let first = ue.mac.harq[0] - mac.harq[0];
                let again = ue.mac.retransmissions() - mac.retransmissions();
                let octets = ue.pdcp.delivered_octets - pdcp.delivered_octets;
                (*mac, *pdcp) = (*ue.mac, *ue.pdcp);
                UeStats {
                    rnti: rnti(index),
                    mcs: ue.link.mcs,
                    prbs: prbs as f64 / slots as f64,
                    retransmission_ratio: again as f64 / first.max(1) as f64,
                    rate_bps: octets as f64 * 8.0 / seconds,
                    queue_bytes: ue.queue_octets,
                    head_of_line: ue.head_of_line,
                }
            })
            .collect()
    }
}
