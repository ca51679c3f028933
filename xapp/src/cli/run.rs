//! `cantor run`: the xApp itself.

use crate::config;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  cantor run --config cantor.toml
  cantor run --config cantor.toml --check
  CANTOR_GRPC__LISTEN=0.0.0.0:50051 cantor run

Every key of the file is described in cantor.example.toml. An environment variable
CANTOR_<SECTION>__<KEY> overrides the key of that section; lists are written as in TOML.";

/// Run the xApp: E2 in, rate guidance out
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Configuration file (TOML); without it the defaults and the environment hold
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Check the configuration, print the effective settings with their origin, and end
    #[arg(long)]
    check: bool,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let loaded = config::load(self.config.as_deref(), std::env::vars_os())?;
        if self.check {
            print!("{}", loaded.describe());
            return Ok(());
        }
        anyhow::bail!("no RAN link is built in")
    }
}
