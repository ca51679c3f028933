//! E2AP of one association as a state machine without I/O: octets and time go in; PDUs to send, events for the
//! reader, and the next time to be woken come out.
//!
//! ```text
//!            E2setupRequest                       stop()
//! awaiting ─────────────────► up ──────────────────────────────► stopping ──► finished
//!    │ setup_wait                 subscriptions: see `subscriptions`   all deleted, or stop_wait
//!    └──► finished
//! ```

mod allowance;
mod complaint;
mod functional;
mod global;
mod setup;
mod silence;
mod subscriptions;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use e2sm::aper::Decoded;
use e2sm::e2ap::{self, Header, Outcome, Pdu, RicSubscriptionDeleteRequest, Version};

use super::config::Config;
use crate::ran::counters::Counters;
use crate::ran::identity::Part;
use crate::ran::plan;
use crate::ran::{NodeId, RanEvent, RanFunction};
use allowance::Allowance;
use setup::LastSetup;
use subscriptions::{Action, Subscriptions};

/// The protocol of one association.
#[derive(Debug)]
pub(super) struct Session {
    config: Arc<Config>,
    counters: Arc<Counters>,
    peer: String,
    /// What is spoken, known from the first PDU on.
    version: Option<Version>,
    phase: Phase,
    /// Set up at least once, and not lost.
    node: Option<Node>,
    last_setup: Option<LastSetup>,
    subscriptions: Subscriptions,
    pdus: VecDeque<Vec<u8>>,
    events: VecDeque<RanEvent>,
    /// PDUs that are refused, one way or another.
    complaints: Allowance,
    /// PDUs that are not indications: each is logged, may be answered, and may change the node.
    procedures: Allowance,
    /// Indications in a row that are not of our subscriptions.
    foreign: u32,
    /// TransactionID of the last procedure begun here.
    transaction: u32,
    /// TransactionID of our reset that is not answered yet.
    reset: Option<u32>,
    last_reset: Option<Instant>,
    /// Requests in a row without an answer while nothing at all was received.
    unanswered: u32,
    finished: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waiting for E2 Setup until then.
    Awaiting(Instant),
    Up,
    /// Deleting subscriptions, at most until then.
    Stopping(Instant),
}

/// An E2 node that has set up.
#[derive(Debug)]
struct Node {
    id: NodeId,
    part: Part,
    functions: BTreeMap<u16, RanFunction>,
    /// It runs FlexRIC's agent, which aborts on messages that it does not implement.
    flexric: bool,
}

/// ProcedureCode of E2 Setup.
const E2_SETUP: u8 = 1;

/// Distance between a message that FlexRIC's agent does not answer and the next one. It reads one message
/// per edge-triggered wake-up: two that arrive together leave the second unread until a third comes.
const FLEXRIC_SPACING: Duration = Duration::from_millis(250);

/// A peer that leaves so many requests in a row unanswered, and says nothing else either, is gone.
const UNANSWERED: u32 = 5;

impl Session {
    pub(super) fn new(
        config: Arc<Config>,
        counters: Arc<Counters>,
        peer: String,
        requestor: u16,
        now: Instant,
    ) -> Self {
        let limits = config.limits;
        Session {
            counters,
            peer,
            version: None,
            phase: Phase::Awaiting(now + limits.setup_wait),
            node: None,
            last_setup: None,
            subscriptions: Subscriptions::new(
                requestor,
                limits.answer_wait,
                config.silent_after,
                now,
            ),
            pdus: VecDeque::new(),
            events: VecDeque::new(),
            complaints: Allowance::new(100, 5, now),
            procedures: Allowance::new(200, 20, now),
            foreign: 0,
            transaction: 0,
            reset: None,
            last_reset: None,
            unanswered: 0,
            finished: None,
            config,
        }
    }

    /// A PDU has arrived.
    pub(super) fn receive(&mut self, octets: &[u8], now: Instant) {
        if self.finished.is_some() {
            return;
        }
        self.counters.pdus_received.fetch_add(1, Relaxed);
        self.unanswered = 0;
        let sent = self.pdus.len();
        // Every setup says anew what is spoken; nothing else does.
        if let Ok(Header {
            procedure_code: E2_SETUP,
            outcome: Outcome::InitiatingMessage,
            ..
        }) = e2ap::header(octets)
        {
            self.version = e2ap::guess_version(octets).or(self.version);
        }
        match e2ap::decode(octets, self.version.unwrap_or(Version::V2_03)) {
            Ok(Decoded { value: pdu, notes }) => {
                self.counters
                    .items_skipped
                    .fetch_add(notes.skipped(), Relaxed);
                if let Pdu::RicIndication(_) = pdu {
                    if self.understood(&pdu, &notes, now)
                        && let Pdu::RicIndication(indication) = pdu
                    {
                        self.indicated(indication, now);
                    }
                } else if self.procedures.take(now) {
                    self.dispatch(pdu, &notes, octets, now);
                } else {
                    self.finish("it floods Cantor with procedures");
                }
            }
            Err(error) => self.undecodable(octets, &error, now),
        }
        if self.pdus.len() > sent && self.node.as_ref().is_some_and(|node| node.flexric) {
            self.subscriptions.keep_clear(now + FLEXRIC_SPACING);
        }
        self.advance(now);
    }

