//! Logs: structured lines on stderr, one per change of state.

use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// Form of the log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// One readable line per event; coloured on terminals.
    Text,
    /// One JSON object per line.
    Json,
}

/// A log filter that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error(
    "log filter \"{filter}\": {cause}; write a level (error, warn, info, debug, trace) or directives such as info,xapp::ran=debug"
)]
pub struct FilterError {
    filter: String,
    cause: tracing_subscriber::filter::ParseError,
}

/// Sends log lines to stderr from now on. Does nothing if logs were set up before.
///
/// # Errors
/// When `filter` is neither a level nor a list of directives.
pub fn init_logs(format: LogFormat, filter: &str) -> Result<(), FilterError> {
    let filter = EnvFilter::try_new(filter).map_err(|cause| FilterError {
        filter: filter.to_owned(),
        cause,
    })?;
    let stderr = std::io::stderr();
    let colours = stderr.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // It would say so on standard error, where it cannot write.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // A second set-up (in-process runs, tests) keeps the first subscriber.
    let _ = match format {
        LogFormat::Text => lines.with_ansi(colours).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}
