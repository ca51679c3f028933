//! One association with the RIC: connecting, E42 setup, and asking one thing at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use e2sm::e2ap::{self, Pdu, RanFunction, Version};
use e2sm::e42::{E42SetupRequest, E42SetupResponse};
use e2sm::flexric::Model;
use tokio::sync::MutexGuard;
use tokio::time::sleep_until;
use transport::{Connection, Receiver, Sender};

use super::Ric;
use super::guard::Guard;
use super::rules;

/// The association is of no further use, for this reason.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Lost(pub(super) String);

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked<T> {
    /// It was answered.
    Answered(T),
    /// The RIC has read it, and the node has not answered.
    Overdue,
    /// Nothing is known.
    Unread,
}

/// An association with the RIC.
pub(super) struct Association {
    ric: Arc<Ric>,
    sender: Sender,
    receiver: Receiver,
    /// What is spoken: as configured, then as the RIC answers.
    version: Version,
    /// E42 setups sent that are not answered yet.
    setups: u32,
}

impl Association {
    pub(super) async fn connect(ric: &Arc<Ric>) -> Result<Association, Lost> {
        let config = &ric.config;
        let (sender, receiver) = Connection::connect(&config.ric, config.timing.answer)
            .await
            .map_err(|error| Lost(format!("{} cannot be reached: {error}", config.ric)))?
            .split();
        ric.counters.associations.fetch_add(1, Relaxed);
        Ok(Association {
            ric: Arc::clone(ric),
            sender,
            receiver,
            version: config.version,
            setups: 0,
        })
    }

    /// E42 setup: again and again on the same association, each time with the nodes of that moment. `Ok(None)`: the
    /// setup is not safe now, or was not answered.
    pub(super) async fn set_up(
        &mut self,
        aside: &mut impl FnMut(Pdu, Instant),
    ) -> Result<Option<E42SetupResponse>, Lost> {
        let ric = Arc::clone(&self.ric);
        let turn = ric.turn.lock().await;
        let Some(guard) = self.guarded().await else {
            return Ok(None);
        };
        let is_answer = |pdu: &Pdu| match pdu {
            Pdu::E42SetupResponse(response) => Some(response.clone()),
            _ => None,
        };
        let patience = ric.config.timing.answer;
        let answer = self
            .exchange(&setup(), is_answer, guard, patience, aside)
            .await;
        drop(turn);
        Ok(match answer? {
            Asked::Answered(response) => Some(response),
            Asked::Overdue | Asked::Unread => None,
        })
    }

    /// Sends a request in Cantor's `turn` and reads until its answer has come, or until the RIC has read it and
    /// `overdue` has passed; everything else goes `aside`.
    pub(super) async fn ask<T>(
        &mut self,
        turn: MutexGuard<'_, ()>,
        request: &Pdu,
        answer: impl Fn(&Pdu) -> Option<T>,
        overdue: Duration,
        aside: &mut impl FnMut(Pdu, Instant),
    ) -> Result<Asked<T>, Lost> {
        let answer = self.exchange(request, answer, None, overdue, aside).await;
        drop(turn);
        answer
    }

    /// The RIC reads one message per wake-up, from all its xApps: of two that arrive together the second stays
    /// unread until a third comes, and from then on it is one message late for ever. So all of Cantor asks one thing
    /// at a time, and as long as an answer is missing, because others spoke at the same moment or an xApp died
    /// while reports went to it, sends setups after the request to make the RIC read on.
    async fn exchange<T>(
        &mut self,
        request: &Pdu,
        answer: impl Fn(&Pdu) -> Option<T>,
        mut guard: Option<Guard>,
        overdue: Duration,
        aside: &mut impl FnMut(Pdu, Instant),
    ) -> Result<Asked<T>, Lost> {
        let timing = self.ric.config.timing;
        // The RIC reads in order: when more setups are answered than were sent before it, it has read the request.
        let mut until_read = self.setups;
        let mut read = None;
        let mut result = self.send(request).await.map(|()| None);
        let deadline = tokio::time::Instant::now() + timing.answer;
        let mut nudge = tokio::time::Instant::now() + timing.nudge;
        while let Ok(None) = result {
            tokio::select! {
                pdu = self.next() => match pdu {
                    Ok(pdu) => match answer(&pdu) {
                        Some(answer) => result = Ok(Some(answer)),
                        None => {
                            if matches!(pdu, Pdu::E42SetupResponse(_)) {
                                if until_read == 0 {
                                    read.get_or_insert_with(tokio::time::Instant::now);
                                }
                                until_read = until_read.saturating_sub(1);
                            }
                            aside(pdu, Instant::now());
                        }
                    },
                    Err(lost) => result = Err(lost),
                },
                () = sleep_until(deadline) => {
                    self.ric.counters.requests_timed_out.fetch_add(1, Relaxed);
                    break;
                }
                () = sleep_until(read.unwrap_or(deadline) + overdue), if read.is_some() => {
                    self.ric.counters.requests_timed_out.fetch_add(1, Relaxed);
                    break;
                }
                () = sleep_until(nudge), if read.is_none() && self.ric.may_spend_ids() => {
                    let mut safe = guard.is_some();
                    if !safe && let Some(up) = self.guarded().await {
                        (safe, guard) = (true, up);
                    }
                    if safe {
                        result = self.send(&setup()).await.map(|()| None);
                    }
                    nudge = tokio::time::Instant::now() + timing.nudge;
                }
            }
        }
        if let Some(guard) = guard {
            guard.lower().await;
        }
        result.map(|answer| match (answer, read) {
            (Some(answer), _) => Asked::Answered(answer),
            (None, Some(_)) => Asked::Overdue,
            (None, None) => Asked::Unread,
        })
    }

