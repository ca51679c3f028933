//! The downlink queue of one data radio bearer: RLC unacknowledged mode (TS 38.322), below a PDCP header.
//!
//! The queue is bounded in octets and refuses what does not fit (drop-tail). SDUs leave it in order, cut to the
//! transport block; an SDU counts as delivered when HARQ has delivered all its segments, and as lost when one is lost.

use std::collections::VecDeque;

/// PDCP header with an 18-bit sequence number (TS 38.323 clause 6.2.2.3).
pub const PDCP_HEADER: u32 = 3;
/// MAC subheader with a 16-bit length field (TS 38.321 clause 6.1.2), one per RLC PDU.
const MAC_SUBHEADER: u32 = 3;
/// RLC UM header of a whole SDU (TS 38.322 clause 6.2.2.3).
const WHOLE_SDU_HEADER: u32 = 1;
/// RLC UM header of a first segment, 12-bit sequence number.
const FIRST_SEGMENT_HEADER: u32 = 2;
/// RLC UM header of a later segment, with segment offset.
const LATER_SEGMENT_HEADER: u32 = 4;

/// A packet of a user of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The caller's name for it.
    pub id: u64,
    /// Octets, IP header included.
    pub len: u32,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The UE has it.
    Delivered,
    /// HARQ gave up on a part of it.
    Lost,
}

/// A packet that has left the base station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// PDCP count: its place among the SDUs that the queue took.
    pub sequence: u64,
    /// The packet; `None` for background traffic, which the cell makes itself.
    pub id: Option<u64>,
    /// Octets, IP header included.
    pub len: u32,
    /// Slot at whose start it could first be sent.
    pub arrived: u64,
    /// What became of it.
    pub fate: Fate,
}

impl Departure {
    /// Octets with the PDCP header.
    pub fn octets(&self) -> u64 {
        u64::from(self.len + PDCP_HEADER)
    }
}

/// The part of a transport block that belongs to this bearer: consecutive SDUs, the first and last may be segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    first: u64,
    count: u32,
    first_octets: u32,
    last_octets: u32,
}

/// Cumulative counts of the bearer. Octets of SDUs include the PDCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RlcCounters {
    /// SDUs that arrived, refused ones included.
    pub arrived_sdus: u64,
    /// Octets of SDUs that arrived, refused ones included.
    pub arrived_octets: u64,
    /// SDUs refused because the queue was full.
    pub refused_sdus: u64,
    /// Octets of SDUs refused.
    pub refused_octets: u64,
    /// SDUs whose last octet was handed to MAC.
    pub sent_sdus: u64,
    /// Octets of SDUs wholly handed to MAC.
    pub sent_sdu_octets: u64,
    /// RLC PDUs handed to MAC.
    pub sent_pdus: u64,
    /// Octets of RLC PDUs, headers included.
    pub sent_pdu_octets: u64,
    /// PDUs that carry a segment of an SDU.
    pub segments: u64,
    /// Sum over `sent_sdus` of the slots from arrival until the last octet was handed to MAC.
    pub sojourn_slots: u64,
    /// SDUs delivered.
    pub delivered_sdus: u64,
    /// Octets of SDUs delivered.
    pub delivered_octets: u64,
    /// SDUs lost on the air.
    pub lost_sdus: u64,
    /// Octets of SDUs lost on the air.
    pub lost_octets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sdu {
    id: Option<u64>,
    octets: u32,
    arrived: u64,
    unsent: u32,
    unsettled: u32,
    lost: bool,
}

/// The queue of one bearer.
#[derive(Clone, Debug)]
pub struct RlcQueue {
    /// SDUs from the oldest whose fate is open on: those on the air, then those that wait.
    sdus: VecDeque<Sdu>,
    /// Sequence number of `sdus[0]`.
    base: u64,
    /// Sequence number of the first SDU not wholly handed to MAC.
    next: u64,
    /// Octets not yet handed to MAC.
    waiting_octets: u64,
    limit_octets: u64,
    counters: RlcCounters,
}

