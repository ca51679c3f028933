//! `cantor demo`: the whole loop on loopback.

use super::UsageError;
use crate::demo::{self, Options, Progress, Transport};
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use policies::GainPolicy;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const EXAMPLES: &str = "\
Examples:
  cantor demo
  cantor demo --seconds 10 --report demo-report
  cantor demo --policy rapid-peak --json
  cantor demo --policy prism --model policies/models/prism-v1
  cantor demo --slices

Everything runs in this process and on loopback: a cell with two guided UEs and a greedy
one, the xApp, two edge flows. It needs no network, no privileges and no configuration.";

/// Show the whole loop on loopback: guided flows against unguided ones
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    /// Length of each of the two runs
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(3..=3600))]
    seconds: u64,

    /// Gain policy
    #[arg(long, default_value_t = GainPolicy::Rapid)]
    policy: GainPolicy,

    /// Folder of the model bundle that the policy prism runs
    #[arg(long, value_name = "DIR", required_if_eq("policy", "prism"))]
    model: Option<PathBuf>,

    /// What E2 runs over
    #[arg(long, value_enum, default_value_t = Transport::Auto)]
    transport: Transport,

    /// Seed of the cell's random draws
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Two slices with different delay objectives instead; at half time an operator changes one
    #[arg(long, conflicts_with = "report")]
    slices: bool,

    /// Write an HTML page with plots (index.html) into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        if self.transport == Transport::Sctp && !transport::sctp_available() {
            return Err(UsageError(
                "--transport sctp: this kernel has no SCTP; load it (modprobe sctp), or leave the option out for TCP".into(),
            )
            .into());
        }
        let options = Options {
            length: Duration::from_secs(self.seconds),
            transport: self.transport,
            policy: self.policy,
            model: self.model,
            seed: self.seed,
        };
        if let Some(folder) = &self.report {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        if self.slices {
            return slices(&options, self.json);
        }
        let (outcome, series) = super::runtime()?.block_on(async {
            let stop = stop_at_interrupt();
            let mut display = Display::new(self.seconds);
            let outcome = demo::run(&options, &stop, &mut |p| display.show(p)).await;
            display.clear();
            outcome
        })?;
        if self.json {
            super::print(format_args!(
                "{}\n",
                serde_json::to_string_pretty(&outcome)?
            ))?;
        } else {
            super::print(format_args!("{outcome}\n"))?;
        }
        if let Some(folder) = &self.report {
            write_report(folder, &demo::page(&outcome, &series)?)?;
        }
        Ok(())
    }
}

fn slices(options: &Options, json: bool) -> anyhow::Result<()> {
    let outcome = super::runtime()?.block_on(async {
        let mut display = Display::new(options.length.as_secs());
        let stop = stop_at_interrupt();
        let outcome = demo::slices::run(options, &stop, &mut |p| display.show(p)).await;
        display.clear();
        outcome
    })?;
    if json {
        let json = serde_json::to_string_pretty(&outcome)?;
        super::print(format_args!("{json}\n"))?;
    } else {
        super::print(outcome)?;
    }
    Ok(())
}

/// Cancelled by ctrl-c.
fn stop_at_interrupt() -> CancellationToken {
    let stop = CancellationToken::new();
    let interrupt = stop.clone();
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        interrupt.cancel();
    });
    stop
}

fn write_report(folder: &Path, html: &str) -> anyhow::Result<()> {
    let file = folder.join("index.html");
    std::fs::write(&file, html).with_context(|| format!("cannot write {}", file.display()))?;
    super::tell(format_args!("\nreport: {}", file.display()));
    Ok(())
}

/// A live table on a terminal, else a line every few seconds; on stderr, so that stdout holds the summary only.
struct Display {
    bar: ProgressBar,
    terminal: bool,
    said: Option<(bool, u64)>,
}

/// Between two lines where stderr is no terminal, seconds.
const LINE_EVERY: u64 = 5;

impl Display {
    fn new(seconds: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(seconds * 1000), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix:9} {wide_bar} {msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            terminal,
            said: None,
        }
    }

    fn show(&mut self, progress: &Progress) {
        let name = if progress.guided {
            "guided"
        } else {
            "unguided"
        };
        if self.terminal {
            self.bar.set_prefix(name);
            self.bar.set_position(progress.elapsed.as_millis() as u64);
            self.bar
                .set_message(format!("{}\n{}", clock(progress), table(progress)));
            return;
        }
        let step = progress.elapsed.as_secs() / LINE_EVERY;
        if self.said != Some((progress.guided, step)) {
            self.said = Some((progress.guided, step));
            super::tell(format_args!(
                "{name} {}: {}",
                clock(progress),
                line(progress)
            ));
        }
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn clock(progress: &Progress) -> String {
    format!(
        "{}/{} s",
        progress.elapsed.as_secs(),
        progress.length.as_secs()
    )
}

fn table(progress: &Progress) -> String {
    let mut text = format!(
        "{:8}{:>13}{:>13}{:>11}{:>8}{:>8}{:>11}",
        "flow", "rate Mbit/s", "goodput", "delay ms", "PRBs", "target", "queue kB"
    );
    for (index, flow) in progress.flows.iter().enumerate() {
        let optional = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.1}"));
        text += &format!(
            "\n{:8}{:>13.1}{:>13.1}{:>11}{:>8.1}{:>8}{:>11.0}",
            index + 1,
            flow.rate_bps / 1e6,
            flow.goodput_bps / 1e6,
            optional(flow.delay_ms),
            flow.prbs,
            optional(flow.target_prbs),
            flow.queue_bytes as f64 / 1e3,
        );
    }
    text + &format!("\n{:8}{:>53.1}", "greedy", progress.greedy_prbs)
}

fn line(progress: &Progress) -> String {
    let flows = progress.flows.iter().map(|flow| {
        format!(
            "{:.1} Mbit/s, {} ms, {:.1} PRBs",
            flow.goodput_bps / 1e6,
            flow.delay_ms.map_or("-".to_owned(), |d| format!("{d:.1}")),
            flow.prbs
        )
    });
    flows.collect::<Vec<_>>().join("; ")
}
