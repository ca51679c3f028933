//! Configuration: one TOML file, environment overrides.
//!
//! The keys are described for operators in `cantor.example.toml`, which holds exactly these defaults.

mod check;
mod error;
mod load;

pub use error::Error;
pub use load::{Loaded, Origin, load};

use crate::measure::{CellConfig, DownlinkShare, KpmDialect};
use crate::models::{Backend, Engines};
use crate::ran::{ServiceModel, Slice, Wishes, direct, flexric};
use crate::store::{self, Naming};
use policies::{GainPolicy, GuardRails, SNssai};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// All settings of one xApp.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Who this instance is.
    pub xapp: Xapp,
    /// How E2 nodes reach it.
    pub ran: Ran,
    /// What the cells are like.
    pub cell: Cell,
    /// How rates are decided.
    pub control: Control,
    /// Models of learned policies.
    pub models: Models,
    /// Limits of learned policies.
    pub guard: Guard,
    /// Slice policies.
    pub policies: Policies,
    /// A1 server for the non-RT RIC.
    pub a1: A1,
    /// What edge servers may do.
    pub guidance: Guidance,
    /// gRPC listener: guidance, operations, health, reflection.
    pub grpc: Grpc,
    /// HTTP listener: health and metrics.
    pub http: Http,
    /// Where state is kept.
    pub store: Store,
    /// Finding the UE of an address by its traffic.
    pub matching: Matching,
    /// Cells that differ from `cell`.
    pub node: Vec<Node>,
    /// Static table: which UE has which IP address.
    pub binding: Vec<Binding>,
}

/// Who this instance is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Xapp {
    /// Identity that edge servers and operators see.
    pub id: String,
}

/// How E2 nodes reach the xApp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ran {
    /// Kind of link.
    pub link: Link,
    /// Addresses on which E2 nodes connect, `sctp://HOST:PORT` or (development only) `tcp://HOST:PORT`.
    pub listen: Vec<String>,
    /// Service models to subscribe to, where a node offers them.
    pub models: Vec<Model>,
    /// Report period δ asked of the nodes, milliseconds.
    pub report_period_ms: u32,
    /// Slice/service type of the UEs that KPM reports.
    pub kpm_sst: u8,
    /// UEs that one KPM report may have to hold.
    pub expected_ues: u32,
    /// A node that reports nothing for this long (and ten report periods) is silent, milliseconds; of the link `direct`.
    pub silent_after_ms: u32,
    /// Send ErrorIndication to FlexRIC's agents too.
    pub error_indication_to_flexric: bool,
    /// Where FlexRIC's RIC takes xApps, of the link `flexric`.
    pub ric: String,
    /// Where it takes E2 nodes, for the guard of E42 setups; empty: none.
    pub ric_guard: String,
    /// The E2AP version that the RIC was built with.
    pub e2ap_version: E2apVersion,
}

/// Kind of RAN link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// Cantor terminates E2 itself.
    Direct,
    /// Cantor is an xApp of FlexRIC's near-RT RIC (E42).
    Flexric,
}

/// E2AP version of a FlexRIC build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum E2apVersion {
    /// v1.01.
    #[serde(rename = "1.01")]
    V1_01,
    /// v2.03, FlexRIC's default.
    #[serde(rename = "2.03")]
    V2_03,
    /// v3.01.
    #[serde(rename = "3.01")]
    V3_01,
}

/// Service model that Cantor can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// O-RAN E2SM-KPM.
    Kpm,
    /// FlexRIC MAC statistics.
    Mac,
    /// FlexRIC RLC statistics.
    Rlc,
    /// FlexRIC PDCP statistics: which C-RNTI the UE has that KPM and GTP report.
    Pdcp,
    /// FlexRIC GTP statistics: the UEs' tunnels.
    Gtp,
}

/// What the cells are like: E2 does not tell, and PRB use means nothing without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cell {
    /// PRBs of the carrier (TS 38.101-1 table 5.3.2-1).
    pub carrier_prbs: u32,
    /// Numerology µ: subcarrier spacing 15·2^µ kHz (TS 38.211 clause 4.2).
    pub numerology: u8,
    /// Part of all slots that carries downlink; 1 for FDD.
    pub downlink_share: f64,
    /// The share is at least this, and more where more is seen in use.
    pub learn_downlink_share: bool,
    /// A UE whose data waits for this long without a transport block is lost, milliseconds.
    pub lost_after_ms: u32,
    /// Units of the node's KPM values: `auto`, `standard`, `oai2024` or `oai2026`.
    pub kpm_dialect: KpmDialect,
}

