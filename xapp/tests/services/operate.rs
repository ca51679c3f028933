//! Operations API, health, readiness, metrics, and the end of the process.

use crate::rig::{NODE, Rig, config, indication, node, registration};
use e2sm::common::{GnbUeId, UeId};
use e2sm::kpm::{
    Dialect, IndicationHeader, IndicationMessage, MeasReport, MeasValue, TimeStamp, UeMeasReport,
};
use proto::guidance::{
    RanUe, RegisterFlow, UeSelector, flow_status::State, guide_request::Message as Request,
    ran_ue::Id, ue_selector::Selector,
};
use proto::operations::{
    GetStatusRequest, ListFlowsRequest, ListNodesRequest, ListUesRequest, WatchDecisionsRequest,
};
use std::collections::BTreeSet;
use std::time::Instant;
use tonic::Code;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};
use xapp::ran::{RanEvent, ServiceModel, SubscriptionState, SubscriptionStatus};

fn mac_subscription(state: SubscriptionState) -> RanEvent {
    let status = SubscriptionStatus {
        requestor: 7,
        instance: 1,
        function: 142,
        model: ServiceModel::Mac,
        period_ms: 10,
        measurements: Vec::new(),
        state,
        detail: String::new(),
    };
    RanEvent::Subscription {
        node: node(),
        status,
    }
}

#[tokio::test]
async fn operators_see_that_a_node_is_silent() {
    use SubscriptionState::{Active, Ended, Requested, Silent};
    let rig = Rig::start(config()).await;
    let mut operations = rig.operations().await;
    rig.node_up().await;
    // It stays so while its subscriptions are made anew.
    for (states, shown, silent) in [
        (&[Requested, Active][..], "active", false),
        (&[Ended, Requested, Silent], "silent", true),
        (&[Ended, Requested], "requested", true),
        (&[Active], "active", false),
    ] {
        for state in states {
            let event = mac_subscription(*state);
            rig.events.send(event).await.unwrap();
        }
        // The node's task sees these events before the question, which goes another way, or soon after.
        loop {
            let nodes = operations.list_nodes(ListNodesRequest {}).await.unwrap();
            let nodes = nodes.into_inner().nodes;
            if let [node] = &nodes[..]
                && node.subscriptions.first().is_some_and(|s| s.state == shown)
            {
                assert_eq!(node.silent, silent);
                break;
            }
        }
        let (_, metrics) = rig.get("/ric/v1/metrics").await;
        let line = format!("cantor_silent_nodes {}", u8::from(silent));
        assert!(metrics.lines().any(|found| found == line), "{metrics}");
    }
}

#[tokio::test]
async fn operators_see_nodes_ues_flows_and_decisions() {
    let rig = Rig::start(config()).await;
    let mut operations = rig.operations().await;
    let status = operations.get_status(GetStatusRequest {}).await.unwrap();
    let status = status.into_inner();
    assert!(status.ready && status.not_ready_reason.is_empty());

    rig.node_up().await;
    let active = mac_subscription(SubscriptionState::Active);
    rig.events.send(active).await.unwrap();
    rig.events
        .send(indication(ServiceModel::Mac, vec![1, 2, 3]))
        .await
        .unwrap();
    let _reports = rig.report(vec![0x4601, 0x4602]);
    let mut watched = operations
        .watch_decisions(WatchDecisionsRequest {})
        .await
        .unwrap()
        .into_inner();
    let edge = rig.edge("edge-1").await;
    edge.register("video", 0x4601).await;
    let decision = watched.message().await.unwrap().unwrap();
    assert_eq!(decision.skipped, 0);
    let decision = decision.decision.unwrap();
    assert_eq!(
        (decision.edge_id.as_str(), decision.flow_id.as_str()),
        ("edge-1", "video")
    );
    assert_eq!(
        (decision.node.as_str(), decision.ue.as_str()),
        (NODE, "rnti:4601")
    );
    assert_eq!(decision.controller, "rapid");
    assert_eq!(decision.previous_rate_bps, 5_000_000);
    assert_eq!(decision.active_ues, 2);

    let nodes = operations.list_nodes(ListNodesRequest {}).await.unwrap();
    let nodes = nodes.into_inner().nodes;
    assert_eq!(nodes.len(), 1);
    assert!(nodes[0].connected && nodes[0].indications > 0);
    assert_eq!(nodes[0].rejected, 1);
    assert_eq!(nodes[0].active_ues, 2);
    assert!((nodes[0].available_prbs - 84.8).abs() < 1e-9);
    assert_eq!(nodes[0].subscriptions[0].state, "active");

    let ues = operations.list_ues(ListUesRequest { node: NODE.into() });
    let ues = ues.await.unwrap().into_inner().ues;
    let ids: Vec<_> = ues.iter().map(|ue| ue.id.as_str()).collect();
    assert_eq!(ids, ["rnti:4601", "rnti:4602"]);
    assert!(ues[0].active && ues[0].prbs.is_some() && ues[0].sinr_db.is_none());
    let none = ListUesRequest {
        node: "gnb:other".into(),
    };
    assert!(
        operations
            .list_ues(none)
            .await
            .unwrap()
            .into_inner()
            .ues
            .is_empty()
    );

    let flows = operations.list_flows(ListFlowsRequest::default()).await;
    let flows = flows.unwrap().into_inner().flows;
    assert_eq!(flows.len(), 1);
    assert_eq!(
        (flows[0].state.as_str(), flows[0].ue.as_str()),
        ("bound", "rnti:4601")
    );
    assert!(flows[0].last_decision.as_ref().unwrap().sequence >= decision.sequence);
}

