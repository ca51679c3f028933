//! A TCP-like transport in virtual time: what congestion control needs around it, and no more.
//!
//! Data travels in numbered segments; a lost one is sent again under its number. No handshake, no receive window, no
//! wire format. Time is an argument everywhere.
//!
//! - [`sender`]: window, pacing, recovery, timeout; calls a [`crate::senders::CongestionControl`].
//! - [`scoreboard`]: what is outstanding, delivered or lost.
//! - [`rate_sample`]: delivery rate; [`rtt`]: smoothed round-trip time and timeout.
//! - [`receiver`]: acknowledgements with SACK blocks, delayed.

pub(crate) mod ranges;
pub mod rate_sample;
pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod sender;

/// SACK blocks that fit beside a timestamp option (RFC 2018 section 3).
pub const SACK_BLOCKS: usize = 3;

/// IPv4 and TCP headers with timestamps.
pub const DATA_HEADER: u32 = 20 + 32;

/// A data segment on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment in the stream.
    pub seq: u64,
    /// Payload, octets.
    pub len: u32,
}

/// An acknowledgement on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// All segments below this number have arrived.
    pub cumulative: u64,
    blocks: [(u64, u64); SACK_BLOCKS],
    count: u8,
}

impl Acknowledgement {
    /// Ranges of segments [start, end) above `cumulative` that have arrived, the one that grew last first.
    pub fn blocks(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Adds a SACK block; a fourth does not fit.
    fn push(&mut self, block: (u64, u64)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = block;
            self.count += 1;
        }
    }

    /// Size on the wire: IPv4, TCP, timestamps and SACK blocks, octets.
    pub fn wire_octets(&self) -> u32 {
        let sack = match self.count {
            0 => 0,
            n => 4 + 8 * u32::from(n),
        };
        DATA_HEADER + sack
    }
}