    /// The time of `next_timeout` has come.
    pub(super) fn time_out(&mut self, now: Instant) {
        match self.phase {
            Phase::Awaiting(until) if until <= now => self.finish("it does not set up"),
            Phase::Stopping(until) if until <= now => {
                self.finish("Cantor stops; not every subscription was deleted")
            }
            _ => {}
        }
        if self.subscriptions.time_out(now) {
            self.counters.requests_timed_out.fetch_add(1, Relaxed);
            self.unanswered += 1;
            if self.unanswered >= UNANSWERED {
                self.finish("it answers nothing");
            }
        }
        if self.phase == Phase::Up {
            self.subscriptions.renew_if_silent(now);
        }
        self.advance(now);
    }

    /// Whether the peer is a node.
    pub(super) fn has_set_up(&self) -> bool {
        self.node.is_some()
    }

    /// Begins the orderly end: deletes the subscriptions, then finishes.
    pub(super) fn stop(&mut self, now: Instant) {
        self.subscriptions.stop();
        self.phase = Phase::Stopping(now + self.config.limits.stop_wait);
        self.advance(now);
    }

    /// The association is gone.
    pub(super) fn lost(&mut self, reason: &str) {
        if let Some(node) = self.node.take() {
            self.events.push_back(RanEvent::NodeDown {
                node: node.id,
                reason: reason.to_owned(),
            });
        }
        self.finish(reason);
    }

    /// When `time_out` wants to be called.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Awaiting(until) | Phase::Stopping(until) => Some(until),
            Phase::Up => None,
        };
        [phase, self.subscriptions.next_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    /// The next PDU to send.
    pub(super) fn next_pdu(&mut self) -> Option<Vec<u8>> {
        self.pdus.pop_front()
    }

    /// The next event for the reader.
    pub(super) fn next_event(&mut self) -> Option<RanEvent> {
        self.events.pop_front()
    }

    /// Why the association is to be closed, once it is.
    pub(super) fn finished(&self) -> Option<&str> {
        self.finished.as_deref()
    }

    /// Sends what is due and tells what has changed.
    fn advance(&mut self, now: Instant) {
        while self.node.is_some() && self.finished.is_none() {
            match self.subscriptions.poll(now) {
                Some(Action::Subscribe(request, wanted)) => self.subscribe(request, wanted, now),
                Some(Action::Delete(request, ran_function)) => {
                    self.send(&Pdu::RicSubscriptionDeleteRequest(
                        RicSubscriptionDeleteRequest {
                            request,
                            ran_function,
                        },
                    ));
                }
                None => break,
            }
        }
        self.tell_statuses();
        if matches!(self.phase, Phase::Stopping(_)) && self.subscriptions.is_idle() {
            self.finish("Cantor stops");
        }
    }

    fn tell_statuses(&mut self) {
        while let Some(status) = self.subscriptions.next_status() {
            if let Some(node) = &self.node {
                self.events.push_back(RanEvent::Subscription {
                    node: node.id.clone(),
                    status,
                });
            }
        }
    }

    /// Makes the subscriptions fit what the node offers now.
    fn plan(&mut self, now: Instant) {
        if let Some(node) = &self.node
            && self.phase == Phase::Up
        {
            let wanted = plan::plan(node.part, node.functions.values(), &self.config.wishes);
            self.subscriptions.want(
                wanted,
                |function| node.functions.contains_key(&function),
                now,
            );
        }
    }

    /// Tells the reader that the node is there as it is now.
    fn announce(&mut self) {
        if let (Some(node), Some(version)) = (&self.node, self.version) {
            self.events.push_back(RanEvent::NodeUp {
                node: node.id.clone(),
                peer: self.peer.clone(),
                e2ap_version: version.as_str(),
                functions: node.functions.values().cloned().collect(),
            });
        }
    }

    /// Queues a PDU. False: it cannot be encoded, because it echoes what the peer's version should not hold.
    fn send(&mut self, pdu: &Pdu) -> bool {
        match e2ap::encode(pdu, self.version.unwrap_or(Version::V2_03)) {
            Ok(octets) => self.pdus.push_back(octets),
            Err(error) => {
                tracing::warn!(peer = self.peer, pdu = pdu.name(), %error, "a PDU could not be encoded");
                return false;
            }
        }
        true
    }

    fn finish(&mut self, reason: &str) {
        self.finished.get_or_insert_with(|| reason.to_owned());
    }
}
