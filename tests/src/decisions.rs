//! What operators see of the decisions, over all restarts of the xApp.

use crate::record::{Record, Recorder};
use proto::operations::operations_service_client::OperationsServiceClient;
use proto::operations::{Decision, WatchDecisionsRequest};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// Pause between two attempts to connect.
const RETRY: Duration = Duration::from_millis(100);

/// A watch that is opened again whenever it ends.
#[derive(Debug)]
pub struct Decisions {
    seen: Record<Decision>,
    _task: AbortOnDropHandle<()>,
}

impl Decisions {
    /// Begins to watch.
    pub fn watch(url: String) -> Self {
        let (recorder, seen) = Record::new();
        let task = tokio::spawn(async move {
            loop {
                // Whatever ends it: it is opened again.
                let _ = read(url.clone(), &recorder).await;
                tokio::time::sleep(RETRY).await;
            }
        });
        Self {
            seen,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Number of decisions seen so far.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there were none yet.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Waits for so many decisions in all.
    pub async fn at_least(&self, count: usize) {
        let what = format!("{count} decisions");
        self.seen.find(&what, count - 1, |_| true).await;
    }

    /// Checks all decisions: sequences of each flow increase, and no more than `most_ues` UEs were ever counted.
    ///
    /// # Panics
    /// When one of them does not hold.
    pub fn check(&self, most_ues: u32) {
        let mut newest: BTreeMap<(String, String), u64> = BTreeMap::new();
        for decision in self.seen.entries() {
            assert!(
                (1..=most_ues).contains(&decision.active_ues),
                "more UEs than the {most_ues} with traffic: {decision:?}"
            );
            let flow = (decision.edge_id.clone(), decision.flow_id.clone());
            let before = newest.insert(flow, decision.sequence);
            assert!(before < Some(decision.sequence), "{before:?}: {decision:?}");
        }
    }
}

async fn read(url: String, recorder: &Recorder<Decision>) -> anyhow::Result<()> {
    let mut client = OperationsServiceClient::connect(url).await?;
    let mut decisions = client
        .watch_decisions(WatchDecisionsRequest {})
        .await?
        .into_inner();
    while let Some(seen) = decisions.message().await? {
        if let Some(decision) = seen.decision {
            recorder.add(decision);
        }
    }
    Ok(())
}
