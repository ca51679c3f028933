//! The task that writes behind: it takes what changed in memory to the backend, as fast as that goes.
//!
//! Nothing waits for it. While the backend is away, the state in memory is all there is, and when it is back, all of
//! it is written again, because it cannot be known what arrived, and whether the backend still has it.

use super::backend::{Backend, Failure, Write, Written, flow_key};
use super::health::Standing;
use super::{Store, record};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Items and flows that are written at once, each.
const BATCH: usize = 256;
/// Without anything to write, the backend is looked after at this interval.
const LOOK_AFTER: Duration = Duration::from_secs(5);
/// Pauses between attempts to reach it.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(5);
/// At the end, what waits may take this long.
const FAREWELL: Duration = Duration::from_secs(2);

/// Writes a store to its backend.
#[derive(Debug)]
pub(super) struct Writer<B> {
    store: Store,
    backend: B,
    /// Least time from one write to the next.
    pace: Duration,
    /// The log was shortened in this outage already.
    made_room: bool,
}

impl<B: Backend> Writer<B> {
    pub(super) fn new(store: Store, backend: B, pace: Duration) -> Self {
        Self {
            store,
            backend,
            pace,
            made_room: false,
        }
    }

    /// Runs until `stop`; then what waits is written, if that goes quickly.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut retry = RETRY_FIRST;
        loop {
            let begun = Instant::now();
            let opened = tokio::select! {
                opened = self.open() => opened,
                () = stop.cancelled() => return,
            };
            let failure = match opened {
                Ok(()) => match self.keep_writing(&stop).await {
                    Ok(()) => return,
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            self.lost(&failure);
            if failure.full && !std::mem::replace(&mut self.made_room, true) {
                // Best effort: the next attempt tells whether it helped.
                let _ = self.backend.make_room().await;
            }
            if begun.elapsed() > RETRY_LAST {
                retry = RETRY_FIRST;
            }
            tokio::select! {
                () = sleep(retry) => {}
                () = stop.cancelled() => return,
            }
            retry = RETRY_LAST.min(retry * 2);
        }
    }

    /// Opens the backend, and finds out what has to be written to it.
    async fn open(&mut self) -> Result<(), Failure> {
        self.backend.open().await?;
        let place = self.backend.place();
        if self.store.is_unread() {
            let found = self.backend.read().await?;
            let (items, flows) = (found.items.len(), found.flows.len());
            self.store.found(found);
            info!(place, items, flows, "store opened");
        } else {
            let there = self.backend.keys().await?;
            self.store.back(there);
            info!(place, "the store is back; all is written again");
        }
        Ok(())
    }

    /// Writes until the backend fails, or until `stop`. A write is never left half-way: what it took would be lost.
    async fn keep_writing(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        let mut last = None;
        loop {
            let begun = Instant::now();
            self.write().await?;
            let written = self.store.is_written();
            if stop.is_cancelled() {
                let last = *last.get_or_insert(begun + FAREWELL);
                if !written && begun > last {
                    warn!("the store could not be written to its end in time");
                }
                if written || begun > last {
                    return Ok(());
                }
                continue;
            }
            if written {
                self.made_room = false;
            }
            let pause = async {
                if written {
                    // Woken early or late: there is something to write, or the backend to look after.
                    let _ = timeout(LOOK_AFTER, self.store.filled()).await;
                }
                sleep(self.pace.saturating_sub(begun.elapsed())).await;
            };
            tokio::select! {
                () = pause => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Writes some of what waits.
    async fn write(&mut self) -> Result<(), Failure> {
        let batch = self.store.take(BATCH);
        let flows = batch.flows.iter().map(|decision| {
            let key = flow_key(&decision.flow.edge, &decision.flow.flow);
            (key, record::encode(decision))
        });
        let write = Write {
            changes: batch.changes,
            flows: flows.collect(),
            log: batch.log.iter().map(|d| record::encode(d)).collect(),
        };
        match self.backend.write(write).await? {
            Written::Here => {
                self.store.written(batch.log_next);
                Ok(())
            }
            Written::Elsewhere => {
                warn!(
                    place = self.backend.place(),
                    "the store was emptied or exchanged; all is written again"
                );
                let there = self.backend.keys().await?;
                self.store.back(there);
                Ok(())
            }
        }
    }

    /// One line for each outage, not for each attempt.
    fn lost(&mut self, failure: &Failure) {
        let reason = format!("{}: {}", self.backend.place(), failure.reason);
        if !matches!(&*self.store.standing().borrow(), Standing::Lost { .. }) {
            warn!(
                reason,
                "the store cannot be written; control goes on from memory"
            );
        }
        self.store.lost(reason);
    }
}
