//! The client against a guidance server in the same process. Every wait is for an event; the limit only ends a test
//! that would hang.

mod server;

use edge::client::{Config, EdgeClient, Event, FlowHandle, FlowSpec, Link, Registration, Ue};
use edge::fallback::SafeRate;
use edge::guidance::{FlowSettings, Phase};
use edge::report::FlowMeasurement;
use proto::guidance::flow_status::State;
use proto::guidance::guide_request::Message as FromEdge;
use server::Server;
use std::time::Duration;
use tokio::sync::broadcast;

const LIMIT: Duration = Duration::from_secs(60);
/// Guidance that does not expire while a test runs.
const LONG: u64 = 3_600_000_000;

fn config(uri: String) -> Config {
    Config {
        backoff_base: Duration::from_millis(10),
        backoff_max: Duration::from_millis(50),
        report_interval: Duration::from_millis(10),
        ..Config::new(uri, "edge-test")
    }
}

fn flow(flow_id: &str) -> FlowSpec {
    FlowSpec {
        settings: FlowSettings {
            start_rate_bps: 3e6,
            max_valid_for: Duration::from_secs(3_600),
            ..Default::default()
        },
        fallback: Box::new(SafeRate::new(1e6, Duration::from_millis(10))),
        ..FlowSpec::new(flow_id, Ue::Ip("10.0.0.7".parse().unwrap()))
    }
}

async fn within<T>(wait: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LIMIT, wait).await;
    waited.expect("what the test waits for did not come")
}

/// Waits for an event that `pick` wants.
async fn event<T>(events: &mut broadcast::Receiver<Event>, pick: impl Fn(Event) -> Option<T>) -> T {
    within(async {
        loop {
            if let Some(picked) = pick(events.recv().await.unwrap()) {
                return picked;
            }
        }
    })
    .await
}

/// Waits for the flow to be in a phase: its rate then.
async fn phase(flow: &FlowHandle, phase: Phase) -> f64 {
    let mut pacing = flow.pacing();
    let found = within(pacing.wait_for(|p| p.phase == phase)).await.unwrap();
    found.rate_bps
}

/// The phases that a flow goes through, up to `last`.
async fn phases(events: &mut broadcast::Receiver<Event>, last: Phase) -> Vec<(Phase, f64)> {
    let mut seen = Vec::new();
    loop {
        let next = event(events, |e| match e {
            Event::Phase { to, rate_bps, .. } => Some((to, rate_bps)),
            _ => None,
        })
        .await;
        seen.push(next);
        if next.0 == last {
            return seen;
        }
    }
}

/// Guided, held and given up, at one rate until then. A machine so busy that the hold passes unseen goes on to the
/// fallback at once.
fn assert_falls_back(seen: &[(Phase, f64)], guided_bps: f64) {
    let [(Phase::Guided, first), middle @ .., (Phase::Fallback, _)] = seen else {
        panic!("{seen:?}");
    };
    assert_eq!(*first, guided_bps);
    assert!(
        middle.is_empty() || middle == [(Phase::Holding, guided_bps)],
        "{seen:?}"
    );
}

#[tokio::test]
async fn guidance_reaches_the_flow_and_old_sequences_do_not() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(config(server.uri())).unwrap();
    let mut events = client.events();
    let flow = client.register(flow("a")).await.unwrap();
    assert_eq!(flow.pacing().borrow().phase, Phase::Waiting);

    let mut stream = server.stream().await;
    let registration = stream.registration().await;
    assert_eq!(registration.flow_id, "a");
    assert!((1_000_000..=3_000_000).contains(&registration.current_rate_bps));
    stream.status("a", State::Bound, "").await;
    let mut status = flow.status();
    let bound = within(status.wait_for(|s| s.state == Registration::Bound)).await;
    assert_eq!(bound.unwrap().policy, "rapid");

    stream.guide("a", 10, 800_000, LONG).await;
    assert_eq!(phase(&flow, Phase::Guided).await, 8e5);
    stream.guide("a", 10, 900_000, LONG).await;
    stream.guide("a", 9, 950_000, LONG).await;
    stream.guide("nobody", 99, 1, LONG).await;
    for dropped in [10, 9] {
        let sequence = event(&mut events, |e| match e {
            Event::Dropped { sequence, .. } => Some(sequence),
            _ => None,
        });
        assert_eq!(sequence.await, dropped);
    }
    assert_eq!(flow.pacing().borrow().rate_bps, 8e5);
    stream.guide("a", 11, 500_000, LONG).await;
    let mut pacing = flow.pacing();
    let newest = within(pacing.wait_for(|p| p.sequence == 11))
        .await
        .unwrap()
        .rate_bps;
    assert_eq!(newest, 5e5);
    assert_eq!((flow.counters().accepted, flow.counters().old), (2, 2));
}

