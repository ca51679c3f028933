//! The subscriptions of one node: what is wanted, asked for, admitted, deleted.
//!
//! One request is outstanding at a time: FlexRIC reads one message per wake-up, so a second one sent along
//! may lie there until the next arrives, and from then on everything is one message late. So a request also
//! keeps its distance from what was sent without an answer to wait for ([`Subscriptions::keep_clear`]). Each attempt has a request id of its own; what still answers or
//! reports under a former id is *stray* and gets deleted, never mixed with the present one.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use e2sm::e2ap::RicRequestId;

use super::silence::Silence;
use crate::ran::plan::Wanted;
use crate::ran::{ServiceModel, SubscriptionState, SubscriptionStatus};

/// What should be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Subscribe(RicRequestId, Wanted),
    Delete(RicRequestId, u16),
}

#[derive(Debug)]
pub(super) struct Subscriptions {
    requestor: u16,
    last_instance: u16,
    answer_wait: Duration,
    entries: Vec<Entry>,
    pending: Option<Pending>,
    /// Nothing is sent before.
    clear_until: Option<Instant>,
    deletions: VecDeque<(RicRequestId, u16)>,
    silence: Silence,
    statuses: VecDeque<SubscriptionStatus>,
}

#[derive(Debug)]
struct Entry {
    wanted: Wanted,
    /// Of the present attempt; meaningless while due.
    request: RicRequestId,
    state: State,
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be asked for at this time.
    Due(Instant),
    Requested,
    Active,
}

#[derive(Debug)]
struct Pending {
    request: RicRequestId,
    function: u16,
    deletion: bool,
    deadline: Instant,
}

/// Deletions that may wait; a node with more strays than that is told the rest when they report again.
const MAX_DELETIONS: usize = 64;
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

impl Subscriptions {
    pub(super) fn new(
        requestor: u16,
        answer_wait: Duration,
        silent_after: Duration,
        now: Instant,
    ) -> Self {
        Subscriptions {
            requestor,
            last_instance: 0,
            answer_wait,
            entries: Vec::new(),
            pending: None,
            clear_until: None,
            deletions: VecDeque::new(),
            silence: Silence::new(silent_after, now),
            statuses: VecDeque::new(),
        }
    }

    /// Sets what is wanted. What stays wanted as it is goes on undisturbed; what the node no longer offers
    /// needs no deletion.
    pub(super) fn want(
        &mut self,
        wanted: Vec<Wanted>,
        offered: impl Fn(u16) -> bool,
        now: Instant,
    ) {
        let (kept, gone): (Vec<Entry>, Vec<Entry>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| wanted.contains(&entry.wanted));
        self.entries = kept;
        for entry in gone {
            if matches!(entry.state, State::Due(_)) {
                continue;
            }
            if offered(entry.wanted.function) {
                self.delete_later(entry.request, entry.wanted.function);
            }
            self.withdraw(entry.request);
            self.report(
                &entry,
                SubscriptionState::Ended,
                "no longer wanted as it was",
            );
        }
        for wanted in wanted {
            if !self.entries.iter().any(|entry| entry.wanted == wanted) {
                let request = RicRequestId {
                    requestor: 0,
                    instance: 0,
                };
                self.entries.push(Entry {
                    wanted,
                    request,
                    state: State::Due(now),
                    failures: 0,
                });
            }
        }
    }

    /// Sends nothing until then.
    pub(super) fn keep_clear(&mut self, until: Instant) {
        self.clear_until = Some(until);
    }

