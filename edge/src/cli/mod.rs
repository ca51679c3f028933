//! Command line of `cantor-edge`.

pub(crate) mod print;
mod receive;
mod send;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// Exit codes beside 0 (done), 1 (it failed) and 2 (wrong arguments).
mod exit {
    /// The xApp refused the flow.
    pub(super) const REFUSED: u8 = 3;
    /// No guidance came.
    pub(super) const UNGUIDED: u8 = 4;
    /// No packet came.
    pub(super) const NOTHING_RECEIVED: u8 = 5;
}

/// Sends a paced UDP test flow that follows the guidance of Cantor, and measures what arrives.
#[derive(Parser)]
#[command(version, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  cantor-edge receive --listen 0.0.0.0:5201
  cantor-edge send --to 10.0.0.7:5201 --rate 40M --seconds 10
  cantor-edge send --to 10.0.0.7:5201 --xapp http://ric:50051 --edge-id edge-1 --flow video-7 --ue-ip 10.0.0.7

Exit codes: 0 done; 1 failed; 2 wrong arguments; 3 the xApp refused the flow; 4 no guidance came; 5 no packet came.
Status lines and logs go to standard error (RUST_LOG sets their level), the summary to standard output.
One-way delay compares the clocks of sender and receiver: synchronise them (PTP, NTP) if they are two hosts.";

#[derive(Subcommand)]
enum Command {
    /// Send a flow, as the xApp guides it or at a fixed rate.
    Send(Box<send::Args>),
    /// Receive flows; measure goodput, loss, reordering and one-way delay.
    Receive(receive::Args),
}

/// Runs the command to its end.
pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("error"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        // It would say so on standard error, where it cannot write.
        .log_internal_errors(false)
        .with_writer(std::io::stderr)
        .with_ansi(print::colours(&std::io::stderr()))
        .init();
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone())?;
    match args.command {
        Command::Send(args) => send::run(*args, stop).await,
        Command::Receive(args) => receive::run(args, stop).await,
    }
}

/// SIGINT and SIGTERM end the flow; the summary is printed all the same.
fn stop_on_signal(stop: CancellationToken) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.cancel();
    });
    Ok(())
}
