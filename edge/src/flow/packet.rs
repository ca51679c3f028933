//! Packets of a test flow.
//!
//! All numbers are big-endian. The common head:
//!
//! ```text
//!  octet  0   4  5     8        16
//!         +---+--+-----+---------+
//!         |mag|kd|zero | session |   magic "CFT1"; kind; session: random, chosen by the sender
//!         +---+--+-----+---------+
//! ```
//!
//! Kind 0, data, sender to receiver; padded with zeros to the size of the packet:
//! ```text
//!  16 sequence u64, from 0 · 24 send time i64, Unix time in µs
//! ```
//! Kind 1, end, sender to receiver, repeated until a report answers it: `16 packets sent u64 · 24 send time i64`.
//!
//! Kind 2, report, receiver to sender. Counts are since the session's begin, so that a lost report loses no
//! count; delays are of the packets since the last report:
//! ```text
//!  16 number u64, from 1 · 24 packets u64 · 32 octets of IP packets u64 · 40 lost packets u64 ·
//!  48 reordered packets u64 · 56 one-way delay in µs: mean u32, p99 u32, 0xFFFFFFFF: no packet ·
//!  64 send time of the newest packet i64 · 72 µs since its arrival u32 · 76 flags u32: 1 the end was seen
//! ```

/// First octets of every packet.
pub const MAGIC: [u8; 4] = *b"CFT1";
/// Octets of data and end packets at least.
pub const DATA_BYTES: usize = 32;
/// Octets of a report.
pub const REPORT_BYTES: usize = 80;

const NO_DELAY: u32 = u32::MAX;

/// A packet, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Payload.
    Data {
        /// Which flow.
        session: u64,
        /// Number of the packet, from 0.
        sequence: u64,
        /// Unix time in µs when it was sent.
        sent_us: i64,
    },
    /// The sender has finished.
    End {
        /// Which flow.
        session: u64,
        /// Data packets sent.
        packets: u64,
        /// Unix time in µs when it was sent.
        sent_us: i64,
    },
    /// What the receiver has seen.
    Report(Report),
}

/// What a receiver has seen of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which flow.
    pub session: u64,
    /// Number of the report, from 1.
    pub number: u64,
    /// Packets received, without duplicates.
    pub packets: u64,
    /// Octets of IP packets received.
    pub bytes: u64,
    /// Packets lost: numbers that were skipped and did not come yet.
    pub lost: u64,
    /// Packets that came after one of a higher number.
    pub reordered: u64,
    /// Mean and 99th percentile of the one-way delay since the last report, µs; `None`: no packet came.
    pub delay_us: Option<(u32, u32)>,
    /// Send time of the newest packet, Unix µs: with `held_us` the sender gets its round-trip time.
    pub newest_sent_us: i64,
    /// Time between the arrival of that packet and this report, µs.
    pub held_us: u32,
    /// The end packet was seen.
    pub ended: bool,
}

impl Packet {
    /// Decodes a packet; `None` if it is none of a test flow.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.take::<4>()? != MAGIC {
            return None;
        }
        let [kind, ..] = fields.take::<4>()?;
        let session = fields.u64()?;
        match kind {
            0 => Some(Self::Data {
                session,
                sequence: fields.u64()?,
                sent_us: fields.i64()?,
            }),
            1 => Some(Self::End {
                session,
                packets: fields.u64()?,
                sent_us: fields.i64()?,
            }),
            2 => Some(Self::Report(Report {
                session,
                number: fields.u64()?,
                packets: fields.u64()?,
                bytes: fields.u64()?,
                lost: fields.u64()?,
                reordered: fields.u64()?,
                delay_us: match (fields.u32()?, fields.u32()?) {
                    (NO_DELAY, _) => None,
                    delays => Some(delays),
                },
                newest_sent_us: fields.i64()?,
                held_us: fields.u32()?,
                ended: fields.u32()? & 1 != 0,
            })),
            _ => None,
        }
    }

    /// Writes the packet to the begin of `buffer` and returns its length. The rest of the buffer is left as it is.
    ///
    /// # Panics
    /// If the buffer has less than [`REPORT_BYTES`] octets ([`DATA_BYTES`] for data and end).
    pub fn encode(&self, buffer: &mut [u8]) -> usize {
        let (kind, session) = match self {
            Self::Data { session, .. } => (0, *session),
            Self::End { session, .. } => (1, *session),
            Self::Report(report) => (2, report.session),
        };
        let mut out = Writer { buffer, length: 0 };
        out.put(&MAGIC);
        out.put(&[kind, 0, 0, 0]);
        out.put(&session.to_be_bytes());
        match self {
            Self::Data {
                sequence: number,
                sent_us,
                ..
            }
            | Self::End {
                packets: number,
                sent_us,
                ..
            } => {
                out.put(&number.to_be_bytes());
                out.put(&sent_us.to_be_bytes());
            }
            Self::Report(report) => {
                for count in [
                    report.number,
                    report.packets,
                    report.bytes,
                    report.lost,
                    report.reordered,
                ] {
                    out.put(&count.to_be_bytes());
                }
                let (mean, p99) = report.delay_us.unwrap_or((NO_DELAY, NO_DELAY));
                out.put(&mean.to_be_bytes());
                out.put(&p99.to_be_bytes());
                out.put(&report.newest_sent_us.to_be_bytes());
                out.put(&report.held_us.to_be_bytes());
                out.put(&u32::from(report.ended).to_be_bytes());
            }
        }
        out.length
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_be_bytes)
    }
}

struct Writer<'a> {
    buffer: &'a mut [u8],
    length: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        self.buffer[self.length..end].copy_from_slice(bytes);
        self.length = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_layout_is_the_documented_one() {
        let mut buffer = [0; DATA_BYTES];
        let data = Packet::Data {
            session: 0x0102_0304_0506_0708,
            sequence: 9,
            sent_us: -2,
        };
        assert_eq!(data.encode(&mut buffer), DATA_BYTES);
        assert_eq!(&buffer[..8], b"CFT1\0\0\0\0");
        assert_eq!(buffer[8..16], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(buffer[16..24], [0, 0, 0, 0, 0, 0, 0, 9]);
        assert_eq!(buffer[24..32], [255, 255, 255, 255, 255, 255, 255, 254]);
    }

    proptest! {
        #[test]
        fn reports_come_back_as_they_were(
            (session, number, packets, bytes) in any::<(u64, u64, u64, u64)>(),
            (lost, reordered, newest_sent_us, held_us, ended) in any::<(u64, u64, i64, u32, bool)>(),
            delay_us in prop::option::of((0..NO_DELAY, any::<u32>())),
        ) {
            let report = Packet::Report(Report {
                session, number, packets, bytes, lost, reordered, delay_us, newest_sent_us, held_us, ended,
            });
            let mut buffer = [0; REPORT_BYTES];
            prop_assert_eq!(report.encode(&mut buffer), REPORT_BYTES);
            prop_assert_eq!(Packet::decode(&buffer), Some(report));
            for cut in 0..REPORT_BYTES {
                prop_assert_eq!(Packet::decode(&buffer[..cut]), None);
            }
        }

        #[test]
        fn any_octets_decode_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..100), kind in 0u8..5) {
            let mut packet = MAGIC.to_vec();
            packet.push(kind);
            packet.extend(&bytes);
            let _ = Packet::decode(&packet);
            let _ = Packet::decode(&bytes);
        }
    }
}
