//! UEs of nodes that have to do with LTE: ng-eNBs, eNBs, and en-gNBs beside an eNB.

use super::{AMF_UE_NGAP_ID_MAX, RanUeId, read_ids, read_u32, write_ids, write_option, write_u32};
use crate::aper::{DecodeError, EncodeError, Locate, Reader, Writer};
use crate::common::{GlobalEnbId, GlobalNgEnbId, GlobalNgRanNodeId, Guami, Gummei};

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

impl NgEnbUeId {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
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
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let p = r.sequence(0)?;
        let w1ap_id = read_u32(r).at("ng-eNB-CU-UE-W1AP-ID")?;
        r.skip_additions(p)?;
        Ok(Self { w1ap_id })
    }

    pub(super) fn write(self, w: &mut Writer) -> Result<(), EncodeError> {
        w.sequence(false, &[]);
        write_u32(w, self.w1ap_id)
    }
}

impl EnGnbUeId {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
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
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

    pub(super) fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
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
