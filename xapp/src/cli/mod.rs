//! Command line of `cantor`.
//!
//! One file per subcommand: its arguments (with help texts and examples) and `execute`.

pub mod bind;
pub mod decode;
pub mod demo;
pub mod log;
pub mod model;
pub mod policy;
pub mod replay;
pub mod run;
pub mod top;
pub mod tree;
mod xapp;

use crate::telemetry::{self, LogFormat};
use clap::{Parser, Subcommand};
use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  failure: the reason is on stderr
  2  wrong usage or configuration: nothing was started";

/// What a subcommand's help ends with.
fn after_help(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Rate guidance for downlink flows from O-RAN E2 measurements.
#[derive(Debug, Parser)]
#[command(name = "cantor", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Form of the log lines on stderr
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, help_heading = "Logs")]
    log_format: LogFormat,

    /// What to log: a level, or directives such as `info,xapp::ran=debug` [default: info for `run`, error for `demo`, else warn]
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        env = "RUST_LOG",
        help_heading = "Logs"
    )]
    log_level: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Demo(demo::Args),
    Replay(replay::Args),
    Decode(decode::Args),
    Top(top::Args),
    Bind(bind::Args),
    Log(log::Args),
    Policy(policy::Args),
    Model(model::Args),
}

/// The command line, an argument or the configuration is wrong: nothing was started, exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl Cli {
    /// Runs the chosen command to its end.
    pub fn execute(self) -> ExitCode {
        let filter = self.log_level.as_deref();
        let filter = filter.unwrap_or(self.command.default_log_level());
        let result = telemetry::init_logs(self.log_format, filter)
            .map_err(anyhow::Error::from)
            .and_then(|()| self.command.execute());
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                tell(format_args!("cantor: {error:#}"));
                exit_code(&error)
            }
        }
    }
}

impl Command {
    /// What is logged unless the user says: commands that print results leave stderr to what went wrong.
    fn default_log_level(&self) -> &'static str {
        match self {
            Self::Run(_) => "info",
            // Its parts come and go, which is no news here.
            Self::Demo(_) => "error",
            _ => "warn",
        }
    }

    fn execute(self) -> anyhow::Result<()> {
        match self {
            Self::Decode(args) => args.execute(),
            Self::Replay(args) => args.execute(),
            Self::Run(args) => args.execute(),
            Self::Demo(args) => args.execute(),
            Self::Top(args) => args.execute(),
            Self::Bind(args) => args.execute(),
            Self::Log(args) => args.execute(),
            Self::Policy(args) => args.execute(),
            Self::Model(args) => args.execute(),
        }
    }
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    let usage = error.is::<UsageError>()
        || error.is::<crate::config::Error>()
        || error.is::<telemetry::FilterError>();
    ExitCode::from(if usage { 2 } else { 1 })
}

/// What the xApp says of a request that failed.
fn plain(status: tonic::Status) -> anyhow::Error {
    anyhow::anyhow!("{}", status.message().to_owned())
}

/// Writes results to standard output. A reader that has seen enough (`| head`) is no error.
fn print(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a line to standard error, if it is open.
fn tell(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Runtime for the commands that speak to networks.
///
/// # Errors
/// When the operating system gives no threads or no event queue.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_subcommand_has_examples_and_says_what_its_exit_codes_mean() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let name = command.get_name();
            assert!(help.starts_with("Examples:\n"), "{name}: {help}");
            assert!(help.ends_with(EXIT_CODES), "{name}: {help}");
        }
    }
}
