//! Which flows there are and which UE each goes to: the rules, without I/O.
//!
//! The registry is told what edge servers ask for and which UEs the cells see. It answers with [`Effect`]s for
//! the cells, and posts statuses to the streams' outboxes.

use super::FlowKey;
use super::directory::{BindingView, Directory, Source};
pub use super::flow::{BoundFlow, Effect, FlowView, StreamId};
use super::matching::Wanted;
use super::outbox::Outbox;
use super::validate::{self, Registration, Target};
use crate::config::Config;
use crate::measure::Identity;
use crate::ran::NodeId;
use policies::matching::Change;
use policies::{GainPolicy, UeId};
use proto::guidance::{FlowReport, FlowStatus, RegisterFlow, flow_status::State};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// Edge servers that are gone stay listed, up to this many.
const REMEMBERED_EDGES: usize = 64;

/// Answer of [`Registry::register`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The flow is known now.
    Accepted,
    /// It is not; the edge server was told why.
    Refused,
    /// The stream was replaced or is gone.
    NoStream,
}

/// Edge servers, their flows, and the UEs of all nodes.
#[derive(Debug)]
pub struct Registry {
    max_flows: usize,
    policies: Vec<GainPolicy>,
    directory: Directory,
    edges: BTreeMap<Arc<str>, Edge>,
    streams: HashMap<StreamId, Arc<str>>,
    departures: u64,
}

#[derive(Debug)]
struct Edge {
    stream: Option<(StreamId, Arc<Outbox>)>,
    /// Order of departure, while there is no stream.
    departed: u64,
    flows: BTreeMap<Arc<str>, Flow>,
}

#[derive(Debug)]
struct Flow {
    registration: Registration,
    bound: Option<(NodeId, UeId)>,
    source: Option<Source>,
    policy: Option<GainPolicy>,
    guided: bool,
    detail: String,
    report: Option<(FlowReport, Instant)>,
}

impl Registry {
    /// An empty registry with the limits, policies and addresses of `config`.
    pub fn new(config: &Config) -> Self {
        Self {
            max_flows: config.guidance.max_flows_per_stream as usize,
            policies: config.control.policies.clone(),
            directory: Directory::new(&config.binding, config.matching.enabled),
            edges: BTreeMap::new(),
            streams: HashMap::new(),
            departures: 0,
        }
    }

    /// A stream said who it is. An older stream of the same edge server ends; its flows have to be registered again.
    pub fn open(
        &mut self,
        stream: StreamId,
        edge_id: &Arc<str>,
        outbox: Arc<Outbox>,
    ) -> Vec<Effect> {
        let effects = self
            .edges
            .get(edge_id)
            .and_then(|edge| edge.stream.clone())
            .map_or_else(Vec::new, |(old, old_outbox)| {
                old_outbox.close(tonic::Status::aborted(format!(
                    "replaced by a newer stream of edge_id {edge_id:?}"
                )));
                self.close(old)
            });
        let edge = Edge {
            stream: Some((stream, outbox)),
            departed: 0,
            flows: BTreeMap::new(),
        };
        self.edges.insert(edge_id.clone(), edge);
        self.streams.insert(stream, edge_id.clone());
        effects
    }

    /// A stream ended. Its flows stay listed until their edge server is back.
    pub fn close(&mut self, stream: StreamId) -> Vec<Effect> {
        let Some(edge_id) = self.streams.remove(&stream) else {
            return Vec::new();
        };
        let Some(edge) = self.edges.get_mut(&edge_id) else {
            return Vec::new();
        };
        self.departures += 1;
        edge.departed = self.departures;
        edge.stream = None;
        let mut effects = Vec::new();
        for (flow_id, flow) in &mut edge.flows {
            if let Some((node, _)) = flow.bound.take() {
                effects.push(Effect::Unbind(node, key(&edge_id, flow_id)));
            }
            flow.guided = false;
            flow.source = None;
            flow.policy = None;
            flow.detail = "the edge server is not connected".into();
        }
        self.forget_departed();
        effects
    }

