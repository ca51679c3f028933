//! How slices did, as text: objectives met, and what each variant of a sweep gives up for them.

use super::Run;
use sim::objectives::{SliceOutcome, WINDOW};
use std::fmt::Write as _;

/// One line per slice and variant; empty where no slice has an objective.
pub fn text(runs: &[Run<'_>]) -> String {
    let variants: Vec<_> = runs.chunk_by(|a, b| a.variant == b.variant).collect();
    let Some(slices) = runs.first().map(|run| run.slices.len()).filter(|n| *n > 0) else {
        return String::new();
    };
    let mut text = String::from("\n");
    for slice in 0..slices {
        let most = variants
            .iter()
            .map(|runs| goodput(runs, slice))
            .fold(0.0, f64::max);
        let SliceOutcome {
            slice: name,
            objective,
            ..
        } = &runs[0].slices[slice];
        let _ = writeln!(text, "slice {name}: {objective}");
        for runs in &variants {
            let of = |count: fn(&SliceOutcome) -> u32| -> u32 {
                runs.iter().map(|run| count(&run.slices[slice])).sum()
            };
            let (met, windows) = (of(|s| s.met), of(|s| s.windows));
            let mbps = goodput(runs, slice);
            let _ = writeln!(
                text,
                "  {:<44} met in {:>5.1} % of {windows} windows of {} s; goodput {mbps:.1} Mbit/s ({:+.1} %)",
                runs[0].variant,
                100.0 * f64::from(met) / f64::from(windows.max(1)),
                WINDOW.as_secs(),
                100.0 * (mbps / most - 1.0),
            );
        }
    }
    text + "Goodput of a slice's flows together, and relative to the variant with the most\n"
}

fn goodput(runs: &[Run<'_>], slice: usize) -> f64 {
    let sum: f64 = runs.iter().map(|run| run.slices[slice].goodput_mbps).sum();
    sum / runs.len() as f64
}
