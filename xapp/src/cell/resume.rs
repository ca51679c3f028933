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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guidance::FlowKey;
    use crate::guidance::outbox::Outbox;
    use policies::UeId;
    use policies::decision_log::LoggedReport;
    use std::sync::Arc;

    const NOW: Duration = Duration::from_secs(60);
    const NOW_US: u64 = 1_700_000_000_000_000;

    fn flow(current_rate_bps: Option<f64>) -> BoundFlow {
        BoundFlow {
            key: FlowKey {
                edge: "e".into(),
                flow: "f".into(),
            },
            ue: UeId::CRnti(1),
            address: None,
            slice: None,
            wired: Duration::ZERO,
            frame_interval: None,
            current_rate_bps,
            last_sequence: 0,
            policies: Vec::new(),
            outbox: Arc::new(Outbox::new(1)),
        }
    }

    fn left(age: Duration) -> LoggedDecision {
        let json = serde_json::json!({
            "edge": "e", "flow": "f", "node": "n", "ue": { "c_rnti": 1 }, "sequence": 7,
            "time_us": NOW_US - age.as_micros() as u64, "controller": "rapid",
            "previous_rate_bps": 1e6, "rate_bps": 5e6, "target_prbs": 1.0, "gain_bps_per_prb": 1.0,
            "target_factor": 0.9, "cell_prbs": 80.0, "active_ues": 1,
            "rate_min_bps": 1.0, "rate_max_bps": 1e9, "report_age_us": 1000,
        });
        LoggedDecision {
            reports: vec![LoggedReport {
                age_us: 1000,
                length_us: 50_000,
                ..LoggedReport::default()
            }],
            ..serde_json::from_value(json).expect("a decision")
        }
    }

    #[test]
    fn a_recent_rate_goes_before_that_of_the_edge_and_an_old_one_after_it() {
        let recent = after(&left(Duration::from_secs(2)), &flow(Some(9e6)), NOW, NOW_US);
        assert_eq!((recent.rate_bps, recent.sequence), (Some(5e6), 7));
        let age = Duration::from_secs(60);
        let old = after(&left(age), &flow(Some(9e6)), NOW, NOW_US);
        assert_eq!((old.rate_bps, old.sequence), (Some(9e6), 7));
        assert!(old.reports.is_empty());
        assert_eq!(
            after(&left(age), &flow(None), NOW, NOW_US).rate_bps,
            Some(5e6)
        );
    }

    #[test]
    fn reports_come_back_with_their_times_and_only_to_their_ue() {
        let age = Duration::from_secs(2);
        let from = after(&left(age), &flow(None), NOW, NOW_US);
        let expected = NOW - age - Duration::from_millis(1);
        assert_eq!(from.reports[0].end(), expected);
        let another = BoundFlow {
            ue: UeId::CRnti(2),
            ..flow(None)
        };
        assert!(after(&left(age), &another, NOW, NOW_US).reports.is_empty());
    }
}
