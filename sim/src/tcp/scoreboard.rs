//! What became of the segments sent: outstanding, delivered out of order (SACK, RFC 2018) or lost.
//!
//! A transmission counts as lost when one made at least three transmissions later has been delivered (RFC 6675's
//! DupThresh, in order of transmission as in RFC 9002 section 6.1.1, so that a lost retransmission is found as well).

use super::Acknowledgement;
use super::ranges::Ranges;
use super::rate_sample::SendState;
use std::collections::VecDeque;
use std::time::Duration;

/// Later transmissions that must have been delivered before one counts as lost.
const REORDERING_THRESHOLD: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outstanding,
    Delivered,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    len: u32,
    state: State,
    retransmitted: bool,
    sent: SendState,
}

/// A segment whose fate an acknowledgement has revealed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revealed {
    /// Payload, octets.
    pub len: u32,
    /// It was sent more than once.
    pub retransmitted: bool,
    /// The connection when it was last sent.
    pub sent: SendState,
}

/// The segments between the cumulative acknowledgement and the newest sent.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// Number of the first segment not yet acknowledged cumulatively.
    first: u64,
    segments: VecDeque<Entry>,
    sacked: Ranges,
    /// Transmissions (number, segment) whose fate is open, oldest first; some are superseded.
    transmissions: VecDeque<(u64, u64)>,
    next_transmission: u64,
    newest_delivered: Option<u64>,
    /// Segments to send again, some of which may have been delivered since.
    lost: VecDeque<u64>,
    in_flight: u64,
    /// Room for the ranges of one acknowledgement.
    fresh: Vec<(u64, u64)>,
}

impl Scoreboard {
    /// Number of the next new segment.
    pub fn next_seq(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// Number of the first segment not acknowledged cumulatively.
    pub fn first_unacknowledged(&self) -> u64 {
        self.first
    }

    /// Number of the next transmission.
    pub fn next_transmission(&self) -> u64 {
        self.next_transmission
    }

    /// Octets sent and neither delivered nor lost.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Nothing is outstanding or waits to be sent again.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    fn entry(&mut self, seq: u64) -> Option<&mut Entry> {
        let index = seq.checked_sub(self.first)?;
        self.segments.get_mut(index as usize)
    }

    /// The first segment that has to be sent again, and its length.
    pub fn next_lost(&mut self) -> Option<(u64, u32)> {
        while let Some(&seq) = self.lost.front() {
            match self.entry(seq) {
                Some(entry) if entry.state == State::Lost => return Some((seq, entry.len)),
                _ => self.lost.pop_front(),
            };
        }
        None
    }

    /// A new segment ([`Self::next_seq`]) is sent, or a lost one again.
    pub fn on_send(&mut self, seq: u64, len: u32, sent: SendState) {
        self.transmissions.push_back((sent.transmission, seq));
        self.next_transmission = sent.transmission + 1;
        self.in_flight += u64::from(len);
        if let Some(entry) = self.entry(seq) {
            entry.state = State::Outstanding;
            entry.retransmitted = true;
            entry.sent = sent;
        } else {
            self.segments.push_back(Entry {
                len,
                state: State::Outstanding,
                retransmitted: false,
                sent,
            });
        }
    }

    /// Takes in an acknowledgement: `delivered` is called for every segment that it newly acknowledges.
    ///
    /// `not_before`: a retransmission sent after this time cannot have caused it; its original has arrived.
    pub fn acknowledge(
        &mut self,
        ack: &Acknowledgement,
        not_before: Duration,
        mut delivered: impl FnMut(Revealed),
    ) {
        let next = self.next_seq();
        let mut fresh = std::mem::take(&mut self.fresh);
        for &(start, end) in ack.blocks() {
            let (start, end) = (start.max(self.first), end.min(next));
            self.sacked.insert(start, end, |s, e| fresh.push((s, e)));
        }
        let cumulative = ack.cumulative.min(next);
        if cumulative > self.first {
            fresh.push((self.first, cumulative));
        }
        for (start, end) in fresh.drain(..) {
            for seq in start..end {
                self.deliver(seq, not_before, &mut delivered);
            }
        }
        self.fresh = fresh;
        while self.first < cumulative && self.segments.pop_front().is_some() {
            self.first += 1;
        }
        self.sacked.forget_below(self.first);
    }

    fn deliver(&mut self, seq: u64, not_before: Duration, delivered: &mut impl FnMut(Revealed)) {
        let Some(entry) = self.entry(seq) else { return };
        if entry.state == State::Delivered {
            return;
        }
        let was_outstanding = entry.state == State::Outstanding;
        entry.state = State::Delivered;
        let entry = *entry;
        if was_outstanding {
            self.in_flight -= u64::from(entry.len);
        }
        if !(entry.retransmitted && entry.sent.sent_at > not_before) {
            let transmission = entry.sent.transmission;
            self.newest_delivered = self.newest_delivered.max(Some(transmission));
        }
        delivered(Revealed {
            len: entry.len,
            retransmitted: entry.retransmitted,
            sent: entry.sent,
        });
    }

