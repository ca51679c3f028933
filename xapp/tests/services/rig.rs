//! An xApp in this process, a fake node that reports UEs, and edge servers.

use e2sm::flexric::{INDICATION_HEADER, MacUe, RlcBearer, Stats};
use proto::guidance::{
    FlowStatus, Guidance, GuideRequest, GuideResponse, Hello, RanUe, RegisterFlow, UeSelector,
    Welcome, flow_status::State, guidance_service_client::GuidanceServiceClient,
    guide_request::Message as Request, guide_response::Message as Response, ran_ue::Id,
    ue_selector::Selector,
};
use proto::operations::operations_service_client::OperationsServiceClient;
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, Streaming};
use xapp::config::Config;
use xapp::ran::{NodeId, RanEvent, ServiceModel};
use xapp::{Running, run_with};

pub const NODE: &str = "gnb:001-01:00000e00/32";
const REPORT_PERIOD: Duration = Duration::from_millis(10);

/// A running xApp.
pub struct Rig {
    pub running: Running,
    pub events: mpsc::Sender<RanEvent>,
    pub stop: CancellationToken,
}

/// Settings for tests: any free port, a fast loop.
pub fn config() -> Config {
    let mut config = Config::default();
    config.grpc.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    config.http.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    config.ran.report_period_ms = 10;
    config.control.interval_ms = 20;
    config.control.ue_timeout_ms = 60_000;
    config.guidance.valid_for_ms = 5_000;
    config
}

impl Rig {
    pub async fn start(config: Config) -> Self {
        let (events, link) = mpsc::channel(64);
        let stop = CancellationToken::new();
        let running = run_with(config, link, stop.clone()).await.unwrap();
        Self {
            running,
            events,
            stop,
        }
    }

    pub async fn channel(&self) -> Channel {
        self.endpoint().connect().await.unwrap()
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::from_shared(format!("http://{}", self.running.grpc)).unwrap()
    }

    pub async fn operations(&self) -> OperationsServiceClient<Channel> {
        OperationsServiceClient::new(self.channel().await)
    }

    pub async fn edge(&self, edge_id: &str) -> Edge {
        Edge::open(self.channel().await, edge_id).await.unwrap()
    }

    pub async fn node_up(&self) {
        let up = RanEvent::NodeUp {
            node: node(),
            peer: "127.0.0.1:36421".into(),
            e2ap_version: "2.03",
            functions: Vec::new(),
        };
        self.events.send(up).await.unwrap();
    }

    pub async fn node_down(&self) {
        let down = RanEvent::NodeDown {
            node: node(),
            reason: "killed".into(),
        };
        self.events.send(down).await.unwrap();
    }

    /// The node reports these UEs from now on, until the returned guard is dropped.
    pub fn report(&self, rntis: Vec<u16>) -> Reporting {
        let events = self.events.clone();
        Reporting(tokio::spawn(async move {
            let mut period = tokio::time::interval(REPORT_PERIOD);
            for tick in 1.. {
                period.tick().await;
                for event in indications(&rntis, tick) {
                    if events.send(event).await.is_err() {
                        return;
                    }
                }
            }
        }))
    }

    /// Body and status line of a page.
    pub async fn get(&self, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.running.http).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: cantor\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }
}

/// Reports are made until this is dropped.
pub struct Reporting(tokio::task::JoinHandle<()>);

impl Drop for Reporting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub fn node() -> NodeId {
    NodeId(NODE.into())
}

/// MAC and RLC indications of one tick: each UE uses 10 PRBs in every slot.
fn indications(rntis: &[u16], tick: u32) -> [RanEvent; 2] {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let tstamp_us = now.unwrap().as_micros() as i64;
    let slots = tick * 20;
    let mac = rntis.iter().map(|&rnti| MacUe {
        rnti: rnti.into(),
        dl_harq: [slots, 0, 0, 0, 0],
        dl_aggr_prb: slots * 10,
        dl_aggr_tbs: u64::from(slots) * 900,
        dl_mcs1: 20,
        wb_cqi: 12,
        ..MacUe::default()
    });
    let rlc = rntis.iter().map(|&rnti| RlcBearer {
        rnti: rnti.into(),
        rbid: 1,
        txsdu_bytes: u64::from(slots) * 800,
        ..RlcBearer::default()
    });
    let mac = Stats {
        records: mac.collect(),
        tstamp_us,
    };
    let rlc = Stats {
        records: rlc.collect(),
        tstamp_us,
    };
    [
        indication(ServiceModel::Mac, mac.encode()),
        indication(ServiceModel::Rlc, rlc.encode()),
    ]
}

pub fn indication(model: ServiceModel, message: Vec<u8>) -> RanEvent {
    RanEvent::Indication {
        node: node(),
        model,
        header: INDICATION_HEADER.to_vec(),
        message,
        received: Instant::now(),
    }
}

/// An edge server's stream.
pub struct Edge {
    pub requests: mpsc::Sender<GuideRequest>,
    pub responses: Streaming<GuideResponse>,
    pub welcome: Welcome,
}

impl Edge {
    pub async fn open(channel: Channel, edge_id: &str) -> Result<Self, Status> {
        let hello = Request::Hello(Hello {
            edge_id: edge_id.into(),
            agent: "test".into(),
        });
        let (requests, mut responses) = open(channel, hello).await?;
        match responses.message().await? {
            Some(GuideResponse {
                message: Some(Response::Welcome(welcome)),
            }) => Ok(Self {
                requests,
                responses,
                welcome,
            }),
            other => panic!("not a welcome: {other:?}"),
        }
    }

    pub async fn send(&self, message: Request) {
        let request = GuideRequest {
            message: Some(message),
        };
        self.requests.send(request).await.unwrap();
    }

    pub async fn register(&self, flow_id: &str, rnti: u32) {
        self.send(Request::RegisterFlow(registration(flow_id, rnti)))
            .await;
    }

    pub async fn message(&mut self) -> Response {
        let response = self.responses.message().await.unwrap();
        response.expect("the stream goes on").message.unwrap()
    }

    /// The next status; guidance before it is skipped.
    pub async fn status(&mut self) -> FlowStatus {
        loop {
            if let Response::FlowStatus(status) = self.message().await {
                return status;
            }
        }
    }

    /// Statuses up to the first of this state.
    pub async fn until(&mut self, state: State) -> FlowStatus {
        loop {
            let status = self.status().await;
            if status.state() == state {
                return status;
            }
        }
    }

    /// The next batch; statuses before it are skipped.
    pub async fn batch(&mut self) -> Vec<Guidance> {
        loop {
            if let Response::Batch(batch) = self.message().await {
                return batch.guidance;
            }
        }
    }
}

pub async fn open(
    channel: Channel,
    first: Request,
) -> Result<(mpsc::Sender<GuideRequest>, Streaming<GuideResponse>), Status> {
    let (requests, outgoing) = mpsc::channel(16);
    let first = GuideRequest {
        message: Some(first),
    };
    requests.send(first).await.unwrap();
    let responses = GuidanceServiceClient::new(channel)
        .guide(ReceiverStream::new(outgoing))
        .await?;
    Ok((requests, responses.into_inner()))
}

pub fn registration(flow_id: &str, rnti: u32) -> RegisterFlow {
    RegisterFlow {
        flow_id: flow_id.into(),
        ue: Some(UeSelector {
            selector: Some(Selector::Ran(RanUe {
                node: NODE.into(),
                id: Some(Id::CRnti(rnti)),
            })),
        }),
        current_rate_bps: 5_000_000,
        ..RegisterFlow::default()
    }
}
