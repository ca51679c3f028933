//! The receiver: cumulative and selective acknowledgements (RFC 2018), delayed (RFC 5681 section 4.2).

use super::Acknowledgement;
use super::ranges::Ranges;
use std::time::Duration;

/// In-order segments per acknowledgement.
const SEGMENTS_PER_ACK: u32 = 2;

/// The receiver of one connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    expected: u64,
    above: Ranges,
    unacknowledged: u32,
    /// When a held-back acknowledgement goes out at the latest.
    deadline: Option<Duration>,
    hold: Duration,
    /// Starts of the ranges that grew last, newest first.
    recent: [u64; super::SACK_BLOCKS],
}

impl Receiver {
    /// A receiver that holds an acknowledgement back for at most `hold`.
    pub fn new(hold: Duration) -> Self {
        Self {
            expected: 0,
            above: Ranges::default(),
            unacknowledged: 0,
            deadline: None,
            hold,
            recent: [u64::MAX; super::SACK_BLOCKS],
        }
    }

    /// Segment `seq` has not arrived before.
    pub fn is_new(&self, seq: u64) -> bool {
        seq >= self.expected && self.above.containing(seq).is_none()
    }

    /// Segment `seq` arrives: the acknowledgement that it causes at once, if any.
    pub fn on_segment(&mut self, now: Duration, seq: u64) -> Option<Acknowledgement> {
        let in_order = seq == self.expected && self.above.is_empty();
        if seq == self.expected {
            self.expected += 1;
            if let Some((_, end)) = self.above.containing(self.expected) {
                self.expected = end;
            }
            self.above.forget_below(self.expected);
        } else if seq > self.expected {
            self.above.insert(seq, seq + 1, |_, _| ());
            self.recent.rotate_right(1);
            self.recent[0] = seq;
        }
        self.unacknowledged += 1;
        // Out of order, filling a hole or a duplicate: at once.
        if !in_order || self.unacknowledged >= SEGMENTS_PER_ACK {
            return Some(self.acknowledge());
        }
        self.deadline = Some(now + self.hold);
        None
    }

    /// When [`Self::on_timeout`] is due.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// The held-back acknowledgement, if it is due.
    pub fn on_timeout(&mut self, now: Duration) -> Option<Acknowledgement> {
        self.deadline
            .is_some_and(|deadline| deadline <= now)
            .then(|| self.acknowledge())
    }

    fn acknowledge(&mut self) -> Acknowledgement {
        self.unacknowledged = 0;
        self.deadline = None;
        let mut ack = Acknowledgement {
            cumulative: self.expected,
            ..Acknowledgement::default()
        };
        if self.above.is_empty() {
            return ack;
        }
        // The range that grew last comes first, then those reported before (RFC 2018 section 4).
        for seq in self.recent {
            if let Some(range) = self.above.containing(seq)
                && !ack.blocks().contains(&range)
            {
                ack.push(range);
            }
        }
        for range in self.above.iter().take(super::SACK_BLOCKS) {
            if !ack.blocks().contains(&range) {
                ack.push(range);
            }
        }
        ack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn acknowledges_every_second_segment_or_after_the_hold() {
        let mut receiver = Receiver::new(MS * 40);
        assert_eq!(receiver.on_segment(MS, 0), None);
        assert_eq!(receiver.on_segment(MS * 2, 1).unwrap().cumulative, 2);
        assert_eq!(receiver.on_segment(MS * 3, 2), None);
        assert_eq!(receiver.on_timeout(MS * 42), None);
        assert_eq!(receiver.deadline(), Some(MS * 43));
        assert_eq!(receiver.on_timeout(MS * 43).unwrap().cumulative, 3);
        assert_eq!(receiver.on_timeout(MS * 99), None);
    }

    #[test]
    fn reports_the_range_that_grew_last_first() {
        let mut receiver = Receiver::new(MS * 40);
        receiver.on_segment(MS, 0);
        let mut last = Acknowledgement::default();
        for seq in [2, 4, 6, 8, 5] {
            last = receiver.on_segment(MS, seq).expect("a hole: at once");
        }
        assert_eq!(last.cumulative, 1);
        assert_eq!(last.blocks(), [(4, 7), (8, 9), (2, 3)]);
        assert_eq!(last.wire_octets(), 52 + 28);
        let filled = receiver.on_segment(MS, 1).expect("fills a hole: at once");
        assert_eq!(
            (filled.cumulative, filled.blocks()),
            (3, &[(4, 7), (8, 9)][..])
        );
    }
}
