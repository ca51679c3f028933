//! `UeReport`: what every RAN dialect becomes before a controller sees it.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Identity of a UE within one E2 node, as the RAN reports it.
///
/// One UE can have several: MAC and RLC reports carry the C-RNTI, KPM the AMF or F1AP id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UeId {
    /// C-RNTI (TS 38.321 clause 7.1).
    CRnti(u16),
    /// AMF UE NGAP ID (TS 38.413 clause 9.3.3.1), 40 bits.
    AmfUeNgapId(u64),
    /// gNB-CU UE F1AP ID (TS 38.473 clause 9.3.1.4).
    CuUeF1apId(u32),
    /// gNB-CU-CP UE E1AP ID (TS 37.483 clause 9.3.1.4).
    CuCpUeE1apId(u32),
    /// RAN UE ID (O-RAN E2SM), its 8 octets read as a big-endian number.
    RanUeId(u64),
}

impl std::fmt::Display for UeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CRnti(v) => write!(f, "rnti:{v:04x}"),
            Self::AmfUeNgapId(v) => write!(f, "amf:{v}"),
            Self::CuUeF1apId(v) => write!(f, "f1ap:{v}"),
            Self::CuCpUeE1apId(v) => write!(f, "e1ap:{v}"),
            Self::RanUeId(v) => write!(f, "ran:{v:016x}"),
        }
    }
}

/// As it is displayed.
impl std::str::FromStr for UeId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let id = match text.split_once(':') {
            Some(("rnti", v)) => u16::from_str_radix(v, 16).map(Self::CRnti),
            Some(("amf", v)) => v.parse().map(Self::AmfUeNgapId),
            Some(("f1ap", v)) => v.parse().map(Self::CuUeF1apId),
            Some(("e1ap", v)) => v.parse().map(Self::CuCpUeE1apId),
            Some(("ran", v)) => u64::from_str_radix(v, 16).map(Self::RanUeId),
            _ => {
                return Err(format!(
                    "{text:?} names no UE: write one like rnti:4601 or amf:7"
                ));
            }
        };
        id.map_err(|error| format!("{text:?} names no UE: {error}"))
    }
}

/// Single network slice selection assistance information (TS 23.003 clause 28.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SNssai {
    /// Slice/service type.
    pub sst: u8,
    /// Slice differentiator, 24 bits.
    pub sd: Option<u32>,
}

/// Measurements of one UE over one report window (δ in the papers).
///
/// A field that the RAN does not give, or gave out of its physical range, is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UeReport {
    /// Which UE.
    pub ue: UeId,
    /// Start of the window on the receiver's monotonic clock.
    pub start: Duration,
    /// Length of the window, from the RAN's own time stamps where it gives them.
    pub length: Duration,
    /// End of the window on the RAN's clock, Unix microseconds.
    pub ran_time_us: Option<i64>,
    /// PRBs per slot that the UE used, retransmissions included, averaged over all slots of the window.
    pub prbs: Option<f64>,
    /// The part of `prbs` that carried retransmissions.
    pub retx_prbs: Option<f64>,
    /// PRBs per slot that the cell can give in downlink, averaged over all slots: the carrier's PRBs times its downlink share.
    pub cell_prbs: f64,
    /// PRBs per slot that all UEs of the cell used in the window, averaged as `prbs`.
    pub used_prbs: Option<f64>,
    /// Downlink MCS index (TS 38.214 clause 5.1.3.1).
    pub mcs: Option<f64>,
    /// Transport blocks sent for the first time in the window.
    pub tb_sent: Option<u64>,
    /// HARQ retransmissions in the window.
    pub tb_retx: Option<u64>,
    /// Transport blocks given up after the last retransmission in the window.
    pub tb_failed: Option<u64>,
    /// Downlink SINR in dB.
    pub sinr_db: Option<f64>,
    /// Wideband CQI, 1 to 15 (TS 38.214 clause 5.2.2.1).
    pub cqi: Option<u8>,
    /// Octets of user data handed to the radio in the window.
    pub delivered_bytes: Option<u64>,
    /// Octets of user data that arrived at the base station in the window.
    pub arrived_bytes: Option<u64>,
    /// Octets in the downlink RLC queue at the end of the window.
    pub queue_bytes: Option<u64>,
    /// Age of the oldest SDU in that queue at the end of the window.
    pub head_of_line: Option<Duration>,
    /// Mean time that the SDUs sent lately had spent in RLC (TS 28.552 clause 5.1.3.3.3), from KPM's newest period.
    pub rlc_delay: Option<Duration>,
    /// Slice of the UE.
    pub slice: Option<SNssai>,
}

impl UeReport {
    /// HARQ retransmissions per first transmission; `None` if unknown, 0 if nothing was sent.
    pub fn retransmission_ratio(&self) -> Option<f64> {
        let (sent, retx) = (self.tb_sent?, self.tb_retx?);
        Some(if sent == 0 {
            0.0
        } else {
            retx as f64 / sent as f64
        })
    }

    /// Throughput in bit/s over the window.
    pub fn throughput_bps(&self) -> Option<f64> {
        let seconds = self.length.as_secs_f64();
        (seconds > 0.0).then_some(self.delivered_bytes? as f64 * 8.0 / seconds)
    }

    /// End of the window on the receiver's monotonic clock.
    pub fn end(&self) -> Duration {
        self.start.saturating_add(self.length)
    }

    /// The UE took part in the cell: data was sent to it, or waited for it.
    ///
    /// Where the RAN gives neither, PRB use tells. A connected UE without data still gets some PRBs now and then
    /// (at an OAI gNB 5 PRBs in one slot of each 100 ms, for timing advance and the like), hence the threshold.
    pub fn active(&self) -> bool {
        /// PRBs per slot times seconds: two such slots at any moment, and twice as many as on average.
        const SIGNALLING: (f64, f64) = (0.005, 0.05);
        if self.delivered_bytes.is_none() && self.queue_bytes.is_none() {
            let seconds = self.length.as_secs_f64();
            let signalling = SIGNALLING.0 + SIGNALLING.1 * seconds;
            return self.prbs.is_some_and(|prbs| prbs * seconds > signalling);
        }
        self.delivered_bytes.is_some_and(|b| b > 0) || self.queue_bytes.is_some_and(|b| b > 0)
    }
}