    /// Declares lost what must be by now: `lost` is called for every such transmission.
    pub fn detect_losses(&mut self, mut lost: impl FnMut(Revealed)) {
        let Some(newest) = self.newest_delivered else {
            return;
        };
        while let Some(&(transmission, seq)) = self.transmissions.front()
            && transmission + REORDERING_THRESHOLD <= newest
        {
            self.transmissions.pop_front();
            self.lose(seq, transmission, &mut lost);
        }
        // What has been delivered in order need not be kept.
        while let Some(&(_, seq)) = self.transmissions.front()
            && seq < self.first
        {
            self.transmissions.pop_front();
        }
    }

    /// Declares lost everything outstanding: the timer has expired.
    pub fn lose_all(&mut self, mut lost: impl FnMut(Revealed)) {
        while let Some((transmission, seq)) = self.transmissions.pop_front() {
            self.lose(seq, transmission, &mut lost);
        }
    }

    fn lose(&mut self, seq: u64, transmission: u64, lost: &mut impl FnMut(Revealed)) {
        let Some(entry) = self.entry(seq) else { return };
        if entry.state != State::Outstanding || entry.sent.transmission != transmission {
            return;
        }
        entry.state = State::Lost;
        let entry = *entry;
        self.in_flight -= u64::from(entry.len);
        self.lost.push_back(seq);
        lost(Revealed {
            len: entry.len,
            retransmitted: entry.retransmitted,
            sent: entry.sent,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(board: &mut Scoreboard, seq: u64) {
        let sent = SendState {
            transmission: board.next_transmission(),
            ..SendState::default()
        };
        board.on_send(seq, 100, sent);
    }

    fn ack(cumulative: u64, blocks: &[(u64, u64)]) -> Acknowledgement {
        let mut ack = Acknowledgement {
            cumulative,
            ..Acknowledgement::default()
        };
        blocks.iter().for_each(|b| ack.push(*b));
        ack
    }

    fn take(board: &mut Scoreboard, ack: Acknowledgement) -> (usize, usize) {
        let (mut delivered, mut lost) = (0, 0);
        board.acknowledge(&ack, Duration::MAX, |_| delivered += 1);
        board.detect_losses(|_| lost += 1);
        (delivered, lost)
    }

    #[test]
    fn a_hole_is_lost_after_three_later_deliveries_and_its_retransmission_too() {
        let mut board = Scoreboard::default();
        (0..8).for_each(|seq| send(&mut board, seq));
        assert_eq!(take(&mut board, ack(1, &[])), (1, 0));
        assert_eq!(take(&mut board, ack(1, &[(2, 4)])), (2, 0));
        assert_eq!(take(&mut board, ack(1, &[(2, 5)])), (1, 1));
        assert_eq!(
            (board.in_flight(), board.next_lost()),
            (300, Some((1, 100)))
        );
        send(&mut board, 1);
        assert_eq!(board.next_lost(), None);
        // The retransmission (the 9th transmission) is lost as well: three newer ones arrive.
        (8..11).for_each(|seq| send(&mut board, seq));
        assert_eq!(take(&mut board, ack(1, &[(2, 10)])), (5, 0));
        assert_eq!(take(&mut board, ack(1, &[(2, 11)])), (1, 1));
        assert_eq!(board.next_lost(), Some((1, 100)));
        send(&mut board, 1);
        assert_eq!(take(&mut board, ack(11, &[])), (1, 0));
        assert!(board.is_empty() && board.in_flight() == 0);
    }

    #[test]
    fn an_acknowledgement_too_early_for_a_retransmission_reveals_nothing_newer() {
        let mut board = Scoreboard::default();
        (0..6).for_each(|seq| send(&mut board, seq));
        take(&mut board, ack(0, &[(1, 4)]));
        let sent = SendState {
            sent_at: Duration::from_millis(50),
            transmission: board.next_transmission(),
            ..SendState::default()
        };
        board.on_send(0, 100, sent);
        // Segment 0's original was late, not lost: segments 4 and 5 must not be declared lost by its retransmission.
        board.acknowledge(&ack(4, &[]), Duration::from_millis(40), |_| ());
        let mut lost = 0;
        board.detect_losses(|_| lost += 1);
        assert_eq!((lost, board.in_flight()), (0, 200));
    }

    #[test]
    fn a_timeout_loses_everything_outstanding() {
        let mut board = Scoreboard::default();
        (0..5).for_each(|seq| send(&mut board, seq));
        take(&mut board, ack(1, &[(2, 3)]));
        let mut lost = 0;
        board.lose_all(|_| lost += 1);
        assert_eq!((lost, board.in_flight()), (3, 0));
        assert_eq!(board.next_lost(), Some((1, 100)));
        // A late acknowledgement still counts.
        assert_eq!(take(&mut board, ack(5, &[])), (3, 0));
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn acknowledgements_of_what_was_never_sent_are_ignored() {
        let mut board = Scoreboard::default();
        send(&mut board, 0);
        assert_eq!(take(&mut board, ack(9, &[(20, 30)])), (1, 0));
        assert_eq!(board.next_seq(), 1);
    }
}
