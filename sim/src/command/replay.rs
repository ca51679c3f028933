//! `cantor-sim replay`: what another policy would have decided about recorded intervals.

use super::{Failure, after_help, print};
use anyhow::Context as _;
use clap::Args as ClapArgs;
use policies::model::{Bundle, Folder, Inference, Native, Network};
use policies::{GainParameters, GainPolicy};
use serde_json::json;
use sim::plot::{Chart, Page, Series};
use sim::recorded::{self, Shadow, ShadowedFlow};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  cantor log export --since 1h --output decisions.parquet
  cantor-sim replay decisions.parquet --policy rapid-peak
  cantor-sim replay decisions.parquet --policy rapid --target-factor 0.7 --plot replay.html
  cantor-sim replay decisions.csv --policy prism --model FOLDER --json";
/// Flows of which charts are drawn.
const CHARTS: usize = 12;
/// Points of a line: what a screen can show.
const POINTS: usize = 800;

/// Decide again about recorded intervals, with another policy
///
/// Each decision starts from the rate that was really sent at: it shows what the policy would have done in that very
/// situation. The file is one of `cantor log export`.
#[derive(ClapArgs)]
#[command(after_help = after_help(EXAMPLES))]
pub struct Args {
    /// Recorded decisions, .csv or .parquet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Gain policy that decides: rapid, rapid-peak or prism
    #[arg(long, value_name = "NAME")]
    policy: GainPolicy,
    /// Folder of the model bundle that the policy prism runs
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// PRB target factor in place of the recorded ones
    #[arg(long, value_name = "FACTOR")]
    target_factor: Option<f64>,
    /// Gain K of RAPID
    #[arg(long, value_name = "K", default_value_t = GainParameters::default().k)]
    gain: f64,
    /// γ of RAPID in bit/s per PRB
    #[arg(long, value_name = "BPS", default_value_t = GainParameters::default().gamma_bps_per_prb)]
    gamma: f64,
    /// Report period δ of the peak, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 50)]
    report_period: u64,
    /// Go on from its own decisions, not from the recorded rates: the PRBs stay those of the recorded rates
    #[arg(long)]
    own_rate: bool,
    /// Print all intervals as JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Write a page with charts
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub fn run(args: Args) -> Result<(), Failure> {
    let name = args.file.display().to_string();
    let decisions = recorded::read(&args.file).context(name.clone());
    let decisions = decisions.map_err(Failure::usage)?;
    let mut model = None;
    if let Some(folder) = &args.model {
        let loaded = load(folder).with_context(|| format!("--model {}", folder.display()));
        model = Some(loaded.map_err(Failure::usage)?);
    }
    let mut shadow = Shadow {
        policy: args.policy,
        parameters: GainParameters {
            k: args.gain,
            gamma_bps_per_prb: args.gamma,
            report_interval: Duration::from_millis(args.report_period),
            ..GainParameters::default()
        },
        factor: args.target_factor,
        own_rate: args.own_rate,
        model: model.as_mut().map(|(bundle, network)| {
            (
                Arc::new(bundle.card().clone()),
                network as &mut dyn Inference,
            )
        }),
    };
    let flows = shadow.decide(&decisions).map_err(Failure::usage)?;
    if args.json {
        let flows = flows.iter().map(|flow| {
            json!({
                "edge": flow.edge,
                "flow": flow.flow,
                "summary": flow.summary(),
                "steps": flow.steps,
            })
        });
        let all = json!({ "policy": args.policy, "flows": flows.collect::<Vec<_>>() });
        print(format_args!("{all:#}\n"))?;
    } else {
        print(table(&flows, args.policy))?;
    }
    if let Some(path) = &args.plot {
        draw(path, &flows, args.policy)
            .with_context(|| format!("--plot {}", path.display()))
            .map_err(Failure::running)?;
    }
    Ok(())
}

fn load(folder: &Path) -> anyhow::Result<(Bundle, Native)> {
    let bundle = Bundle::new(Folder::read(folder)?)?;
    let mut network = Native::new(&Network::from_onnx(bundle.actor())?);
    bundle.check(&mut network)?;
    Ok((bundle, network))
}

fn table(flows: &[ShadowedFlow], policy: GainPolicy) -> String {
    let mut text = format!(
        "{:<28}{:>10}{:>12}{:>12}{:>12}{:>10}{:>12}{:>12}\n{:<28}{:>10}{:>12}{:>12}{:>12}{:>10}{:>12}{:>12}\n",
        "flow",
        "decisions",
        "recorded",
        policy.name(),
        "distance",
        "opposed",
        "recorded",
        policy.name(),
        "",
        "",
        "Mbit/s",
        "Mbit/s",
        "Mbit/s",
        "%",
        "Mbit/s/PRB",
        "Mbit/s/PRB",
    );
    for flow in flows {
        let s = flow.summary();
        let _ = writeln!(
            text,
            "{:<28}{:>10}{:>12.2}{:>12.2}{:>12.3}{:>10.1}{:>12.3}{:>12.3}",
            format!("{}/{}", flow.edge, flow.flow),
            s.decisions,
            s.recorded_rate_bps / 1e6,
            s.shadow_rate_bps / 1e6,
            s.distance_bps / 1e6,
            s.opposed * 100.0,
            s.recorded_gain_bps_per_prb / 1e6,
            s.shadow_gain_bps_per_prb / 1e6,
        );
    }
    text.push_str(
        "Means over the intervals. Opposed: one raised the rate and the other lowered it. Last columns: gain applied.\n",
    );
    text
}

fn draw(path: &Path, flows: &[ShadowedFlow], policy: GainPolicy) -> anyhow::Result<()> {
    let mut page = Page::new(&format!("Recorded decisions, and those of {policy}"));
    page.preformatted(&table(flows, policy));
    for flow in flows.iter().take(CHARTS) {
        page.heading(&format!("{}/{}", flow.edge, flow.flow));
        page.chart(&rates(flow, policy))?;
    }
    std::fs::write(path, page.finish())?;
    Ok(())
}

fn rates(flow: &ShadowedFlow, policy: GainPolicy) -> Chart {
    let start_us = flow.steps.first().map_or(0, |step| step.time_us);
    let every = flow.steps.len().div_ceil(POINTS).max(1);
    let line = |label: &str, rate_bps: fn(&recorded::Step) -> f64| Series {
        label: label.into(),
        points: flow
            .steps
            .iter()
            .step_by(every)
            .map(|step| ((step.time_us - start_us) as f64 / 1e6, rate_bps(step) / 1e6))
            .collect(),
        ..Series::default()
    };
    Chart {
        title: "Rate".into(),
        x_label: "time, s".into(),
        y_label: "Mbit/s".into(),
        series: vec![
            line("recorded", |step| step.recorded_rate_bps),
            line(policy.name(), |step| step.shadow_rate_bps),
        ],
        ..Chart::default()
    }
}
