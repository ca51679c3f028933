//! UE identities (E2SM clause 6.2.2.6): which fields a node gives depends on what kind of node it is.

use super::{
    Cgi, GlobalEnbId, GlobalGnbId, GlobalNgEnbId, GlobalNgRanNodeId, Guami, Gummei, UnknownChoice,
    read_late_addition,
};
use crate::aper::{Addition, Alternative, DecodeError, EncodeError, Locate, Reader, Writer};

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
        super::hex(self.0, serializer)
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

/// Cell and C-RNTI of a UE, from E2SM v5 on: the key that MAC and RLC reports use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CellRnti {
    /// C-RNTI.
    pub c_rnti: u16,
    /// The cell in which it holds.
    pub cell: Cgi,
}

/// UE of a gNB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GnbUeId {
    /// AMF UE NGAP ID, 40 bits.
    pub amf_ue_ngap_id: u64,
    /// The AMF that gave it.
    pub guami: Guami,
    /// gNB-CU UE F1AP IDs, at most 4; empty if the node is not split.
    pub f1ap_ids: Vec<u32>,
    /// gNB-CU-CP UE E1AP IDs.
    pub e1ap_ids: Vec<u32>,
    /// RAN UE ID.
    pub ran_ue_id: Option<RanUeId>,
    /// M-NG-RAN node UE XnAP ID (dual connectivity).
    pub xnap_id: Option<u32>,
    /// The gNB, for dual connectivity.
    pub global_gnb_id: Option<GlobalGnbId>,
    /// The NG-RAN node, for dual connectivity (extension addition).
    pub global_ng_ran_node_id: Option<GlobalNgRanNodeId>,
    /// Cell and C-RNTI (extension addition of E2SM v5).
    pub cell_rnti: Option<CellRnti>,
}

/// UE of a gNB-DU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GnbDuUeId {
    /// gNB-CU UE F1AP ID.
    pub f1ap_id: u32,
    /// RAN UE ID.
    pub ran_ue_id: Option<RanUeId>,
    /// Cell and C-RNTI (extension addition of E2SM v5).
    pub cell_rnti: Option<CellRnti>,
}

/// UE of a gNB-CU-UP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GnbCuUpUeId {
    /// gNB-CU-CP UE E1AP ID.
    pub e1ap_id: u32,
    /// RAN UE ID.
    pub ran_ue_id: Option<RanUeId>,
}

/// UE of an ng-eNB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NgEnbUeId {
    /// AMF UE NGAP ID, 40 bits.
    pub amf_ue_ngap_id: u64,
    /// The AMF that gave it.
    pub guami: Guami,
    /// ng-eNB-CU UE W1AP ID.
    pub w1ap_id: Option<u32>,
    /// M-NG-RAN node UE XnAP ID (dual connectivity).
    pub xnap_id: Option<u32>,
    /// The ng-eNB, for dual connectivity.
    pub global_ng_enb_id: Option<GlobalNgEnbId>,
    /// The NG-RAN node, for dual connectivity (extension addition).
    pub global_ng_ran_node_id: Option<GlobalNgRanNodeId>,
}

/// UE of an ng-eNB-DU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NgEnbDuUeId {
    /// ng-eNB-CU UE W1AP ID.
    pub w1ap_id: u32,
}

/// UE of an en-gNB (E-UTRA-NR dual connectivity).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EnGnbUeId {
    /// MeNB UE X2AP ID, 0 to 4095.
    pub x2ap_id: u16,
    /// Its extension.
    pub x2ap_id_extension: Option<i64>,
    /// The master eNB.
    pub global_enb_id: GlobalEnbId,
    /// gNB-CU UE F1AP ID.
    pub f1ap_id: Option<u32>,
    /// gNB-CU-CP UE E1AP IDs.
    pub e1ap_ids: Vec<u32>,
    /// RAN UE ID.
    pub ran_ue_id: Option<RanUeId>,
}

/// UE of an eNB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EnbUeId {
    /// MME UE S1AP ID.
    pub mme_ue_s1ap_id: u32,
    /// The MME that gave it.
    pub gummei: Gummei,
    /// MeNB UE X2AP ID, 0 to 4095.
    pub x2ap_id: Option<u16>,
    /// Its extension.
    pub x2ap_id_extension: Option<i64>,
    /// The master eNB.
    pub global_enb_id: Option<GlobalEnbId>,
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

impl CellRnti {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let c_rnti = r.constrained(0, 65535).at("c-RNTI")? as u16;
        let cell = Cgi::read(r).at("cell-Global-ID")?;
        r.skip_additions(p)?;
        Ok(Self { c_rnti, cell })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.constrained(u64::from(self.c_rnti), 0, 65535)?;
        self.cell.write(w)
    }
}

