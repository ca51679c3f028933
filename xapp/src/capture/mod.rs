//! Recorded sessions: E2AP PDUs out of packet captures, recorder streams and hex text.
//!
//! What is told by its first octets, not by its name: gzip around anything else; pcap and pcapng; a recorder's
//! stream of JSON lines (`{"t": 1.5, "dir": "node>ric", "hex": "…"}`); hex text; and octets as they are.
//! Everything is bounded: a hostile file costs a message at most [`MAX_PDU`] octets and yields errors, not panics.

mod describe;
mod link;
mod packets;
pub mod payload;
mod sctp;
pub mod session;
mod stream;
mod text;

pub use describe::{Description, describe};
pub use text::{Framing, parse_hex};

use e2sm::e2ap::{E2_PORT, E42_PORT};
use packets::Packets;
use std::{
    collections::BTreeMap,
    fmt,
    io::{self, BufRead, BufReader, Read},
    time::Duration,
};

/// Longest PDU taken from a recording, in octets.
pub const MAX_PDU: usize = 1 << 20;
/// Longest hex text, in octets.
const MAX_TEXT: u64 = 64 << 20;

/// A recording cannot be read (further).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself. Its cause is part of the text, and so not a source.
    #[error("cannot read the recording: {0}")]
    Io(io::Error),
    /// The packet capture's own structure.
    #[error("after packet {packet}: not a whole pcap or pcapng file: {cause}")]
    Pcap {
        /// Number of the last good packet, from 1.
        packet: u64,
        /// What the reader says.
        cause: String,
    },
    /// A line of a recorder's stream.
    #[error(
        "line {line}: {cause}; expected {{\"t\": seconds, \"dir\": \"node>ric\", \"hex\": \"…\"}}"
    )]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong.
        cause: String,
    },
    /// Hex text.
    #[error("line {line}, column {column}: {found:?} is not a hex digit")]
    Hex {
        /// Number of the line, from 1.
        line: u64,
        /// Number of the character, from 1.
        column: usize,
        /// The character.
        found: char,
    },
    /// An input that is no recording, and too long for hex text or a PDU.
    #[error("neither a recording nor hex text of at most {} MiB", MAX_TEXT >> 20)]
    TooLong,
    /// Hex text with half an octet at its end.
    #[error("line {line}: an odd number of hex digits")]
    OddHex {
        /// Number of the line, from 1.
        line: u64,
    },
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Where in the recording a PDU was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Number of the packet that completed it, from 1 (as Wireshark counts).
    Packet(u64),
    /// Number of its first line, from 1.
    Line(u64),
    /// The whole input.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(n) => write!(f, "packet {n}"),
            Self::Line(n) => write!(f, "line {n}"),
            Self::Whole => f.write_str("input"),
        }
    }
}

/// Who speaks to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Direction {
    /// E2 node to near-RT RIC.
    #[serde(rename = "node>ric")]
    NodeToRic,
    /// Near-RT RIC to E2 node.
    #[serde(rename = "ric>node")]
    RicToNode,
    /// xApp to FlexRIC's near-RT RIC (E42).
    #[serde(rename = "xapp>ric")]
    XAppToRic,
    /// FlexRIC's near-RT RIC to xApp (E42).
    #[serde(rename = "ric>xapp")]
    RicToXApp,
}

impl Direction {
    fn of_ports(source: u16, destination: u16) -> Option<Self> {
        match (source, destination) {
            (_, E2_PORT) => Some(Self::NodeToRic),
            (E2_PORT, _) => Some(Self::RicToNode),
            (_, E42_PORT) => Some(Self::XAppToRic),
            (E42_PORT, _) => Some(Self::RicToXApp),
            _ => None,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NodeToRic => "node>ric",
            Self::RicToNode => "ric>node",
            Self::XAppToRic => "xapp>ric",
            Self::RicToXApp => "ric>xapp",
        })
    }
}

/// A PDU as it was found in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdu {
    /// Where.
    pub place: Place,
    /// When, since the Unix epoch (or the recorder's).
    pub time: Option<Duration>,
    /// Which transport association of the recording, counted from 0 in the order of appearance.
    pub association: u32,
    /// Sender and receiver by role; `None` where ports do not tell.
    pub direction: Option<Direction>,
    /// Sender and receiver by address, e.g. `10.0.0.1:36421 > 10.0.0.2:41000`.
    pub route: Option<String>,
    /// SCTP payload protocol identifier.
    pub payload_protocol: Option<u32>,
    /// The PDU.
    pub octets: Vec<u8>,
}

/// What a recording holds besides PDUs, by kind: counts of packets that were passed over.
pub type Skipped = BTreeMap<&'static str, u64>;

/// An open recording: an iterator over its PDUs in the order of their arrival.
pub struct Capture {
    source: Source,
}

enum Source {
    Packets(Box<Packets>),
    Stream(stream::Stream),
    Text(text::Pdus),
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.source {
            Source::Packets(_) => "Capture(packets)",
            Source::Stream(_) => "Capture(stream)",
            Source::Text(_) => "Capture(text)",
        })
    }
}

impl Capture {
    /// Opens a recording of whatever kind; `framing` says how PDUs follow each other in hex text.
    ///
    /// # Errors
    /// When it cannot be read, or is not what its first octets promise.
    pub fn open(input: impl Read + 'static, framing: Framing) -> Result<Self, Error> {
        Self::detect(Box::new(BufReader::new(input)), framing, true)
    }

    fn detect(
        mut input: Box<dyn BufRead>,
        framing: Framing,
        may_be_zipped: bool,
    ) -> Result<Self, Error> {
        let head = input.fill_buf()?;
        let source = match head {
            [0x1f, 0x8b, ..] if may_be_zipped => {
                let unzipped = flate2::bufread::MultiGzDecoder::new(input);
                return Self::detect(Box::new(BufReader::new(unzipped)), framing, false);
            }
            [0x0a, 0x0d, 0x0d, 0x0a, ..]
            | [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..] => Source::Packets(Box::new(Packets::open(input)?)),
            _ if head.trim_ascii_start().starts_with(b"{") => {
                Source::Stream(stream::Stream::new(input))
            }
            _ => {
                let mut octets = Vec::new();
                input.take(MAX_TEXT + 1).read_to_end(&mut octets)?;
                if octets.len() as u64 > MAX_TEXT {
                    return Err(Error::TooLong);
                }
                Source::Text(text::pdus(octets, framing))
            }
        };
        Ok(Self { source })
    }

    /// What was passed over so far.
    pub fn skipped(&self) -> Skipped {
        match &self.source {
            Source::Packets(packets) => packets.skipped().clone(),
            Source::Stream(_) | Source::Text(_) => Skipped::new(),
        }
    }
}

impl Iterator for Capture {
    type Item = Result<Pdu, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            Source::Packets(packets) => packets.next(),
            Source::Stream(stream) => stream.next(),
            Source::Text(pdus) => pdus.next(),
        }
    }
}
