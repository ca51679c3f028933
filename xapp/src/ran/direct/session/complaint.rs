//! What is refused: octets that are no PDU, IEs that must be understood, procedures out of place (E2AP 10).

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use e2sm::aper::DecodeError;
use e2sm::e2ap::{
    self, Cause, CriticalityDiagnostics, E2SetupFailure, ErrorIndication, Outcome, Pdu,
    ProtocolCause, RicRequestId, TimeToWait,
};

use super::{E2_SETUP, Session};

/// ProcedureCode of ErrorIndication.
const ERROR_INDICATION: u8 = 2;

impl Session {
    /// Octets that could not be decoded.
    pub(super) fn undecodable(&mut self, octets: &[u8], error: &DecodeError, now: Instant) {
        self.counters.pdus_undecodable.fetch_add(1, Relaxed);
        if !self.complain(now) {
            return;
        }
        tracing::debug!(peer = self.peer, %error, octets = octets.len(), "undecodable PDU");
        let (cause, diagnostics) = e2ap::diagnose_error(octets, error);
        match e2ap::header(octets) {
            // Never an error about an error: two peers would go on for ever.
            Ok(header) if header.procedure_code == ERROR_INDICATION => {}
            Ok(header)
                if header.procedure_code == E2_SETUP
                    && header.outcome == Outcome::InitiatingMessage =>
            {
                self.refuse_setup(0, cause, Some(diagnostics));
            }
            _ => self.error_indication(None, cause, Some(diagnostics)),
        }
    }

    /// A message that was understood, but has no place here or now. Answers with ErrorIndication.
    pub(super) fn out_of_place(&mut self, pdu: &Pdu, now: Instant) {
        self.counters.pdus_rejected.fetch_add(1, Relaxed);
        if !self.complain(now) {
            return;
        }
        tracing::debug!(peer = self.peer, pdu = pdu.name(), "PDU out of place");
        let header = pdu.header(self.version.unwrap_or(e2ap::Version::V2_03));
        let diagnostics = CriticalityDiagnostics {
            procedure_code: header.map(|header| header.procedure_code),
            triggering_message: header.map(|header| header.outcome),
            procedure_criticality: header.map(|header| header.criticality),
            request: pdu.request_id(),
            ies: Vec::new(),
        };
        let cause = Cause::Protocol(ProtocolCause::MessageNotCompatibleWithReceiverState);
        self.error_indication(pdu.request_id(), cause, Some(diagnostics));
    }

    /// Counts a complaint. False when there were too many: the association is given up.
    pub(super) fn complain(&mut self, now: Instant) -> bool {
        let within = self.complaints.take(now);
        if !within {
            self.finish("it sends too much that cannot be used");
        }
        within
    }

    pub(super) fn error_indication(
        &mut self,
        request: Option<RicRequestId>,
        cause: Cause,
        diagnostics: Option<CriticalityDiagnostics>,
    ) {
        // FlexRIC's agent does not implement it and aborts, and the gNB with it.
        if self.node.as_ref().is_some_and(|node| node.flexric)
            && !self.config.error_indication_to_flexric
        {
            return;
        }
        self.send(&Pdu::ErrorIndication(ErrorIndication {
            transaction: None,
            request,
            ran_function: None,
            cause: Some(cause),
            diagnostics,
        }));
    }

    pub(super) fn refuse_setup(
        &mut self,
        transaction: u32,
        cause: Cause,
        diagnostics: Option<CriticalityDiagnostics>,
    ) {
        tracing::warn!(peer = self.peer, %cause, "E2 setup refused");
        self.send(&Pdu::E2SetupFailure(E2SetupFailure {
            transaction,
            cause,
            time_to_wait: Some(TimeToWait::S5),
            diagnostics,
            tnl: None,
        }));
    }
}
