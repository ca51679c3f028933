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

mod backend;
mod file;
mod flows;
mod health;
mod item;
mod log;
mod queue;
mod record;
mod redis;
mod settings;
mod writer;

pub use self::redis::Address;
pub use health::{Counts, Standing};
pub use item::{Error, Kind, Stored};
pub use log::{LogError, LogReader};
pub use settings::{Naming, Place, Settings};

use crate::cell::DecisionRecord;
use crate::guidance::FlowKey;
use backend::{Backend, Found};
use file::File;
use flows::Flows;
use item::{Change, Items};
use log::Source;
use policies::decision_log::LoggedDecision;
use queue::Queue;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::warn;
use writer::Writer;

/// Decisions that a slow watcher may lag behind.
const WATCHED: usize = 4096;
/// Flows whose last decision is remembered.
const REMEMBERED_FLOWS: usize = 65_536;
/// Decisions that wait for the log, or are the log where it is kept in memory.
const LOG_IN_MEMORY: usize = 10_000;
/// Decisions that are put into the log at once.
const LOG_BATCH: usize = 512;
/// A file is written so often at most: every time its disk is waited for.
const FILE_PACE: Duration = Duration::from_millis(100);
/// Redis is written so often at most: decisions of several cells go together.
const REDIS_PACE: Duration = Duration::from_millis(5);

/// Where items and decisions are kept. Clones share it.
#[derive(Clone, Debug)]
pub struct Store(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    source: Source,
    /// Counts the changes of each kind of items.
    revisions: [watch::Sender<u64>; Kind::ALL.len()],
    watchers: broadcast::Sender<Arc<DecisionRecord>>,
    standing: watch::Sender<Standing>,
    /// There is something to write.
    filled: Notify,
    /// Something was written.
    emptied: Notify,
    writes: AtomicU64,
    outages: AtomicU64,
}

/// What is behind the lock. It is held for moments only.
#[derive(Debug)]
struct State {
    items: Items,
    flows: Flows,
    log: Queue,
}

/// What the writer takes at once.
struct Batch {
    changes: Vec<Change>,
    flows: Vec<Arc<DecisionRecord>>,
    log: Vec<Arc<DecisionRecord>>,
    /// Number of the decision after those of `log`.
    log_next: u64,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct OpenError {
    place: String,
    reason: String,
}

impl Store {
    /// A store that ends with the process.
    pub fn memory() -> Self {
        Self::new(Source::Memory, LOG_IN_MEMORY)
    }

    /// A store as it is configured, and the task that writes it until `stop`.
    ///
    /// What an earlier process left is there when this returns, unless the place cannot be reached at once: then it
    /// comes later, and [`changes`](Self::changes) tells of it.
    ///
    /// # Errors
    /// When a file cannot be opened. Redis need not be there yet.
    pub async fn open(
        settings: Settings,
        stop: CancellationToken,
    ) -> Result<(Self, Option<JoinHandle<()>>), OpenError> {
        let log = settings.log_length.min(LOG_IN_MEMORY);
        let place = settings.place.clone();
        let (store, writing) = match place {
            Place::Memory => return Ok((Self::new(Source::Memory, log), None)),
            Place::File(path) => {
                let shared = file::Shared::new(path);
                shared.open().map_err(|failure| OpenError {
                    place: settings.place.to_string(),
                    reason: failure.reason,
                })?;
                let store = Self::new(Source::File(shared.clone()), log);
                let file = File::new(shared, settings.log_length);
                let writing = store.write_to(file, FILE_PACE, stop);
                (store, writing)
            }
            Place::Redis(address) => {
                let store = Self::new(Source::Redis(settings.clone()), log);
                let redis = redis::Redis::new(settings, address);
                let writing = store.write_to(redis, REDIS_PACE, stop);
                (store, writing)
            }
        };
        let mut standing = store.standing();
        // The writer ends with the process only.
        let _ = standing
            .wait_for(|standing| *standing != Standing::Opening)
            .await;
        Ok((store, Some(writing)))
    }

