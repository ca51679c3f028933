//! Identifiers in the scopes of A1 policies (A1TD clause 6.3.1).

use crate::slice::{SliceScope, UeScope};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// Lengths of a gNB ID, bits (TS 38.413 clause 9.3.1.6).
const GNB_ID_BITS: std::ops::RangeInclusive<u32> = 22..=32;
/// Bits of an NR Cell Identity (TS 38.413 clause 9.3.1.7).
const NCI_BITS: u32 = 36;

/// A PLMN identifier.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlmnId {
    #[schemars(regex(pattern = "^[0-9]{3}$"))]
    mcc: String,
    #[schemars(regex(pattern = "^[0-9]{2,3}$"))]
    mnc: String,
}

/// A slice: S-NSSAI and PLMN.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SliceId {
    sst: u8,
    #[serde(default, with = "crate::slice::scope::sd")]
    #[schemars(with = "Option<String>", regex(pattern = "^[A-Fa-f0-9]{6}$"))]
    sd: Option<u32>,
    /// Cantor serves the nodes that are connected, whatever their PLMNs.
    #[serde(rename = "plmnId")]
    _plmn_id: PlmnId,
}

impl From<&SliceId> for SliceScope {
    fn from(slice: &SliceId) -> Self {
        Self {
            sst: slice.sst,
            sd: slice.sd,
        }
    }
}

/// A cell.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CellId {
    plmn_id: PlmnId,
    c_id: CId,
}

/// Cell identity: of NR or of E-UTRA.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub enum CId {
    /// NR Cell Identity, 36 bits.
    #[serde(rename = "ncI")]
    NcI(#[schemars(range(max = 0xf_ffff_ffff_u64))] u64),
    /// E-UTRAN Cell Identity, 28 bits.
    #[expect(dead_code, reason = "read to be checked; Cantor does not use it")]
    #[serde(rename = "ecI")]
    EcI(#[schemars(range(max = 0xfff_ffff_u64))] u64),
}

impl CellId {
    /// The E2 nodes that can have the cell, as Cantor names them: its identity begins with that of its gNB, and does not
    /// say how long that is. Empty: no cell of NR.
    pub fn nodes(&self) -> Vec<Arc<str>> {
        match self.c_id {
            CId::NcI(nci) if nci >> NCI_BITS == 0 => GNB_ID_BITS
                .map(|bits| node(&self.plmn_id, nci >> (NCI_BITS - bits), bits))
                .collect(),
            CId::NcI(_) | CId::EcI(_) => Vec::new(),
        }
    }
}

/// A gNB.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GlobalGnbId {
    plmn_id: PlmnId,
    gnb_id: GnbId,
}

/// Identity of a gNB within its PLMN.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GnbId {
    #[schemars(range(min = 22, max = 32))]
    gnb_id_length: u32,
    gnb_id_value: u32,
}

impl GlobalGnbId {
    fn node(&self) -> Arc<str> {
        let GnbId {
            gnb_id_length,
            gnb_id_value,
        } = self.gnb_id;
        node(&self.plmn_id, gnb_id_value.into(), gnb_id_length)
    }
}

/// Name of an E2 node, e.g. `gnb:001-01:00000e00/32`.
fn node(plmn: &PlmnId, gnb_id: u64, bits: u32) -> Arc<str> {
    format!("gnb:{}-{}:{gnb_id:08x}/{bits}", plmn.mcc, plmn.mnc).into()
}

/// A UE; C-RNTIs are not among the identities of A1.
#[expect(clippy::enum_variant_names, reason = "the names of A1TD")]
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UeId {
    /// By its RAN UE ID.
    #[serde(rename_all = "camelCase")]
    GuRanUeId {
        /// Its gNB.
        global_gnb_id: GlobalGnbId,
        /// 16 hexadecimal characters.
        #[schemars(regex(pattern = "^[A-Fa-f0-9]{16}$"))]
        ran_ue_id: String,
    },
    /// By its AMF UE NGAP ID.
    #[serde(rename_all = "camelCase")]
    GuAmfUeNgapId {
        /// Its AMF; Cantor knows UEs without it.
        #[serde(rename = "guAmI")]
        _gu_am_i: serde_json::Map<String, serde_json::Value>,
        /// 40 bits.
        #[schemars(range(max = 0xff_ffff_ffff_u64))]
        amf_ue_ngap_id: u64,
    },
    /// By its gNB-CU UE F1AP ID.
    #[serde(rename_all = "camelCase")]
    GuGnbCuUeF1apId {
        /// Its gNB.
        global_gnb_id: GlobalGnbId,
        /// 32 bits.
        gnb_cu_ue_f1ap_id: u32,
    },
    /// By its gNB-CU-CP UE E1AP ID.
    #[serde(rename_all = "camelCase")]
    GuGnbCuCpUeE1apId {
        /// Its gNB.
        global_gnb_id: GlobalGnbId,
        /// 32 bits.
        gnb_cu_cp_ue_e1ap_id: u32,
    },
}

impl UeId {
    /// Node and identity; `None`: an identity that cannot be read.
    pub fn scope(&self) -> Option<(Option<Arc<str>>, UeScope)> {
        Some(match self {
            Self::GuRanUeId {
                global_gnb_id,
                ran_ue_id,
            } => {
                let id = u64::from_str_radix(ran_ue_id, 16).ok()?;
                (Some(global_gnb_id.node()), UeScope::RanUeId(id))
            }
            Self::GuAmfUeNgapId { amf_ue_ngap_id, .. } => {
                (None, UeScope::AmfUeNgapId(*amf_ue_ngap_id))
            }
            Self::GuGnbCuUeF1apId {
                global_gnb_id,
                gnb_cu_ue_f1ap_id,
            } => {
                let id = UeScope::CuUeF1apId(*gnb_cu_ue_f1ap_id);
                (Some(global_gnb_id.node()), id)
            }
            Self::GuGnbCuCpUeE1apId {
                global_gnb_id,
                gnb_cu_cp_ue_e1ap_id,
            } => {
                let id = UeScope::CuCpUeE1apId(*gnb_cu_cp_ue_e1ap_id);
                (Some(global_gnb_id.node()), id)
            }
        })
    }
}