impl RlcQueue {
    /// An empty queue that holds at most `limit_octets`.
    pub fn new(limit_octets: u64) -> Self {
        Self {
            sdus: VecDeque::new(),
            base: 0,
            next: 0,
            waiting_octets: 0,
            limit_octets,
            counters: RlcCounters::default(),
        }
    }

    /// Counts so far.
    pub fn counters(&self) -> &RlcCounters {
        &self.counters
    }

    /// Octets not yet handed to MAC.
    pub fn waiting_octets(&self) -> u64 {
        self.waiting_octets
    }

    /// SDUs not yet wholly handed to MAC.
    pub fn waiting_sdus(&self) -> u64 {
        self.base + self.sdus.len() as u64 - self.next
    }

    /// Octets of SDUs whose fate is open, on the air or waiting.
    pub fn open_octets(&self) -> u64 {
        let open = self.sdus.iter().filter(|s| s.unsettled > 0);
        open.map(|s| u64::from(s.octets)).sum()
    }

    /// Slots since the oldest SDU that still waits arrived; `None` if none waits.
    pub fn head_of_line_slots(&self, now: u64) -> Option<u64> {
        let head = self.sdus.get((self.next - self.base) as usize)?;
        Some(now - head.arrived)
    }

    /// Octets of transport block that would empty the queue, headers included; an upper bound.
    pub fn demand_octets(&self) -> u64 {
        let headers = u64::from(MAC_SUBHEADER + LATER_SEGMENT_HEADER);
        self.waiting_octets + self.waiting_sdus() * headers
    }

    /// Queues an SDU; false if there is no room.
    pub fn push(&mut self, now: u64, id: Option<u64>, len: u32) -> bool {
        let octets = len.saturating_add(PDCP_HEADER);
        self.counters.arrived_sdus += 1;
        self.counters.arrived_octets += u64::from(octets);
        if self.waiting_octets + u64::from(octets) > self.limit_octets {
            self.counters.refused_sdus += 1;
            self.counters.refused_octets += u64::from(octets);
            return false;
        }
        self.waiting_octets += u64::from(octets);
        self.sdus.push_back(Sdu {
            id,
            octets,
            arrived: now,
            unsent: octets,
            unsettled: octets,
            lost: false,
        });
        true
    }

    /// Fills a transport block of `octets` with what waits; `None` if nothing fits.
    pub fn pull(&mut self, now: u64, octets: u32) -> Option<Payload> {
        let mut room = octets;
        let mut payload: Option<Payload> = None;
        while let Some(sdu) = self.sdus.get_mut((self.next - self.base) as usize) {
            let whole = sdu.unsent == sdu.octets;
            let fits = |header: u32| sdu.unsent + MAC_SUBHEADER + header <= room;
            let header = match whole {
                true if fits(WHOLE_SDU_HEADER) => WHOLE_SDU_HEADER,
                true => FIRST_SEGMENT_HEADER,
                false => LATER_SEGMENT_HEADER,
            };
            let part = sdu.unsent.min(room.saturating_sub(MAC_SUBHEADER + header));
            if part == 0 {
                break;
            }
            sdu.unsent -= part;
            room -= part + MAC_SUBHEADER + header;
            self.waiting_octets -= u64::from(part);
            self.counters.sent_pdus += 1;
            self.counters.sent_pdu_octets += u64::from(part + header);
            self.counters.segments += u64::from(part < sdu.octets);
            let filled = payload.get_or_insert(Payload {
                first: self.next,
                count: 0,
                first_octets: part,
                last_octets: 0,
            });
            filled.count += 1;
            filled.last_octets = part;
            if sdu.unsent > 0 {
                break;
            }
            self.counters.sent_sdus += 1;
            self.counters.sent_sdu_octets += u64::from(sdu.octets);
            self.counters.sojourn_slots += now - sdu.arrived;
            self.next += 1;
        }
        payload
    }

