//! Parameters of the law, the paper's and those that it leaves open.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Parameters of Choir's law. The defaults are the paper's, or ours where it gives none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// η of eq. 7: the part of the bandwidth that is given away. Paper: 0.95.
    pub eta: f64,
    /// α of eq. 9: weight of the history in the frame interval. Paper: 0.8.
    pub alpha: f64,
    /// Time over which uPRB_i and PRB_used of eq. 2 are averaged. Paper: the last TTI, which is 0 here. Frames come in bursts:
    /// a TTI in which the flow pauses counts with its part of the cell, one in which it sends with all that it takes, and the
    /// mean of these lies above what it can have. Some whole frames show bursts and pauses in their proportion.
    #[serde(rename = "use_window_ms", with = "milliseconds")]
    pub use_window: Duration,
    /// Open: how long a flow counts towards N_active after it had data. With the flows of one TTI, unused PRBs would be
    /// promised in whole to each flow that happens to be alone.
    #[serde(rename = "active_hold_ms", with = "milliseconds")]
    pub active_hold: Duration,
    /// Window of DN and TN in eq. 3. Paper: 100 ms.
    #[serde(rename = "share_window_ms", with = "milliseconds")]
    pub share_window: Duration,
    /// Window of eq. 5 and of γ in eq. 6 (paper: 10 ms), and of the bits per PRB in eq. 3 (open: slots of a TDD pattern
    /// differ in length, so one slot's value would not do).
    #[serde(rename = "short_window_ms", with = "milliseconds")]
    pub short_window: Duration,
    /// Open: which TTIs count as DN in eq. 3.
    pub downlink_ttis: DownlinkTtis,
    /// Open: a gap between packets above which a new frame begins (eq. 9). It must be shorter than the pause that pacing
    /// leaves between frames, (1 − 1/ρ)·FI: 3.3 ms at 60 frames/s and ρ = 1.25.
    #[serde(rename = "frame_gap_ms", with = "milliseconds")]
    pub frame_gap: Duration,
    /// Open: the frame interval until one was seen, and where frames cannot be told apart. 60 frames/s.
    #[serde(rename = "frame_interval_ms", with = "milliseconds")]
    pub frame_interval: Duration,
    /// Open: errors that the autoregressive estimate of eq. 15 looks back on.
    pub error_memory: usize,
    /// Open: which feedbacks eqs. 13 and 14 mean.
    pub in_flight: InFlight,
}

/// Which TTIs count as DN, those that carry downlink, in eq. 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DownlinkTtis {
    /// All that can carry user data. Control-only slots do not count, which is the reason that the paper gives.
    #[default]
    Usable,
    /// Only those that did carry user data, as the paper's sentence reads. A cell that is not full then looks the smaller,
    /// the less is sent.
    Used,
}

/// Which feedbacks decide about the frames that will arrive before new guidance acts (eqs. 13 and 14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InFlight {
    /// Of frame k the last feedback given until `2·WiredND + (k − 1)·FI` ago: the bounds as printed, for each k.
    #[default]
    Printed,
    /// Of frame k the last feedback given until `2·WiredND − (k − 1)·FI` ago: what the encoder of a frame that is still to
    /// arrive will have heard. It agrees with the printed bounds for k = 1; beyond that it follows the newest guidance faster,
    /// and oscillates more.
    Causal,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            eta: 0.95,
            alpha: 0.8,
            use_window: Duration::from_millis(50),
            active_hold: Duration::from_millis(100),
            share_window: Duration::from_millis(100),
            short_window: Duration::from_millis(10),
            downlink_ttis: DownlinkTtis::default(),
            frame_gap: Duration::from_millis(2),
            frame_interval: Duration::from_nanos(1_000_000_000 / 60),
            error_memory: 8,
            in_flight: InFlight::default(),
        }
    }
}

/// How long guidance takes to act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// From a feedback to the arrival of the frames that it shapes: 2·WiredND of eq. 11, over E2 the way of the report and of
    /// the decision in addition.
    pub round_trip: Duration,
    /// What eq. 12 adds to whole frames: the TTI, over E2 the report period.
    pub lead: Duration,
}

/// Times as people write them: numbers of milliseconds.
mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::Duration;

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64() * 1e3)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let ms = f64::deserialize(from)?;
        Duration::try_from_secs_f64(ms / 1e3).map_err(D::Error::custom)
    }
}
