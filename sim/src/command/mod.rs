//! The subcommands.

pub mod cell;
pub mod reproduce;
pub mod run;
#[cfg(feature = "training")]
pub mod train;

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

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

/// A progress bar over virtual time; it advances in milliseconds.
fn progress_bar(total: Duration) -> ProgressBar {
    let bar = ProgressBar::new(total.as_millis() as u64);
    match ProgressStyle::with_template("{bar:40} {percent:>3} %  {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
