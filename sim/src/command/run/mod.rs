//! `cantor-sim run`: a scenario in virtual time, over several seeds and swept values, on all cores.

mod experiment;
mod files;
mod objectives;
mod plots;
mod table;

use super::{Failure, progress_bar};
use clap::Args as ClapArgs;
use sim::objectives::{SliceOutcome, outcomes};
use sim::results::{FlowResults, Summary, jain_index};
use sim::runs::{self, Job};
use sim::scenario::{BUILTIN, Scenario, Selection, SenderKind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  cantor-sim run --list
  cantor-sim run prism-test --seeds 10 --out results --plots charts
  cantor-sim run prism-test --sweep 'control.target_factor=[0.7, 0.8, 0.9]' --json
  cantor-sim run rapid-fig2a --show > mine.toml
  cantor-sim run mine.toml";

/// Run a scenario in virtual time
#[derive(ClapArgs)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    /// Scenario file, or the name of a built-in one (`--list` names them)
    #[arg(required_unless_present = "list")]
    scenario: Option<String>,
    /// List the built-in scenarios
    #[arg(long)]
    list: bool,
    /// Print the text of the scenario, as a start for one's own
    #[arg(long, conflicts_with = "list")]
    show: bool,
    /// Change a setting: key.path=value; an item of a list is told by its index or name, * is all of them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Run once for each of several values of a setting; several sweeps multiply
    #[arg(long = "sweep", value_name = "KEY=[VALUE, …]")]
    sweeps: Vec<String>,
    /// Sender of all guided flows
    #[arg(long, value_enum)]
    policy: Option<Policy>,
    /// Folder of the model bundle that the policy prism runs, in place of the scenario's
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Give the guided flows the arms of this experiment (YAML); each seed is a cell of its own
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sweeps", "out"])]
    experiment: Option<PathBuf>,
    /// Number of runs, with seeds that count up from the scenario's
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Folder for flows.csv, reports.csv, gains.csv and flows.json
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Folder for charts: index.html, and each as SVG and PNG
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Threads; by default one per core
    #[arg(long)]
    threads: Option<usize>,
}

/// What decides about the rates of guided flows.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Policy {
    Rapid,
    RapidPeak,
    Prism,
}

impl From<Policy> for SenderKind {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Rapid => Self::Rapid,
            Policy::RapidPeak => Self::RapidPeak,
            Policy::Prism => Self::Prism,
        }
    }
}

/// One run.
struct Run<'a> {
    variant: &'a str,
    seed: u64,
    flows: Vec<FlowResults>,
    summaries: Vec<Summary>,
    /// Jain's index of the goodputs.
    jain: f64,
    slices: Vec<SliceOutcome>,
}

pub fn run(args: Args) -> Result<(), Failure> {
    if args.list {
        return list();
    }
    let selection = Selection {
        name: args.scenario.unwrap_or_default(),
        settings: args.settings,
        sweeps: args.sweeps,
        policy: args.policy.map(SenderKind::from),
        model: args.model,
    };
    if args.show {
        return super::print(selection.text().map_err(Failure::usage)?);
    }
    let (variants, folder) = selection.variants().map_err(Failure::usage)?;
    if let (Some(file), [variant]) = (&args.experiment, variants.as_slice()) {
        let seeds = variant.scenario.seed..variant.scenario.seed.saturating_add(args.seeds);
        let request = experiment::Request {
            file,
            scenario: &variant.scenario,
            folder: &folder,
            seeds,
            threads: args.threads.unwrap_or_else(runs::cores),
            json: args.json,
            page: args.plots.as_deref(),
        };
        return request.run();
    }
    let mut jobs = Vec::new();
    let mut ue_slots = 0.0;
    for variant in &variants {
        let scenario = &variant.scenario;
        // Whatever is wrong is told before the first run.
        let simulation = scenario
            .build(scenario.seed, &folder)
            .map_err(Failure::usage)?;
        let cell = simulation.cell();
        let slots = scenario.duration_s / cell.duration(1).as_secs_f64();
        ue_slots += slots * cell.ue_count() as f64 * args.seeds as f64;
        for seed in scenario.seed..scenario.seed.saturating_add(args.seeds) {
            jobs.push(Job {
                scenario,
                folder: &folder,
                seed,
            });
        }
    }
    let total: Duration = jobs.iter().map(Job::duration).sum();
    let bar = progress_bar(total);
    let started = Instant::now();
    let runs = runs::run_all(
        &jobs,
        args.threads.unwrap_or_else(runs::cores),
        |done| bar.inc(done.as_millis() as u64),
        |index, flows| {
            let end = jobs[index].duration();
            // It was built before.
            let slices = jobs[index].scenario.slice_configs().unwrap_or_default();
            let summaries: Vec<Summary> = flows.iter().map(|f| f.summary(end)).collect();
            let goodputs: Vec<f64> = summaries.iter().map(|s| s.goodput_mbps).collect();
            Run {
                variant: &variants[index / args.seeds as usize].label,
                seed: jobs[index].seed,
                jain: jain_index(&goodputs),
                slices: outcomes(&slices, &flows, end),
                flows,
                summaries,
            }
        },
    );
    bar.finish_and_clear();
    let runs = runs.map_err(Failure::usage)?;
    let wall = started.elapsed().as_secs_f64();

    if args.json {
        let json = files::json(&runs).map_err(Failure::running)?;
        super::print(format_args!("{json}\n"))?;
    } else {
        super::print(table::table(&runs) + &objectives::text(&runs))?;
    }
    tell_speed(total.as_secs_f64(), wall, ue_slots);
    if let Some(out) = args.out {
        files::write(&out, &runs).map_err(Failure::running)?;
    }
    if let Some(folder) = args.plots {
        plots::write(&folder, &selection.name, &runs).map_err(Failure::running)?;
    }
    Ok(())
}

/// Wall time says how long one waits, CPU time what a run costs on a machine that has other work, too.
fn tell_speed(seconds: f64, wall: f64, ue_slots: f64) {
    let real_time = seconds / wall;
    super::status(format_args!(
        "{seconds:.0} s of virtual time in {wall:.1} s: {real_time:.0} times real time"
    ));
    if let Some(cpu) = runs::cpu_time().map(|time| time.as_secs_f64())
        // Below, its resolution says nothing.
        && cpu >= 0.2
    {
        super::status(format_args!(
            "{cpu:.1} s of CPU time: {:.0} times real time per core, {:.0} ns per UE and slot",
            seconds / cpu,
            1e9 * cpu / ue_slots
        ));
    }
}

fn list() -> Result<(), Failure> {
    for (name, text) in BUILTIN {
        let scenario = Scenario::parse(text, &[]).map_err(Failure::usage)?;
        let about = scenario.about.trim().replace('\n', "\n    ");
        super::print(format_args!("{name}\n    {about}\n"))?;
    }
    Ok(())
}
