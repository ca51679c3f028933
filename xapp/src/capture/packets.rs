//! Packets of a pcap or pcapng file, down to the SCTP user messages in them.

use super::{
    Direction, Error, Pdu, Place, Skipped,
    link::{self, Packet},
    sctp::{Message, Sctp},
};
use pcap_file::{
    DataLink, PcapError,
    pcap::PcapReader,
    pcapng::{
        PcapNgReader,
        blocks::{
            Block,
            interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption},
        },
    },
};
use std::{
    collections::VecDeque,
    io::{BufRead, Read},
    time::Duration,
};

enum File {
    Pcap(PcapReader<Box<dyn Read>>),
    PcapNg(PcapNgReader<Box<dyn Read>>),
}

/// A packet file and what of its messages is not whole yet.
pub(super) struct Packets {
    file: File,
    number: u64,
    ended: bool,
    sctp: Sctp,
    ready: VecDeque<Pdu>,
    skipped: Skipped,
}

struct Frame {
    time: Option<Duration>,
    link: DataLink,
    octets: Vec<u8>,
}

impl Packets {
    pub(super) fn open(mut input: Box<dyn BufRead>) -> Result<Self, Error> {
        let next_generation = input.fill_buf()?.first() == Some(&0x0a);
        let reader: Box<dyn Read> = Box::new(input);
        let file = if next_generation {
            PcapNgReader::new(reader).map(File::PcapNg)
        } else {
            PcapReader::new(reader).map(File::Pcap)
        };
        Ok(Self {
            file: file.map_err(|e| error(0, &e))?,
            number: 0,
            ended: false,
            sctp: Sctp::default(),
            ready: VecDeque::new(),
            skipped: Skipped::new(),
        })
    }

    pub(super) fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    pub(super) fn next(&mut self) -> Option<Result<Pdu, Error>> {
        while self.ready.is_empty() && !self.ended {
            match self.file.next_frame() {
                Some(Ok(frame)) => {
                    self.number += 1;
                    self.take(&frame);
                }
                Some(Err(e)) => {
                    self.ended = true;
                    return Some(Err(error(self.number, &e)));
                }
                None => self.ended = true,
            }
        }
        self.ready.pop_front().map(Ok)
    }

    fn take(&mut self, frame: &Frame) {
        let packet = match link::sctp_packet(frame.link, &frame.octets) {
            Ok(packet) => packet,
            Err(why) => return self.skip(why),
        };
        let Packet {
            source,
            destination,
            ..
        } = packet;
        let mut messages = Vec::new();
        if let Err(why) = self.sctp.packet(&packet, &mut messages) {
            self.skip(why);
        }
        for message in messages {
            let Message {
                association,
                ports,
                payload_protocol,
                octets,
            } = message;
            self.ready.push_back(Pdu {
                place: Place::Packet(self.number),
                time: frame.time,
                association,
                direction: Direction::of_ports(ports.0, ports.1),
                route: Some(format!("{source}:{} > {destination}:{}", ports.0, ports.1)),
                payload_protocol: Some(payload_protocol),
                octets,
            });
        }
    }

    fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }
}

impl File {
    fn next_frame(&mut self) -> Option<Result<Frame, PcapError>> {
        match self {
            Self::Pcap(reader) => {
                let header = reader.header();
                // Raw: the crate's checked form refuses packets above the snap length, which some tools write.
                let packet = match reader.next_raw_packet()? {
                    Ok(packet) => packet,
                    Err(e) => return Some(Err(e)),
                };
                let per_second = match header.ts_resolution {
                    pcap_file::TsResolution::MicroSecond => 1_000_000,
                    pcap_file::TsResolution::NanoSecond => 1_000_000_000,
                };
                Some(Ok(Frame {
                    time: Some(
                        Duration::from_secs(packet.ts_sec.into())
                            + fraction(packet.ts_frac.into(), per_second),
                    ),
                    link: header.datalink,
                    octets: packet.data.into_owned(),
                }))
            }
            Self::PcapNg(reader) => loop {
                let block = match reader.next_block()? {
                    Ok(block) => block.into_owned(),
                    Err(e) => return Some(Err(e)),
                };
                let (interface, ticks, octets) = match block {
                    Block::EnhancedPacket(b) => {
                        (b.interface_id, Some(b.timestamp.as_nanos()), b.data)
                    }
                    Block::SimplePacket(b) => (0, None, b.data),
                    _ => continue,
                };
                let Some(interface) = reader.interfaces().get(interface as usize) else {
                    return Some(Err(PcapError::InvalidInterfaceId(interface)));
                };
                return Some(Ok(Frame {
                    time: ticks.map(|t| fraction(t, ticks_per_second(interface))),
                    link: interface.linktype,
                    octets: octets.into_owned(),
                }));
            },
        }
    }
}

/// The crate takes every time stamp for nanoseconds; the unit is an option of the interface, microseconds without it.
fn ticks_per_second(interface: &InterfaceDescriptionBlock<'_>) -> u64 {
    const MICROSECONDS: u64 = 1_000_000;
    let resolution = interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(resolution) => Some(*resolution),
        _ => None,
    });
    match resolution {
        None => MICROSECONDS,
        Some(power) if power & 0x80 != 0 => 1u64
            .checked_shl((power & 0x7f).into())
            .unwrap_or(MICROSECONDS),
        Some(power) => 10u64.checked_pow(power.into()).unwrap_or(MICROSECONDS),
    }
}

fn fraction(ticks: u128, per_second: u64) -> Duration {
    let per_second = u128::from(per_second.max(1));
    let nanos = ticks % per_second * 1_000_000_000 / per_second;
    Duration::from_secs(u64::try_from(ticks / per_second).unwrap_or(u64::MAX))
        + Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

fn error(packet: u64, cause: &PcapError) -> Error {
    Error::Pcap {
        packet,
        cause: cause.to_string(),
    }
}
