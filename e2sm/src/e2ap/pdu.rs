//! E2AP-PDU (E2AP §9.3.3): the frame around every message.

use super::container::{read_criticality, write_criticality};
use super::messages::*;
use super::procedure::{self, Procedure};
use super::{RicRequestId, Version};
use crate::aper::{
    Alternative, Criticality, DecodeError, DecodeErrorKind, Decoded, EncodeError, EncodeErrorKind,
    Locate, Reader, Writer,
};
use crate::e42::{
    E42ControlRequest, E42SetupRequest, E42SetupResponse, E42SubscriptionDeleteRequest,
    E42SubscriptionRequest,
};

/// Which message of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "kebab-case")
)]
pub enum Outcome {
    /// The one that begins it.
    InitiatingMessage,
    /// The answer when it went well.
    SuccessfulOutcome,
    /// The answer when it did not.
    UnsuccessfulOutcome,
}

impl Outcome {
    /// TriggeringMessage, which has no extension marker.
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Outcome, DecodeError> {
        match r.constrained(0, 2)? {
            0 => Ok(Outcome::InitiatingMessage),
            1 => Ok(Outcome::SuccessfulOutcome),
            _ => Ok(Outcome::UnsuccessfulOutcome),
        }
    }
}

/// The frame of a PDU without its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which message of the procedure.
    pub outcome: Outcome,
    /// Which procedure.
    pub procedure_code: u8,
    /// What to do if the procedure is not known.
    pub criticality: Criticality,
}

/// Lists every message with its procedure and its place in it.
macro_rules! pdus {
    ($($variant:ident($message:ident) = $name:literal $outcome:ident $procedure:ident;)*) => {
        /// Any message of E2AP, or of E42.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub enum Pdu {
            $(#[doc = concat!("`", $name, "`")]
            #[cfg_attr(feature = "serde", serde(rename = $name))]
            $variant($message),)*
        }

        impl Pdu {
            /// The name of the message in E2AP's ASN.1.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Pdu::$variant(_) => $name,)*
                }
            }

            fn place(&self) -> (Outcome, &'static Procedure) {
                match self {
                    $(Pdu::$variant(_) => (Outcome::$outcome, &procedure::$procedure),)*
                }
            }

            fn read_message(header: Header, r: &mut Reader<'_>, version: Version) -> Result<Pdu, DecodeError> {
                let place = (header.outcome, Some(header.procedure_code));
                $(if place == (Outcome::$outcome, procedure::$procedure.code(version)) {
                    return in_sequence(r, |r| $message::read_ies(r, version).map(Pdu::$variant)).at($name);
                })*
                Err(r.error(DecodeErrorKind::UnknownProcedure { code: header.procedure_code }))
            }

            fn write_message(&self, w: &mut Writer, version: Version) -> Result<(), EncodeError> {
                w.sequence(false, &[]);
                match self {
                    $(Pdu::$variant(message) => message.write_ies(w, version),)*
                }
                .at(self.name())
            }
        }
    };
}

