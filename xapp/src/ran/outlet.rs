//! The way of events to their reader, from all associations.
//!
//! A slow reader loses the oldest indications, never the rise or fall of a node. Only one association
//! speaks for a node: when it sets up over another one, the reader first sees the node go, and whatever the
//! former association still says is left out.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::counters::Counters;
use crate::ran::{NodeId, RanEvent};

/// Indications that may wait for their reader, over all nodes; beyond, the oldest are dropped.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many.
    pub indications: usize,
    /// Their octets.
    pub indication_octets: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            indications: 4096,
            indication_octets: 64 << 20,
        }
    }
}

/// An association, told apart from all others of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::ran) struct AssociationId(pub(super) u64);

#[derive(Debug)]
pub(in crate::ran) struct Outlet {
    queue: Mutex<Queue>,
    filled: Notify,
    drained: Notify,
    bounds: Bounds,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<RanEvent>,
    indications: usize,
    indication_octets: usize,
    owners: HashMap<NodeId, Owner>,
}

#[derive(Debug)]
struct Owner {
    association: AssociationId,
    close: CancellationToken,
}

/// Events other than indications that may wait before associations are held up.
const LIFECYCLE_EVENTS: usize = 1024;

impl Outlet {
    pub(in crate::ran) fn new(bounds: Bounds, counters: Arc<Counters>) -> Self {
        Outlet {
            queue: Mutex::default(),
            filled: Notify::new(),
            drained: Notify::new(),
            bounds,
            counters,
        }
    }

    /// Queues an event of `association`. `close` ends that association when the node sets up over another one.
    ///
    /// Waits while the reader is far behind with events that must not be dropped.
    pub(in crate::ran) async fn push(
        &self,
        association: AssociationId,
        close: &CancellationToken,
        event: RanEvent,
    ) {
        if !matches!(event, RanEvent::Indication { .. }) {
            loop {
                let drained = self.drained.notified();
                if self.lock().lifecycle_events() < LIFECYCLE_EVENTS {
                    break;
                }
                drained.await;
            }
        }
        self.enqueue(association, close, event);
    }

    /// Queues an indication, which never has to wait.
    pub(in crate::ran) fn push_indication(
        &self,
        association: AssociationId,
        close: &CancellationToken,
        event: RanEvent,
    ) {
        self.enqueue(association, close, event);
    }

    fn enqueue(&self, association: AssociationId, close: &CancellationToken, event: RanEvent) {
        let mut queue = self.lock();
        let node = event.node().clone();
        let speaks = queue
            .owners
            .get(&node)
            .is_some_and(|owner| owner.association == association);
        match &event {
            RanEvent::NodeUp { .. } if !speaks => {
                if let Some(former) = queue.owners.insert(
                    node.clone(),
                    Owner {
                        association,
                        close: close.clone(),
                    },
                ) {
                    former.close.cancel();
                    queue.push(RanEvent::NodeDown {
                        node,
                        reason: "it connected again over another association".into(),
                    });
                }
            }
            RanEvent::NodeDown { .. } if speaks => {
                queue.owners.remove(&node);
            }
            _ if !speaks => return,
            _ => {}
        }
        queue.push(event);
        let dropped = queue.drop_oldest_indications(&self.bounds);
        self.counters
            .indications_dropped
            .fetch_add(dropped, Relaxed);
        drop(queue);
        self.filled.notify_one();
    }

    /// Hands the events to the reader until it is gone.
    pub(in crate::ran) async fn drain_into(&self, reader: &mpsc::Sender<RanEvent>) {
        // A place in the channel first: an event leaves the queue, where it may still be dropped, only then.
        while let Ok(place) = reader.reserve().await {
            let event = loop {
                let filled = self.filled.notified();
                if let Some(event) = self.lock().pop() {
                    break event;
                }
                tokio::select! {
                    () = filled => {}
                    () = reader.closed() => return,
                }
            };
            place.send(event);
            self.drained.notify_waiters();
        }
    }

