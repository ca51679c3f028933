//! Which MAC and RLC reports belong together, and which of them begin and end a window.
//!
//! A node makes the two reports of a tick up to a few milliseconds apart, leaves some out under load, and a near-RT
//! RIC in between may let them overtake each other. Counters are cumulative, so whatever is missing makes a window
//! longer, and nothing uncounted.

use super::{rlc, window::Snapshot};
use std::collections::VecDeque;

/// A jump of the node's clock by more than this is a restart, not a late report.
const CLOCK_STEP_US: u64 = 30_000_000;
/// MAC reports kept while their RLC reports are on their way: the patience, at a report every millisecond.
const MAX_PENDING: usize = 512;
/// UE records in them: a node that invents thousands of UEs must not fill the memory while it holds RLC back.
const MAX_PENDING_RECORDS: usize = 1 << 16;
/// So many late reports in a row, with none in time, are the node's clock that was set back.
const MAX_LATE: u32 = 20;
/// RLC reports kept for MAC reports that come after them.
const MAX_RLC: usize = 16;
/// How long RLC reports are waited for once they have been seen, and at least three periods.
const PATIENCE_US: i64 = 500_000;

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It will be used.
    InTime,
    /// What it says is covered already.
    Late,
    /// The node's clock jumped or was set back: everything before is forgotten.
    ClockStep,
}

/// MAC and RLC reports whose windows are not closed.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    base: Option<Snapshot>,
    /// After the base, in the order of their time stamps.
    pending: VecDeque<Snapshot>,
    /// The newest RLC reports, in the order of their time stamps.
    rlc: VecDeque<rlc::Report>,
    /// Times between the last MAC reports.
    steps_us: VecDeque<i64>,
    /// UE records in `pending`.
    pending_records: usize,
    /// Late MAC reports in a row.
    late: u32,
}

impl Ticks {
    /// Counters at the start of the open window.
    pub(super) fn base(&self) -> Option<&Snapshot> {
        self.base.as_ref()
    }

    pub(super) fn mac(&mut self, mut snapshot: Snapshot) -> Arrival {
        let mut arrival = Arrival::InTime;
        if let (Some(base), Some(newest)) = (&self.base, self.newest_us()) {
            let step_us = snapshot.tstamp_us.saturating_sub(newest);
            let late = snapshot.tstamp_us <= base.tstamp_us;
            self.late = if late { self.late + 1 } else { 0 };
            if step_us.unsigned_abs() > CLOCK_STEP_US || self.late > MAX_LATE {
                *self = Self::default();
                arrival = Arrival::ClockStep;
            } else {
                self.observe_step(step_us);
                if late {
                    return Arrival::Late;
                }
            }
        }
        snapshot.rlc = self.rlc_of_tick(snapshot.tstamp_us);
        if self.base.is_none() {
            self.base = Some(snapshot);
        } else {
            let at = self
                .pending
                .partition_point(|p| p.tstamp_us <= snapshot.tstamp_us);
            self.pending_records += snapshot.ues.len();
            self.pending.insert(at, snapshot);
            while self.pending.len() > MAX_PENDING
                || (self.pending_records > MAX_PENDING_RECORDS && self.pending.len() > 1)
            {
                self.pop_pending();
            }
        }
        arrival
    }

    pub(super) fn rlc(&mut self, report: rlc::Report) -> Arrival {
        let tolerance_us = self.tolerance_us();
        let last = self.rlc.back().map(|last| last.tstamp_us);
        if last.is_some_and(|last| last.abs_diff(report.tstamp_us) > CLOCK_STEP_US) {
            self.rlc.clear();
        }
        if self
            .joined_us()
            .is_some_and(|joined| report.tstamp_us <= joined)
        {
            return Arrival::Late;
        }
        let of_tick = self
            .base
            .iter_mut()
            .chain(&mut self.pending)
            .filter(|snapshot| snapshot.rlc.is_none())
            .min_by_key(|snapshot| snapshot.tstamp_us.abs_diff(report.tstamp_us))
            .filter(|snapshot| near(snapshot.tstamp_us, report.tstamp_us, tolerance_us));
        if let Some(snapshot) = of_tick {
            snapshot.rlc = Some(report.clone());
        }
        let at = self
            .rlc
            .partition_point(|r| r.tstamp_us <= report.tstamp_us);
        self.rlc.insert(at, report);
        if self.rlc.len() > MAX_RLC {
            self.rlc.pop_front();
        }
        Arrival::InTime
    }

