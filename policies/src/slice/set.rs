//! All slice policies, and which one rules a flow.
//!
//! Policies lie under the scope that they are written for. A flow has few scopes that can contain it (with or without its
//! UE, its cell, its slice), so finding its policy takes a handful of look-ups, however many policies there are.

use super::document::Place;
use super::effective::EffectivePolicy;
use super::policy::SlicePolicy;
use super::scope::{FlowFacts, Scope, SliceScope, UeScope};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// Who gave a policy. The later in this list, the more it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A file.
    File,
    /// An operator, through the operations API.
    Operator,
    /// The non-RT RIC, through A1.
    A1,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::File, Self::Operator, Self::A1];

    /// As people read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Operator => "operator",
            Self::A1 => "A1",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a policy came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Who gave it.
    pub source: Source,
    /// Where it is written.
    pub place: Place,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Source::File => write!(f, "{}", self.place),
            source => write!(f, "{source} ({})", self.place),
        }
    }
}

/// A policy in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it says.
    pub policy: SlicePolicy,
    /// Where it came from.
    pub origin: Origin,
    /// What it means for the flows that it rules.
    pub effective: Arc<EffectivePolicy>,
}

impl Entry {
    /// A policy that was checked ([`SlicePolicy::check`]).
    pub fn new(policy: SlicePolicy, origin: Origin) -> Self {
        let effective = Arc::new(EffectivePolicy::new(&policy, origin.source));
        Self {
            policy,
            origin,
            effective,
        }
    }

    fn key(&self) -> (Source, &str) {
        (self.origin.source, self.policy.name())
    }

    /// Of several policies of one scope the largest rules: by source, then priority, then the first name.
    fn rank(&self) -> (Source, i32, std::cmp::Reverse<&str>) {
        let priority = self.policy.spec.priority;
        (
            self.origin.source,
            priority,
            std::cmp::Reverse(self.policy.name()),
        )
    }
}

/// All policies.
#[derive(Clone, Debug, Default)]
pub struct PolicySet {
    entries: BTreeMap<(Source, String), Arc<Entry>>,
    /// By scope, the one that rules last.
    by_scope: HashMap<Scope, Vec<Arc<Entry>>>,
    /// How many scopes there are of each specificity: look-ups that can find nothing are left out.
    shapes: [usize; 16],
}

impl PolicySet {
    /// Adds a policy, in the place of one of its name from the same source. `None`: there was none.
    pub fn insert(&mut self, entry: Entry) -> Option<Arc<Entry>> {
        let (source, name) = entry.key();
        let previous = self.remove(source, name);
        let entry = Arc::new(entry);
        let scope = &entry.policy.spec.scope;
        if !self.by_scope.contains_key(scope) {
            self.shapes[usize::from(scope.specificity())] += 1;
        }
        let peers = self.by_scope.entry(scope.clone()).or_default();
        let at = peers.partition_point(|peer| peer.rank() < entry.rank());
        peers.insert(at, entry.clone());
        let (source, name) = entry.key();
        self.entries
            .insert((source, name.to_owned()), entry.clone());
        previous
    }

    /// Removes a policy.
    pub fn remove(&mut self, source: Source, name: &str) -> Option<Arc<Entry>> {
        let entry = self.entries.remove(&(source, name.to_owned()))?;
        let scope = &entry.policy.spec.scope;
        if let Some(peers) = self.by_scope.get_mut(scope) {
            peers.retain(|peer| !Arc::ptr_eq(peer, &entry));
            if peers.is_empty() {
                self.by_scope.remove(scope);
                self.shapes[usize::from(scope.specificity())] -= 1;
            }
        }
        Some(entry)
    }

    /// A policy by its source and name.
    pub fn get(&self, source: Source, name: &str) -> Option<&Arc<Entry>> {
        self.entries.get(&(source, name.to_owned()))
    }

