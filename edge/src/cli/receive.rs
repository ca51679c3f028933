//! `cantor-edge receive`.

use super::{exit, print};
use edge::flow::{Receiver, ReceiverConfig, ReceiverSample, ReceiverSummary};
use edge::units;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cantor-edge receive --listen 0.0.0.0:5201
  cantor-edge receive --listen 127.0.0.1:5201 --once --json
  cantor-edge receive --listen 10.0.0.7:5201 --report-to 192.0.2.10:6000

Exit codes: 0 done; 1 failed; 2 wrong arguments; 5 no packet came.")]
pub(super) struct Args {
    /// Local address.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Send reports there instead of to where the packets come from (when a relay is in between).
    #[arg(long, value_name = "ADDRESS:PORT")]
    report_to: Option<SocketAddr>,
    /// How long to receive; without it until interrupted.
    #[arg(long, value_name = "N", value_parser = units::parse_duration)]
    seconds: Option<Duration>,
    /// End when the sender has finished.
    #[arg(long)]
    once: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// No status lines.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) async fn run(args: Args, stop: CancellationToken) -> anyhow::Result<ExitCode> {
    let receiver = Receiver::bind(ReceiverConfig {
        report_to: args.report_to,
        until_end: args.once,
        ..ReceiverConfig::new(args.listen)
    })
    .await?;
    if !args.quiet {
        print::status(format_args!("* listening on {}", receiver.local_addr()?));
    }
    if let Some(limit) = args.seconds {
        let stop = stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            stop.cancel();
        });
    }
    let mut lines = StatusLines::default();
    let summary = receiver
        .run(stop, |sample| {
            if !args.quiet {
                lines.sample(sample);
            }
        })
        .await?;
    if args.json {
        print::result(format_args!(
            "{}\n",
            serde_json::to_string_pretty(&summary)?
        ))?;
    } else {
        print::result(summary_text(&summary))?;
    }
    Ok(if summary.flows.iter().all(|flow| flow.packets == 0) {
        print::status(format_args!("cantor-edge: no packet came"));
        ExitCode::from(exit::NOTHING_RECEIVED)
    } else {
        ExitCode::SUCCESS
    })
}

/// One line per session and second.
#[derive(Default)]
struct StatusLines {
    sessions: BTreeMap<u64, Second>,
}

#[derive(Default)]
struct Second {
    samples: u32,
    bytes: u64,
    lost: i64,
    delay_weighted_us: f64,
    packets: u64,
    worst_p99_us: u64,
}

impl StatusLines {
    fn sample(&mut self, sample: &ReceiverSample) {
        let second = self.sessions.entry(sample.session).or_default();
        second.samples += 1;
        second.bytes += sample.bytes;
        second.lost += sample.lost;
        if let Some(delay) = &sample.delay {
            second.packets += delay.packets;
            second.delay_weighted_us += delay.mean_us * delay.packets as f64;
            second.worst_p99_us = second.worst_p99_us.max(delay.p99_us);
        }
        if second.samples < 10 {
            return;
        }
        let delay = if second.packets == 0 {
            "-".to_owned()
        } else {
            format!(
                "mean {} p99 up to {}",
                units::micros(second.delay_weighted_us / second.packets as f64),
                units::micros(second.worst_p99_us as f64)
            )
        };
        print::status(format_args!(
            "{:016x}  received {:>11}  lost {:>5}  delay {delay}",
            sample.session,
            units::rate(second.bytes as f64 * 8.0),
            second.lost,
        ));
        *second = Second::default();
    }
}

fn summary_text(summary: &ReceiverSummary) -> String {
    let colour = print::colours(&std::io::stdout());
    let mut text = String::new();
    for flow in &summary.flows {
        let title = format!("Received {:016x}", flow.session);
        text += &print::coloured(&title, print::BOLD, colour);
        text += "\n";
        let seconds = flow.duration_us as f64 / 1e6;
        text += &print::line(
            "packets",
            format!("{} ({} octets) in {seconds:.1} s", flow.packets, flow.bytes),
        );
        text += &print::line("goodput", units::rate(flow.goodput_bps));
        text += &print::line(
            "lost",
            format!("{} ({:.2} %)", flow.lost, flow.loss_ratio * 100.0),
        );
        text += &print::line("reordered", flow.reordered);
        text += &print::line("duplicates", flow.duplicates);
        text += &print::line("one-way delay", print::delay(flow.delay.as_ref()));
        if !flow.ended {
            text += &print::line("", "the sender did not say that it had finished");
        }
    }
    if summary.ignored_packets > 0 {
        text += &format!(
            "{} packets were none of a test flow\n",
            summary.ignored_packets
        );
    }
    text
}
