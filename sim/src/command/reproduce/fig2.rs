//! RAPID's figure 2: PRB use and delay against the send rate, one UE and four.

use super::reference::{Reference, Row, beside};
use super::section::Section;
use super::{Failure, simulate};
use sim::plot::{Chart, Series};
use sim::results::{FlowResults, WindowSummary};
use sim::scenario::Selection;
use std::time::Duration;

/// The window in which ns-3 measured.
const WINDOW: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(4));
/// PRBs of the carrier in percent of which use is given.
const PRBS: f64 = 106.0;

/// A point of a sweep.
#[derive(Clone, Copy)]
struct Point {
    mbps: f64,
    prb_percent: f64,
    delay_ms: f64,
    loss_percent: f64,
}

/// One set-up: UEs, scheduler, buffer.
struct Sweep {
    ues: &'static str,
    scheduler: &'static str,
    buffer: &'static str,
    ours: Vec<Point>,
    ns3: Vec<Point>,
}

pub fn run() -> Result<Section, Failure> {
    let reference = Reference::new(include_str!("../../../reference/ns3_rapid_fig2.csv"));
    let rows: Vec<Row<'_>> = reference
        .rows()
        .filter(|row| row.text("flow") == "0")
        .collect();
    let selections: Vec<Selection> = rows.iter().map(|row| selection(*row)).collect();
    let points = simulate("RAPID, figure 2", &selections, 1, |flows| mean(&flows))?;
    let mut sweeps: Vec<Sweep> = Vec::new();
    for (row, ours) in rows.iter().zip(points) {
        let key = (
            row.text("n_ue"),
            row.text("sched"),
            row.text("rlc_buf_bytes"),
        );
        if sweeps
            .last()
            .is_none_or(|s| (s.ues, s.scheduler, s.buffer) != key)
        {
            sweeps.push(Sweep {
                ues: key.0,
                scheduler: key.1,
                buffer: key.2,
                ours: Vec::new(),
                ns3: Vec::new(),
            });
        }
        let mbps = row.number("send_mbps_per_ue");
        if let Some(sweep) = sweeps.last_mut() {
            sweep
                .ours
                .extend(ours.into_iter().map(|p| Point { mbps, ..p }));
            sweep.ns3.push(Point {
                mbps,
                prb_percent: row.number("prb_util_pct"),
                delay_ms: row.number("owd_mean_ms"),
                loss_percent: row.number("loss_pct"),
            });
        }
    }
    for sweep in &mut sweeps {
        sweep.ours.sort_by(|a, b| a.mbps.total_cmp(&b.mbps));
        sweep.ns3.sort_by(|a, b| a.mbps.total_cmp(&b.mbps));
    }
    Ok(section(&sweeps))
}

fn selection(row: Row<'_>) -> Selection {
    let name = match row.text("n_ue") {
        "1" => "rapid-fig2a",
        _ => "rapid-fig2b",
    };
    let scheduler = match row.text("sched") {
        "OfdmaPF" => "proportional_fair",
        _ => "round_robin_symbols",
    };
    Selection::new(name).with(&[
        format!("cell.behaviour.scheduler={scheduler}"),
        format!("ues.*.queue_limit_bytes={}", row.text("rlc_buf_bytes")),
        format!("flows.*.mbps={}", row.text("send_mbps_per_ue")),
    ])
}

/// Mean over the flows.
fn mean(flows: &[FlowResults]) -> Point {
    let windows: Vec<WindowSummary> = flows.iter().map(|f| f.window(WINDOW.0, WINDOW.1)).collect();
    let mean =
        |of: fn(&WindowSummary) -> f64| windows.iter().map(of).sum::<f64>() / windows.len() as f64;
    Point {
        mbps: 0.0,
        prb_percent: 100.0 * mean(|w| w.prbs) / PRBS,
        delay_ms: mean(|w| w.report_delay.mean_ms),
        loss_percent: mean(|w| w.loss_percent),
    }
}

