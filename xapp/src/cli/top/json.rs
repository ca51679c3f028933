//! A snapshot as JSON, with the names of the operations API. What is not known is null.

use super::fetch::Snapshot;
use proto::operations::{Decision, EdgeReport, Flow, Node, Ue};
use serde_json::{Value, json};

pub(super) fn snapshot(snapshot: &Snapshot) -> Value {
    let status = &snapshot.status;
    json!({
        "taken_us": snapshot.taken_us,
        "status": {
            "xapp_id": status.xapp_id,
            "version": status.version,
            "uptime_ms": status.uptime_ms,
            "ran_link": status.ran_link,
            "ready": status.ready,
            "not_ready_reason": status.not_ready_reason,
        },
        "nodes": snapshot.nodes.iter().map(node).collect::<Vec<_>>(),
        "ues": snapshot.ues.iter().map(ue).collect::<Vec<_>>(),
        "flows": snapshot.flows.iter().map(flow).collect::<Vec<_>>(),
    })
}

fn node(node: &Node) -> Value {
    let functions = node
        .functions
        .iter()
        .map(|f| json!({ "id": f.id, "revision": f.revision, "oid": f.oid, "kind": f.kind }));
    let subscriptions = node.subscriptions.iter().map(|s| {
        json!({
            "requestor": s.requestor,
            "instance": s.instance,
            "ran_function": s.ran_function,
            "period_ms": s.period_ms,
            "state": s.state,
            "detail": s.detail,
        })
    });
    json!({
        "id": node.id,
        "peer": node.peer,
        "connected": node.connected,
        "silent": node.silent,
        "e2ap_version": node.e2ap_version,
        "functions": functions.collect::<Vec<_>>(),
        "subscriptions": subscriptions.collect::<Vec<_>>(),
        "indications": node.indications,
        "rejected": node.rejected,
        "quarantined": node.quarantined,
        "active_ues": node.active_ues,
        "used_prbs": node.used_prbs,
        "available_prbs": node.available_prbs,
    })
}

fn ue(ue: &Ue) -> Value {
    json!({
        "node": ue.node,
        "id": ue.id,
        "prbs": ue.prbs,
        "mcs": ue.mcs,
        "retransmission_ratio": ue.retransmission_ratio,
        "sinr_db": ue.sinr_db,
        "cqi": ue.cqi,
        "throughput_bps": ue.throughput_bps,
        "queue_bytes": ue.queue_bytes,
        "head_of_line_us": ue.head_of_line_us,
        "report_age_us": ue.report_age_us,
        "active": ue.active,
        "lost": ue.lost,
    })
}

fn flow(flow: &Flow) -> Value {
    json!({
        "edge_id": flow.edge_id,
        "flow_id": flow.flow_id,
        "state": flow.state,
        "detail": flow.detail,
        "node": flow.node,
        "ue": flow.ue,
        "bound_by": flow.bound_by,
        "confidence": flow.confidence,
        "connected": flow.connected,
        "last_decision": flow.last_decision.as_ref().map(decision),
        "last_report": flow.last_report.as_ref().map(report),
    })
}

fn decision(decision: &Decision) -> Value {
    json!({
        "sequence": decision.sequence,
        "time_us": decision.time_us,
        "rate_bps": decision.rate_bps,
        "previous_rate_bps": decision.previous_rate_bps,
        "controller": decision.controller,
        "prbs": decision.prbs,
        "target_prbs": decision.target_prbs,
        "active_ues": decision.active_ues,
        "queue_bytes": decision.queue_bytes,
        "note": decision.note,
    })
}

fn report(report: &EdgeReport) -> Value {
    json!({
        "age_us": report.age_us,
        "interval_us": report.interval_us,
        "sent_bytes": report.sent_bytes,
        "acknowledged_bytes": report.acknowledged_bytes,
        "lost_packets": report.lost_packets,
        "one_way_delay_mean_us": report.one_way_delay_mean_us,
        "one_way_delay_p99_us": report.one_way_delay_p99_us,
        "application_limited": report.application_limited,
        "applied_sequence": report.applied_sequence,
    })
}
