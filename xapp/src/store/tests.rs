use super::*;
use crate::ran::NodeId;
use policies::{Decision, GainPolicy, RateBounds, Target, UeId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub(super) fn decision(flow: &str, sequence: u64) -> DecisionRecord {
    DecisionRecord {
        flow: FlowKey {
            edge: "edge".into(),
            flow: flow.into(),
        },
        node: NodeId("gnb".into()),
        ue: UeId::CRnti(1),
        sequence,
        time_us: sequence as i64,
        previous_rate_bps: 1e6,
        decision: Decision {
            rate_bps: 2e6,
            target_bitrate_bps: None,
            pacing_rate_bps: None,
            prbs: None,
            target_prbs: 10.0,
            gain_bps_per_prb: 5e5,
            chosen_gain: None,
            note: None,
        },
        policy: GainPolicy::Rapid,
        shadow: None,
        slice_policy: None,
        arm: None,
        active_ues: 1,
        queue_bytes: None,
        report_age: Duration::ZERO,
        at: Duration::from_secs(1),
        reports: Vec::new(),
        target: Target {
            factor: 0.9,
            cell_prbs: 80.0,
            active_flows: 1,
        },
        bounds: RateBounds {
            min_bps: 1e5,
            max_bps: 1e9,
        },
    }
}

#[test]
fn a_slow_watcher_is_told_how_many_decisions_it_lost() {
    let store = Store::memory();
    let mut watcher = store.watch();
    for n in 0..WATCHED as u64 + 5 {
        store.record(vec![decision("a", n)]);
    }
    assert!(matches!(
        watcher.try_recv(),
        Err(broadcast::error::TryRecvError::Lagged(5))
    ));
    assert_eq!(watcher.try_recv().unwrap().sequence, 5);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct First {
    share: u32,
}

/// The same kind of item, one version later.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Second {
    share: f64,
}

impl Stored for First {
    const KIND: Kind = Kind::Experiment;
    const VERSION: u32 = 1;
}

impl Stored for Second {
    const KIND: Kind = Kind::Experiment;
    const VERSION: u32 = 2;

    fn upgrade(version: u32, record: serde_json::Value) -> Option<Self> {
        let First { share } = (version == 1).then(|| serde_json::from_value(record).ok())??;
        Some(Self {
            share: f64::from(share) / 100.0,
        })
    }
}

#[test]
fn earlier_layouts_are_upgraded_and_later_ones_left_alone() {
    let store = Store::memory();
    store.put("old", &First { share: 50 }).unwrap();
    store.put("new", &Second { share: 0.25 }).unwrap();
    assert_eq!(
        store.load_all::<Second>(),
        [
            ("new".to_owned(), Second { share: 0.25 }),
            ("old".to_owned(), Second { share: 0.5 })
        ]
    );
    assert_eq!(
        store.load_all::<First>(),
        [("old".to_owned(), First { share: 50 })]
    );
    assert_eq!(store.get::<Second>("new"), Some(Second { share: 0.25 }));
}

#[test]
fn what_is_refused_changes_nothing() {
    let store = Store::memory();
    let changes = store.changes(Kind::Experiment);
    for n in 0..Kind::Experiment.limit() {
        store.put(&n.to_string(), &First { share: 1 }).unwrap();
    }
    let revision = *changes.borrow();
    let refused = store.put("one more", &First { share: 1 }).unwrap_err();
    assert!(refused.to_string().contains("1024"), "{refused}");
    assert!(store.put("", &First { share: 1 }).is_err());
    assert!(store.put("a\nb", &First { share: 1 }).is_err());
    assert_eq!(*changes.borrow(), revision);
    // Another value of a known key needs no room.
    store.put("7", &First { share: 2 }).unwrap();
    assert_eq!(store.get("7"), Some(First { share: 2 }));
    assert!(store.delete(Kind::Experiment, "7"));
    assert!(!store.delete(Kind::Experiment, "7"));
    store.put("one more", &First { share: 1 }).unwrap();
}

fn file(folder: &tempfile::TempDir) -> Settings {
    Settings {
        place: Place::File(folder.path().join("state.redb")),
        log_length: 10,
        ..Settings::default()
    }
}

async fn sequences(mut log: LogReader) -> Vec<u64> {
    let mut found = Vec::new();
    while let Some(decisions) = log.next().await.unwrap() {
        found.extend(decisions.iter().map(|decision| decision.sequence));
    }
    found
}

#[tokio::test]
async fn a_file_holds_items_flows_and_the_end_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let stop = CancellationToken::new();
    let (store, writer) = Store::open(file(&folder), stop.clone()).await.unwrap();
    store.put("kept", &First { share: 1 }).unwrap();
    store.put("deleted", &First { share: 1 }).unwrap();
    store.all_written().await;
    store.delete(Kind::Experiment, "deleted");
    // Decisions of today: those of flows are forgotten after a day.
    let now_us = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_micros() as u64;
    for n in 0..25 {
        store.record(vec![
            decision("a", now_us + n),
            decision("b/c", now_us + 100 + n),
        ]);
    }
    // The file is locked; this process reads its log all the same.
    let refused = Store::open(file(&folder), stop.clone()).await.unwrap_err();
    assert!(refused.to_string().contains("another process"), "{refused}");
    store.all_written().await;
    let log = store.log(0, i64::MAX).await.unwrap();
    assert_eq!(sequences(log).await.len(), 10);
    stop.cancel();
    writer.unwrap().await.unwrap();
    drop(store);

    let (since_us, until_us) = ((now_us + 23) as i64, (now_us + 24) as i64);
    let log = LogReader::open(&file(&folder), since_us, until_us)
        .await
        .unwrap();
    assert_eq!(sequences(log).await, [now_us + 23, now_us + 24]);
    let stop = CancellationToken::new();
    let (next, _writer) = Store::open(file(&folder), stop.clone()).await.unwrap();
    let items = next.load_all::<First>();
    assert_eq!(items, [("kept".to_owned(), First { share: 1 })]);
    let left = next.left(&decision("b/c", 0).flow).unwrap();
    assert_eq!(left.sequence, now_us + 124);
    assert_eq!(left.rate_bps, 2e6);
}

#[tokio::test]
async fn the_log_in_memory_has_the_newest_decisions() {
    let store = Store::memory();
    store.record((1..=10_005).map(|n| decision("a", n)).collect());
    let log = store.log(10_000, 10_003).await.unwrap();
    assert_eq!(sequences(log).await, [10_000, 10_001, 10_002, 10_003]);
    assert_eq!(sequences(store.log(0, 7).await.unwrap()).await, [6, 7]);
    assert_eq!(store.counts(), Counts::default());
}
