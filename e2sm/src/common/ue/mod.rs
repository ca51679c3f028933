//! UE identities (E2SM clause 6.2.2.6): which fields a node gives depends on what kind of node it is.

mod lte;
mod nr;

pub use lte::{EnGnbUeId, EnbUeId, NgEnbDuUeId, NgEnbUeId};
pub use nr::{CellRnti, GnbCuUpUeId, GnbDuUeId, GnbUeId};

use super::UnknownChoice;
use crate::aper::{Alternative, DecodeError, EncodeError, Locate, Reader, Writer};

const U32: u64 = u32::MAX as u64;
/// AMF UE NGAP ID: INTEGER (0..2⁴⁰-1), TS 38.413 clause 9.3.3.1.
const AMF_UE_NGAP_ID_MAX: u64 = (1 << 40) - 1;

/// RAN UE ID: 8 octets by which the parts of a split gNB know one UE (RAN UE ID of TS 38.473 and TS 37.483).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RanUeId(pub [u8; 8]);

impl RanUeId {
    /// The octets as a number, the first being the most significant, as the standard counts.
    pub const fn to_u64(self) -> u64 {
        u64::from_be_bytes(self.0)
    }

    /// The number that OAI and FlexRIC mean: they copy it as it lies in memory, least significant octet first.
    pub const fn to_u64_flexric(self) -> u64 {
        u64::from_le_bytes(self.0)
    }
}

impl std::fmt::Debug for RanUeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RanUeId({:016x})", self.to_u64())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for RanUeId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::common::hex(self.0, serializer)
    }
}

/// UEID: how a node names a UE. Seven kinds of node, seven sets of ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum UeId {
    /// From a gNB or a CU(-CP).
    Gnb(GnbUeId),
    /// From a gNB-DU.
    GnbDu(GnbDuUeId),
    /// From a gNB-CU-UP.
    GnbCuUp(GnbCuUpUeId),
    /// From an ng-eNB.
    NgEnb(NgEnbUeId),
    /// From an ng-eNB-DU.
    NgEnbDu(NgEnbDuUeId),
    /// From an en-gNB.
    EnGnb(EnGnbUeId),
    /// From an eNB.
    Enb(EnbUeId),
    /// From a kind of node that a later version added.
    Unknown(UnknownChoice),
}

impl UeId {
    /// AMF UE NGAP ID, where the node has one.
    pub fn amf_ue_ngap_id(&self) -> Option<u64> {
        match self {
            Self::Gnb(ue) => Some(ue.amf_ue_ngap_id),
            Self::NgEnb(ue) => Some(ue.amf_ue_ngap_id),
            _ => None,
        }
    }

    /// RAN UE ID, where the node gives one.
    pub fn ran_ue_id(&self) -> Option<RanUeId> {
        match self {
            Self::Gnb(ue) => ue.ran_ue_id,
            Self::GnbDu(ue) => ue.ran_ue_id,
            Self::GnbCuUp(ue) => ue.ran_ue_id,
            Self::EnGnb(ue) => ue.ran_ue_id,
            _ => None,
        }
    }

    /// The (first) gNB-CU UE F1AP ID: the key between a CU and its DU.
    pub fn f1ap_id(&self) -> Option<u32> {
        match self {
            Self::Gnb(ue) => ue.f1ap_ids.first().copied(),
            Self::GnbDu(ue) => Some(ue.f1ap_id),
            Self::EnGnb(ue) => ue.f1ap_id,
            _ => None,
        }
    }

    /// The (first) gNB-CU-CP UE E1AP ID: the key between a CU-CP and its CU-UP.
    pub fn e1ap_id(&self) -> Option<u32> {
        match self {
            Self::Gnb(ue) => ue.e1ap_ids.first().copied(),
            Self::GnbCuUp(ue) => Some(ue.e1ap_id),
            Self::EnGnb(ue) => ue.e1ap_ids.first().copied(),
            _ => None,
        }
    }

    /// Cell and C-RNTI, from nodes of E2SM v5 on.
    pub fn cell_rnti(&self) -> Option<&CellRnti> {
        match self {
            Self::Gnb(ue) => ue.cell_rnti.as_ref(),
            Self::GnbDu(ue) => ue.cell_rnti.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.choice(7)? {
            Alternative::Root(0) => Self::Gnb(GnbUeId::read(r).at("gNB-UEID")?),
            Alternative::Root(1) => Self::GnbDu(GnbDuUeId::read(r).at("gNB-DU-UEID")?),
            Alternative::Root(2) => Self::GnbCuUp(GnbCuUpUeId::read(r).at("gNB-CU-UP-UEID")?),
            Alternative::Root(3) => Self::NgEnb(NgEnbUeId::read(r).at("ng-eNB-UEID")?),
            Alternative::Root(4) => Self::NgEnbDu(NgEnbDuUeId::read(r).at("ng-eNB-DU-UEID")?),
            Alternative::Root(5) => Self::EnGnb(EnGnbUeId::read(r).at("en-gNB-UEID")?),
            Alternative::Root(_) => Self::Enb(EnbUeId::read(r).at("eNB-UEID")?),
            Alternative::Addition(n) => Self::Unknown(UnknownChoice::read(r, n)?),
        })
    }

    pub(crate) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        let index = match self {
            Self::Gnb(_) => 0,
            Self::GnbDu(_) => 1,
            Self::GnbCuUp(_) => 2,
            Self::NgEnb(_) => 3,
            Self::NgEnbDu(_) => 4,
            Self::EnGnb(_) => 5,
            Self::Enb(_) => 6,
            Self::Unknown(unknown) => return unknown.write(w),
        };
        w.choice(index, 7)?;
        match self {
            Self::Gnb(ue) => ue.write(w).at("gNB-UEID"),
            Self::GnbDu(ue) => ue.write(w).at("gNB-DU-UEID"),
            Self::GnbCuUp(ue) => ue.write(w).at("gNB-CU-UP-UEID"),
            Self::NgEnb(ue) => ue.write(w).at("ng-eNB-UEID"),
            Self::NgEnbDu(ue) => ue.write(w).at("ng-eNB-DU-UEID"),
            Self::EnGnb(ue) => ue.write(w).at("en-gNB-UEID"),
            Self::Enb(ue) => ue.write(w).at("eNB-UEID"),
            Self::Unknown(_) => Ok(()),
        }
    }
}

fn read_u32(r: &mut Reader<'_>) -> Result<u32, DecodeError> {
    Ok(r.constrained(0, U32)? as u32)
}

fn write_u32(w: &mut Writer, value: u32) -> Result<(), EncodeError> {
    w.constrained(u64::from(value), 0, U32)
}

/// Items of the F1AP and E1AP lists: SEQUENCE of one id.
fn read_ids(r: &mut Reader<'_>, most: u64) -> Result<Vec<u32>, DecodeError> {
    r.sequence_of(1, most, 11, |r| {
        let p = r.sequence(0)?;
        let id = read_u32(r)?;
        r.skip_additions(p)?;
        Ok(id)
    })
}

fn write_ids(w: &mut Writer, ids: &[u32], most: u64) -> Result<(), EncodeError> {
    w.sequence_of(ids, 1, most, |w, id| {
        w.sequence(false, &[]);
        write_u32(w, *id)
    })
}

fn write_option(w: &mut Writer, value: Option<u32>) -> Result<(), EncodeError> {
    value.map_or(Ok(()), |v| write_u32(w, v))
}