    /// The next request to send, if its turn has come. Call again until `None`.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Action> {
        self.clear_until.take_if(|until| *until <= now);
        if self.pending.is_some() || self.clear_until.is_some() {
            return None;
        }
        if let Some((request, function)) = self.deletions.pop_front() {
            self.pending = Some(Pending {
                request,
                function,
                deletion: true,
                deadline: now + self.answer_wait,
            });
            return Some(Action::Delete(request, function));
        }
        let due = |entry: &Entry| matches!(entry.state, State::Due(at) if at <= now);
        let request = self.next_request();
        let entry = self.entries.iter_mut().find(|entry| due(entry))?;
        self.last_instance = request.instance;
        entry.request = request;
        entry.state = State::Requested;
        let wanted = entry.wanted.clone();
        self.pending = Some(Pending {
            request,
            function: wanted.function,
            deletion: false,
            deadline: now + self.answer_wait,
        });
        self.status(request, &wanted, SubscriptionState::Requested, "");
        Some(Action::Subscribe(request, wanted))
    }

    /// When `time_out` has something to do, or `poll` has something to send.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        if let Some(pending) = &self.pending {
            return Some(pending.deadline);
        }
        if !self.deletions.is_empty() {
            return self.clear_until;
        }
        let due = self.entries.iter().filter_map(|entry| match entry.state {
            State::Due(at) => Some(at),
            State::Active => Some(self.silence.due()),
            State::Requested => None,
        });
        let due = due.min()?;
        Some(self.clear_until.map_or(due, |clear| clear.max(due)))
    }

    /// Makes the subscriptions of a node anew that has reported nothing for too long.
    pub(super) fn renew_if_silent(&mut self, now: Instant) {
        let any_active = self.entries.iter().any(Entry::is_active);
        if self.pending.is_some() || !any_active || !self.silence.renew(now) {
            return;
        }
        for mut entry in std::mem::take(&mut self.entries) {
            if entry.is_active() {
                self.delete_later(entry.request, entry.wanted.function);
                self.report(&entry, SubscriptionState::Ended, "the node reports nothing");
                entry.state = State::Due(now);
            }
            self.entries.push(entry);
        }
    }

    /// One of the subscriptions has reported.
    pub(super) fn reported(&mut self, now: Instant) {
        if !self.silence.ends(now) {
            return;
        }
        for entry in std::mem::take(&mut self.entries) {
            if entry.is_active() {
                self.report(&entry, SubscriptionState::Active, "");
            }
            self.entries.push(entry);
        }
    }

    /// Gives up on a request that was not answered in time; whether there was one.
    pub(super) fn time_out(&mut self, now: Instant) -> bool {
        let Some(pending) = self.pending.take_if(|pending| pending.deadline <= now) else {
            return false;
        };
        if !pending.deletion {
            self.failed(pending.request, "no answer", now);
        }
        true
    }

    /// RICsubscriptionResponse; `refused` says why our action was not admitted. False: the request is stray.
    pub(super) fn responded(
        &mut self,
        request: RicRequestId,
        function: u16,
        refused: Option<&str>,
        now: Instant,
    ) -> bool {
        self.answered(request, false);
        let Some(entry) = self.entry(request, function) else {
            self.delete_later(request, function);
            return false;
        };
        if let Some(cause) = refused {
            // The node may keep the subscription as such, without the action.
            self.delete_later(request, function);
            self.failed(request, cause, now);
        } else if entry.state == State::Requested {
            entry.state = State::Active;
            entry.failures = 0;
            let wanted = entry.wanted.clone();
            if self.silence.is_silent() {
                let detail = "admitted anew; no UE is attached, or the node does not work";
                self.status(request, &wanted, SubscriptionState::Silent, detail);
            } else {
                self.silence.ends(now);
                self.status(request, &wanted, SubscriptionState::Active, "");
            }
        }
        true
    }

    /// RICsubscriptionFailure, or a local reason why the request could not be made. False: the request is stray.
    pub(super) fn refused(&mut self, request: RicRequestId, cause: &str, now: Instant) -> bool {
        self.answered(request, false);
        self.failed(request, cause, now)
    }

    /// RICsubscriptionDeleteResponse or -Failure. False: it was not asked for, which ends a subscription of
    /// ours all the same (FlexRIC deletes the wrong one when two xApps use the same ids).
    pub(super) fn deleted(&mut self, request: RicRequestId, now: Instant) -> bool {
        self.answered(request, true)
            || !self.ended_by_node(request, "the node deleted it unasked", now)
    }

    /// RICsubscriptionDeleteRequired, and any other end that the node brings about: it is asked for again.
    pub(super) fn ended_by_node(
        &mut self,
        request: RicRequestId,
        cause: &str,
        now: Instant,
    ) -> bool {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.is(request)) else {
            return false;
        };
        entry.state = State::Due(now + retry(entry.failures));
        entry.failures = entry.failures.saturating_add(1);
        let wanted = entry.wanted.clone();
        self.withdraw(request);
        self.status(request, &wanted, SubscriptionState::Ended, cause);
        true
    }

    /// The node forgot everything (reset, new setup): all is asked for anew.
    pub(super) fn forgotten(&mut self, cause: &str, now: Instant) {
        self.pending = None;
        self.deletions.clear();
        self.silence.ends(now);
        for entry in std::mem::take(&mut self.entries) {
            if !matches!(entry.state, State::Due(_)) {
                self.report(&entry, SubscriptionState::Ended, cause);
            }
            self.entries.push(Entry {
                state: State::Due(now),
                failures: 0,
                ..entry
            });
        }
    }

    /// The node forgot everything, and nothing is asked for any more.
    pub(super) fn nothing_left(&mut self) {
        self.pending = None;
        self.deletions.clear();
    }

    /// ErrorIndication about one of our requests: whatever it was, it will not be answered.
    pub(super) fn complained_about(&mut self, request: RicRequestId, cause: &str, now: Instant) {
        if let Some(pending) = self.pending.take_if(|pending| pending.request == request)
            && !pending.deletion
        {
            self.failed(request, cause, now);
        }
    }

    /// Deletes everything; nothing is asked for any more.
    pub(super) fn stop(&mut self) {
        self.pending.take_if(|pending| !pending.deletion);
        for entry in std::mem::take(&mut self.entries) {
            if !matches!(entry.state, State::Due(_)) {
                self.delete_later(entry.request, entry.wanted.function);
                self.report(&entry, SubscriptionState::Ended, "Cantor stops");
            }
        }
    }

    /// Whether every deletion was answered.
    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_none() && self.deletions.is_empty()
    }

    /// The service model of the active subscription that an indication belongs to.
    pub(super) fn reporting(
        &self,
        request: RicRequestId,
        function: u16,
        action: u8,
    ) -> Option<ServiceModel> {
        let active = |entry: &&Entry| entry.is_active() && entry.is(request);
        let entry = self.entries.iter().find(active)?;
        (entry.wanted.function == function && action == ACTION_ID).then_some(entry.wanted.model)
    }

    /// Deletes a subscription that is not ours any more, but reports or answers.
    pub(super) fn delete_stray(&mut self, request: RicRequestId, function: u16) {
        if self.entry(request, function).is_none() {
            self.delete_later(request, function);
        }
    }

    /// The next change to tell the reader.
    pub(super) fn next_status(&mut self) -> Option<SubscriptionStatus> {
        self.statuses.pop_front()
    }

    fn next_request(&self) -> RicRequestId {
        let mut instance = self.last_instance;
        loop {
            instance = instance.wrapping_add(1);
            let request = RicRequestId {
                requestor: self.requestor,
                instance,
            };
            // Ends: there are far fewer entries than ids.
            if !self.entries.iter().any(|entry| entry.is(request)) {
                return request;
            }
        }
    }

    fn entry(&mut self, request: RicRequestId, function: u16) -> Option<&mut Entry> {
        self.entries
            .iter_mut()
            .find(|entry| entry.is(request) && entry.wanted.function == function)
    }

    fn answered(&mut self, request: RicRequestId, deletion: bool) -> bool {
        self.pending
            .take_if(|pending| pending.request == request && pending.deletion == deletion)
            .is_some()
    }

    /// Stops waiting for the answer to a subscription request.
    fn withdraw(&mut self, request: RicRequestId) {
        self.answered(request, false);
    }

    fn failed(&mut self, request: RicRequestId, cause: &str, now: Instant) -> bool {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.is(request)) else {
            return false;
        };
        entry.state = State::Due(now + retry(entry.failures));
        entry.failures = entry.failures.saturating_add(1);
        let wanted = entry.wanted.clone();
        self.status(request, &wanted, SubscriptionState::Failed, cause);
        true
    }

    fn delete_later(&mut self, request: RicRequestId, function: u16) {
        let waiting = self.deletions.contains(&(request, function));
        let sent = self
            .pending
            .as_ref()
            .is_some_and(|p| p.deletion && p.request == request && p.function == function);
        if !waiting && !sent && self.deletions.len() < MAX_DELETIONS {
            self.deletions.push_back((request, function));
        }
    }

    fn report(&mut self, entry: &Entry, state: SubscriptionState, detail: &str) {
        self.status(entry.request, &entry.wanted, state, detail);
    }

    fn status(
        &mut self,
        request: RicRequestId,
        wanted: &Wanted,
        state: SubscriptionState,
        detail: &str,
    ) {
        self.statuses.push_back(SubscriptionStatus {
            requestor: request.requestor,
            instance: request.instance,
            function: wanted.function,
            model: wanted.model,
            period_ms: wanted.period_ms,
            measurements: wanted.measurements.clone(),
            state,
            detail: detail.to_owned(),
        });
    }
}

impl Entry {
    fn is_active(&self) -> bool {
        self.state == State::Active
    }

    /// Whether `request` is the present attempt.
    fn is(&self, request: RicRequestId) -> bool {
        !matches!(self.state, State::Due(_)) && self.request == request
    }
}

/// RICactionID of the one action of every subscription: FlexRIC's RIC and agent know no other.
pub(super) const ACTION_ID: u8 = 0;

fn retry(failures: u32) -> Duration {
    (FIRST_RETRY * 2u32.saturating_pow(failures.min(16))).min(LAST_RETRY)
}

#[cfg(test)]
#[path = "subscriptions_tests.rs"]
mod tests;
