//! Results as tables for people: means over the seeds, one line per flow.

use super::Run;
use sim::frames::FrameSummary;
use sim::results::Summary;
use std::fmt::Write as _;

/// Heading, unit, digits after the point, value.
type Column<T> = (&'static str, &'static str, usize, fn(&T) -> f64);

const COLUMNS: [Column<Summary>; 10] = [
    ("goodput", "Mbit/s", 2, |s| s.goodput_mbps),
    ("mean", "ms", 1, |s| s.packet_delay.mean_ms),
    ("p50", "ms", 1, |s| s.packet_delay.p50_ms),
    ("p95", "ms", 1, |s| s.packet_delay.p95_ms),
    ("p99", "ms", 1, |s| s.packet_delay.p99_ms),
    ("max", "ms", 1, |s| s.packet_delay.max_ms),
    ("loss", "%", 3, |s| s.loss_percent),
    ("PRBs", "/slot", 1, |s| s.prbs),
    ("MCS", "", 1, |s| s.mcs),
    ("retx", "", 3, |s| s.retransmission_ratio),
];

const FRAMES: [Column<FrameSummary>; 10] = [
    ("bitrate", "Mbit/s", 2, |s| s.bitrate_mbps),
    ("deviates", "Mbit/s", 2, |s| s.bitrate_deviation_mbps),
    ("mean", "ms", 1, |s| s.mean_ms),
    ("p50", "ms", 1, |s| s.p50_ms),
    ("p95", "ms", 1, |s| s.p95_ms),
    ("p99", "ms", 1, |s| s.p99_ms),
    ("p99.9", "ms", 1, |s| s.p999_ms),
    ("max", "ms", 1, |s| s.max_ms),
    ("frames", "", 0, |s| s.frames as f64),
    ("lost", "", 1, |s| s.lost as f64),
];

pub fn table(runs: &[Run<'_>]) -> String {
    let mut text = head(&COLUMNS);
    for runs in runs.chunk_by(|a, b| a.variant == b.variant) {
        lines(&mut text, runs, &COLUMNS, |summary| Some(summary));
        if runs[0].summaries.len() > 1 {
            let jain = runs.iter().map(|run| run.jain).sum::<f64>() / runs.len() as f64;
            let _ = writeln!(text, "Jain's index of the goodputs: {jain:.3}");
        }
    }
    let mut flows = runs.iter().flat_map(|run| &run.summaries);
    if flows.any(|summary| summary.frames.is_some()) {
        let _ = write!(text, "\nFrames of video\n{}", head(&FRAMES));
        for runs in runs.chunk_by(|a, b| a.variant == b.variant) {
            lines(&mut text, runs, &FRAMES, |summary| summary.frames.as_ref());
        }
    }
    let seeds = runs.chunk_by(|a, b| a.variant == b.variant).next();
    let seeds = seeds.map_or(0, <[_]>::len);
    let _ = writeln!(
        text,
        "Means over {seeds} seed(s); one-way delays per packet"
    );
    text
}

fn head<T>(columns: &[Column<T>]) -> String {
    let mut text = format!("{:<16}", "flow");
    for (heading, ..) in columns {
        let _ = write!(text, "{heading:>9}");
    }
    let _ = write!(text, "\n{:<16}", "");
    for (_, unit, ..) in columns {
        let _ = write!(text, "{unit:>9}");
    }
    text.push('\n');
    text
}

/// A line per flow of a variant that has what is shown.
fn lines<T>(
    text: &mut String,
    runs: &[Run<'_>],
    columns: &[Column<T>],
    part: fn(&Summary) -> Option<&T>,
) {
    if !runs[0].variant.is_empty() {
        let _ = writeln!(text, "{}", runs[0].variant);
    }
    for (flow, summary) in runs[0].summaries.iter().enumerate() {
        if part(summary).is_none() {
            continue;
        }
        let _ = write!(text, "{:<16}", summary.flow);
        for (.., digits, of) in columns {
            let values = runs.iter().filter_map(|run| part(&run.summaries[flow]));
            let value = values.map(of).sum::<f64>() / runs.len() as f64;
            let _ = write!(text, "{value:>9.digits$}");
        }
        text.push('\n');
    }
}
