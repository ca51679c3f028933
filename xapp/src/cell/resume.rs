//! From where a flow goes on that is bound to its UE.

use crate::guidance::registry::BoundFlow;
use crate::store::Store;
use policies::UeReport;
use policies::decision_log::LoggedDecision;
use std::time::Duration;

/// After a restart, a rate that was decided within this time is better than the one at which the edge server sends:
/// by now its fallback controller may have taken over.
const RECENT: Duration = Duration::from_secs(10);

/// What is known of a flow from before.
#[derive(Debug, Default, PartialEq)]
pub(super) struct From {
    /// Rate to go on from, bit/s; `None`: none is known.
    pub(super) rate_bps: Option<f64>,
    /// Sequence of the last guidance; 0: none is known.
    pub(super) sequence: u64,
    /// Reports of its UE that an earlier process had, on this process's clock.
    pub(super) reports: Vec<UeReport>,
}

/// `now` is the time of the reports' clock, `unix_us` the same moment as Unix time.
pub(super) fn from(store: &Store, flow: &BoundFlow, now: Duration, unix_us: u64) -> From {
    if let Some(last) = store.last(&flow.key) {
        return From {
            rate_bps: flow.current_rate_bps.or(Some(last.decision.rate_bps)),
            sequence: last.sequence,
            reports: Vec::new(),
        };
    }
    match store.left(&flow.key) {
        Some(left) => after(&left, flow, now, unix_us),
        None => From {
            rate_bps: flow.current_rate_bps,
            ..From::default()
        },
    }
}

/// Where an earlier process has left the flow.
fn after(left: &LoggedDecision, flow: &BoundFlow, now: Duration, unix_us: u64) -> From {
    let decided_us = u64::try_from(left.time_us).unwrap_or(0);
    // Both ways: a clock that was set back makes it no older than it is.
    let age = Duration::from_micros(unix_us.abs_diff(decided_us));
    let recent = age <= RECENT;
    let rate_bps = Some(left.rate_bps);
    From {
        rate_bps: if recent {
            rate_bps
        } else {
            flow.current_rate_bps.or(rate_bps)
        },
        sequence: left.sequence,
        reports: if recent && left.ue == flow.ue {
            left.ue_reports(now.saturating_sub(age))
        } else {
            Vec::new()
        },
    }
}
