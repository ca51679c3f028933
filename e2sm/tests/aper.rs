//! The PER runtime by itself: what is written is read alike, lengths are fragmented as X.691 says, errors know where.

use e2sm::aper::{BitString, DecodeErrorKind, Locate, Reader, Writer};
use e2sm::e2ap::{E2SetupRequest, Pdu, Version, decode, encode};
use proptest::prelude::*;

/// Writes and reads with a bit in front, so that alignment matters, and a number behind.
fn round_trip<T>(write: impl FnOnce(&mut Writer), read: impl FnOnce(&mut Reader<'_>) -> T) -> T {
    let mut w = Writer::new();
    w.bit(true);
    write(&mut w);
    w.bits(0x2a, 6);
    let octets = w.finish();
    let mut r = Reader::new(&octets);
    assert!(r.bit().unwrap());
    let value = read(&mut r);
    assert_eq!(r.bits(6).unwrap(), 0x2a);
    assert!(r.bits_left() < 8);
    value
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn whole_numbers_are_read_as_written(lo in 0u64..1000, width in 0u32..64, value: u64) {
        let hi = lo + (u64::MAX >> (63 - width) >> 1);
        let value = lo + value % (hi - lo + 1).max(1);
        let back = round_trip(|w| w.constrained(value, lo, hi).unwrap(), |r| r.constrained(lo, hi).unwrap());
        prop_assert_eq!(back, value);
        let back = round_trip(|w| w.semi_constrained(value, lo).unwrap(), |r| r.semi_constrained(lo).unwrap());
        prop_assert_eq!(back, value);
    }

    #[test]
    fn signed_numbers_are_read_as_written(value: i64, shift in 0u32..64) {
        let value = value >> shift;
        prop_assert_eq!(round_trip(|w| w.unconstrained(value), |r| r.unconstrained().unwrap()), value);
        let back = round_trip(|w| w.extensible(value, 1, 4095).unwrap(), |r| r.extensible(1, 4095).unwrap());
        prop_assert_eq!(back, value);
    }

    #[test]
    fn small_numbers_are_read_as_written(value: u32, shift in 0u32..32) {
        let value = value >> shift;
        prop_assert_eq!(round_trip(|w| w.small_number(value).unwrap(), |r| r.small_number().unwrap()), value);
    }

    #[test]
    fn bit_strings_are_read_as_written(octets in proptest::collection::vec(any::<u8>(), 0..64), cut in 0usize..8) {
        let length = (octets.len() * 8).saturating_sub(cut);
        let bits = BitString::new(octets, length).unwrap();
        let back = round_trip(|w| w.unbounded_bit_string(&bits).unwrap(), |r| r.unbounded_bit_string().unwrap());
        prop_assert_eq!(&back, &bits);
        if !bits.is_empty() {
            let back = round_trip(
                |w| w.extensible_bit_string(&bits, 1, 160).unwrap(),
                |r| r.extensible_bit_string(1, 160).unwrap(),
            );
            prop_assert_eq!(&back, &bits);
        }
    }

    #[test]
    fn reals_are_read_as_written(bits: u64) {
        let value = f64::from_bits(bits);
        let back = round_trip(|w| w.real(value).unwrap(), |r| r.real().unwrap());
        prop_assert!(back == value || back.is_nan() && value.is_nan());
    }
}

/// Lengths around every change of form: 128, 16K, its multiples, and the largest fragment.
#[test]
fn lengths_take_the_form_that_the_standard_gives_them() {
    const K16: usize = 16 * 1024;
    for (length, first) in [
        (0, vec![0x00]),
        (127, vec![0x7f]),
        (128, vec![0x80, 0x80]),
        (K16 - 1, vec![0xbf, 0xff]),
        (K16, vec![0xc1]),
        (K16 + 1, vec![0xc1]),
        (4 * K16 - 1, vec![0xc3]),
        (4 * K16, vec![0xc4]),
        (5 * K16, vec![0xc4]),
        (9 * K16 + 77, vec![0xc4]),
    ] {
        let octets: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
        let mut w = Writer::new();
        w.octet_string(&octets).unwrap();
        let written = w.finish();
        assert_eq!(written[..first.len()], first, "{length}");
        assert_eq!(
            Reader::new(&written).octet_string().unwrap(),
            octets,
            "{length}"
        );

        // The same as the contents of an open type, and as the count of a list.
        let mut w = Writer::new();
        w.open_type(|w| w.octet_string(&octets)).unwrap();
        let written = w.finish();
        let back = Reader::new(&written)
            .open_type(|r| Ok(r.octet_string()?.into_owned()))
            .unwrap();
        assert_eq!(back, octets, "{length}");
        let mut w = Writer::new();
        let item = |w: &mut Writer, octet: &u8| {
            w.bits(u64::from(*octet) & 7, 3);
            Ok(())
        };
        w.sequence_of(&octets, 0, u64::MAX, item).unwrap();
        let written = w.finish();
        let back = Reader::new(&written)
            .sequence_of(0, u64::MAX, 3, |r| r.bits(3))
            .unwrap();
        assert!(
            back.iter()
                .zip(&octets)
                .all(|(ours, octet)| *ours == u64::from(octet & 7)),
            "{length}"
        );
        assert_eq!(back.len(), length);
    }
    // A multiple of 16K ends with an empty fragment.
    let mut w = Writer::new();
    w.octet_string(&vec![7; K16]).unwrap();
    assert_eq!(w.finish().len(), 1 + K16 + 1);
}

#[test]
fn a_list_reserves_no_more_than_its_octets_can_hold() {
    // Announces 64K items of three bits in a fragment, with four octets behind it.
    let error = Reader::new(&[0xc4, 0, 0, 0, 0])
        .sequence_of(0, u64::MAX, 3, |r| r.bits(3))
        .unwrap_err();
    assert_eq!(
        *error.kind(),
        DecodeErrorKind::TooManyItems {
            count: 65536,
            left: 32
        }
    );
    // Fragments of no known size.
    let error = Reader::new(&[0xc5, 0]).octet_string().unwrap_err();
    assert_eq!(*error.kind(), DecodeErrorKind::BadFragment(0xc5));
}

#[test]
fn errors_name_the_octet_and_the_way_to_it() {
    let mut r = Reader::new(&[0b0010_0000]);
    let outer = r
        .sequence_of(0, 7, 1, |r| r.constrained(5, 12).at("item"))
        .at("list")
        .unwrap();
    assert_eq!(outer, [5]);

    let setup = setup_with_two_functions();
    let octets = encode(&Pdu::E2SetupRequest(setup), Version::V2_03).unwrap();
    // The octet behind the revision of the second function begins the length of its OID: let it be longer than the IE.
    let place = octets
        .windows(6)
        .rposition(|window| window == *b"second")
        .unwrap();
    let oid_length = place + 6 + 2 + 1;
    let mut broken = octets.clone();
    broken[oid_length] = 0xff;
    let error = decode(&broken, Version::V2_03).unwrap_err();
    assert_eq!(
        error.path(),
        "E2setupRequest / RANfunctionsAdded[1] / RANfunction-Item / ranFunctionOID"
    );
    assert!(
        (oid_length as u64..oid_length as u64 + 4).contains(&error.octet()),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with(&format!("octet {}", error.octet())),
        "{error}"
    );
}

fn setup_with_two_functions() -> E2SetupRequest {
    use e2sm::common::{GlobalGnbId, GnbId, Plmn};
    use e2sm::e2ap::{
        ComponentConfig, ComponentId, ComponentInterface, GlobalE2NodeId, RanFunction,
    };
    let function = |id, definition: &str| RanFunction {
        id,
        definition: definition.into(),
        revision: 1,
        oid: "1.3.6.1.4.1.53148.1.2.2.2".into(),
    };
    E2SetupRequest {
        transaction: 1,
        node: GlobalE2NodeId::Gnb {
            gnb: GlobalGnbId {
                plmn: Plmn([0, 0xf1, 0x10]),
                gnb: GnbId::Bits {
                    value: 0xe00,
                    length: 32,
                },
            },
            en_gnb: None,
            cu_up: None,
            du: Some(7),
        },
        functions: vec![function(2, "first"), function(142, "second")],
        components: vec![ComponentConfig {
            interface: ComponentInterface::F1,
            id: ComponentId::F1(7),
            request: vec![1],
            response: vec![2],
        }],
    }
}

#[test]
fn nodes_and_first_messages_are_told_apart() {
    let setup = setup_with_two_functions();
    assert_eq!(setup.node.to_string(), "gnb:001-01:00000e00/32:du:7");
    let pdu = Pdu::E2SetupRequest(E2SetupRequest {
        transaction: 0,
        components: Vec::new(),
        ..setup.clone()
    });
    let v1 = encode(&pdu, Version::V1_01).unwrap();
    assert_eq!(e2sm::e2ap::guess_version(&v1), Some(Version::V1_01));
    let v2 = encode(&Pdu::E2SetupRequest(setup), Version::V2_03).unwrap();
    assert_eq!(e2sm::e2ap::guess_version(&v2), Some(Version::V2_03));
    assert_eq!(e2sm::e2ap::guess_version(&[0, 5, 0x40, 0]), None);
}
