//! The downlink queue of one data radio bearer: RLC (TS 38.322) below a PDCP header.
//!
//! The queue is bounded in octets and refuses what does not fit (drop-tail). SDUs leave it in order, cut to the
//! transport block. In unacknowledged mode an SDU counts as delivered when HARQ has delivered all its segments, and as
//! lost when one is lost; in acknowledged mode what is missing is sent again.

mod acknowledged;

pub use acknowledged::AmConfig;

use acknowledged::{Acknowledged, Span};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// PDCP header with an 18-bit sequence number (TS 38.323 clause 6.2.2.3).
pub const PDCP_HEADER: u32 = 3;
/// MAC subheader with a 16-bit length field (TS 38.321 clause 6.1.2), one per RLC PDU.
const MAC_SUBHEADER: u32 = 3;

/// Octets of RLC header of an SDU and of its segments (TS 38.322 clause 6.2.2).
#[derive(Clone, Copy, Debug)]
struct Headers {
    whole: u32,
    first: u32,
    /// With segment offset.
    later: u32,
}

/// UM, 12-bit sequence number: none is needed for a whole SDU.
const UM_HEADERS: Headers = Headers {
    whole: 1,
    first: 2,
    later: 4,
};
/// AM, 18-bit sequence number.
const AM_HEADERS: Headers = Headers {
    whole: 3,
    first: 3,
    later: 5,
};

impl Headers {
    /// Header of the next part of an SDU of which `unsent` octets are left, when `room` octets are left in the block.
    fn of(self, whole: bool, unsent: u32, room: u32) -> u32 {
        match whole {
            true if unsent + MAC_SUBHEADER + self.whole <= room => self.whole,
            true => self.first,
            false => self.later,
        }
    }
}

/// RLC mode of a bearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RlcMode {
    /// UM: what HARQ loses is lost.
    #[default]
    Unacknowledged,
    /// AM: what HARQ loses is sent again, and SDUs count against the queue's limit until the UE has acknowledged them.
    Acknowledged(AmConfig),
}

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    first: u64,
    count: u32,
    first_octets: u32,
    last_octets: u32,
    /// In acknowledged mode: the same as octets of the bearer's stream, and what is sent again.
    new: Span,
    again: Span,
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
    /// RLC PDUs sent again, not contained in `sent_pdus`.
    pub retx_pdus: u64,
    /// Octets of RLC PDUs sent again, headers included.
    pub retx_pdu_octets: u64,
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
    /// Its first octet in the bearer's stream.
    start: u64,
    octets: u32,
    arrived: u64,
    unsent: u32,
    unsettled: u32,
    lost: bool,
}

impl Sdu {
    /// The octet of the stream behind its last one.
    fn end(&self) -> u64 {
        self.start + u64::from(self.octets)
    }

    fn departure(&self, sequence: u64, fate: Fate) -> Departure {
        Departure {
            sequence,
            id: self.id,
            len: self.octets - PDCP_HEADER,
            arrived: self.arrived,
            fate,
        }
    }
}

/// The queue of one bearer.
#[derive(Clone, Debug)]
pub struct RlcQueue {
    /// SDUs from the oldest that is kept on: those on the air or not acknowledged, then those that wait.
    sdus: VecDeque<Sdu>,
    /// Sequence number of `sdus[0]`.
    base: u64,
    /// Sequence number of the first SDU not wholly handed to MAC.
    next: u64,
    /// Octets not yet handed to MAC.
    waiting_octets: u64,
    /// Octets taken so far: where the next SDU starts in the stream.
    end: u64,
    limit_octets: u64,
    headers: Headers,
    acknowledged: Option<Box<Acknowledged>>,
    counters: RlcCounters,
}

impl RlcQueue {
    /// An empty queue in unacknowledged mode that holds at most `limit_octets`.
    pub fn new(limit_octets: u64) -> Self {
        Self::with_mode(limit_octets, RlcMode::Unacknowledged, 0)
    }

