//! Causes (E2AP §9.2.1).

use std::fmt;

use super::Version;
use super::container::Ie;
use crate::aper::{
    Alternative, DecodeError, EncodeError, EncodeErrorKind, Locate, Reader, Writer, enumerated,
};
use crate::common::UnknownChoice;

enumerated! {
    /// Causes of the RIC request family.
    RicRequestCause {
        RanFunctionIdInvalid = "ran-function-id-invalid",
        ActionNotSupported = "action-not-supported",
        ExcessiveActions = "excessive-actions",
        DuplicateAction = "duplicate-action",
        DuplicateEventTrigger = "duplicate-event-trigger",
        FunctionResourceLimit = "function-resource-limit",
        RequestIdUnknown = "request-id-unknown",
        InconsistentActionSubsequentActionSequence = "inconsistent-action-subsequent-action-sequence",
        ControlMessageInvalid = "control-message-invalid",
        RicCallProcessIdInvalid = "ric-call-process-id-invalid",
        ControlTimerExpired = "control-timer-expired",
        ControlFailedToExecute = "control-failed-to-execute",
        SystemNotReady = "system-not-ready",
        Unspecified = "unspecified";
        SubscriptionEndTimeExpired = "ric-subscription-end-time-expired",
        SubscriptionEndTimeInvalid = "ric-subscription-end-time-invalid",
        DuplicateRicRequestId = "duplicate-ric-request-id",
        EventTriggerNotSupported = "eventTriggerNotSupported",
        RequestedInformationUnavailable = "requested-information-unavailable",
        InvalidInformationRequest = "invalid-information-request",
    }
}

enumerated! {
    /// Causes of the RIC service family. The first one is `function-not-required` in v1.01.
    RicServiceCause {
        RanFunctionNotSupported = "ran-function-not-supported",
        ExcessiveFunctions = "excessive-functions",
        RicResourceLimit = "ric-resource-limit",
    }
}

enumerated! {
    /// Causes that concern the E2 node; not in v1.01.
    E2NodeCause {
        ComponentUnknown = "e2node-component-unknown",
    }
}

enumerated! {
    /// Causes of the transport layer.
    TransportCause {
        Unspecified = "unspecified",
        TransportResourceUnavailable = "transport-resource-unavailable",
    }
}

enumerated! {
    /// Causes of the protocol.
    ProtocolCause {
        TransferSyntaxError = "transfer-syntax-error",
        AbstractSyntaxErrorReject = "abstract-syntax-error-reject",
        AbstractSyntaxErrorIgnoreAndNotify = "abstract-syntax-error-ignore-and-notify",
        MessageNotCompatibleWithReceiverState = "message-not-compatible-with-receiver-state",
        SemanticError = "semantic-error",
        AbstractSyntaxErrorFalselyConstructedMessage = "abstract-syntax-error-falsely-constructed-message",
        Unspecified = "unspecified",
    }
}

enumerated! {
    /// Other causes.
    MiscCause {
        ControlProcessingOverload = "control-processing-overload",
        HardwareFailure = "hardware-failure",
        OmIntervention = "om-intervention",
        Unspecified = "unspecified",
    }
}

/// Why something was refused, failed or ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "camelCase")
)]
pub enum Cause {
    /// RIC request.
    RicRequest(RicRequestCause),
    /// RIC service.
    RicService(RicServiceCause),
    /// E2 node; not in v1.01.
    #[cfg_attr(feature = "serde", serde(rename = "e2Node"))]
    E2Node(E2NodeCause),
    /// Transport.
    Transport(TransportCause),
    /// Protocol.
    Protocol(ProtocolCause),
    /// Anything else.
    Misc(MiscCause),
    /// A family that is not known here.
    Unknown(UnknownChoice),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::RicRequest(cause) => write!(f, "ricRequest: {cause}"),
            Cause::RicService(cause) => write!(f, "ricService: {cause}"),
            Cause::E2Node(cause) => write!(f, "e2Node: {cause}"),
            Cause::Transport(cause) => write!(f, "transport: {cause}"),
            Cause::Protocol(cause) => write!(f, "protocol: {cause}"),
            Cause::Misc(cause) => write!(f, "misc: {cause}"),
            Cause::Unknown(unknown) => write!(f, "unknown family {}", unknown.addition),
        }
    }
}

