//! Octets that are wrong, many, or random.

use std::sync::LazyLock;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

const GNB: &str = "oai/oai_e2_setup_req";

/// The octets of a PDU whose container has one more IE, of an id that nobody knows.
fn with_unknown_ie(octets: &[u8], criticality: u8) -> Vec<u8> {
    let (frame, message) = octets.split_at(3);
    // Open type lengths up to 16,383 take one or two octets.
    let message = if message[0] & 0x80 == 0 {
        &message[1..]
    } else {
        &message[2..]
    };
    let count = u16::from_be_bytes([message[1], message[2]]) + 1;
    let mut longer = vec![message[0]];
    longer.extend(count.to_be_bytes());
    longer.extend(&message[3..]);
    longer.extend([0x03, 0xe7, criticality, 0x01, 0x00]);
    let length = u16::try_from(longer.len()).unwrap() | 0x8000;
    [frame, &length.to_be_bytes(), &longer].concat()
}

const REJECT: u8 = 0x00;
const IGNORE: u8 = 0x40;
const NOTIFY: u8 = 0x80;

fn not_understood(diagnostics: Option<&CriticalityDiagnostics>) -> bool {
    diagnostics.is_some_and(|d| {
        d.ies
            .iter()
            .any(|ie| ie.id == 999 && ie.error == TypeOfError::NotUnderstood)
    })
}

fn bench_without_flexric() -> Bench {
    let mut bench = Bench::new();
    let Pdu::E2SetupRequest(mut request) = decode(&vector(GNB), Version::V2_03).unwrap().value
    else {
        panic!()
    };
    request.functions.truncate(1);
    bench.receive(Pdu::E2SetupRequest(request));
    bench.admit_all();
    bench.told();
    bench
}

#[test]
fn a_setup_with_an_ie_that_must_be_understood_fails_and_says_which() {
    let mut bench = Bench::new();
    bench.receive_octets(&with_unknown_ie(&vector(GNB), REJECT));
    let sent = bench.sent();
    let [Pdu::E2SetupFailure(failure)] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    assert_eq!(
        failure.cause,
        Cause::Protocol(ProtocolCause::AbstractSyntaxErrorReject)
    );
    assert!(not_understood(failure.diagnostics.as_ref()));
    assert!(bench.told().is_empty());
    bench.receive_octets(&vector(GNB));
    assert_eq!(bench.told()[0], "up");
}

#[test]
fn a_setup_with_an_ie_to_be_ignored_succeeds() {
    let mut bench = Bench::new();
    bench.receive_octets(&with_unknown_ie(&vector(GNB), IGNORE));
    assert!(matches!(bench.sent()[0], Pdu::E2SetupResponse(_)));
    assert_eq!(bench.count(|c| &c.items_skipped), 1);
}

#[test]
fn a_setup_without_its_functions_fails_and_says_what_is_missing() {
    let mut bench = Bench::new();
    // TransactionID and GlobalE2node-ID only.
    let octets = hex::decode("00010016000002003100020000000300090005f51050000000010000").unwrap();
    bench.receive_octets(&octets[..26]);
    let sent = bench.sent();
    let [Pdu::E2SetupFailure(failure)] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    let missing: Vec<_> = failure
        .diagnostics
        .iter()
        .flat_map(|d| &d.ies)
        .map(|ie| ie.id)
        .collect();
    assert_eq!(missing, [10, 50]);
    assert!(failure.time_to_wait.is_some());
}

#[test]
fn an_indication_with_an_ie_that_must_be_understood_is_rejected_by_an_error_indication() {
    for (criticality, handed_on) in [(REJECT, false), (NOTIFY, true)] {
        let mut bench = bench_without_flexric();
        let request = RicRequestId {
            requestor: 1000,
            instance: 1,
        };
        let octets = encode(&indication(request, 2), Version::V2_03).unwrap();
        bench.receive_octets(&with_unknown_ie(&octets, criticality));
        let sent = bench.sent();
        let [Pdu::ErrorIndication(error)] = sent.as_slice() else {
            panic!("{sent:?}")
        };
        assert_eq!(error.request, Some(request));
        assert!(not_understood(error.diagnostics.as_ref()));
        assert_eq!(bench.told().len(), usize::from(handed_on));
    }
}

#[test]
fn octets_that_are_no_pdu_are_answered_with_an_error_indication_and_counted() {
    let mut bench = bench_without_flexric();
    bench.receive_octets(&[0xde, 0xad, 0xbe, 0xef]);
    assert!(matches!(&bench.sent()[..], [Pdu::ErrorIndication(_)]));
    assert_eq!(bench.count(|c| &c.pdus_undecodable), 1);
    assert_eq!(bench.session.finished(), None);
}

/// FlexRIC's agent does not implement ErrorIndication: it would abort, and the gNB with it.
#[test]
fn a_node_with_flexric_s_agent_is_spared_error_indications() {
    let mut bench = Bench::subscribed(GNB);
    bench.receive_octets(&[0xde, 0xad, 0xbe, 0xef]);
    bench.receive_octets(&vector("flexric/v2_e42_setup_req"));
    assert!(bench.sent().is_empty());
    assert_eq!(
        (
            bench.count(|c| &c.pdus_undecodable),
            bench.count(|c| &c.pdus_rejected)
        ),
        (1, 1)
    );
}

