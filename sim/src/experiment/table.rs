//! A report as text.

use policies::experiment::report::amount;
use policies::experiment::{ArmReport, Comparison, Metric, Report, State, Unit, Verdict};
use std::fmt::Write as _;

/// The report for a terminal.
pub fn table(report: &Report) -> String {
    let mut text = format!("experiment {}: {}\n", report.name, standing(&report.state));
    let unit = unit(report.unit);
    let _ = writeln!(
        text,
        "each observation is {unit}; {} decides; α = {}\n",
        report.primary, report.alpha
    );
    let mut rows = vec![arm_head()];
    rows.extend(report.arms.iter().map(arm_row));
    text += &columns(&rows);
    let mut rows = vec![comparison_head()];
    rows.extend(report.comparisons.iter().map(|c| comparison_row(report, c)));
    if rows.len() > 1 {
        let _ = writeln!(text, "\nagainst {}:", name(report, 0));
        text += &columns(&rows);
    }
    text.push('\n');
    for line in notes(report) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "\n{}", outcome(&report.verdict));
    text
}

/// What has come out, in a sentence.
pub fn outcome(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Open { why } => format!("No winner yet: {why}"),
        Verdict::Winner { summary, .. } => format!("Winner: {summary}"),
        Verdict::HeldBack { summary, .. } => format!("Held back: {summary}"),
        Verdict::Invalid { why } => format!("Not valid: {why}"),
    }
}

/// Where the experiment is.
pub(super) fn standing(state: &State) -> String {
    match state {
        State::Created => "not started".to_owned(),
        State::Running { .. } => "running".to_owned(),
        State::Stopped { why, .. } => format!("stopped ({why})"),
    }
}

pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ue => "a UE",
        Unit::Cell => "a cell",
        Unit::Switchback => "a time slot of a cell (pairs of slots are compared)",
    }
}

/// Power, sample ratio, stopped arms, warnings.
pub(super) fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(power) = report.power {
        notes.push(format!(
            "power: with {} observations per arm, a true difference of {} in {} is found with probability {:.2}",
            power.observations,
            amount(report.primary, power.effect),
            report.primary,
            power.probability
        ));
    }
    notes.push(format!("sample ratio: p = {:.3}", report.sample_ratio_p));
    for arm in &report.arms {
        if let Some(harm) = &arm.stopped {
            notes.push(format!("arm {} was stopped: {harm}", arm.name));
        }
    }
    notes.extend(report.warnings.iter().map(|w| format!("note: {w}")));
    notes
}

pub(super) fn arm_head() -> Vec<String> {
    let metrics = Metric::ALL.iter().map(|metric| match metric.unit() {
        "" => metric.name().to_owned(),
        unit => format!("{metric} {unit}"),
    });
    let first = ["arm", "observed", "flow-seconds"].map(str::to_owned);
    first.into_iter().chain(metrics).collect()
}

pub(super) fn arm_row(arm: &ArmReport) -> Vec<String> {
    let first = [
        arm.name.clone(),
        arm.observations.to_string(),
        format!("{:.0}", arm.seconds),
    ];
    let values = Metric::ALL.iter().map(|metric| {
        let value = arm.values.get(metric);
        value.map_or("-".to_owned(), |v| format!("{:.2}", metric.display(*v)))
    });
    first.into_iter().chain(values).collect()
}

pub(super) fn comparison_head() -> Vec<String> {
    [
        "arm",
        "metric",
        "difference",
        "at any look",
        "bootstrap",
        "p at any look",
    ]
    .map(str::to_owned)
    .to_vec()
}

pub(super) fn comparison_row(report: &Report, c: &Comparison) -> Vec<String> {
    let signed = |value: f64| {
        let sign = if value < 0.0 { '-' } else { '+' };
        format!("{sign}{}", amount(c.metric, value.abs()))
    };
    let interval = |low: f64, high: f64| {
        if low.is_finite() && high.is_finite() {
            format!("{} … {}", signed(low), signed(high))
        } else {
            "unbounded".to_owned()
        }
    };
    let bootstrap = c.bootstrap.map(|i| interval(i.low, i.high));
    vec![
        name(report, c.arm).to_owned(),
        c.metric.name().to_owned(),
        signed(c.difference),
        interval(c.interval.low, c.interval.high),
        bootstrap.unwrap_or_else(|| "-".to_owned()),
        format!("{:.4}", c.p_value),
    ]
}

pub(super) fn name(report: &Report, arm: usize) -> &str {
    report.arms.get(arm).map_or("", |arm| &arm.name)
}

/// Rows as text: the first column to the left, figures to the right.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(text, "{cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}