impl GnbUeId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(5)?;
        let mut ue = Self {
            amf_ue_ngap_id: r.constrained(0, AMF_UE_NGAP_ID_MAX).at("amf-UE-NGAP-ID")?,
            guami: Guami::read(r).at("guami")?,
            ..Self::default()
        };
        if p.has(0) {
            ue.f1ap_ids = read_ids(r, 4).at("gNB-CU-UE-F1AP-ID-List")?;
        }
        if p.has(1) {
            ue.e1ap_ids = read_ids(r, 65535).at("gNB-CU-CP-UE-E1AP-ID-List")?;
        }
        if p.has(2) {
            ue.ran_ue_id = Some(RanUeId(r.octet_array().at("ran-UEID")?));
        }
        if p.has(3) {
            ue.xnap_id = Some(read_u32(r).at("m-NG-RAN-UE-XnAP-ID")?);
        }
        if p.has(4) {
            ue.global_gnb_id = Some(GlobalGnbId::read(r).at("globalGNB-ID")?);
        }
        r.additions(p, |index, r| {
            match index {
                0 => ue.global_ng_ran_node_id = Some(GlobalNgRanNodeId::read(r)?),
                1 => {
                    ue.cell_rnti = read_late_addition(r, CellRnti::read);
                    return Ok(ue.cell_rnti.is_some());
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(ue)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        let node = self.global_ng_ran_node_id.as_ref();
        let node = node.map(|node| move |w: &mut Writer| node.write(w));
        let rnti = self.cell_rnti.as_ref();
        let rnti = rnti.map(|rnti| move |w: &mut Writer| rnti.write(w));
        w.sequence(
            node.is_some() || rnti.is_some(),
            &[
                !self.f1ap_ids.is_empty(),
                !self.e1ap_ids.is_empty(),
                self.ran_ue_id.is_some(),
                self.xnap_id.is_some(),
                self.global_gnb_id.is_some(),
            ],
        );
        w.constrained(self.amf_ue_ngap_id, 0, AMF_UE_NGAP_ID_MAX)
            .at("amf-UE-NGAP-ID")?;
        self.guami.write(w).at("guami")?;
        if !self.f1ap_ids.is_empty() {
            write_ids(w, &self.f1ap_ids, 4).at("gNB-CU-UE-F1AP-ID-List")?;
        }
        if !self.e1ap_ids.is_empty() {
            write_ids(w, &self.e1ap_ids, 65535).at("gNB-CU-CP-UE-E1AP-ID-List")?;
        }
        if let Some(id) = self.ran_ue_id {
            w.octet_array(&id.0);
        }
        write_option(w, self.xnap_id)?;
        if let Some(id) = &self.global_gnb_id {
            id.write(w).at("globalGNB-ID")?;
        }
        let node = node.as_ref().map(|write| write as Addition<'_>);
        match &rnti {
            Some(write) => w.additions(&[node, Some(write)]),
            // As nodes before E2SM v5 encode: they know one addition.
            None if node.is_some() => w.additions(&[node]),
            None => Ok(()),
        }
    }
}

impl GnbDuUeId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let mut ue = Self {
            f1ap_id: read_u32(r).at("gNB-CU-UE-F1AP-ID")?,
            ..Self::default()
        };
        if p.has(0) {
            ue.ran_ue_id = Some(RanUeId(r.octet_array().at("ran-UEID")?));
        }
        r.additions(p, |index, r| {
            if index == 0 {
                ue.cell_rnti = read_late_addition(r, CellRnti::read);
            }
            Ok(index == 0 && ue.cell_rnti.is_some())
        })?;
        Ok(ue)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(self.cell_rnti.is_some(), &[self.ran_ue_id.is_some()]);
        write_u32(w, self.f1ap_id)?;
        if let Some(id) = self.ran_ue_id {
            w.octet_array(&id.0);
        }
        match &self.cell_rnti {
            Some(rnti) => w.additions(&[Some(&|w: &mut Writer| rnti.write(w))]),
            None => Ok(()),
        }
    }
}

impl GnbCuUpUeId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let e1ap_id = read_u32(r).at("gNB-CU-CP-UE-E1AP-ID")?;
        let ran_ue_id = match p.has(0) {
            true => Some(RanUeId(r.octet_array().at("ran-UEID")?)),
            false => None,
        };
        r.skip_additions(p)?;
        Ok(Self { e1ap_id, ran_ue_id })
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[self.ran_ue_id.is_some()]);
        write_u32(w, self.e1ap_id)?;
        if let Some(id) = self.ran_ue_id {
            w.octet_array(&id.0);
        }
        Ok(())
    }
}