    /// Both ends of the next window that can be closed.
    ///
    /// It ends with the first tick of which both reports are there, or with the first tick at all if RLC reports do
    /// not come (any more).
    pub(super) fn window(&self) -> Option<(&Snapshot, &Snapshot)> {
        let base = self.base.as_ref()?;
        let first = self.pending.front()?;
        let end = match self.pending.iter().find(|snapshot| snapshot.rlc.is_some()) {
            Some(joined) => joined,
            None if self.rlc_is_coming(base, first) => return None,
            None => first,
        };
        Some((base, end))
    }

    /// The window up to `end_us` is closed, and the next begins there; or, `too_short`, its end is left out.
    pub(super) fn close(&mut self, end_us: i64, too_short: bool) {
        while let Some(snapshot) = self.pop_pending() {
            if snapshot.tstamp_us < end_us {
                continue;
            }
            if !too_short {
                self.base = Some(snapshot);
            }
            return;
        }
    }

    fn pop_pending(&mut self) -> Option<Snapshot> {
        let snapshot = self.pending.pop_front()?;
        self.pending_records -= snapshot.ues.len();
        Some(snapshot)
    }

    fn rlc_is_coming(&self, base: &Snapshot, first: &Snapshot) -> bool {
        let patience_us = PATIENCE_US.max(self.period_us().saturating_mul(3));
        let open_us = self.newest_us().unwrap_or(first.tstamp_us) - base.tstamp_us;
        let lately = |rlc: &rlc::Report| near(rlc.tstamp_us, first.tstamp_us, patience_us);
        self.rlc.back().is_some_and(lately) && open_us < patience_us
    }

    /// Time of the newest RLC report that is part of the base.
    fn joined_us(&self) -> Option<i64> {
        Some(self.base.as_ref()?.rlc.as_ref()?.tstamp_us)
    }

    fn rlc_of_tick(&self, tstamp_us: i64) -> Option<rlc::Report> {
        let joined = self.joined_us();
        self.rlc
            .iter()
            .filter(|rlc| joined.is_none_or(|joined| rlc.tstamp_us > joined))
            .min_by_key(|rlc| rlc.tstamp_us.abs_diff(tstamp_us))
            .filter(|rlc| near(rlc.tstamp_us, tstamp_us, self.tolerance_us()))
            .cloned()
    }

    fn newest_us(&self) -> Option<i64> {
        let newest = self.pending.back().or(self.base.as_ref())?;
        Some(newest.tstamp_us)
    }

    fn observe_step(&mut self, step_us: i64) {
        const STEPS: usize = 9;
        if self.steps_us.len() == STEPS {
            self.steps_us.pop_front();
        }
        self.steps_us.push_back(step_us.saturating_abs());
    }

    /// Median of the times between reports: single ones come late, pile up, or overtake each other. 0 if unknown.
    fn period_us(&self) -> i64 {
        let mut sorted: Vec<i64> = self.steps_us.iter().copied().collect();
        sorted.sort_unstable();
        sorted
            .get(sorted.len().saturating_sub(1) / 2)
            .copied()
            .unwrap_or(0)
    }

    /// How far apart MAC and RLC reports of one tick may be: half a period.
    fn tolerance_us(&self) -> i64 {
        const BEFORE_A_PERIOD_IS_KNOWN: i64 = 5000;
        match self.period_us() {
            0 => BEFORE_A_PERIOD_IS_KNOWN,
            period => period / 2,
        }
    }
}

fn near(a: i64, b: i64, tolerance: i64) -> bool {
    a.abs_diff(b) <= tolerance.unsigned_abs()
}
