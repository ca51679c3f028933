//! The task that compares the traffic of flows with that of UEs: it feeds the [`Matcher`] and tells the hub.

use super::FlowKey;
use super::hub::{HubHandle, Message};
use crate::ran::NodeId;
use policies::matching::{Change, ClockMap, Matcher, UeKey};
use policies::{UeId, UeReport};
use proto::guidance::FlowReport;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Reports that may wait; those that come then are lost, and seen as gaps.
const QUEUE: usize = 4096;
/// How often conclusions are drawn.
const INTERVAL: Duration = Duration::from_millis(100);
/// Longer intervals of edge servers are cut, for the arithmetic.
const LONGEST_INTERVAL: Duration = Duration::from_secs(60);

/// Which flows are to be matched, and which UEs are no candidates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Flows, and the addresses that they go to.
    pub flows: BTreeMap<FlowKey, IpAddr>,
    /// UEs whose address is known.
    pub taken: BTreeSet<UeKey>,
}

/// What the task hears.
#[derive(Debug)]
enum Traffic {
    Wanted(Wanted),
    Sent(FlowKey, FlowReport, Instant),
    Arrived(NodeId, Vec<UeReport>, Duration),
    UeGone(NodeId, UeId),
    NodeGone(NodeId),
}

/// Sends to the task.
#[derive(Clone, Debug)]
pub struct MatchingHandle(mpsc::Sender<Traffic>);

impl MatchingHandle {
    /// What is to be matched from now on. The task never waits for others, so this does not wait for long.
    pub async fn wanted(&self, wanted: Wanted) {
        let _ = self.0.send(Traffic::Wanted(wanted)).await;
    }

    /// A UE is gone.
    pub async fn ue_gone(&self, node: NodeId, ue: UeId) {
        let _ = self.0.send(Traffic::UeGone(node, ue)).await;
    }

    /// A node is gone.
    pub async fn node_gone(&self, node: NodeId) {
        let _ = self.0.send(Traffic::NodeGone(node)).await;
    }

    /// An edge server reported on a flow.
    pub fn sent(&self, flow: FlowKey, report: FlowReport, received: Instant) {
        let _ = self.0.try_send(Traffic::Sent(flow, report, received));
    }

    /// A node reported on its UEs; `received` since the process began.
    pub fn arrived(&self, node: &NodeId, reports: &[UeReport], received: Duration) {
        // A KPM or MAC report without octets cannot be compared.
        let with_octets = |r: &&UeReport| r.arrived_bytes.or(r.delivered_bytes).is_some();
        let reports: Vec<_> = reports.iter().filter(with_octets).cloned().collect();
        if !reports.is_empty() {
            let arrived = Traffic::Arrived(node.clone(), reports, received);
            let _ = self.0.try_send(arrived);
        }
    }
}

/// The task's state.
#[derive(Debug)]
pub struct Matching {
    matcher: Matcher,
    wanted: Wanted,
    start: Instant,
    edges: HashMap<Arc<str>, ClockMap>,
    nodes: HashMap<NodeId, ClockMap>,
    inbox: mpsc::Receiver<Traffic>,
}

impl Matching {
    /// The task and what sends to it. `start`: zero of the monotonic clock.
    pub fn new(start: Instant) -> (Self, MatchingHandle) {
        let (sender, inbox) = mpsc::channel(QUEUE);
        let task = Self {
            matcher: Matcher::default(),
            wanted: Wanted::default(),
            start,
            edges: HashMap::new(),
            nodes: HashMap::new(),
            inbox,
        };
        (task, MatchingHandle(sender))
    }

    /// Runs until `stop`.
    pub async fn run(mut self, hub: HubHandle, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut changes: Vec<Change> = Vec::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                traffic = self.inbox.recv() => match traffic {
                    Some(traffic) => self.hear(traffic),
                    None => return,
                },
                _ = ticks.tick(), if !self.wanted.flows.is_empty() => {
                    changes.extend(self.matcher.update(self.start.elapsed()));
                }
                // The hub may wait for this task, so this task never waits for the hub.
                permit = hub.reserve(), if !changes.is_empty() => match permit {
                    Ok(permit) => permit.send(Message::Matched(std::mem::take(&mut changes))),
                    Err(_) => return,
                },
            }
        }
    }

    fn hear(&mut self, traffic: Traffic) {
        match traffic {
            Traffic::Wanted(wanted) => self.want(wanted),
            Traffic::Sent(flow, report, received) => self.sent(&flow, &report, received),
            Traffic::Arrived(node, reports, received) => {
                let clock = self.nodes.entry(node.clone()).or_default();
                for report in &reports {
                    let end = match report.ran_time_us {
                        Some(stamp_us) => clock.map(stamp_us, received),
                        None => report.end(),
                    };
                    self.matcher.arrived(&node.0, report, end);
                }
            }
            Traffic::UeGone(node, ue) => self.matcher.remove_ue(&UeKey { node: node.0, ue }),
            Traffic::NodeGone(node) => {
                self.matcher.remove_node(&node.0);
                self.nodes.remove(&node);
            }
        }
    }

    fn want(&mut self, wanted: Wanted) {
        for (flow, address) in &self.wanted.flows {
            if wanted.flows.get(flow) != Some(address) {
                self.matcher.remove_flow(flow);
            }
        }
        for (flow, address) in &wanted.flows {
            if !self.matcher.has_flow(flow) {
                self.matcher.add_flow(flow.clone(), *address);
            }
        }
        self.matcher.set_taken(wanted.taken.clone());
        self.wanted = wanted;
        let edges: BTreeSet<_> = self.wanted.flows.keys().map(|flow| &flow.edge).collect();
        self.edges.retain(|edge, _| edges.contains(edge));
    }

    fn sent(&mut self, flow: &FlowKey, report: &FlowReport, received: Instant) {
        let Some(octets) = report.sent_bytes else {
            return;
        };
        if !self.matcher.has_flow(flow) {
            return;
        }
        let received = received.saturating_duration_since(self.start);
        let end = match report.interval_end_us {
            0 => received,
            stamp_us => {
                let clock = self.edges.entry(flow.edge.clone()).or_default();
                clock.map(stamp_us, received)
            }
        };
        let length = Duration::from_micros(report.interval_us).min(LONGEST_INTERVAL);
        let began = report.total_sent_bytes == Some(octets);
        self.matcher.sent(flow, end, length, octets, began);
    }
}
