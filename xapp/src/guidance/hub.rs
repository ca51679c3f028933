//! The task that owns the [`Registry`]: it hears edge servers and cells in order, and tells the cells what to do.

use super::directory::{BindingView, Source};
use super::matching::{MatchingHandle, Wanted};
use super::registry::{Effect, FlowView, Registered, Registry, StreamId};
use super::stored::OperatorBinding;
use super::{FlowKey, outbox::Outbox};
use crate::cell::arm::EdgeMeasured;
use crate::cell::{CellHandle, Command, Standing};
use crate::measure::Identity;
use crate::operate::metrics::Metrics;
use crate::ran::NodeId;
use crate::store::{Kind, Store};
use policies::matching::Change;
use policies::slice::EdgeDelay;
use policies::{GainPolicy, UeId};
use proto::guidance::{FlowReport, RegisterFlow};
use std::collections::BTreeMap;
use std::net::IpAddr;
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
    /// The traffic told which UE an address belongs to, or that it is not known any more.
    Matched(Vec<Change>),
    /// An operator says which UE (of which node) has an address.
    Bind(IpAddr, Option<String>, Identity),
    /// An operator takes that back. The answer: somebody had said so.
    Unbind(IpAddr, oneshot::Sender<bool>),
    /// The store has other bindings of operators than before.
    BindingsStored,
    /// An operator asks which UE each address belongs to.
    Bindings(oneshot::Sender<Vec<BindingView>>),
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
    /// Every other name of a UE, with the one in its reports.
    Names(BTreeMap<Identity, UeId>),
    /// A flow runs on this policy now; `None`: on none.
    Policy {
        /// Which flow.
        flow: FlowKey,
        /// The policy.
        policy: Option<GainPolicy>,
        /// Why not a preferred one.
        detail: String,
        /// How it came to it.
        standing: Standing,
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

    /// An operator takes a binding back. `false`: there was none.
    ///
    /// # Errors
    /// [`Stopping`] when the hub has ended.
    pub async fn unbind(&self, address: IpAddr) -> Result<bool, Stopping> {
        let (answer, known) = oneshot::channel();
        self.send(Message::Unbind(address, answer)).await?;
        known.await.map_err(|_| Stopping)
    }

    /// Which UE each known address belongs to.
    ///
    /// # Errors
    /// [`Stopping`] when the hub has ended.
    pub async fn bindings(&self) -> Result<Vec<BindingView>, Stopping> {
        let (answer, bindings) = oneshot::channel();
        self.send(Message::Bindings(answer)).await?;
        bindings.await.map_err(|_| Stopping)
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
    matching: MatchingHandle,
    store: Store,
    wanted: Wanted,
    inbox: mpsc::Receiver<Message>,
}

impl Hub {
    /// The hub and what sends to it.
    pub fn new(
        registry: Registry,
        metrics: Arc<Metrics>,
        matching: MatchingHandle,
        store: Store,
    ) -> (Self, HubHandle) {
        let (sender, inbox) = mpsc::channel(QUEUE);
        let hub = Self {
            registry,
            cells: BTreeMap::new(),
            metrics,
            matching,
            store,
            wanted: Wanted::default(),
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
                Message::Report(..) | Message::Flows(..) | Message::Cells(_) | Message::Bindings(_)
            );
            match &message {
                Message::Cell(node, Notice::Down) | Message::CellEnded(node) => {
                    self.matching.node_gone(node.clone()).await;
                }
                Message::Cell(node, Notice::UeDown(ue)) => {
                    self.matching.ue_gone(node.clone(), *ue).await;
                }
                _ => {}
            }
            if let Message::Report(stream, report) = &message {
                self.tell_measured(*stream, report).await;
            }
            for effect in self.handle(message) {
                self.apply(effect).await;
            }
            if counted {
                let (bound, unbound) = self.registry.counts();
                self.metrics.flows(bound, unbound);
                self.metrics.streams(self.registry.streams());
                let wanted = self.registry.wanted();
                if wanted != self.wanted {
                    self.wanted = wanted.clone();
                    self.matching.wanted(wanted).await;
                }
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
                let now = Instant::now();
                if let Some(flow) = self.registry.key_of(stream, &report.flow_id)
                    && self.wanted.flows.contains_key(&flow)
                {
                    self.matching.sent(flow, report.clone(), now);
                }
                let known = self.registry.report(stream, report, now);
                self.metrics.flow_report(known);
            }
            // Whoever asked may have gone: then nobody misses the answer.
            Message::Flows(edge_id, answer) => {
                let _ = answer.send(self.registry.flows(edge_id.as_deref()));
            }
            Message::Matched(changes) => {
                let effects = changes.iter().flat_map(|change| {
                    match change {
                        Change::Bound(address, found) => {
                            let (ue, node) = (found.ue.ue, &found.ue.node);
                            debug!(%address, %ue, %node, confidence = found.confidence, lag_s = found.lag, "traffic fits");
                        }
                        Change::Unbound(address, reason) => {
                            info!(%address, reason, "UE of the address is not known any more");
                        }
                    }
                    self.registry.matched(change)
                });
                return effects.collect();
            }
            Message::Bind(address, node, ue) => {
                info!(%address, node, %ue, "bound by an operator");
                let binding = OperatorBinding { node, ue };
                if let Err(error) = self.store.put(&address.to_string(), &binding) {
                    warn!(%address, %error, "the binding ends with the process");
                }
                return self.registry.bind(address, binding.node, ue);
            }
            Message::Unbind(address, answer) => {
                self.store.delete(Kind::Binding, &address.to_string());
                let effects = self.registry.unbind(address);
                let _ = answer.send(effects.is_some());
                return effects.unwrap_or_default();
            }
            Message::BindingsStored => return self.take_stored(),
            Message::Bindings(answer) => {
                let _ = answer.send(self.registry.bindings());
            }
            Message::Cells(answer) => {
                let _ = answer.send(self.cells.values().cloned().collect());
            }
        }
        Vec::new()
    }

    /// Bindings of an earlier process. Those of this one are known already.
    fn take_stored(&mut self) -> Vec<Effect> {
        let stored = self.store.load_all::<OperatorBinding>();
        let known = self.registry.bindings();
        let known = |address| {
            known
                .iter()
                .any(|view| view.address == address && view.source == Source::Operator)
        };
        let addresses = stored
            .into_iter()
            .filter_map(|(key, binding)| Some((key.parse::<IpAddr>().ok()?, binding)));
        let new: Vec<_> = addresses.filter(|(address, _)| !known(*address)).collect();
        new.into_iter()
            .flat_map(|(address, OperatorBinding { node, ue })| {
                info!(%address, node, %ue, "bound by an operator before this process began");
                self.registry.bind(address, node, ue)
            })
            .collect()
    }

    fn notice(&mut self, node: &NodeId, notice: Notice) -> Vec<Effect> {
        match notice {
            Notice::Up => self.registry.node_up(node.clone()),
            Notice::Down => self.registry.node_down(node),
            Notice::UeUp(ue) => self.registry.ue_up(node, ue),
            Notice::UeDown(ue) => self.registry.ue_down(node, ue),
            Notice::Names(names) => self.registry.names(node, names),
            Notice::Policy {
                flow,
                policy,
                detail,
                standing,
            } => {
                let name = policy.map_or("none", GainPolicy::name);
                match (policy, standing) {
                    (None, _) => warn!(%flow, %node, reason = detail, "no gain policy can run"),
                    (Some(_), Standing::Demoted(_)) => {
                        warn!(%flow, %node, policy = name, reason = detail, "gain policy demoted");
                    }
                    (Some(_), Standing::Recovered) => {
                        info!(%flow, %node, policy = name, "gain policy decides again");
                    }
                    (Some(_), Standing::Chosen) => {
                        info!(%flow, %node, policy = name, detail, "gain policy runs");
                    }
                }
                self.registry.policy(node, &flow, policy, detail);
                Vec::new()
            }
        }
    }

    /// Hands what an edge server measured to the cell that guides the flow.
    async fn tell_measured(&self, stream: StreamId, report: &FlowReport) {
        let ms = |us: Option<u64>| us.map(|us| us as f64 / 1e3);
        let measured = EdgeMeasured {
            delay: EdgeDelay {
                mean_ms: ms(report.one_way_delay_mean_us),
                p99_ms: ms(report.one_way_delay_p99_us),
            },
            sent_arrived_bytes: report.sent_bytes.zip(report.acknowledged_bytes),
        };
        let flow = self.registry.key_of(stream, &report.flow_id);
        let node = flow.as_ref().and_then(|flow| self.registry.node_of(flow));
        if let (Some(cell), Some(flow)) = (node.and_then(|node| self.cells.get(node)), flow) {
            cell.command(Command::Measured(flow, measured)).await;
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