    /// Hands over what is queued, and returns.
    pub(in crate::ran) async fn hand_over_rest(&self, reader: &mpsc::Sender<RanEvent>) {
        while let Ok(place) = reader.reserve().await {
            let Some(event) = self.lock().pop() else {
                return;
            };
            place.send(event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Every change of the queue is complete before anything that could panic.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&mut self, event: RanEvent) {
        if let Some(octets) = indication_octets(&event) {
            self.indications += 1;
            self.indication_octets += octets;
        }
        self.events.push_back(event);
    }

    fn pop(&mut self) -> Option<RanEvent> {
        let event = self.events.pop_front()?;
        self.forget(&event);
        Some(event)
    }

    fn forget(&mut self, event: &RanEvent) {
        if let Some(octets) = indication_octets(event) {
            self.indications -= 1;
            self.indication_octets -= octets;
        }
    }

    fn lifecycle_events(&self) -> usize {
        self.events.len() - self.indications
    }

    fn drop_oldest_indications(&mut self, bounds: &Bounds) -> u64 {
        let mut dropped = 0;
        while self.indications > bounds.indications
            || self.indication_octets > bounds.indication_octets
        {
            let Some(oldest) = self
                .events
                .iter()
                .position(|event| indication_octets(event).is_some())
            else {
                break;
            };
            if let Some(event) = self.events.remove(oldest) {
                self.forget(&event);
                dropped += 1;
            }
        }
        dropped
    }
}

fn indication_octets(event: &RanEvent) -> Option<usize> {
    match event {
        RanEvent::Indication {
            header, message, ..
        } => Some(header.len() + message.len()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ran::ServiceModel;
    use std::time::Instant;

    fn node() -> NodeId {
        NodeId("gnb:001-01:1/22".into())
    }

    fn up() -> RanEvent {
        RanEvent::NodeUp {
            node: node(),
            peer: String::new(),
            e2ap_version: "2.03",
            functions: Vec::new(),
        }
    }

    fn down() -> RanEvent {
        RanEvent::NodeDown {
            node: node(),
            reason: "test".into(),
        }
    }

    fn indication(mark: u8) -> RanEvent {
        let (header, message) = (vec![mark], vec![0; 9]);
        RanEvent::Indication {
            node: node(),
            model: ServiceModel::Mac,
            header,
            message,
            received: Instant::now(),
        }
    }

    fn outlet(indications: usize, indication_octets: usize) -> Outlet {
        Outlet::new(
            Bounds {
                indications,
                indication_octets,
            },
            Arc::default(),
        )
    }

    /// What the reader would see, in short.
    fn read(outlet: &Outlet) -> Vec<String> {
        std::iter::from_fn(|| outlet.lock().pop())
            .map(|event| match event {
                RanEvent::NodeUp { .. } => "up".to_owned(),
                RanEvent::NodeDown { .. } => "down".to_owned(),
                RanEvent::Indication { header, .. } => header[0].to_string(),
                RanEvent::Subscription { .. } => "subscription".to_owned(),
            })
            .collect()
    }

    const FIRST: AssociationId = AssociationId(1);
    const SECOND: AssociationId = AssociationId(2);

    #[tokio::test]
    async fn a_slow_reader_loses_the_oldest_indications_only() {
        for outlet in [outlet(3, usize::MAX), outlet(usize::MAX, 39)] {
            let close = CancellationToken::new();
            outlet.push(FIRST, &close, up()).await;
            for mark in 1..=6 {
                outlet.push(FIRST, &close, indication(mark)).await;
            }
            outlet.push(FIRST, &close, down()).await;
            assert_eq!(read(&outlet), ["up", "4", "5", "6", "down"]);
            assert_eq!(outlet.counters.indications_dropped.load(Relaxed), 3);
        }
    }

    #[tokio::test]
    async fn the_newest_association_speaks_for_a_node() {
        let outlet = outlet(100, 10_000);
        let (first, second) = (CancellationToken::new(), CancellationToken::new());
        outlet.push(FIRST, &first, up()).await;
        outlet.push(FIRST, &first, indication(1)).await;
        outlet.push(SECOND, &second, up()).await;
        assert!(first.is_cancelled() && !second.is_cancelled());
        outlet.push(FIRST, &first, indication(2)).await;
        outlet.push(FIRST, &first, down()).await;
        outlet.push(SECOND, &second, indication(3)).await;
        outlet.push(SECOND, &second, down()).await;
        assert_eq!(read(&outlet), ["up", "1", "down", "up", "3", "down"]);
        assert!(outlet.lock().owners.is_empty());
    }

    #[tokio::test]
    async fn lifecycle_events_hold_the_association_up_when_nobody_reads() {
        let outlet = Arc::new(outlet(100, 10_000));
        let close = CancellationToken::new();
        let pushing = tokio::spawn({
            let (outlet, close) = (Arc::clone(&outlet), close.clone());
            async move {
                for _ in 0..LIFECYCLE_EVENTS {
                    outlet.push(FIRST, &close, up()).await;
                    outlet.push(FIRST, &close, down()).await;
                }
            }
        });
        let (sender, mut reader) = mpsc::channel(1);
        tokio::spawn({
            let outlet = Arc::clone(&outlet);
            async move { outlet.drain_into(&sender).await }
        });
        for i in 0..2 * LIFECYCLE_EVENTS {
            assert!(outlet.lock().lifecycle_events() <= LIFECYCLE_EVENTS);
            let event = reader.recv().await.expect("an event");
            assert_eq!(matches!(event, RanEvent::NodeUp { .. }), i % 2 == 0);
        }
        pushing.await.unwrap();
        assert!(outlet.lock().events.is_empty());
    }
}
