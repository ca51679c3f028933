//! Guidance streams.

use crate::rig::{Edge, NODE, Rig, config, open, registration};
use proto::guidance::{
    FlowReport, Hello, RegisterFlow, UnregisterFlow, flow_status::State,
    guide_request::Message as Request, guide_response::Message as Response,
};
use proto::operations::{ListFlowsRequest, WatchDecisionsRequest};
use tonic::Code;

#[tokio::test]
async fn a_flow_is_registered_bound_and_guided() {
    let rig = Rig::start(config()).await;
    let mut edge = rig.edge("edge-1").await;
    assert_eq!(edge.welcome.xapp_id, "cantor");
    assert_eq!(edge.welcome.control_interval_us, 20_000);

    // The UE comes later than its flow.
    edge.register("video", 0x4601).await;
    let status = edge.status().await;
    assert_eq!(status.state(), State::Unbound);
    assert_eq!(status.detail, format!("node {NODE} is not connected"));
    rig.node_up().await;
    let _reports = rig.report(vec![0x4601, 0x4602]);
    let status = edge.until(State::Bound).await;
    assert_eq!(status.ue.unwrap().node, NODE);

    let mut last = (0, 5_000_000);
    for _ in 0..5 {
        let batch = edge.batch().await;
        let [guidance] = &batch[..] else {
            panic!("{batch:?}")
        };
        assert_eq!(guidance.flow_id, "video");
        assert!(guidance.sequence > last.0);
        assert!((4_000_000..=5_000_000).contains(&guidance.valid_for_us));
        let reason = guidance.reason.as_ref().unwrap();
        assert_eq!(reason.controller, "rapid");
        // f · P / n with two active UEs.
        assert!((reason.target_prbs - 0.9 * 84.8 / 2.0).abs() < 1e-9);
        let prbs = reason.prbs.expect("reports came");
        let wanted = last.1 as f64 - 0.5e6 * (prbs - reason.target_prbs);
        assert!((guidance.rate_bps as f64 - wanted.min(84.8 * 1.4e6)).abs() <= 2.0);
        last = (guidance.sequence, guidance.rate_bps);
    }

    // Its node goes: the edge server hears of it and gets no more guidance.
    rig.node_down().await;
    let status = edge.until(State::Unbound).await;
    assert_eq!(status.detail, format!("node {NODE} is not connected"));

    // It comes back: so does the flow, from the rate that it had.
    rig.node_up().await;
    edge.until(State::Bound).await;
    let again = edge.batch().await;
    assert!(again[0].sequence > last.0);
}

/// After a restart with a clock that was set back, the edge would take guidance in Unix time for old.
#[tokio::test]
async fn guidance_goes_on_after_what_the_edge_has() {
    let rig = Rig::start(config()).await;
    rig.node_up().await;
    let _reports = rig.report(vec![0x4601, 0x4602]);
    let mut edge = rig.edge("edge-1").await;
    // In the year 2100.
    let ahead = 4_102_444_800_000_000;
    // The second one would leave no room for sequences.
    for (rnti, last_sequence) in [(0x4601, ahead), (0x4602, u64::MAX)] {
        let registration = RegisterFlow {
            last_sequence,
            ..registration(&format!("{rnti:x}"), rnti)
        };
        edge.send(Request::RegisterFlow(registration)).await;
    }
    let (mut followed, mut ignored) = (ahead, 0);
    while followed < ahead + 3 || ignored == 0 {
        for guidance in edge.batch().await {
            if guidance.flow_id == "4601" {
                followed += 1;
                assert_eq!(guidance.sequence, followed);
            } else {
                assert!((1..ahead).contains(&guidance.sequence));
                ignored += 1;
            }
        }
    }
}

#[tokio::test]
async fn reports_of_edge_servers_are_kept_and_seen() {
    let rig = Rig::start(config()).await;
    let mut edge = rig.edge("edge-1").await;
    edge.register("video", 0x4601).await;
    edge.status().await;
    edge.send(Request::FlowReport(FlowReport {
        flow_id: "video".into(),
        interval_us: 100_000,
        acknowledged_bytes: Some(62_500),
        application_limited: true,
        ..FlowReport::default()
    }))
    .await;
    // The stream is handled in order: when the next answer is here, the report was taken.
    edge.register("audio", 0x4602).await;
    edge.status().await;
    let mut operations = rig.operations().await;
    let flows = operations.list_flows(ListFlowsRequest {
        edge_id: "edge-1".into(),
    });
    let flows = flows.await.unwrap().into_inner().flows;
    let ids: Vec<_> = flows.iter().map(|flow| flow.flow_id.as_str()).collect();
    assert_eq!(ids, ["audio", "video"]);
    let report = flows[1].last_report.as_ref().expect("was sent");
    assert_eq!(report.acknowledged_bytes, Some(62_500));
    assert_eq!(report.sent_bytes, None);
    assert!(report.application_limited);
    assert!(flows[0].last_report.is_none());
}

