//! The live cell with real UDP sockets on loopback.

use e2sm::e2ap::{
    AdmittedAction, ComponentConfigAck, E2SetupResponse, GlobalRicId, Pdu, RanFunctionId,
    RicAction, RicActionType, RicRequestId, RicSubscriptionDetails, RicSubscriptionRequest,
    UpdateOutcome, Version, decode, encode,
};
use sim::cell::{Background, CellConfig, UeConfig};
use sim::live::{self, E2Config, E2Status, LiveConfig, RelayConfig};
use sim::node::NodeConfig;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Far longer than anything here takes: only a test that hangs sees it.
const PATIENCE: Duration = Duration::from_secs(30);

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

fn config(relays: Vec<RelayConfig>, ue: UeConfig) -> LiveConfig {
    LiveConfig {
        cell: CellConfig {
            ues: vec![ue; relays.len().max(1)],
            ..CellConfig::default()
        },
        relays,
        ..LiveConfig::default()
    }
}

#[tokio::test]
async fn datagrams_cross_the_cell_unchanged_and_too_long_ones_are_counted() {
    let receiver = UdpSocket::bind(loopback()).await.unwrap();
    let relay = RelayConfig::new(0, loopback(), receiver.local_addr().unwrap());
    let stop = CancellationToken::new();
    let cell = live::start(config(vec![relay], UeConfig::default()), stop.clone())
        .await
        .unwrap();

    let sender = UdpSocket::bind(loopback()).await.unwrap();
    sender.connect(cell.ingress()[0]).await.unwrap();
    sender.send(&[0; 3000]).await.unwrap();
    let mut buffer = [0; 2048];
    for number in 0..50_u8 {
        let datagram = vec![number; 100 + usize::from(number)];
        sender.send(&datagram).await.unwrap();
        let length = timeout(PATIENCE, receiver.recv(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(buffer[..length], datagram);
    }
    let mut stats = cell.stats();
    let seen = timeout(
        PATIENCE,
        stats.wait_for(|s| s.relays.first().is_some_and(|r| r.forwarded == 50)),
    );
    let relay = seen.await.unwrap().unwrap().relays[0];
    assert_eq!(
        (relay.received, relay.too_long, relay.queue_full),
        (51, 1, 0)
    );

    stop.cancel();
    timeout(PATIENCE, cell.finished()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_full_queue_drops_and_counts() {
    let receiver = UdpSocket::bind(loopback()).await.unwrap();
    let relay = RelayConfig::new(0, loopback(), receiver.local_addr().unwrap());
    let ue = UeConfig {
        queue_limit_bytes: 500,
        ..UeConfig::default()
    };
    let stop = CancellationToken::new();
    let cell = live::start(config(vec![relay], ue), stop.clone())
        .await
        .unwrap();
    let sender = UdpSocket::bind(loopback()).await.unwrap();
    sender.send_to(&[0; 1000], cell.ingress()[0]).await.unwrap();
    let mut stats = cell.stats();
    let dropped = stats.wait_for(|s| s.relays.first().is_some_and(|r| r.queue_full == 1));
    timeout(PATIENCE, dropped).await.unwrap().unwrap();
    stop.cancel();
    timeout(PATIENCE, cell.finished()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_relay_needs_a_ue() {
    let relay = RelayConfig::new(3, loopback(), loopback());
    let error = live::start(
        config(vec![relay], UeConfig::default()),
        CancellationToken::new(),
    )
    .await
    .unwrap_err();
    assert!(
        error.to_string().contains("no UE 3; the cell has 1"),
        "{error}"
    );
}

/// A RIC's end of one connection.
struct Ric {
    sender: transport::Sender,
    receiver: transport::Receiver,
}

impl Ric {
    async fn accept(listener: &transport::Listener) -> Self {
        let (connection, _) = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
        let (sender, receiver) = connection.split();
        Self { sender, receiver }
    }

    async fn receive(&mut self) -> Pdu {
        let message = timeout(PATIENCE, self.receiver.receive())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        decode(&message.bytes, Version::V2_03).unwrap().value
    }

    async fn send(&mut self, pdu: &Pdu) {
        let octets = encode(pdu, Version::V2_03).unwrap();
        self.sender.send(&octets).await.unwrap();
    }

    /// Answers E2 Setup, subscribes to MAC every 20 ms and waits for the first report.
    async fn set_up_and_subscribe(&mut self) {
        let Pdu::E2SetupRequest(request) = self.receive().await else {
            panic!()
        };
        let accept = |f: &e2sm::e2ap::RanFunction| RanFunctionId {
            id: f.id,
            revision: f.revision,
        };
        let acknowledge = |c: &e2sm::e2ap::ComponentConfig| ComponentConfigAck {
            interface: c.interface,
            id: c.id.clone(),
            outcome: UpdateOutcome::Success,
            failure: None,
        };
        self.send(&Pdu::E2SetupResponse(E2SetupResponse {
            transaction: request.transaction,
            ric: GlobalRicId {
                plmn: "00101".parse().unwrap(),
                ric_id: 1,
            },
            accepted: request.functions.iter().map(accept).collect(),
            rejected: Vec::new(),
            components: request.components.iter().map(acknowledge).collect(),
        }))
        .await;
        let action = RicAction {
            id: 0,
            kind: RicActionType::Report,
            definition: None,
            subsequent: None,
        };
        self.send(&Pdu::RicSubscriptionRequest(RicSubscriptionRequest {
            request: RicRequestId {
                requestor: 1,
                instance: 0,
            },
            ran_function: 142,
            details: RicSubscriptionDetails {
                event_trigger: vec![20, 0, 0, 0],
                actions: vec![action],
            },
        }))
        .await;
        let Pdu::RicSubscriptionResponse(response) = self.receive().await else {
            panic!()
        };
        assert_eq!(response.admitted, [AdmittedAction { id: 0 }]);
        let Pdu::RicIndication(indication) = self.receive().await else {
            panic!()
        };
        assert_eq!(indication.ran_function, 142);
    }
}

#[tokio::test]
async fn reports_to_a_ric_over_tcp_and_finds_it_again() {
    reports_and_reconnects("tcp://127.0.0.1:0").await;
}

/// Only where the kernel has SCTP: the whole-system tests bring one along.
#[tokio::test]
async fn reports_to_a_ric_over_sctp_and_finds_it_again() {
    if transport::sctp_available() {
        reports_and_reconnects("sctp://127.0.0.1:0").await;
    } else {
        println!("this kernel has no SCTP");
    }
}

async fn reports_and_reconnects(address: &str) {
    let listener = transport::Listener::bind(&address.parse().unwrap())
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let mut config = config(vec![], UeConfig::default());
    config.e2 = Some(E2Config {
        address: listener.local_address().clone(),
        node: NodeConfig::default(),
    });
    let cell = live::start(config, stop.clone()).await.unwrap();
    let mut ric = Ric::accept(&listener).await;
    ric.set_up_and_subscribe().await;
    assert!(timeout(PATIENCE, cell.e2_up()).await.unwrap());

    drop(ric);
    let mut stats = cell.stats();
    let down = stats.wait_for(|s| s.e2 != E2Status::Up && s.subscriptions == 0);
    timeout(PATIENCE, down).await.unwrap().unwrap();
    let mut ric = Ric::accept(&listener).await;
    ric.set_up_and_subscribe().await;

    stop.cancel();
    timeout(PATIENCE, cell.finished()).await.unwrap().unwrap();
    // The node closes the connection in order: after the last indications there is the end, no error.
    while timeout(PATIENCE, ric.receiver.receive())
        .await
        .unwrap()
        .unwrap()
        .is_some()
    {}
}

#[tokio::test]
async fn recorded_channels_move_the_mcs_of_a_gnb() {
    // Without the column of the MCS: the outer loop chooses it.
    let text = include_str!("reference/ns3_trace.csv").replacen(",mcs,", ",theirs,", 1);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    // The outer loop starts at MCS 9; what the UEs are configured to is 28.
    let climbs = |mcs: &[u8]| mcs.iter().all(|mcs| (11..28).contains(mcs));
    replay(file.path(), climbs).await;
}

#[tokio::test]
async fn recorded_mcs_take_the_place_of_link_adaptation() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/ns3_trace.csv");
    // The first of each UE, far above where the outer loop starts.
    replay(&file, |mcs| mcs == [28, 24, 28]).await;
}

/// Runs three greedy UEs over recorded channels until their MCSs are as expected and everybody receives something.
async fn replay(traces: &Path, expected: impl Fn(&[u8]) -> bool) {
    let greedy = UeConfig {
        background: Background::Greedy,
        ..UeConfig::default()
    };
    let config = LiveConfig {
        cell: CellConfig {
            ues: vec![greedy; 3],
            ..CellConfig::gnb()
        },
        traces: Some(traces.to_owned()),
        ..LiveConfig::default()
    };
    let stop = CancellationToken::new();
    let cell = live::start(config, stop.clone()).await.unwrap();
    let mut stats = cell.stats();
    let seen = stats.wait_for(|s| {
        let mcs: Vec<u8> = s.ues.iter().map(|ue| ue.mcs).collect();
        mcs.len() == 3 && expected(&mcs) && s.ues.iter().all(|ue| ue.rate_bps > 0.0)
    });
    timeout(PATIENCE, seen).await.unwrap().unwrap();
    stop.cancel();
    timeout(PATIENCE, cell.finished()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_trace_that_cannot_be_read_is_named() {
    let config = LiveConfig {
        traces: Some("no-such-trace.csv".into()),
        ..config(Vec::new(), UeConfig::default())
    };
    let error = live::start(config, CancellationToken::new())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no-such-trace.csv"), "{error}");
}
