//! Request ids, and the small types of indications and controls (E2AP §9.2.7, §9.2.14 to §9.2.19, §9.2.33).

use super::Version;
use super::container::Ie;
use crate::aper::{
    Alternative, DecodeError, EncodeError, EncodeErrorKind, Reader, Writer, enumerated,
};

type Read<T> = Result<T, DecodeError>;
type Written = Result<(), EncodeError>;

/// Transaction id: 0 to 255, more behind an extension marker. Not in v1.01, where it is 0 here.
pub type TransactionId = u32;

/// Implements [`Ie`] for types whose encoding is the same in every version.
macro_rules! same_in_every_version {
    ($($name:ident),+) => {$(
        impl Ie for $name {
            fn read(r: &mut Reader<'_>, _: Version) -> Read<$name> {
                $name::decode(r)
            }

            fn write(&self, w: &mut Writer, _: Version) -> Written {
                self.encode(w)
            }
        }
    )+};
}
pub(super) use same_in_every_version;

/// Who asked, and which of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RicRequestId {
    /// ricRequestorID.
    pub requestor: u16,
    /// ricInstanceID.
    pub instance: u16,
}

impl std::fmt::Display for RicRequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.requestor, self.instance)
    }
}

impl Ie for RicRequestId {
    fn read(r: &mut Reader<'_>, _: Version) -> Read<RicRequestId> {
        let p = r.sequence(0)?;
        let requestor = r.constrained(0, 65535)? as u16;
        let instance = r.constrained(0, 65535)? as u16;
        r.skip_additions(p)?;
        Ok(RicRequestId {
            requestor,
            instance,
        })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Written {
        w.sequence(false, &[]);
        w.constrained(u64::from(self.requestor), 0, 65535)?;
        w.constrained(u64::from(self.instance), 0, 65535)
    }
}

enumerated! {
    /// RICindicationType.
    RicIndicationType { Report = "report", Insert = "insert" }
}

enumerated! {
    /// RICcontrolStatus; only in v1.01.
    RicControlStatus { Success = "success", Rejected = "rejected", Failed = "failed" }
}

enumerated! {
    /// TimeToWait before a procedure may be tried again.
    TimeToWait { S1 = "v1s", S2 = "v2s", S5 = "v5s", S10 = "v10s", S20 = "v20s", S60 = "v60s" }
}

impl TimeToWait {
    /// The time in seconds, if it is known.
    pub fn seconds(self) -> Option<u32> {
        match self {
            TimeToWait::S1 => Some(1),
            TimeToWait::S2 => Some(2),
            TimeToWait::S5 => Some(5),
            TimeToWait::S10 => Some(10),
            TimeToWait::S20 => Some(20),
            TimeToWait::S60 => Some(60),
            TimeToWait::Unknown(_) => None,
        }
    }
}

same_in_every_version!(RicIndicationType, RicControlStatus, TimeToWait);

/// RICcontrolAckRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "camelCase")
)]
pub enum RicControlAckRequest {
    /// No acknowledge wanted. FlexRIC aborts on it.
    NoAck,
    /// Acknowledge wanted.
    Ack,
    /// Only a failure wanted; only in v1.01.
    NAck,
    /// The n-th value after the extension marker.
    Unknown(u32),
}

impl Ie for RicControlAckRequest {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<RicControlAckRequest> {
        match r.enumerated(if version == Version::V1_01 { 3 } else { 2 })? {
            Alternative::Root(0) => Ok(RicControlAckRequest::NoAck),
            Alternative::Root(1) => Ok(RicControlAckRequest::Ack),
            Alternative::Root(_) => Ok(RicControlAckRequest::NAck),
            Alternative::Addition(index) => {
                r.notes_mut().enumerated_values += 1;
                Ok(RicControlAckRequest::Unknown(index))
            }
        }
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        let root = if version == Version::V1_01 { 3 } else { 2 };
        match self {
            RicControlAckRequest::NoAck => w.enumerated(0, root),
            RicControlAckRequest::Ack => w.enumerated(1, root),
            RicControlAckRequest::NAck if root == 3 => w.enumerated(2, root),
            RicControlAckRequest::NAck => {
                Err(EncodeError::new(EncodeErrorKind::NotInVersion("nAck")))
            }
            RicControlAckRequest::Unknown(index) => w.enumerated_addition(*index),
        }
    }
}
