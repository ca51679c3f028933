//! Whatever PDU there can be: encoded and decoded, it is itself again. Every message in every version.

mod messages;
mod types;

use std::collections::BTreeSet;

use e2sm::e2ap::{Pdu, Version, decode, encode};
use proptest::test_runner::{Config, TestRunner};

/// Cases of each message and version.
const CASES: u32 = 96;

#[test]
fn every_message_of_every_version_survives_encoding() {
    for version in Version::ALL {
        let mut names = BTreeSet::new();
        for strategy in messages::every(version) {
            let config = Config {
                cases: CASES,
                failure_persistence: None,
                ..Config::default()
            };
            let mut runner = TestRunner::new_with_rng(config, deterministic());
            let outcome = runner.run(&strategy, |pdu| {
                survives(&pdu, version);
                Ok(())
            });
            outcome.unwrap_or_else(|error| panic!("v{version}: {error}"));
            let example = proptest::strategy::Strategy::new_tree(&strategy, &mut runner).unwrap();
            names.insert(proptest::strategy::ValueTree::current(&example).name());
        }
        // All of ASN.1's messages that Pdu has, less E2 removal and the required delete in v1.01.
        assert_eq!(
            names.len(),
            if version == Version::V1_01 { 32 } else { 36 },
            "v{version}: {names:?}"
        );
    }
}

fn survives(pdu: &Pdu, version: Version) {
    let octets =
        encode(pdu, version).unwrap_or_else(|error| panic!("v{version}: {error}: {pdu:?}"));
    let decoded =
        decode(&octets, version).unwrap_or_else(|error| panic!("v{version}: {error}: {pdu:?}"));
    assert_eq!(decoded.value, *pdu, "v{version}");
    let notes = decoded.notes;
    assert_eq!(
        (
            notes.unknown_ie_count,
            notes.trailing_octets,
            notes.extension_additions
        ),
        (0, 0, 0),
        "{pdu:?}"
    );
    assert_eq!(
        encode(&decoded.value, version).unwrap(),
        octets,
        "v{version}"
    );
}

fn deterministic() -> proptest::test_runner::TestRng {
    proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha)
}