#[tokio::test]
async fn stale_guidance_is_held_then_falls_back_and_comes_back_on_a_ramp() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(config(server.uri())).unwrap();
    let mut events = client.events();
    let flow = client.register(flow("a")).await.unwrap();
    let mut stream = server.stream().await;
    stream.registration().await;

    stream.guide("a", 1, 900_000, 30_000).await;
    assert_falls_back(&phases(&mut events, Phase::Fallback).await, 9e5);

    // The fallback settles at the safe rate: the way back begins there.
    let mut pacing = flow.pacing();
    within(pacing.wait_for(|p| p.rate_bps == 1e6))
        .await
        .unwrap();
    stream.guide("a", 2, 4_000_000, LONG).await;
    let seen = phases(&mut events, Phase::Guided).await;
    assert_eq!(seen[0].0, Phase::Ramping);
    assert!(seen[0].1 < 4e6, "no jump: {seen:?}");
    assert_eq!(seen[1], (Phase::Guided, 4e6));
}

#[tokio::test]
async fn flows_are_registered_again_when_the_server_comes_back() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(config(server.uri())).unwrap();
    let mut events = client.events();
    let flow_a = client.register(flow("a")).await.unwrap();
    let flow_b = client.register(flow("b")).await.unwrap();
    let mut stream = server.stream().await;
    for _ in 0..2 {
        let flow_id = stream.registration().await.flow_id;
        stream.status(&flow_id, State::Bound, "").await;
        stream.guide(&flow_id, 5, 700_000, LONG).await;
    }
    assert_eq!(phase(&flow_a, Phase::Guided).await, 7e5);
    assert_eq!(phase(&flow_b, Phase::Guided).await, 7e5);

    let address = server.address;
    drop(stream);
    server.kill().await;
    event(&mut events, |e| {
        matches!(e, Event::Link(Link::Disconnected { .. })).then_some(())
    })
    .await;
    let mut status = flow_a.status();
    within(status.wait_for(|s| s.state == Registration::Pending))
        .await
        .unwrap();
    // Valid guidance stays valid while the xApp is away. A flow may come meanwhile, another one may go.
    assert_eq!(flow_a.pacing().borrow().phase, Phase::Guided);
    let flow_c = client.register(flow("c")).await.unwrap();
    drop(flow_b);

    let mut server = Server::at(address).await;
    let mut stream = within(server.stream()).await;
    let mut registered = Vec::new();
    let has = |registered: &[(String, u64, u64)], id| registered.iter().any(|flow| flow.0 == id);
    while !has(&registered, "c") || !has(&registered, "a") {
        match within(stream.next()).await {
            FromEdge::RegisterFlow(flow) => {
                registered.push((flow.flow_id, flow.current_rate_bps, flow.last_sequence));
            }
            // Only if b's handle was dropped so late that it was registered once more.
            FromEdge::UnregisterFlow(flow) => assert_eq!(flow.flow_id, "b"),
            other => panic!("{other:?}"),
        }
    }
    // The new server learns where the flow stands.
    assert!(
        registered.contains(&("a".into(), 700_000, 5)),
        "{registered:?}"
    );

    // Sequences go on over the restart.
    stream.guide("a", 5, 100_000, LONG).await;
    event(&mut events, |e| {
        matches!(e, Event::Dropped { sequence: 5, .. }).then_some(())
    })
    .await;
    stream.guide("a", 6, 600_000, LONG).await;
    let mut pacing = flow_a.pacing();
    within(pacing.wait_for(|p| p.rate_bps == 6e5))
        .await
        .unwrap();
    drop(flow_c);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again_and_again() {
    let server = Server::start().await;
    let address = server.address;
    server.kill().await;
    let client = EdgeClient::connect(config(format!("http://{address}"))).unwrap();
    let mut events = client.events();
    for _ in 0..3 {
        let reason = event(&mut events, |e| match e {
            Event::Link(Link::Disconnected { reason, .. }) => Some(reason),
            _ => None,
        });
        assert!(reason.await.contains("refused"));
    }
    let mut server = Server::at(address).await;
    let _stream = within(server.stream()).await;
    let mut link = client.link();
    let connected = within(link.wait_for(|l| matches!(l, Link::Connected { .. })))
        .await
        .unwrap();
    assert!(matches!(&*connected, Link::Connected { xapp_id, .. } if xapp_id == "xapp-test"));
}

