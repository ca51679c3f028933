//! The slice policies in force, from files, operators and A1.
//!
//! [`Policies`] is what everyone shares: whoever changes a policy does so in place and raises the revision; cells look at
//! the revision once a control interval, and only then at the policies.

mod explain;
mod folder;
pub mod service;
mod stored;

pub use folder::{Folder, watch as watch_folder};

use crate::store::{self, Kind, Store};
use policies::slice::{Entry, Origin, Place, PolicySet, SlicePolicy, Source, parse};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stored::OperatorPolicy;
use tokio::sync::watch;

/// Most policies in force.
pub const MAX_POLICIES: usize = 65_536;

/// The slice policies. Clones share them.
#[derive(Clone, Debug)]
pub struct Policies(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    set: RwLock<PolicySet>,
    /// Where those of operators are kept. Written to while the set is locked, so that both agree.
    store: Store,
    revision: watch::Sender<u64>,
    /// Files that cannot be used, and why.
    problems: Mutex<BTreeMap<String, String>>,
}

/// Why policies were not taken over. Nothing has changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// One of them is wrong.
    #[error(transparent)]
    Policy(#[from] policies::Error),
    /// A text has two of one name.
    #[error("{place}: metadata.name: {name} is there twice")]
    Twice {
        /// The second of them.
        place: Place,
        /// The name.
        name: String,
    },
    /// There are too many.
    #[error("{MAX_POLICIES} policies are in force, and no more may be: delete some")]
    Full,
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] Arc<store::Error>),
}

/// What became of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There was none of its name from its source.
    Created,
    /// It says something else now.
    Changed,
    /// It said the same.
    Unchanged,
}

impl Outcome {
    /// As operators see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Policies {
    /// The policies that are in the store.
    pub fn new(store: Store) -> Self {
        let policies = Self(Arc::new(Shared {
            set: RwLock::default(),
            store,
            revision: watch::Sender::new(0),
            problems: Mutex::default(),
        }));
        policies.load();
        policies
    }

    /// Counts the changes.
    pub fn revision(&self) -> u64 {
        *self.0.revision.borrow()
    }

    /// Sees the revision change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.revision.subscribe()
    }

    /// The policies as they are. Whoever changes one waits meanwhile.
    pub fn read(&self) -> RwLockReadGuard<'_, PolicySet> {
        self.0.set.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over all policies of a text, or none; `dry_run`: only says what would become of each.
    ///
    /// # Errors
    /// [`Error`] for the first thing that is wrong.
    pub fn apply(
        &self,
        source: Source,
        text: &str,
        name: &str,
        dry_run: bool,
    ) -> Result<Vec<(String, Outcome)>, Error> {
        let entries = entries(source, text, name)?;
        self.put_all(entries, dry_run)
    }

    /// Takes over policies that were checked, all or none.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub fn put_all(
        &self,
        entries: Vec<Entry>,
        dry_run: bool,
    ) -> Result<Vec<(String, Outcome)>, Error> {
        let mut set = self.write();
        let outcomes: Vec<_> = entries
            .iter()
            .map(|entry| {
                let name = entry.policy.name();
                let outcome = match set.get(entry.origin.source, name) {
                    None => Outcome::Created,
                    Some(old) if old.policy == entry.policy => Outcome::Unchanged,
                    Some(_) => Outcome::Changed,
                };
                (name.to_owned(), outcome)
            })
            .collect();
        let created = outcomes.iter().filter(|(_, o)| *o == Outcome::Created);
        if set.len() + created.count() > MAX_POLICIES {
            return Err(Error::Full);
        }
        if dry_run {
            return Ok(outcomes);
        }
        let mut changed = false;
        for (entry, (name, outcome)) in entries.into_iter().zip(&outcomes) {
            if *outcome == Outcome::Unchanged {
                continue;
            }
            if entry.origin.source == Source::Operator {
                let kept = self.0.store.put(name, &OperatorPolicy::of(&entry));
                kept.map_err(Arc::new)?;
            }
            changed = true;
            set.insert(entry);
        }
        drop(set);
        if changed {
            self.changed();
        }
        Ok(outcomes)
    }

    /// Takes a policy back. `false`: there is none of this name from this source.
    pub fn remove(&self, source: Source, name: &str) -> bool {
        let mut set = self.write();
        let known = set.remove(source, name).is_some();
        if known && source == Source::Operator {
            self.0.store.delete(Kind::Policy, name);
        }
        drop(set);
        if known {
            self.changed();
        }
        known
    }

    /// Files that cannot be used, each with the reason.
    pub fn problems(&self) -> Vec<String> {
        self.problems_by_file().values().cloned().collect()
    }

    fn problems_by_file(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        let problems = self.0.problems.lock();
        problems.unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, PolicySet> {
        self.0.set.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.0.revision.send_modify(|revision| *revision += 1);
    }
}

/// Reads the policies of a text; each name may be there once.
fn entries(source: Source, text: &str, name: &str) -> Result<Vec<Entry>, Error> {
    let mut names = HashSet::new();
    let policies = parse(text, name)?;
    let entry = |(policy, place): (SlicePolicy, Place)| {
        if !names.insert(policy.name().to_owned()) {
            let name = policy.name().to_owned();
            return Err(Error::Twice { place, name });
        }
        Ok(Entry::new(policy, Origin { source, place }))
    };
    policies.into_iter().map(entry).collect()
}
