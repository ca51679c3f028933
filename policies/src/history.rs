//! The last reports of one UE, bounded in number.

use crate::report::UeReport;
use std::time::Duration;

/// Reports of one UE in the order of their windows, the oldest dropped when there is no room.
///
/// The reports lie in one slice, so that a control interval borrows them without a copy.
#[derive(Clone, Debug)]
pub struct History {
    /// At most twice the capacity: the older half is dropped at once when it is full, so a push costs O(1) on average.
    reports: Vec<UeReport>,
    capacity: usize,
}

impl History {
    /// Room for at least `capacity` reports (at least 1).
    pub fn new(capacity: usize) -> Self {
        Self {
            reports: Vec::new(),
            capacity: capacity.max(1),
        }
    }

    /// Adds a report. One that ends before the newest ends (indications can overtake each other) is put in its place.
    pub fn push(&mut self, report: UeReport) {
        if self.reports.len() >= self.capacity.saturating_mul(2) {
            self.reports.drain(..self.capacity);
        }
        let at = self.reports.partition_point(|r| r.end() <= report.end());
        self.reports.insert(at, report);
    }

    /// Reports whose windows ended in (`from`, `to`], oldest first.
    pub fn window(&self, from: Duration, to: Duration) -> &[UeReport] {
        let start = self.reports.partition_point(|r| r.end() <= from);
        let end = self.reports.partition_point(|r| r.end() <= to);
        self.reports.get(start..end).unwrap_or(&[])
    }

    /// The newest `n` reports at most, oldest first.
    pub fn last(&self, n: usize) -> &[UeReport] {
        let kept = &self.reports[self.reports.len().saturating_sub(self.capacity)..];
        &kept[kept.len().saturating_sub(n)..]
    }

    /// The newest report.
    pub fn newest(&self) -> Option<&UeReport> {
        self.reports.last()
    }

    /// How long ago the newest window ended; `None` without a report.
    pub fn age(&self, now: Duration) -> Option<Duration> {
        Some(now.saturating_sub(self.newest()?.end()))
    }
}
