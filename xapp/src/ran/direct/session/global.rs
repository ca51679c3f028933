//! Everything that is neither a setup nor about subscriptions: services, configuration, reset, errors (E2AP 8.3).

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use e2sm::aper::Notes;
use e2sm::e2ap::{
    self, Cause, CriticalityDiagnostics, E2ConnectionUpdateFailure, E2NodeConfigurationUpdate,
    E2NodeConfigurationUpdateAcknowledge, E2NodeConfigurationUpdateFailure, E2RemovalFailure,
    ErrorIndication, MiscCause, Pdu, ProtocolCause, RanFunctionId, ResetRequest, ResetResponse,
    RicServiceCause, RicServiceQuery, RicServiceUpdate, RicServiceUpdateAcknowledge,
    RicServiceUpdateFailure, TimeToWait,
};

use super::setup::{acknowledged, acknowledgement};
use super::{Phase, Session};
use crate::ran::identity;

/// maxofRANfunctionID (E2AP 9.3.6).
const MAX_FUNCTIONS: usize = 256;
/// What the definitions of a node's functions may take together, octets.
const MAX_DEFINITIONS: usize = 4 << 20;
/// So many foreign indications in a row, deletions notwithstanding, mean that the node and Cantor disagree
/// about what exists: a reset clears it.
const CONFUSED: u32 = 1000;
const RESET_EVERY: Duration = Duration::from_secs(60);

impl Session {
    /// Any message but an indication.
    pub(super) fn dispatch(&mut self, pdu: Pdu, notes: &Notes, octets: &[u8], now: Instant) {
        if !self.understood(&pdu, notes, now) {
            return;
        }
        match pdu {
            Pdu::E2SetupRequest(request) => self.set_up(request, octets, now),
            Pdu::ErrorIndication(error) => self.told_of_error(&error, now),
            // All others want a node that has set up.
            pdu if self.node.is_none() => self.out_of_place(&pdu, now),
            Pdu::RicSubscriptionResponse(response) => self.subscribed(response, now),
            Pdu::RicSubscriptionFailure(failure) => self.subscription_failed(failure, now),
            Pdu::RicSubscriptionDeleteResponse(response) => {
                self.subscriptions.deleted(response.request, now);
            }
            Pdu::RicSubscriptionDeleteFailure(failure) => {
                self.subscriptions.deleted(failure.request, now);
            }
            Pdu::RicSubscriptionDeleteRequired(required) => self.deletion_required(required, now),
            Pdu::RicServiceUpdate(update) => self.update_services(update, now),
            Pdu::E2NodeConfigurationUpdate(update) => self.update_configuration(&update),
            Pdu::ResetRequest(request) => self.reset_by_node(&request, now),
            Pdu::ResetResponse(response) if self.reset == Some(response.transaction) => {
                self.reset = None;
                self.subscriptions.forgotten("reset by Cantor", now);
            }
            Pdu::E2RemovalRequest(request) => self.removed(request.transaction),
            // Goes from the near-RT RIC to the node only, but has an answer of its own.
            Pdu::E2ConnectionUpdate(update) => {
                let cause = Some(Cause::Protocol(
                    ProtocolCause::MessageNotCompatibleWithReceiverState,
                ));
                let transaction = update.transaction;
                self.send(&Pdu::E2ConnectionUpdateFailure(E2ConnectionUpdateFailure {
                    transaction,
                    cause,
                    time_to_wait: None,
                    diagnostics: None,
                }));
            }
            pdu => self.out_of_place(&pdu, now),
        }
    }

    /// Deals with IEs that are not known and that the peer wants to hear about. False: the procedure is rejected.
    pub(super) fn understood(&mut self, pdu: &Pdu, notes: &Notes, now: Instant) -> bool {
        let version = self.version.unwrap_or(e2ap::Version::V2_03);
        let Some((cause, diagnostics)) = e2ap::diagnose_notes(pdu, version, notes) else {
            return true;
        };
        let rejected = cause == Cause::Protocol(ProtocolCause::AbstractSyntaxErrorReject);
        if rejected {
            self.counters.pdus_rejected.fetch_add(1, Relaxed);
        }
        if self.complain(now) {
            tracing::debug!(peer = self.peer, pdu = pdu.name(), %cause, "IEs that must be understood and are not");
            if rejected {
                self.reject(pdu, cause, diagnostics, now);
            } else if !matches!(pdu, Pdu::ErrorIndication(_)) {
                self.error_indication(pdu.request_id(), cause, Some(diagnostics));
            }
        }
        !rejected
    }

