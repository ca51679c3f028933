//! What the simulation keeps of a UE: its packets in the cell, and its uplink data on its way.

use crate::link::Link;
use crate::tcp::{Acknowledgement, Segment};
use policies::report::UeReport;
use std::collections::VecDeque;
use std::time::Duration;

/// A packet in the cell, or in the link that takes its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InCell {
    pub(super) flow: usize,
    pub(super) segment: Segment,
    pub(super) sent_at: Duration,
}

/// Uplink data on its way.
#[derive(Clone, Debug)]
pub(super) enum UplinkItem {
    Ack(usize, Acknowledgement),
    Report(usize, Box<UeReport>),
}

/// State of one UE.
#[derive(Debug, Default)]
pub(super) struct UeState {
    /// Packets handed to the cell, in order of arrival; `None` once they have left it.
    packets: VecDeque<Option<InCell>>,
    /// Name of the first of them.
    base: u64,
    /// Uplink data in the order in which it was handed to the cell.
    pub uplink: VecDeque<UplinkItem>,
    /// When it last had downlink data, where the base station looks for it.
    pub last_active: Option<Duration>,
    /// What takes the place of the cell.
    pub link: Option<Link<InCell>>,
}

impl UeState {
    /// Name of the next packet.
    pub fn next_id(&self) -> u64 {
        self.base + self.packets.len() as u64
    }

    /// The packet named by [`Self::next_id`] has entered the cell.
    pub fn entered(&mut self, packet: InCell) {
        self.packets.push_back(Some(packet));
    }

    /// A packet has left the cell: which one it was.
    pub fn left(&mut self, id: u64) -> Option<InCell> {
        let index = id.checked_sub(self.base)? as usize;
        let packet = self.packets.get_mut(index)?.take();
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.base += 1;
        }
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_any_order_and_once() {
        let mut ue = UeState::default();
        let packet = |seq| InCell {
            flow: 0,
            segment: Segment { seq, len: 100 },
            sent_at: Duration::ZERO,
        };
        for seq in 0..3 {
            assert_eq!(ue.next_id(), seq);
            ue.entered(packet(seq));
        }
        assert_eq!(ue.left(1), Some(packet(1)));
        assert_eq!(ue.left(1), None);
        assert_eq!(ue.left(0), Some(packet(0)));
        assert_eq!(ue.left(0), None);
        assert_eq!(ue.next_id(), 3);
        assert_eq!(ue.left(2), Some(packet(2)));
        assert_eq!(ue.left(9), None);
    }
}
