//! The E42 link: Cantor as an xApp of FlexRIC's near-RT RIC.
//!
//! ```text
//! scout ──E42 setup──► node list ──► a task for each node, with associations of its own
//!   │ again and again                  E42 setup, subscriptions, reports ──► outlet
//!   └─ guard: an E2 node for the moments in which the RIC might have none
//! ```
//!
//! FlexRIC's RIC aborts on much that an xApp may send, and the gNB's agent on more. What Cantor sends is bounded by
//! the [`rules`]; everything goes out one at a time, and nothing that comes in is believed unseen.

mod association;
mod config;
mod guard;
mod ledger;
mod node;
mod rules;
mod scout;
mod silence;

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use e2sm::e2ap::RicRequestId;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub use config::{Config, Timing};

use super::outlet::{AssociationId, Outlet};
use super::{Counters, RanEvent};

/// The E42 link, not begun yet.
#[derive(Debug)]
pub struct Flexric {
    ric: Arc<Ric>,
}

/// The RIC, as all associations with it see it.
#[derive(Debug)]
struct Ric {
    config: Config,
    counters: Arc<Counters>,
    outlet: Outlet,
    /// Held by whoever waits for an answer.
    turn: tokio::sync::Mutex<()>,
    /// Held while the subscriptions of one node are asked for.
    batch: tokio::sync::Mutex<()>,
    /// Tells guards apart: the RIC aborts when a node sets up that it already has, and it keeps a guard that could
    /// not leave in order.
    next_guard: AtomicU32,
    next_requestor: AtomicU32,
    next_association: AtomicU64,
    /// The newest xApp id that the RIC gave.
    last_xapp_id: AtomicU16,
    last_report: Mutex<Option<Instant>>,
    report: Notify,
}

impl Flexric {
    /// A link that connects when it is run.
    pub fn new(config: Config) -> Flexric {
        let counters = Arc::new(Counters::default());
        let random = |what: &str| RandomState::new().hash_one(what);
        Flexric {
            ric: Arc::new(Ric {
                outlet: Outlet::new(config.queued, Arc::clone(&counters)),
                turn: tokio::sync::Mutex::default(),
                batch: tokio::sync::Mutex::default(),
                next_guard: AtomicU32::new(random("guard") as u32),
                // Random, so that reports for a former Cantor do not look like ours.
                next_requestor: AtomicU32::new(random("requestor") as u32 % 0xffff),
                next_association: AtomicU64::new(0),
                last_xapp_id: AtomicU16::new(0),
                last_report: Mutex::default(),
                report: Notify::new(),
                counters,
                config,
            }),
        }
    }

    /// What is counted, for metrics.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.ric.counters)
    }

    /// Keeps to the RIC and yields what its nodes tell, until `stop` is cancelled or nobody reads the events.
    ///
    /// Then the subscriptions are deleted and the associations closed, within [`Timing::stop`] and a second.
    pub async fn run(self, events: mpsc::Sender<RanEvent>, stop: CancellationToken) {
        let ric = self.ric;
        let stop = stop.child_token();
        let mut scout =
            AbortOnDropHandle::new(tokio::spawn(scout::scout(Arc::clone(&ric), stop.clone())));
        tokio::select! {
            () = ric.outlet.drain_into(&events) => stop.cancel(),
            () = stop.cancelled() => {}
        }
        let closing = async {
            tokio::select! {
                _ = &mut scout => {}
                () = ric.outlet.drain_into(&events) => { let _ = (&mut scout).await; }
            }
            ric.outlet.hand_over_rest(&events).await;
        };
        let bound = ric.config.timing.stop + Duration::from_secs(1);
        if tokio::time::timeout(bound, closing).await.is_err() {
            tracing::warn!("the E42 link was ended without waiting any longer");
        }
    }
}

impl Ric {
    /// An id for a request: of no other xApp, because the RIC confuses requests of two xApps that have the same id
    /// when one is deleted, and not used again soon, because reports of former requests may still come.
    fn next_request(&self, xapp_id: u16) -> RicRequestId {
        let count = self.next_requestor.fetch_add(1, Relaxed);
        RicRequestId {
            // 1 to 65534.
            requestor: (count % 0xfffe + 1) as u16,
            instance: xapp_id,
        }
    }

    fn was_given(&self, xapp_id: u16) {
        self.last_xapp_id.store(xapp_id, Relaxed);
    }

    /// Whether the RIC has xApp ids to spare.
    fn may_spend_ids(&self) -> bool {
        rules::pause_for_ids(self.last_xapp_id.load(Relaxed)).is_zero()
    }

    fn next_guard(&self) -> u16 {
        self.next_guard.fetch_add(1, Relaxed) as u16
    }

    fn next_association(&self) -> AssociationId {
        AssociationId(self.next_association.fetch_add(1, Relaxed))
    }

    /// A node reported at `now`.
    fn reported(&self, now: Instant) {
        *self
            .last_report
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(now);
        self.report.notify_waiters();
    }

    /// Where nodes report, waits for the next report: a moment at which a node is known to be connected.
    async fn wait_for_a_report(&self) {
        const PATIENCE: Duration = Duration::from_millis(200);
        let report = self.report.notified();
        if self.last_report().is_some_and(|at| at.elapsed() < PATIENCE) {
            // Without a report in time there is no such moment.
            let _ = tokio::time::timeout(PATIENCE, report).await;
        }
    }

    fn last_report(&self) -> Option<Instant> {
        *self
            .last_report
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a node may be silent.
    fn silence(&self) -> Duration {
        let periods = 10 * Duration::from_millis(self.config.wishes.period_ms.into());
        self.config.timing.silence.max(periods)
    }
}
