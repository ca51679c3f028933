//! Asks the operations API.

use crate::cli::xapp::TIMEOUT;
use anyhow::Context as _;
use proto::operations::operations_service_client::OperationsServiceClient;
use proto::operations::{
    Decision, Flow, GetStatusRequest, ListFlowsRequest, ListNodesRequest, ListUesRequest, Node,
    Status, Ue, WatchDecisionsRequest,
};
use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tonic::transport::{Channel, Endpoint};

/// Decisions that are kept, newest first.
const DECISIONS: usize = 500;
/// Wait before a lost xApp is asked again.
const RETRY: Duration = Duration::from_secs(1);
/// A node with 10,000 UEs has lists of some MiB.
const MAX_MESSAGE: usize = 64 << 20;

/// Everything that is shown, at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// When it was taken, Unix µs.
    pub(super) taken_us: i64,
    pub(super) status: Status,
    pub(super) nodes: Vec<Node>,
    pub(super) ues: Vec<Ue>,
    pub(super) flows: Vec<Flow>,
    /// Newest first.
    pub(super) decisions: VecDeque<Decision>,
    /// Decisions that came faster than they were read.
    pub(super) skipped: u64,
}

/// What came from the xApp.
#[derive(Debug)]
pub(super) enum Update {
    Snapshot(Box<Snapshot>),
    /// It does not answer, and why.
    Lost(String),
}

type Client = OperationsServiceClient<Channel>;

/// Where the operations API is.
pub(super) struct Feed {
    endpoint: Endpoint,
}

impl Feed {
    /// Of the xApp at this endpoint.
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint: endpoint
                .http2_keep_alive_interval(TIMEOUT)
                .keep_alive_timeout(TIMEOUT),
        }
    }

    /// The connection is made with the first request, and again with the next one after a loss.
    fn client(&self) -> Client {
        Client::new(self.endpoint.connect_lazy()).max_decoding_message_size(MAX_MESSAGE)
    }

    /// One look. The decisions are the last ones of the flows.
    pub(super) async fn once(self) -> anyhow::Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        look(&mut self.client(), &mut snapshot)
            .await
            .with_context(|| format!("no answer from the xApp at {}", self.endpoint.uri()))?;
        let last = snapshot
            .flows
            .iter()
            .filter_map(|f| f.last_decision.clone());
        let mut decisions: Vec<_> = last.collect();
        decisions.sort_by_key(|d| std::cmp::Reverse(d.time_us));
        snapshot.decisions = decisions.into();
        Ok(snapshot)
    }

    /// Looks again and again.
    pub(super) fn watch(self, interval: Duration) -> mpsc::Receiver<Update> {
        let (sender, updates) = mpsc::channel(1);
        tokio::spawn(async move {
            let (mut client, mut snapshot) = (self.client(), Snapshot::default());
            loop {
                let followed = follow(&mut client, &mut snapshot, interval, &sender).await;
                let Err(error) = followed else {
                    return;
                };
                if sender
                    .send(Update::Lost(format!("{error:#}")))
                    .await
                    .is_err()
                {
                    return;
                }
                tokio::time::sleep(RETRY).await;
            }
        });
        updates
    }
}

/// Follows the xApp until it is lost (`Err`), or nobody looks any more.
async fn follow(
    client: &mut Client,
    snapshot: &mut Snapshot,
    interval: Duration,
    sender: &mpsc::Sender<Update>,
) -> anyhow::Result<()> {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    look(client, snapshot).await?;
    let request = client.watch_decisions(WatchDecisionsRequest {});
    let mut decisions = limited(request).await?;
    loop {
        tokio::select! {
            message = decisions.message() => {
                let message = message.map_err(plain)?.context("the xApp ended the stream of decisions")?;
                snapshot.skipped += message.skipped;
                if let Some(decision) = message.decision {
                    snapshot.decisions.truncate(DECISIONS - 1);
                    snapshot.decisions.push_front(decision);
                }
            }
            _ = ticks.tick() => {
                look(client, snapshot).await?;
                if sender.send(Update::Snapshot(Box::new(snapshot.clone()))).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Everything but the decisions.
async fn look(client: &mut Client, snapshot: &mut Snapshot) -> anyhow::Result<()> {
    snapshot.status = limited(client.get_status(GetStatusRequest {})).await?;
    snapshot.nodes = limited(client.list_nodes(ListNodesRequest::default()))
        .await?
        .nodes;
    snapshot.ues = limited(client.list_ues(ListUesRequest::default()))
        .await?
        .ues;
    snapshot.flows = limited(client.list_flows(ListFlowsRequest::default()))
        .await?
        .flows;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    snapshot.taken_us = since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX));
    Ok(())
}

async fn limited<T>(
    request: impl Future<Output = Result<tonic::Response<T>, tonic::Status>>,
) -> anyhow::Result<T> {
    let answer = tokio::time::timeout(TIMEOUT, request).await;
    let answer = answer.with_context(|| format!("no answer within {TIMEOUT:?}"))?;
    Ok(answer.map_err(plain)?.into_inner())
}

/// What a status says to people; for a broken connection the system's own word.
fn plain(status: tonic::Status) -> anyhow::Error {
    let mut cause: &dyn std::error::Error = &status;
    while let Some(next) = cause.source() {
        cause = next;
    }
    match cause.downcast_ref::<tonic::Status>() {
        Some(status) => anyhow::anyhow!("{}", status.message()),
        None => anyhow::anyhow!("{cause}"),
    }
}
