//! Identities of E2 nodes and of the near-RT RIC (E2AP §9.2.4 to §9.2.6).

use std::fmt;

use super::Version;
use super::container::Ie;
use crate::aper::{Alternative, DecodeError, EncodeError, EncodeErrorKind, Locate, Reader, Writer};
use crate::common::{
    EnbId, GlobalEnbId, GlobalGnbId, GlobalNgEnbId, GnbId, NgEnbId, Plmn, UnknownChoice,
};

/// Largest gNB-DU or gNB-CU-UP id: 36 bits.
const MAX_SPLIT_ID: u64 = (1 << 36) - 1;

/// Identity of an E2 node. Its text form is the name under which Cantor knows the node, such as
/// `gnb:001-01:00000e00/32` or `gnb:001-01:00000e00/32:du:7`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum GlobalE2NodeId {
    /// gNB, or a CU-UP or DU of one.
    Gnb {
        /// The gNB.
        gnb: GlobalGnbId,
        /// The same node as an en-gNB; not in v1.01.
        en_gnb: Option<GlobalGnbId>,
        /// gNB-CU-UP id, 36 bits.
        cu_up: Option<u64>,
        /// gNB-DU id, 36 bits.
        du: Option<u64>,
    },
    /// en-gNB, or a CU-UP or DU of one.
    EnGnb {
        /// The en-gNB.
        en_gnb: GlobalGnbId,
        /// en-gNB-CU-UP id, 36 bits.
        cu_up: Option<u64>,
        /// en-gNB-DU id, 36 bits.
        du: Option<u64>,
    },
    /// ng-eNB, or a DU of one.
    NgEnb {
        /// The ng-eNB.
        ng_enb: GlobalNgEnbId,
        /// The same node as an eNB; not in v1.01.
        enb: Option<GlobalEnbId>,
        /// ngENB-DU id, 36 bits; not in v1.01.
        du: Option<u64>,
    },
    /// eNB.
    Enb(GlobalEnbId),
    /// A kind of node that is not known here.
    Unknown(UnknownChoice),
}

impl Ie for GlobalE2NodeId {
    fn read(r: &mut Reader<'_>, version: Version) -> Result<GlobalE2NodeId, DecodeError> {
        match r.choice(4)? {
            Alternative::Root(0) => read_gnb(r, version).at("gNB"),
            Alternative::Root(1) => read_en_gnb(r).at("en-gNB"),
            Alternative::Root(2) => read_ng_enb(r, version).at("ng-eNB"),
            Alternative::Root(_) => {
                let p = r.sequence(0)?;
                let enb = GlobalEnbId::read(r).at("eNB")?;
                r.skip_additions(p)?;
                Ok(GlobalE2NodeId::Enb(enb))
            }
            Alternative::Addition(index) => {
                UnknownChoice::read(r, index).map(GlobalE2NodeId::Unknown)
            }
        }
    }

    fn write(&self, w: &mut Writer, version: Version) -> Result<(), EncodeError> {
        let v1 = version == Version::V1_01;
        match self {
            GlobalE2NodeId::Gnb {
                gnb,
                en_gnb,
                cu_up,
                du,
            } => {
                w.choice(0, 4)?;
                if v1 {
                    absent_in_v1(en_gnb.is_some(), "global-en-gNB-ID of a gNB")?;
                    w.sequence(false, &[cu_up.is_some(), du.is_some()]);
                } else {
                    w.sequence(false, &[en_gnb.is_some(), cu_up.is_some(), du.is_some()]);
                }
                gnb.write(w)?;
                en_gnb.iter().try_for_each(|id| id.write(w))?;
                write_split_ids(w, *cu_up, *du)
            }
            GlobalE2NodeId::EnGnb { en_gnb, cu_up, du } => {
                w.choice(1, 4)?;
                w.sequence(false, &[cu_up.is_some(), du.is_some()]);
                en_gnb.write(w)?;
                write_split_ids(w, *cu_up, *du)
            }
            GlobalE2NodeId::NgEnb { ng_enb, enb, du } => {
                w.choice(2, 4)?;
                if v1 {
                    absent_in_v1(
                        enb.is_some() || du.is_some(),
                        "global-eNB-ID or ngENB-DU-ID of an ng-eNB",
                    )?;
                    w.sequence(false, &[]);
                } else {
                    w.sequence(false, &[enb.is_some(), du.is_some()]);
                }
                ng_enb.write(w)?;
                enb.iter().try_for_each(|id| id.write(w))?;
                write_split_ids(w, None, *du)
            }
            GlobalE2NodeId::Enb(enb) => {
                w.choice(3, 4)?;
                w.sequence(false, &[]);
                enb.write(w)
            }
            GlobalE2NodeId::Unknown(unknown) => unknown.write(w),
        }
    }
}

