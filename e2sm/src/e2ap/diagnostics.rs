//! Criticality diagnostics (E2AP §9.2.2), and what to tell a peer whose message was not understood (§10).

use super::container::{Ie, read_criticality, write_criticality};
use super::{Cause, Outcome, Pdu, ProtocolCause, RicRequestId, Version, header};
use crate::aper::{
    Criticality, DecodeError, DecodeErrorKind, EncodeError, Locate, Notes, Reader, Writer,
    enumerated,
};

enumerated! {
    /// TypeOfError.
    TypeOfError { NotUnderstood = "not-understood", Missing = "missing" }
}

/// CriticalityDiagnostics-IE-Item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IeDiagnostics {
    /// Criticality of the IE.
    pub criticality: Criticality,
    /// ProtocolIE-ID.
    pub id: u16,
    /// What is wrong with it.
    pub error: TypeOfError,
}

/// CriticalityDiagnostics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CriticalityDiagnostics {
    /// Procedure of the message in question.
    pub procedure_code: Option<u8>,
    /// Kind of the message in question.
    pub triggering_message: Option<Outcome>,
    /// Criticality of the procedure.
    pub procedure_criticality: Option<Criticality>,
    /// RICrequestID of the message in question.
    pub request: Option<RicRequestId>,
    /// The IEs in question, at most 256.
    pub ies: Vec<IeDiagnostics>,
}

impl Ie for IeDiagnostics {
    fn read(r: &mut Reader<'_>, _: Version) -> Result<IeDiagnostics, DecodeError> {
        let p = r.sequence(0)?;
        let criticality = read_criticality(r)?;
        let id = r.constrained(0, 65535)? as u16;
        let error = TypeOfError::decode(r)?;
        r.skip_additions(p)?;
        Ok(IeDiagnostics {
            criticality,
            id,
            error,
        })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        write_criticality(w, self.criticality);
        w.constrained(u64::from(self.id), 0, 65535)?;
        self.error.encode(w)
    }
}

impl Ie for CriticalityDiagnostics {
    fn read(r: &mut Reader<'_>, version: Version) -> Result<CriticalityDiagnostics, DecodeError> {
        let p = r.sequence(5)?;
        let procedure_code = p
            .has(0)
            .then(|| r.constrained(0, 255))
            .transpose()
            .at("procedureCode")?;
        let triggering_message = p
            .has(1)
            .then(|| Outcome::read(r))
            .transpose()
            .at("triggeringMessage")?;
        let procedure_criticality = p
            .has(2)
            .then(|| read_criticality(r))
            .transpose()
            .at("procedureCriticality")?;
        let request = p
            .has(3)
            .then(|| RicRequestId::read(r, version))
            .transpose()
            .at("ricRequestorID")?;
        let mut ies = Vec::new();
        if p.has(4) {
            // Extension bit, criticality, id and type of error, before any alignment.
            ies = r
                .sequence_of(1, 256, 21, |r| IeDiagnostics::read(r, version))
                .at("iEsCriticalityDiagnostics")?;
        }
        r.skip_additions(p)?;
        Ok(CriticalityDiagnostics {
            procedure_code: procedure_code.map(|code| code as u8),
            triggering_message,
            procedure_criticality,
            request,
            ies,
        })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Result<(), EncodeError> {
        w.sequence(
            false,
            &[
                self.procedure_code.is_some(),
                self.triggering_message.is_some(),
                self.procedure_criticality.is_some(),
                self.request.is_some(),
                !self.ies.is_empty(),
            ],
        );
        self.procedure_code
            .iter()
            .try_for_each(|code| w.constrained(u64::from(*code), 0, 255))?;
        if let Some(outcome) = self.triggering_message {
            w.bits(outcome as u64, 2);
        }
        if let Some(criticality) = self.procedure_criticality {
            write_criticality(w, criticality);
        }
        self.request
            .iter()
            .try_for_each(|request| request.write(w, version))?;
        if !self.ies.is_empty() {
            w.sequence_of(&self.ies, 1, 256, |w, ie| ie.write(w, version))
                .at("iEsCriticalityDiagnostics")?;
        }
        Ok(())
    }
}

/// What to tell a peer (ERROR INDICATION, or the failure of the procedure) whose octets gave `error`.
pub fn diagnose_error(octets: &[u8], error: &DecodeError) -> (Cause, CriticalityDiagnostics) {
    let header = header(octets).ok();
    let criticality = header.map(|header| header.criticality);
    let cause = match error.kind() {
        DecodeErrorKind::MissingIes(_) => ProtocolCause::AbstractSyntaxErrorReject,
        DecodeErrorKind::UnknownProcedure { .. } | DecodeErrorKind::UnknownAlternative(_) => {
            match criticality {
                Some(Criticality::Reject) => ProtocolCause::AbstractSyntaxErrorReject,
                _ => ProtocolCause::AbstractSyntaxErrorIgnoreAndNotify,
            }
        }
        _ => ProtocolCause::TransferSyntaxError,
    };
    let missing = match error.kind() {
        DecodeErrorKind::MissingIes(ids) => ids.as_slice(),
        _ => &[],
    };
    let ies = missing
        .iter()
        .map(|id| IeDiagnostics {
            criticality: Criticality::Reject,
            id: *id,
            error: TypeOfError::Missing,
        })
        .collect();
    let diagnostics = CriticalityDiagnostics {
        procedure_code: header.map(|header| header.procedure_code),
        triggering_message: header.map(|header| header.outcome),
        procedure_criticality: criticality,
        request: None,
        ies,
    };
    (Cause::Protocol(cause), diagnostics)
}

/// What to tell a peer whose message was decoded, but held IEs that were not understood and that it wants to
/// hear about. With `abstract-syntax-error-reject` the procedure must not be carried out.
pub fn diagnose_notes(
    pdu: &Pdu,
    version: Version,
    notes: &Notes,
) -> Option<(Cause, CriticalityDiagnostics)> {
    let ies: Vec<IeDiagnostics> = notes
        .unknown_ies
        .iter()
        .filter(|ie| ie.criticality != Criticality::Ignore)
        .map(|ie| IeDiagnostics {
            criticality: ie.criticality,
            id: ie.id,
            error: TypeOfError::NotUnderstood,
        })
        .collect();
    if ies.is_empty() {
        return None;
    }
    let cause = if ies.iter().any(|ie| ie.criticality == Criticality::Reject) {
        ProtocolCause::AbstractSyntaxErrorReject
    } else {
        ProtocolCause::AbstractSyntaxErrorIgnoreAndNotify
    };
    let header = pdu.header(version);
    let diagnostics = CriticalityDiagnostics {
        procedure_code: header.map(|header| header.procedure_code),
        triggering_message: header.map(|header| header.outcome),
        procedure_criticality: header.map(|header| header.criticality),
        request: pdu.request_id(),
        ies,
    };
    Some((Cause::Protocol(cause), diagnostics))
}
