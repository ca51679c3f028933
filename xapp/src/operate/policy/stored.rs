//! What of the policies outlives the process: those of operators (A1 keeps its own). Files are read again.

use super::Policies;
use crate::store::{Kind, Stored};
use policies::slice::{Entry, Origin, Place, SlicePolicy, Source};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// Between two looks at a store that changes all the time.
const PAUSE: Duration = Duration::from_secs(1);

/// A policy that an operator gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OperatorPolicy {
    place: String,
    line: u64,
    policy: SlicePolicy,
}

impl Stored for OperatorPolicy {
    const KIND: Kind = Kind::Policy;
    const VERSION: u32 = 1;
}

impl OperatorPolicy {
    pub(super) fn of(entry: &Entry) -> Self {
        let Place { text, line } = entry.origin.place.clone();
        Self {
            place: text,
            line,
            policy: entry.policy.clone(),
        }
    }

    fn entry(self) -> Option<Entry> {
        if let Err(error) = self.policy.check() {
            warn!(%error, policy = self.policy.name(), "a stored slice policy cannot be used");
            return None;
        }
        let place = Place {
            text: self.place,
            line: self.line,
        };
        let source = Source::Operator;
        Some(Entry::new(self.policy, Origin { source, place }))
    }
}

impl Policies {
    /// Brings the policies of operators to what the store has.
    pub(super) fn load(&self) {
        let mut set = self.write();
        let stored = self.0.store.load_all::<OperatorPolicy>().into_iter();
        let entries: Vec<_> = stored.filter_map(|(_, policy)| policy.entry()).collect();
        let names: BTreeSet<_> = entries.iter().map(|e| e.policy.name().to_owned()).collect();
        let of_operators = set.iter().filter(|e| e.origin.source == Source::Operator);
        let gone: Vec<_> = of_operators
            .map(|entry| entry.policy.name().to_owned())
            .filter(|name| !names.contains(name))
            .collect();
        let mut changed = !gone.is_empty();
        for name in gone {
            set.remove(Source::Operator, &name);
        }
        for entry in entries {
            let known = set.get(Source::Operator, entry.policy.name());
            if known.is_none_or(|known| known.policy != entry.policy) {
                set.insert(entry);
                changed = true;
            }
        }
        drop(set);
        if changed {
            self.changed();
        }
    }

    /// Follows what others write to the store, until `stop`.
    pub async fn follow_store(self, stop: CancellationToken) {
        let mut changes = self.0.store.changes(Kind::Policy);
        let follow = async {
            while changes.changed().await.is_ok() {
                self.load();
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = follow => {}
        }
    }
}