/// measInfoList is optional in an indication: the values are then what the subscription asked for.
#[tokio::test]
async fn a_kpm_report_without_names_is_that_of_the_subscription() {
    let rig = Rig::start(config()).await;
    rig.node_up().await;
    let status = SubscriptionStatus {
        requestor: 7,
        instance: 1,
        function: 2,
        model: ServiceModel::Kpm,
        period_ms: 1000,
        measurements: vec!["RRU.PrbTotDl", "DRB.UEThpDl"],
        state: SubscriptionState::Requested,
        detail: String::new(),
    };
    let requested = RanEvent::Subscription {
        node: node(),
        status,
    };
    rig.events.send(requested).await.unwrap();
    let ue = UeMeasReport {
        ue: UeId::Gnb(GnbUeId {
            amf_ue_ngap_id: 1,
            ..GnbUeId::default()
        }),
        report: MeasReport {
            info: Vec::new(),
            granularity_ms: Some(1000),
            ..MeasReport::single([
                ("", MeasValue::Integer(50)),
                ("", MeasValue::Real(40_000.0)),
            ])
        },
    };
    let header = IndicationHeader {
        collect_start_time: TimeStamp::Short([0; 4]),
        file_format_version: None,
        sender_name: None,
        sender_type: None,
        vendor_name: None,
    };
    let message = IndicationMessage::Format3(vec![ue]);
    let report = RanEvent::Indication {
        node: node(),
        model: ServiceModel::Kpm,
        header: header.encode().unwrap(),
        message: message.encode(Dialect::Standard).unwrap(),
        received: Instant::now(),
    };
    rig.events.send(report).await.unwrap();
    let mut edge = rig.edge("edge-1").await;
    let registration = RegisterFlow {
        ue: Some(UeSelector {
            selector: Some(Selector::Ran(RanUe {
                node: NODE.into(),
                id: Some(Id::AmfUeNgapId(1)),
            })),
        }),
        ..registration("video", 0)
    };
    edge.send(Request::RegisterFlow(registration)).await;
    edge.until(State::Bound).await;
    let mut operations = rig.operations().await;
    let ues = operations.list_ues(ListUesRequest::default()).await;
    let ues = ues.unwrap().into_inner().ues;
    assert_eq!(ues[0].id, "amf:1");
    // Half of 84.8.
    assert!((ues[0].prbs.unwrap() - 42.4).abs() < 1e-9);
    assert_eq!(ues[0].throughput_bps, Some(4e7));
}

#[tokio::test]
async fn health_and_reflection_speak_for_both_services() {
    let rig = Rig::start(config()).await;
    let channel = rig.channel().await;
    let mut health = HealthClient::new(channel.clone());
    for service in [
        "",
        "cantor.guidance.v1.GuidanceService",
        "cantor.operations.v1.OperationsService",
    ] {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        let answer = health.check(request).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{service:?}");
    }

    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers = ServerReflectionClient::new(channel)
        .server_reflection_info(tokio_stream::iter([request]))
        .await
        .unwrap()
        .into_inner();
    let answer = answers.message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}")
    };
    let services: BTreeSet<_> = list.service.iter().map(|s| s.name.as_str()).collect();
    for service in [
        "cantor.guidance.v1.GuidanceService",
        "cantor.operations.v1.OperationsService",
        "grpc.health.v1.Health",
    ] {
        assert!(services.contains(service), "{services:?}");
    }
}

