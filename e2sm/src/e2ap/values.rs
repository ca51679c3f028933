//! Encodings that the message tables name: plain values, numbers, octets, and lists of single containers.

use super::Version;
use super::container::{Ie, read_ie, write_ie};
use crate::aper::{Criticality, DecodeError, EncodeError, Locate, Reader, Writer};

/// Any type with an encoding of its own.
pub(crate) struct Value;
pub(crate) const VALUE: Value = Value;

impl Value {
    pub(crate) fn read<T: Ie>(
        &self,
        r: &mut Reader<'_>,
        version: Version,
    ) -> Result<T, DecodeError> {
        T::read(r, version)
    }

    pub(crate) fn write<T: Ie>(
        &self,
        value: &T,
        w: &mut Writer,
        version: Version,
    ) -> Result<(), EncodeError> {
        value.write(w, version)
    }
}

/// INTEGER (0..255).
pub(crate) struct Number8;
pub(crate) const ACTION_ID: Number8 = Number8;

impl Number8 {
    pub(crate) fn read(&self, r: &mut Reader<'_>, _: Version) -> Result<u8, DecodeError> {
        Ok(r.constrained(0, 255)? as u8)
    }

    pub(crate) fn write(&self, value: &u8, w: &mut Writer, _: Version) -> Result<(), EncodeError> {
        w.constrained(u64::from(*value), 0, 255)
    }
}

/// INTEGER (0..hi), hi at most 65535.
pub(crate) struct Number16 {
    hi: u16,
}
pub(crate) const FUNCTION_ID: Number16 = Number16 { hi: 4095 };
pub(crate) const NUMBER16: Number16 = Number16 { hi: u16::MAX };

impl Number16 {
    pub(crate) fn read(&self, r: &mut Reader<'_>, _: Version) -> Result<u16, DecodeError> {
        Ok(r.constrained(0, u64::from(self.hi))? as u16)
    }

    pub(crate) fn write(&self, value: &u16, w: &mut Writer, _: Version) -> Result<(), EncodeError> {
        w.constrained(u64::from(*value), 0, u64::from(self.hi))
    }
}

/// TransactionID: INTEGER (0..255, ...). E2AP §9.2.33.
pub(crate) struct Transaction;
pub(crate) const TRANSACTION: Transaction = Transaction;

impl Transaction {
    pub(crate) fn read(&self, r: &mut Reader<'_>, _: Version) -> Result<u32, DecodeError> {
        let value = r.extensible(0, 255)?;
        u32::try_from(value).map_err(|_| r.out_of_range(value as u64, 0, u64::from(u32::MAX)))
    }

    pub(crate) fn write(&self, value: &u32, w: &mut Writer, _: Version) -> Result<(), EncodeError> {
        w.extensible(i64::from(*value), 0, 255)
    }
}

/// OCTET STRING.
pub(crate) struct Octets;
pub(crate) const OCTETS: Octets = Octets;

impl Octets {
    pub(crate) fn read(&self, r: &mut Reader<'_>, _: Version) -> Result<Vec<u8>, DecodeError> {
        Ok(r.octet_string()?.into_owned())
    }

    pub(crate) fn write(
        &self,
        value: &[u8],
        w: &mut Writer,
        _: Version,
    ) -> Result<(), EncodeError> {
        w.octet_string(value)
    }
}

/// SEQUENCE (SIZE(lo..hi)) OF ProtocolIE-SingleContainer: every item is one IE with the same id.
pub(crate) struct List {
    item: u16,
    name: &'static str,
    criticality: Criticality,
    /// Least length in v1.01, and from v2.03 on.
    least: (u64, u64),
    most: u64,
}

const fn list(item: u16, name: &'static str, criticality: Criticality, lo: u64, hi: u64) -> List {
    List {
        item,
        name,
        criticality,
        least: (lo, lo),
        most: hi,
    }
}

const fn functions(item: u16, name: &'static str) -> List {
    List {
        item,
        name,
        criticality: Criticality::Ignore,
        least: (0, 1),
        most: 256,
    }
}

use Criticality::{Ignore, Reject};
pub(crate) const FUNCTIONS: List = functions(8, "RANfunction-Item");
pub(crate) const FUNCTION_IDS: List = functions(6, "RANfunctionID-Item");
pub(crate) const FUNCTION_CAUSES: List = functions(7, "RANfunctionIDcause-Item");
pub(crate) const ACTIONS_TO_BE_SETUP: List = list(19, "RICaction-ToBeSetup-Item", Ignore, 1, 16);
pub(crate) const ACTIONS_ADMITTED: List = list(14, "RICaction-Admitted-Item", Ignore, 1, 16);
pub(crate) const ACTIONS_NOT_ADMITTED: List = list(16, "RICaction-NotAdmitted-Item", Ignore, 0, 16);
pub(crate) const SUBSCRIPTIONS: List = list(61, "RICsubscription-withCause-Item", Ignore, 1, 1024);
pub(crate) const ADDITIONS: List = list(51, "E2nodeComponentConfigAddition-Item", Reject, 1, 1024);
pub(crate) const UPDATES: List = list(34, "E2nodeComponentConfigUpdate-Item", Reject, 1, 1024);
pub(crate) const REMOVALS: List = list(55, "E2nodeComponentConfigRemoval-Item", Reject, 1, 1024);
pub(crate) const ADDITION_ACKS: List =
    list(53, "E2nodeComponentConfigAdditionAck-Item", Reject, 1, 1024);
pub(crate) const UPDATE_ACKS: List =
    list(36, "E2nodeComponentConfigUpdateAck-Item", Reject, 1, 1024);
pub(crate) const REMOVAL_ACKS: List =
    list(57, "E2nodeComponentConfigRemovalAck-Item", Reject, 1, 1024);
pub(crate) const TNL_REMOVALS: List = list(59, "E2nodeTNLassociationRemoval-Item", Reject, 1, 32);
pub(crate) const CONNECTIONS: List = list(43, "E2connectionUpdate-Item", Ignore, 1, 32);
pub(crate) const CONNECTION_REMOVALS: List =
    list(47, "E2connectionUpdateRemove-Item", Ignore, 1, 32);
pub(crate) const CONNECTION_FAILURES: List =
    list(41, "E2connectionSetupFailed-Item", Ignore, 1, 32);

impl List {
    fn least(&self, version: Version) -> u64 {
        if version == Version::V1_01 {
            self.least.0
        } else {
            self.least.1
        }
    }

    /// Items with another id are skipped and noted like unknown IEs.
    pub(crate) fn read<T: Ie>(
        &self,
        r: &mut Reader<'_>,
        version: Version,
    ) -> Result<Vec<T>, DecodeError> {
        let items = r.sequence_of(self.least(version), self.most, 32, |r| {
            read_ie(r, |id, r| {
                if id == self.item {
                    T::read(r, version).map(Some)
                } else {
                    Ok(None)
                }
            })
            .at(self.name)
        })?;
        Ok(items.into_iter().flatten().collect())
    }

    pub(crate) fn write<T: Ie>(
        &self,
        items: &[T],
        w: &mut Writer,
        version: Version,
    ) -> Result<(), EncodeError> {
        w.sequence_of(items, self.least(version), self.most, |w, item| {
            write_ie(w, self.item, self.criticality, |w| item.write(w, version)).at(self.name)
        })
    }
}
