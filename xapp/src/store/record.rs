//! Decisions as they are written: in JSON, with the version of their layout.

use crate::cell::DecisionRecord;
use policies::decision_log::{LoggedDecision, LoggedReport, VERSION};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tracing::warn;

/// A decision in the layout in which it is kept.
pub(super) fn logged(record: &DecisionRecord) -> LoggedDecision {
    let decision = &record.decision;
    let reports = record.reports.iter();
    let shadow = record.shadow.as_ref();
    LoggedDecision {
        edge: record.flow.edge.to_string(),
        flow: record.flow.flow.to_string(),
        node: record.node.to_string(),
        ue: record.ue,
        sequence: record.sequence,
        time_us: record.time_us,
        controller: record.policy.name().into(),
        slice_policy: name(&record.slice_policy),
        arm: name(&record.arm),
        previous_rate_bps: record.previous_rate_bps,
        rate_bps: decision.rate_bps,
        target_bitrate_bps: decision.target_bitrate_bps,
        pacing_rate_bps: decision.pacing_rate_bps,
        prbs: decision.prbs,
        target_prbs: decision.target_prbs,
        gain_bps_per_prb: decision.gain_bps_per_prb,
        chosen_gain: decision.chosen_gain,
        shadow_controller: shadow.map_or("", |s| s.policy.name()).into(),
        shadow_rate_bps: shadow.map(|s| s.rate_bps),
        note: decision.note,
        target_factor: record.target.factor,
        cell_prbs: record.target.cell_prbs,
        active_ues: record.target.active_flows,
        rate_min_bps: record.bounds.min_bps,
        rate_max_bps: record.bounds.max_bps,
        report_age_us: u64::try_from(record.report_age.as_micros()).unwrap_or(u64::MAX),
        reports: reports
            .map(|report| LoggedReport::new(report, record.at))
            .collect(),
    }
}

fn name(name: &Option<Arc<str>>) -> String {
    name.as_deref().unwrap_or_default().to_owned()
}

#[derive(Serialize)]
struct Written {
    v: u32,
    #[serde(flatten)]
    decision: LoggedDecision,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// The octets of a decision.
pub(super) fn encode(record: &DecisionRecord) -> Vec<u8> {
    let decision = logged(record);
    let written = Written {
        v: VERSION,
        decision,
    };
    serde_json::to_vec(&written).unwrap_or_default()
}

/// Reads them.
pub(super) fn decode(octets: &[u8]) -> Result<LoggedDecision, String> {
    let Version { v } = serde_json::from_slice(octets).map_err(|error| error.to_string())?;
    if v != VERSION {
        return Err(format!(
            "its layout has version {v}, this Cantor reads {VERSION}"
        ));
    }
    serde_json::from_slice(octets).map_err(|error| error.to_string())
}

/// Reads them, if that is possible; otherwise says why not.
pub(super) fn readable(octets: &[u8]) -> Option<LoggedDecision> {
    match decode(octets) {
        Ok(decision) => Some(decision),
        Err(reason) => {
            warn!(
                reason,
                "a stored decision cannot be read and is passed over"
            );
            None
        }
    }
}
