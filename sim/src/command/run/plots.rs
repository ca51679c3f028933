//! Charts of a run: time series, distributions of the delay, throughput against delay.

use super::{Run, table};
use sim::plot::{Chart, Page, PlotError, Series, cumulative};
use sim::results::{FlowResults, ReportRow};
use std::path::Path;
use std::{fs, io};

/// Points of a time series: what a screen can show.
const POINTS: usize = 800;
/// Variants of which time series and distributions are drawn.
const VARIANTS: usize = 12;

/// The charts could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Draw(#[from] PlotError),
    #[error("charts: {0}")]
    Write(#[from] io::Error),
}

/// Writes every chart as SVG and PNG, and a page that holds them all.
pub fn write(folder: &Path, name: &str, runs: &[Run<'_>]) -> Result<(), Error> {
    fs::create_dir_all(folder)?;
    let mut page = Page::new(name);
    page.preformatted(&table::table(runs));
    let add = |page: &mut Page, file: &str, chart: Chart| -> Result<(), Error> {
        chart.write(folder, file)?;
        Ok(page.chart(&chart)?)
    };
    add(&mut page, "throughput-delay", throughput_delay(runs))?;
    let variants = runs.chunk_by(|a, b| a.variant == b.variant);
    for (index, runs) in variants.take(VARIANTS).enumerate() {
        page.heading(&format!("{} seed {}", runs[0].variant, runs[0].seed));
        for (file, chart) in time_series(&runs[0].flows) {
            add(&mut page, &format!("{file}-{index}"), chart)?;
        }
        add(&mut page, &format!("delay-cdf-{index}"), delays(runs))?;
    }
    fs::write(folder.join("index.html"), page.finish())?;
    Ok(())
}

/// One point per flow and run; better is up and to the right.
fn throughput_delay(runs: &[Run<'_>]) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for run in runs {
        for s in &run.summaries {
            let point = (s.packet_delay.mean_ms, s.goodput_mbps);
            match series.iter_mut().find(|series| series.label == s.flow) {
                Some(series) => series.points.push(point),
                None => series.push(Series {
                    label: s.flow.clone(),
                    points: vec![point],
                    marks: true,
                    ..Series::default()
                }),
            }
        }
    }
    Chart {
        title: "Throughput against delay, a point per run".to_owned(),
        x_label: "mean one-way delay, ms (better to the right)".to_owned(),
        y_label: "goodput, Mbit/s".to_owned(),
        x_reversed: true,
        series,
        ..Chart::default()
    }
}

/// What is drawn over time, of the rows that one point stands for.
type Quantity = fn(&[ReportRow]) -> f64;

fn sum(rows: &[ReportRow], of: fn(&ReportRow) -> f64) -> f64 {
    rows.iter().map(of).sum()
}

fn time_series(flows: &[FlowResults]) -> Vec<(&'static str, Chart)> {
    let chart = |title: &str, y_label: &str, y_log: bool, of: Quantity| Chart {
        title: title.to_owned(),
        x_label: "time, s".to_owned(),
        y_label: y_label.to_owned(),
        y_log,
        series: flows.iter().map(|flow| over_time(flow, of)).collect(),
        ..Chart::default()
    };
    vec![
        (
            "goodput",
            chart("Goodput", "Mbit/s", false, |rows| {
                let first = rows.first().map_or(0.0, |r| r.at.as_secs_f64());
                let last = rows.last().map_or(0.0, |r| r.at.as_secs_f64());
                let interval = (last - first) / (rows.len().max(2) - 1) as f64;
                let bits = 8.0 * sum(rows, |r| r.received_bytes as f64);
                bits / 1e6 / (interval * rows.len() as f64)
            }),
        ),
        (
            "rate",
            chart("Rate of paced flows", "Mbit/s", false, |rows| {
                let rate = |r: &ReportRow| r.rate_bps.unwrap_or(f64::NAN) / 1e6;
                rows.last().map_or(f64::NAN, rate)
            }),
        ),
        (
            "delay",
            chart("One-way delay", "ms", true, |rows| {
                let packets = sum(rows, |r| r.packets as f64);
                1e3 * sum(rows, |r| r.delay_mean_s * r.packets as f64) / packets
            }),
        ),
        (
            "prbs",
            chart("PRBs", "PRBs per slot", false, |rows| {
                sum(rows, |r| r.prbs) / rows.len() as f64
            }),
        ),
        (
            "queue",
            chart("RLC queue", "kB", false, |rows| {
                sum(rows, |r| r.queue_bytes as f64) / 1e3 / rows.len() as f64
            }),
        ),
    ]
}

fn over_time(flow: &FlowResults, of: Quantity) -> Series {
    let (start, stop) = flow.life();
    let rows = flow.rows();
    let from = rows.partition_point(|r| r.at <= start);
    let to = rows.partition_point(|r| r.at <= stop);
    let rows = &rows[from..to];
    let per_point = rows.len().div_ceil(POINTS).max(2);
    let points = rows.chunks(per_point).filter_map(|rows| {
        let last = rows.last()?;
        (rows.len() > 1).then(|| (last.at.as_secs_f64(), of(rows)))
    });
    Series {
        label: flow.name().to_owned(),
        points: points.collect(),
        ..Series::default()
    }
}

/// Distribution of the delays per report interval, all seeds together.
fn delays(runs: &[Run<'_>]) -> Chart {
    let flows = runs[0].flows.iter().enumerate().map(|(index, flow)| {
        let rows = runs.iter().flat_map(|run| run.flows[index].rows());
        let delays = rows.filter(|r| r.packets > 0).map(|r| r.delay_mean_s * 1e3);
        Series {
            label: flow.name().to_owned(),
            points: cumulative(delays.collect(), POINTS),
            ..Series::default()
        }
    });
    Chart {
        title: "Distribution of the one-way delay, means per report interval".to_owned(),
        x_label: "one-way delay, ms".to_owned(),
        y_label: "share of the intervals".to_owned(),
        series: flows.collect(),
        ..Chart::default()
    }
}
