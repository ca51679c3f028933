//! ORAN_QoSTarget (A1TD clauses 6.3.3.2 and 7.2.1).

use super::scope::{CellId, SliceId, UeId};
use super::{NotApplicable, Translated, bps, priority};
use crate::slice::{Delay, Latency, RateRange, Scope, SliceScope, Spec, Statistic};
use schemars::JsonSchema;
use serde::Deserialize;

/// Packets that a packet delay budget is about (TS 23.501 clause 5.7.3.4).
const BUDGETED: Statistic = Statistic::Percentile(98.0);

/// QoS target.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QosTarget {
    scope: QosScope,
    #[schemars(extend("minProperties" = 1))]
    qos_objectives: Objectives,
}

/// Scope: QoS flows of a UE, a group of UEs, a slice, or all.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QosScope {
    #[serde(default)]
    ue_id: Option<UeId>,
    #[serde(default)]
    group_id: Option<GroupId>,
    #[serde(default)]
    slice_id: Option<SliceId>,
    /// Guided flows do not tell their QoS identifier: all of the UE or the slice are meant.
    #[serde(rename = "qosId")]
    _qos_id: QosId,
    #[serde(default)]
    cell_id: Option<CellId>,
}

/// A group of UEs, which Cantor does not know.
#[expect(dead_code, reason = "read to be checked; Cantor does not use it")]
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GroupId {
    /// Subscriber profile.
    SpId(#[schemars(range(min = 1, max = 256))] u16),
    /// RF selection priority.
    RfspIndex(#[schemars(range(min = 1, max = 256))] u16),
}

/// QoS identifier.
#[expect(dead_code, reason = "read to be checked; Cantor does not use it")]
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub enum QosId {
    /// Of 5G.
    #[serde(rename = "5qI")]
    FiveQi(#[schemars(range(min = 1, max = 256))] u16),
    /// Of 4G.
    #[serde(rename = "qcI")]
    Qci(#[schemars(range(min = 1, max = 256))] u16),
}

/// The objectives. Rates are in kbit/s, the delay budget in ms.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Objectives {
    gfbr: Option<f64>,
    mfbr: Option<f64>,
    priority_level: Option<f64>,
    pdb: Option<f64>,
}

impl QosTarget {
    pub(super) fn translate(&self) -> Translated {
        let objectives = &self.qos_objectives;
        let nothing = |reason| Translated {
            not_applicable: Some(reason),
            ..Translated::default()
        };
        let spec = Spec {
            priority: priority(objectives.priority_level),
            latency: objectives.pdb.map(|ms| Latency {
                statistic: BUDGETED,
                ms,
                delay: Delay::OneWay,
            }),
            flow_rate: RateRange {
                min_bps: bps(objectives.gfbr),
                max_bps: bps(objectives.mfbr),
            },
            ..Spec::default()
        };
        if spec.latency.is_none() && spec.flow_rate == RateRange::default() {
            return nothing(NotApplicable::Statement);
        }
        let scope = &self.scope;
        // QoS flows of one identifier, whosever they are, cannot be told from others.
        if scope.group_id.is_some() || (scope.ue_id.is_none() && scope.slice_id.is_none()) {
            return nothing(NotApplicable::Scope);
        }
        let ue = match &scope.ue_id {
            None => None,
            Some(ue) => match ue.scope() {
                Some(ue) => Some(ue),
                None => return nothing(NotApplicable::Scope),
            },
        };
        let (node, ue) = ue.map_or((None, None), |(node, ue)| (node, Some(ue)));
        let cells = match (&scope.cell_id, node) {
            (Some(cell), None) => cell.nodes().into_iter().map(Some).collect(),
            // The UE's gNB says more than a cell of it.
            (_, node) => vec![node],
        };
        if cells.is_empty() {
            return nothing(NotApplicable::Scope);
        }
        let slice = scope.slice_id.as_ref().map(SliceScope::from);
        let specs = cells.into_iter().map(|cell| Spec {
            scope: Scope {
                slice: slice.clone(),
                cell,
                ue,
            },
            ..spec.clone()
        });
        Translated {
            specs: specs.collect(),
            ..Translated::default()
        }
    }
}
