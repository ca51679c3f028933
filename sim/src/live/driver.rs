//! The loop that gives the cell the wall clock's time.

use super::relay::Relay;
use super::session::Session;
use super::stats::Window;
use super::{E2Status, LiveStats};
use crate::cell::Cell;
use crate::measure::slots;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

/// Time between two turns of the loop.
const TURN: Duration = Duration::from_millis(1);
/// Time that is caught up when the loop was late; what is beyond it is left out.
const CATCH_UP: Duration = Duration::from_millis(100);
/// Time between two snapshots of the statistics.
const PUBLISH: Duration = Duration::from_millis(100);

/// The cell with its sockets.
pub(super) struct Driver {
    cell: Cell,
    relays: Vec<Relay>,
    session: Option<Session>,
    next_id: u64,
    skipped: u64,
    window: Window,
    publish: watch::Sender<LiveStats>,
    published: Duration,
}

impl Driver {
    pub(super) fn new(
        cell: Cell,
        relays: Vec<Relay>,
        session: Option<Session>,
        publish: watch::Sender<LiveStats>,
    ) -> Self {
        Self {
            cell,
            relays,
            session,
            next_id: 0,
            skipped: 0,
            window: Window::default(),
            publish,
            published: Duration::ZERO,
        }
    }

    /// Runs until `stop`.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let start = Instant::now();
        let mut turns = tokio::time::interval(TURN);
        turns.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = turns.tick() => {}
            }
            for relay in &mut self.relays {
                relay.receive(&mut self.cell, &mut self.next_id);
            }
            let now = start.elapsed();
            self.run_slots(now);
            if let Some(session) = &mut self.session {
                session.turn(now, &self.cell);
            }
            self.publish(now);
        }
        tracing::info!(
            slots = self.cell.slot(),
            skipped = self.skipped,
            "cell stopped"
        );
    }

    /// Runs the slots that have ended by `now`.
    fn run_slots(&mut self, now: Duration) {
        let due = (now.as_nanos() / self.cell.duration(1).as_nanos()) as u64 - self.skipped;
        let behind = due.saturating_sub(self.cell.slot());
        let most = slots(&self.cell, CATCH_UP);
        if behind > most {
            tracing::warn!(
                slots = behind - most,
                "the machine is too slow: slots left out"
            );
            self.skipped += behind - most;
        }
        for _ in 0..behind.min(most) {
            for output in self.cell.run_slot() {
                for relay in &mut self.relays {
                    relay.forward(output.id, output.fate);
                }
            }
        }
    }

    fn publish(&mut self, now: Duration) {
        if now < self.published + PUBLISH {
            return;
        }
        self.published = now;
        let session = self.session.as_ref();
        self.publish.send_replace(LiveStats {
            at: now,
            slots: self.cell.slot(),
            skipped_slots: self.skipped,
            e2: session.map_or(E2Status::Down, Session::status),
            subscriptions: session.map_or(0, Session::subscriptions),
            ues: self.window.close(&self.cell),
            relays: self.relays.iter().map(Relay::stats).collect(),
        });
    }
}
