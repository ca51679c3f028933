//! The scout: an association on which Cantor looks at the node list, and the tasks of the nodes found there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use e2sm::e2ap::{GlobalE2NodeId, Pdu};
use tokio::sync::oneshot;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::association::{Associations, Lost};
use super::guard::is_guard;
use super::{Ric, node, rules};
use crate::ran::NodeId;

/// The longest pause between attempts to connect.
const LAST_RETRY: Duration = Duration::from_secs(30);
/// A RIC that ends within this time after it was spoken to ended suddenly.
const SUDDEN: Duration = Duration::from_secs(10);

/// The nodes that are served.
struct Nodes {
    ric: Arc<Ric>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
    served: HashMap<Id, NodeId>,
}

/// Keeps to the RIC until `stop`; then deletes what is subscribed.
pub(super) async fn scout(ric: Arc<Ric>, stop: CancellationToken) {
    let timing = ric.config.timing;
    let mut nodes = Nodes {
        ric: Arc::clone(&ric),
        stop: stop.clone(),
        tasks: JoinSet::new(),
        served: HashMap::new(),
    };
    let (mut retry, mut sudden_ends) = (timing.retry, 0);
    let mut told = None;
    while !stop.is_cancelled() {
        let connected = tokio::select! {
            () = stop.cancelled() => break,
            connected = Associations::connect(&ric) => connected,
        };
        let pause = match connected {
            Ok(association) => {
                (retry, told) = (timing.retry, None);
                tracing::info!(ric = %ric.config.ric, "connected to the RIC");
                let begun = Instant::now();
                let settle = rules::after_sudden_ends(timing.settle, sudden_ends);
                let Err(lost) = nodes.scout(association, settle, &stop).await else {
                    break;
                };
                tracing::warn!(ric = %ric.config.ric, reason = %lost, "the RIC is gone");
                if begun.elapsed() < settle + SUDDEN {
                    sudden_ends += 1;
                } else {
                    sudden_ends = 0;
                }
                timing.retry
            }
            Err(Lost(reason)) => {
                if told.as_ref() != Some(&reason) {
                    tracing::warn!(reason, "no RIC yet; Cantor goes on trying");
                    told = Some(reason);
                }
                let pause = retry;
                retry = (2 * retry).min(LAST_RETRY);
                pause
            }
        };
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
        }
    }
    let ended = async { while nodes.tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(timing.stop, ended).await.is_err() {
        tracing::warn!("not every subscription was deleted in time");
        nodes.tasks.shutdown().await;
    }
}

impl Nodes {
    /// Looks again and again. `Ok`: Cantor stops.
    async fn scout(
        &mut self,
        mut association: Associations,
        settle: Duration,
        stop: &CancellationToken,
    ) -> Result<(), Lost> {
        let counters = Arc::clone(&self.ric.counters);
        let mut aside = |pdu: Pdu, _| {
            counters.pdus_rejected.fetch_add(1, Relaxed);
            tracing::debug!(pdu = pdu.name(), "late or needless PDU from the RIC");
        };
        let mut pause = settle;
        loop {
            let wake = tokio::time::sleep(pause);
            tokio::pin!(wake);
            loop {
                tokio::select! {
                    () = stop.cancelled() => {
                        association.close().await;
                        return Ok(());
                    }
                    () = &mut wake => break,
                    pdu = association.next() => aside(pdu?, Instant::now()),
                    Some(ended) = self.tasks.join_next_with_id() => self.ended(&ended),
                }
            }
            let listed = association.set_up(0, &mut aside).await?;
            pause = self.ric.config.timing.refresh;
            if let Some(response) = listed {
                pause += rules::pause_for_ids(response.xapp_id);
                let mut found: BTreeMap<NodeId, GlobalE2NodeId> = response
                    .nodes
                    .into_iter()
                    .filter(|n| !is_guard(&n.node))
                    .map(|n| (node::node_id(&n.node), n.node))
                    .collect();
                tracing::debug!(nodes = found.len(), "node list");
                found.retain(|id, _| !self.served.values().any(|served| served == id));
                self.begin(found, stop).await;
            }
        }
    }

    /// Begins with nodes one after the other, in the order of their names: after a restart of the RIC it numbers
    /// their subscriptions as before.
    async fn begin(&mut self, found: BTreeMap<NodeId, GlobalE2NodeId>, stop: &CancellationToken) {
        for (id, node) in found {
            let (begun, has_begun) = oneshot::channel();
            let task = node::serve(Arc::clone(&self.ric), node, begun, self.stop.clone());
            self.served.insert(self.tasks.spawn(task).id(), id);
            tokio::select! {
                () = stop.cancelled() => return,
                // Nothing is ever sent: it is dropped.
                _ = has_begun => {}
            }
        }
    }

    fn ended(&mut self, ended: &Result<(Id, ()), tokio::task::JoinError>) {
        let id = match ended {
            Ok((id, ())) => *id,
            Err(error) => {
                tracing::error!(%error, "the task of an E2 node failed");
                error.id()
            }
        };
        self.served.remove(&id);
    }
}