#[tokio::test]
async fn readiness_tells_why_not_and_everything_ends_with_the_token() {
    let rig = Rig::start(config()).await;
    assert_eq!(
        rig.get("/ric/v1/health/alive").await,
        ("HTTP/1.1 200 OK".into(), r#"{"alive":true}"#.into())
    );
    assert_eq!(
        rig.get("/ric/v1/health/ready").await,
        (
            "HTTP/1.1 200 OK".into(),
            r#"{"ready":true,"store":{"good":true,"state":"memory: state ends with the process"}}"#
                .into()
        )
    );

    let mut edge = rig.edge("edge-1").await;
    let mut operations = rig.operations().await;
    let watch = operations.watch_decisions(WatchDecisionsRequest {}).await;
    let mut watch = watch.unwrap().into_inner();
    rig.stop.cancel();
    let end = edge.responses.message().await.unwrap_err();
    assert_eq!(
        (end.code(), end.message()),
        (Code::Unavailable, "Cantor is stopping")
    );
    assert!(watch.message().await.unwrap().is_none());
    drop(rig.events);
    rig.running.stopped().await.unwrap();
}

#[tokio::test]
async fn a_link_that_ends_by_itself_stops_the_xapp_with_an_error() {
    let rig = Rig::start(config()).await;
    drop(rig.events);
    let error = rig.running.stopped().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the RAN link ended unexpectedly; the log says why"
    );
}

#[tokio::test]
async fn an_address_in_use_is_named_with_its_setting() {
    let rig = Rig::start(config()).await;
    let mut taken = config();
    taken.http.listen = rig.running.http;
    let (_events, link) = tokio::sync::mpsc::channel(1);
    let error = xapp::run_with(taken, link, rig.stop.clone())
        .await
        .unwrap_err();
    let expected = format!("cannot listen on {} (http.listen): ", rig.running.http);
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[tokio::test]
async fn metrics_follow_the_conventions_and_count_what_happened() {
    let rig = Rig::start(config()).await;
    rig.node_up().await;
    let _reports = rig.report(vec![0x4601]);
    let mut edge = rig.edge("edge-1").await;
    edge.register("video", 0x4601).await;
    edge.register("refused", 70_000).await;
    edge.until(State::Refused).await;
    edge.batch().await;
    let (status, page) = rig.get("/ric/v1/metrics").await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(page.ends_with("# EOF\n"));

    let mut samples = 0;
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(series.starts_with("cantor_"), "{line}");
        assert!(
            !line.contains("4601") && !line.contains("video"),
            "a user in a label: {line}"
        );
        samples += 1;
    }
    assert!(samples > 20);
    for line in page.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let help = page
            .lines()
            .find_map(|line| line.strip_prefix(&format!("# HELP {name} ")))
            .unwrap_or_default();
        assert!(
            help.ends_with('.') && !help.ends_with(".."),
            "{name}: {help:?}"
        );
        if kind == "counter" {
            assert!(page.contains(&format!("\n{name}_total")), "{name}");
        }
    }
    for expected in [
        "cantor_ready 1",
        "cantor_nodes 1",
        "cantor_streams 1",
        "cantor_flows{state=\"bound\"} 1",
        "cantor_flows{state=\"unbound\"} 0",
        "cantor_registrations_refused_total 1",
        "cantor_active_ues{node=\"gnb:001-01:00000e00/32\"} 1",
    ] {
        assert!(
            page.lines().any(|line| line == expected),
            "{expected}\n{page}"
        );
    }
    for counted in [
        "cantor_indications_total{model=\"mac\"} ",
        "cantor_decisions_total{policy=\"rapid\"} ",
        "cantor_guidance_total ",
        "cantor_report_age_seconds_count ",
        "cantor_available_prbs{node=\"gnb:001-01:00000e00/32\"} ",
    ] {
        let value = page.lines().find_map(|line| line.strip_prefix(counted));
        assert!(value.is_some_and(|value| value != "0"), "{counted}\n{page}");
    }
}

/// With a node connected, a stream open and nothing to decide, the threads sleep.
#[tokio::test]
async fn an_idle_xapp_does_not_spin() {
    let rig = Rig::start(config()).await;
    rig.node_up().await;
    let mut edge = rig.edge("edge-1").await;
    edge.register("video", 0x4601).await;
    edge.status().await;
    let runtime = tokio::runtime::Handle::current().metrics();
    let before = runtime.worker_park_count(0);
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let wakeups = runtime.worker_park_count(0) - before;
    assert!(wakeups < 50, "woken {wakeups} times in half a second");
}