    /// Rejects a procedure with its own failure message, where it has one (E2AP 10.3.4.2).
    fn reject(
        &mut self,
        pdu: &Pdu,
        cause: Cause,
        diagnostics: CriticalityDiagnostics,
        now: Instant,
    ) {
        let (time_to_wait, diagnostics) = (None, Some(diagnostics));
        let failure = match pdu {
            Pdu::E2SetupRequest(request) => {
                return self.refuse_setup(request.transaction, cause, diagnostics);
            }
            // Never an error about an error: two peers would go on for ever.
            Pdu::ErrorIndication(_) => return,
            Pdu::RicServiceUpdate(RicServiceUpdate { transaction, .. }) => {
                Pdu::RicServiceUpdateFailure(RicServiceUpdateFailure {
                    transaction: *transaction,
                    cause,
                    time_to_wait,
                    diagnostics,
                })
            }
            Pdu::E2NodeConfigurationUpdate(E2NodeConfigurationUpdate { transaction, .. }) => {
                let transaction = *transaction;
                Pdu::E2NodeConfigurationUpdateFailure(E2NodeConfigurationUpdateFailure {
                    transaction,
                    cause,
                    time_to_wait,
                    diagnostics,
                })
            }
            Pdu::E2RemovalRequest(request) => Pdu::E2RemovalFailure(E2RemovalFailure {
                transaction: request.transaction,
                cause,
                diagnostics,
            }),
            Pdu::RicSubscriptionResponse(response) => {
                self.subscriptions.responded(
                    response.request,
                    response.ran_function,
                    Some("the answer was not understood"),
                    now,
                );
                return self.error_indication(Some(response.request), cause, diagnostics);
            }
            pdu => return self.error_indication(pdu.request_id(), cause, diagnostics),
        };
        self.send(&failure);
    }

    fn update_services(&mut self, update: RicServiceUpdate, now: Instant) {
        let Some(node) = &mut self.node else { return };
        let transaction = update.transaction;
        let mut functions = node.functions.clone();
        let mut accepted = Vec::new();
        for deleted in &update.deleted {
            functions.remove(&deleted.id);
        }
        for function in update
            .added
            .into_iter()
            .chain(update.modified)
            .map(identity::ran_function)
        {
            accepted.push(RanFunctionId {
                id: function.id,
                revision: function.revision,
            });
            functions.insert(function.id, function);
        }
        let definitions: usize = functions
            .values()
            .map(|function| function.definition.len())
            .sum();
        if functions.len() > MAX_FUNCTIONS || definitions > MAX_DEFINITIONS {
            self.send(&Pdu::RicServiceUpdateFailure(RicServiceUpdateFailure {
                transaction,
                cause: Cause::RicService(RicServiceCause::ExcessiveFunctions),
                time_to_wait: Some(TimeToWait::S60),
                diagnostics: None,
            }));
            return;
        }
        node.flexric = functions.values().any(identity::is_of_flexric);
        node.functions = functions;
        self.send(&Pdu::RicServiceUpdateAcknowledge(
            RicServiceUpdateAcknowledge {
                transaction,
                accepted,
                rejected: Vec::new(),
            },
        ));
        self.announce();
        self.plan(now);
    }

    /// Asks the node to tell its functions anew (RICserviceUpdate).
    pub(super) fn query_services(&mut self) {
        let Some(node) = &self.node else { return };
        // FlexRIC's agent does not implement it and aborts.
        if node.flexric {
            return;
        }
        let accepted = node
            .functions
            .values()
            .map(|function| RanFunctionId {
                id: function.id,
                revision: function.revision,
            })
            .collect();
        let transaction = self.next_transaction();
        self.send(&Pdu::RicServiceQuery(RicServiceQuery {
            transaction,
            accepted,
        }));
    }

    fn update_configuration(&mut self, update: &E2NodeConfigurationUpdate) {
        let acknowledge = E2NodeConfigurationUpdateAcknowledge {
            transaction: update.transaction,
            added: update.added.iter().map(acknowledged).collect(),
            updated: update.updated.iter().map(acknowledged).collect(),
            removed: update
                .removed
                .iter()
                .map(|component| acknowledgement(component.interface, component.id.clone()))
                .collect(),
        };
        self.send(&Pdu::E2NodeConfigurationUpdateAcknowledge(acknowledge));
    }

    fn reset_by_node(&mut self, request: &ResetRequest, now: Instant) {
        tracing::info!(peer = self.peer, cause = %request.cause, "E2 reset by the node");
        self.send(&Pdu::ResetResponse(ResetResponse {
            transaction: request.transaction,
            diagnostics: None,
        }));
        if self.phase == Phase::Up {
            self.subscriptions.forgotten("reset by the node", now);
        } else {
            self.subscriptions.nothing_left();
        }
    }

    /// Resets a node that goes on reporting what Cantor does not know.
    pub(super) fn reset_if_confused(&mut self, now: Instant) {
        let recently = self
            .last_reset
            .is_some_and(|at| now.saturating_duration_since(at) < RESET_EVERY);
        // FlexRIC's agent does not implement it and aborts.
        if self.foreign < CONFUSED || recently || self.node.as_ref().is_none_or(|node| node.flexric)
        {
            return;
        }
        self.foreign = 0;
        self.last_reset = Some(now);
        let transaction = self.next_transaction();
        self.reset = Some(transaction);
        tracing::warn!(
            peer = self.peer,
            "E2 reset: the node reports what was not subscribed to"
        );
        self.send(&Pdu::ResetRequest(ResetRequest {
            transaction,
            cause: Cause::Misc(MiscCause::Unspecified),
        }));
    }

    fn told_of_error(&mut self, error: &ErrorIndication, now: Instant) {
        let cause = error.cause.as_ref().map_or_else(
            || "error indication without a cause".to_owned(),
            ToString::to_string,
        );
        tracing::warn!(peer = self.peer, cause, "E2 error indication");
        self.counters.error_indications.fetch_add(1, Relaxed);
        if let Some(request) = error.request {
            self.subscriptions.complained_about(request, &cause, now);
        }
    }

    fn next_transaction(&mut self) -> u32 {
        self.transaction = (self.transaction + 1) % 256;
        self.transaction
    }
}
