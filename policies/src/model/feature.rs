//! What goes into a network: features of a report window, and how they are normalised.

use crate::controller::Measurement;
use serde::{Deserialize, Serialize};

/// A quantity that a policy observes, over one report window δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// PRBs of the UE, as a share of the cell's.
    Prbs,
    /// The least of these shares over the control interval Δ that ends with the window.
    MinPrbs,
    /// The largest of them.
    MaxPrbs,
    /// Pε as a share of the cell's PRBs.
    TargetPrbs,
    /// HARQ retransmissions per first transmission.
    RetransmissionRatio,
    /// Send rate in the window, bit/s.
    RateBps,
    /// Downlink MCS index.
    Mcs,
    /// Downlink SINR, dB; from the CQI where the RAN gives no SINR.
    SinrDb,
}

impl Feature {
    /// All of them, in the order of PRISM's paper.
    pub const ALL: [Self; 8] = [
        Self::Prbs,
        Self::MinPrbs,
        Self::MaxPrbs,
        Self::TargetPrbs,
        Self::RetransmissionRatio,
        Self::RateBps,
        Self::Mcs,
        Self::SinrDb,
    ];

    /// The measurement without which it is not known.
    pub fn needs(self) -> Option<Measurement> {
        match self {
            Self::Prbs | Self::MinPrbs | Self::MaxPrbs => Some(Measurement::Prbs),
            Self::RetransmissionRatio => Some(Measurement::RetransmissionRatio),
            Self::Mcs => Some(Measurement::Mcs),
            Self::SinrDb => Some(Measurement::ChannelQuality),
            Self::TargetPrbs | Self::RateBps => None,
        }
    }

    /// The name on cards and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prbs => "prbs",
            Self::MinPrbs => "min_prbs",
            Self::MaxPrbs => "max_prbs",
            Self::TargetPrbs => "target_prbs",
            Self::RetransmissionRatio => "retransmission_ratio",
            Self::RateBps => "rate_bps",
            Self::Mcs => "mcs",
            Self::SinrDb => "sinr_db",
        }
    }
}

/// A feature as the network takes it: (value + offset) / scale, clipped to 0 … 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Which feature.
    pub name: Feature,
    /// Added first, in the feature's unit.
    #[serde(default)]
    pub offset: f64,
    /// What becomes 1, in the feature's unit.
    pub scale: f64,
    /// Smallest and largest value seen in training, in the feature's unit.
    pub range: [f64; 2],
}

impl Input {
    /// The number that the network takes for `value`.
    pub fn normalise(&self, value: f64) -> f32 {
        ((value + self.offset) / self.scale).clamp(0.0, 1.0) as f32
    }

    /// How far `value` is outside the training range, in widths of that range; 0 inside.
    pub fn outside(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        let distance = (low - value).max(value - high).max(0.0);
        // A range of no width (a quantity that never changed) is measured by the scale.
        let width = if high > low { high - low } else { self.scale };
        distance / width
    }
}
