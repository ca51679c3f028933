//! Acknowledged mode (TS 38.322 clauses 5.2.3 and 5.3): what the base station learns of what the UE has, and when.
//!
//! SDUs are octets of one stream. The UE reports at most every `status_period_ms`, as long as there is anything to report;
//! a report frees what it acknowledges and makes the rest of what was sent longer than t-Reassembly ago due again, also
//! if HARQ is still working on it. A bearer whose blocks all arrive therefore keeps its SDUs for a report's way, and
//! one whose blocks need several HARQ rounds sends some octets twice, as real ones do.

use crate::tcp::ranges::Ranges;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Timers of acknowledged mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AmConfig {
    /// t-Reassembly, ms: how long the UE waits for HARQ before it reports a part as missing.
    pub t_reassembly_ms: u64,
    /// Time between two status reports while there is anything to report, ms.
    pub status_period_ms: u64,
    /// From the making of a report to its arrival, ms: scheduling request, grant, uplink slot.
    pub status_delay_ms: u64,
}

impl Default for AmConfig {
    /// OpenAirInterface's t-Reassembly; period and delay as measured of it.
    fn default() -> Self {
        Self {
            t_reassembly_ms: 15,
            status_period_ms: 30,
            status_delay_ms: 13,
        }
    }
}

/// Octets `from..to` of the bearer's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub from: u64,
    pub to: u64,
}

impl Span {
    pub(super) fn is_empty(self) -> bool {
        self.from >= self.to
    }

    pub(super) fn octets(self) -> u64 {
        self.to - self.from
    }
}

/// What was sent and has neither been received nor reported.
#[derive(Clone, Copy, Debug)]
struct Missing {
    span: Span,
    sent: u64,
}

#[derive(Clone, Debug)]
struct Report {
    arrives: u64,
    /// The UE has everything below this octet.
    below: u64,
    /// Octets acknowledged that no report had acknowledged before.
    acknowledged: u64,
    missing: Vec<Span>,
}

/// Both ends' state of one bearer.
#[derive(Clone, Debug)]
pub(super) struct Acknowledged {
    reassembly_slots: u64,
    period_slots: u64,
    delay_slots: u64,
    /// The UE's octets: one range below the first gap.
    received: Ranges,
    missing: Vec<Missing>,
    again: VecDeque<Span>,
    again_octets: u64,
    /// Octets received since the last report was made.
    unreported: u64,
    reports: VecDeque<Report>,
    next_report: u64,
    acknowledged_below: u64,
    /// Octets sent and not acknowledged.
    pub(super) unacknowledged: u64,
}

impl Acknowledged {
    pub(super) fn new(config: AmConfig, slots_per_second: u64) -> Self {
        let slots = |ms: u64| ms * slots_per_second / 1000;
        Self {
            reassembly_slots: slots(config.t_reassembly_ms),
            period_slots: slots(config.status_period_ms),
            delay_slots: slots(config.status_delay_ms),
            received: Ranges::default(),
            missing: Vec::new(),
            again: VecDeque::new(),
            again_octets: 0,
            unreported: 0,
            reports: VecDeque::new(),
            next_report: 0,
            acknowledged_below: 0,
            unacknowledged: 0,
        }
    }

    /// Octets due for retransmission.
    pub(super) fn again_octets(&self) -> u64 {
        self.again_octets
    }

    /// What is due again first.
    pub(super) fn next_again(&self) -> Option<Span> {
        self.again.front().copied()
    }

    /// The first `octets` of what is due again have been sent.
    pub(super) fn sent_again(&mut self, octets: u64) {
        self.again_octets -= octets;
        if let Some(first) = self.again.front_mut() {
            first.from += octets;
            if first.is_empty() {
                self.again.pop_front();
            }
        }
    }

    /// New octets have been sent: they are the sender's to keep.
    pub(super) fn sent_new(&mut self, octets: u64) {
        self.unacknowledged += octets;
    }

    /// A block with these octets, first or again, goes out in slot `now`.
    pub(super) fn on_air(&mut self, now: u64, span: Span) {
        self.missing.push(Missing { span, sent: now });
    }

    /// The UE has received a span: calls `fresh` for what of it it did not have.
    pub(super) fn receive(&mut self, span: Span, mut fresh: impl FnMut(Span)) {
        let unreported = &mut self.unreported;
        self.received.insert(span.from, span.to, |from, to| {
            *unreported += to - from;
            fresh(Span { from, to });
        });
        let received = &self.received;
        self.missing.retain(|m| {
            let have = received.containing(m.span.from);
            have.is_none_or(|(_, end)| end < m.span.to)
        });
    }

    /// The first octet that may have to be sent again.
    pub(super) fn kept_from(&self) -> u64 {
        let again = self.again.iter().map(|span| span.from);
        again.fold(self.acknowledged_below, u64::min)
    }

