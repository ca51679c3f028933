//! A flow that is registered by an IP address that nobody knows: its UE is found by its traffic, and it is guided.

use edge::client::{Config, EdgeClient, FlowSpec, Registration, Ue};
use edge::flow::{Guide, Sender, SenderConfig};
use edge::guidance::{FlowSettings, Phase};
use proto::operations::ListFlowsRequest;
use proto::operations::operations_service_client::OperationsServiceClient;
use sim::cell::{Background, CellConfig, UeConfig};
use sim::live::{self, E2Config, LiveConfig, RelayConfig};
use sim::measure::rnti;
use sim::node::NodeConfig;
use std::net::SocketAddr;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// For everything: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
const UE: usize = 1;

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A cell with two idle UEs and a greedy one, whose packets nobody receives.
fn cell(ric: &str) -> LiveConfig {
    let greedy = UeConfig {
        background: Background::Greedy,
        ..UeConfig::default()
    };
    LiveConfig {
        cell: CellConfig {
            ues: vec![UeConfig::default(), UeConfig::default(), greedy],
            ..CellConfig::default()
        },
        relays: vec![RelayConfig::new(
            UE,
            any_port(),
            SocketAddr::from(([127, 0, 0, 1], 9)),
        )],
        e2: Some(E2Config {
            address: ric.parse().unwrap(),
            node: NodeConfig::default(),
        }),
        ..LiveConfig::default()
    }
}

async fn guided_without_any_binding(stop: CancellationToken) {
    let mut config = xapp::config::Config::default();
    config.ran.listen = vec!["tcp://127.0.0.1:0".into()];
    (config.grpc.listen, config.http.listen) = (any_port(), any_port());
    let xapp = xapp::run(config, stop.clone()).await.unwrap();
    let cell = live::start(cell(&xapp.ran[0]), stop.clone()).await.unwrap();

    let url = format!("http://{}", xapp.grpc);
    let client = EdgeClient::connect(Config::new(&url, "edge-1")).unwrap();
    let spec = FlowSpec {
        // So that its UE is found also if the flow begins before the cell reports.
        settings: FlowSettings {
            dither: 0.4,
            ..FlowSettings::default()
        },
        ..FlowSpec::new("flow-1", Ue::Ip([10, 45, 0, 2].into()))
    };
    let flow = client.register(spec).await.unwrap();
    let (mut status, mut pacing) = (flow.status(), flow.pacing());
    let sender = Sender::bind(SenderConfig::new(cell.ingress()[0]))
        .await
        .unwrap();
    let sending = tokio::spawn({
        let stop = stop.clone();
        async move { sender.run(Guide::Flow(flow), stop, |_| {}).await }
    });
    let unbound = status.wait_for(|s| s.state == Registration::Unbound).await;
    assert!(unbound.unwrap().detail.contains("traffic is compared"));
    status
        .wait_for(|s| s.state == Registration::Bound)
        .await
        .unwrap();
    pacing.wait_for(|p| p.phase == Phase::Guided).await.unwrap();

    let mut operations = OperationsServiceClient::connect(url).await.unwrap();
    let flows = operations.list_flows(ListFlowsRequest::default()).await;
    let flow = &flows.unwrap().into_inner().flows[0];
    assert_eq!(flow.bound_by, "traffic");
    assert_eq!(flow.ue, policies::UeId::CRnti(rnti(UE)).to_string());
    assert!(flow.confidence.unwrap() > 0.9);

    stop.cancel();
    sending.await.unwrap().unwrap();
    cell.finished().await.unwrap();
    xapp.stopped().await.unwrap();
}

#[tokio::test]
async fn a_flow_without_any_binding_is_guided_over_tcp() {
    let stop = CancellationToken::new();
    let run = guided_without_any_binding(stop.clone());
    tokio::time::timeout(PATIENCE, run).await.unwrap();
}
