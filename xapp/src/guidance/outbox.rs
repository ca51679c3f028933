//! Between decisions and a stream: the newest guidance and the newest status of each flow.
//!
//! Nothing queues here. A reader that is slow, or gone, costs decisions but no memory: what it did not take
//! is replaced, and what waited longer than it is valid is dropped.

use proto::guidance::{FlowStatus, GuidanceBatch, GuideResponse, Welcome, guide_response::Message};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Refusals of flows that are not registered may wait beside the statuses of those that are.
const UNREAD_REFUSALS: usize = 64;

/// What waits for one stream. Shared by the stream, the hub and the cells that decide for its flows.
#[derive(Debug)]
pub struct Outbox {
    max_flows: usize,
    waiting: Mutex<Waiting>,
    filled: Notify,
    emptied: Notify,
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Waiting {
    welcome: Option<Welcome>,
    statuses: BTreeMap<String, FlowStatus>,
    guidance: HashMap<Arc<str>, Slot>,
    end: Option<tonic::Status>,
}

#[derive(Debug)]
struct Slot {
    guidance: proto::guidance::Guidance,
    posted: Instant,
}

/// What became of posted guidance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Posted {
    /// Put into slots.
    pub stored: u64,
    /// Replaced guidance that its reader had not taken.
    pub replaced: u64,
}

impl Outbox {
    /// For a stream of at most `max_flows` flows.
    pub fn new(max_flows: usize) -> Self {
        Self {
            max_flows,
            waiting: Mutex::default(),
            filled: Notify::new(),
            emptied: Notify::new(),
            closed: CancellationToken::new(),
        }
    }

    /// Posts the first message of the stream.
    pub fn welcome(&self, welcome: Welcome) {
        self.waiting().welcome = Some(welcome);
        self.filled.notify_one();
    }

    /// Posts a flow's status; it replaces one that was not taken yet.
    pub fn status(&self, status: FlowStatus) {
        self.waiting()
            .statuses
            .insert(status.flow_id.clone(), status);
        self.filled.notify_one();
    }

    /// Posts the decisions of one tick, made at `now`.
    pub fn post(
        &self,
        now: Instant,
        batch: impl IntoIterator<Item = (Arc<str>, proto::guidance::Guidance)>,
    ) -> Posted {
        let mut posted = Posted::default();
        if self.closed.is_cancelled() {
            return posted;
        }
        let mut waiting = self.waiting();
        for (flow, guidance) in batch {
            // Only flows that were unregistered a moment ago can be too many.
            if waiting.guidance.len() >= self.max_flows && !waiting.guidance.contains_key(&flow) {
                continue;
            }
            let slot = Slot {
                guidance,
                posted: now,
            };
            posted.stored += 1;
            posted.replaced += u64::from(waiting.guidance.insert(flow, slot).is_some());
        }
        drop(waiting);
        if posted.stored > 0 {
            self.filled.notify_one();
        }
        posted
    }

    /// Forgets what waits for a flow.
    pub fn forget(&self, flow: &str) {
        let mut waiting = self.waiting();
        waiting.guidance.remove(flow);
        waiting.statuses.remove(flow);
    }

    /// Ends the stream after what waits was taken.
    pub fn close(&self, end: tonic::Status) {
        self.waiting().end.get_or_insert(end);
        self.closed.cancel();
        self.filled.notify_one();
    }

    /// Is cancelled when the stream ends, from whichever side.
    pub fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// The next message, or the status that ends the stream; waits until there is one.
    pub async fn next(&self) -> Result<GuideResponse, tonic::Status> {
        loop {
            let filled = self.filled.notified();
            if let Some(next) = self.take(Instant::now()) {
                return next;
            }
            filled.await;
        }
    }

    /// The next message, if one waits at `now`: welcome, then statuses, then all guidance as one batch.
    pub fn take(&self, now: Instant) -> Option<Result<GuideResponse, tonic::Status>> {
        let mut waiting = self.waiting();
        let message = if let Some(welcome) = waiting.welcome.take() {
            Message::Welcome(welcome)
        } else if let Some((_, status)) = waiting.statuses.pop_first() {
            self.emptied.notify_one();
            Message::FlowStatus(status)
        } else {
            let guidance: Vec<_> = waiting
                .guidance
                .drain()
                .filter_map(|(_, slot)| still_valid(slot, now))
                .collect();
            if guidance.is_empty() {
                return waiting.end.clone().map(Err);
            }
            Message::Batch(GuidanceBatch { guidance })
        };
        Some(Ok(GuideResponse {
            message: Some(message),
        }))
    }

