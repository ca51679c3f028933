//! The subscriptions of one node, as Cantor and the RIC know them: pure, with time passed in.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use e2sm::e2ap::{Pdu, RicIndication, RicRequestId};

use super::rules;
use crate::ran::plan::Wanted;
use crate::ran::{Counters, NodeId, RanEvent, SubscriptionState, SubscriptionStatus};

/// The subscriptions of a node.
#[derive(Debug)]
pub(super) struct Ledger {
    node: NodeId,
    counters: Arc<Counters>,
    entries: Vec<Entry>,
    statuses: VecDeque<SubscriptionStatus>,
    /// The node was seen to be connected then.
    proved: Instant,
    /// Last report of any subscription.
    reported: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    wanted: Wanted,
    state: State,
    /// The window in which reports are counted.
    window: Instant,
    reports: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be asked for: the RIC knows nothing of it.
    Wanted,
    /// Asked for; the RIC knows the request from here on.
    Asked(RicRequestId),
    /// Admitted.
    Active(RicRequestId),
}

/// Reports are counted over so long.
const WINDOW: Duration = Duration::from_secs(10);

impl Ledger {
    /// The node was listed at `now`.
    pub(super) fn new(
        node: NodeId,
        wanted: Vec<Wanted>,
        counters: Arc<Counters>,
        now: Instant,
    ) -> Ledger {
        let entries = wanted
            .into_iter()
            .map(|wanted| Entry {
                wanted,
                state: State::Wanted,
                window: now,
                reports: 0,
            })
            .collect();
        Ledger {
            node,
            counters,
            entries,
            statuses: VecDeque::new(),
            proved: now,
            reported: None,
        }
    }

    /// The next subscription to ask for.
    pub(super) fn next_wanted(&self) -> Option<&Wanted> {
        let wanted = |entry: &&Entry| entry.state == State::Wanted;
        self.entries.iter().find(wanted).map(|entry| &entry.wanted)
    }

    /// Whether some subscription was asked for and not answered yet.
    pub(super) fn awaits_answers(&self) -> bool {
        let asked = |entry: &Entry| matches!(entry.state, State::Asked(_));
        self.entries.iter().any(asked)
    }

    /// The next subscription that the RIC knows, whether it was admitted or not.
    pub(super) fn next_known(&self) -> Option<(RicRequestId, u16)> {
        let known = |entry: &Entry| Some((entry.state.request()?, entry.wanted.function));
        self.entries.iter().find_map(known)
    }

    /// The subscription of this function is being asked for.
    pub(super) fn asked(&mut self, function: u16, request: RicRequestId) {
        self.change(function, State::Asked(request), "");
    }

    /// It was answered with RICsubscriptionResponse. What is not admitted the RIC knows all the same.
    pub(super) fn answered(&mut self, function: u16, request: RicRequestId, now: Instant) {
        self.proved = now;
        if let Some(entry) = self.entry_of(request) {
            (entry.window, entry.reports) = (now, 0);
            self.change(function, State::Active(request), "");
        }
    }

    /// It was not answered: it stays known to the RIC.
    pub(super) fn unanswered(&mut self, function: u16, request: RicRequestId) {
        self.status(function, request, SubscriptionState::Failed, "no answer");
    }

    /// A deletion is being sent: never again for this request, because the RIC aborts on one that it does not know.
    pub(super) fn deleting(&mut self, request: RicRequestId, why: &str) {
        if let Some(function) = self.entry_of(request).map(|entry| entry.wanted.function) {
            self.status(function, request, SubscriptionState::Ended, why);
            self.change(function, State::Wanted, "");
        }
    }

    /// The node was in a node list just now.
    pub(super) fn listed(&mut self, now: Instant) {
        self.proved = now;
    }

    /// When the node was last seen to be connected.
    pub(super) fn proved(&self) -> Instant {
        self.proved
    }

    /// When the node last reported.
    pub(super) fn reported(&self) -> Option<Instant> {
        self.reported
    }

    /// The next change to tell the reader.
    pub(super) fn next_status(&mut self) -> Option<SubscriptionStatus> {
        self.statuses.pop_front()
    }

