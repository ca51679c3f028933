//! Which slice policy rules a flow, what the flow runs with because of it, and where each value comes from.

use super::Policies;
use super::service::state_name;
use crate::cell::view::FlowRule;
use crate::config::Control;
use crate::guidance::FlowKey;
use policies::GainPolicy;
use policies::slice::{Factor, FlowFacts, RateRange, SliceScope, Verdict};
use proto::operations::{EffectiveValue, ExplainFlowResponse, PolicyVerdict};

/// Explains what rules a flow.
pub fn explained(
    policies: &Policies,
    flow: &FlowKey,
    rule: &FlowRule,
    control: &Control,
) -> ExplainFlowResponse {
    let candidates = policies.read().explain(&rule.facts);
    let verdicts = candidates.into_iter().map(|candidate| {
        let (verdict, reason) = match candidate.verdict {
            Verdict::Rules => ("rules", String::new()),
            Verdict::Outranked(reason) => ("outranked", reason),
            Verdict::OutOfScope(reason) => ("out of scope", reason),
        };
        let entry = candidate.entry;
        PolicyVerdict {
            name: entry.policy.name().into(),
            source: entry.origin.source.name().into(),
            origin: entry.origin.place.to_string(),
            scope: entry.policy.spec.scope.to_string(),
            priority: entry.policy.spec.priority,
            verdict: verdict.into(),
            reason,
        }
    });
    ExplainFlowResponse {
        edge_id: flow.edge.to_string(),
        flow_id: flow.flow.to_string(),
        facts: facts(&rule.facts),
        policy: rule.effective.policy_name().into(),
        verdicts: verdicts.collect(),
        values: values(rule, control),
    }
}

fn facts(facts: &FlowFacts) -> String {
    let slice = match facts.slice {
        Some(slice) => format!("slice {}", SliceScope::from(slice)),
        None => "slice not known".into(),
    };
    let address = facts.address.map(|address| format!(" ({address})"));
    let address = address.unwrap_or_default();
    format!("{slice}, cell {}, UE {}{address}", facts.cell, facts.ue)
}

/// What the flow runs with.
fn values(rule: &FlowRule, control: &Control) -> Vec<EffectiveValue> {
    let effective = &rule.effective;
    let policy = format!("policy {}", effective.policy_name());
    let configuration = "configuration";
    let mut values = Vec::new();
    let mut add = |name: &str, value: String, from: &str| {
        values.push(EffectiveValue {
            name: name.into(),
            value,
            from: from.into(),
        });
    };
    let names = rule.preferences.iter().map(|policy| policy.name());
    let running = rule.running.map_or("none yet", GainPolicy::name);
    let preferences = names.collect::<Vec<_>>().join(", ");
    add(
        "gain policies",
        format!("{preferences} (running: {running})"),
        match effective.gain_policies.as_slice() {
            [] if rule.preferences == control.policies => configuration,
            [] => "edge server",
            _ => &policy,
        },
    );
    add(
        "PRB target factor",
        format!("{:.3}", rule.factor),
        &match effective.factor {
            Factor::Configured => configuration.into(),
            Factor::Fixed(_) => policy.clone(),
            Factor::Auto { min, max } => format!("outer loop within {min} to {max}, {policy}"),
        },
    );
    if let Some(share) = effective.prb_share {
        add("PRB share of the slice", share.to_string(), &policy);
    }
    if let Some(latency) = &effective.latency {
        add("delay objective", latency.to_string(), &policy);
        let objective = rule.slice.as_ref().and_then(|slice| slice.objective);
        let measured = match objective {
            Some((Some(ms), state)) => format!("{ms:.1} ms, {}", state_name(state)),
            _ => "nothing yet".into(),
        };
        let from = rule.delay_source.map_or("", |source| source.name());
        add("measured", measured, from);
    }
    let flow_rate = &effective.flow_rate;
    let bound = |own: Option<u64>, configured: u64| match own {
        Some(bps) => (bps, policy.as_str()),
        None => (configured, configuration),
    };
    for (name, (bps, from)) in [
        ("rate floor", bound(flow_rate.min_bps, control.rate_min_bps)),
        (
            "rate ceiling",
            bound(flow_rate.max_bps, control.rate_max_bps),
        ),
    ] {
        add(name, mbps(bps), from);
    }
    let RateRange { min_bps, max_bps } = effective.slice_rate;
    for (name, bps) in [
        ("slice rate floor", min_bps),
        ("slice rate ceiling", max_bps),
    ] {
        if let Some(bps) = bps {
            add(name, mbps(bps), &policy);
        }
    }
    values
}

fn mbps(bps: u64) -> String {
    format!("{} Mbit/s", bps as f64 / 1e6)
}