#[tokio::test]
async fn connections_that_end_at_once_are_made_less_and_less_often() {
    // What two clients of one edge_id do to each other.
    let mut server = Server::start().await;
    let config = Config {
        backoff_base: Duration::from_millis(1),
        backoff_max: Duration::from_secs(3_600),
        ..config(server.uri())
    };
    let client = EdgeClient::connect(config).unwrap();
    let mut events = client.events();
    let mut waits = Vec::new();
    for _ in 0..6 {
        drop(within(server.stream()).await);
        let wait = event(&mut events, |e| match e {
            Event::Link(Link::Disconnected { retry_in, .. }) => Some(retry_in),
            _ => None,
        });
        waits.push(wait.await);
    }
    // Attempt k waits at least half of its full time: the last longer than the first at its longest.
    assert!(waits[5] > 8 * waits[0], "{waits:?}");
}

#[tokio::test]
async fn a_refused_flow_says_why_and_runs_on_its_fallback() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(config(server.uri())).unwrap();
    let flow = client.register(flow("a")).await.unwrap();
    let mut stream = server.stream().await;
    stream.registration().await;
    stream.status("a", State::Refused, "no such slice").await;
    let mut status = flow.status();
    let refused = within(status.wait_for(|s| s.state == Registration::Refused)).await;
    assert_eq!(refused.unwrap().detail, "no such slice");
    let mut pacing = flow.pacing();
    let settled = within(pacing.wait_for(|p| p.rate_bps == 1e6))
        .await
        .unwrap()
        .phase;
    assert_eq!(settled, Phase::Waiting);
}

#[tokio::test]
async fn a_server_that_never_welcomes_is_given_up() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(Config {
        connect_timeout: Duration::from_secs(1),
        ..config(server.uri())
    })
    .unwrap();
    let mut events = client.events();
    let stalled = within(server.silent_stream()).await;
    let reason = event(&mut events, |e| match e {
        Event::Link(Link::Disconnected { reason, .. }) => Some(reason),
        _ => None,
    });
    assert!(reason.await.contains("welcome"));
    assert!(within(stalled.closed()).await);
    // The next attempt finds a server that is well.
    let mut stream = within(server.silent_stream()).await;
    assert!(matches!(within(stream.any()).await, FromEdge::Hello(_)));
}

#[tokio::test]
async fn a_server_that_stalls_is_given_up_while_its_flows_fall_back() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(Config {
        silence_limit: Duration::from_secs(1),
        ..config(server.uri())
    })
    .unwrap();
    let mut events = client.events();
    let _flow = client.register(flow("a")).await.unwrap();
    let mut stream = server.stream().await;
    stream.registration().await;
    stream.status("a", State::Bound, "").await;
    stream.guide("a", 1, 900_000, 20_000).await;
    // From here on it keeps the connection open and says nothing.
    assert_falls_back(&phases(&mut events, Phase::Fallback).await, 9e5);
    let reason = event(&mut events, |e| match e {
        Event::Link(Link::Disconnected { reason, .. }) => Some(reason),
        _ => None,
    });
    assert!(reason.await.contains("nothing from the xApp"));
    assert!(within(stream.closed()).await);
    let mut stream = within(server.stream()).await;
    assert_eq!(within(stream.registration()).await.flow_id, "a");
}

