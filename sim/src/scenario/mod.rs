//! Scenarios: a cell, its UEs and their flows, as readable TOML.
//!
//! ```toml
//! duration_s = 60
//! [cell]
//! profile = "lena"                  # any setting of the cell may follow and overrides the profile
//! [channel]
//! model = "indoor_office"
//! [[ues]]
//! count = 2
//! [[flows]]
//! ue = 0
//! sender = "rapid"
//! [[flows]]
//! ue = 1
//! sender = "cubic"
//! start_s = 10
//! ```

mod build;
mod builtin;
mod settings;
mod sweep;
mod video;

pub use builtin::{BUILTIN, builtin};
pub use sweep::{Selection, Variant};

use crate::capacity::Fluctuation;
use crate::channel::mobility::Mobility;
use crate::channel::pathloss::Budget;
use crate::simulation::{Feedback, PrbDenominator};
use policies::GainPolicy;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A scenario.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it is, for people.
    #[serde(default)]
    pub about: String,
    /// Length in virtual time, s.
    pub duration_s: f64,
    /// Seed of the first run.
    #[serde(default = "one")]
    pub seed: u64,
    /// The cell: `profile` ("lena" or "gnb") and settings that differ from it ([`crate::cell::CellConfig`]).
    #[serde(default)]
    pub cell: toml::Table,
    /// Channel of the UEs that have none of their own.
    #[serde(default)]
    pub channel: ChannelSpec,
    /// The UEs.
    pub ues: Vec<UeSpec>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// Slice policies of flows.
    #[serde(default)]
    pub slices: Vec<SliceSpec>,
    /// Delays around the cell.
    #[serde(default)]
    pub delays: DelaySpec,
    /// Reports and decisions.
    #[serde(default)]
    pub control: ControlSpec,
    /// Folder of the model bundle that learned policies run, from the scenario's folder.
    #[serde(default)]
    pub model: Option<PathBuf>,
}

fn one<T: From<u8>>() -> T {
    T::from(1)
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChannelSpec {
    /// Constant SINR.
    Fixed {
        /// dB.
        sinr_db: f64,
    },
    /// TR 38.901's indoor office with line of sight.
    IndoorOffice {
        /// Movement.
        #[serde(default = "walking")]
        mobility: Mobility,
        /// Powers, path loss, shadowing.
        #[serde(default)]
        budget: Budget,
        /// Fast fading.
        #[serde(default = "yes")]
        fading: bool,
        /// Seconds after which the clusters are drawn anew; never if absent.
        #[serde(default)]
        redraw_s: Option<f64>,
    },
    /// A recorded SINR trace (CSV with `time_ms` and `sinr_db`).
    Trace {
        /// The file, from the scenario's folder.
        file: PathBuf,
        /// Which UE's rows, if the file holds several.
        #[serde(default)]
        ue: Option<u32>,
    },
}

fn walking() -> Mobility {
    Mobility::GaussMarkov(crate::channel::mobility::GaussMarkov::default())
}

fn yes() -> bool {
    true
}

impl Default for ChannelSpec {
    fn default() -> Self {
        Self::IndoorOffice {
            mobility: walking(),
            budget: Budget::default(),
            fading: true,
            redraw_s: None,
        }
    }
}

/// One or more equal UEs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UeSpec {
    /// How many of them.
    pub count: usize,
    /// Limit of the RLC queue, octets.
    pub queue_limit_bytes: u64,
    /// Their channel, if not the scenario's.
    pub channel: Option<ChannelSpec>,
    /// Not in the cell, but behind a link that follows this mahimahi packet delivery trace, from the scenario's folder.
    pub mahimahi: Option<PathBuf>,
    /// Not in the cell, but behind a link whose delivery trace is drawn by the seed.
    pub fluctuating: Option<Fluctuation>,
}