    /// An edge server registers a flow, or changes one.
    pub fn register(
        &mut self,
        stream: StreamId,
        request: &RegisterFlow,
    ) -> (Registered, Vec<Effect>) {
        let Some((edge_id, outbox)) = self.stream(stream) else {
            return (Registered::NoStream, Vec::new());
        };
        let edge = self.edges.get_mut(&edge_id).expect("streams have edges");
        let known = edge.flows.get(request.flow_id.as_str());
        let checked = validate::registration(request).and_then(|registration| {
            if known.is_none() && edge.flows.len() >= self.max_flows {
                return Err(format!(
                    "the stream has {} flows already, and may have no more: unregister one, or raise guidance.max_flows_per_stream",
                    self.max_flows
                ));
            }
            Ok(registration)
        });
        let registration = match checked {
            Ok(registration) => registration,
            Err(mut detail) => {
                if known.is_some() {
                    detail += "; the earlier registration stays in force";
                }
                outbox.status(FlowStatus {
                    flow_id: request.flow_id.chars().take(validate::MAX_NAME).collect(),
                    state: State::Refused.into(),
                    detail,
                    ..FlowStatus::default()
                });
                return (Registered::Refused, Vec::new());
            }
        };
        let flow_id: Arc<str> = request.flow_id.as_str().into();
        let previous = edge.flows.insert(
            flow_id.clone(),
            Flow {
                registration,
                bound: None,
                source: None,
                policy: None,
                guided: false,
                detail: String::new(),
                report: None,
            },
        );
        let flow = key(&edge_id, &flow_id);
        let mut effects = Vec::new();
        if let Some((node, _)) = previous.and_then(|flow| flow.bound) {
            effects.push(Effect::Unbind(node, flow.clone()));
        }
        effects.extend(self.rebind(&flow, true));
        (Registered::Accepted, effects)
    }

    /// An edge server sends a flow no more.
    pub fn unregister(&mut self, stream: StreamId, flow_id: &str) -> Vec<Effect> {
        let Some((edge_id, outbox)) = self.stream(stream) else {
            return Vec::new();
        };
        let edge = self.edges.get_mut(&edge_id).expect("streams have edges");
        outbox.forget(flow_id);
        let Some((flow_id, flow)) = edge.flows.remove_entry(flow_id) else {
            return Vec::new();
        };
        let bound = flow.bound.into_iter();
        bound
            .map(|(node, _)| Effect::Unbind(node, key(&edge_id, &flow_id)))
            .collect()
    }

    /// An edge server measured. `false`: no such flow.
    pub fn report(&mut self, stream: StreamId, report: FlowReport, now: Instant) -> bool {
        let edge = self
            .streams
            .get(&stream)
            .and_then(|e| self.edges.get_mut(e));
        match edge.and_then(|edge| edge.flows.get_mut(report.flow_id.as_str())) {
            Some(flow) => {
                flow.report = Some((report, now));
                true
            }
            None => false,
        }
    }

    /// The node of a flow that is bound.
    pub fn node_of(&self, flow: &FlowKey) -> Option<&NodeId> {
        let (node, _) = self.flow(flow)?.bound.as_ref()?;
        Some(node)
    }

    /// A flow of a stream; `None`: there is no such stream.
    pub fn key_of(&self, stream: StreamId, flow_id: &str) -> Option<FlowKey> {
        let edge = self.streams.get(&stream)?;
        let (flow_id, _) = self.edges.get(edge)?.flows.get_key_value(flow_id)?;
        Some(key(edge, flow_id))
    }

    /// A node is connected.
    pub fn node_up(&mut self, node: NodeId) -> Vec<Effect> {
        self.directory.node_up(node);
        // Flows that wait for this node can be told that only the UE is missing.
        self.rebind_all(|_, flow| flow.bound.is_none())
    }

    /// A node is gone: its flows are unbound, or go to another node that has their UE.
    pub fn node_down(&mut self, node: &NodeId) -> Vec<Effect> {
        self.directory.node_down(node);
        self.rebind_all(|_, flow| flow.bound.as_ref().is_some_and(|(n, _)| n == node))
    }

    /// A node reports a UE that it did not have.
    pub fn ue_up(&mut self, node: &NodeId, ue: UeId) -> Vec<Effect> {
        if !self.directory.ue_up(node, ue) {
            return Vec::new();
        }
        self.rebind_all(|_, flow| flow.bound.is_none())
    }

