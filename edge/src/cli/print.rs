//! Text for terminals, and for pipes whose reader may have seen enough (`| head`): that is no failure.

use edge::flow::DelaySummary;
use edge::units;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write as _};

/// Writes results to standard output.
pub(super) fn result(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a line to standard error, if it is open.
pub(crate) fn status(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Whether to colour what goes there: only terminals, and not when NO_COLOR asks for none.
pub(super) fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Text in one of the ANSI colours, if `on`.
pub(super) fn coloured(text: &str, ansi: u8, on: bool) -> String {
    if on {
        format!("\x1b[{ansi}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

pub(super) const GREEN: u8 = 32;
pub(super) const YELLOW: u8 = 33;
pub(super) const RED: u8 = 31;
pub(super) const BOLD: u8 = 1;

/// Mean and percentiles on one line.
pub(super) fn delay(delay: Option<&DelaySummary>) -> String {
    let Some(delay) = delay else {
        return "-".into();
    };
    format!(
        "mean {}  p50 {}  p95 {}  p99 {}  max {}",
        units::micros(delay.mean_us),
        units::micros(delay.p50_us as f64),
        units::micros(delay.p95_us as f64),
        units::micros(delay.p99_us as f64),
        units::micros(delay.max_us as f64),
    )
}

/// A line of a summary.
pub(super) fn line(name: &str, value: impl Display) -> String {
    format!("  {name:<14} {value}\n")
}
