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