    /// The next PDU that can be read. Safe to cancel.
    pub(super) async fn next(&mut self) -> Result<Pdu, Lost> {
        loop {
            let message = match self.receiver.receive().await {
                Ok(Some(message)) => message,
                Ok(None) => return Err(Lost("the RIC closed the association".into())),
                Err(error) => return Err(Lost(error.to_string())),
            };
            let counters = &self.ric.counters;
            counters.pdus_received.fetch_add(1, Relaxed);
            if let Some(version) = e2ap::guess_version(&message.bytes)
                && version != self.version
            {
                tracing::warn!(configured = %self.version, spoken = %version, "the RIC speaks another E2AP version");
                self.version = version;
            }
            match e2ap::decode(&message.bytes, self.version) {
                Ok(decoded) => {
                    counters
                        .items_skipped
                        .fetch_add(decoded.notes.skipped(), Relaxed);
                    if let Pdu::E42SetupResponse(response) = &decoded.value {
                        self.setups = self.setups.saturating_sub(1);
                        self.ric.was_given(response.xapp_id);
                    }
                    return Ok(decoded.value);
                }
                Err(error) => {
                    counters.pdus_undecodable.fetch_add(1, Relaxed);
                    tracing::debug!(%error, octets = message.bytes.len(), "undecodable PDU from the RIC");
                }
            }
        }
    }

    /// Ends in order.
    pub(super) async fn close(self) {
        // A failure means that the association is gone already.
        let _ = self.sender.finish().await;
    }

    async fn send(&mut self, pdu: &Pdu) -> Result<(), Lost> {
        let octets = e2ap::encode(pdu, self.version)
            .map_err(|error| Lost(format!("{} cannot be encoded: {error}", pdu.name())))?;
        self.sender
            .send(&octets)
            .await
            .map_err(|error| Lost(format!("sending failed: {error}")))?;
        self.ric.counters.pdus_sent.fetch_add(1, Relaxed);
        self.setups += u32::from(matches!(pdu, Pdu::E42SetupRequest(_)));
        Ok(())
    }

    /// Makes an E42 setup safe: `Some` when it is, with the guard that makes it so, if one has to.
    async fn guarded(&self) -> Option<Option<Guard>> {
        let ric = &self.ric;
        let Some(address) = &ric.config.guard else {
            return Some(None);
        };
        ric.wait_for_a_report().await;
        if !rules::setup_needs_guard(ric.last_report(), Instant::now()) {
            return Some(None);
        }
        let (version, wait) = (self.version, ric.config.timing.answer);
        match Guard::raise(address.clone(), version, ric.next_guard(), wait).await {
            Ok(guard) => Some(Some(guard)),
            Err(error) => {
                tracing::warn!(%address, %error, "no E42 setup: the guard E2 node cannot be set up");
                None
            }
        }
    }
}

/// The RIC wants at least one RAN function and looks at none.
fn setup() -> Pdu {
    Pdu::E42SetupRequest(E42SetupRequest {
        functions: vec![mac_function()],
    })
}

/// FlexRIC's MAC model, which every FlexRIC build has.
pub(super) fn mac_function() -> RanFunction {
    RanFunction {
        id: Model::Mac.ran_function_id(),
        definition: Model::Mac.definition().into(),
        revision: 1,
        oid: Model::Mac.oid().into(),
    }
}
