//! ORAN_SliceSLATarget (A1TD clauses 6.3.3.5, 6.3.4.3 and 7.2.7).

use super::scope::{CellId, PlmnId, SliceId};
use super::{NotApplicable, Translated, bps, priority};
use crate::slice::{Delay, Latency, RateRange, Scope, SliceScope, Spec, Statistic};
use schemars::JsonSchema;
use serde::Deserialize;

/// Most cells that one policy may name.
const MAX_CELLS: usize = 64;
/// "Maximum delay": what all but one of a hundred packets keep to.
const MAXIMUM: Statistic = Statistic::Percentile(99.0);

/// Slice SLA target.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SliceSlaTarget {
    scope: SlaScope,
    #[schemars(extend("minProperties" = 1))]
    slice_sla_objectives: Objectives,
    #[serde(default)]
    slice_sla_resources: Option<Resources>,
}

/// Scope: a slice.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SlaScope {
    slice_id: SliceId,
}

/// Where it is to hold.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub enum Resources {
    /// In these cells.
    #[serde(rename = "cellIdList")]
    CellIdList(#[schemars(length(min = 1, max = 64))] Vec<CellId>),
    /// In these tracking areas, which Cantor does not know.
    #[expect(dead_code, reason = "read to be checked; Cantor does not use it")]
    #[serde(rename = "taIList")]
    TaIList(#[schemars(length(min = 1))] Vec<TaI>),
}

/// A tracking area.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaI {
    #[serde(rename = "plmnId")]
    _plmn_id: PlmnId,
    #[serde(rename = "tac")]
    #[schemars(regex(pattern = "^[A-Fa-f0-9]{6}$"))]
    _tac: String,
}

/// The objectives. Rates are in kbit/s, delays in ms.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Objectives {
    max_number_of_ues: Option<f64>,
    max_number_of_pdu_sessions: Option<f64>,
    gua_dl_thpt_per_slice: Option<f64>,
    max_dl_thpt_per_slice: Option<f64>,
    max_dl_thpt_per_ue: Option<f64>,
    gua_ul_thpt_per_slice: Option<f64>,
    max_ul_thpt_per_slice: Option<f64>,
    max_ul_thpt_per_ue: Option<f64>,
    max_dl_packet_delay_per_ue: Option<f64>,
    max_ul_packet_delay_per_ue: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    max_dl_pdcp_sdu_packet_loss_rate_per_ue: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    max_ul_rlc_sdu_packet_loss_rate_per_ue: Option<f64>,
    min_dl_reliability_per_ue: Option<Reliability>,
    min_ul_reliability_per_ue: Option<Reliability>,
    max_dl_jitter_per_ue: Option<f64>,
    max_ul_jitter_per_ue: Option<f64>,
    #[schemars(range(min = 1))]
    dl_slice_priority: Option<f64>,
    #[schemars(range(min = 1))]
    ul_slice_priority: Option<f64>,
    max_dl_pkt_size: Option<f64>,
    max_ul_pkt_size: Option<f64>,
}

/// Part of the packets that arrive within a time (A1TD table 6.3.3.4-2).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reliability {
    #[serde(rename = "packetSize")]
    _packet_size: f64,
    user_plane_latency: f64,
    #[schemars(range(min = 0, max = 1))]
    success_probability: f64,
}

impl Objectives {
    /// The downlink delay: the reliability says it more closely than a maximum.
    fn latency(&self) -> Option<Latency> {
        let reliable = self.min_dl_reliability_per_ue.as_ref();
        let reliable = reliable
            .map(|r| (r.success_probability * 100.0, r.user_plane_latency))
            .filter(|(percent, _)| *percent > 0.0 && *percent < 100.0)
            .map(|(percent, ms)| (Statistic::Percentile(percent), ms));
        let maximum = self.max_dl_packet_delay_per_ue.map(|ms| (MAXIMUM, ms));
        let (statistic, ms) = reliable.or(maximum)?;
        Some(Latency {
            statistic,
            ms,
            delay: Delay::OneWay,
        })
    }

    /// Names of those that are not about downlink rates and delays.
    fn ignored(&self) -> Vec<String> {
        let left = [
            ("maxNumberOfUes", self.max_number_of_ues.is_some()),
            (
                "maxNumberOfPduSessions",
                self.max_number_of_pdu_sessions.is_some(),
            ),
            ("guaUlThptPerSlice", self.gua_ul_thpt_per_slice.is_some()),
            ("maxUlThptPerSlice", self.max_ul_thpt_per_slice.is_some()),
            ("maxUlThptPerUe", self.max_ul_thpt_per_ue.is_some()),
            (
                "maxUlPacketDelayPerUe",
                self.max_ul_packet_delay_per_ue.is_some(),
            ),
            (
                "maxDlPdcpSduPacketLossRatePerUe",
                self.max_dl_pdcp_sdu_packet_loss_rate_per_ue.is_some(),
            ),
            (
                "maxUlRlcSduPacketLossRatePerUe",
                self.max_ul_rlc_sdu_packet_loss_rate_per_ue.is_some(),
            ),
            (
                "minUlReliabilityPerUe",
                self.min_ul_reliability_per_ue.is_some(),
            ),
            ("maxDlJitterPerUe", self.max_dl_jitter_per_ue.is_some()),
            ("maxUlJitterPerUe", self.max_ul_jitter_per_ue.is_some()),
            ("ulSlicePriority", self.ul_slice_priority.is_some()),
            ("maxDlPktSize", self.max_dl_pkt_size.is_some()),
            ("maxUlPktSize", self.max_ul_pkt_size.is_some()),
        ];
        let left = left.into_iter().filter(|(_, given)| *given);
        left.map(|(name, _)| name.to_owned()).collect()
    }
}

impl SliceSlaTarget {
    pub(super) fn translate(&self) -> Translated {
        let objectives = &self.slice_sla_objectives;
        let ignored = objectives.ignored();
        let spec = Spec {
            priority: priority(objectives.dl_slice_priority),
            latency: objectives.latency(),
            flow_rate: RateRange {
                min_bps: None,
                max_bps: bps(objectives.max_dl_thpt_per_ue),
            },
            slice_rate: RateRange {
                min_bps: bps(objectives.gua_dl_thpt_per_slice),
                max_bps: bps(objectives.max_dl_thpt_per_slice),
            },
            ..Spec::default()
        };
        let nothing = |reason| Translated {
            not_applicable: Some(reason),
            ignored: ignored.clone(),
            ..Translated::default()
        };
        let says_nothing = Spec {
            priority: 0,
            ..spec.clone()
        } == Spec::default();
        if says_nothing {
            return nothing(NotApplicable::Statement);
        }
        let cells = match &self.slice_sla_resources {
            None => vec![None],
            Some(Resources::TaIList(_)) => return nothing(NotApplicable::Scope),
            Some(Resources::CellIdList(cells)) => {
                let cells = cells.iter().take(MAX_CELLS);
                cells.flat_map(CellId::nodes).map(Some).collect()
            }
        };
        if cells.is_empty() {
            return nothing(NotApplicable::Scope);
        }
        let slice = SliceScope::from(&self.scope.slice_id);
        let specs = cells.into_iter().map(|cell| Spec {
            scope: Scope {
                slice: Some(slice.clone()),
                cell,
                ue: None,
            },
            ..spec.clone()
        });
        Translated {
            specs: specs.collect(),
            not_applicable: None,
            ignored,
        }
    }
}
