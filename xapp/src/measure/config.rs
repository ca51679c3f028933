//! What must be known of a cell to understand its measurements.

use super::KpmDialect;
use policies::SNssai;
use std::time::Duration;

/// A cell, as its operator configured it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellConfig {
    /// PRBs of the carrier, e.g. 106 for 40 MHz at 30 kHz (TS 38.101-1 table 5.3.2-1).
    pub carrier_prbs: f64,
    /// Numerology µ: subcarrier spacing 15·2^µ kHz (TS 38.211 clause 4.2).
    pub numerology: u8,
    /// Which part of all slots carries downlink.
    pub downlink_share: DownlinkShare,
    /// How long a UE may wait with data in its queue and no new transport block before it counts as lost.
    /// Under load, a live UE of an OAI gNB was never seen to wait more than 10 ms.
    pub lost_after: Duration,
    /// Slice whose UEs the KPM subscription asks for (report style 4): each UE that it reports belongs to it.
    pub kpm_slice: Option<SNssai>,
    /// Units of its KPM values.
    pub kpm_dialect: KpmDialect,
}

/// Which part of all slots carries downlink: PRB use is averaged over all slots, so it can never pass this share of the carrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DownlinkShare {
    /// Known, e.g. 0.8 for 7 downlink and 1 mixed slot of 10; 1 for FDD.
    Configured(f64),
    /// The largest share that was seen in use over half a second, but not less than this.
    Learned {
        /// Taken until more is seen.
        at_least: f64,
    },
}

impl CellConfig {
    /// Slots per 10 ms frame (TS 38.211 table 4.3.2-1).
    pub fn slots_per_frame(&self) -> u32 {
        10 << self.numerology.min(6)
    }

    /// Slots per second.
    pub fn slots_per_second(&self) -> f64 {
        f64::from(self.slots_per_frame()) * 100.0
    }
}

impl Default for CellConfig {
    /// 40 MHz at 30 kHz, TDD with 8 of 10 slots for downlink.
    fn default() -> Self {
        Self {
            carrier_prbs: 106.0,
            numerology: 1,
            downlink_share: DownlinkShare::Configured(0.8),
            lost_after: Duration::from_millis(500),
            kpm_slice: None,
            kpm_dialect: KpmDialect::Auto,
        }
    }
}
