//! RAN functions (E2AP §9.2.8, §9.2.23, §9.2.24).

use super::container::Ie;
use super::{Cause, Version};
use crate::aper::{DecodeError, EncodeError, Locate, Reader, Writer};

type Read<T> = Result<T, DecodeError>;
type Written = Result<(), EncodeError>;

/// RANfunction-Item: a service model that a node offers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RanFunction {
    /// RANfunctionID, 0 to 4095.
    pub id: u16,
    /// RANfunctionDefinition, as the service model encodes it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::common::hex"))]
    pub definition: Vec<u8>,
    /// RANfunctionRevision, 0 to 4095.
    pub revision: u16,
    /// RANfunctionOID, 1 to 1000 characters. Optional in v1.01: empty if it is left out there.
    pub oid: String,
}

impl Ie for RanFunction {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<RanFunction> {
        let p = r.sequence(0)?;
        let id = r.constrained(0, 4095).at("ranFunctionID")? as u16;
        let definition = r.octet_string().at("ranFunctionDefinition")?.into_owned();
        let revision = r.constrained(0, 4095).at("ranFunctionRevision")? as u16;
        let mut oid = String::new();
        if version == Version::V1_01 {
            r.additions(p, |index, r| {
                if index == 0 {
                    oid = r.printable_string(1, 1000).at("ranFunctionOID")?;
                }
                Ok(index == 0)
            })?;
        } else {
            oid = r.printable_string(1, 1000).at("ranFunctionOID")?;
            r.skip_additions(p)?;
        }
        Ok(RanFunction {
            id,
            definition,
            revision,
            oid,
        })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        let added = version == Version::V1_01 && !self.oid.is_empty();
        w.sequence(added, &[]);
        w.constrained(u64::from(self.id), 0, 4095)
            .at("ranFunctionID")?;
        w.octet_string(&self.definition)?;
        w.constrained(u64::from(self.revision), 0, 4095)
            .at("ranFunctionRevision")?;
        let oid = |w: &mut Writer| w.printable_string(&self.oid, 1, 1000).at("ranFunctionOID");
        match version {
            Version::V1_01 if added => w.additions(&[Some(&oid)]),
            Version::V1_01 => Ok(()),
            _ => oid(w),
        }
    }
}

/// RANfunctionID-Item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RanFunctionId {
    /// RANfunctionID, 0 to 4095.
    pub id: u16,
    /// RANfunctionRevision, 0 to 4095.
    pub revision: u16,
}

impl Ie for RanFunctionId {
    fn read(r: &mut Reader<'_>, _: Version) -> Read<RanFunctionId> {
        let p = r.sequence(0)?;
        let id = r.constrained(0, 4095)? as u16;
        let revision = r.constrained(0, 4095)? as u16;
        r.skip_additions(p)?;
        Ok(RanFunctionId { id, revision })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Written {
        w.sequence(false, &[]);
        w.constrained(u64::from(self.id), 0, 4095)
            .at("ranFunctionID")?;
        w.constrained(u64::from(self.revision), 0, 4095)
            .at("ranFunctionRevision")
    }
}

/// RANfunctionIDcause-Item: a RAN function that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RejectedRanFunction {
    /// RANfunctionID, 0 to 4095.
    pub id: u16,
    /// Why not.
    pub cause: Cause,
}

impl Ie for RejectedRanFunction {
    fn read(r: &mut Reader<'_>, version: Version) -> Read<RejectedRanFunction> {
        let p = r.sequence(0)?;
        let id = r.constrained(0, 4095)? as u16;
        let cause = Cause::read(r, version).at("cause")?;
        r.skip_additions(p)?;
        Ok(RejectedRanFunction { id, cause })
    }

    fn write(&self, w: &mut Writer, version: Version) -> Written {
        w.sequence(false, &[]);
        w.constrained(u64::from(self.id), 0, 4095)
            .at("ranFunctionID")?;
        self.cause.write(w, version).at("cause")
    }
}