#[tokio::test]
async fn a_server_that_does_not_read_makes_the_client_neither_wait_nor_grow() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(Config {
        max_flows: 300,
        ..config(server.uri())
    })
    .unwrap();
    let stream = server.stream().await;
    // More registrations than HTTP/2's window and the queue take: nobody reads them.
    let mut flows = Vec::new();
    for i in 0..300 {
        let mut spec = flow(&format!("f{i}"));
        spec.policies = vec!["p".repeat(1_000)];
        flows.push(within(client.register(spec)).await.unwrap());
    }
    let refused = within(client.register(flow("one-more"))).await;
    assert!(matches!(refused, Err(edge::Error::TooManyFlows(300))));
    // Guidance still comes through.
    stream.guide("f7", 1, 800_000, LONG).await;
    assert_eq!(phase(&flows[7], Phase::Guided).await, 8e5);
}

#[tokio::test]
async fn what_is_measured_is_reported_with_the_sequence_that_was_applied() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(config(server.uri())).unwrap();
    let flow = client.register(flow("a")).await.unwrap();
    let mut stream = server.stream().await;
    stream.registration().await;
    stream.guide("a", 3, 800_000, LONG).await;
    phase(&flow, Phase::Guided).await;
    let measured = |sent, acknowledged| FlowMeasurement {
        interval: Duration::from_millis(50),
        sent_bytes: Some(sent),
        acknowledged_bytes: acknowledged,
        one_way_delay_mean: Some(Duration::from_millis(12)),
        ..Default::default()
    };
    flow.measured(&measured(1_000, None));
    flow.measured(&measured(500, Some(900)));
    let (mut sent, mut acknowledged, mut interval) = (0, 0, 0);
    while sent < 1_500 || acknowledged < 900 {
        let FromEdge::FlowReport(report) = within(stream.any()).await else {
            continue;
        };
        assert_eq!((report.flow_id.as_str(), report.applied_sequence), ("a", 3));
        assert_eq!(report.one_way_delay_mean_us, Some(12_000));
        assert_eq!(report.lost_packets, None);
        sent += report.sent_bytes.unwrap_or(0);
        acknowledged += report.acknowledged_bytes.unwrap_or(0);
        interval += report.interval_us;
    }
    assert_eq!((sent, acknowledged, interval), (1_500, 900, 100_000));
}

#[tokio::test]
async fn a_dropped_handle_unregisters_its_flow_and_the_last_one_ends_the_stream() {
    let mut server = Server::start().await;
    let client = EdgeClient::connect(config(server.uri())).unwrap();
    let flow_a = client.register(flow("a")).await.unwrap();
    let taken = client.register(flow("a")).await;
    assert!(matches!(taken, Err(edge::Error::DuplicateFlow(id)) if id == "a"));
    let mut stream = server.stream().await;
    stream.registration().await;
    drop(flow_a);
    match within(stream.next()).await {
        FromEdge::UnregisterFlow(flow) => assert_eq!(flow.flow_id, "a"),
        other => panic!("{other:?}"),
    }
    let again = client.register(flow("a")).await.unwrap();
    assert_eq!(within(stream.registration()).await.flow_id, "a");
    drop((client, again));
    assert!(within(stream.closed()).await);
}

#[tokio::test]
async fn wrong_settings_are_refused_with_their_names() {
    for (uri, edge_id, expected) in [
        ("not a uri", "e", "not a uri"),
        ("https://127.0.0.1:1", "e", "scheme"),
        ("127.0.0.1:1", "e", "127.0.0.1:1"),
        ("http://127.0.0.1:1", "", "edge_id"),
    ] {
        let error = EdgeClient::connect(Config::new(uri, edge_id)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let client = EdgeClient::connect(Config::new("http://127.0.0.1:1", "e")).unwrap();
    let error = client.register(flow(&"x".repeat(129))).await.unwrap_err();
    assert!(error.to_string().contains("flow_id"), "{error}");
    let mut unbounded = flow("a");
    unbounded.settings.start_rate_bps = f64::NAN;
    let error = client.register(unbounded).await.unwrap_err();
    assert!(error.to_string().contains("rates"), "{error}");
}