/// How rates are decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Control {
    /// Control interval Δ, milliseconds.
    pub interval_ms: u32,
    /// Gain policies in order of preference.
    pub policies: Vec<GainPolicy>,
    /// Gain policy that decides beside the one that rules a flow, and is not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<GainPolicy>,
    /// PRB target factor f.
    pub target_factor: f64,
    /// Gain K of RAPID.
    pub gain: f64,
    /// γ of RAPID, bit/s per PRB.
    pub gamma_bps_per_prb: u64,
    /// Rate at which a flow starts that does not say its own, bit/s.
    pub start_rate_bps: u64,
    /// Rate floor, bit/s.
    pub rate_min_bps: u64,
    /// Rate ceiling, bit/s.
    pub rate_max_bps: u64,
    /// What one PRB in every slot can carry at best, bit/s: bounds the rate by the cell's peak.
    pub peak_bps_per_prb: u64,
    /// A UE without reports for this long is gone, milliseconds.
    pub ue_timeout_ms: u32,
}

/// Models of learned policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    /// Folder of the bundle that the gain policy `prism` runs; empty: none.
    pub prism: PathBuf,
    /// How often it is looked at, milliseconds.
    pub look_every_ms: u32,
    /// What runs models.
    pub backend: Backend,
    /// Library of ONNX Runtime; empty: `ORT_DYLIB_PATH`, or the system's.
    pub onnxruntime: PathBuf,
}

/// Limits of learned policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Guard {
    /// Largest step of the rate per control interval, as a share of its ceiling.
    pub max_step: f64,
    /// Observations are far outside at so many widths of the training range beyond it …
    pub outside_by: f64,
    /// … in so many control intervals in a row.
    pub outside_intervals: u32,
    /// An output that so many different observations in a row do not change is constant.
    pub constant_observations: u32,
    /// A demoted policy must be well for this long, milliseconds; twice as long each time it is demoted again soon …
    pub recovery_ms: u32,
    /// … up to this, milliseconds.
    pub longest_recovery_ms: u32,
}

/// Slice policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policies {
    /// Folder of slice policies; empty: none.
    pub folder: PathBuf,
    /// How often it is looked at, milliseconds.
    pub look_every_ms: u32,
}

/// A1 server for the non-RT RIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct A1 {
    /// Where it listens; empty: nowhere.
    pub listen: String,
}

/// What edge servers may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Guidance {
    /// Time for which guidance holds, milliseconds; 0: three control intervals.
    pub valid_for_ms: u32,
    /// Streams (edge servers) at a time.
    pub max_streams: u32,
    /// Flows on one stream.
    pub max_flows_per_stream: u32,
}

/// Where state is kept that outlives the process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// `memory`, `file:PATH`, `redis://…`, `redis+unix://…`, `redis-sentinel://…` or `redis-cluster://…`.
    pub url: String,
    /// Keys in Redis begin with it.
    pub namespace: String,
    /// How keys in Redis are made.
    pub naming: Naming,
    /// Redis has to answer within this time, milliseconds.
    pub timeout_ms: u32,
    /// Decisions that the log keeps at most; 0: none is logged.
    pub log_length: u32,
}

/// Finding the UE of an address by its traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Matching {
    /// Addresses that no table has are looked for.
    pub enabled: bool,
}

/// gRPC listener.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grpc {
    /// Where it listens.
    pub listen: SocketAddr,
    /// HTTP/2 ping interval, milliseconds.
    pub keepalive_interval_ms: u32,
    /// A peer that does not answer a ping for this long is gone, milliseconds.
    pub keepalive_timeout_ms: u32,
    /// Largest message accepted, octets.
    pub max_message_bytes: u32,
}

/// HTTP listener.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// Where it listens.
    pub listen: SocketAddr,
}

/// Says that the UE with an IP address is a UE of the RAN. Exactly one of the four identities is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Address of the UE.
    pub ip: IpAddr,
    /// E2 node, as Cantor names it; empty: any node, if just one UE fits.
    #[serde(default)]
    pub node: String,
    /// C-RNTI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_rnti: Option<u16>,
    /// AMF UE NGAP ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amf_ue_ngap_id: Option<u64>,
    /// RAN UE ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_ue_id: Option<u64>,
    /// The gNB's tunnel endpoint id of the UE's PDU session on N3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gnb_teid: Option<u32>,
}

/// What is otherwise at one E2 node: of `cell`, and the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    /// E2 node, as Cantor names it.
    pub id: String,
    /// As `cell.carrier_prbs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier_prbs: Option<u32>,
    /// As `cell.numerology`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numerology: Option<u8>,
    /// As `cell.downlink_share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downlink_share: Option<f64>,
    /// As `cell.learn_downlink_share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learn_downlink_share: Option<bool>,
    /// As `cell.lost_after_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_after_ms: Option<u32>,
    /// As `cell.kpm_dialect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kpm_dialect: Option<KpmDialect>,
    /// As `control.target_factor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_factor: Option<f64>,
}

