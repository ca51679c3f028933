//! Who an E2 node says it is, and how it speaks.

use e2sm::common::Plmn;
use serde::{Deserialize, Serialize};

/// Identity of a gNB, and the service models it offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeConfig {
    /// Mobile country and network code, 5 or 6 digits.
    pub plmn: String,
    /// gNB id.
    pub gnb_id: u32,
    /// Bits of the gNB id, 22 to 32 (FlexRIC: 32).
    pub gnb_id_bits: u8,
    /// Offer FlexRIC's MAC and RLC service models (RAN functions 142 and 143).
    pub flexric_models: bool,
    /// Which KPM is spoken; `None`: none.
    pub kpm: Option<KpmDialect>,
}

/// How KPM values are counted: the standard's units, or those that OAI really sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KpmDialect {
    /// E2SM-KPM v3.00, TS 28.552: `RRU.PrbTotDl` in percent, `DRB.RlcSduDelayDl` in 0.1 ms, volumes in Mbit.
    #[default]
    Standard,
    /// OAI of 2024, E2SM-KPM v2.03: `RRU.PrbTotDl` as PRBs of the period, delay in µs, volumes in kbit.
    Oai2024,
    /// OAI of 2026, E2SM-KPM v2.03: `RRU.PrbTotDl` in percent, delay in µs, volumes in Mbit.
    Oai2026,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            plmn: "00101".to_owned(),
            gnb_id: 0xe00,
            gnb_id_bits: 32,
            flexric_models: true,
            kpm: Some(KpmDialect::Standard),
        }
    }
}

/// Why a node cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NodeError {
    /// The PLMN.
    #[error(
        "plmn = {0:?}: must be a country code of 3 and a network code of 2 or 3 digits, e.g. \"00101\""
    )]
    Plmn(String),
    /// The gNB id.
    #[error("gnb_id = {id} of gnb_id_bits = {bits}: must have 22 to 32 bits and fit into them")]
    GnbId {
        /// The id.
        id: u32,
        /// Its length.
        bits: u8,
    },
    /// Nothing to offer.
    #[error("kpm and flexric_models are off: an E2 node must offer at least one RAN function")]
    NoFunction,
}

impl NodeConfig {
    /// Checks every value; the PLMN in its encoded form.
    pub fn check(&self) -> Result<Plmn, NodeError> {
        let (id, bits) = (self.gnb_id, self.gnb_id_bits);
        if !(22..=32).contains(&bits) || u64::from(id) >> bits != 0 {
            return Err(NodeError::GnbId { id, bits });
        }
        if self.kpm.is_none() && !self.flexric_models {
            return Err(NodeError::NoFunction);
        }
        self.plmn
            .parse()
            .map_err(|_| NodeError::Plmn(self.plmn.clone()))
    }
}
