//! Tables of policies.

use proto::operations::{ExplainFlowResponse, ListPoliciesResponse, SlicePolicy};
use std::fmt::Write as _;

/// All policies, one a line.
pub(super) fn list(listed: &ListPoliciesResponse) -> String {
    const HEAD: [&str; 7] = [
        "NAME",
        "SOURCE",
        "SCOPE",
        "PRIORITY",
        "FLOWS",
        "OBJECTIVE",
        "ORIGIN",
    ];
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    rows.extend(listed.policies.iter().map(|policy| {
        vec![
            policy.name.clone(),
            policy.source.clone(),
            policy.scope.clone(),
            policy.priority.to_string(),
            policy.flows.to_string(),
            objective(policy),
            policy.origin.clone(),
        ]
    }));
    let mut text = columns(&rows);
    for problem in &listed.problems {
        let _ = writeln!(text, "not used: {problem}");
    }
    text
}

fn objective(policy: &SlicePolicy) -> String {
    if policy.objective.is_empty() {
        return "-".into();
    }
    match policy.measured_ms {
        Some(ms) => format!(
            "{}: {ms:.1} ms, {}",
            policy.objective, policy.objective_state
        ),
        None => policy.objective.clone(),
    }
}

/// Which policy rules a flow, what it runs with, and what was considered.
pub(super) fn explained(explained: &ExplainFlowResponse) -> String {
    let ExplainFlowResponse {
        edge_id,
        flow_id,
        facts,
        policy,
        ..
    } = explained;
    let rules = if policy.is_empty() {
        "no slice policy rules it: the configuration does".to_owned()
    } else {
        format!("policy {policy} rules it")
    };
    let mut text = format!("flow {edge_id}/{flow_id}: {facts}\n{rules}\n\n");
    let mut rows = vec![vec!["VALUE".to_owned(), String::new(), "FROM".to_owned()]];
    rows.extend(
        explained
            .values
            .iter()
            .map(|value| vec![value.name.clone(), value.value.clone(), value.from.clone()]),
    );
    text += &columns(&rows);
    if explained.verdicts.is_empty() {
        return text;
    }
    let head = ["POLICY", "SOURCE", "SCOPE", "PRIORITY", "VERDICT", "WHY"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(explained.verdicts.iter().map(|verdict| {
        vec![
            verdict.name.clone(),
            verdict.source.clone(),
            verdict.scope.clone(),
            verdict.priority.to_string(),
            verdict.verdict.clone(),
            match verdict.reason.as_str() {
                "" => verdict.origin.clone(),
                reason => reason.to_owned(),
            },
        ]
    }));
    text + "\n" + &columns(&rows)
}

/// Rows as text, each column as wide as its widest cell.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
