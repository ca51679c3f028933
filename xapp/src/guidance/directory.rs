//! Which UEs the nodes report, and which one a flow's target means.

use super::validate::{self, Target};
use crate::config::Binding;
use crate::ran::NodeId;
use policies::UeId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;

/// The UEs of all connected nodes, and the static table of addresses.
#[derive(Debug)]
pub(super) struct Directory {
    addresses: HashMap<IpAddr, Target>,
    nodes: BTreeMap<NodeId, HashSet<UeId>>,
}

impl Directory {
    /// No node yet.
    pub(super) fn new(bindings: &[Binding]) -> Self {
        let addresses = bindings
            .iter()
            .filter_map(|b| Some((b.ip.to_canonical(), validate::bound_ue(b)?)));
        Self {
            addresses: addresses.collect(),
            nodes: BTreeMap::new(),
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
        ues.map(|ues| ues.insert(ue)).is_some()
    }

    pub(super) fn ue_down(&mut self, node: &NodeId, ue: UeId) {
        if let Some(ues) = self.nodes.get_mut(node) {
            ues.remove(&ue);
        }
    }

    /// The identity of the UE that a target means, on whichever node.
    pub(super) fn identity(&self, target: &Target) -> Option<UeId> {
        match target {
            Target::Ran { ue, .. } => Some(*ue),
            Target::Ip(ip) => match self.addresses.get(ip)? {
                Target::Ran { ue, .. } => Some(*ue),
                Target::Ip(_) => None,
            },
        }
    }

    /// The one UE that a target means, or why there is none.
    pub(super) fn find(&self, target: &Target) -> Result<(NodeId, UeId), String> {
        let (node, ue) = match target {
            Target::Ip(ip) => match self.addresses.get(ip) {
                Some(Target::Ran { node, ue }) => (node, ue),
                _ => {
                    return Err(format!(
                        "no UE is known for {ip}: add a [[binding]] with this address to the configuration, or register the flow by an identity of the RAN"
                    ));
                }
            },
            Target::Ran { node, ue } => (node, ue),
        };
        if let Some(wanted) = node {
            return match self.nodes.iter().find(|(id, _)| &*id.0 == wanted) {
                None => Err(format!("node {wanted} is not connected")),
                Some((id, ues)) if ues.contains(ue) => Ok((id.clone(), *ue)),
                Some(_) => Err(format!("node {wanted} reports no UE {ue}")),
            };
        }
        let mut candidates = self.nodes.iter().filter(|(_, ues)| ues.contains(ue));
        match (candidates.next(), candidates.next()) {
            (None, _) => Err(format!("no node reports a UE {ue}")),
            (Some((id, _)), None) => Ok((id.clone(), *ue)),
            (Some((first, _)), Some((second, _))) => Err(format!(
                "several nodes have a UE {ue} ({first}, {second}): name the node in the registration"
            )),
        }
    }
}
