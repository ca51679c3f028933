//! The task that owns the [`Registry`]: it hears edge servers and cells in order, and tells the cells what to do.

use super::registry::{Effect, FlowView, Registered, Registry, StreamId};
use super::{FlowKey, outbox::Outbox};
use crate::cell::{CellHandle, Command};
use crate::operate::metrics::Metrics;
use crate::ran::NodeId;
use policies::{GainPolicy, UeId};
use proto::guidance::{FlowReport, RegisterFlow};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};
use tracing::{debug, info, warn};

/// Messages that wait for the hub; whoever sends more waits.
const QUEUE: usize = 256;

/// What the hub hears.
#[derive(Debug)]
pub enum Message {
    /// A cell task begins.
    CellStarted(CellHandle),
    /// A cell task ends, and is not listed any more.
    CellEnded(NodeId),
    /// A cell saw a change.
    Cell(NodeId, Notice),
    /// A stream said who it is.
    Opened {
        /// Which stream.
        stream: StreamId,
        /// Name of the edge server.
        edge_id: Arc<str>,
        /// Its software.
        agent: String,
        /// Address of the peer.
        peer: String,
        /// What waits for it.
        outbox: Arc<Outbox>,
    },
    /// A stream ended.
    Closed(StreamId),
    /// A flow is registered or changed.
    Register(StreamId, RegisterFlow),
    /// A flow ended.
    Unregister(StreamId, String),
    /// A flow was measured.
    Report(StreamId, FlowReport),
    /// An operator asks for the flows (of one edge server).
    Flows(Option<String>, oneshot::Sender<Vec<FlowView>>),
    /// An operator asks for the cells.
    Cells(oneshot::Sender<Vec<CellHandle>>),
}

/// What changed in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// The node is connected.
    Up,
    /// The node is gone.
    Down,
    /// A UE is reported that was not.
    UeUp(UeId),
    /// A UE is reported no more.
    UeDown(UeId),
    /// A flow runs on this policy now; `None`: on none.
    Policy {
        /// Which flow.
        flow: FlowKey,
        /// The policy.
        policy: Option<GainPolicy>,
        /// Why not a preferred one.
        detail: String,
    },
}

/// Sends to the hub.
#[derive(Clone, Debug)]
pub struct HubHandle(mpsc::Sender<Message>);

/// The hub has ended: the process is stopping.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("Cantor is stopping")]
pub struct Stopping;

impl HubHandle {
    /// Sends a message; waits while the hub has too much to do.
    ///
    /// # Errors
    /// [`Stopping`] when the hub has ended.
    pub async fn send(&self, message: Message) -> Result<(), Stopping> {
        self.0.send(message).await.map_err(|_| Stopping)
    }

    /// Room for one message, for those who must not wait.
    ///
    /// # Errors
    /// [`Stopping`] when the hub has ended.
    pub async fn reserve(&self) -> Result<mpsc::Permit<'_, Message>, Stopping> {
        self.0.reserve().await.map_err(|_| Stopping)
    }

    /// The flows, or those of one edge server.
    ///
    /// # Errors
    /// [`Stopping`] when the hub has ended.
    pub async fn flows(&self, edge_id: Option<String>) -> Result<Vec<FlowView>, Stopping> {
        let (answer, flows) = oneshot::channel();
        self.send(Message::Flows(edge_id, answer)).await?;
        flows.await.map_err(|_| Stopping)
    }

    /// The cells.
    ///
    /// # Errors
    /// [`Stopping`] when the hub has ended.
    pub async fn cells(&self) -> Result<Vec<CellHandle>, Stopping> {
        let (answer, cells) = oneshot::channel();
        self.send(Message::Cells(answer)).await?;
        cells.await.map_err(|_| Stopping)
    }
}

/// The task's state.
#[derive(Debug)]
pub struct Hub {
    registry: Registry,
    cells: BTreeMap<NodeId, CellHandle>,
    metrics: Arc<Metrics>,
    inbox: mpsc::Receiver<Message>,
}

