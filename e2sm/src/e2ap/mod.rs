//! E2AP: the protocol between E2 nodes and the near-RT RIC (O-RAN.WG3.E2AP).
//!
//! Types follow v2.03; v1.01 and v3.01 differ in details that the codecs know, so every function takes the
//! [`Version`] spoken. FlexRIC's E42 messages ([`crate::e42`]) share the frame and are part of [`Pdu`].

mod action;
mod cause;
mod component;
pub(crate) mod container;
mod diagnostics;
mod function;
pub(crate) mod ids;
mod messages;
mod node;
mod pdu;
mod procedure;
mod types;
pub(crate) mod values;
mod version;

pub use action::{
    AdmittedAction, NotAdmittedAction, RicAction, RicActionType, RicSubscriptionDetails,
    RicSubsequentAction, RicSubsequentActionType, RicTimeToWait, SubscriptionToBeRemoved,
};
pub use cause::{
    Cause, E2NodeCause, MiscCause, ProtocolCause, RicRequestCause, RicServiceCause, TransportCause,
};
pub use component::{
    ComponentConfig, ComponentConfigAck, ComponentId, ComponentInterface, ComponentRemoval,
    E2Connection, E2ConnectionFailure, E2ConnectionRemoval, TnlAssociationRemoval, TnlInformation,
    TnlUsage, UpdateOutcome,
};
pub use diagnostics::{
    CriticalityDiagnostics, IeDiagnostics, TypeOfError, diagnose_error, diagnose_notes,
};
pub use function::{RanFunction, RanFunctionId, RejectedRanFunction};
pub use messages::*;
pub use node::{GlobalE2NodeId, GlobalRicId};
pub use pdu::{Header, Outcome, Pdu, decode, encode, header};
pub use types::{
    RicControlAckRequest, RicControlStatus, RicIndicationType, RicRequestId, TimeToWait,
    TransactionId,
};
pub use version::{Version, guess_version};

/// Payload protocol identifier of E2AP over SCTP (E2AP §7).
pub const SCTP_PPID: u32 = 70;

/// Port on which a near-RT RIC listens for E2 nodes.
pub const E2_PORT: u16 = 36421;

/// Port on which FlexRIC's near-RT RIC listens for xApps.
pub const E42_PORT: u16 = 36422;

/// Serializes optional octets as a string of hexadecimal digits.
#[cfg(feature = "serde")]
pub(crate) fn hex_option<S: serde::Serializer>(
    octets: &Option<Vec<u8>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match octets {
        Some(octets) => crate::common::hex(octets, serializer),
        None => serializer.serialize_none(),
    }
}
