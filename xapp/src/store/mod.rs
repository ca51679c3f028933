//! What must outlive a stream, a cell task, or the process.
//!
//! A [`Store`] always works from memory: reading and writing never wait for a disk or a network. Items that were
//! accepted with [`Store::put`] stay until [`Store::delete`], whatever becomes of the place where they are written.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use xapp::store::{Kind, Store, Stored};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Policy { factor: f64 }
//!
//! impl Stored for Policy {
//!     const KIND: Kind = Kind::Policy;
//!     const VERSION: u32 = 1;
//! }
//!
//! let store = Store::memory();
//! let changes = store.changes(Kind::Policy);      // a watch: `changed().await`, then load again
//! store.put("video", &Policy { factor: 0.8 })?;
//! assert!(changes.has_changed()?);
//! assert_eq!(store.load_all::<Policy>(), [("video".to_owned(), Policy { factor: 0.8 })]);
//! store.delete(Kind::Policy, "video");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod flows;
mod item;

pub use item::{Error, Kind, Stored};

use crate::cell::DecisionRecord;
use crate::guidance::FlowKey;
use flows::Flows;
use item::Items;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{broadcast, watch};
use tracing::warn;

/// Decisions that a slow watcher may lag behind.
const WATCHED: usize = 4096;
/// Flows whose last decision is remembered.
const REMEMBERED_FLOWS: usize = 65_536;

/// Where items and decisions are kept. Clones share it.
#[derive(Clone, Debug)]
pub struct Store(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Counts the changes of each kind of items.
    revisions: [watch::Sender<u64>; Kind::ALL.len()],
    watchers: broadcast::Sender<Arc<DecisionRecord>>,
}

/// What is behind the lock. It is held for moments only.
#[derive(Debug)]
struct State {
    items: Items,
    flows: Flows,
}

impl Store {
    /// A store that ends with the process.
    pub fn memory() -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                items: Items::default(),
                flows: Flows::new(REMEMBERED_FLOWS),
            }),
            revisions: Kind::ALL.map(|_| watch::Sender::new(0)),
            watchers: broadcast::Sender::new(WATCHED),
        }))
    }

    /// Keeps an item under its key, in place of the one that was there. Does not wait for it to be written.
    ///
    /// # Errors
    /// When the item cannot be kept: it is too large, or there are too many of its kind. Then nothing has changed.
    pub fn put<T: Stored>(&self, key: &str, item: &T) -> Result<(), Error> {
        let octets = item::encode(key, item)?;
        self.state().items.put(T::KIND, key, octets)?;
        self.changed(T::KIND);
        Ok(())
    }

    /// Removes an item. `false`: there was none.
    pub fn delete(&self, kind: Kind, key: &str) -> bool {
        let known = self.state().items.delete(kind, key);
        if known {
            self.changed(kind);
        }
        known
    }

    /// An item, if there is one of this key and it can be read.
    pub fn get<T: Stored>(&self, key: &str) -> Option<T> {
        let octets = self.state().items.get(T::KIND, key)?;
        readable(key, &octets)
    }

    /// All items of a type that can be read, in the order of their keys. Others are left as they are.
    pub fn load_all<T: Stored>(&self) -> Vec<(String, T)> {
        let all = self.state().items.all(T::KIND);
        all.into_iter()
            .filter_map(|(key, octets)| {
                let item = readable(&key, &octets)?;
                Some((key, item))
            })
            .collect()
    }

    /// Is told whenever an item of this kind is put, deleted, or found where the store is written to.
    pub fn changes(&self, kind: Kind) -> watch::Receiver<u64> {
        self.0.revisions[kind.index()].subscribe()
    }

    /// Keeps the decisions of one interval.
    pub fn record(&self, decisions: Vec<DecisionRecord>) {
        let mut state = self.state();
        for decision in decisions {
            let decision = Arc::new(decision);
            if self.0.watchers.receiver_count() > 0 {
                let _ = self.0.watchers.send(decision.clone());
            }
            state.flows.decided(decision);
        }
    }

    /// The last decision of a flow: a flow that comes back goes on from it.
    pub fn last(&self, flow: &FlowKey) -> Option<Arc<DecisionRecord>> {
        self.state().flows.last(flow)
    }

    /// Decisions from now on. A receiver that is too slow is told how many it lost.
    pub fn watch(&self) -> broadcast::Receiver<Arc<DecisionRecord>> {
        self.0.watchers.subscribe()
    }

    fn changed(&self, kind: Kind) {
        self.0.revisions[kind.index()].send_modify(|revision| *revision += 1);
    }

    /// The state is a few maps: it is consistent after any panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn readable<T: Stored>(key: &str, octets: &[u8]) -> Option<T> {
    match item::decode(octets) {
        Ok(item) => Some(item),
        Err(reason) => {
            warn!(kind = %T::KIND, key, reason, "stored item cannot be read and is left as it is");
            None
        }
    }
}

#[cfg(test)]
mod tests;
