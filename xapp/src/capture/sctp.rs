//! SCTP user messages out of captured packets (RFC 9260; I-DATA of RFC 8260).
//!
//! A capture sees each packet once at most, in any order, and perhaps not from the start: messages are put
//! together from their fragments as soon as all are there, and retransmitted chunks are told by their TSN.

use super::{MAX_PDU, link::Packet};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::IpAddr,
};

/// A user message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) association: u32,
    /// Source and destination port.
    pub(super) ports: (u16, u16),
    pub(super) payload_protocol: u32,
    pub(super) octets: Vec<u8>,
}

/// Octets of fragments kept per direction before the oldest are given up.
const MAX_PENDING: usize = 8 * MAX_PDU;
/// What a fragment costs beside its octets.
const FRAGMENT_OVERHEAD: usize = 64;
/// Fragments of one message: the longest PDU in pieces of half a kilobyte, which no path is too narrow for.
const MAX_FRAGMENTS: usize = 2 * MAX_PDU / 1024;
/// TSNs remembered per direction, to know retransmissions.
const MAX_TSNS: usize = 4096;
/// Directions and associations of one capture.
const MAX_DIRECTIONS: usize = 4096;

const DATA: u8 = 0;
const INIT: u8 = 1;
const I_DATA: u8 = 64;

const END: u8 = 0x01;
const BEGIN: u8 = 0x02;
const UNORDERED: u8 = 0x04;

type Endpoint = (IpAddr, u16);

/// State of all associations of a capture.
#[derive(Default)]
pub(super) struct Sctp {
    associations: HashMap<(Endpoint, Endpoint), Association>,
    count: u32,
    directions: HashMap<(Endpoint, Endpoint, u32), Sending>,
}

#[derive(Clone, Copy)]
struct Association {
    number: u32,
    initiate_tag: Option<u32>,
}

impl Sctp {
    /// Takes a packet; whole messages go to `out`.
    pub(super) fn packet(
        &mut self,
        packet: &Packet<'_>,
        out: &mut Vec<Message>,
    ) -> Result<(), &'static str> {
        const TRUNCATED: &str = "truncated SCTP packet";
        let (header, mut chunks) = packet.octets.split_first_chunk::<12>().ok_or(TRUNCATED)?;
        let ports = (
            u16::from_be_bytes([header[0], header[1]]),
            u16::from_be_bytes([header[2], header[3]]),
        );
        let tag = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let from = (packet.source, ports.0);
        let to = (packet.destination, ports.1);
        // The last octets of an Ethernet frame may be padding: less than a chunk header is not a chunk.
        while let Some((&[kind, flags, high, low], _)) = chunks.split_first_chunk::<4>() {
            let length = usize::from(u16::from_be_bytes([high, low]));
            let value = chunks.get(4..length).ok_or(TRUNCATED)?;
            match kind {
                INIT => self.init(from, to, value),
                DATA | I_DATA => {
                    let chunk = Chunk::parse(kind, flags, value).ok_or(TRUNCATED)?;
                    let association = self.association(from, to)?;
                    if self.directions.len() >= MAX_DIRECTIONS {
                        return Err("too many SCTP associations");
                    }
                    let sending = self.directions.entry((from, to, tag)).or_default();
                    if let Some((payload_protocol, octets)) = sending.chunk(chunk) {
                        out.push(Message {
                            association,
                            ports,
                            payload_protocol,
                            octets,
                        });
                    }
                }
                _ => {}
            }
            chunks = chunks.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        }
        Ok(())
    }

    fn association(&mut self, from: Endpoint, to: Endpoint) -> Result<u32, &'static str> {
        let pair = (from.min(to), from.max(to));
        if let Some(association) = self.associations.get(&pair) {
            return Ok(association.number);
        }
        if self.associations.len() >= MAX_DIRECTIONS {
            return Err("too many SCTP associations");
        }
        Ok(self.begin(pair, None))
    }

    /// A new association between endpoints that had one before gets a number of its own.
    fn init(&mut self, from: Endpoint, to: Endpoint, value: &[u8]) {
        let pair = (from.min(to), from.max(to));
        let initiate_tag = value.first_chunk().map(|tag| u32::from_be_bytes(*tag));
        let known = self.associations.get(&pair);
        let retransmitted = known.is_some_and(|a| a.initiate_tag == initiate_tag);
        if !retransmitted && (known.is_some() || self.associations.len() < MAX_DIRECTIONS) {
            self.begin(pair, initiate_tag);
        }
    }

    fn begin(&mut self, pair: (Endpoint, Endpoint), initiate_tag: Option<u32>) -> u32 {
        let number = self.count;
        self.count = self.count.saturating_add(1);
        self.associations.insert(
            pair,
            Association {
                number,
                initiate_tag,
            },
        );
        number
    }
}

