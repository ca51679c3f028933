//! `cantor run` killed under load, with its state in Redis: the next process goes on where it was.

use edge::client::Registration;
use edge::guidance::Phase;
use proto::operations::operations_service_client::OperationsServiceClient;
use proto::operations::{Decision, WatchDecisionsRequest};
use std::time::{Duration, Instant};
use system_tests::edge_server::EdgeServer;
use system_tests::lag::Lag;
use system_tests::redis::{RedisServer, wanted};
use system_tests::site::{Site, VALID_FOR};
use system_tests::stream::BareStream;
use system_tests::within_patience;
use transport::Protocol::Tcp;

/// Within this time of its start the next process decides for all flows again.
const START: Duration = Duration::from_secs(2);

const POLICY: &str = "\
apiVersion: cantor.io/v1
kind: SlicePolicy
metadata:
  name: video
spec:
  prb:
    targetFactor: 0.8
";

/// Flow of each edge server as it is stored, and what was decided for it.
fn stored(redis: &RedisServer, flow: &str) -> serde_json::Value {
    let text = redis.ask(&["GET", &format!("{{cantor}}:flow:{flow}")]);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{flow}: {text:?}: {error}"))
}

async fn apply_policy(site: &Site) {
    let policy = tempfile::Builder::new()
        .suffix(".yaml")
        .tempfile()
        .expect("a file");
    std::fs::write(policy.path(), POLICY).expect("a file");
    let file = policy.path().display().to_string();
    site.cantor(&["policy", "apply", "--file", &file]).await;
}

#[tokio::test]
async fn a_killed_xapp_goes_on_at_the_last_rates() {
    if !wanted("a_killed_xapp_goes_on_at_the_last_rates") {
        return;
    }
    let redis = RedisServer::start().await;
    let site = Site::with(Tcp, &format!("[store]\nurl = \"{}\"\n", redis.url()));
    let lag = Lag::start();
    let mut xapp = site.xapp().await;
    let cell = site.cell().await;
    let edge = EdgeServer::start(site.url(), "edge-1", 1).await;
    let stream = BareStream::start(site.url(), "edge-2", 2);
    edge.registration(Registration::Bound).await;
    edge.phase(0, Phase::Guided).await;
    stream.newer_than(0).await;
    apply_policy(&site).await;
    site.cantor(&["bind", "10.45.0.2", "--c-rnti", "0x4601"])
        .await;
    let ready = site.page("/ric/v1/health/ready").await;
    assert!(ready.contains("\"good\":true"), "{ready}");
    // A few decisions, so that the rates are not those of the start.
    let first = edge.sequence();
    let count = |answer: &str| answer.parse().is_ok_and(|decisions: usize| decisions >= 20);
    redis.answers(&["XLEN", "{cantor}:log"], count).await;

    xapp.kill();
    let before = (edge.sequence(), stream.newer_than(0).await);
    assert!(before.0 > first);
    let left = ["edge-1/in-process", "edge-2/bare"].map(|flow| stored(&redis, flow));
    println!(
        "left: {} and {} bit/s",
        left[0]["rate_bps"], left[1]["rate_bps"]
    );

    let started = Instant::now();
    let _xapp = site.xapp().await;
    let mut operations = OperationsServiceClient::connect(site.url())
        .await
        .expect("operations");
    let decisions = operations.watch_decisions(WatchDecisionsRequest {}).await;
    let mut decisions = decisions.expect("decisions").into_inner();
    let mut goes_on: [Option<Decision>; 2] = [None, None];
    while goes_on.iter().any(Option::is_none) {
        let next = within_patience("a decision", decisions.message()).await;
        let decision = next.expect("a stream").and_then(|next| next.decision);
        let decision = decision.expect("a decision");
        let place = usize::from(decision.edge_id == "edge-2");
        goes_on[place].get_or_insert(decision);
    }
    let took = started.elapsed();
    println!(
        "all flows go on {took:?} after the start, worst lag of the test {:?}",
        lag.worst()
    );
    for (decision, left) in goes_on.into_iter().flatten().zip(&left) {
        let rate = left["rate_bps"].as_f64().expect("a rate") as u64;
        assert_eq!(
            decision.previous_rate_bps, rate,
            "{decision:?} after {left}"
        );
        let sequence = left["sequence"].as_u64().expect("a sequence");
        assert!(decision.sequence > sequence);
    }
    assert!(took <= START + lag.worst() * 4, "{took:?}");

    // No policy and no binding is lost.
    let policies = site.cantor(&["policy", "list"]).await;
    assert!(policies.contains("video"), "{policies}");
    let bindings = site.cantor(&["bind", "--list"]).await;
    assert!(bindings.contains("10.45.0.2"), "{bindings}");

    // Edge servers see newer guidance only, and follow it.
    stream.newer_than(before.1).await;
    edge.phase(edge.applied() - 1, Phase::Guided).await;
    assert!(edge.sequence() > before.0);
    edge.check(VALID_FOR, lag.worst());
    stream.check(VALID_FOR, lag.worst());
    drop(cell);
}

/// Redis stands still: control goes on, what is applied is accepted, and the health says what is wrong.
#[tokio::test]
async fn control_goes_on_while_redis_stands_still() {
    if !wanted("control_goes_on_while_redis_stands_still") {
        return;
    }
    let redis = RedisServer::start().await;
    let site = Site::with(Tcp, &format!("[store]\nurl = \"{}\"\n", redis.url()));
    let mut xapp = site.xapp().await;
    let _cell = site.cell().await;
    let stream = BareStream::start(site.url(), "edge-2", 2);
    stream.newer_than(0).await;
    redis.signal("STOP");
    xapp.line("the store cannot be written").await;
    apply_policy(&site).await;
    let mut sequence = stream.newer_than(0).await;
    for _ in 0..10 {
        sequence = stream.newer_than(sequence).await;
    }
    let ready = site.page("/ric/v1/health/ready").await;
    assert!(
        ready.starts_with("HTTP/1.0 200") && ready.contains("no answer in time"),
        "{ready}"
    );
    let metrics = site.page("/ric/v1/metrics").await;
    assert!(metrics.contains("cantor_store_good 0"), "{metrics}");
    redis.signal("CONT");
    xapp.line("the store is back").await;
    let there = |answer: &str| answer.lines().count() == 1;
    redis
        .answers(&["SMEMBERS", "{cantor}:index:policy"], there)
        .await;
}