impl NgEnbUeId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(3)?;
        let mut ue = Self {
            amf_ue_ngap_id: r.constrained(0, AMF_UE_NGAP_ID_MAX).at("amf-UE-NGAP-ID")?,
            guami: Guami::read(r).at("guami")?,
            ..Self::default()
        };
        if p.has(0) {
            ue.w1ap_id = Some(read_u32(r).at("ng-eNB-CU-UE-W1AP-ID")?);
        }
        if p.has(1) {
            ue.xnap_id = Some(read_u32(r).at("m-NG-RAN-UE-XnAP-ID")?);
        }
        if p.has(2) {
            ue.global_ng_enb_id = Some(GlobalNgEnbId::read(r).at("globalNgENB-ID")?);
        }
        r.additions(p, |index, r| {
            if index == 0 {
                ue.global_ng_ran_node_id = Some(GlobalNgRanNodeId::read(r)?);
            }
            Ok(index == 0)
        })?;
        Ok(ue)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(
            self.global_ng_ran_node_id.is_some(),
            &[
                self.w1ap_id.is_some(),
                self.xnap_id.is_some(),
                self.global_ng_enb_id.is_some(),
            ],
        );
        w.constrained(self.amf_ue_ngap_id, 0, AMF_UE_NGAP_ID_MAX)
            .at("amf-UE-NGAP-ID")?;
        self.guami.write(w).at("guami")?;
        write_option(w, self.w1ap_id)?;
        write_option(w, self.xnap_id)?;
        if let Some(id) = &self.global_ng_enb_id {
            id.write(w).at("globalNgENB-ID")?;
        }
        match &self.global_ng_ran_node_id {
            Some(node) => w.additions(&[Some(&|w: &mut Writer| node.write(w))]),
            None => Ok(()),
        }
    }
}

impl NgEnbDuUeId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let w1ap_id = read_u32(r).at("ng-eNB-CU-UE-W1AP-ID")?;
        r.skip_additions(p)?;
        Ok(Self { w1ap_id })
    }

    fn write(self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        write_u32(w, self.w1ap_id)
    }
}

impl EnGnbUeId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(4)?;
        let x2ap_id = r.constrained(0, 4095).at("m-eNB-UE-X2AP-ID")? as u16;
        let x2ap_id_extension = match p.has(0) {
            true => Some(r.extensible(0, 4095).at("m-eNB-UE-X2AP-ID-Extension")?),
            false => None,
        };
        let mut ue = Self {
            x2ap_id,
            x2ap_id_extension,
            global_enb_id: GlobalEnbId::read(r).at("globalENB-ID")?,
            f1ap_id: None,
            e1ap_ids: Vec::new(),
            ran_ue_id: None,
        };
        if p.has(1) {
            ue.f1ap_id = Some(read_u32(r).at("gNB-CU-UE-F1AP-ID")?);
        }
        if p.has(2) {
            ue.e1ap_ids = read_ids(r, 65535).at("gNB-CU-CP-UE-E1AP-ID-List")?;
        }
        if p.has(3) {
            ue.ran_ue_id = Some(RanUeId(r.octet_array().at("ran-UEID")?));
        }
        r.skip_additions(p)?;
        Ok(ue)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(
            false,
            &[
                self.x2ap_id_extension.is_some(),
                self.f1ap_id.is_some(),
                !self.e1ap_ids.is_empty(),
                self.ran_ue_id.is_some(),
            ],
        );
        w.constrained(u64::from(self.x2ap_id), 0, 4095)
            .at("m-eNB-UE-X2AP-ID")?;
        if let Some(extension) = self.x2ap_id_extension {
            w.extensible(extension, 0, 4095)?;
        }
        self.global_enb_id.write(w).at("globalENB-ID")?;
        write_option(w, self.f1ap_id)?;
        if !self.e1ap_ids.is_empty() {
            write_ids(w, &self.e1ap_ids, 65535).at("gNB-CU-CP-UE-E1AP-ID-List")?;
        }
        if let Some(id) = self.ran_ue_id {
            w.octet_array(&id.0);
        }
        Ok(())
    }
}

impl EnbUeId {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(3)?;
        let mut ue = Self {
            mme_ue_s1ap_id: read_u32(r).at("mME-UE-S1AP-ID")?,
            gummei: Gummei::read(r).at("gUMMEI")?,
            ..Self::default()
        };
        if p.has(0) {
            ue.x2ap_id = Some(r.constrained(0, 4095).at("m-eNB-UE-X2AP-ID")? as u16);
        }
        if p.has(1) {
            ue.x2ap_id_extension = Some(r.extensible(0, 4095).at("m-eNB-UE-X2AP-ID-Extension")?);
        }
        if p.has(2) {
            ue.global_enb_id = Some(GlobalEnbId::read(r).at("globalENB-ID")?);
        }
        r.skip_additions(p)?;
        Ok(ue)
    }

    fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(
            false,
            &[
                self.x2ap_id.is_some(),
                self.x2ap_id_extension.is_some(),
                self.global_enb_id.is_some(),
            ],
        );
        write_u32(w, self.mme_ue_s1ap_id)?;
        self.gummei.write(w);
        if let Some(id) = self.x2ap_id {
            w.constrained(u64::from(id), 0, 4095)
                .at("m-eNB-UE-X2AP-ID")?;
        }
        if let Some(extension) = self.x2ap_id_extension {
            w.extensible(extension, 0, 4095)?;
        }
        match &self.global_enb_id {
            Some(id) => id.write(w).at("globalENB-ID"),
            None => Ok(()),
        }
    }
}
