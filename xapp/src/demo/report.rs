//! The demo as an HTML page with plots.

use super::phase::flow_name;
use super::series::{FlowSeries, Series};
use super::summary::{HEAD, Outcome};
use sim::plot::{Chart, Page, PlotError, Series as Line};

/// The page.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn page(outcome: &Outcome, [guided, unguided]: &[Series; 2]) -> Result<String, PlotError> {
    let mut page = Page::new("Cantor demo: guided and unguided flows in one cell");
    page.paragraph(&format!(
        "A cell of 106 PRBs (30 kHz, TDD) with two UEs whose flows an edge server sends, and a greedy UE. Gain policy: \
         {}. Two runs of {:.0} s in real time; E2 over {}.",
        outcome.policy, outcome.seconds, outcome.transport
    ));
    for finding in outcome.findings() {
        page.paragraph(&finding);
    }
    page.table(&HEAD, &outcome.rows());
    page.heading("One-way delay");
    page.chart(&delay(guided, unguided))?;
    page.heading("PRBs against their target, guided");
    page.chart(&prbs(guided))?;
    page.heading("Rates, guided");
    page.chart(&rates(guided))?;
    page.heading("RLC queues");
    page.chart(&queues(guided, unguided))?;
    Ok(page.finish())
}

fn chart(title: &str, y_label: &str, y_log: bool, series: Vec<Line>) -> Chart {
    Chart {
        title: title.to_owned(),
        x_label: "time, s".to_owned(),
        y_label: y_label.to_owned(),
        y_log,
        series,
        ..Chart::default()
    }
}

fn line(label: String, points: Vec<(f64, f64)>) -> Line {
    Line {
        label,
        points,
        ..Line::default()
    }
}

/// Seconds since the flow's first sample.
fn seconds(flow: &FlowSeries, start_us: i64) -> f64 {
    let first = flow.sent.first().map_or(start_us, |s| s.start_us);
    (start_us - first) as f64 / 1e6
}

/// A quantity of each UE, from the cell's snapshots.
fn of_ues(series: &Series, name: &str, value: fn(&sim::live::UeStats) -> f64) -> Vec<Line> {
    let points = |ue: usize| {
        let snapshots = series.settled(0.0);
        let at = |s: &sim::live::LiveStats| s.at.as_secs_f64() - series.start_s;
        snapshots
            .filter_map(|s| Some((at(s), value(s.ues.get(ue)?))))
            .collect()
    };
    (0..series.flows.len())
        .map(|ue| line(format!("{name} {}", flow_name(ue)), points(ue)))
        .collect()
}

fn delay(guided: &Series, unguided: &Series) -> Chart {
    let of = |series: &Series, name: &str| -> Vec<Line> {
        let flows = series.flows.iter().enumerate();
        flows
            .map(|(index, flow)| {
                let points = flow.received.iter().filter_map(|s| {
                    Some((seconds(flow, s.start_us), s.delay.as_ref()?.mean_us / 1e3))
                });
                line(format!("{name} {}", flow_name(index)), points.collect())
            })
            .collect()
    };
    let lines = [of(guided, "guided"), of(unguided, "unguided")].concat();
    chart(
        "Mean one-way delay of each 100 ms",
        "delay, ms",
        true,
        lines,
    )
}

fn prbs(guided: &Series) -> Chart {
    let mut lines = of_ues(guided, "PRBs", |u| u.prbs);
    if let Some(flow) = guided.flows.first() {
        let points = flow
            .sent
            .iter()
            .filter_map(|s| Some((seconds(flow, s.start_us), s.target_prbs?)));
        lines.push(Line {
            label: "target".to_owned(),
            points: points.collect(),
            reference: true,
            ..Line::default()
        });
    }
    chart("PRBs used of each 100 ms", "PRBs per slot", false, lines)
}

fn rates(guided: &Series) -> Chart {
    let mut lines = Vec::new();
    for (index, flow) in guided.flows.iter().enumerate() {
        let name = flow_name(index);
        let at = |start_us| seconds(flow, start_us);
        let allowed = flow.sent.iter().map(|s| (at(s.start_us), s.rate_bps / 1e6));
        let received = flow
            .received
            .iter()
            .map(|s| (at(s.start_us), s.goodput_bps / 1e6));
        lines.push(line(format!("guided rate of {name}"), allowed.collect()));
        lines.push(line(format!("goodput of {name}"), received.collect()));
    }
    chart("Guided rate and goodput", "Mbit/s", false, lines)
}

fn queues(guided: &Series, unguided: &Series) -> Chart {
    // An empty queue has no place on a logarithmic axis.
    let of = |series, name| of_ues(series, name, |u| (u.queue_bytes as f64 / 1e3).max(0.1));
    let lines = [of(guided, "guided"), of(unguided, "unguided")].concat();
    chart("RLC queue (empty: 0.1 kB)", "kB", true, lines)
}