#[test]
fn errors_about_errors_are_not_answered() {
    let mut bench = bench_without_flexric();
    let error = vector("flexric/syn_error_indication");
    bench.receive_octets(&error);
    bench.receive_octets(&with_unknown_ie(&error, REJECT));
    bench.receive_octets(&error[..error.len() - 3]);
    assert!(bench.sent().is_empty());
}

#[test]
fn procedures_before_a_setup_or_in_the_wrong_direction_are_refused() {
    let mut bench = Bench::new();
    for name in [
        "flexric/syn_reset_req",
        "flexric/v2_e2_sub_req_mac",
        "flexric/v2_e42_setup_req",
    ] {
        bench.receive_octets(&vector(name));
        let sent = bench.sent();
        let [Pdu::ErrorIndication(error)] = sent.as_slice() else {
            panic!("{name}: {sent:?}")
        };
        assert_eq!(
            error.cause,
            Some(Cause::Protocol(
                ProtocolCause::MessageNotCompatibleWithReceiverState
            )),
            "{name}"
        );
    }
    assert!(bench.told().is_empty());
}

#[test]
fn who_floods_is_closed() {
    let floods: [&dyn Fn(&mut Bench); 3] = [
        &|bench| bench.receive_octets(&[0xff; 20]),
        &|bench| bench.receive_octets(&vector("flexric/syn_reset_req")),
        &|bench| {
            bench.receive(indication(
                RicRequestId {
                    requestor: 1,
                    instance: 1,
                },
                2,
            ))
        },
    ];
    for flood in floods {
        let mut bench = Bench::new();
        for _ in 0..1000 {
            flood(&mut bench);
        }
        assert!(bench.session.finished().is_some());
        assert!(bench.sent().len() <= 250);
    }
}

/// Captured PDUs of every kind, to be changed at random.
fn corpus() -> Vec<Vec<u8>> {
    ["flexric", "oai"]
        .iter()
        .flat_map(|folder| {
            std::fs::read_dir(format!(
                "{}/../tests/vectors/{folder}",
                env!("CARGO_MANIFEST_DIR")
            ))
            .unwrap()
        })
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hex"))
        .filter_map(|path| {
            hex::decode(
                std::fs::read_to_string(path)
                    .unwrap()
                    .split_whitespace()
                    .collect::<String>(),
            )
            .ok()
        })
        .filter(|octets| octets.len() < 4000)
        .collect()
}

#[derive(Clone, Debug)]
enum Step {
    /// A captured PDU with some octets changed, maybe cut.
    Captured {
        which: prop::sample::Index,
        changes: Vec<(prop::sample::Index, u8)>,
        cut: Option<prop::sample::Index>,
    },
    /// Anything.
    Octets(Vec<u8>),
    /// Time passes; the session is woken when it wants to be.
    Wait(u32),
    /// The answer that the oldest open request wants.
    Admit,
    Stop,
}

fn step() -> impl Strategy<Value = Step> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    prop_oneof![
        8 => (any::<prop::sample::Index>(), changes, prop::option::weighted(0.1, any::<prop::sample::Index>()))
            .prop_map(|(which, changes, cut)| Step::Captured { which, changes, cut }),
        1 => prop::collection::vec(any::<u8>(), 0..60).prop_map(Step::Octets),
        2 => (0u32..20_000).prop_map(Step::Wait),
        2 => Just(Step::Admit),
        1 => Just(Step::Stop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever a peer sends, in whatever order: no panic, and what comes out and is kept stays in proportion.
    #[test]
    fn any_sequence_is_survived_in_bounds(steps in prop::collection::vec(step(), 1..80)) {
        static CORPUS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(corpus);
        let mut bench = Bench::new();
        bench.receive_octets(&vector(GNB));
        let mut open = bench.sent();
        for step in steps {
            match step {
                Step::Captured { which, changes, cut } => {
                    let mut octets = which.get(&CORPUS).clone();
                    for (at, value) in changes {
                        let at = at.index(octets.len());
                        octets[at] = value;
                    }
                    if let Some(cut) = cut {
                        octets.truncate(cut.index(octets.len()));
                    }
                    bench.receive_octets(&octets);
                }
                Step::Octets(octets) => bench.receive_octets(&octets),
                Step::Wait(ms) => {
                    bench.now += Duration::from_millis(u64::from(ms));
                    if bench.session.next_timeout().is_some_and(|at| at <= bench.now) {
                        bench.session.time_out(bench.now);
                    }
                }
                Step::Admit => {
                    if let Some(Pdu::RicSubscriptionRequest(request)) = open.pop() {
                        bench.receive(admitted(&request));
                    }
                }
                Step::Stop => bench.session.stop(bench.now),
            }
            let sent: Vec<_> = std::iter::from_fn(|| bench.session.next_pdu()).collect();
            prop_assert!(sent.len() <= 4, "{} PDUs for one step", sent.len());
            prop_assert!(sent.iter().map(Vec::len).sum::<usize>() <= 64 * 1024);
            // Cantor's own PDUs are always well-formed.
            for octets in &sent {
                let version = bench.session.version.unwrap_or(Version::V2_03);
                open.push(decode(octets, version).unwrap().value);
            }
            prop_assert!(bench.events().len() <= 16);
        }
        bench.session.lost("end");
        let down = bench.events().iter().filter(|event| matches!(event, RanEvent::NodeDown { .. })).count();
        prop_assert!(down <= 1);
    }
}
