//! Which names are one UE's: on the recordings of a real gNB, whose UEs are known by their order of attach.

use super::{RUN_A, RUN_B, recording::folder};
use e2sm::e2ap::{self, Pdu, Version};
use edge::client::{self, EdgeClient, FlowSpec, Registration, Ue};
use policies::{SNssai, UeId, UeReport};
use proto::operations::operations_service_client::OperationsServiceClient;
use proto::operations::{ListFlowsRequest, ListNodesRequest};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use xapp::capture::{Capture, Framing};
use xapp::config::{Binding, Config};
use xapp::measure::{CellConfig, Identity, NodeMeasurements};
use xapp::ran::{NodeId, RanEvent, ServiceModel};

const SLICE: SNssai = SNssai { sst: 1, sd: None };

/// An indication of a recording.
struct Said {
    at: Duration,
    model: ServiceModel,
    header: Vec<u8>,
    message: Vec<u8>,
}

fn said(files: &[&str], models: &[ServiceModel]) -> Vec<Said> {
    let mut said = Vec::new();
    for file in files {
        let file = File::open(folder().join(file)).unwrap();
        for pdu in Capture::open(file, Framing::E2ap).unwrap() {
            let pdu = pdu.unwrap();
            let Ok(decoded) = e2ap::decode(&pdu.octets, Version::V2_03) else {
                continue;
            };
            let Pdu::RicIndication(indication) = decoded.value else {
                continue;
            };
            let model = match indication.ran_function {
                2 => ServiceModel::Kpm,
                142 => ServiceModel::Mac,
                143 => ServiceModel::Rlc,
                144 => ServiceModel::Pdcp,
                148 => ServiceModel::Gtp,
                _ => continue,
            };
            if models.contains(&model) {
                said.push(Said {
                    at: pdu.time.unwrap(),
                    model,
                    header: indication.header,
                    message: indication.message,
                });
            }
        }
    }
    said.sort_by_key(|said| said.at);
    said
}

/// Second at which a name was first told to be a UE's.
type Told = BTreeMap<(Identity, UeId), f64>;

/// The reports, and all names ever told.
fn listen(said: &[Said]) -> (Vec<(f64, UeReport)>, Told) {
    let mut node = NodeMeasurements::new(CellConfig {
        kpm_slice: Some(SLICE),
        ..CellConfig::default()
    });
    let begin = said[0].at;
    let (mut reports, mut told) = (Vec::new(), Told::new());
    for said in said {
        let now = said.at - begin + Duration::from_secs(1);
        let new = node
            .on_indication(said.model, &said.header, &said.message, now)
            .unwrap();
        reports.extend(new.into_iter().map(|report| (now.as_secs_f64(), report)));
        for (name, ue) in node.names() {
            told.entry((*name, *ue)).or_insert(now.as_secs_f64());
        }
    }
    (reports, told)
}

const ALL: [ServiceModel; 5] = [
    ServiceModel::Kpm,
    ServiceModel::Mac,
    ServiceModel::Rlc,
    ServiceModel::Pdcp,
    ServiceModel::Gtp,
];

/// Two UEs, joined as soon as each has traffic; no name is ever told of the wrong one.
#[test]
fn tunnels_and_kpm_ids_of_run_b_belong_to_the_right_c_rntis() {
    let said = said(
        &[
            "oai_B_2ue106_10ms.e2.jsonl.gz",
            "oai_B_2ue106_slow.e2.jsonl.gz",
        ],
        &ALL,
    );
    let (reports, told) = listen(&said);
    // By order of attach: AMF UE NGAP ID, RAN UE ID (OAI's octets, read as the standard says), gNB TEID.
    let names = [
        [
            Identity::Ue(UeId::AmfUeNgapId(1)),
            Identity::Ue(UeId::RanUeId(1 << 56)),
            Identity::GnbTeid(1_219_384_929),
        ],
        [
            Identity::Ue(UeId::AmfUeNgapId(2)),
            Identity::Ue(UeId::RanUeId(2 << 56)),
            Identity::GnbTeid(1_988_939_325),
        ],
    ];
    for (name, ue) in told.keys() {
        if let UeId::CRnti(_) = ue {
            let index = RUN_B.iter().position(|rnti| rnti == ue).unwrap();
            assert!(names[index].contains(name), "{name} is not {ue}");
        }
    }
    for (index, ue) in RUN_B.into_iter().enumerate() {
        // An idle UE's signalling has no octets in RLC.
        let traffic = reports
            .iter()
            .find(|(_, report)| report.ue == ue && report.arrived_bytes.is_some_and(|b| b > 0));
        let traffic = traffic.unwrap().0;
        for name in names[index] {
            let after = told[&(name, ue)] - traffic;
            println!("{name} is {ue}: known {after:.2} s after its first traffic");
            assert!(after < 2.0, "{name}: {after} s");
        }
    }
    slices_and_delays(&reports, told.values().copied().fold(0.0, f64::max));
}

