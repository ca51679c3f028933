//! The subcommands.

pub mod cell;
pub mod replay;
pub mod reproduce;
pub mod run;
#[cfg(feature = "training")]
pub mod train;

use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;
use std::io::{self, Write as _};
use std::time::Duration;

/// What the help texts end with.
pub const EXIT_CODES: &str = "\
Exit codes: 0 orderly end, 1 failure while running, 2 wrong command line, configuration or scenario.";

fn after_help(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Why a command failed, and its exit code.
pub struct Failure {
    /// What happened.
    pub error: anyhow::Error,
    /// Exit code of the process.
    pub code: u8,
}

impl Failure {
    /// The command line or a configuration file is wrong.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self {
            error: error.into(),
            code: 2,
        }
    }

    /// Something failed while running.
    pub fn running(error: impl Into<anyhow::Error>) -> Self {
        Self {
            error: error.into(),
            code: 1,
        }
    }
}

/// Writes results to standard output. A reader that has seen enough (`| head`) is no failure.
fn print(text: impl Display) -> Result<(), Failure> {
    match write(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Failure::running),
    }
}

fn write(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}").and_then(|()| out.flush())
}

/// Writes a line to standard error, if it is open.
pub fn status(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A progress bar over virtual time; it advances in milliseconds.
fn progress_bar(total: Duration) -> ProgressBar {
    let bar = ProgressBar::new(total.as_millis() as u64);
    match ProgressStyle::with_template("{bar:40} {percent:>3} %  {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