    /// An empty queue that holds at most `limit_octets`.
    pub fn with_mode(limit_octets: u64, mode: RlcMode, slots_per_second: u64) -> Self {
        let (headers, acknowledged) = match mode {
            RlcMode::Unacknowledged => (UM_HEADERS, None),
            RlcMode::Acknowledged(config) => {
                let state = Acknowledged::new(config, slots_per_second);
                (AM_HEADERS, Some(Box::new(state)))
            }
        };
        Self {
            headers,
            acknowledged,
            end: 0,
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

    /// The bearer is in acknowledged mode.
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged.is_some()
    }

    /// Octets not yet handed to MAC, or due again.
    pub fn waiting_octets(&self) -> u64 {
        self.waiting_octets + self.again_octets()
    }

    fn again_octets(&self) -> u64 {
        let state = self.acknowledged.as_ref();
        state.map_or(0, |state| state.again_octets())
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
        let headers = u64::from(MAC_SUBHEADER + self.headers.later);
        let sdus = match self.again_octets() {
            0 => self.waiting_sdus(),
            // Parts of a few octets cannot be excluded; a block that is a little too large does no harm.
            again => self.waiting_sdus() + 2 + again / 100,
        };
        self.waiting_octets() + sdus * headers
    }

    /// Queues an SDU; false if there is no room.
    pub fn push(&mut self, now: u64, id: Option<u64>, len: u32) -> bool {
        let octets = len.saturating_add(PDCP_HEADER);
        self.counters.arrived_sdus += 1;
        self.counters.arrived_octets += u64::from(octets);
        let sent = self.acknowledged.as_ref();
        let kept = self.waiting_octets + sent.map_or(0, |state| state.unacknowledged);
        if kept + u64::from(octets) > self.limit_octets {
            self.counters.refused_sdus += 1;
            self.counters.refused_octets += u64::from(octets);
            return false;
        }
        self.waiting_octets += u64::from(octets);
        self.sdus.push_back(Sdu {
            id,
            start: self.end,
            octets,
            arrived: now,
            unsent: octets,
            unsettled: octets,
            lost: false,
        });
        self.end += u64::from(octets);
        true
    }

    /// Fills a transport block of `octets`: with what is due again, then with what waits. `None` if nothing fits.
    pub fn pull(&mut self, now: u64, octets: u32) -> Option<Payload> {
        let mut room = octets;
        let again = self.pull_again(&mut room);
        let mut payload = self.pull_new(now, room);
        if let Some(state) = &mut self.acknowledged {
            if !again.is_empty() {
                payload.again = again;
                state.on_air(now, again);
            }
            if !payload.new.is_empty() {
                state.sent_new(payload.new.octets());
                state.on_air(now, payload.new);
            }
        }
        (payload.count > 0 || !again.is_empty()).then_some(payload)
    }

    /// Takes what is due again, as far as it fits.
    fn pull_again(&mut self, room: &mut u32) -> Span {
        let Some(state) = &mut self.acknowledged else {
            return Span::default();
        };
        let Some(span) = state.next_again() else {
            return Span::default();
        };
        let mut at = span.from;
        let first = self.sdus.partition_point(|sdu| sdu.end() <= at);
        for sdu in self.sdus.range(first..) {
            let left = span.to.min(sdu.end()).saturating_sub(at) as u32;
            let whole = at == sdu.start && left == sdu.octets;
            let header = match at == sdu.start {
                true => self.headers.of(whole, left, *room),
                false => self.headers.later,
            };
            let part = left.min(room.saturating_sub(MAC_SUBHEADER + header));
            if part == 0 {
                break;
            }
            *room -= part + MAC_SUBHEADER + header;
            at += u64::from(part);
            self.counters.retx_pdus += 1;
            self.counters.retx_pdu_octets += u64::from(part + header);
        }
        state.sent_again(at - span.from);
        Span { to: at, ..span }
    }

    /// Takes what waits, as far as it fits.
    fn pull_new(&mut self, now: u64, mut room: u32) -> Payload {
        let mut payload = Payload::default();
        while let Some(sdu) = self.sdus.get_mut((self.next - self.base) as usize) {
            let whole = sdu.unsent == sdu.octets;
            let header = self.headers.of(whole, sdu.unsent, room);
            let part = sdu.unsent.min(room.saturating_sub(MAC_SUBHEADER + header));
            if part == 0 {
                break;
            }
            if payload.count == 0 {
                let from = sdu.end() - u64::from(sdu.unsent);
                payload.first = self.next;
                payload.first_octets = part;
                payload.new = Span { from, to: from };
            }
            sdu.unsent -= part;
            room -= part + MAC_SUBHEADER + header;
            self.waiting_octets -= u64::from(part);
            self.counters.sent_pdus += 1;
            self.counters.sent_pdu_octets += u64::from(part + header);
            self.counters.segments += u64::from(part < sdu.octets);
            payload.count += 1;
            payload.last_octets = part;
            payload.new.to += u64::from(part);
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

    /// Time has come to slot `now`: status reports are made and arrive. Nothing to do in unacknowledged mode.
    pub fn advance(&mut self, now: u64) {
        if let Some(state) = &mut self.acknowledged {
            state.advance(now);
            let kept = state.kept_from();
            while self
                .sdus
                .front()
                .is_some_and(|sdu| sdu.unsettled == 0 && sdu.end() <= kept)
            {
                self.sdus.pop_front();
                self.base += 1;
            }
        }
    }

    /// HARQ has settled a transport block: reports the packets whose fate is thereby known, in their order
    /// within the block.
    pub fn settle(&mut self, payload: Payload, fate: Fate, report: impl FnMut(Departure)) {
        match (&self.acknowledged, fate) {
            (None, _) => self.settle_unacknowledged(payload, fate, report),
            (Some(_), Fate::Delivered) => self.receive(payload, report),
            // The UE will miss it, and say so.
            (Some(_), Fate::Lost) => {}
        }
    }

    /// The UE has received a block in acknowledged mode.
    fn receive(&mut self, payload: Payload, mut report: impl FnMut(Departure)) {
        let Some(state) = &mut self.acknowledged else {
            return;
        };
        let (sdus, counters, base) = (&mut self.sdus, &mut self.counters, self.base);
        for span in [payload.again, payload.new] {
            state.receive(span, |fresh| {
                let mut index = sdus.partition_point(|sdu| sdu.end() <= fresh.from);
                while let Some(sdu) = sdus.get_mut(index)
                    && sdu.start < fresh.to
                {
                    let part = sdu.end().min(fresh.to) - sdu.start.max(fresh.from);
                    sdu.unsettled -= part as u32;
                    if sdu.unsettled == 0 {
                        counters.delivered_sdus += 1;
                        counters.delivered_octets += u64::from(sdu.octets);
                        report(sdu.departure(base + index as u64, Fate::Delivered));
                    }
                    index += 1;
                }
            });
        }
    }

    fn settle_unacknowledged(
        &mut self,
        payload: Payload,
        fate: Fate,
        mut report: impl FnMut(Departure),
    ) {
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
            report(sdu.departure(payload.first + u64::from(i), fate));
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
        assert_eq!(queue.pull(0, MAC_SUBHEADER + UM_HEADERS.first), None);
        assert_eq!(queue.waiting_octets(), 103);
    }
}
