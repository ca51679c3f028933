//! Results as a table for people: means over the seeds, one line per flow.

use super::Run;
use sim::results::Summary;
use std::fmt::Write as _;

/// Heading, unit, digits after the point, value.
type Column = (&'static str, &'static str, usize, fn(&Summary) -> f64);

const COLUMNS: [Column; 10] = [
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

pub fn table(runs: &[Run<'_>]) -> String {
    let mut text = String::new();
    let _ = write!(text, "{:<16}", "flow");
    for (heading, ..) in COLUMNS {
        let _ = write!(text, "{heading:>9}");
    }
    let _ = write!(text, "\n{:<16}", "");
    for (_, unit, ..) in COLUMNS {
        let _ = write!(text, "{unit:>9}");
    }
    text.push('\n');
    for runs in runs.chunk_by(|a, b| a.variant == b.variant) {
        if !runs[0].variant.is_empty() {
            let _ = writeln!(text, "{}", runs[0].variant);
        }
        let mean =
            |of: &dyn Fn(&Run<'_>) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        for (flow, summary) in runs[0].summaries.iter().enumerate() {
            let _ = write!(text, "{:<16}", summary.flow);
            for (.., digits, of) in COLUMNS {
                let value = mean(&|run| of(&run.summaries[flow]));
                let _ = write!(text, "{value:>9.digits$}");
            }
            text.push('\n');
        }
        if runs[0].summaries.len() > 1 {
            let jain = mean(&|run| run.jain);
            let _ = writeln!(text, "Jain's index of the goodputs: {jain:.3}");
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
