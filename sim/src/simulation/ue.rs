//! What the simulation keeps of a UE: packets in the cell, in-order delivery, uplink data on its way.

use crate::tcp::{Acknowledgement, Segment};
use policies::report::UeReport;
use std::collections::VecDeque;
use std::time::Duration;

/// A packet in the cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct InCell {
    pub flow: usize,
    pub segment: Segment,
    pub sent_at: Duration,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    Arrived(Duration),
    Lost,
}

/// Uplink data on its way.
#[derive(Clone, Debug)]
pub(super) enum UplinkItem {
    Ack(usize, Acknowledgement),
    Report(usize, Box<UeReport>),
}

/// State of one UE.
#[derive(Debug)]
pub(super) struct UeState {
    /// Packets handed to the cell and not yet released, in order of arrival.
    packets: VecDeque<InCell>,
    /// Name of the first of them.
    base: u64,
    /// Packets of `packets` that have left the cell.
    left: usize,
    reordering: Duration,
    /// When the gap at the front was noticed.
    gap_since: Option<Duration>,
    /// Uplink data in the order in which it was handed to the cell.
    pub uplink: VecDeque<UplinkItem>,
}

impl UeState {
    pub fn new(reordering: Duration) -> Self {
        Self {
            packets: VecDeque::new(),
            base: 0,
            left: 0,
            reordering,
            gap_since: None,
            uplink: VecDeque::new(),
        }
    }

    /// Name of the next packet.
    pub fn next_id(&self) -> u64 {
        self.base + self.packets.len() as u64
    }

    /// The packet named by [`Self::next_id`] has entered the cell.
    pub fn entered(&mut self, flow: usize, segment: Segment, sent_at: Duration) {
        self.packets.push_back(InCell {
            flow,
            segment,
            sent_at,
            state: State::Open,
        });
    }

    /// A packet has left the cell.
    pub fn left(&mut self, id: u64, delivered: bool, at: Duration) {
        let index = id.wrapping_sub(self.base) as usize;
        if let Some(packet) = self.packets.get_mut(index) {
            packet.state = if delivered {
                State::Arrived(at)
            } else {
                State::Lost
            };
            self.left += 1;
        }
    }

    /// Releases what may be released by `now`, in order: the packet, and when it reaches the receiver; `None` if it is lost.
    ///
    /// What arrives after a gap waits until HARQ has filled it; a gap that stays is given up after t-Reordering.
    pub fn release(&mut self, now: Duration, mut released: impl FnMut(InCell, Option<Duration>)) {
        let mut not_before = Duration::ZERO;
        while self.left > 0
            && let Some(&packet) = self.packets.front()
        {
            match packet.state {
                State::Open => {
                    self.gap_since.get_or_insert(now);
                    return;
                }
                State::Arrived(at) => {
                    not_before = not_before.max(at);
                    if self.gap_since.take().is_some() {
                        // What waited is delivered with the packet that filled the gap.
                        not_before = not_before.max(at);
                    }
                    released(packet, Some(not_before));
                }
                State::Lost if self.left > 1 => {
                    let since = *self.gap_since.get_or_insert(now);
                    if now < since + self.reordering {
                        return;
                    }
                    self.gap_since = None;
                    not_before = not_before.max(now);
                    released(packet, None);
                }
                State::Lost => {
                    // Nothing came after it: nobody waits.
                    released(packet, None);
                }
            }
            self.packets.pop_front();
            self.base += 1;
            self.left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn ue(packets: u64) -> UeState {
        let mut ue = UeState::new(MS * 100);
        for seq in 0..packets {
            assert_eq!(ue.next_id(), seq);
            ue.entered(0, Segment { seq, len: 100 }, MS);
        }
        ue
    }

    fn release(ue: &mut UeState, now: Duration) -> Vec<(u64, Option<Duration>)> {
        let mut seen = Vec::new();
        ue.release(now, |packet, at| seen.push((packet.segment.seq, at)));
        seen
    }

    #[test]
    fn packets_after_a_gap_wait_for_it() {
        let mut ue = ue(3);
        ue.left(1, true, MS * 2);
        ue.left(2, true, MS * 2);
        assert_eq!(release(&mut ue, MS * 2), []);
        ue.left(0, true, MS * 5);
        let at = Some(MS * 5);
        assert_eq!(release(&mut ue, MS * 5), [(0, at), (1, at), (2, at)]);
    }

    #[test]
    fn a_lost_packet_holds_back_what_came_after_it_for_t_reordering() {
        let mut ue = ue(3);
        ue.left(0, false, MS * 5);
        ue.left(1, true, MS * 6);
        assert_eq!(release(&mut ue, MS * 6), []);
        assert_eq!(release(&mut ue, MS * 105), []);
        let at = Some(MS * 106);
        assert_eq!(release(&mut ue, MS * 106), [(0, None), (1, at)]);
        ue.left(2, false, MS * 120);
        assert_eq!(release(&mut ue, MS * 120), [(2, None)]);
    }
}
