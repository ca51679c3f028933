//! What a cell knows of one UE.

use policies::{History, Measurement, SNssai, UeReport};
use std::time::Duration;

/// A measurement counts as given by the RAN if one of this many last reports has it: one that is missing now
/// and then must not change the gain policy.
const REPORTS_TO_JUDGE_BY: usize = 20;

#[derive(Debug)]
pub(super) struct Ue {
    history: History,
    /// Reports since the last decision.
    fresh: usize,
    /// Reports since the last decision of the policies that decide with every report.
    unseen: usize,
    last_heard: Duration,
    slice: Option<SNssai>,
    /// Number of flows that are guided to it.
    pub(super) flows: usize,
    /// The node has given it up.
    pub(super) lost: bool,
}

impl Ue {
    pub(super) fn new(now: Duration, history: usize, flows: usize) -> Self {
        Self {
            history: History::new(history),
            fresh: 0,
            unseen: 0,
            last_heard: now,
            slice: None,
            flows,
            lost: false,
        }
    }

    /// Takes a report. `true`: it tells another slice than those before.
    pub(super) fn push(&mut self, report: UeReport, now: Duration) -> bool {
        let moved = report.slice.is_some() && report.slice != self.slice;
        if moved {
            self.slice = report.slice;
        }
        self.last_heard = now;
        self.lost = false;
        self.fresh += 1;
        self.unseen += 1;
        self.history.push(report);
        moved
    }

    /// The slice that the RAN told last.
    pub(super) fn slice(&self) -> Option<SNssai> {
        self.slice
    }

    /// Takes reports that are older than all that it has.
    pub(super) fn remember(&mut self, reports: Vec<UeReport>) {
        let oldest = self.history.last(usize::MAX).first().map(UeReport::end);
        let older = |report: &UeReport| oldest.is_none_or(|oldest| report.end() < oldest);
        for report in reports.into_iter().filter(older) {
            self.history.push(report);
        }
    }

    /// Reports since the last decision, oldest first.
    pub(super) fn fresh(&self) -> &[UeReport] {
        self.history.last(self.fresh)
    }

    /// Reports since the last decision of the policies that decide with every report, oldest first.
    pub(super) fn unseen(&self) -> &[UeReport] {
        self.history.last(self.unseen)
    }

    /// The policies that decide with every report have decided.
    pub(super) fn seen(&mut self) {
        self.unseen = 0;
    }

    /// A decision was made on the fresh reports.
    pub(super) fn decided(&mut self) {
        self.fresh = 0;
        self.unseen = 0;
    }

    pub(super) fn newest(&self) -> Option<&UeReport> {
        self.history.newest()
    }

    pub(super) fn last_heard(&self) -> Duration {
        self.last_heard
    }

    pub(super) fn silent_for(&self, now: Duration) -> Duration {
        now.saturating_sub(self.last_heard)
    }

    pub(super) fn gives(&self, measurement: Measurement) -> bool {
        let reports = self.history.last(REPORTS_TO_JUDGE_BY);
        reports.iter().any(|report| measurement.is_in(report))
    }
}