fn absent_in_v1(present: bool, what: &'static str) -> Result<(), EncodeError> {
    if present {
        Err(EncodeError::new(EncodeErrorKind::NotInVersion(what)))
    } else {
        Ok(())
    }
}

fn read_gnb(r: &mut Reader<'_>, version: Version) -> Result<GlobalE2NodeId, DecodeError> {
    // v1.01 has no global-en-gNB-ID, so its presence bits begin one later.
    let v1 = version == Version::V1_01;
    let first_split = if v1 { 0 } else { 1 };
    let p = r.sequence(first_split + 2)?;
    let gnb = GlobalGnbId::read(r).at("global-gNB-ID")?;
    let en_gnb = (!v1 && p.has(0))
        .then(|| GlobalGnbId::read(r))
        .transpose()
        .at("global-en-gNB-ID")?;
    let cu_up = p
        .has(first_split)
        .then(|| r.constrained(0, MAX_SPLIT_ID))
        .transpose()
        .at("gNB-CU-UP-ID")?;
    let du = p
        .has(first_split + 1)
        .then(|| r.constrained(0, MAX_SPLIT_ID))
        .transpose()
        .at("gNB-DU-ID")?;
    r.skip_additions(p)?;
    Ok(GlobalE2NodeId::Gnb {
        gnb,
        en_gnb,
        cu_up,
        du,
    })
}

fn read_en_gnb(r: &mut Reader<'_>) -> Result<GlobalE2NodeId, DecodeError> {
    let p = r.sequence(2)?;
    let en_gnb = GlobalGnbId::read(r).at("global-en-gNB-ID")?;
    let cu_up = p
        .has(0)
        .then(|| r.constrained(0, MAX_SPLIT_ID))
        .transpose()
        .at("en-gNB-CU-UP-ID")?;
    let du = p
        .has(1)
        .then(|| r.constrained(0, MAX_SPLIT_ID))
        .transpose()
        .at("en-gNB-DU-ID")?;
    r.skip_additions(p)?;
    Ok(GlobalE2NodeId::EnGnb { en_gnb, cu_up, du })
}

fn read_ng_enb(r: &mut Reader<'_>, version: Version) -> Result<GlobalE2NodeId, DecodeError> {
    let p = r.sequence(if version == Version::V1_01 { 0 } else { 2 })?;
    let ng_enb = GlobalNgEnbId::read(r).at("global-ng-eNB-ID")?;
    let enb = p
        .has(0)
        .then(|| GlobalEnbId::read(r))
        .transpose()
        .at("global-eNB-ID")?;
    let du = p
        .has(1)
        .then(|| r.constrained(0, MAX_SPLIT_ID))
        .transpose()
        .at("ngENB-DU-ID")?;
    r.skip_additions(p)?;
    Ok(GlobalE2NodeId::NgEnb { ng_enb, enb, du })
}

fn write_split_ids(w: &mut Writer, cu_up: Option<u64>, du: Option<u64>) -> Result<(), EncodeError> {
    cu_up
        .iter()
        .try_for_each(|id| w.constrained(*id, 0, MAX_SPLIT_ID))
        .at("gNB-CU-UP-ID")?;
    du.iter()
        .try_for_each(|id| w.constrained(*id, 0, MAX_SPLIT_ID))
        .at("gNB-DU-ID")
}