/// Which numbers order the fragments of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Order {
    /// DATA: consecutive TSNs.
    Tsn,
    /// I-DATA: fragment numbers within a message of a stream.
    Fragment {
        stream: u16,
        unordered: bool,
        message: u32,
    },
}

struct Chunk<'a> {
    flags: u8,
    tsn: u32,
    order: Order,
    sequence: u32,
    payload_protocol: u32,
    data: &'a [u8],
}

impl<'a> Chunk<'a> {
    fn parse(kind: u8, flags: u8, value: &'a [u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(*value.get(at..)?.first_chunk()?));
        let tsn = word(0)?;
        if kind == DATA {
            return Some(Self {
                flags,
                tsn,
                order: Order::Tsn,
                sequence: tsn,
                payload_protocol: word(8)?,
                data: value.get(12..)?,
            });
        }
        // The last word is the payload protocol in the first fragment, the fragment's number in the others.
        let begins = flags & BEGIN != 0;
        Some(Self {
            flags,
            tsn,
            order: Order::Fragment {
                stream: u16::try_from(word(4)? >> 16).ok()?,
                unordered: flags & UNORDERED != 0,
                message: word(8)?,
            },
            sequence: if begins { 0 } else { word(12)? },
            payload_protocol: if begins { word(12)? } else { 0 },
            data: value.get(16..)?,
        })
    }
}

struct Fragment {
    flags: u8,
    payload_protocol: u32,
    data: Vec<u8>,
}

/// One direction of an association.
#[derive(Default)]
struct Sending {
    seen: HashSet<u32>,
    seen_order: VecDeque<u32>,
    fragments: HashMap<(Order, u32), Fragment>,
    pending: usize,
}

impl Sending {
    /// Takes a chunk; gives the message that it completes.
    fn chunk(&mut self, chunk: Chunk<'_>) -> Option<(u32, Vec<u8>)> {
        if !self.seen.insert(chunk.tsn) {
            return None;
        }
        self.seen_order.push_back(chunk.tsn);
        if self.seen_order.len() > MAX_TSNS
            && let Some(oldest) = self.seen_order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        if chunk.flags & (BEGIN | END) == BEGIN | END {
            return Some((chunk.payload_protocol, chunk.data.to_vec()));
        }
        let cost = chunk.data.len() + FRAGMENT_OVERHEAD;
        self.pending += cost;
        if self.pending > MAX_PENDING {
            self.fragments.clear();
            self.pending = cost;
        }
        let at = (chunk.order, chunk.sequence);
        self.fragments.insert(
            at,
            Fragment {
                flags: chunk.flags,
                payload_protocol: chunk.payload_protocol,
                data: chunk.data.to_vec(),
            },
        );
        self.assemble(at)
    }

    /// The message around a fragment, if all of it is there.
    fn assemble(&mut self, (order, sequence): (Order, u32)) -> Option<(u32, Vec<u8>)> {
        let first = self.walk(order, sequence, BEGIN, u32::wrapping_sub)?;
        let last = self.walk(order, sequence, END, u32::wrapping_add)?;
        let payload_protocol = self.fragments.get(&(order, first))?.payload_protocol;
        let mut message = Vec::new();
        let mut at = first;
        loop {
            let fragment = self.fragments.remove(&(order, at))?;
            self.pending = self
                .pending
                .saturating_sub(fragment.data.len() + FRAGMENT_OVERHEAD);
            message.extend_from_slice(&fragment.data);
            if at == last {
                break;
            }
            at = at.wrapping_add(1);
        }
        (message.len() <= MAX_PDU).then_some((payload_protocol, message))
    }

    /// From a fragment step by step to the one that bears `flag`; `None` if one is missing in between, or it is too far.
    fn walk(&self, order: Order, from: u32, flag: u8, step: fn(u32, u32) -> u32) -> Option<u32> {
        let mut at = from;
        for _ in 0..MAX_FRAGMENTS {
            if self.fragments.get(&(order, at))?.flags & flag != 0 {
                return Some(at);
            }
            at = step(at, 1);
        }
        None
    }
}
