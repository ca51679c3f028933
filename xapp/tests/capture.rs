//! PDUs come out of every kind of recording, whole and once, and nonsense never panics.

use flate2::{Compression, write::GzEncoder};
use std::io::{Cursor, Write};
use xapp::capture::{Capture, Direction, Framing, Pdu, Place};

const RIC: u16 = 36421;
const NODE: u16 = 41000;

fn read(bytes: Vec<u8>) -> Vec<Pdu> {
    let mut capture = Capture::open(Cursor::new(bytes), Framing::E2ap).unwrap();
    let pdus = capture.by_ref().collect::<Result<_, _>>().unwrap();
    assert!(capture.skipped().is_empty(), "{:?}", capture.skipped());
    pdus
}

/// A DATA chunk; `flags`: 3 whole, 2 first, 0 middle, 1 last.
fn data(flags: u8, tsn: u32, octets: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0, flags];
    chunk.extend(u16::try_from(16 + octets.len()).unwrap().to_be_bytes());
    chunk.extend(tsn.to_be_bytes());
    chunk.extend([0, 0, 0, 0, 0, 0, 0, 70]);
    chunk.extend(octets);
    chunk.resize(chunk.len().next_multiple_of(4), 0);
    chunk
}

/// An I-DATA chunk (RFC 8260): the last word is the payload protocol in the first fragment, the fragment number in others.
fn i_data(flags: u8, tsn: u32, message: u32, last_word: u32, octets: &[u8]) -> Vec<u8> {
    let mut chunk = vec![64, flags];
    chunk.extend(u16::try_from(20 + octets.len()).unwrap().to_be_bytes());
    for word in [tsn, 0, message, last_word] {
        chunk.extend(word.to_be_bytes());
    }
    chunk.extend(octets);
    chunk.resize(chunk.len().next_multiple_of(4), 0);
    chunk
}

fn sctp(from: u16, to: u16, tag: u32, chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut packet = Vec::new();
    packet.extend(from.to_be_bytes());
    packet.extend(to.to_be_bytes());
    packet.extend(tag.to_be_bytes());
    packet.extend([0; 4]);
    packet.extend(chunks.concat());
    packet
}