    /// Takes what the RIC sends unasked: the event that an indication is, if it is one of ours and sound.
    pub(super) fn take(&mut self, pdu: Pdu, now: Instant) -> Option<RanEvent> {
        match pdu {
            Pdu::RicIndication(indication) => self.indicated(indication, now),
            Pdu::RicSubscriptionDeleteResponse(response) => {
                self.deleted_unasked(response.request, response.ran_function);
                None
            }
            // Late, but it is the present request: an agent that has a message unread is one answer behind.
            Pdu::RicSubscriptionResponse(response)
                if self.is_asked(response.request, response.ran_function) =>
            {
                self.answered(response.ran_function, response.request, now);
                None
            }
            other => {
                self.counters.pdus_rejected.fetch_add(1, Relaxed);
                tracing::debug!(node = %self.node, pdu = other.name(), "late or needless PDU from the RIC");
                None
            }
        }
    }

    /// Whether some subscription reports far more than it was asked for; looks once per window.
    pub(super) fn doubled(&mut self, now: Instant) -> bool {
        let mut doubled = false;
        for entry in &mut self.entries {
            let over = now.saturating_duration_since(entry.window);
            if over >= WINDOW {
                doubled |= rules::is_doubled(entry.reports, entry.wanted.period_ms, over);
                (entry.window, entry.reports) = (now, 0);
            }
        }
        doubled
    }

    fn indicated(&mut self, indication: RicIndication, now: Instant) -> Option<RanEvent> {
        let RicIndication {
            request,
            ran_function,
            action,
            header,
            message,
            ..
        } = indication;
        let entry = self
            .entry_of(request)
            .filter(|entry| entry.wanted.function == ran_function && action == rules::ACTION_ID)
            .filter(|entry| rules::payload_fits(entry.wanted.model, &message));
        let Some(entry) = entry else {
            self.counters.indications_foreign.fetch_add(1, Relaxed);
            return None;
        };
        entry.reports = entry.reports.saturating_add(1);
        let model = entry.wanted.model;
        (self.proved, self.reported) = (now, Some(now));
        self.counters.indications.fetch_add(1, Relaxed);
        Some(RanEvent::Indication {
            node: self.node.clone(),
            model,
            header,
            message,
            received: now,
        })
    }

    /// The RIC ended the wrong subscription, because another xApp's has the same ids.
    fn deleted_unasked(&mut self, request: RicRequestId, function: u16) {
        let ours = self.entry_of(request).is_some_and(|entry| {
            entry.wanted.function == function && entry.state == State::Active(request)
        });
        if ours {
            self.counters.subscriptions_refused.fetch_add(1, Relaxed);
            self.status(
                function,
                request,
                SubscriptionState::Ended,
                "the RIC deleted it unasked",
            );
            self.change(function, State::Wanted, "");
        } else {
            self.counters.pdus_rejected.fetch_add(1, Relaxed);
        }
    }

    fn is_asked(&mut self, request: RicRequestId, function: u16) -> bool {
        self.entry_of(request).is_some_and(|entry| {
            entry.wanted.function == function && entry.state == State::Asked(request)
        })
    }

    fn entry_of(&mut self, request: RicRequestId) -> Option<&mut Entry> {
        self.entries
            .iter_mut()
            .find(|entry| entry.state.request() == Some(request))
    }

    fn change(&mut self, function: u16, state: State, detail: &str) {
        let entry = self
            .entries
            .iter_mut()
            .find(|e| e.wanted.function == function);
        if let Some(entry) = entry {
            entry.state = state;
            match state {
                State::Wanted => {}
                State::Asked(request) => {
                    self.status(function, request, SubscriptionState::Requested, detail);
                }
                State::Active(request) => {
                    self.status(function, request, SubscriptionState::Active, detail);
                }
            }
        }
    }

    fn status(
        &mut self,
        function: u16,
        request: RicRequestId,
        state: SubscriptionState,
        detail: &str,
    ) {
        if let Some(entry) = self.entries.iter().find(|e| e.wanted.function == function) {
            self.statuses.push_back(SubscriptionStatus {
                requestor: request.requestor,
                instance: request.instance,
                function,
                model: entry.wanted.model,
                period_ms: entry.wanted.period_ms,
                measurements: entry.wanted.measurements.clone(),
                state,
                detail: detail.to_owned(),
            });
        }
    }
}

impl State {
    fn request(self) -> Option<RicRequestId> {
        match self {
            State::Wanted => None,
            State::Asked(request) | State::Active(request) => Some(request),
        }
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
