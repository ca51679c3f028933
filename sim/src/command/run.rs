//! `cantor-sim run`: a scenario in virtual time, over several seeds on all cores.

use super::Failure;
use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use sim::results::{FlowResults, Summary, jain_index};
use sim::scenario::{BUILTIN, Scenario};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Run a scenario in virtual time
#[derive(ClapArgs)]
pub struct Args {
    /// Scenario file, or the name of a built-in one (`--list` names them)
    #[arg(required_unless_present = "list")]
    scenario: Option<String>,
    /// List the built-in scenarios
    #[arg(long)]
    list: bool,
    /// Change a setting: key.path=value; a number is an index of an array, * all of it
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Number of runs, with seeds that count up from the scenario's
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Folder for summary.csv, reports.csv and summary.json
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print the summary as JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// One run.
struct Run {
    seed: u64,
    flows: Vec<FlowResults>,
    summaries: Vec<Summary>,
}

/// A row of the summary files.
#[derive(Serialize)]
struct Row<'a> {
    seed: u64,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// Virtual time between two updates of the progress bar.
const STEP: Duration = Duration::from_secs(1);

pub fn run(args: Args) -> Result<(), Failure> {
    if args.list {
        for (name, text) in BUILTIN {
            let scenario = Scenario::parse(text, &[]).map_err(Failure::usage)?;
            println!(
                "{name}\n    {}",
                scenario.about.trim().replace('\n', "\n    ")
            );
        }
        return Ok(());
    }
    let name = args.scenario.unwrap_or_default();
    let (scenario, folder) = Scenario::load(&name, &args.settings).map_err(Failure::usage)?;
    let duration = Duration::try_from_secs_f64(scenario.duration_s).map_err(Failure::usage)?;
    // Whatever is wrong is told before the first run.
    scenario
        .build(scenario.seed, &folder)
        .map_err(Failure::usage)?;

    let total = duration.as_secs() * args.seeds;
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  {eta} left") {
        bar.set_style(style);
    }
    let started = Instant::now();
    let runs = run_seeds(&scenario, &folder, duration, args.seeds, &bar);
    bar.finish_and_clear();
    let runs = runs.map_err(Failure::usage)?;
    let wall = started.elapsed().as_secs_f64();

    let rows = || {
        runs.iter().flat_map(|run| {
            let row = |summary| Row {
                seed: run.seed,
                summary,
            };
            run.summaries.iter().map(row)
        })
    };
    if args.json {
        let rows: Vec<Row<'_>> = rows().collect();
        println!(
            "{}",
            serde_json::to_string_pretty(&rows).map_err(Failure::running)?
        );
    } else {
        print!("{}", table(&runs));
    }
    eprintln!(
        "{total} s of virtual time in {wall:.1} s: {:.0} times real time",
        total as f64 / wall
    );
    if let Some(out) = args.out {
        fs::create_dir_all(&out).map_err(Failure::running)?;
        let rows: Vec<Row<'_>> = rows().collect();
        let json = serde_json::to_string_pretty(&rows).map_err(Failure::running)?;
        fs::write(out.join("summary.json"), json).map_err(Failure::running)?;
        fs::write(out.join("summary.csv"), summary_csv(&runs)).map_err(Failure::running)?;
        fs::write(out.join("reports.csv"), reports_csv(&runs)).map_err(Failure::running)?;
    }
    Ok(())
}

/// Runs the seeds on all cores; the results in order of the seeds.
fn run_seeds(
    scenario: &Scenario,
    folder: &Path,
    duration: Duration,
    seeds: u64,
    bar: &ProgressBar,
) -> Result<Vec<Run>, sim::scenario::ScenarioError> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers.min(seeds as usize) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed) as u64;
                    if index >= seeds {
                        return;
                    }
                    let run = run_seed(scenario, folder, duration, scenario.seed + index, bar);
                    results
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((index, run));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, run)| run).collect()
}