#[tokio::test]
async fn refusals_carry_their_reason_and_the_stream_goes_on() {
    let mut settings = config();
    settings.guidance.max_flows_per_stream = 1;
    let rig = Rig::start(settings).await;
    let mut edge = rig.edge("edge-1").await;
    edge.register("a", 70_000).await;
    let status = edge.status().await;
    assert_eq!(status.state(), State::Refused);
    assert_eq!(
        status.detail,
        "ue.ran.c_rnti is 70000: a C-RNTI has 16 bits"
    );
    edge.register("a", 0x4601).await;
    assert_eq!(edge.status().await.state(), State::Unbound);
    edge.register("b", 0x4602).await;
    let status = edge.status().await;
    assert_eq!(
        (status.flow_id.as_str(), status.state()),
        ("b", State::Refused)
    );
    assert!(status.detail.contains("guidance.max_flows_per_stream"));
    edge.send(Request::UnregisterFlow(UnregisterFlow {
        flow_id: "a".into(),
    }))
    .await;
    edge.register("b", 0x4602).await;
    assert_eq!(edge.status().await.state(), State::Unbound);
}

#[tokio::test]
async fn a_stream_begins_with_one_hello_of_a_usable_name() {
    let rig = Rig::start(config()).await;
    let channel = rig.channel().await;
    let no_hello = Request::RegisterFlow(registration("a", 1));
    let nameless = Request::Hello(Hello::default());
    for (first, message) in [
        (no_hello, "the first message of a stream must be Hello"),
        (nameless, "edge_id has 0 octets: give 1 to 128"),
    ] {
        let (_requests, mut responses) = open(channel.clone(), first).await.unwrap();
        let end = responses.message().await.unwrap_err();
        assert_eq!(
            (end.code(), end.message()),
            (Code::InvalidArgument, message)
        );
    }

    let mut edge = rig.edge("edge-1").await;
    edge.send(Request::Hello(Hello {
        edge_id: "edge-2".into(),
        agent: String::new(),
    }))
    .await;
    let end = edge.responses.message().await.unwrap_err();
    assert_eq!(end.code(), Code::InvalidArgument);
    assert!(end.message().starts_with("a second Hello"));
}

#[tokio::test]
async fn edge_servers_beyond_the_limit_are_turned_away() {
    let mut settings = config();
    settings.guidance.max_streams = 1;
    let rig = Rig::start(settings).await;
    let first = rig.edge("edge-1").await;
    let refused = Edge::open(rig.channel().await, "edge-2")
        .await
        .err()
        .unwrap();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("guidance.max_streams"));
    drop(first);
    // Its place is free as soon as the end of its stream was noticed.
    while Edge::open(rig.channel().await, "edge-2").await.is_err() {}
}

#[tokio::test]
async fn a_second_stream_of_an_edge_server_takes_over() {
    let rig = Rig::start(config()).await;
    rig.node_up().await;
    let _reports = rig.report(vec![0x4601]);
    let mut first = rig.edge("edge-1").await;
    first.register("video", 0x4601).await;
    let before = first.batch().await[0].sequence;

    let mut second = rig.edge("edge-1").await;
    let end = loop {
        match first.responses.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("ended without a reason"),
            Err(end) => break end,
        }
    };
    assert_eq!(end.code(), Code::Aborted);
    assert!(end.message().contains("replaced by a newer stream"));
    second.register("video", 0x4601).await;
    assert!(second.batch().await[0].sequence > before);
}

#[tokio::test]
async fn a_reader_that_was_slow_finds_the_newest_guidance() {
    const DECISIONS: usize = 200;
    let rig = Rig::start(config()).await;
    rig.node_up().await;
    let _reports = rig.report(vec![0x4601]);
    let mut decisions = rig
        .operations()
        .await
        .watch_decisions(WatchDecisionsRequest {})
        .await
        .unwrap()
        .into_inner();

    // What a peer that does not read lets through is its own choice: the smaller, the sooner slots fill.
    let endpoint = rig.endpoint().initial_stream_window_size(1024);
    let mut edge = Edge::open(endpoint.connect().await.unwrap(), "edge-1")
        .await
        .unwrap();
    edge.register("video", 0x4601).await;
    let mut newest = 0;
    for _ in 0..DECISIONS {
        let seen = decisions.message().await.unwrap().unwrap();
        newest = seen.decision.unwrap().sequence;
    }

    let mut read = Vec::new();
    while read.last().is_none_or(|sequence| *sequence < newest) {
        if let Response::Batch(batch) = edge.message().await {
            read.extend(batch.guidance.iter().map(|guidance| guidance.sequence));
        }
    }
    assert!(read.is_sorted_by(|a, b| a < b));
    assert!(
        read.len() < DECISIONS / 4,
        "{} of {DECISIONS} were queued",
        read.len()
    );
}
