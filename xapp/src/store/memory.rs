//! Store in memory, gone with the process.

use super::Store;
use crate::cell::DecisionRecord;
use crate::guidance::FlowKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Decisions that a slow watcher may lag behind.
const WATCHED: usize = 4096;

/// Keeps the last decision of a limited number of flows.
#[derive(Debug)]
pub struct Memory {
    max_flows: usize,
    last: Mutex<HashMap<FlowKey, Arc<DecisionRecord>>>,
    watchers: broadcast::Sender<Arc<DecisionRecord>>,
}

impl Memory {
    /// Remembers `max_flows` flows; beyond that, those decided longest ago are forgotten.
    pub fn new(max_flows: usize) -> Self {
        Self {
            max_flows: max_flows.max(1),
            last: Mutex::default(),
            watchers: broadcast::Sender::new(WATCHED),
        }
    }

    fn last_decisions(&self) -> MutexGuard<'_, HashMap<FlowKey, Arc<DecisionRecord>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn record(&self, decisions: Vec<DecisionRecord>) {
        let mut last = self.last_decisions();
        for decision in decisions {
            let decision = Arc::new(decision);
            last.insert(decision.flow.clone(), decision.clone());
            if self.watchers.receiver_count() > 0 {
                let _ = self.watchers.send(decision);
            }
        }
        if last.len() > self.max_flows {
            forget_oldest(&mut last, self.max_flows);
        }
    }

    fn last(&self, flow: &FlowKey) -> Option<Arc<DecisionRecord>> {
        self.last_decisions().get(flow).cloned()
    }

    fn watch(&self) -> broadcast::Receiver<Arc<DecisionRecord>> {
        self.watchers.subscribe()
    }
}

/// Leaves a tenth of the room free, so that this is not done for every new flow.
fn forget_oldest(last: &mut HashMap<FlowKey, Arc<DecisionRecord>>, max_flows: usize) {
    let mut times: Vec<_> = last.values().map(|d| d.time_us).collect();
    times.sort_unstable();
    let forget = last.len() - (max_flows - max_flows / 10);
    if let Some(&newest_forgotten) = times.get(forget - 1) {
        last.retain(|_, decision| decision.time_us > newest_forgotten);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ran::NodeId;
    use policies::{Decision, GainPolicy, UeId};
    use std::time::Duration;

    fn decision(flow: &str, sequence: u64) -> DecisionRecord {
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
                note: None,
            },
            policy: GainPolicy::Rapid,
            active_ues: 1,
            queue_bytes: None,
            report_age: Duration::ZERO,
        }
    }

    #[test]
    fn memory_is_bounded_and_keeps_the_newest_flows() {
        let store = Memory::new(10);
        for n in 0..100 {
            store.record(vec![decision(&n.to_string(), n)]);
        }
        assert!(store.last_decisions().len() <= 10);
        assert!(store.last(&decision("99", 0).flow).is_some());
        assert!(store.last(&decision("0", 0).flow).is_none());
    }

    #[test]
    fn a_slow_watcher_is_told_how_many_decisions_it_lost() {
        let store = Memory::new(10);
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
}
