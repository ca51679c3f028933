//! `cantor-sim`: the simulated cell on the command line.
#![forbid(unsafe_code)]

mod command;

use clap::{Parser, Subcommand};
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// A 5G cell in software.
#[derive(Parser)]
#[command(name = "cantor-sim", version, arg_required_else_help = true, after_help = command::EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// How logs look; what they tell is set by RUST_LOG (default: info)
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, display_order = 1000)]
    log_format: LogFormat,
}

#[derive(Subcommand)]
enum Command {
    Cell(command::cell::Args),
    Run(command::run::Args),
    Replay(command::replay::Args),
    Reproduce(command::reproduce::Args),
    #[cfg(feature = "training")]
    Train(command::train::Args),
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    start_logs(cli.log_format);
    let outcome = match cli.command {
        Command::Cell(args) => command::cell::run(args),
        Command::Run(args) => command::run::run(args),
        Command::Replay(args) => command::replay::run(args),
        Command::Reproduce(args) => command::reproduce::run(args),
        #[cfg(feature = "training")]
        Command::Train(args) => command::train::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            command::status(format_args!("cantor-sim: {:#}", failure.error));
            ExitCode::from(failure.code)
        }
    }
}

fn start_logs(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // It would say so on standard error, where it cannot write.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().init(),
    }
}