impl fmt::Display for GlobalE2NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cu_up, du) = match self {
            GlobalE2NodeId::Gnb { gnb, cu_up, du, .. } => {
                fmt_gnb(f, "gnb", gnb)?;
                (*cu_up, *du)
            }
            GlobalE2NodeId::EnGnb { en_gnb, cu_up, du } => {
                fmt_gnb(f, "engnb", en_gnb)?;
                (*cu_up, *du)
            }
            GlobalE2NodeId::NgEnb { ng_enb, du, .. } => {
                match &ng_enb.enb {
                    NgEnbId::Macro(id) => fmt_id(f, "ngenb", ng_enb.plmn, *id, 20),
                    NgEnbId::ShortMacro(id) => fmt_id(f, "ngenb", ng_enb.plmn, *id, 18),
                    NgEnbId::LongMacro(id) => fmt_id(f, "ngenb", ng_enb.plmn, *id, 21),
                    NgEnbId::Unknown(unknown) => {
                        fmt_unknown(f, "ngenb", Some(ng_enb.plmn), unknown)
                    }
                }?;
                (None, *du)
            }
            GlobalE2NodeId::Enb(enb) => {
                match &enb.enb {
                    EnbId::Macro(id) => fmt_id(f, "enb", enb.plmn, *id, 20),
                    EnbId::Home(id) => fmt_id(f, "enb", enb.plmn, *id, 28),
                    EnbId::ShortMacro(id) => fmt_id(f, "enb", enb.plmn, *id, 18),
                    EnbId::LongMacro(id) => fmt_id(f, "enb", enb.plmn, *id, 21),
                    EnbId::Unknown(unknown) => fmt_unknown(f, "enb", Some(enb.plmn), unknown),
                }?;
                (None, None)
            }
            GlobalE2NodeId::Unknown(unknown) => return fmt_unknown(f, "node", None, unknown),
        };
        if let Some(cu_up) = cu_up {
            write!(f, ":cuup:{cu_up}")?;
        }
        if let Some(du) = du {
            write!(f, ":du:{du}")?;
        }
        Ok(())
    }
}

fn fmt_gnb(f: &mut fmt::Formatter<'_>, kind: &str, id: &GlobalGnbId) -> fmt::Result {
    match &id.gnb {
        GnbId::Bits { value, length } => fmt_id(f, kind, id.plmn, *value, usize::from(*length)),
        GnbId::Unknown(unknown) => fmt_unknown(f, kind, Some(id.plmn), unknown),
    }
}

fn fmt_id(f: &mut fmt::Formatter<'_>, kind: &str, plmn: Plmn, id: u32, bits: usize) -> fmt::Result {
    write!(
        f,
        "{kind}:{plmn}:{id:0digits$x}/{bits}",
        digits = bits.div_ceil(4)
    )
}

/// `?`, the number of the alternative, and its octets: enough to tell two nodes apart.
fn fmt_unknown(
    f: &mut fmt::Formatter<'_>,
    kind: &str,
    plmn: Option<Plmn>,
    unknown: &UnknownChoice,
) -> fmt::Result {
    write!(f, "{kind}:")?;
    if let Some(plmn) = plmn {
        write!(f, "{plmn}:")?;
    }
    write!(f, "?{}-", unknown.addition)?;
    unknown
        .contents
        .iter()
        .try_for_each(|octet| write!(f, "{octet:02x}"))
}

/// Identity of a near-RT RIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GlobalRicId {
    /// Network.
    pub plmn: Plmn,
    /// Near-RT RIC id, 20 bits.
    pub ric_id: u32,
}

impl Ie for GlobalRicId {
    fn read(r: &mut Reader<'_>, _: Version) -> Result<GlobalRicId, DecodeError> {
        let p = r.sequence(0)?;
        let plmn = Plmn(r.octet_array().at("pLMN-Identity")?);
        let ric_id = r.bit_field(20).at("ric-ID")? as u32;
        r.skip_additions(p)?;
        Ok(GlobalRicId { plmn, ric_id })
    }

    fn write(&self, w: &mut Writer, _: Version) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.octet_array(&self.plmn.0);
        w.bit_field(u64::from(self.ric_id), 20).at("ric-ID")
    }
}