    /// All policies, by source and name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.values()
    }

    /// Number of policies.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The policy that rules a flow; `None`: the configuration does.
    pub fn resolve(&self, flow: &FlowFacts) -> Option<&Arc<Entry>> {
        self.shapes().find_map(|shape| {
            let peers = self.containing(shape, flow).into_iter().flatten();
            let best = peers.filter_map(|peers| peers.last());
            best.max_by(|a, b| a.rank().cmp(&b.rank()))
        })
    }

    /// The specificities that scopes have, the largest first.
    fn shapes(&self) -> impl Iterator<Item = usize> {
        (0..self.shapes.len())
            .rev()
            .filter(|shape| self.shapes[*shape] > 0)
    }

    /// The policies of the scopes of one specificity that contain a flow: two scopes at most, because a UE has at most two
    /// names.
    fn containing(&self, shape: usize, flow: &FlowFacts) -> [Option<&Vec<Arc<Entry>>>; 2] {
        // The bits of a specificity say which parts a scope has.
        let ues = match shape & 0b1000 {
            0 => [Some(None), None],
            _ => [
                Some(Some(UeScope::from(flow.ue))),
                flow.address.map(|address| Some(UeScope::Ip(address))),
            ],
        };
        let slice = match (shape & 0b0011, flow.slice) {
            (0, _) => None,
            (_, None) => return [None, None],
            (0b01, Some(slice)) => Some(SliceScope {
                sst: slice.sst,
                sd: None,
            }),
            (_, Some(slice)) => Some(SliceScope::from(slice)),
        };
        let cell = (shape & 0b0100 != 0).then(|| flow.cell.clone());
        ues.map(|ue| {
            let (slice, cell) = (slice.clone(), cell.clone());
            self.by_scope.get(&Scope {
                slice,
                cell,
                ue: ue?,
            })
        })
    }

    /// Why the policy that rules a flow does, and why the others do not: the ruling one first, then those that would rule
    /// without it, then those whose scope does not contain the flow.
    pub fn explain(&self, flow: &FlowFacts) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for shape in self.shapes() {
            let peers = self.containing(shape, flow).into_iter().flatten().flatten();
            let mut peers: Vec<_> = peers.cloned().collect();
            peers.sort_by(|a, b| b.rank().cmp(&a.rank()));
            for entry in peers {
                let verdict = match candidates.first() {
                    None => Verdict::Rules,
                    Some(ruling) => Verdict::Outranked(entry.lacks(&ruling.entry)),
                };
                candidates.push(Candidate { entry, verdict });
            }
        }
        let others = self.iter().filter_map(|entry| {
            let miss = entry.policy.spec.scope.miss(flow)?;
            Some(Candidate {
                entry: entry.clone(),
                verdict: Verdict::OutOfScope(miss),
            })
        });
        candidates.extend(others);
        candidates
    }
}

impl Entry {
    /// What a policy lacks against the one that rules.
    fn lacks(&self, ruling: &Entry) -> String {
        let (own, theirs) = (&self.policy.spec, &ruling.policy.spec);
        let name = ruling.policy.name();
        if own.scope.specificity() != theirs.scope.specificity() {
            format!("{name} has the more specific scope")
        } else if self.origin.source != ruling.origin.source {
            let (own, theirs) = (self.origin.source, ruling.origin.source);
            format!("{name} is from {theirs}, which goes before {own}")
        } else if own.priority != theirs.priority {
            let (own, theirs) = (own.priority, theirs.priority);
            format!("{name} has priority {theirs}, this one {own}")
        } else {
            format!("{name} comes first by name")
        }
    }
}

/// A policy that was considered for a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The policy.
    pub entry: Arc<Entry>,
    /// What came of it.
    pub verdict: Verdict,
}

/// What came of considering a policy for a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It rules the flow.
    Rules,
    /// It contains the flow, but another goes before it.
    Outranked(String),
    /// Its scope does not contain the flow.
    OutOfScope(String),
}
