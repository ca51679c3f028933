//! An edge server in this process: the edge library with one flow, and a record of what it applied when.

use crate::record::Record;
use crate::within_patience;
use edge::client::{Config, EdgeClient, FlowHandle, FlowSpec, Registration, Ue};
use edge::guidance::{Pacing, Phase};
use std::time::{Duration, Instant};
use tokio_util::task::AbortOnDropHandle;

/// What a flow began to apply.
#[derive(Clone, Debug)]
pub struct Applied {
    /// When.
    pub at: Instant,
    /// What.
    pub pacing: Pacing,
}

/// An edge server with one flow.
#[derive(Debug)]
pub struct EdgeServer {
    flow: FlowHandle,
    applied: Record<Applied>,
    _task: AbortOnDropHandle<()>,
}

impl EdgeServer {
    /// Connects to the xApp and registers a flow to a UE of the simulated cell. Does not wait for either.
    ///
    /// # Panics
    /// When the address or the name cannot be used.
    pub async fn start(url: String, edge_id: &str, ue: usize) -> Self {
        let client = EdgeClient::connect(Config::new(url, edge_id)).expect("settings of a client");
        let c_rnti = sim::measure::rnti(ue);
        let spec = FlowSpec::new("in-process", Ue::CRnti { node: None, c_rnti });
        let flow = client.register(spec).await.expect("a flow");
        let (recorder, applied) = Record::new();
        let mut pacing = flow.pacing();
        let task = tokio::spawn(async move {
            loop {
                let pacing_now = pacing.borrow_and_update().clone();
                recorder.add(Applied {
                    at: Instant::now(),
                    pacing: pacing_now,
                });
                if pacing.changed().await.is_err() {
                    return;
                }
            }
        });
        Self {
            flow,
            applied,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Waits until the xApp says this of the flow (or until the connection is lost: `Pending`).
    pub async fn registration(&self, wanted: Registration) {
        let mut status = self.flow.status();
        let reached = status.wait_for(|status| status.state == wanted);
        let what = format!("the flow is {wanted:?}");
        let reached = within_patience(&what, reached).await;
        reached.expect("the client runs");
    }

    /// Waits until the flow has been in this phase since entry number `since` of its record.
    pub async fn phase(&self, since: usize, wanted: Phase) -> Applied {
        let what = format!("the flow is {wanted}");
        let is = |applied: &Applied| applied.pacing.phase == wanted;
        self.applied.find(&what, since, is).await.1
    }

    /// Entries of the record so far.
    pub fn applied(&self) -> usize {
        self.applied.len()
    }

    /// Sequence of the newest guidance.
    pub fn sequence(&self) -> u64 {
        self.flow.pacing().borrow().sequence
    }

    /// Checks all that was applied: sequences never fall, and no guidance was applied as valid for longer than
    /// `valid_for` after it came. `lag` is how late this process may have run.
    ///
    /// # Panics
    /// When one of them was.
    pub fn check(&self, valid_for: Duration, lag: Duration) {
        let applied = self.applied.entries();
        let ends = applied.iter().skip(1).map(|next| next.at);
        let mut newest = (0, None);
        for (now, end) in applied.iter().zip(ends.chain([Instant::now()])) {
            let sequence = now.pacing.sequence;
            assert!(sequence >= newest.0, "{sequence} after {}", newest.0);
            if sequence > newest.0 {
                newest = (sequence, Some(now.at));
            }
            if let (Phase::Guided | Phase::Ramping, (_, Some(came))) = (now.pacing.phase, newest) {
                let age = end.duration_since(came);
                assert!(
                    age <= valid_for + lag + TIMER,
                    "guidance {sequence} was applied as {} when {age:?} old; this process was late by {lag:?}",
                    now.pacing.phase
                );
            }
        }
    }
}

/// Granularity of timers, and what runs between a timer and its record.
const TIMER: Duration = Duration::from_millis(20);
