//! `cantor run`: the xApp itself.

use crate::config;
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

const EXAMPLES: &str = "\
Examples:
  cantor run --config cantor.toml
  cantor run --config cantor.toml --check
  CANTOR_GRPC__LISTEN=0.0.0.0:50051 cantor run

Every key of the file is described in cantor.example.toml. An environment variable
CANTOR_<SECTION>__<KEY> overrides the key of that section; lists are written as in TOML.";

/// Run the xApp: E2 in, rate guidance out
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
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
            return Ok(super::print(loaded.describe())?);
        }
        super::runtime()?.block_on(async {
            let stop = CancellationToken::new();
            // Before anything else runs: a signal during the start must not be lost.
            let mut terminate = signal(SignalKind::terminate())?;
            let mut interrupt = signal(SignalKind::interrupt())?;
            let running = crate::run(loaded.config, stop.clone()).await?;
            tokio::spawn(async move {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                stop.cancel();
            });
            Ok(running.stopped().await?)
        })
    }
}