fn run_seed(
    scenario: &Scenario,
    folder: &Path,
    duration: Duration,
    seed: u64,
    bar: &ProgressBar,
) -> Result<Run, sim::scenario::ScenarioError> {
    let mut simulation = scenario.build(seed, folder)?;
    while simulation.now() < duration {
        let until = (simulation.now() + STEP).min(duration);
        simulation.run_until(until);
        bar.inc(1);
    }
    let flows = simulation.flows().iter();
    let flows: Vec<FlowResults> = flows.map(|flow| flow.results.clone()).collect();
    Ok(Run {
        seed,
        summaries: flows.iter().map(|flow| flow.summary(duration)).collect(),
        flows,
    })
}

/// Means over the seeds, one line per flow.
fn table(runs: &[Run]) -> String {
    let mut text = format!(
        "{:<16}{:>10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>7}{:>7}\n",
        "flow", "goodput", "mean", "p50", "p95", "p99", "max", "loss", "PRBs", "MCS", "retx"
    );
    let _ = writeln!(
        text,
        "{:<16}{:>10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>7}{:>7}",
        "", "Mbit/s", "ms", "ms", "ms", "ms", "ms", "%", "/slot", "", ""
    );
    let count = runs.first().map_or(0, |run| run.summaries.len());
    for flow in 0..count {
        let mean = |of: &dyn Fn(&Summary) -> f64| {
            runs.iter().map(|run| of(&run.summaries[flow])).sum::<f64>() / runs.len() as f64
        };
        let _ = writeln!(
            text,
            "{:<16}{:>10.2}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>9.3}{:>8.1}{:>7.1}{:>7.3}",
            runs[0].summaries[flow].flow,
            mean(&|s| s.goodput_mbps),
            mean(&|s| s.packet_delay.mean_ms),
            mean(&|s| s.packet_delay.p50_ms),
            mean(&|s| s.packet_delay.p95_ms),
            mean(&|s| s.packet_delay.p99_ms),
            mean(&|s| s.packet_delay.max_ms),
            mean(&|s| s.loss_percent),
            mean(&|s| s.prbs),
            mean(&|s| s.mcs),
            mean(&|s| s.retransmission_ratio),
        );
    }
    let jain = runs.iter().map(|run| {
        let goodputs: Vec<f64> = run.summaries.iter().map(|s| s.goodput_mbps).collect();
        jain_index(&goodputs)
    });
    let _ = writeln!(
        text,
        "Jain's index of the goodputs: {:.3}; means over {} seed(s), delays per packet",
        jain.sum::<f64>() / runs.len().max(1) as f64,
        runs.len()
    );
    text
}

fn summary_csv(runs: &[Run]) -> String {
    let mut text = String::from(
        "seed,flow,goodput_mbps,loss_percent,packet_mean_ms,packet_p50_ms,packet_p95_ms,packet_p99_ms,packet_max_ms,report_mean_ms,report_p50_ms,report_p95_ms,report_p99_ms,report_max_ms,prbs,mcs,retransmission_ratio\n",
    );
    for run in runs {
        for s in &run.summaries {
            let (p, r) = (&s.packet_delay, &s.report_delay);
            let _ = writeln!(
                text,
                "{},{},{:.4},{:.5},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.2},{:.5}",
                run.seed,
                s.flow,
                s.goodput_mbps,
                s.loss_percent,
                p.mean_ms,
                p.p50_ms,
                p.p95_ms,
                p.p99_ms,
                p.max_ms,
                r.mean_ms,
                r.p50_ms,
                r.p95_ms,
                r.p99_ms,
                r.max_ms,
                s.prbs,
                s.mcs,
                s.retransmission_ratio,
            );
        }
    }
    text
}

fn reports_csv(runs: &[Run]) -> String {
    let mut text = String::from(
        "seed,flow,time_s,rate_mbps,sent_bytes,received_bytes,packets,lost,delay_mean_ms,delay_max_ms,prbs,mcs,sinr_db,retransmission_ratio,queue_bytes\n",
    );
    for run in runs {
        for flow in &run.flows {
            for row in flow.rows() {
                let rate = row
                    .rate_bps
                    .map_or(String::new(), |bps| format!("{:.4}", bps / 1e6));
                let _ = writeln!(
                    text,
                    "{},{},{:.3},{rate},{},{},{},{},{:.3},{:.3},{:.3},{},{:.2},{:.4},{}",
                    run.seed,
                    flow.name(),
                    row.at.as_secs_f64(),
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