    /// A node's reports tell what else its UEs are called.
    pub fn names(&mut self, node: &NodeId, names: BTreeMap<Identity, UeId>) -> Vec<Effect> {
        self.directory.names(node, names);
        self.rebind_all(|_, _| true)
    }

    /// A node has a UE no more.
    pub fn ue_down(&mut self, node: &NodeId, ue: UeId) -> Vec<Effect> {
        self.directory.ue_down(node, ue);
        self.rebind_all(|_, flow| {
            flow.bound
                .as_ref()
                .is_some_and(|(n, u)| n == node && *u == ue)
        })
    }

    /// An operator says which UE has an address.
    pub fn bind(&mut self, address: IpAddr, node: Option<String>, ue: Identity) -> Vec<Effect> {
        self.directory.bind(address, node, ue);
        self.rebind_address(address)
    }

    /// An operator takes that back; `None`: nobody had said so.
    pub fn unbind(&mut self, address: IpAddr) -> Option<Vec<Effect>> {
        let known = self.directory.unbind(address);
        known.then(|| self.rebind_address(address))
    }

    /// The traffic told something.
    pub fn matched(&mut self, change: &Change) -> Vec<Effect> {
        self.directory.matched(change);
        let (Change::Bound(address, _) | Change::Unbound(address, _)) = change;
        self.rebind_address(*address)
    }

    /// Which UE each known address belongs to.
    pub fn bindings(&self) -> Vec<BindingView> {
        self.directory.bindings()
    }

