//! The sessions that were captured at real RICs, replayed through the fake one: it says what they said, octet for
//! octet, and ends where they ended.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use e2sm::e2ap::{Pdu, Version, decode, encode};
use e2sm::e42::E42SetupResponse;
use xapp::capture::{Capture, Direction, Framing, Pdu as Recorded};

use crate::core::Core;

/// What the fake made of a session.
#[derive(Default)]
struct Replayed {
    alike: usize,
    /// Said by the real RIC only.
    missing: Vec<String>,
    aborted: Option<String>,
    lost: Option<()>,
}

fn replay(name: &str) -> Replayed {
    let version = match &name[..2] {
        "v1" => Version::V1_01,
        "v2" => Version::V2_03,
        _ => Version::V3_01,
    };
    let mut core = match name {
        JOINED_LATE => joined_late(version),
        _ => Core::new(version),
    };
    let mut replayed = Replayed::default();
    let mut set_up = HashSet::new();
    let mut said: BTreeMap<u64, Vec<Pdu>> = BTreeMap::new();
    for pdu in recorded(name) {
        let association = u64::from(pdu.association);
        match pdu.direction.expect("a direction") {
            Direction::NodeToRic => {
                let message = said_by(&pdu.octets, version);
                if let Pdu::E2SetupRequest(setup) = &message
                    && !set_up.insert(setup.node.clone())
                {
                    // An agent sets up again because the RIC started again.
                    core = Core::new(version);
                }
                if name == LOSSY && message.request_id().is_some_and(|id| id.requestor == 1024) {
                    let lost = encode(&lost_request(), version).unwrap();
                    if replayed.lost.replace(()).is_none() {
                        core.hear_xapp(1, &lost);
                    }
                }
                core.hear_node(association, &pdu.octets);
            }
            Direction::XAppToRic => core.hear_xapp(association, &pdu.octets),
            Direction::RicToNode | Direction::RicToXApp => {
                // Indications overtake each other in the RIC's two threads.
                let queue = said.entry(association).or_default();
                let expected = said_by(&pdu.octets, version);
                match queue.iter().position(|said| *said == expected) {
                    Some(at) => {
                        queue.remove(at);
                        replayed.alike += 1;
                    }
                    None => replayed
                        .missing
                        .push(format!("{} {}", pdu.place, expected.name())),
                }
            }
        }
        for (to, octets) in core.take_out() {
            said.entry(to).or_default().push(said_by(&octets, version));
        }
    }
    replayed.aborted = core.aborted().map(str::to_owned);
    replayed
}

/// Begins when the RIC has had two xApps and six requests, and lacks a packet at the end.
const JOINED_LATE: &str = "v2_fr2023_kpm_rc_slice_control.pcap";
/// Lacks a packet: the subscription to GTP.
const LOSSY: &str = "v2_mac_rlc_pdcp_gtp_slice_tc.pcap";

fn joined_late(version: Version) -> Core {
    let recorded = recorded(JOINED_LATE);
    let listed = recorded
        .iter()
        .find_map(|pdu| match said_by(&pdu.octets, version) {
            Pdu::E42SetupResponse(response) => Some(response),
            _ => None,
        });
    let node = recorded
        .iter()
        .find(|pdu| pdu.direction == Some(Direction::NodeToRic));
    let node = u64::from(node.unwrap().association);
    let E42SetupResponse { xapp_id, nodes } = listed.unwrap();
    let nodes = nodes.into_iter().map(|listed| (listed, node)).collect();
    Core::in_the_middle(version, xapp_id, 1027, nodes)
}

fn lost_request() -> Pdu {
    let like_it =
        recorded(LOSSY)
            .into_iter()
            .find_map(|pdu| match said_by(&pdu.octets, Version::V2_03) {
                Pdu::E42SubscriptionRequest(request) => Some(request),
                _ => None,
            });
    let mut request = like_it.unwrap();
    (request.request.requestor, request.ran_function) = (13, 148);
    Pdu::E42SubscriptionRequest(request)
}

fn recorded(name: &str) -> Vec<Recorded> {
    let path = folder().join(name);
    let mut capture = Capture::open(File::open(path).unwrap(), Framing::E2ap).unwrap();
    let gap = |pdu: &Recorded| name == JOINED_LATE && pdu.place.to_string() == "packet 170";
    let pdus = capture.by_ref().map(|pdu| pdu.unwrap());
    pdus.take_while(|pdu| !gap(pdu)).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/flexric/pcap")
}

/// What a PDU says; how FlexRIC orders its nodes and marks the criticality of list items does not matter.
fn said_by(octets: &[u8], version: Version) -> Pdu {
    let mut pdu = decode(octets, version).unwrap().value;
    if let Pdu::E42SetupResponse(response) = &mut pdu {
        response.nodes.sort_by_key(|node| node.node.to_string());
    }
    pdu
}

/// How a session ends that ended the real RIC too.
fn end(name: &str) -> Option<&'static str> {
    match name {
        "v2_case_delete_unknown.pcap" => Some("deletion of an unknown request"),
        "v2_case_malformed.pcap" => Some("undecodable"),
        _ => None,
    }
}

#[test]
fn every_captured_session_replays() {
    let mut names: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 24);
    for name in &names {
        let Replayed {
            alike,
            missing,
            aborted,
            ..
        } = replay(name);
        println!("{name:45} {alike:4} PDUs of the RIC alike, aborted: {aborted:?}");
        assert!(missing.is_empty() && alike > 1, "{name}: {missing:?}");
        let as_expected = match (&aborted, end(name)) {
            (Some(why), Some(expected)) => why.starts_with(expected),
            (None, None) => true,
            _ => false,
        };
        assert!(as_expected, "{name}: {aborted:?}");
    }
}