impl Default for Xapp {
    fn default() -> Self {
        Self {
            id: "cantor".into(),
        }
    }
}

impl Default for Ran {
    fn default() -> Self {
        Self {
            link: Link::Direct,
            listen: vec!["sctp://[::]:36421".into()],
            models: vec![Model::Kpm, Model::Mac, Model::Rlc, Model::Pdcp, Model::Gtp],
            report_period_ms: 50,
            kpm_sst: 1,
            expected_ues: 16,
            silent_after_ms: 10_000,
            error_indication_to_flexric: false,
            ric: "sctp://127.0.0.1:36422".into(),
            ric_guard: "sctp://127.0.0.1:36421".into(),
            e2ap_version: E2apVersion::V2_03,
        }
    }
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            carrier_prbs: 106,
            numerology: 1,
            downlink_share: 0.8,
            learn_downlink_share: false,
            lost_after_ms: 500,
            kpm_dialect: KpmDialect::Auto,
        }
    }
}

impl Ran {
    /// As the direct link needs it. Addresses that cannot be read were refused by the check of the settings.
    pub fn direct(&self) -> direct::Config {
        let silent_after_ms = self.silent_after_ms.max(10 * self.report_period_ms);
        direct::Config {
            listen: self.listen.iter().filter_map(|a| a.parse().ok()).collect(),
            wishes: self.wishes(),
            silent_after: Duration::from_millis(silent_after_ms.into()),
            error_indication_to_flexric: self.error_indication_to_flexric,
            limits: direct::Limits::default(),
        }
    }

    /// As the E42 link needs it. `None` when an address cannot be read, which the check of the settings refuses.
    pub fn flexric(&self) -> Option<flexric::Config> {
        let guard = match self.ric_guard.as_str() {
            "" => None,
            address => Some(address.parse().ok()?),
        };
        Some(flexric::Config {
            ric: self.ric.parse().ok()?,
            guard,
            version: match self.e2ap_version {
                E2apVersion::V1_01 => e2sm::e2ap::Version::V1_01,
                E2apVersion::V2_03 => e2sm::e2ap::Version::V2_03,
                E2apVersion::V3_01 => e2sm::e2ap::Version::V3_01,
            },
            wishes: self.wishes(),
            ..flexric::Config::default()
        })
    }

    fn wishes(&self) -> Wishes {
        Wishes {
            models: self.models.iter().map(|model| (*model).into()).collect(),
            period_ms: self.report_period_ms,
            slice: Slice {
                sst: self.kpm_sst,
                sd: None,
            },
            expected_ues: self.expected_ues,
        }
    }
}

impl From<Model> for ServiceModel {
    fn from(model: Model) -> Self {
        match model {
            Model::Kpm => Self::Kpm,
            Model::Mac => Self::Mac,
            Model::Rlc => Self::Rlc,
            Model::Pdcp => Self::Pdcp,
            Model::Gtp => Self::Gtp,
        }
    }
}

impl Cell {
    /// As the measurements need it.
    pub fn measured(&self) -> CellConfig {
        CellConfig {
            carrier_prbs: self.carrier_prbs.into(),
            numerology: self.numerology,
            downlink_share: if self.learn_downlink_share {
                DownlinkShare::Learned {
                    at_least: self.downlink_share,
                }
            } else {
                DownlinkShare::Configured(self.downlink_share)
            },
            lost_after: Duration::from_millis(self.lost_after_ms.into()),
            kpm_slice: None,
            kpm_dialect: self.kpm_dialect,
        }
    }
}

impl Default for Control {
    fn default() -> Self {
        Self {
            interval_ms: 200,
            policies: vec![GainPolicy::Rapid, GainPolicy::RapidPeak],
            shadow: None,
            target_factor: 0.9,
            gain: 0.5,
            gamma_bps_per_prb: 1_000_000,
            start_rate_bps: 1_000_000,
            rate_min_bps: 100_000,
            rate_max_bps: 1_000_000_000,
            peak_bps_per_prb: 1_400_000,
            ue_timeout_ms: 10_000,
        }
    }
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            folder: PathBuf::new(),
            look_every_ms: 1000,
        }
    }
}

impl A1 {
    /// Where it listens, if anywhere. An address that cannot be read is refused by the check of the settings.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listen.parse().ok()
    }
}

