//! Uplink data of the UEs (acknowledgements, reports): when it is sent, and which slots it takes from the downlink.
//!
//! Blocks are never too small and never fail: acknowledgements are a few per cent of a slot's capacity.

use super::behaviour::Uplink;
use crate::rlc::Packet;
use std::collections::VecDeque;

/// Uplink of one UE.
#[derive(Clone, Debug)]
pub struct UplinkQueue {
    kind: Uplink,
    /// Packets and the slot before which they arrived.
    packets: VecDeque<(u64, Packet)>,
    granted: Option<u64>,
}

impl UplinkQueue {
    /// An empty queue.
    pub fn new(kind: Uplink) -> Self {
        Self {
            kind,
            packets: VecDeque::new(),
            granted: None,
        }
    }

    /// A packet is ready before slot `now`.
    pub fn push(&mut self, now: u64, packet: Packet) {
        self.packets.push_back((now, packet));
        if self.granted.is_none() {
            self.granted = Some(now + self.first_slots());
        }
    }

    fn first_slots(&self) -> u64 {
        match self.kind {
            Uplink::None => 0,
            Uplink::UplinkSlots { grant_slots } => grant_slots,
            Uplink::WholeSlots { first_slots, .. } => first_slots,
        }
    }

    /// The UE sends uplink data in this slot; `uplink_slot`: the TDD pattern gives it to the uplink.
    pub fn sends(&self, now: u64, uplink_slot: bool) -> bool {
        if self.granted.is_none_or(|granted| granted > now) {
            return false;
        }
        match self.kind {
            Uplink::UplinkSlots { .. } => uplink_slot && self.covered(now),
            Uplink::None | Uplink::WholeSlots { .. } => true,
        }
    }

    /// The grant covers the oldest packet: it was there when the grant was asked for.
    fn covered(&self, now: u64) -> bool {
        let lead = match self.kind {
            Uplink::WholeSlots { loop_slots, .. } => loop_slots.saturating_sub(1),
            Uplink::None | Uplink::UplinkSlots { .. } => self.first_slots(),
        };
        self.packets
            .front()
            .is_some_and(|&(arrived, _)| arrived + lead <= now)
    }

    /// Sends what the grant covers.
    pub fn send(&mut self, now: u64, mut sent: impl FnMut(Packet)) {
        while self.covered(now)
            && let Some((_, packet)) = self.packets.pop_front()
        {
            sent(packet);
        }
        self.granted = (!self.packets.is_empty()).then(|| match self.kind {
            Uplink::WholeSlots { loop_slots, .. } => now + loop_slots,
            // The buffer status went along: the next uplink slot will do.
            Uplink::None | Uplink::UplinkSlots { .. } => now + 1,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u64) -> Packet {
        Packet { id, len: 60 }
    }

    /// Slots in which a UE sends that has a packet before each of `arrivals`, and the packets sent.
    fn run(
        kind: Uplink,
        arrivals: impl Fn(u64) -> bool,
        slots: u64,
        tdd: impl Fn(u64) -> bool,
    ) -> Vec<(u64, Vec<u64>)> {
        let mut queue = UplinkQueue::new(kind);
        let mut seen = Vec::new();
        for slot in 0..slots {
            if arrivals(slot) {
                queue.push(slot, packet(slot));
            }
            if queue.sends(slot, tdd(slot)) {
                let mut ids = Vec::new();
                queue.send(slot, |p| ids.push(p.id));
                seen.push((slot, ids));
            }
        }
        seen
    }

    const LENA: Uplink = Uplink::WholeSlots {
        first_slots: 7,
        loop_slots: 6,
    };

    #[test]
    fn an_isolated_packet_takes_one_slot_four_milliseconds_later() {
        let sent = run(LENA, |slot| slot == 10, 100, |_| false);
        // Slot 17 ends 8 slots of 0.5 ms after the start of slot 10.
        assert_eq!(sent, [(17, vec![10])]);
    }

    #[test]
    fn a_steady_stream_takes_every_sixth_slot() {
        let sent = run(LENA, |slot| slot.is_multiple_of(2), 600, |_| false);
        let share = sent.len() as f64 / 600.0;
        assert!((share - 1.0 / 6.0).abs() < 0.01, "{share}");
        assert!(sent[10].1.len() == 3, "{:?}", sent[10]);
    }

    #[test]
    fn a_tdd_cell_waits_for_its_uplink_slots() {
        let kind = Uplink::UplinkSlots { grant_slots: 8 };
        let sent = run(
            kind,
            |slot| slot == 1 || slot == 9,
            40,
            |slot| slot % 5 == 4,
        );
        assert_eq!(sent, [(9, vec![1]), (19, vec![9])]);
    }
}
