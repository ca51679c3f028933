//! Redis that is slow, gone, empty, full or read-only: nothing that was accepted is lost, and all is written back.

use crate::{Writing, policies};
use system_tests::redis::{RedisServer, wanted};
use xapp::store::{Kind, Naming, Settings, Store};

const POLICY: &str = "{cantor}:policy:video";

#[tokio::test]
async fn state_is_found_by_the_next_process() {
    if !wanted("state_is_found_by_the_next_process") {
        return;
    }
    let redis = RedisServer::start().await;
    let first = Writing::open(&redis.url()).await;
    first.put("video", 0.8);
    first.put("games", 0.5);
    first.put("deleted", 0.1);
    first.written().await;
    first.store.delete(Kind::Policy, "deleted");
    first.put("video", 0.9);
    // The end of the process writes what waits.
    first.end().await;
    let next = Writing::open(&redis.url()).await;
    let expected = [("games".to_owned(), 0.5), ("video".to_owned(), 0.9)];
    assert_eq!(policies(&next.store), expected);
    assert_eq!(
        redis.ask(&["GET", POLICY]),
        r#"{"v":1,"record":{"factor":0.9}}"#
    );
    assert_eq!(
        redis
            .ask(&["SMEMBERS", "{cantor}:index:policy"])
            .lines()
            .count(),
        2
    );
    next.end().await;
}

#[tokio::test]
async fn keys_are_named_as_the_shared_data_layer_does() {
    if !wanted("keys_are_named_as_the_shared_data_layer_does") {
        return;
    }
    let redis = RedisServer::start().await;
    let store = Writing::with(Settings {
        place: redis.url().parse().expect("an address"),
        namespace: "xapp-1".into(),
        naming: Naming::Sdl,
        ..Settings::default()
    })
    .await;
    store.put("video", 0.8);
    store.written().await;
    assert!(redis.ask(&["GET", "{xapp-1},policy:video"]).contains("0.8"));
    let group = redis.ask(&["SMEMBERS", "{xapp-1},index:policy"]);
    assert_eq!(group, "video");
    store.end().await;
}

#[tokio::test]
async fn redis_that_stands_still_is_written_when_it_goes_on() {
    if !wanted("redis_that_stands_still_is_written_when_it_goes_on") {
        return;
    }
    let redis = RedisServer::start().await;
    let store = Writing::open(&redis.url()).await;
    store.put("video", 0.8);
    store.written().await;
    redis.signal("STOP");
    store.put("video", 0.7);
    assert!(store.lost().await.contains("no answer in time"));
    store.put("games", 0.5);
    store.store.delete(Kind::Policy, "video");
    redis.signal("CONT");
    store.good().await;
    store.written().await;
    assert_eq!(redis.ask(&["EXISTS", POLICY]), "0");
    assert_eq!(redis.ask(&["SMEMBERS", "{cantor}:index:policy"]), "games");
    store.end().await;
}

#[tokio::test]
async fn redis_that_comes_back_empty_gets_all_again() {
    if !wanted("redis_that_comes_back_empty_gets_all_again") {
        return;
    }
    let mut redis = RedisServer::start().await;
    let store = Writing::open(&redis.url()).await;
    store.put("video", 0.8);
    store.put("games", 0.5);
    store.written().await;
    redis.kill();
    store.put("video", 0.7);
    store.lost().await;
    redis.come_back().await;
    store.good().await;
    store.written().await;
    assert!(redis.ask(&["GET", POLICY]).contains("0.7"));
    // Also without an outage that could be noticed.
    redis.ask(&["FLUSHALL"]);
    store.put("music", 0.1);
    store.written().await;
    redis
        .answers(&["SCARD", "{cantor}:index:policy"], |count| count == "3")
        .await;
    store.written().await;
    assert!(redis.ask(&["GET", POLICY]).contains("0.7"));
    store.end().await;
}