    fn new(source: Source, log: usize) -> Self {
        let (backend, standing) = match source {
            Source::Memory => (false, Standing::Memory),
            Source::File(_) | Source::Redis(_) => (true, Standing::Opening),
        };
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                items: Items::new(backend),
                flows: Flows::new(REMEMBERED_FLOWS, backend),
                log: Queue::new(log),
            }),
            source,
            revisions: Kind::ALL.map(|_| watch::Sender::new(0)),
            watchers: broadcast::Sender::new(WATCHED),
            standing: watch::Sender::new(standing),
            filled: Notify::new(),
            emptied: Notify::new(),
            writes: AtomicU64::new(0),
            outages: AtomicU64::new(0),
        }))
    }

    fn write_to(
        &self,
        backend: impl Backend,
        pace: Duration,
        stop: CancellationToken,
    ) -> JoinHandle<()> {
        tokio::spawn(Writer::new(self.clone(), backend, pace).run(stop))
    }

    /// Keeps an item under its key, in place of the one that was there. Does not wait for it to be written.
    ///
    /// # Errors
    /// When the item cannot be kept: it is too large, or there are too many of its kind. Then nothing has changed.
    pub fn put<T: Stored>(&self, key: &str, item: &T) -> Result<(), Error> {
        let octets = item::encode(key, item)?;
        self.state().items.put(T::KIND, key, octets)?;
        self.changed(T::KIND);
        self.0.filled.notify_one();
        Ok(())
    }

    /// Removes an item. `false`: there was none.
    pub fn delete(&self, kind: Kind, key: &str) -> bool {
        let known = self.state().items.delete(kind, key);
        if known {
            self.changed(kind);
            self.0.filled.notify_one();
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
        let decisions: Vec<_> = decisions.into_iter().map(Arc::new).collect();
        if self.0.watchers.receiver_count() > 0 {
            for decision in &decisions {
                let _ = self.0.watchers.send(decision.clone());
            }
        }
        let mut state = self.state();
        for decision in decisions {
            state.log.push(decision.clone());
            state.flows.decided(decision);
        }
        drop(state);
        self.0.filled.notify_one();
    }

    /// The last decision of this process for a flow: a flow that comes back goes on from it.
    pub fn last(&self, flow: &FlowKey) -> Option<Arc<DecisionRecord>> {
        self.state().flows.last(flow)
    }

    /// The last decision of an earlier process for a flow, until this one decides.
    pub fn left(&self, flow: &FlowKey) -> Option<Arc<LoggedDecision>> {
        self.state().flows.found(flow)
    }

    /// Decisions from now on. A receiver that is too slow is told how many it lost.
    pub fn watch(&self) -> broadcast::Receiver<Arc<DecisionRecord>> {
        self.0.watchers.subscribe()
    }

    /// The decisions in the log that were made at these Unix times, in microseconds.
    ///
    /// # Errors
    /// When the log cannot be reached.
    pub async fn log(&self, since_us: i64, until_us: i64) -> Result<LogReader, LogError> {
        LogReader::of(self, since_us, until_us).await
    }

    /// How it stands to the place where it is written, now and later.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.0.standing.subscribe()
    }

    /// What it counts.
    pub fn counts(&self) -> Counts {
        let state = self.state();
        let logged = !matches!(self.0.source, Source::Memory);
        Counts {
            writes: self.0.writes.load(Ordering::Relaxed),
            outages: self.0.outages.load(Ordering::Relaxed),
            waiting: state.items.waiting() + state.flows.waiting(),
            log_waiting: if logged { state.log.len() } else { 0 },
            log_dropped: if logged { state.log.dropped() } else { 0 },
        }
    }

    /// Waits until all that was accepted before is written. Without a place to write to, that is at once.
    pub async fn all_written(&self) {
        loop {
            let emptied = self.0.emptied.notified();
            if self.is_written() {
                return;
            }
            emptied.await;
        }
    }

    fn is_written(&self) -> bool {
        let counts = self.counts();
        counts.waiting + counts.log_waiting == 0
    }

    fn changed(&self, kind: Kind) {
        self.0.revisions[kind.index()].send_modify(|revision| *revision += 1);
    }

    /// The state is a few maps: it is consistent after any panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the writer does with it.
impl Store {
    /// The backend was never read.
    fn is_unread(&self) -> bool {
        self.state().items.is_unread()
    }

    fn found(&self, found: Found) {
        let mut state = self.state();
        let kinds = state.items.found(found.items);
        state.flows.find(found.flows);
        drop(state);
        kinds.into_iter().for_each(|kind| self.changed(kind));
    }

    /// Takes what is to be written next. Items go first.
    fn take(&self, max: usize) -> Batch {
        let mut state = self.state();
        let (log, log_next) = state.log.first(LOG_BATCH);
        Batch {
            changes: state.items.take(max),
            flows: state.flows.take(max),
            log,
            log_next,
        }
    }

    /// What was taken last is written, and nothing is wrong if no item waits.
    fn written(&self, batch_log_next: u64) {
        let mut state = self.state();
        state.log.written(batch_log_next);
        let items_written = state.items.waiting() == 0;
        drop(state);
        self.0.writes.fetch_add(1, Ordering::Relaxed);
        if items_written {
            let good = |standing: &mut Standing| {
                let worse = *standing != Standing::Written;
                *standing = Standing::Written;
                worse
            };
            self.0.standing.send_if_modified(good);
        }
        self.0.emptied.notify_waiters();
    }

    /// The backend failed; what it has is uncertain.
    fn lost(&self, reason: String) {
        self.state().items.lost();
        let before = self.0.standing.send_replace(Standing::Lost { reason });
        if before == Standing::Written {
            self.0.outages.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The backend is back and has items with these keys: all is written again.
    fn back(&self, there: Vec<(Kind, String)>) {
        let mut state = self.state();
        state.items.back(there);
        state.flows.back();
    }

    /// Waits until there is something to write.
    async fn filled(&self) {
        self.0.filled.notified().await;
    }

    fn source(&self) -> &Source {
        &self.0.source
    }

    /// Entries of the log in memory, and the number of the one after them.
    fn log_from(&self, number: u64, max: usize) -> (Vec<Arc<DecisionRecord>>, u64) {
        self.state().log.from(number, max)
    }
}

/// A mark that no other process makes.
fn lineage() -> String {
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", random(), random())
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
