//! UEs of gNBs, whole or split.

use super::{AMF_UE_NGAP_ID_MAX, RanUeId, read_ids, read_u32, write_ids, write_option, write_u32};
use crate::aper::{Addition, DecodeError, EncodeError, Locate, Reader, Writer};
use crate::common::{Cgi, GlobalGnbId, GlobalNgRanNodeId, Guami, read_late_addition};

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

impl CellRnti {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let c_rnti = r.constrained(0, 65535).at("c-RNTI")? as u16;
        let cell = Cgi::read(r).at("cell-Global-ID")?;
        r.skip_additions(p)?;
        Ok(Self { c_rnti, cell })
    }

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        w.constrained(u64::from(self.c_rnti), 0, 65535)?;
        self.cell.write(w)
    }
}

impl GnbUeId {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
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
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
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
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(1)?;
        let e1ap_id = read_u32(r).at("gNB-CU-CP-UE-E1AP-ID")?;
        let ran_ue_id = match p.has(0) {
            true => Some(RanUeId(r.octet_array().at("ran-UEID")?)),
            false => None,
        };
        r.skip_additions(p)?;
        Ok(Self { e1ap_id, ran_ue_id })
    }

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[self.ran_ue_id.is_some()]);
        write_u32(w, self.e1ap_id)?;
        if let Some(id) = self.ran_ue_id {
            w.octet_array(&id.0);
        }
        Ok(())
    }
}
