//! The UE's PDCP: delivers SDUs in order (TS 38.323 clause 5.2.2).
//!
//! HARQ lets later transport blocks overtake one that is sent again. The UE holds what came too early until the gap
//! is filled, or until t-Reordering gives it up.

use crate::rlc::{Departure, Fate};
use std::collections::VecDeque;

/// Cumulative counts. Octets include the PDCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PdcpCounters {
    /// Octets of SDUs delivered.
    pub delivered_octets: u64,
    /// Octets of SDUs that came after the UE had given them up.
    pub late_octets: u64,
}

/// The receiving entity of one bearer.
#[derive(Clone, Debug)]
pub struct Reordering {
    /// t-Reordering in slots; 0: SDUs are delivered as they come.
    t_reordering: u64,
    /// RX_DELIV: the first SDU that is not delivered.
    next: u64,
    /// What waits from `next` on; `None` has not come. Its end is RX_NEXT.
    held: VecDeque<Option<Departure>>,
    /// RX_REORD and the slot in which t-Reordering expires.
    timer: Option<(u64, u64)>,
    counters: PdcpCounters,
}

impl Reordering {
    /// An entity that has received nothing.
    pub fn new(t_reordering: u64) -> Self {
        Self {
            t_reordering,
            next: 0,
            held: VecDeque::new(),
            timer: None,
            counters: PdcpCounters::default(),
        }
    }

    /// Counts so far.
    pub fn counters(&self) -> &PdcpCounters {
        &self.counters
    }

    /// Octets that wait for a gap to be filled.
    pub fn held_octets(&self) -> u64 {
        self.held.iter().flatten().map(Departure::octets).sum()
    }

    /// RLC hands over an SDU in slot `now`; reports what is thereby delivered, or the SDU itself if it comes too late.
    pub fn receive(&mut self, now: u64, sdu: Departure, mut report: impl FnMut(Departure)) {
        if self.t_reordering == 0 {
            self.counters.delivered_octets += sdu.octets();
            return report(sdu);
        }
        let Some(ahead) = sdu.sequence.checked_sub(self.next) else {
            self.counters.late_octets += sdu.octets();
            return report(Departure {
                fate: Fate::Lost,
                ..sdu
            });
        };
        let ahead = ahead as usize;
        if ahead == 0 && self.held.is_empty() {
            self.next += 1;
            return self.deliver(sdu, &mut report);
        }
        if ahead >= self.held.len() {
            self.held.resize(ahead + 1, None);
        }
        self.held[ahead] = Some(sdu);
        self.deliver_consecutive(&mut report);
        self.watch_gap(now);
    }

    /// Time has come to slot `now`: reports what t-Reordering sets free.
    pub fn tick(&mut self, now: u64, mut report: impl FnMut(Departure)) {
        let Some((until, expires)) = self.timer else {
            return;
        };
        if now < expires {
            return;
        }
        self.timer = None;
        while self.next < until {
            self.next += 1;
            if let Some(sdu) = self.held.pop_front().flatten() {
                self.deliver(sdu, &mut report);
            }
        }
        self.deliver_consecutive(&mut report);
        self.watch_gap(now);
    }

    fn deliver_consecutive(&mut self, report: &mut impl FnMut(Departure)) {
        while let Some(Some(_)) = self.held.front() {
            self.next += 1;
            if let Some(sdu) = self.held.pop_front().flatten() {
                self.deliver(sdu, report);
            }
        }
    }

    fn deliver(&mut self, sdu: Departure, report: &mut impl FnMut(Departure)) {
        self.counters.delivered_octets += sdu.octets();
        report(sdu);
    }

    /// Stops t-Reordering if its gap is filled, and starts it if there is another one.
    fn watch_gap(&mut self, now: u64) {
        self.timer.take_if(|(until, _)| self.next >= *until);
        if self.timer.is_none() && !self.held.is_empty() {
            let until = self.next + self.held.len() as u64;
            self.timer = Some((until, now + self.t_reordering));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sdu(sequence: u64) -> Departure {
        Departure {
            sequence,
            id: Some(sequence),
            len: 100,
            arrived: 0,
            fate: Fate::Delivered,
        }
    }

    fn receive(entity: &mut Reordering, now: u64, sequence: u64) -> Vec<(u64, Fate)> {
        let mut seen = Vec::new();
        entity.receive(now, sdu(sequence), |d| seen.push((d.sequence, d.fate)));
        seen
    }

    fn tick(entity: &mut Reordering, now: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        entity.tick(now, |d| seen.push(d.sequence));
        seen
    }

    const DELIVERED: Fate = Fate::Delivered;

    #[test]
    fn a_filled_gap_sets_free_what_waited() {
        let mut entity = Reordering::new(100);
        assert_eq!(receive(&mut entity, 0, 0), [(0, DELIVERED)]);
        assert!(receive(&mut entity, 1, 2).is_empty());
        assert!(receive(&mut entity, 2, 3).is_empty());
        assert_eq!(entity.held_octets(), 2 * 103);
        let all = [(1, DELIVERED), (2, DELIVERED), (3, DELIVERED)];
        assert_eq!(receive(&mut entity, 9, 1), all);
        assert!(tick(&mut entity, 1000).is_empty(), "the timer has stopped");
    }

    #[test]
    fn t_reordering_gives_a_gap_up_and_what_comes_later_is_lost() {
        let mut entity = Reordering::new(100);
        receive(&mut entity, 0, 1);
        receive(&mut entity, 50, 3);
        assert!(tick(&mut entity, 99).is_empty());
        assert_eq!(
            tick(&mut entity, 100),
            [1],
            "the second gap has its own time"
        );
        assert_eq!(receive(&mut entity, 101, 0), [(0, Fate::Lost)]);
        assert!(tick(&mut entity, 199).is_empty());
        assert_eq!(tick(&mut entity, 200), [3]);
        assert_eq!(entity.counters().late_octets, 103);
    }

    #[test]
    fn without_t_reordering_nothing_waits() {
        let mut entity = Reordering::new(0);
        assert_eq!(receive(&mut entity, 0, 5), [(5, DELIVERED)]);
        assert_eq!(receive(&mut entity, 0, 4), [(4, DELIVERED)]);
    }
}
