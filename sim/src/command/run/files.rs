//! Results as files: one observation a row, the same names in CSV and JSON (documented in docs/simulator.md).

use super::Run;
use serde::Serialize;
use sim::results::Summary;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// A flow of a run, with the gains it applied.
#[derive(Serialize)]
struct Row<'a> {
    variant: &'a str,
    seed: u64,
    #[serde(flatten)]
    summary: &'a Summary,
    jain_index: f64,
    gains: Vec<Gain>,
}

/// A gain and how often it was applied.
#[derive(Serialize)]
struct Gain {
    mbps_per_prb: f64,
    decisions: u64,
}

pub fn write(folder: &Path, runs: &[Run<'_>]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("flows.json"), json(runs)?)?;
    fs::write(folder.join("flows.csv"), flows(runs))?;
    fs::write(folder.join("gains.csv"), gains(runs))?;
    fs::write(folder.join("reports.csv"), reports(runs))
}

pub fn json(runs: &[Run<'_>]) -> serde_json::Result<String> {
    let rows = runs.iter().flat_map(|run| {
        let flows = run.summaries.iter().zip(&run.flows);
        flows.map(|(summary, flow)| Row {
            variant: run.variant,
            seed: run.seed,
            summary,
            jain_index: run.jain,
            gains: flow.gains().iter().map(gain).collect(),
        })
    });
    serde_json::to_string_pretty(&rows.collect::<Vec<_>>())
}

fn gain(&(bps_per_prb, decisions): &(f64, u64)) -> Gain {
    Gain {
        mbps_per_prb: bps_per_prb / 1e6,
        decisions,
    }
}

/// Text of a CSV field.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Variant, seed and flow, with which every row begins.
fn key(run: &Run<'_>, flow: usize) -> String {
    let name = field(&run.summaries[flow].flow);
    format!("{},{},{name}", field(run.variant), run.seed)
}

fn flows(runs: &[Run<'_>]) -> String {
    let mut text = String::from(
        "variant,seed,flow,goodput_mbps,loss_percent,packet_mean_ms,packet_p50_ms,packet_p95_ms,packet_p99_ms,packet_max_ms,report_mean_ms,report_p50_ms,report_p95_ms,report_p99_ms,report_max_ms,prbs,mcs,retransmission_ratio,jain_index,bitrate_mbps,bitrate_deviation_mbps,frames,frames_lost,frame_mean_ms,frame_p50_ms,frame_p95_ms,frame_p99_ms,frame_p999_ms,frame_max_ms\n",
    );
    for run in runs {
        for (flow, s) in run.summaries.iter().enumerate() {
            let _ = write!(
                text,
                "{},{:.4},{:.5}",
                key(run, flow),
                s.goodput_mbps,
                s.loss_percent
            );
            for d in [&s.packet_delay, &s.report_delay] {
                for ms in [d.mean_ms, d.p50_ms, d.p95_ms, d.p99_ms, d.max_ms] {
                    let _ = write!(text, ",{ms:.3}");
                }
            }
            let _ = write!(
                text,
                ",{:.3},{:.2},{:.5},{:.4}",
                s.prbs, s.mcs, s.retransmission_ratio, run.jain
            );
            let _ = match &s.frames {
                None => writeln!(text, ",,,,,,,,,,"),
                Some(f) => writeln!(
                    text,
                    ",{:.4},{:.4},{},{},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3}",
                    f.bitrate_mbps,
                    f.bitrate_deviation_mbps,
                    f.frames,
                    f.lost,
                    f.mean_ms,
                    f.p50_ms,
                    f.p95_ms,
                    f.p99_ms,
                    f.p999_ms,
                    f.max_ms
                ),
            };
        }
    }
    text
}

fn gains(runs: &[Run<'_>]) -> String {
    let mut text = String::from("variant,seed,flow,mbps_per_prb,decisions\n");
    for run in runs {
        for (index, flow) in run.flows.iter().enumerate() {
            for Gain {
                mbps_per_prb,
                decisions,
            } in flow.gains().iter().map(gain)
            {
                let _ = writeln!(text, "{},{mbps_per_prb},{decisions}", key(run, index));
            }
        }
    }
    text
}

fn reports(runs: &[Run<'_>]) -> String {
    let mut text = String::from(
        "variant,seed,flow,time_s,rate_mbps,sent_bytes,received_bytes,packets,lost,delay_mean_ms,delay_max_ms,prbs,mcs,sinr_db,retransmission_ratio,queue_bytes\n",
    );
    for run in runs {
        for (index, flow) in run.flows.iter().enumerate() {
            let key = key(run, index);
            for row in flow.rows() {
                let rate = row.rate_bps.map(|bps| format!("{:.4}", bps / 1e6));
                let _ = writeln!(
                    text,
                    "{key},{:.3},{},{},{},{},{},{:.3},{:.3},{:.3},{},{:.2},{:.4},{}",
                    row.at.as_secs_f64(),
                    rate.unwrap_or_default(),
                    row.sent_bytes,
                    row.received_bytes,
                    row.packets,
                    row.lost,
                    row.delay_mean_s * 1e3,
                    row.delay_max_s * 1e3,
                    row.prbs,
                    row.mcs,
                    row.sinr_db,
                    row.retransmission_ratio,
                    row.queue_bytes,
                );
            }
        }
    }
    text
}
