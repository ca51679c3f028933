//! Indication-to-guidance latency over loopback: a node's MAC and RLC indications go in over the direct link (TCP),
//! guidance comes out on an edge server's stream (gRPC).
//!
//! Measured from the moment at which the node begins to send the two indications of a tick to the moment at
//! which the edge server has decoded the guidance of all its flows, one per UE.

use e2sm::e2ap::{
    AdmittedAction, Pdu, RicIndication, RicIndicationType, RicRequestId, RicSubscriptionResponse,
    Version, decode, encode,
};
use e2sm::flexric::{INDICATION_HEADER, MacUe, Model, Record, RlcBearer, Stats};
use proto::guidance::{
    GuideRequest, Hello, RanUe, RegisterFlow, UeSelector, flow_status::State,
    guidance_service_client::GuidanceServiceClient, guide_request::Message as Request,
    guide_response::Message as Response, ran_ue::Id, ue_selector::Selector,
};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use transport::{Address, Connection, Receiver, Sender};
use xapp::config::{self, Config};

const FIRST_RNTI: u16 = 0x4601;
const TICKS_TO_WARM_UP: u32 = 20;
const TICKS: u32 = 300;
const PERIOD: Duration = Duration::from_millis(50);
const SLOTS_PER_PERIOD: u32 = 100;