#[tokio::test]
async fn redis_that_comes_back_with_old_data_gets_the_new() {
    if !wanted("redis_that_comes_back_with_old_data_gets_the_new") {
        return;
    }
    let mut redis = RedisServer::start().await;
    let store = Writing::open(&redis.url()).await;
    store.put("video", 0.8);
    store.put("deleted", 0.5);
    store.written().await;
    redis.ask(&["SAVE"]);
    store.put("video", 0.7);
    store.store.delete(Kind::Policy, "deleted");
    store.written().await;
    redis.kill();
    store.lost().await;
    redis.come_back().await;
    store.good().await;
    store.written().await;
    assert!(redis.ask(&["GET", POLICY]).contains("0.7"));
    assert_eq!(redis.ask(&["EXISTS", "{cantor}:policy:deleted"]), "0");
    store.end().await;
}

#[tokio::test]
async fn a_full_redis_is_written_when_it_has_room() {
    if !wanted("a_full_redis_is_written_when_it_has_room") {
        return;
    }
    let redis = RedisServer::start().await;
    let store = Writing::open(&redis.url()).await;
    store.put("video", 0.8);
    store.written().await;
    redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
    store.put("video", 0.7);
    let reason = store.lost().await;
    assert!(reason.contains("full (maxmemory is reached)"), "{reason}");
    assert!(redis.ask(&["GET", POLICY]).contains("0.8"));
    redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    store.good().await;
    store.written().await;
    assert!(redis.ask(&["GET", POLICY]).contains("0.7"));
    store.end().await;
}

#[tokio::test]
async fn a_master_that_became_a_replica_is_written_when_it_is_one_again() {
    if !wanted("a_master_that_became_a_replica_is_written_when_it_is_one_again") {
        return;
    }
    let redis = RedisServer::start().await;
    let store = Writing::open(&redis.url()).await;
    store.put("video", 0.8);
    store.written().await;
    redis.ask(&["REPLICAOF", "127.0.0.1", "1"]);
    store.put("video", 0.7);
    let reason = store.lost().await;
    assert!(reason.contains("read-only replica"), "{reason}");
    redis.ask(&["REPLICAOF", "NO", "ONE"]);
    store.good().await;
    store.written().await;
    assert!(redis.ask(&["GET", POLICY]).contains("0.7"));
    store.end().await;
}

/// What is put before Redis is there wins over what it has; the rest is found when it comes.
#[tokio::test]
async fn redis_may_come_later_than_the_process() {
    if !wanted("redis_may_come_later_than_the_process") {
        return;
    }
    let mut redis = RedisServer::start().await;
    let first = Writing::open(&redis.url()).await;
    first.put("video", 0.8);
    first.put("games", 0.5);
    first.put("music", 0.1);
    first.end().await;
    redis.ask(&["SAVE"]);
    redis.kill();

    let next = Writing::open(&redis.url()).await;
    assert_eq!(policies(&next.store), []);
    let mut changes = next.store.changes(Kind::Policy);
    changes.mark_unchanged();
    next.put("video", 0.7);
    next.put("music", 0.2);
    next.store.delete(Kind::Policy, "music");
    redis.come_back().await;
    next.written().await;
    assert!(changes.has_changed().expect("the store is open"));
    let expected = [("games".to_owned(), 0.5), ("video".to_owned(), 0.7)];
    assert_eq!(policies(&next.store), expected);
    assert!(redis.ask(&["GET", POLICY]).contains("0.7"));
    assert_eq!(redis.ask(&["EXISTS", "{cantor}:policy:music"]), "0");
    next.end().await;
}

/// Memory without Redis stays what it is, whatever is asked of the store.
#[tokio::test]
async fn items_of_a_store_in_memory_need_no_redis() {
    let store = Store::memory();
    store
        .put("video", &crate::Policy { factor: 0.8 })
        .expect("accepted");
    store.all_written().await;
    assert_eq!(policies(&store), [("video".to_owned(), 0.8)]);
}
