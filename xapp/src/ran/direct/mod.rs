//! The direct link: Cantor terminates E2 itself.
//!
//! E2 nodes connect to the addresses of [`Config::listen`] and set up. Each association has a task that
//! moves octets and time into a [`session`], the protocol as a state machine without I/O, and what comes out of it
//! to the peer and, through the [`outlet`](super::outlet), to whoever reads the events.

mod association;
mod config;
mod places;
mod session;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use transport::{Address, Listener};

use super::RanEvent;
use super::counters::Counters;
use super::outlet::{AssociationId, Outlet};
pub use config::{Config, Limits};
use places::Places;

/// The E2 termination, listening.
#[derive(Debug)]
pub struct Direct {
    listeners: Vec<Listener>,
    shared: Arc<Shared>,
}

/// What all associations share.
#[derive(Debug)]
struct Shared {
    config: Arc<Config>,
    counters: Arc<Counters>,
    outlet: Outlet,
    places: Arc<Places>,
    next_association: AtomicU64,
    first_requestor: u16,
}

/// After a failed accept (no file descriptors left …): a pause, so that it is not tried in a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// What closing takes at most beyond deleting the subscriptions.
const CLOSING: Duration = Duration::from_secs(1);

impl Direct {
    /// Listens on every address of the configuration.
    pub async fn bind(config: Config) -> io::Result<Direct> {
        let mut listeners = Vec::new();
        for address in &config.listen {
            let listener = Listener::bind(address).await.map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot listen for E2 nodes on {address}: {error}"),
                )
            })?;
            listeners.push(listener);
        }
        let counters = Arc::new(Counters::default());
        let shared = Shared {
            outlet: Outlet::new(config.limits.queued, Arc::clone(&counters)),
            places: Places::new(config.limits.associations),
            next_association: AtomicU64::new(0),
            // Random, so that a node which goes on with the subscriptions of a former Cantor does not use ours.
            first_requestor: RandomState::new().hash_one("requestor") as u16,
            config: Arc::new(config),
            counters,
        };
        Ok(Direct {
            listeners,
            shared: Arc::new(shared),
        })
    }

    /// Where it listens, with the ports that the kernel chose.
    pub fn local_addresses(&self) -> Vec<Address> {
        self.listeners
            .iter()
            .map(|listener| listener.local_address().clone())
            .collect()
    }

    /// What is counted, for metrics.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.shared.counters)
    }

    /// Serves E2 nodes and yields what they tell, until `stop` is cancelled or nobody reads the events.
    ///
    /// Then the subscriptions are deleted and the associations closed, within [`Limits::stop_wait`] and a second.
    pub async fn run(self, events: mpsc::Sender<RanEvent>, stop: CancellationToken) {
        let Direct { listeners, shared } = self;
        let stop = stop.child_token();
        let mut tasks = JoinSet::new();
        for listener in listeners {
            tasks.spawn(accept(Arc::clone(&shared), listener, stop.clone()));
        }
        tokio::select! {
            () = shared.outlet.drain_into(&events) => stop.cancel(),
            () = stop.cancelled() => {}
        }
        let closing = async {
            let mut all_closed = pin!(async { while tasks.join_next().await.is_some() {} });
            tokio::select! {
                () = &mut all_closed => {}
                () = shared.outlet.drain_into(&events) => all_closed.await,
            }
            shared.outlet.hand_over_rest(&events).await;
        };
        let bound = shared.config.limits.stop_wait + CLOSING;
        if tokio::time::timeout(bound, closing).await.is_err() {
            tracing::warn!("E2 associations were closed without waiting for their end any longer");
        }
    }
}

impl Shared {
    /// The requestor id of an association's requests: no two associations that follow each other share one.
    fn requestor(&self, association: AssociationId) -> u16 {
        // Never 0: FlexRIC takes it for none.
        (self.first_requestor.wrapping_add(association.0 as u16)).max(1)
    }
}

async fn accept(shared: Arc<Shared>, listener: Listener, stop: CancellationToken) {
    let mut associations = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = associations.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((connection, peer)) => {
                let Some((place, displaced)) = shared.places.take(peer.ip()) else {
                    shared.counters.associations_refused.fetch_add(1, Relaxed);
                    tracing::warn!(%peer, "E2 association refused: there are too many");
                    connection.abort();
                    continue;
                };
                if displaced {
                    shared.counters.associations_displaced.fetch_add(1, Relaxed);
                }
                shared.counters.associations.fetch_add(1, Relaxed);
                let id = AssociationId(shared.next_association.fetch_add(1, Relaxed));
                tracing::info!(%peer, "E2 association accepted");
                let (shared, stop) = (Arc::clone(&shared), stop.clone());
                associations.spawn(async move {
                    association::serve(shared, id, connection, peer, place, stop).await;
                });
            }
            Err(error) => {
                tracing::warn!(%error, address = %listener.local_address(), "an E2 node could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    while associations.join_next().await.is_some() {}
}