    /// What is to be found by its traffic.
    pub fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        for (edge_id, edge) in self.edges.iter().filter(|(_, edge)| edge.stream.is_some()) {
            for (flow_id, flow) in &edge.flows {
                if let Target::Ip(address) = flow.registration.target
                    && self.directory.is_unknown(address)
                {
                    wanted.flows.insert(key(edge_id, flow_id), address);
                }
            }
        }
        if !wanted.flows.is_empty() {
            wanted.taken = self.directory.taken();
        }
        wanted
    }

    fn rebind_address(&mut self, address: IpAddr) -> Vec<Effect> {
        self.rebind_all(|_, flow| flow.registration.target == Target::Ip(address))
    }

    /// A cell chose the policy of a flow; `None`: the RAN's measurements suffice for none.
    pub fn policy(
        &mut self,
        node: &NodeId,
        flow: &FlowKey,
        policy: Option<GainPolicy>,
        detail: String,
    ) {
        let Some(edge) = self.edges.get_mut(&flow.edge) else {
            return;
        };
        let Some((_, outbox)) = &edge.stream else {
            return;
        };
        let Some(entry) = edge.flows.get_mut(&flow.flow) else {
            return;
        };
        if entry.bound.as_ref().is_none_or(|(n, _)| n != node) {
            return;
        }
        entry.policy = policy;
        entry.guided = policy.is_some();
        entry.detail = detail;
        outbox.status(entry.status(&flow.flow));
    }

    /// Edge server of a stream that is still its current one.
    pub fn edge_of(&self, stream: StreamId) -> Option<Arc<str>> {
        self.streams.get(&stream).cloned()
    }

    /// All flows, or those of one edge server.
    pub fn flows(&self, edge_id: Option<&str>) -> Vec<FlowView> {
        let edges = self.edges.iter();
        edges
            .filter(|(id, _)| edge_id.is_none_or(|wanted| wanted == &***id))
            .flat_map(|(id, edge)| {
                edge.flows.iter().map(move |(flow_id, flow)| FlowView {
                    key: key(id, flow_id),
                    bound: flow.bound.clone(),
                    source: flow.source,
                    guided: flow.guided,
                    detail: flow.detail.clone(),
                    connected: edge.stream.is_some(),
                    report: flow.report.clone(),
                })
            })
            .collect()
    }

    /// Number of connected edge servers.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Number of bound and of unbound flows of connected edge servers.
    pub fn counts(&self) -> (usize, usize) {
        let connected = self.edges.values().filter(|edge| edge.stream.is_some());
        let flows = connected.flat_map(|edge| edge.flows.values());
        let (bound, unbound): (Vec<_>, Vec<_>) = flows.partition(|flow| flow.guided);
        (bound.len(), unbound.len())
    }

    fn stream(&self, stream: StreamId) -> Option<(Arc<str>, Arc<Outbox>)> {
        let edge_id = self.streams.get(&stream)?;
        let (_, outbox) = self.edges.get(edge_id)?.stream.as_ref()?;
        Some((edge_id.clone(), outbox.clone()))
    }

    fn rebind_all(&mut self, concerned: impl Fn(&Self, &Flow) -> bool) -> Vec<Effect> {
        let mut keys = Vec::new();
        for (edge_id, edge) in self.edges.iter().filter(|(_, edge)| edge.stream.is_some()) {
            let flows = edge.flows.iter().filter(|(_, flow)| concerned(self, flow));
            keys.extend(flows.map(|(flow_id, _)| key(edge_id, flow_id)));
        }
        keys.iter()
            .flat_map(|key| self.rebind(key, false))
            .collect()
    }

    /// Finds the UE of a flow; the edge server hears of it if that changed anything, or if it must be answered.
    fn rebind(&mut self, flow: &FlowKey, answer: bool) -> Vec<Effect> {
        let Some(entry) = self.flow(flow) else {
            return Vec::new();
        };
        let found = self.directory.find(&entry.registration.target);
        let default_policies = self.policies.clone();
        let Some(edge) = self.edges.get_mut(&flow.edge) else {
            return Vec::new();
        };
        let (Some((_, outbox)), Some(entry)) = (&edge.stream, edge.flows.get_mut(&flow.flow))
        else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        let (bound, source, detail) = match found {
            Ok(found) => {
                let detail = "waits for the first report".to_owned();
                (Some((found.node, found.ue)), Some(found.source), detail)
            }
            Err(detail) => (None, None, detail),
        };
        entry.source = source;
        if entry.bound == bound && (bound.is_some() || entry.detail == detail) && !answer {
            return effects;
        }
        if let Some((node, _)) = entry.bound.take() {
            effects.push(Effect::Unbind(node, flow.clone()));
        }
        entry.guided = bound.is_some();
        entry.policy = None;
        entry.detail = detail;
        entry.bound = bound;
        if let Some((node, ue)) = entry.bound.clone() {
            let wanted = &entry.registration;
            let policies = match wanted.policies.as_slice() {
                [] => default_policies,
                own => own.to_vec(),
            };
            effects.push(Effect::Bind(
                node,
                BoundFlow {
                    key: flow.clone(),
                    ue,
                    address: match wanted.target {
                        Target::Ip(address) => Some(address),
                        Target::Ran { .. } => None,
                    },
                    slice: wanted.slice,
                    wired: wanted.wired,
                    frame_interval: wanted.frame_interval,
                    policies,
                    current_rate_bps: wanted.current_rate_bps,
                    last_sequence: wanted.last_sequence,
                    outbox: outbox.clone(),
                },
            ));
        }
        outbox.status(entry.status(&flow.flow));
        effects
    }

    fn flow(&self, flow: &FlowKey) -> Option<&Flow> {
        self.edges.get(&flow.edge)?.flows.get(&flow.flow)
    }

    fn forget_departed(&mut self) {
        let mut departed: Vec<_> = self
            .edges
            .iter()
            .filter(|(_, edge)| edge.stream.is_none())
            .map(|(id, edge)| (edge.departed, id.clone()))
            .collect();
        if departed.len() > REMEMBERED_EDGES {
            departed.sort();
            self.edges.remove(&departed[0].1);
        }
    }
}

impl Flow {
    fn status(&self, flow_id: &str) -> FlowStatus {
        let state = if self.guided {
            State::Bound
        } else {
            State::Unbound
        };
        FlowStatus {
            flow_id: flow_id.to_owned(),
            state: state.into(),
            detail: self.detail.clone(),
            ue: self
                .bound
                .as_ref()
                .map(|(node, ue)| validate::ran_ue_message(&node.0, *ue)),
            policy: self
                .policy
                .map_or_else(String::new, |policy| policy.to_string()),
        }
    }
}

fn key(edge: &Arc<str>, flow: &Arc<str>) -> FlowKey {
    FlowKey {
        edge: edge.clone(),
        flow: flow.clone(),
    }
}