    /// HARQ has settled a transport block: reports the packets whose fate is thereby known, in their order
    /// within the block.
    pub fn settle(&mut self, payload: Payload, fate: Fate, mut report: impl FnMut(Departure)) {
        let last = payload.count - 1;
        for i in 0..payload.count {
            let index = (payload.first - self.base) as usize + i as usize;
            let sdu = &mut self.sdus[index];
            let part = match i {
                0 => payload.first_octets,
                i if i == last => payload.last_octets,
                _ => sdu.octets,
            };
            sdu.unsettled -= part;
            sdu.lost |= fate == Fate::Lost;
            if sdu.unsettled > 0 {
                continue;
            }
            let octets = u64::from(sdu.octets);
            let fate = if sdu.lost {
                self.counters.lost_sdus += 1;
                self.counters.lost_octets += octets;
                Fate::Lost
            } else {
                self.counters.delivered_sdus += 1;
                self.counters.delivered_octets += octets;
                Fate::Delivered
            };
            report(Departure {
                sequence: payload.first + u64::from(i),
                id: sdu.id,
                len: sdu.octets - PDCP_HEADER,
                arrived: sdu.arrived,
                fate,
            });
        }
        while self.sdus.front().is_some_and(|sdu| sdu.unsettled == 0) {
            self.sdus.pop_front();
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(queue: &mut RlcQueue, payload: Payload, fate: Fate) -> Vec<(u64, Fate)> {
        let mut seen = Vec::new();
        queue.settle(payload, fate, |d| seen.push((d.id.unwrap(), d.fate)));
        seen
    }

    #[test]
    fn an_sdu_arrives_with_its_last_segment() {
        let mut queue = RlcQueue::new(10_000);
        for id in 1..=3 {
            assert!(queue.push(0, Some(id), 1000));
        }
        let first = queue.pull(4, 1500).unwrap();
        let second = queue.pull(5, 10_000).unwrap();
        assert_eq!(queue.waiting_octets(), 0);
        assert_eq!(queue.counters().sojourn_slots, 4 + 5 + 5);
        // HARQ may settle the later block first: then the SDU that spans both waits for the earlier one.
        assert_eq!(
            settle(&mut queue, second, Fate::Delivered),
            [(3, Fate::Delivered)]
        );
        assert_eq!(
            settle(&mut queue, first, Fate::Delivered),
            [(1, Fate::Delivered), (2, Fate::Delivered)]
        );
        assert_eq!(queue.open_octets(), 0);
    }

    #[test]
    fn one_lost_segment_loses_the_sdu() {
        let mut queue = RlcQueue::new(10_000);
        queue.push(0, Some(1), 1000);
        queue.push(0, Some(2), 1000);
        let first = queue.pull(0, 1500).unwrap();
        let second = queue.pull(1, 1500).unwrap();
        assert_eq!(
            settle(&mut queue, first, Fate::Delivered),
            [(1, Fate::Delivered)]
        );
        assert_eq!(settle(&mut queue, second, Fate::Lost), [(2, Fate::Lost)]);
    }

    #[test]
    fn a_full_queue_refuses_and_counts() {
        let mut queue = RlcQueue::new(2006);
        assert!(queue.push(0, Some(1), 1000) && queue.push(3, Some(2), 1000));
        assert!(!queue.push(3, Some(3), 1));
        assert_eq!(queue.counters().refused_octets, 4);
        assert_eq!(queue.counters().arrived_sdus, 3);
        assert_eq!(queue.head_of_line_slots(10), Some(10));
        queue.pull(10, 1100).unwrap();
        assert_eq!(queue.head_of_line_slots(10), Some(7));
        assert!(
            queue.push(10, Some(4), 900),
            "what is handed to MAC makes room"
        );
    }

    #[test]
    fn a_block_smaller_than_the_headers_takes_nothing() {
        let mut queue = RlcQueue::new(10_000);
        queue.push(0, Some(1), 100);
        assert_eq!(queue.pull(0, MAC_SUBHEADER + FIRST_SEGMENT_HEADER), None);
        assert_eq!(queue.waiting_octets(), 103);
    }
}