impl Hub {
    /// The hub and what sends to it.
    pub fn new(registry: Registry, metrics: Arc<Metrics>) -> (Self, HubHandle) {
        let (sender, inbox) = mpsc::channel(QUEUE);
        let hub = Self {
            registry,
            cells: BTreeMap::new(),
            metrics,
            inbox,
        };
        (hub, HubHandle(sender))
    }

    /// Runs until the last handle is dropped.
    pub async fn run(mut self) {
        while let Some(message) = self.inbox.recv().await {
            // Reports and questions are many, and change no number.
            let counted = !matches!(
                message,
                Message::Report(..) | Message::Flows(..) | Message::Cells(_)
            );
            for effect in self.handle(message) {
                self.apply(effect).await;
            }
            if counted {
                let (bound, unbound) = self.registry.counts();
                self.metrics.flows(bound, unbound);
                self.metrics.streams(self.registry.streams());
            }
        }
    }

    fn handle(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::CellStarted(cell) => {
                self.cells.insert(cell.node.clone(), cell);
            }
            Message::CellEnded(node) => {
                self.cells.remove(&node);
                return self.registry.node_down(&node);
            }
            Message::Cell(node, notice) => return self.notice(&node, notice),
            Message::Opened {
                stream,
                edge_id,
                agent,
                peer,
                outbox,
            } => {
                info!(edge = %edge_id, agent, peer, "edge server connected");
                return self.registry.open(stream, &edge_id, outbox);
            }
            Message::Closed(stream) => {
                if let Some(edge) = self.registry.edge_of(stream) {
                    info!(%edge, "edge server disconnected");
                }
                return self.registry.close(stream);
            }
            Message::Register(stream, request) => {
                let (registered, effects) = self.registry.register(stream, &request);
                match registered {
                    Registered::Accepted => debug!(flow = request.flow_id, "flow registered"),
                    Registered::Refused => self.metrics.registration_refused(),
                    Registered::NoStream => {}
                }
                return effects;
            }
            Message::Unregister(stream, flow_id) => {
                return self.registry.unregister(stream, &flow_id);
            }
            Message::Report(stream, report) => {
                let known = self.registry.report(stream, report, Instant::now());
                self.metrics.flow_report(known);
            }
            // Whoever asked may have gone: then nobody misses the answer.
            Message::Flows(edge_id, answer) => {
                let _ = answer.send(self.registry.flows(edge_id.as_deref()));
            }
            Message::Cells(answer) => {
                let _ = answer.send(self.cells.values().cloned().collect());
            }
        }
        Vec::new()
    }

    fn notice(&mut self, node: &NodeId, notice: Notice) -> Vec<Effect> {
        match notice {
            Notice::Up => self.registry.node_up(node.clone()),
            Notice::Down => self.registry.node_down(node),
            Notice::UeUp(ue) => self.registry.ue_up(node, ue),
            Notice::UeDown(ue) => self.registry.ue_down(node, ue),
            Notice::Policy {
                flow,
                policy,
                detail,
            } => {
                let name = policy.map_or("none", GainPolicy::name);
                if policy.is_none() {
                    warn!(%flow, %node, reason = detail, "no gain policy can run");
                } else {
                    info!(%flow, %node, policy = name, detail, "gain policy runs");
                }
                self.registry.policy(node, &flow, policy, detail);
                Vec::new()
            }
        }
    }

    /// A cell always takes its commands in time: it never waits for the hub.
    async fn apply(&self, effect: Effect) {
        let (node, command) = match effect {
            Effect::Bind(node, flow) => {
                info!(flow = %flow.key, %node, ue = %flow.ue, "flow bound");
                (node, Command::Bind(flow))
            }
            Effect::Unbind(node, flow) => {
                info!(%flow, %node, "flow unbound");
                (node, Command::Unbind(flow))
            }
        };
        if let Some(cell) = self.cells.get(&node) {
            cell.command(command).await;
        }
    }
}
