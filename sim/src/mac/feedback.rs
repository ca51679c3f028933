//! When a HARQ process may be used again: after a fixed round trip, or after feedback in the uplink slots of the TDD pattern.
//!
//! A UE's uplink slot carries the feedback of few blocks, and it must lie some slots behind the block (K1 of TS 38.213
//! clause 9.2.3). Where uplink slots are few, that, not the number of HARQ processes, limits how many slots a lone UE
//! can be sent blocks in.

use crate::radio::numerology::TddPattern;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Feedback in the uplink and special slots of the TDD pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarqFeedback {
    /// Fewest slots from a block to its feedback.
    pub min_slots: u64,
    /// Most slots from a block to its feedback; a block whose feedback finds no place so far cannot be sent.
    pub max_slots: u64,
    /// Blocks of one UE that one slot carries the feedback of.
    pub per_slot: u8,
    /// Slots from the feedback until the process may be used again.
    pub processing_slots: u64,
}

/// The feedback of one UE's blocks.
#[derive(Clone, Debug)]
pub struct FeedbackTiming {
    round_trip: u64,
    feedback: Option<HarqFeedback>,
    /// Slots that carry feedback, and of how many blocks.
    taken: VecDeque<(u64, u8)>,
}

impl FeedbackTiming {
    /// Feedback as configured; without, a process may be used again after `round_trip` slots.
    pub fn new(round_trip: u64, feedback: Option<HarqFeedback>) -> Self {
        Self {
            round_trip,
            feedback,
            taken: VecDeque::new(),
        }
    }

    /// Slot of the feedback for a block sent in slot `now`.
    fn place(&self, feedback: &HarqFeedback, now: u64, tdd: &TddPattern) -> Option<u64> {
        let free = |&slot: &u64| {
            let count = self.taken.iter().find(|&&(taken, _)| taken == slot);
            tdd.has_uplink(slot) && count.is_none_or(|&(_, n)| n < feedback.per_slot)
        };
        (now + feedback.min_slots..=now + feedback.max_slots).find(free)
    }

    /// A block can be sent in slot `now`: its feedback finds a place.
    pub fn can_send(&self, now: u64, tdd: &TddPattern) -> bool {
        let feedback = self.feedback.as_ref();
        feedback.is_none_or(|feedback| self.place(feedback, now, tdd).is_some())
    }

    /// A block is sent in slot `now`: the slot from which its process may be used again.
    pub fn sent(&mut self, now: u64, tdd: &TddPattern) -> u64 {
        let Some(feedback) = self.feedback else {
            return now + self.round_trip;
        };
        let slot = self.place(&feedback, now, tdd);
        let slot = slot.unwrap_or(now + feedback.max_slots);
        while self.taken.front().is_some_and(|&(taken, _)| taken <= now) {
            self.taken.pop_front();
        }
        match self.taken.iter_mut().find(|(taken, _)| *taken == slot) {
            Some((_, count)) => *count += 1,
            None => {
                let at = self.taken.partition_point(|&(taken, _)| taken < slot);
                self.taken.insert(at, (slot, 1));
            }
        }
        slot + feedback.processing_slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bits_in_each_of_three_slots_allow_six_blocks_in_ten_slots() {
        let tdd: TddPattern = "DDDDDDDSUU".parse().unwrap();
        let feedback = HarqFeedback {
            min_slots: 6,
            max_slots: 13,
            per_slot: 2,
            processing_slots: 7,
        };
        let mut timing = FeedbackTiming::new(0, Some(feedback));
        let mut sent = Vec::new();
        for slot in 0..60 {
            if tdd.downlink_symbols(slot, 6) > 0 && timing.can_send(slot, &tdd) {
                assert!(timing.sent(slot, &tdd) <= slot + 20);
                sent.push(slot);
            }
        }
        // Exactly the slots in which the recorded OpenAirInterface gNB sent to its only UE.
        let steady: Vec<u64> = sent.iter().copied().filter(|&slot| slot >= 40).collect();
        assert_eq!(steady, [40, 41, 44, 45, 46, 47, 50, 51, 54, 55, 56, 57]);
    }

    #[test]
    fn without_feedback_slots_a_round_trip_passes() {
        let tdd: TddPattern = "D".parse().unwrap();
        let mut timing = FeedbackTiming::new(8, None);
        assert!(timing.can_send(5, &tdd));
        assert_eq!(timing.sent(5, &tdd), 13);
    }
}