#[test]
fn slice_and_delay_of_run_a_are_in_the_reports_of_mac() {
    let (reports, told) = listen(&said(&["oai_A_1ue106_slow.e2.jsonl.gz"], &ALL));
    assert!(told.contains_key(&(Identity::GnbTeid(1_603_008_212), RUN_A)));
    slices_and_delays(&reports, told.values().copied().fold(0.0, f64::max));
    // Saturated, the mean delay is as long as the queue's head is old.
    let long = reports.iter().filter_map(|(_, report)| {
        let age = report.head_of_line?.as_secs_f64();
        (age > 0.8).then_some((age, report.rlc_delay?.as_secs_f64()))
    });
    let (count, off) = long.fold((0, 0.0), |(count, off), (age, delay)| {
        (count + 1, off + (age - delay).abs() / age)
    });
    let off = off / f64::from(count);
    println!(
        "{count} reports: delay and age differ by {:.0} % in the mean",
        off * 100.0
    );
    assert!(count > 100 && off < 0.25, "{count}, {off}");
}

/// Once the names are known every report has its slice.
fn slices_and_delays(reports: &[(f64, UeReport)], known: f64) {
    let after = reports.iter().filter(|(at, _)| *at > known + 1.0);
    let (mut all, mut with_slice) = (0, 0);
    for (_, report) in after {
        all += 1;
        with_slice += u32::from(report.slice == Some(SLICE));
    }
    println!("{with_slice} of {all} reports have their slice");
    assert!(all > 1000 && with_slice == all);
}

/// Without PDCP nothing tells which UE of KPM is which C-RNTI: nothing is guessed.
#[test]
fn without_pdcp_no_name_is_told() {
    let models = [
        ServiceModel::Kpm,
        ServiceModel::Mac,
        ServiceModel::Rlc,
        ServiceModel::Gtp,
    ];
    let (reports, told) = listen(&said(&["oai_A_1ue106_slow.e2.jsonl.gz"], &models));
    assert!(told.keys().all(|(_, ue)| !matches!(ue, UeId::CRnti(_))));
    assert!(reports.iter().all(|(_, report)| report.slice.is_none()));
}

/// From the gNB's octets to an edge server's flow: the operator's table has the address and the tunnel, GTP the tunnel and
/// the UE of RRC, the counts of packets its C-RNTI.
#[tokio::test]
async fn a_flow_registered_by_an_address_finds_its_ue_by_the_tunnel() {
    let run = guided_by_tunnel();
    tokio::time::timeout(PATIENCE, run).await.unwrap();
}

/// For everything: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

async fn guided_by_tunnel() {
    let stop = CancellationToken::new();
    let mut config = Config::default();
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    (config.grpc.listen, config.http.listen) = (any_port, any_port);
    config.matching.enabled = false;
    config.binding = vec![Binding {
        ip: [10, 45, 0, 2].into(),
        node: String::new(),
        c_rnti: None,
        amf_ue_ngap_id: None,
        ran_ue_id: None,
        gnb_teid: Some(1_603_008_212),
    }];
    let (events, link) = mpsc::channel(64);
    let xapp = xapp::run_with(config, link, stop.clone()).await.unwrap();
    let url = format!("http://{}", xapp.grpc);
    let client = EdgeClient::connect(client::Config::new(&url, "edge-1")).unwrap();
    let spec = FlowSpec::new("flow-1", Ue::Ip([10, 45, 0, 2].into()));
    let flow = client.register(spec).await.unwrap();
    let mut status = flow.status();

    let node = NodeId("gnb:001-01:00000e00/32".into());
    let up = RanEvent::NodeUp {
        node: node.clone(),
        peer: "recording".into(),
        e2ap_version: "2.03",
        functions: Vec::new(),
    };
    events.send(up).await.unwrap();
    let mut operations = OperationsServiceClient::connect(url).await.unwrap();
    let said = said(&["oai_A_1ue106_slow.e2.jsonl.gz"], &ALL);
    let (begin, start) = (said[0].at, Instant::now());
    // The gNB's first seconds, as fast as the cell takes them.
    for (index, said) in said.into_iter().take(400).enumerate() {
        let indication = RanEvent::Indication {
            node: node.clone(),
            model: said.model,
            header: said.header,
            message: said.message,
            received: start + (said.at - begin),
        };
        events.send(indication).await.unwrap();
        if index % 50 < 49 {
            continue;
        }
        // The cell drops what it cannot take in time.
        let mut taken = 0;
        while taken <= index as u64 {
            let nodes = operations.list_nodes(ListNodesRequest {}).await.unwrap();
            taken = nodes.into_inner().nodes.iter().map(|n| n.indications).sum();
        }
    }
    let bound = status.wait_for(|s| s.state == Registration::Bound).await;
    assert_eq!(bound.unwrap().state, Registration::Bound);
    let flows = operations.list_flows(ListFlowsRequest::default()).await;
    let flow = &flows.unwrap().into_inner().flows[0];
    assert_eq!(
        (flow.bound_by.as_str(), flow.ue.as_str()),
        ("static", "rnti:f0db")
    );
    stop.cancel();
    xapp.stopped().await.unwrap();
}