pdus! {
    RicIndication(RicIndication) = "RICindication" InitiatingMessage RIC_INDICATION;
    RicSubscriptionRequest(RicSubscriptionRequest) = "RICsubscriptionRequest" InitiatingMessage RIC_SUBSCRIPTION;
    RicSubscriptionResponse(RicSubscriptionResponse) = "RICsubscriptionResponse" SuccessfulOutcome RIC_SUBSCRIPTION;
    RicSubscriptionFailure(RicSubscriptionFailure) = "RICsubscriptionFailure" UnsuccessfulOutcome RIC_SUBSCRIPTION;
    RicSubscriptionDeleteRequest(RicSubscriptionDeleteRequest) = "RICsubscriptionDeleteRequest" InitiatingMessage RIC_SUBSCRIPTION_DELETE;
    RicSubscriptionDeleteResponse(RicSubscriptionDeleteResponse) = "RICsubscriptionDeleteResponse" SuccessfulOutcome RIC_SUBSCRIPTION_DELETE;
    RicSubscriptionDeleteFailure(RicSubscriptionDeleteFailure) = "RICsubscriptionDeleteFailure" UnsuccessfulOutcome RIC_SUBSCRIPTION_DELETE;
    RicSubscriptionDeleteRequired(RicSubscriptionDeleteRequired) = "RICsubscriptionDeleteRequired" InitiatingMessage RIC_SUBSCRIPTION_DELETE_REQUIRED;
    RicControlRequest(RicControlRequest) = "RICcontrolRequest" InitiatingMessage RIC_CONTROL;
    RicControlAcknowledge(RicControlAcknowledge) = "RICcontrolAcknowledge" SuccessfulOutcome RIC_CONTROL;
    RicControlFailure(RicControlFailure) = "RICcontrolFailure" UnsuccessfulOutcome RIC_CONTROL;
    E2SetupRequest(E2SetupRequest) = "E2setupRequest" InitiatingMessage E2_SETUP;
    E2SetupResponse(E2SetupResponse) = "E2setupResponse" SuccessfulOutcome E2_SETUP;
    E2SetupFailure(E2SetupFailure) = "E2setupFailure" UnsuccessfulOutcome E2_SETUP;
    ErrorIndication(ErrorIndication) = "ErrorIndication" InitiatingMessage ERROR_INDICATION;
    ResetRequest(ResetRequest) = "ResetRequest" InitiatingMessage RESET;
    ResetResponse(ResetResponse) = "ResetResponse" SuccessfulOutcome RESET;
    RicServiceUpdate(RicServiceUpdate) = "RICserviceUpdate" InitiatingMessage RIC_SERVICE_UPDATE;
    RicServiceUpdateAcknowledge(RicServiceUpdateAcknowledge) = "RICserviceUpdateAcknowledge" SuccessfulOutcome RIC_SERVICE_UPDATE;
    RicServiceUpdateFailure(RicServiceUpdateFailure) = "RICserviceUpdateFailure" UnsuccessfulOutcome RIC_SERVICE_UPDATE;
    RicServiceQuery(RicServiceQuery) = "RICserviceQuery" InitiatingMessage RIC_SERVICE_QUERY;
    E2NodeConfigurationUpdate(E2NodeConfigurationUpdate) = "E2nodeConfigurationUpdate" InitiatingMessage E2_NODE_CONFIGURATION_UPDATE;
    E2NodeConfigurationUpdateAcknowledge(E2NodeConfigurationUpdateAcknowledge) = "E2nodeConfigurationUpdateAcknowledge" SuccessfulOutcome E2_NODE_CONFIGURATION_UPDATE;
    E2NodeConfigurationUpdateFailure(E2NodeConfigurationUpdateFailure) = "E2nodeConfigurationUpdateFailure" UnsuccessfulOutcome E2_NODE_CONFIGURATION_UPDATE;
    E2ConnectionUpdate(E2ConnectionUpdate) = "E2connectionUpdate" InitiatingMessage E2_CONNECTION_UPDATE;
    E2ConnectionUpdateAcknowledge(E2ConnectionUpdateAcknowledge) = "E2connectionUpdateAcknowledge" SuccessfulOutcome E2_CONNECTION_UPDATE;
    E2ConnectionUpdateFailure(E2ConnectionUpdateFailure) = "E2connectionUpdateFailure" UnsuccessfulOutcome E2_CONNECTION_UPDATE;
    E2RemovalRequest(E2RemovalRequest) = "E2RemovalRequest" InitiatingMessage E2_REMOVAL;
    E2RemovalResponse(E2RemovalResponse) = "E2RemovalResponse" SuccessfulOutcome E2_REMOVAL;
    E2RemovalFailure(E2RemovalFailure) = "E2RemovalFailure" UnsuccessfulOutcome E2_REMOVAL;
    E42SetupRequest(E42SetupRequest) = "E42setupRequest" InitiatingMessage E42_SETUP;
    E42SetupResponse(E42SetupResponse) = "E42setupResponse" SuccessfulOutcome E42_SETUP;
    E42SetupFailure(E2SetupFailure) = "E42setupFailure" UnsuccessfulOutcome E42_SETUP;
    E42SubscriptionRequest(E42SubscriptionRequest) = "E42RICsubscriptionRequest" InitiatingMessage E42_SUBSCRIPTION;
    E42SubscriptionDeleteRequest(E42SubscriptionDeleteRequest) = "E42RICsubscriptionDeleteRequest" InitiatingMessage E42_SUBSCRIPTION_DELETE;
    E42ControlRequest(E42ControlRequest) = "E42RICcontrolRequest" InitiatingMessage E42_CONTROL;
}