fn ipv4(payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend(u16::try_from(20 + payload.len()).unwrap().to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 132, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend(payload);
    packet
}

/// With a destination options header in between.
fn ipv6(payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(u16::try_from(8 + payload.len()).unwrap().to_be_bytes());
    packet.extend([60, 64]);
    packet.extend([0xfd; 32]);
    packet.extend([132, 0, 1, 4, 0, 0, 0, 0]);
    packet.extend(payload);
    packet
}

fn pcap(link: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 262_144, link] {
        file.extend(word.to_le_bytes());
    }
    for (second, frame) in (1u32..).zip(frames) {
        let length = u32::try_from(frame.len()).unwrap();
        for word in [second, 500_000, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// The same frames in a pcapng whose interface counts nanoseconds.
fn pcapng(link: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(12 + body.len()).unwrap();
        file.extend(kind.to_le_bytes());
        file.extend(length.to_le_bytes());
        file.extend(body);
        file.extend(length.to_le_bytes());
    };
    let mut section = 0x1a2b_3c4du32.to_le_bytes().to_vec();
    section.extend([1, 0, 0, 0]);
    section.extend([0xff; 8]);
    block(0x0a0d_0d0a, &section);
    let mut interface = link.to_le_bytes().to_vec();
    // No snap length; if_tsresol (option 9) = 10⁻⁹; end of options.
    interface.extend([0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    block(1, &interface);
    for (second, frame) in (1u64..).zip(frames) {
        let nanos = second * 1_000_000_000 + 500_000_000;
        let length = u32::try_from(frame.len()).unwrap();
        let mut packet = 0u32.to_le_bytes().to_vec();
        packet.extend(u32::try_from(nanos >> 32).unwrap().to_le_bytes());
        packet.extend((nanos as u32).to_le_bytes());
        packet.extend(length.to_le_bytes());
        packet.extend(length.to_le_bytes());
        packet.extend(frame);
        packet.resize(packet.len().next_multiple_of(4), 0);
        block(6, &packet);
    }
    file
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_link_layer_and_file_format() {
    let payload = sctp(NODE, RIC, 9, &[data(3, 1, b"hello")]);
    for ip in [ipv4(&payload), ipv6(&payload)] {
        let kind: &[u8] = if ip[0] >> 4 == 4 {
            &[8, 0]
        } else {
            &[0x86, 0xdd]
        };
        let with = |head: &[&[u8]]| vec![[head.concat(), ip.clone()].concat()];
        let frames = [
            (0, with(&[&[2, 0, 0, 0]])),
            (1, with(&[&[0; 12], kind])),
            (1, with(&[&[0; 12], &[0x81, 0, 0, 7], kind])),
            (101, with(&[])),
            (113, with(&[&[0; 14], kind])),
            (276, with(&[kind, &[0; 18]])),
        ];
        for (link, frames) in frames {
            let ng = pcapng(u16::try_from(link).unwrap(), &frames);
            for file in [pcap(link, &frames), ng, gzip(&pcap(link, &frames))] {
                let pdus = read(file);
                assert_eq!(pdus.len(), 1, "link type {link}");
                assert_eq!(pdus[0].octets, b"hello");
                assert_eq!(pdus[0].direction, Some(Direction::NodeToRic));
                assert_eq!(pdus[0].payload_protocol, Some(70));
                assert_eq!(pdus[0].time.unwrap().as_millis(), 1500);
                assert_eq!(pdus[0].place, Place::Packet(1));
            }
        }
    }
}

/// Fragments in any order, across a TSN wrap, with a retransmission and another message among them.
#[test]
fn messages_are_put_together_once() {
    let last = u32::MAX;
    let frames = [
        sctp(NODE, RIC, 9, &[data(0, 0, b"-two-"), data(1, 1, b"three")]),
        sctp(RIC, NODE, 8, &[data(3, 0, b"answer")]),
        sctp(NODE, RIC, 9, &[data(0, 0, b"-two-")]),
        sctp(
            NODE,
            RIC,
            9,
            &[data(2, last, b"one"), data(3, 2, b"single")],
        ),
        sctp(
            NODE,
            RIC,
            9,
            &[data(2, last, b"one"), data(3, 2, b"single")],
        ),
    ]
    .map(|packet| ipv4(&packet));
    let octets: Vec<_> = read(pcap(101, &frames))
        .into_iter()
        .map(|pdu| pdu.octets)
        .collect();
    assert_eq!(octets, [&b"answer"[..], b"one-two-three", b"single"]);
}

#[test]
fn interleaved_messages_are_told_apart() {
    let packet = sctp(
        NODE,
        RIC,
        9,
        &[
            i_data(2, 1, 5, 70, b"a1"),
            i_data(2, 2, 6, 71, b"b1"),
            i_data(1, 3, 6, 1, b"b2"),
            i_data(0, 4, 5, 1, b"a2"),
            i_data(1, 5, 5, 2, b"a3"),
        ],
    );
    let pdus = read(pcap(101, &[ipv4(&packet)]));
    let found: Vec<_> = pdus
        .iter()
        .map(|pdu| (pdu.payload_protocol, &pdu.octets[..]))
        .collect();
    assert_eq!(found, [(Some(71), &b"b1b2"[..]), (Some(70), b"a1a2a3")]);
}

/// A node that comes back from the same port has a new association: nothing of the old one is taken for its own.
#[test]
fn a_new_init_is_a_new_association() {
    let init = |tag: u32| {
        let mut chunk = vec![1, 0, 0, 20];
        chunk.extend(tag.to_be_bytes());
        chunk.extend([0; 12]);
        sctp(NODE, RIC, 0, &[chunk])
    };
    let frames = [
        init(1),
        sctp(NODE, RIC, 5, &[data(3, 1, b"first")]),
        init(1),
        sctp(NODE, RIC, 5, &[data(3, 2, b"same")]),
        init(2),
        sctp(NODE, RIC, 6, &[data(3, 1, b"second")]),
    ]
    .map(|packet| ipv4(&packet));
    let associations: Vec<_> = read(pcap(101, &frames))
        .iter()
        .map(|pdu| pdu.association)
        .collect();
    assert_eq!(associations, [0, 0, 1]);
}

#[test]
fn what_is_no_sctp_is_counted() {
    let mut udp = ipv4(b"x");
    udp[9] = 17;
    let cut = ipv4(&sctp(NODE, RIC, 1, &[data(3, 1, b"hello")]))[..40].to_vec();
    let mut capture = Capture::open(Cursor::new(pcap(101, &[udp, cut])), Framing::E2ap).unwrap();
    assert!(capture.next().is_none());
    assert_eq!(capture.skipped()["not SCTP"], 1);
    assert_eq!(capture.skipped()["truncated packet"], 1);
}

#[test]
fn a_recorders_stream() {
    let text = "{\"t\": 12.25, \"dir\": \"node>ric\", \"hex\": \"0001\"}\n\n{\"t\":13,\"dir\":\"ric>node\",\"hex\":\"02\"}\n";
    for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
        let pdus = read(bytes);
        assert_eq!(pdus[0].octets, [0, 1]);
        assert_eq!(pdus[0].time.unwrap().as_millis(), 12_250);
        assert_eq!(pdus[1].direction, Some(Direction::RicToNode));
        assert_eq!(pdus[1].place, Place::Line(3));
    }
}

#[test]
fn a_bad_line_is_named_and_passed_over() {
    let text = "{\"hex\": \"0001\"}\n{\"hex\": \"0x0g\"}\n{\"t\": -1, \"hex\": \"00\"}\n{\"hex\": \"03\"}\n";
    let results: Vec<_> = Capture::open(Cursor::new(text), Framing::E2ap)
        .unwrap()
        .collect();
    assert!(results[0].is_ok() && results[3].is_ok());
    assert!(
        results[1]
            .as_ref()
            .unwrap_err()
            .to_string()
            .starts_with("line 2")
    );
    assert!(
        results[2]
            .as_ref()
            .unwrap_err()
            .to_string()
            .starts_with("line 3")
    );
}

#[test]
fn hex_in_the_shapes_people_have() {
    // Two PDUs, the first wrapped over two lines; its fourth octet says that 6 more follow.
    let text = "# a comment\n0x00:08:00:06 0a\n0b0c0d0e0f\n\n20010003aabbcc # another\n";
    let pdus = read(text.into());
    assert_eq!(pdus[0].octets, [0, 8, 0, 6, 10, 11, 12, 13, 14, 15]);
    assert_eq!((pdus[1].octets[0], pdus[1].place), (0x20, Place::Line(5)));
    let binary = vec![0, 8, 0, 2, 0xff, 0xfe];
    assert_eq!(read(binary.clone())[0].octets, binary);
    let whole = Capture::open(Cursor::new("0001\n0203"), Framing::Whole)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(whole.octets, [0, 1, 2, 3]);
    let error = Capture::open(Cursor::new("00\n0 zz"), Framing::E2ap)
        .unwrap()
        .nth(1)
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2, column 3: 'z' is not a hex digit"
    );
}

/// Every truncation, and every octet changed in three ways: errors or fewer PDUs, never a panic or an endless loop.
#[test]
fn an_endless_input_ends_with_an_error() {
    let error = Capture::open(std::io::repeat(b'0'), Framing::E2ap).unwrap_err();
    assert!(error.to_string().contains("64 MiB"), "{error}");
}

#[test]
fn mutants_do_no_harm() {
    let frames = [
        ipv4(&sctp(
            NODE,
            RIC,
            9,
            &[data(2, 1, b"one"), data(1, 2, b"two")],
        )),
        ipv6(&sctp(NODE, RIC, 9, &[i_data(3, 3, 1, 70, b"x")])),
    ];
    for file in [pcap(101, &frames), pcapng(101, &frames)] {
        let count = |bytes: Vec<u8>| match Capture::open(Cursor::new(bytes), Framing::E2ap) {
            Ok(capture) => capture.take(100).count(),
            Err(_) => 0,
        };
        for end in 0..file.len() {
            assert!(count(file[..end].to_vec()) <= 4);
        }
        for at in 0..file.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut mutant = file.clone();
                mutant[at] ^= change;
                assert!(count(mutant) < 100, "octet {at} ^ {change:#x}");
            }
        }
    }
}
