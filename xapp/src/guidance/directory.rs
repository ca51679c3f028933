//! Which UEs the nodes report, which address each has, and which one a flow's target means.

use super::validate::{self, Target};
use crate::config::Binding;
use crate::measure::Identity;
use crate::ran::NodeId;
use policies::UeId;
use policies::matching::{Change, UeKey};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;

/// How it is known which UE a flow goes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// The edge server registered it by an identity of the RAN.
    Edge,
    /// The configuration has its address.
    Static,
    /// An operator said so.
    Operator,
    /// Its traffic fits.
    Traffic {
        /// Probability that it is right.
        confidence: f64,
    },
}

impl Source {
    /// As operators see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::Static => "static",
            Self::Operator => "operator",
            Self::Traffic { .. } => "traffic",
        }
    }

    /// Probability that it is right, where that is not certain.
    pub fn confidence(self) -> Option<f64> {
        match self {
            Self::Traffic { confidence } => Some(confidence),
            _ => None,
        }
    }
}

/// The UE that a target means.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) node: NodeId,
    pub(super) ue: UeId,
    pub(super) source: Source,
}

/// An address and its UE, for operators.
#[derive(Clone, Debug, PartialEq)]
pub struct BindingView {
    /// The address.
    pub address: IpAddr,
    /// E2 node; `None`: any, if just one UE fits.
    pub node: Option<String>,
    /// The UE.
    pub ue: Identity,
    /// How that is known.
    pub source: Source,
}

/// A UE, as a table names it.
#[derive(Clone, Debug)]
struct Entry {
    node: Option<String>,
    ue: Identity,
    source: Source,
}

/// The UEs of a node.
#[derive(Debug, Default)]
struct Ues {
    reported: HashSet<UeId>,
    /// Their other names.
    names: BTreeMap<Identity, UeId>,
}

/// The UEs of all connected nodes, and the tables of addresses.
#[derive(Debug)]
pub(super) struct Directory {
    configured: BTreeMap<IpAddr, Entry>,
    operator: BTreeMap<IpAddr, Entry>,
    traffic: BTreeMap<IpAddr, Entry>,
    nodes: BTreeMap<NodeId, Ues>,
    matching: bool,
}

impl Directory {
    /// No node yet. `matching`: addresses that no table has are looked for by their traffic.
    pub(super) fn new(bindings: &[Binding], matching: bool) -> Self {
        let configured = bindings.iter().filter_map(|binding| {
            let (node, ue) = validate::bound_ue(binding)?;
            let source = Source::Static;
            Some((binding.ip.to_canonical(), Entry { node, ue, source }))
        });
        Self {
            configured: configured.collect(),
            operator: BTreeMap::new(),
            traffic: BTreeMap::new(),
            nodes: BTreeMap::new(),
            matching,
        }
    }

    pub(super) fn node_up(&mut self, node: NodeId) {
        self.nodes.entry(node).or_default();
    }

    pub(super) fn node_down(&mut self, node: &NodeId) {
        self.nodes.remove(node);
    }

    /// `false`: the node is not connected (any more).
    pub(super) fn ue_up(&mut self, node: &NodeId, ue: UeId) -> bool {
        let ues = self.nodes.get_mut(node);
        ues.map(|ues| ues.reported.insert(ue)).is_some()
    }

    pub(super) fn ue_down(&mut self, node: &NodeId, ue: UeId) {
        if let Some(ues) = self.nodes.get_mut(node) {
            ues.reported.remove(&ue);
        }
    }

    /// A node's reports tell what else its UEs are called.
    pub(super) fn names(&mut self, node: &NodeId, names: BTreeMap<Identity, UeId>) {
        if let Some(ues) = self.nodes.get_mut(node) {
            ues.names = names;
        }
    }

    /// An operator says which UE has an address.
    pub(super) fn bind(&mut self, address: IpAddr, node: Option<String>, ue: Identity) {
        let source = Source::Operator;
        self.operator.insert(address, Entry { node, ue, source });
    }

    /// An operator takes it back. `false`: nobody had said so.
    pub(super) fn unbind(&mut self, address: IpAddr) -> bool {
        self.operator.remove(&address).is_some()
    }

