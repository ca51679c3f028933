//! Reports grouped into windows of δ, so that a peak means the same whatever the RAN's reporting period.

use crate::report::UeReport;
use std::time::Duration;

/// Consecutive reports that together last about `report_interval` (or one that is longer), oldest first.
///
/// One slot of 0.5 ms alone always has 0 or all PRBs; averaged over δ it says how much was used. Reports without PRB use
/// count for nothing. What is left at the end belongs to the group before it. Empty without a usable report.
pub fn groups(reports: &[UeReport], report_interval: Duration) -> Vec<&[UeReport]> {
    let enough = report_interval.as_secs_f64();
    let mut ends = Vec::new();
    let mut seconds = 0.0;
    for (index, report) in reports.iter().enumerate() {
        let length = usable(report).map_or(0.0, |(_, seconds)| seconds);
        seconds += length;
        // Nearer to it than with one report more; reports jitter with the timer of the RAN.
        if length > 0.0 && seconds + length / 2.0 >= enough {
            ends.push(index + 1);
            seconds = 0.0;
        }
    }
    match ends.last_mut() {
        Some(last) => *last = reports.len(),
        None if seconds > 0.0 => ends.push(reports.len()),
        None => {}
    }
    let mut start = 0;
    ends.into_iter()
        .filter_map(|end| reports.get(std::mem::replace(&mut start, end)..end))
        .collect()
}

/// Mean PRBs per slot over the reports, each weighted by the length of its window; `None` without a usable one.
///
/// With equal windows this is the papers' plain average; real reports come late and then early again.
pub fn mean_prbs(reports: &[UeReport]) -> Option<f64> {
    let usable = reports.iter().filter_map(usable);
    let (sum, seconds) = usable.fold((0.0, 0.0), |acc, (prbs, s)| (acc.0 + prbs * s, acc.1 + s));
    let mean = sum / seconds;
    mean.is_finite().then_some(mean)
}

/// Largest mean PRB use of the [`groups`]; `None` without a usable report.
pub fn peak_prbs(reports: &[UeReport], report_interval: Duration) -> Option<f64> {
    let groups = groups(reports, report_interval);
    groups.into_iter().filter_map(mean_prbs).reduce(f64::max)
}

/// PRBs per slot, and the seconds for which they are the mean.
fn usable(report: &UeReport) -> Option<(f64, f64)> {
    let prbs = report.prbs.filter(|p| p.is_finite() && *p >= 0.0)?;
    let seconds = report.length.as_secs_f64();
    (seconds > 0.0).then_some((prbs, seconds))
}
