//! RAPID's figure 3: from 1 Mbit/s to the target, for several gains and control intervals.

use super::reference::{Reference, Row, beside};
use super::section::Section;
use super::{Failure, simulate};
use sim::plot::{Chart, Series};
use sim::results::ReportRow;
use sim::scenario::Selection;

/// PRBs of the carrier, and the target, in percent of them.
const PRBS: f64 = 106.0;
const TARGET_PERCENT: f64 = 95.0;
/// A report of ns-3 or ours: end of its interval in s, PRB use in percent.
type Report = (f64, f64);

/// One of the two sweeps.
struct Sweep {
    /// Name of its runs in ns-3.
    run: &'static str,
    name: &'static str,
    scenario: &'static str,
    file: &'static str,
    /// When the end of a run begins and ends, s, as in ns-3's.
    tail: (f64, f64),
}

const SWEEPS: [Sweep; 2] = [
    Sweep {
        run: "bK",
        name: "K",
        scenario: "rapid-fig3a",
        file: "fig3a",
        tail: (3.3, 5.5),
    },
    Sweep {
        run: "bD",
        name: "Δ, s",
        scenario: "rapid-fig3b",
        file: "fig3b",
        tail: (8.0, 14.0),
    },
];

pub fn run() -> Result<Section, Failure> {
    let summary = Reference::new(include_str!("../../../reference/ns3_rapid_fig3.csv"));
    let traces = Reference::new(include_str!("../../../reference/ns3_rapid_fig3_traces.csv"));
    let mut section = Section::default();
    for sweep in &SWEEPS {
        let rows: Vec<Row<'_>> = summary
            .rows()
            .filter(|r| r.text("run") == sweep.run)
            .collect();
        let selections: Vec<Selection> = rows
            .iter()
            .map(|row| selection(sweep.scenario, *row))
            .collect();
        let ours = simulate("RAPID, figure 3", &selections, 1, |flows| {
            flows.first().map_or(Vec::new(), |f| f.rows().to_vec())
        })?;
        let ours: Vec<Vec<ReportRow>> = ours.into_iter().flatten().collect();
        let ns3: Vec<Vec<Report>> = rows
            .iter()
            .map(|row| trace(&traces, sweep.run, *row))
            .collect();
        let cells = rows.iter().zip(&ours).zip(&ns3);
        section.table(
            &format!("Figure 3, {}: ours / ns-3", sweep.name),
            &[
                sweep.name,
                "90 % of the target after, s",
                "within 5 points after, s",
                "PRB use in the end, %",
                "its deviation, points",
                "delay in the end, ms",
            ],
            cells
                .map(|((row, ours), ns3)| compare(*row, ours, ns3, sweep.tail))
                .collect(),
        );
        section.chart(sweep.file, chart(sweep.name, &rows, &ours, &ns3));
    }
    Ok(section)
}

/// The reports of one of ns-3's runs.
fn trace(traces: &Reference, run: &str, row: Row<'_>) -> Vec<Report> {
    let name = format!("{run}_{}", row.number("value"));
    let rows = traces.rows().filter(|r| r.text("run") == name);
    rows.map(|r| (r.number("t_s"), r.number("prb_pct")))
        .collect()
}

fn selection(scenario: &str, row: Row<'_>) -> Selection {
    let interval_ms = (1e3 * row.number("Delta_s")).round();
    Selection::new(scenario).with(&[
        format!("flows.*.k={:?}", row.number("K")),
        format!("control.control_interval_ms={interval_ms}"),
    ])
}

fn reports(rows: &[ReportRow]) -> Vec<Report> {
    let percent = |row: &ReportRow| (row.at.as_secs_f64(), 100.0 * row.prbs / PRBS);
    rows.iter().map(percent).collect()
}

/// End of the first report at 90 % of the target.
fn reached(reports: &[Report]) -> f64 {
    let first = reports.iter().find(|r| r.1 >= 0.9 * TARGET_PERCENT);
    first.map_or(f64::NAN, |r| r.0)
}

/// End of the first control interval from which on the means of all are within five points of the target.
fn settled(reports: &[Report], interval_s: f64) -> f64 {
    let index = |report: &Report| ((report.0 - 1e-6) / interval_s).floor();
    let intervals = reports.chunk_by(|a, b| index(a) == index(b));
    let mut since = None;
    for interval in intervals {
        let mean = interval.iter().map(|r| r.1).sum::<f64>() / interval.len() as f64;
        match (mean - TARGET_PERCENT).abs() <= 5.0 {
            true => since = since.or(interval.last().map(|r| r.0)),
            false => since = None,
        }
    }
    since.unwrap_or(f64::NAN)
}

fn compare(
    reference: Row<'_>,
    rows: &[ReportRow],
    ns3: &[Report],
    tail: (f64, f64),
) -> Vec<String> {
    let ours = reports(rows);
    let in_tail = |at: f64| at > tail.0 && at <= tail.1;
    let uses: Vec<f64> = ours.iter().filter(|r| in_tail(r.0)).map(|r| r.1).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let deviation = mean(
        &uses
            .iter()
            .map(|u| (u - mean(&uses)).powi(2))
            .collect::<Vec<_>>(),
    )
    .sqrt();
    let delays = rows.iter().filter(|r| in_tail(r.at.as_secs_f64()));
    let delays: Vec<f64> = delays.map(|r| 1e3 * r.delay_mean_s).collect();
    let settled = settled(&ours, reference.number("Delta_s"));
    vec![
        reference.text("value").to_owned(),
        beside(reached(&ours), reached(ns3), 2),
        match settled > 0.9 * ours.last().map_or(0.0, |r| r.0) || settled.is_nan() {
            true => format!("never / {}", reference.text("settle_within_5pt_s")),
            false => beside(settled, reference.number("settle_within_5pt_s"), 2),
        },
        beside(mean(&uses), reference.number("tail_prb_mean_pct"), 1),
        beside(deviation, reference.number("tail_prb_std_pct"), 1),
        beside(mean(&delays), reference.number("tail_owd_mean_ms"), 1),
    ]
}

fn chart(name: &str, rows: &[Row<'_>], ours: &[Vec<ReportRow>], ns3: &[Vec<Report>]) -> Chart {
    let ours = rows.iter().zip(ours).map(|(row, rows)| Series {
        label: format!("{}", row.number("value")),
        points: reports(rows).into_iter().filter(|r| r.0 <= 10.0).collect(),
        ..Series::default()
    });
    let ns3 = ns3.iter().enumerate().map(|(index, points)| Series {
        label: if index == 0 {
            "ns-3".to_owned()
        } else {
            String::new()
        },
        points: points.clone(),
        reference: true,
        ..Series::default()
    });
    Chart {
        title: format!("PRB use over time, by {name}"),
        x_label: "time, s".to_owned(),
        y_label: "% of the PRBs".to_owned(),
        series: ours.chain(ns3).collect(),
        ..Chart::default()
    }
}
