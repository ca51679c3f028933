//! Associations with the RIC: connecting, E42 setup, and asking one thing at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use e2sm::e2ap::{self, Pdu, RanFunction, Version};
use e2sm::e42::{E42SetupRequest, E42SetupResponse};
use e2sm::flexric::Model;
use futures_util::future::select_all;
use tokio::sync::MutexGuard;
use tokio::time::sleep_until;
use transport::{Connection, Receiver, Sender};

use super::Ric;
use super::guard::Guard;
use super::rules;

/// The associations are of no further use, for this reason.
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

/// Associations with the RIC, that live and end together. To the RIC each is an xApp of its own.
pub(super) struct Associations {
    ric: Arc<Ric>,
    all: Vec<Association>,
    /// What is spoken: as configured, then as the RIC answers.
    version: Version,
}

struct Association {
    sender: Sender,
    receiver: Receiver,
    /// E42 setups sent that are not answered yet.
    setups: u32,
}

impl Associations {
    /// Connects one.
    pub(super) async fn connect(ric: &Arc<Ric>) -> Result<Associations, Lost> {
        let mut associations = Associations {
            ric: Arc::clone(ric),
            all: Vec::new(),
            version: ric.config.version,
        };
        associations.connect_another().await?;
        Ok(associations)
    }

    /// Connects one more: they are counted from 0.
    pub(super) async fn connect_another(&mut self) -> Result<(), Lost> {
        let config = &self.ric.config;
        let (sender, receiver) = Connection::connect(&config.ric, config.timing.answer)
            .await
            .map_err(|error| Lost(format!("{} cannot be reached: {error}", config.ric)))?
            .split();
        self.ric.counters.associations.fetch_add(1, Relaxed);
        self.all.push(Association {
            sender,
            receiver,
            setups: 0,
        });
        Ok(())
    }

    /// E42 setup: again and again on the same association, each time with the nodes of that moment. `Ok(None)`: the
    /// setup is not safe now, or was not answered.
    pub(super) async fn set_up(
        &mut self,
        on: usize,
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
            .exchange(on, &setup(), is_answer, guard, patience, aside)
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
        on: usize,
        turn: MutexGuard<'_, ()>,
        request: &Pdu,
        answer: impl Fn(&Pdu) -> Option<T>,
        overdue: Duration,
        aside: &mut impl FnMut(Pdu, Instant),
    ) -> Result<Asked<T>, Lost> {
        let answer = self
            .exchange(on, request, answer, None, overdue, aside)
            .await;
        drop(turn);
        answer
    }

    /// The RIC reads one message per wake-up, from all its xApps: of two that arrive together the second stays
    /// unread until a third comes, and from then on it is one message late for ever. So all of Cantor asks one thing
    /// at a time, and as long as an answer is missing, because others spoke at the same moment or an xApp died
    /// while reports went to it, sends setups after the request to make the RIC read on.
    async fn exchange<T>(
        &mut self,
        on: usize,
        request: &Pdu,
        answer: impl Fn(&Pdu) -> Option<T>,
        mut guard: Option<Guard>,
        overdue: Duration,
        aside: &mut impl FnMut(Pdu, Instant),
    ) -> Result<Asked<T>, Lost> {
        let timing = self.ric.config.timing;
        // The RIC reads in order: when more setups are answered than were sent before it, it has read the request.
        let mut until_read = self.all[on].setups;
        let mut read = None;
        let mut result = self.send(on, request).await.map(|()| None);
        let deadline = tokio::time::Instant::now() + timing.answer;
        let mut nudge = tokio::time::Instant::now() + timing.nudge;
        while let Ok(None) = result {
            tokio::select! {
                pdu = self.receive() => match pdu {
                    Ok((from, pdu)) => match answer(&pdu).filter(|_| from == on) {
                        Some(answer) => result = Ok(Some(answer)),
                        None => {
                            if from == on && matches!(pdu, Pdu::E42SetupResponse(_)) {
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
                        result = self.send(on, &setup()).await.map(|()| None);
                    }
                    // More than one message lies before the request: there may be many.
                    nudge = tokio::time::Instant::now() + timing.nudge / 3;
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
        Ok(self.receive().await?.1)
    }

    /// The next PDU, and the association that it came on. Safe to cancel.
    async fn receive(&mut self) -> Result<(usize, Pdu), Lost> {
        loop {
            let receiving = self
                .all
                .iter_mut()
                .map(|association| Box::pin(association.receiver.receive()));
            let (received, from, _) = select_all(receiving).await;
            let message = match received {
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
                        let association = &mut self.all[from];
                        association.setups = association.setups.saturating_sub(1);
                        self.ric.was_given(response.xapp_id);
                    }
                    return Ok((from, decoded.value));
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
        for association in self.all {
            // A failure means that the association is gone already.
            let _ = association.sender.finish().await;
        }
    }

    async fn send(&mut self, on: usize, pdu: &Pdu) -> Result<(), Lost> {
        let octets = e2ap::encode(pdu, self.version)
            .map_err(|error| Lost(format!("{} cannot be encoded: {error}", pdu.name())))?;
        let association = &mut self.all[on];
        association
            .sender
            .send(&octets)
            .await
            .map_err(|error| Lost(format!("sending failed: {error}")))?;
        association.setups += u32::from(matches!(pdu, Pdu::E42SetupRequest(_)));
        self.ric.counters.pdus_sent.fetch_add(1, Relaxed);
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