impl Default for UeSpec {
    fn default() -> Self {
        Self {
            count: 1,
            queue_limit_bytes: 1_000_000,
            channel: None,
            mahimahi: None,
            fluctuating: None,
        }
    }
}

/// A time: fixed, or drawn anew for every seed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Time {
    /// Seconds.
    At(f64),
    /// Uniform between two times, seconds.
    Between([f64; 2]),
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SenderKind {
    /// Guided, mean PRB use.
    Rapid,
    /// Guided, peak PRB use.
    RapidPeak,
    /// Guided, peak PRB use, gains that a model chooses.
    Prism,
    /// Video guided by Choir from reports.
    Choir,
    /// Video guided by Choir in the base station, every TTI.
    ChoirTti,
    /// Video guided by SCONE, in the form of Choir's paper.
    Scone,
    /// Video of a constant bitrate.
    Video,
    /// Constant rate.
    Cbr,
    /// TCP CUBIC.
    Cubic,
    /// TCP BBR version 1.
    Bbr1,
    /// TCP BBR version 3.
    Bbr3,
    /// Reminis.
    Reminis,
}

impl SenderKind {
    /// Its rate follows PRB reports.
    pub fn guided(self) -> bool {
        matches!(
            self,
            Self::Rapid | Self::RapidPeak | Self::Prism | Self::Choir
        )
    }

    /// It sends frames of video.
    pub fn video(self) -> bool {
        matches!(
            self,
            Self::Choir | Self::ChoirTti | Self::Scone | Self::Video
        )
    }

    /// The gain policy that guides it.
    pub fn gain_policy(self) -> Option<GainPolicy> {
        match self {
            Self::Rapid => Some(GainPolicy::Rapid),
            Self::RapidPeak => Some(GainPolicy::RapidPeak),
            Self::Prism => Some(GainPolicy::Prism),
            _ => None,
        }
    }

    /// Name, as scenarios write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rapid => "rapid",
            Self::RapidPeak => "rapid-peak",
            Self::Prism => "prism",
            Self::Choir => "choir",
            Self::ChoirTti => "choir-tti",
            Self::Scone => "scone",
            Self::Video => "video",
            Self::Cbr => "cbr",
            Self::Cubic => "cubic",
            Self::Bbr1 => "bbr1",
            Self::Bbr3 => "bbr3",
            Self::Reminis => "reminis",
        }
    }
}

/// A slice: the flows that name it are ruled by its policy, as written in `policies/slices`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceSpec {
    /// Name.
    pub name: String,
    /// What its policy says.
    pub policy: policies::slice::Spec,
}

/// A flow. Parameters that its sender does not have are refused.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name in results; by default sender and index.
    pub name: Option<String>,
    /// Index of its UE.
    pub ue: usize,
    /// Who sends.
    pub sender: SenderKind,
    /// Its slice; none by default.
    pub slice: Option<String>,
    /// When it starts, s; 0 by default.
    pub start_s: Option<Time>,
    /// When it stops, s; at the end by default.
    pub stop_s: Option<Time>,
    /// It lasts at least this long, s: a stop drawn earlier is moved.
    pub at_least_s: Option<f64>,
    /// Payload of a packet or segment, octets.
    pub payload: Option<u32>,
    /// Frames per second of a video flow.
    pub frames_per_second: Option<f64>,
    /// Frames that its encoder takes to reach a new bitrate; 1: at once.
    pub response_frames: Option<u32>,
    /// ε: bitrates that are averaged.
    pub smoothing: Option<u32>,
    /// ρ: pacing rate relative to the bitrate.
    pub pacing: Option<f64>,
    /// Time between acknowledgements that carry the base station's guidance, ms.
    pub feedback_ms: Option<f64>,
    /// Parameters of Choir's law.
    pub choir: Option<policies::choir::Parameters>,
    /// Rate of a constant-rate flow, Mbit/s of payload; bitrate of a video flow that nobody guides.
    pub mbps: Option<f64>,
    /// K of RAPID.
    pub k: Option<f64>,
    /// γ of RAPID, Mbit/s per PRB.
    pub gamma_mbps: Option<f64>,
    /// Start rate of a guided flow, Mbit/s.
    pub initial_mbps: Option<f64>,
    /// Floor of a guided flow's rate, Mbit/s.
    pub min_mbps: Option<f64>,
    /// Ceiling of a guided flow's rate, Mbit/s.
    pub max_mbps: Option<f64>,
    /// Ceiling of a guided flow's rate relative to what its UE was delivered in the last control interval; none if absent.
    pub anti_windup: Option<f64>,
    /// Guard rails of a learned policy; on if absent.
    pub guard: Option<bool>,
    /// Delay tolerance of Reminis, ms.
    pub tolerance_ms: Option<f64>,
    /// HyStart++ of CUBIC.
    pub hystart: Option<bool>,
}