/// Every message is a SEQUENCE of one container, with an extension marker.
fn in_sequence(
    r: &mut Reader<'_>,
    read: impl FnOnce(&mut Reader<'_>) -> Result<Pdu, DecodeError>,
) -> Result<Pdu, DecodeError> {
    let p = r.sequence(0)?;
    let pdu = read(r)?;
    r.skip_additions(p)?;
    Ok(pdu)
}

impl Pdu {
    /// The frame in which this version sends the message; `None` if it does not have it.
    pub fn header(&self, version: Version) -> Option<Header> {
        let (outcome, procedure) = self.place();
        let procedure_code = procedure.code(version)?;
        Some(Header {
            outcome,
            procedure_code,
            criticality: procedure.criticality,
        })
    }

    /// RICrequestID of the messages that carry one.
    pub fn request_id(&self) -> Option<RicRequestId> {
        match self {
            Pdu::RicIndication(m) => Some(m.request),
            Pdu::RicSubscriptionRequest(m) => Some(m.request),
            Pdu::RicSubscriptionResponse(m) => Some(m.request),
            Pdu::RicSubscriptionFailure(m) => Some(m.request),
            Pdu::RicSubscriptionDeleteRequest(m) => Some(m.request),
            Pdu::RicSubscriptionDeleteResponse(m) => Some(m.request),
            Pdu::RicSubscriptionDeleteFailure(m) => Some(m.request),
            Pdu::RicControlRequest(m) => Some(m.request),
            Pdu::RicControlAcknowledge(m) => Some(m.request),
            Pdu::RicControlFailure(m) => Some(m.request),
            Pdu::ErrorIndication(m) => m.request,
            Pdu::E42SubscriptionRequest(m) => Some(m.request),
            Pdu::E42SubscriptionDeleteRequest(m) => Some(m.request),
            Pdu::E42ControlRequest(m) => Some(m.request),
            _ => None,
        }
    }
}

fn read_header(r: &mut Reader<'_>) -> Result<Header, DecodeError> {
    let outcome = match r.choice(3)? {
        Alternative::Root(0) => Outcome::InitiatingMessage,
        Alternative::Root(1) => Outcome::SuccessfulOutcome,
        Alternative::Root(_) => Outcome::UnsuccessfulOutcome,
        Alternative::Addition(index) => {
            return Err(r.error(DecodeErrorKind::UnknownAlternative(index)));
        }
    };
    let procedure_code = r.constrained(0, 255).at("procedureCode")? as u8;
    let criticality = read_criticality(r).at("criticality")?;
    Ok(Header {
        outcome,
        procedure_code,
        criticality,
    })
}

/// Reads the frame only: enough to answer a peer whose message cannot be decoded.
pub fn header(octets: &[u8]) -> Result<Header, DecodeError> {
    read_header(&mut Reader::new(octets))
}

/// Decodes a PDU. IEs may come in any order; what is not known is skipped and listed in the notes. Mandatory IEs
/// that are missing are an error of the kind [`DecodeErrorKind::MissingIes`]; see [`super::diagnose_error`].
///
/// ```
/// use e2sm::e2ap::{decode, Pdu, Version};
/// let octets = [0x20, 0x09, 0, 0x12, 0, 0, 2, 0, 0x1d, 0, 5, 0, 0x03, 0xfd, 0, 0, 0, 5, 0, 2, 0, 2];
/// let decoded = decode(&octets, Version::V2_03)?;
/// let Pdu::RicSubscriptionDeleteResponse(response) = decoded.value else { panic!() };
/// assert_eq!((response.request.requestor, response.ran_function), (1021, 2));
/// assert_eq!(decoded.notes.skipped(), 0);
/// # Ok::<(), e2sm::aper::DecodeError>(())
/// ```
pub fn decode(octets: &[u8], version: Version) -> Result<Decoded<Pdu>, DecodeError> {
    let mut r = Reader::new(octets);
    let header = read_header(&mut r)?;
    let value = r.open_type(|r| Pdu::read_message(header, r, version))?;
    Ok(Decoded {
        value,
        notes: r.finish(),
    })
}

/// Encodes a PDU, IEs in the order of the specification.
pub fn encode(pdu: &Pdu, version: Version) -> Result<Vec<u8>, EncodeError> {
    let (outcome, procedure) = pdu.place();
    let code = procedure
        .code(version)
        .ok_or_else(|| EncodeError::new(EncodeErrorKind::NotInVersion(pdu.name())))?;
    let mut w = Writer::new();
    w.choice(outcome as u32, 3)?;
    w.constrained(u64::from(code), 0, 255)?;
    write_criticality(&mut w, procedure.criticality);
    w.open_type(|w| pdu.write_message(w, version))?;
    Ok(w.finish())
}