    /// What the traffic tells.
    pub(super) fn matched(&mut self, change: &Change) {
        match change {
            Change::Bound(address, found) => {
                let entry = Entry {
                    node: Some(found.ue.node.to_string()),
                    ue: Identity::Ue(found.ue.ue),
                    source: Source::Traffic {
                        confidence: found.confidence,
                    },
                };
                self.traffic.insert(*address, entry);
            }
            Change::Unbound(address, _) => {
                self.traffic.remove(address);
            }
        }
    }

    /// Whether the UE of an address is to be found by its traffic.
    pub(super) fn is_unknown(&self, address: IpAddr) -> bool {
        self.matching
            && !self.operator.contains_key(&address)
            && !self.configured.contains_key(&address)
    }

    /// The UEs whose addresses are in a table.
    pub(super) fn taken(&self) -> BTreeSet<UeKey> {
        let tables = self.operator.iter().chain(&self.configured);
        let found = tables.filter_map(|(address, _)| self.find(&Target::Ip(*address)).ok());
        found
            .map(|found| UeKey {
                node: found.node.0,
                ue: found.ue,
            })
            .collect()
    }

    /// What is known of addresses, in their order. Where several tables have one, the first of them counts.
    pub(super) fn bindings(&self) -> Vec<BindingView> {
        let mut all = self.traffic.clone();
        all.extend(self.configured.clone());
        all.extend(self.operator.clone());
        all.into_iter()
            .map(|(address, entry)| BindingView {
                address,
                node: entry.node,
                ue: entry.ue,
                source: entry.source,
            })
            .collect()
    }

    fn entry(&self, address: &IpAddr) -> Option<&Entry> {
        self.operator
            .get(address)
            .or_else(|| self.configured.get(address))
            .or_else(|| self.traffic.get(address))
    }

    /// The one UE that a target means, or why there is none.
    pub(super) fn find(&self, target: &Target) -> Result<Found, String> {
        let (node, ue, source) = match target {
            Target::Ip(ip) => match self.entry(ip) {
                Some(entry) => (&entry.node, entry.ue, entry.source),
                None => return Err(self.unknown(*ip)),
            },
            Target::Ran { node, ue } => (node, Identity::Ue(*ue), Source::Edge),
        };
        let (node, ue) = self.reported(node.as_deref(), ue)?;
        Ok(Found {
            node: node.clone(),
            ue,
            source,
        })
    }

    fn unknown(&self, ip: IpAddr) -> String {
        if self.matching {
            format!(
                "no UE is known for {ip} yet: its traffic is compared with that of the UEs; or add a [[binding]] with this address to the configuration, use `cantor bind`, or register the flow by an identity of the RAN"
            )
        } else {
            format!(
                "no UE is known for {ip}: add a [[binding]] with this address to the configuration, use `cantor bind`, or register the flow by an identity of the RAN"
            )
        }
    }

    /// The node that has a UE, the wanted one or the only one, and the UE as it reports it.
    fn reported(&self, wanted: Option<&str>, ue: Identity) -> Result<(&NodeId, UeId), String> {
        if let Some(wanted) = wanted {
            let node = self.nodes.iter().find(|(id, _)| &*id.0 == wanted);
            let (id, ues) = node.ok_or_else(|| format!("node {wanted} is not connected"))?;
            return match ues.reported(ue) {
                Some(ue) => Ok((id, ue)),
                None => Err(format!("node {wanted} reports no UE {ue}")),
            };
        }
        let has = |(id, ues): (_, &Ues)| Some((id, ues.reported(ue)?));
        let mut candidates = self.nodes.iter().filter_map(has);
        match (candidates.next(), candidates.next()) {
            (None, _) => Err(format!("no node reports a UE {ue}")),
            (Some(found), None) => Ok(found),
            (Some((first, _)), Some((second, _))) => Err(format!(
                "several nodes have a UE {ue} ({first}, {second}): name the node in the registration"
            )),
        }
    }
}

impl Ues {
    /// The UE with this name, as it is reported.
    fn reported(&self, name: Identity) -> Option<UeId> {
        let by_itself = match name {
            Identity::Ue(ue) => Some(ue),
            Identity::GnbTeid(_) => None,
        };
        let mut candidates = by_itself.into_iter().chain(self.names.get(&name).copied());
        candidates.find(|ue| self.reported.contains(ue))
    }
}