/// Delays around the cell.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DelaySpec {
    /// One way between senders and base station, ms.
    pub wired_ms: f64,
    /// Slots from arrival at the base station to the first slot that can carry the packet.
    pub scheduling_slots: u64,
    /// Decoding at the UE, ms.
    pub decoding_ms: f64,
    /// Uplink where the cell does not carry it itself, ms.
    pub uplink_ms: f64,
}

impl Default for DelaySpec {
    fn default() -> Self {
        Self {
            wired_ms: 0.0,
            scheduling_slots: 2,
            decoding_ms: 0.1,
            uplink_ms: 4.0,
        }
    }
}

/// Reports and decisions.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ControlSpec {
    /// δ, ms.
    pub report_interval_ms: u64,
    /// Δ, ms.
    pub control_interval_ms: u64,
    /// f.
    pub target_factor: f64,
    /// What PRB use is related to.
    pub denominator: PrbDenominator,
    /// How reports reach the controllers.
    pub feedback: Feedback,
    /// Of guided video: from a report until the guidance leaves for the sender, ms.
    pub e2_delay_ms: f64,
}

impl Default for ControlSpec {
    fn default() -> Self {
        Self {
            report_interval_ms: 50,
            control_interval_ms: 200,
            target_factor: 0.9,
            denominator: PrbDenominator::default(),
            feedback: Feedback::default(),
            e2_delay_ms: 1.0,
        }
    }
}

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// No file and no built-in scenario of this name.
    #[error("scenario {name:?}: no such file, and not one of the built-in ones: {}", BUILTIN.map(|(n, _)| n).join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A file that cannot be read.
    #[error("{}: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Text that is no TOML, or has unknown or badly typed settings.
    #[error("scenario: {0}")]
    Parse(#[from] toml::de::Error),
    /// A `--set` that does not fit.
    #[error("--set {setting}: {reason}")]
    Setting {
        /// The setting as given.
        setting: String,
        /// What is wrong.
        reason: String,
    },
    /// A value that does not fit.
    #[error("scenario: {key}: {reason}")]
    Value {
        /// Where.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// The cell.
    #[error("scenario: cell: {0}")]
    Cell(#[from] crate::cell::CellError),
    /// A trace.
    #[error("{}: {error}", file.display())]
    Trace {
        /// The file.
        file: PathBuf,
        /// Why.
        error: crate::channel::replay::ReplayError,
    },
    /// A trace of a link.
    #[error("{}: {error}", file.display())]
    LinkTrace {
        /// The file.
        file: PathBuf,
        /// Why.
        error: crate::link::TraceError,
    },
    /// A model bundle.
    #[error("{}: {error}", folder.display())]
    Model {
        /// The folder.
        folder: PathBuf,
        /// Why.
        error: policies::model::Refusal,
    },
    /// A controller.
    #[error("scenario: flows[{flow}]: {error}")]
    Controller {
        /// Index of the flow.
        flow: usize,
        /// Why.
        error: policies::Error,
    },
}