    /// Time passes: reports are made, and arrive.
    pub(super) fn advance(&mut self, now: u64) {
        let arrived = self.reports.partition_point(|report| report.arrives <= now);
        for report in self.reports.drain(..arrived) {
            self.unacknowledged -= report.acknowledged;
            self.acknowledged_below = report.below;
            for span in report.missing {
                self.again_octets += span.octets();
                self.again.push_back(span);
            }
        }
        if now < self.next_report {
            return;
        }
        let due = |m: &Missing| m.sent + self.reassembly_slots <= now;
        let received = &self.received;
        let missing: Vec<Span> = self
            .missing
            .extract_if(.., |m| due(m))
            // Of what was sent twice the UE may have a part, or all.
            .map(|Missing { span, .. }| Span {
                from: received
                    .containing(span.from)
                    .map_or(span.from, |(_, end)| end),
                ..span
            })
            .filter(|span| !span.is_empty())
            .collect();
        if self.unreported == 0 && missing.is_empty() {
            return;
        }
        self.reports.push_back(Report {
            arrives: now + self.delay_slots,
            below: self.received.containing(0).map_or(0, |(_, end)| end),
            acknowledged: std::mem::take(&mut self.unreported),
            missing,
        });
        self.next_report = now + self.period_slots;
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use proptest::prelude::*;

    /// Slots of 1 ms.
    fn queue(limit: u64) -> RlcQueue {
        RlcQueue::with_mode(limit, RlcMode::Acknowledged(AmConfig::default()), 1000)
    }

    fn settle(queue: &mut RlcQueue, payload: Payload, fate: Fate) -> Vec<u64> {
        let mut seen = Vec::new();
        queue.settle(payload, fate, |d| seen.push(d.id.unwrap()));
        seen
    }

    fn wait(queue: &mut RlcQueue, slots: std::ops::RangeInclusive<u64>) {
        for now in slots {
            queue.advance(now);
        }
    }

    #[test]
    fn what_harq_lost_comes_again_after_a_status_report() {
        let mut queue = queue(100_000);
        for id in 1..=3 {
            queue.push(0, Some(id), 1000);
        }
        let lost = queue.pull(0, 1500).unwrap();
        let arrived = queue.pull(1, 10_000).unwrap();
        assert!(settle(&mut queue, lost, Fate::Lost).is_empty());
        assert_eq!(settle(&mut queue, arrived, Fate::Delivered), [3]);
        assert_eq!(queue.pull(2, 10_000), None, "nobody knows of the loss yet");
        // The first report, at once, acknowledges the third SDU; the next one, 30 ms later, misses the lost block.
        wait(&mut queue, 2..=44);
        assert_eq!(queue.waiting_octets(), 0);
        wait(&mut queue, 45..=45);
        let again = queue.pull(45, 10_000).unwrap();
        assert_eq!(settle(&mut queue, again, Fate::Delivered), [1, 2]);
        assert_eq!(queue.counters().retx_pdus, 2);
        assert_eq!(queue.counters().sent_pdus, 4);
        assert_eq!(queue.open_octets(), 0);
    }

    #[test]
    fn what_harq_takes_long_for_is_sent_twice_and_delivered_once() {
        let mut queue = queue(100_000);
        queue.push(0, Some(1), 1000);
        let slow = queue.pull(0, 10_000).unwrap();
        wait(&mut queue, 0..=28);
        let again = queue.pull(28, 10_000).unwrap();
        assert_eq!(settle(&mut queue, slow, Fate::Delivered), [1]);
        assert!(settle(&mut queue, again, Fate::Delivered).is_empty());
        assert_eq!(queue.counters().delivered_sdus, 1);
    }

    #[test]
    fn an_sdu_counts_against_the_limit_until_it_is_acknowledged() {
        let mut queue = queue(1500);
        assert!(queue.push(0, Some(1), 1000));
        let sent = queue.pull(0, 10_000).unwrap();
        settle(&mut queue, sent, Fate::Delivered);
        assert_eq!(queue.waiting_octets(), 0);
        wait(&mut queue, 0..=12);
        assert!(!queue.push(12, Some(2), 1000));
        wait(&mut queue, 13..=13);
        assert!(queue.push(13, Some(2), 1000));
    }

    #[test]
    fn a_lost_copy_of_what_has_arrived_is_not_missed() {
        let mut queue = queue(100_000);
        queue.push(0, Some(1), 1000);
        let slow = queue.pull(0, 10_000).unwrap();
        wait(&mut queue, 0..=28);
        let copy = queue.pull(28, 10_000).unwrap();
        settle(&mut queue, slow, Fate::Delivered);
        settle(&mut queue, copy, Fate::Lost);
        wait(&mut queue, 29..=200);
        assert_eq!(queue.waiting_octets(), 0);
        assert_eq!(queue.pull(200, 10_000), None);
    }

    proptest! {
        /// Whatever HARQ loses and however late it is: every SDU is delivered once, and nothing is kept in the end.
        #[test]
        fn everything_arrives_once(
            lengths in proptest::collection::vec(1_u32..3000, 1..60),
            blocks in proptest::collection::vec((0_u32..4000, 0_u64..40, any::<bool>()), 1..200),
        ) {
            let mut queue = queue(u64::MAX);
            let mut seen = vec![0; lengths.len()];
            for (id, &len) in lengths.iter().enumerate() {
                queue.push(0, Some(id as u64), len);
            }
            let mut air: Vec<(u64, Payload, Fate)> = Vec::new();
            let steady = std::iter::repeat_n((5000, 0, true), 500);
            for (now, (octets, late, arrives)) in (0..).zip(blocks.into_iter().chain(steady)) {
                queue.advance(now);
                if let Some(payload) = queue.pull(now, octets) {
                    let fate = if arrives { Fate::Delivered } else { Fate::Lost };
                    air.push((now + late, payload, fate));
                }
                for (_, payload, fate) in air.extract_if(.., |(due, ..)| *due <= now) {
                    queue.settle(payload, fate, |d| seen[d.id.unwrap() as usize] += 1);
                }
            }
            prop_assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
            prop_assert_eq!(queue.waiting_octets() + queue.open_octets(), 0);
            prop_assert_eq!(queue.sdus.len(), 0);
        }
    }
}