    /// Waits until another request of this stream may be handled: whoever registers must read the answers.
    pub async fn room(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.waiting().statuses.len() < self.max_flows + UNREAD_REFUSALS {
                return;
            }
            emptied.await;
        }
    }

    /// The state is a few maps: it is consistent after any panic.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guidance holds from the decision on: the time it waited is taken off its validity.
fn still_valid(slot: Slot, now: Instant) -> Option<proto::guidance::Guidance> {
    let mut guidance = slot.guidance;
    let left = Duration::from_micros(guidance.valid_for_us)
        .checked_sub(now.saturating_duration_since(slot.posted))?;
    guidance.valid_for_us = u64::try_from(left.as_micros()).ok()?;
    (guidance.valid_for_us > 0).then_some(guidance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::guidance::Guidance;

    fn guidance(flow: &str, sequence: u64) -> (Arc<str>, Guidance) {
        let guidance = Guidance {
            flow_id: flow.into(),
            sequence,
            valid_for_us: 600_000,
            ..Guidance::default()
        };
        (flow.into(), guidance)
    }

    fn batch(outbox: &Outbox, now: Instant) -> Vec<Guidance> {
        match outbox.take(now) {
            Some(Ok(GuideResponse {
                message: Some(Message::Batch(batch)),
            })) => batch.guidance,
            other => panic!("not a batch: {other:?}"),
        }
    }

    #[test]
    fn the_newest_guidance_of_each_flow_is_all_that_waits() {
        let outbox = Outbox::new(8);
        let now = Instant::now();
        let mut replaced = 0;
        for sequence in 1..=1000 {
            let posted = outbox.post(now, [guidance("a", sequence), guidance("b", 2 * sequence)]);
            assert_eq!(posted.stored, 2);
            replaced += posted.replaced;
        }
        assert_eq!(replaced, 2 * 999);
        let mut taken = batch(&outbox, now);
        taken.sort_by(|a, b| a.flow_id.cmp(&b.flow_id));
        let sequences: Vec<_> = taken.iter().map(|g| g.sequence).collect();
        assert_eq!(sequences, [1000, 2000]);
        assert!(outbox.take(now).is_none());
    }

    #[test]
    fn time_spent_waiting_is_taken_off_and_stale_guidance_is_dropped() {
        let outbox = Outbox::new(8);
        let now = Instant::now();
        outbox.post(now, [guidance("a", 1)]);
        let taken = batch(&outbox, now + Duration::from_millis(250));
        assert_eq!(taken[0].valid_for_us, 350_000);
        outbox.post(now, [guidance("a", 2)]);
        assert!(outbox.take(now + Duration::from_millis(600)).is_none());
    }

    #[test]
    fn flows_beyond_the_limit_find_no_slot() {
        let outbox = Outbox::new(2);
        let now = Instant::now();
        let flows = ["a", "b", "c"].map(|flow| guidance(flow, 1));
        assert_eq!(outbox.post(now, flows).stored, 2);
        assert_eq!(batch(&outbox, now).len(), 2);
    }

    #[test]
    fn statuses_come_before_guidance_and_the_end_comes_last() {
        let outbox = Outbox::new(2);
        let now = Instant::now();
        outbox.post(now, [guidance("a", 1)]);
        outbox.status(FlowStatus {
            flow_id: "a".into(),
            ..FlowStatus::default()
        });
        outbox.close(tonic::Status::aborted("replaced"));
        assert!(matches!(
            outbox.take(now),
            Some(Ok(GuideResponse {
                message: Some(Message::FlowStatus(_))
            }))
        ));
        assert_eq!(batch(&outbox, now).len(), 1);
        assert_eq!(
            outbox.take(now).unwrap().unwrap_err().code(),
            tonic::Code::Aborted
        );
        assert_eq!(outbox.post(now, [guidance("a", 2)]).stored, 0);
    }

    #[tokio::test]
    async fn whoever_does_not_read_answers_must_wait_with_registrations() {
        use futures_util::FutureExt as _;
        let outbox = Outbox::new(1);
        for n in 0..=UNREAD_REFUSALS {
            assert!(outbox.room().now_or_never().is_some());
            outbox.status(FlowStatus {
                flow_id: n.to_string(),
                ..FlowStatus::default()
            });
        }
        let mut room = Box::pin(outbox.room());
        assert!(room.as_mut().now_or_never().is_none());
        let _ = outbox.take(Instant::now());
        room.await;
    }
}