impl Policies {
    /// The folder, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        (!self.folder.as_os_str().is_empty()).then_some(&*self.folder)
    }
}

impl Default for Guidance {
    fn default() -> Self {
        Self {
            valid_for_ms: 0,
            max_streams: 256,
            max_flows_per_stream: 2048,
        }
    }
}

impl Default for Store {
    fn default() -> Self {
        let store::Settings {
            place,
            namespace,
            naming,
            timeout,
            log_length,
        } = store::Settings::default();
        Self {
            url: place.to_string(),
            namespace,
            naming,
            timeout_ms: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
            log_length: u32::try_from(log_length).unwrap_or(u32::MAX),
        }
    }
}

impl Store {
    /// As the store needs it.
    ///
    /// # Errors
    /// Why the place cannot be used; the check of the settings refuses it.
    pub fn settings(&self) -> Result<store::Settings, String> {
        Ok(store::Settings {
            place: self.url.parse()?,
            namespace: self.namespace.clone(),
            naming: self.naming,
            timeout: Duration::from_millis(self.timeout_ms.into()),
            log_length: self.log_length as usize,
        })
    }
}

impl Default for Matching {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Default for Grpc {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 50051)),
            keepalive_interval_ms: 10_000,
            keepalive_timeout_ms: 5_000,
            max_message_bytes: 65_536,
        }
    }
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
        }
    }
}

impl Default for Models {
    fn default() -> Self {
        Self {
            prism: PathBuf::new(),
            look_every_ms: 5000,
            backend: Backend::Auto,
            onnxruntime: PathBuf::new(),
        }
    }
}

impl Models {
    /// Folder of the bundle that `prism` runs.
    pub fn folder(&self) -> Option<&Path> {
        (!self.prism.as_os_str().is_empty()).then_some(&self.prism)
    }

    /// What runs models.
    pub fn engines(&self) -> Engines {
        Engines {
            backend: self.backend,
            library: self.onnxruntime.clone(),
        }
    }
}

impl Default for Guard {
    fn default() -> Self {
        let rails = GuardRails::default();
        let ms = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        Self {
            max_step: rails.max_step,
            outside_by: rails.outside_by,
            outside_intervals: rails.outside_intervals,
            constant_observations: rails.constant_observations,
            recovery_ms: ms(rails.recovery),
            longest_recovery_ms: ms(rails.longest_recovery),
        }
    }
}

impl Guard {
    /// As the controllers need it.
    pub fn rails(&self) -> GuardRails {
        GuardRails {
            max_step: self.max_step,
            outside_by: self.outside_by,
            outside_intervals: self.outside_intervals,
            constant_observations: self.constant_observations,
            recovery: Duration::from_millis(self.recovery_ms.into()),
            longest_recovery: Duration::from_millis(self.longest_recovery_ms.into()),
        }
    }
}

impl Control {
    /// Control interval Δ.
    pub fn interval(&self) -> Duration {
        Duration::from_millis(self.interval_ms.into())
    }

    /// Time after which a silent UE is gone.
    pub fn ue_timeout(&self) -> Duration {
        Duration::from_millis(self.ue_timeout_ms.into())
    }
}

impl Config {
    /// The settings as they are at this E2 node.
    pub fn of_node(&self, id: &str) -> Self {
        let mut config = self.clone();
        if let Some(node) = self.node.iter().find(|node| node.id == id) {
            let (cell, target_factor) = (&mut config.cell, &mut config.control.target_factor);
            *target_factor = node.target_factor.unwrap_or(*target_factor);
            *cell = Cell {
                carrier_prbs: node.carrier_prbs.unwrap_or(cell.carrier_prbs),
                numerology: node.numerology.unwrap_or(cell.numerology),
                downlink_share: node.downlink_share.unwrap_or(cell.downlink_share),
                learn_downlink_share: node
                    .learn_downlink_share
                    .unwrap_or(cell.learn_downlink_share),
                lost_after_ms: node.lost_after_ms.unwrap_or(cell.lost_after_ms),
                kpm_dialect: node.kpm_dialect.unwrap_or(cell.kpm_dialect),
            };
        }
        config
    }

    /// Cells as the measurements of Cantor's own subscriptions need them.
    pub fn measured(&self) -> CellConfig {
        CellConfig {
            kpm_slice: Some(SNssai {
                sst: self.ran.kpm_sst,
                sd: None,
            }),
            ..self.cell.measured()
        }
    }

    /// Time for which guidance holds.
    pub fn valid_for(&self) -> Duration {
        match self.guidance.valid_for_ms {
            0 => 3 * self.control.interval(),
            ms => Duration::from_millis(ms.into()),
        }
    }
}
