//! From a captured frame to the SCTP packet in it: link layer and IP headers.

use pcap_file::DataLink;
use std::net::IpAddr;

/// An SCTP packet and the addresses it travelled between.
#[derive(Debug)]
pub(super) struct Packet<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) octets: &'a [u8],
}

const SCTP: u8 = 132;
const TRUNCATED: &str = "truncated packet";
const NOT_IP: &str = "not IP";
const NOT_SCTP: &str = "not SCTP";

/// The SCTP packet in a frame, or what the frame is instead.
pub(super) fn sctp_packet(link: DataLink, frame: &[u8]) -> Result<Packet<'_>, &'static str> {
    let ip = match u32::from(link) {
        // LINKTYPE_NULL and LINKTYPE_LOOP: 4 octets of address family, whose values depend on the system.
        0 | 108 => frame.get(4..),
        1 => ethernet(frame, 12)?,
        // LINKTYPE_RAW as registered and as some systems write it, LINKTYPE_IPV4, LINKTYPE_IPV6.
        12 | 14 | 101 | 228 | 229 => Some(frame),
        // LINKTYPE_LINUX_SLL: the protocol is in octets 14 and 15 of 16.
        113 => ethernet(frame, 14)?,
        // LINKTYPE_LINUX_SLL2: the protocol comes first, the packet after 20 octets.
        276 => frame.get(20..),
        _ => return Err("unknown link type"),
    };
    internet(ip.ok_or(TRUNCATED)?)
}

/// What follows the EtherType at `at`, beyond VLAN tags (IEEE 802.1Q); IP or not is told by its version field.
fn ethernet(frame: &[u8], mut at: usize) -> Result<Option<&[u8]>, &'static str> {
    loop {
        match frame.get(at..at + 2) {
            Some([0x81, 0x00] | [0x88, 0xa8] | [0x91, 0x00]) => at += 4,
            Some([0x08, 0x00] | [0x86, 0xdd]) => return Ok(frame.get(at + 2..)),
            Some(_) => return Err(NOT_IP),
            None => return Err(TRUNCATED),
        }
    }
}

fn internet(packet: &[u8]) -> Result<Packet<'_>, &'static str> {
    match packet.first().ok_or(TRUNCATED)? >> 4 {
        4 => ipv4(packet),
        6 => ipv6(packet),
        _ => Err(NOT_IP),
    }
}

/// RFC 791 section 3.1.
fn ipv4(packet: &[u8]) -> Result<Packet<'_>, &'static str> {
    let (header, _) = packet.split_first_chunk::<20>().ok_or(TRUNCATED)?;
    let header_length = usize::from(header[0] & 0x0f) * 4;
    let mut total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if total == 0 {
        // Segmentation offload: the length was to be filled in by the network card.
        total = packet.len();
    }
    if header[9] != SCTP {
        return Err(NOT_SCTP);
    }
    let fragment = u16::from_be_bytes([header[6], header[7]]);
    if fragment & 0x3fff != 0 {
        return Err("IP fragment");
    }
    let address =
        |at: usize| IpAddr::from([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    Ok(Packet {
        source: address(12),
        destination: address(16),
        octets: packet.get(header_length.max(20)..total).ok_or(TRUNCATED)?,
    })
}

/// RFC 8200 section 3; extension headers are walked through.
fn ipv6(packet: &[u8]) -> Result<Packet<'_>, &'static str> {
    let (header, rest) = packet.split_first_chunk::<40>().ok_or(TRUNCATED)?;
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let mut payload = rest.get(..length).ok_or(TRUNCATED)?;
    let mut next = header[6];
    while next != SCTP {
        let extension_length = match (next, payload) {
            // Hop-by-hop options, routing, destination options.
            (0 | 43 | 60, [_, length, ..]) => (usize::from(*length) + 1) * 8,
            (44, _) => return Err("IP fragment"),
            (0 | 43 | 60, _) => return Err(TRUNCATED),
            _ => return Err(NOT_SCTP),
        };
        next = payload[0];
        payload = payload.get(extension_length..).ok_or(TRUNCATED)?;
    }
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&header[at..at + 16]);
        IpAddr::from(octets)
    };
    Ok(Packet {
        source: address(8),
        destination: address(24),
        octets: payload,
    })
}