fn main() {
    let runtime = xapp::cli::runtime().expect("a runtime");
    println!("indication-to-guidance latency over loopback, {TICKS} reports at {PERIOD:?}");
    for ues in [100, 1000] {
        let mut latencies = runtime.block_on(measure(ues));
        latencies.sort();
        let at = |share: f64| {
            let index = ((latencies.len() - 1) as f64 * share).round() as usize;
            latencies[index].as_secs_f64() * 1e3
        };
        println!(
            "{ues:>5} UEs: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms",
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}

async fn measure(ues: u16) -> Vec<Duration> {
    let stop = CancellationToken::new();
    let running = xapp::run(config(), stop.clone())
        .await
        .expect("Cantor runs");
    let address = running.ran[0].parse().expect("an address");
    let mut node = Node::connect(&address).await;
    // The UEs must be known before their flows can be bound.
    for tick in 1..=2 {
        node.report(&node.indications(ues, tick)).await;
    }
    let mut guidance = edge(running.grpc, ues).await;

    let mut latencies = Vec::new();
    let begin = Instant::now();
    for tick in 3..3 + TICKS_TO_WARM_UP + TICKS {
        wait_for_the_next_period(begin).await;
        let indications = node.indications(ues, tick);
        let sent = Instant::now();
        node.report(&indications).await;
        all_guided(&mut guidance, ues).await;
        if tick >= 3 + TICKS_TO_WARM_UP {
            latencies.push(sent.elapsed());
        }
    }
    stop.cancel();
    drop((node, guidance));
    running.stopped().await.expect("an orderly end");
    latencies
}

/// The node reports by its own clock, whatever comes of it, and never at once what it missed.
async fn wait_for_the_next_period(begin: Instant) {
    let periods = begin.elapsed().div_duration_f64(PERIOD).floor() + 1.0;
    tokio::time::sleep_until((begin + PERIOD.mul_f64(periods)).into()).await;
}

/// Every report ends an interval: Δ is a little shorter than the node's period.
fn config() -> Config {
    let mut config = Config::default();
    config.ran.listen = vec!["tcp://127.0.0.1:0".into()];
    config.ran.models = vec![config::Model::Mac, config::Model::Rlc];
    config.ran.report_period_ms = PERIOD.as_millis() as u32 * 4 / 5;
    config.control.interval_ms = PERIOD.as_millis() as u32 * 4 / 5;
    config.grpc.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    config.http.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    config
}

/// An E2 node that admits the MAC and RLC subscriptions.
struct Node {
    sender: Sender,
    subscriptions: HashMap<u16, RicRequestId>,
    _receiver: Receiver,
}

impl Node {
    async fn connect(address: &Address) -> Self {
        let connection = Connection::connect(address, Duration::from_secs(10)).await;
        let (mut sender, mut receiver) = connection.expect("the direct link listens").split();
        sender
            .send(&setup_request())
            .await
            .expect("a setup is sent");
        let mut subscriptions = HashMap::new();
        while subscriptions.len() < 2 {
            let message = receiver.receive().await.expect("a PDU").expect("no end");
            let pdu = decode(&message.bytes, Version::V2_03).expect("E2AP").value;
            let Pdu::RicSubscriptionRequest(asked) = pdu else {
                continue;
            };
            subscriptions.insert(asked.ran_function, asked.request);
            let admitted = Pdu::RicSubscriptionResponse(RicSubscriptionResponse {
                request: asked.request,
                ran_function: asked.ran_function,
                admitted: vec![AdmittedAction { id: 0 }],
                not_admitted: None,
            });
            let octets = encode(&admitted, Version::V2_03).expect("E2AP");
            sender.send(&octets).await.expect("an answer is sent");
        }
        Self {
            sender,
            subscriptions,
            _receiver: receiver,
        }
    }

    async fn report(&mut self, indications: &[Vec<u8>]) {
        for octets in indications {
            self.sender
                .send(octets)
                .await
                .expect("an indication is sent");
        }
    }

    /// MAC and RLC indications of one tick, encoded.
    fn indications(&self, ues: u16, tick: u32) -> [Vec<u8>; 2] {
        let rntis = (0..ues).map(|n| u32::from(FIRST_RNTI + n));
        let slots = tick * SLOTS_PER_PERIOD;
        let mac = rntis.clone().map(|rnti| MacUe {
            rnti,
            dl_harq: [slots / 10, 0, 0, 0, 0],
            dl_aggr_prb: slots / 10,
            dl_aggr_tbs: u64::from(slots) * 9,
            dl_mcs1: 20,
            ..MacUe::default()
        });
        let rlc = rntis.map(|rnti| RlcBearer {
            rnti,
            rbid: 1,
            txsdu_bytes: u64::from(slots) * 8,
            ..RlcBearer::default()
        });
        [
            self.indication(Model::Mac, mac.collect(), tick),
            self.indication(Model::Rlc, rlc.collect(), tick),
        ]
    }

    fn indication<R: Record>(&self, model: Model, records: Vec<R>, tick: u32) -> Vec<u8> {
        let ran_function = model.ran_function_id();
        let message = Stats {
            records,
            tstamp_us: 1_796_061_400_000_000 + i64::from(tick) * PERIOD.as_micros() as i64,
        };
        let indication = Pdu::RicIndication(RicIndication {
            request: self.subscriptions[&ran_function],
            ran_function,
            action: 0,
            sequence_number: None,
            kind: RicIndicationType::Report,
            header: INDICATION_HEADER.to_vec(),
            message: message.encode(),
            call_process: None,
        });
        encode(&indication, Version::V2_03).expect("E2AP")
    }
}

/// An E2 setup request of a real gNB that offers MAC and RLC.
fn setup_request() -> Vec<u8> {
    const HEX: &str = include_str!("../../tests/vectors/oai/oai_e2_setup_req.hex");
    hex::decode(HEX.trim()).expect("hexadecimal")
}

/// An edge server with a flow to each UE, all bound.
async fn edge(address: SocketAddr, ues: u16) -> Streaming<proto::guidance::GuideResponse> {
    let (requests, outgoing) = mpsc::channel(16);
    let mut client = GuidanceServiceClient::connect(format!("http://{address}"))
        .await
        .expect("Cantor listens");
    tokio::spawn(async move {
        let hello = Request::Hello(Hello {
            edge_id: "bench".into(),
            agent: String::new(),
        });
        let registrations = (0..ues).map(|n| Request::RegisterFlow(registration(FIRST_RNTI + n)));
        for message in std::iter::once(hello).chain(registrations) {
            let request = GuideRequest {
                message: Some(message),
            };
            if requests.send(request).await.is_err() {
                return;
            }
        }
        // The stream stays open until the other side ends it.
        requests.closed().await;
    });
    let stream = client.guide(ReceiverStream::new(outgoing)).await;
    let mut guidance = stream.expect("a stream").into_inner();
    let mut bound = HashSet::new();
    while bound.len() < usize::from(ues) {
        if let Response::FlowStatus(status) = next(&mut guidance).await
            && status.state() == State::Bound
        {
            bound.insert(status.flow_id);
        }
    }
    guidance
}

fn registration(rnti: u16) -> RegisterFlow {
    let ue = RanUe {
        node: String::new(),
        id: Some(Id::CRnti(rnti.into())),
    };
    RegisterFlow {
        flow_id: format!("flow-{rnti:04x}"),
        ue: Some(UeSelector {
            selector: Some(Selector::Ran(ue)),
        }),
        ..RegisterFlow::default()
    }
}

/// Waits for guidance of all flows.
async fn all_guided(guidance: &mut Streaming<proto::guidance::GuideResponse>, flows: u16) {
    let mut guided = 0;
    while guided < usize::from(flows) {
        if let Response::Batch(batch) = next(guidance).await {
            guided += batch.guidance.len();
        }
    }
}

async fn next(guidance: &mut Streaming<proto::guidance::GuideResponse>) -> Response {
    let response = guidance.message().await.expect("the stream goes on");
    response.and_then(|r| r.message).expect("a message")
}
