//! Redis behind Sentinels, as a cluster, and on a Unix socket.

use crate::{Writing, policies};
use system_tests::redis::{RedisServer, Sentinel, wanted};

#[tokio::test]
async fn a_failover_by_sentinel_loses_nothing() {
    if !wanted("a_failover_by_sentinel_loses_nothing") {
        return;
    }
    let mut master = RedisServer::start().await;
    let port = master.address().port().to_string();
    let replica = RedisServer::with(&["--replicaof", "127.0.0.1", &port]).await;
    let up = |answer: &str| answer.contains("master_link_status:up");
    replica.answers(&["INFO", "replication"], up).await;
    let mut sentinel = Sentinel::start(master.address()).await;

    let store = Writing::open(&sentinel.url()).await;
    store.put("video", 0.8);
    store.written().await;
    assert!(
        master
            .ask(&["GET", "{cantor}:policy:video"])
            .contains("0.8")
    );

    master.kill();
    store.put("video", 0.7);
    store.lost().await;
    store.put("games", 0.5);
    sentinel.switched().await;
    store.good().await;
    store.written().await;
    assert!(replica.ask(&["ROLE"]).starts_with("master"));
    assert!(
        replica
            .ask(&["GET", "{cantor}:policy:video"])
            .contains("0.7")
    );
    assert!(
        replica
            .ask(&["GET", "{cantor}:policy:games"])
            .contains("0.5")
    );
    store.end().await;
}

#[tokio::test]
async fn a_cluster_is_written_and_read() {
    if !wanted("a_cluster_is_written_and_read") {
        return;
    }
    let node = RedisServer::with(&["--cluster-enabled", "yes"]).await;
    node.ask(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    let ok = |answer: &str| answer.contains("cluster_state:ok");
    node.answers(&["CLUSTER", "INFO"], ok).await;

    let url = format!("redis-cluster://{}", node.address());
    let first = Writing::open(&url).await;
    for n in 0..200 {
        first.put(&format!("policy-{n}"), 0.5);
    }
    first.written().await;
    first.end().await;
    let next = Writing::open(&url).await;
    assert_eq!(policies(&next.store).len(), 200);
    node.signal("STOP");
    next.put("policy-0", 0.7);
    next.lost().await;
    node.signal("CONT");
    next.good().await;
    next.written().await;
    assert!(
        node.ask(&["GET", "{cantor}:policy:policy-0"])
            .contains("0.7")
    );
    next.end().await;
}

#[tokio::test]
async fn a_password_is_sent_and_not_shown() {
    if !wanted("a_password_is_sent_and_not_shown") {
        return;
    }
    let redis = RedisServer::with(&["--requirepass", "s3cret"]).await;
    let refused = Writing::open(&redis.url()).await;
    let reason = refused.lost().await;
    assert!(
        reason.contains("NOAUTH") || reason.contains("uthenticat"),
        "{reason}"
    );
    refused.end().await;
    let url = format!("redis://:s3cret@{}", redis.address());
    let store = Writing::open(&url).await;
    store.put("video", 0.8);
    store.written().await;
    assert!(!format!("{:?}", store.store).contains("s3cret"));
    store.end().await;
}
