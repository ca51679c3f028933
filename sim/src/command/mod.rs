//! The subcommands.

pub mod cell;
pub mod run;

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