/// The rate at which PRB use reaches 95 % of the largest, between the points around it.
fn knee(points: &[Point]) -> f64 {
    let largest = points.iter().map(|p| p.prb_percent).fold(0.0, f64::max);
    let level = 0.95 * largest;
    let above = points.iter().position(|p| p.prb_percent >= level);
    match above {
        Some(0) | None => f64::NAN,
        Some(index) => {
            let (a, b) = (points[index - 1], points[index]);
            a.mbps + (b.mbps - a.mbps) * (level - a.prb_percent) / (b.prb_percent - a.prb_percent)
        }
    }
}

fn section(sweeps: &[Sweep]) -> Section {
    let mut section = Section::default();
    let rows = sweeps.iter().map(|sweep| {
        let largest = |points: &[Point]| points.iter().map(|p| p.prb_percent).fold(0.0, f64::max);
        let last = |points: &[Point]| {
            points.last().copied().unwrap_or(Point {
                mbps: f64::NAN,
                prb_percent: f64::NAN,
                delay_ms: f64::NAN,
                loss_percent: f64::NAN,
            })
        };
        let below = sweep.ours.iter().zip(&sweep.ns3);
        let below = below.filter(|(_, ns3)| ns3.loss_percent == 0.0 && ns3.delay_ms < 3.0);
        let difference = below
            .map(|(a, b)| (a.delay_ms - b.delay_ms).abs())
            .fold(0.0, f64::max);
        let (a, b) = (last(&sweep.ours), last(&sweep.ns3));
        vec![
            format!(
                "{} UE, {}, {} kB",
                sweep.ues,
                sweep.scheduler,
                sweep.buffer.parse::<f64>().unwrap_or(0.0) / 1e3
            ),
            beside(knee(&sweep.ours), knee(&sweep.ns3), 1),
            beside(largest(&sweep.ours), largest(&sweep.ns3), 1),
            format!("{difference:.2}"),
            format!("{} Mbit/s", a.mbps),
            beside(a.delay_ms, b.delay_ms, 1),
            beside(a.loss_percent, b.loss_percent, 1),
        ]
    });
    section.table(
        "Figure 2: ours / ns-3",
        &[
            "UEs, scheduler, RLC buffer",
            "knee, Mbit/s",
            "saturated PRB use, %",
            "largest delay difference below the knee, ms",
            "overload",
            "delay in it, ms",
            "loss in it, %",
        ],
        rows.collect(),
    );
    let chart = |title: &str, ues: &str, y_label: &str, of: fn(&Point) -> f64| {
        let sweeps = sweeps
            .iter()
            .filter(|s| s.ues == ues && s.scheduler == "TdmaRR");
        let series = sweeps.flat_map(|sweep| {
            let kb = sweep.buffer.parse::<f64>().unwrap_or(0.0) / 1e3;
            [("ours", &sweep.ours, false), ("ns-3", &sweep.ns3, true)].map(
                |(who, points, marks)| Series {
                    label: format!("{who}, {kb} kB"),
                    points: points.iter().map(|p| (p.mbps, of(p))).collect(),
                    marks,
                    ..Series::default()
                },
            )
        });
        Chart {
            title: title.to_owned(),
            x_label: "send rate per UE, Mbit/s".to_owned(),
            y_label: y_label.to_owned(),
            series: series.collect(),
            ..Chart::default()
        }
    };
    for (ues, prb_file, delay_file, name) in [
        ("1", "fig2a-prbs", "fig2a-delay", "one UE"),
        ("4", "fig2b-prbs", "fig2b-delay", "four UEs"),
    ] {
        let title = format!("PRB use, {name}");
        section.chart(
            prb_file,
            chart(&title, ues, "% of the PRBs", |p| p.prb_percent),
        );
        let title = format!("One-way delay, {name}");
        section.chart(
            delay_file,
            chart(&title, ues, "mean one-way delay, ms", |p| p.delay_ms),
        );
    }
    section
}