impl Ie for Cause {
    fn read(r: &mut Reader<'_>, version: Version) -> Result<Cause, DecodeError> {
        let v1 = version == Version::V1_01;
        let family = match r.choice(if v1 { 5 } else { 6 })? {
            Alternative::Root(index @ 2..) if v1 => index + 1,
            Alternative::Root(index) => index,
            Alternative::Addition(index) => {
                return UnknownChoice::read(r, index).map(Cause::Unknown);
            }
        };
        match family {
            0 if v1 => read_v1_request_cause(r)
                .map(Cause::RicRequest)
                .at("ricRequest"),
            0 => RicRequestCause::decode(r)
                .map(Cause::RicRequest)
                .at("ricRequest"),
            1 => RicServiceCause::decode(r)
                .map(Cause::RicService)
                .at("ricService"),
            2 => E2NodeCause::decode(r).map(Cause::E2Node).at("e2Node"),
            3 => TransportCause::decode(r)
                .map(Cause::Transport)
                .at("transport"),
            4 => ProtocolCause::decode(r).map(Cause::Protocol).at("protocol"),
            _ => MiscCause::decode(r).map(Cause::Misc).at("misc"),
        }
    }

    fn write(&self, w: &mut Writer, version: Version) -> Result<(), EncodeError> {
        let v1 = version == Version::V1_01;
        let family = match self {
            Cause::RicRequest(_) => 0,
            Cause::RicService(_) => 1,
            Cause::E2Node(_) if v1 => {
                return Err(EncodeError::new(EncodeErrorKind::NotInVersion(
                    "Cause.e2Node",
                )));
            }
            Cause::E2Node(_) => 2,
            Cause::Transport(_) => 3,
            Cause::Protocol(_) => 4,
            Cause::Misc(_) => 5,
            Cause::Unknown(unknown) => return unknown.write(w),
        };
        if v1 {
            w.choice(if family > 2 { family - 1 } else { family }, 5)?;
        } else {
            w.choice(family, 6)?;
        }
        match self {
            Cause::RicRequest(cause) if v1 => write_v1_request_cause(*cause, w),
            Cause::RicRequest(cause) => cause.encode(w),
            Cause::RicService(cause) => cause.encode(w),
            Cause::E2Node(cause) => cause.encode(w),
            Cause::Transport(cause) => cause.encode(w),
            Cause::Protocol(cause) => cause.encode(w),
            Cause::Misc(cause) => cause.encode(w),
            Cause::Unknown(_) => Ok(()),
        }
    }
}

/// v1.01 has the first ten root values, then `unspecified`.
const V1_ROOT: u32 = 11;

fn read_v1_request_cause(r: &mut Reader<'_>) -> Result<RicRequestCause, DecodeError> {
    let index = match r.enumerated(V1_ROOT)? {
        Alternative::Root(10) => return Ok(RicRequestCause::Unspecified),
        Alternative::Root(index) => index,
        Alternative::Addition(index) => {
            r.notes_mut().enumerated_values += 1;
            return Ok(RicRequestCause::Unknown(index));
        }
    };
    let known = RicRequestCause::ROOT.get(index as usize);
    known
        .copied()
        .ok_or_else(|| r.out_of_range(u64::from(index), 0, 10))
}

fn write_v1_request_cause(cause: RicRequestCause, w: &mut Writer) -> Result<(), EncodeError> {
    match (
        cause,
        RicRequestCause::ROOT.iter().position(|root| *root == cause),
    ) {
        (RicRequestCause::Unspecified, _) => w.enumerated(10, V1_ROOT),
        (_, Some(index @ 0..10)) => w.enumerated(index as u32, V1_ROOT),
        (RicRequestCause::Unknown(index), _) => w.enumerated_addition(index),
        _ => Err(EncodeError::new(EncodeErrorKind::NotInVersion(
            "this value of Cause.ricRequest",
        ))),
    }
}
