//! Histories are bounded and give the windows asked for; activity counts who shares the cell.

mod common;

use common::report;
use policies::{ActiveUes, GainPolicy, History, Lack, Measurement, UeId, UeReport};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn prbs(reports: &[UeReport]) -> Vec<f64> {
    reports.iter().filter_map(|r| r.prbs).collect()
}

#[test]
fn windows_are_half_open_and_in_order() {
    let mut history = History::new(100);
    // The third overtook the second on its way.
    for i in [1u32, 3, 2, 4] {
        history.push(report(50 * i * MS, 50 * MS, Some(i.into())));
    }
    assert_eq!(prbs(history.window(50 * MS, 150 * MS)), [2.0, 3.0]);
    assert_eq!(prbs(history.window(150 * MS, 500 * MS)), [4.0]);
    assert!(history.window(500 * MS, 100 * MS).is_empty());
    assert_eq!(history.age(250 * MS), Some(50 * MS));
}

#[test]
fn never_more_than_twice_its_room() {
    let mut history = History::new(8);
    for i in 1..=1000u32 {
        history.push(report(i * MS, MS, Some(i.into())));
        assert!(history.window(Duration::ZERO, Duration::MAX).len() <= 16);
    }
    let last: Vec<_> = (993..=1000).map(f64::from).collect();
    assert_eq!(prbs(history.last(100)), last);
}

#[test]
fn a_pausing_ue_counts_for_a_while() {
    let with_data = |ue, end| UeReport {
        ue: UeId::CRnti(ue),
        delivered_bytes: Some(1),
        ..report(end, 50 * MS, None)
    };
    let mut active = ActiveUes::new(500 * MS);
    active.observe(&with_data(1, 100 * MS));
    active.observe(&with_data(2, 400 * MS));
    active.observe(&UeReport {
        delivered_bytes: Some(0),
        queue_bytes: Some(0),
        ..with_data(3, 400 * MS)
    });
    assert_eq!(active.count(400 * MS), 2);
    assert_eq!(active.count(601 * MS), 1);
    active.remove(UeId::CRnti(2));
    assert_eq!(active.count(601 * MS), 0);
}

/// 5 PRBs in one slot of each 100 ms are signalling; 18 PRBs in each tenth slot are 1 Mbit/s.
#[test]
fn without_octets_prbs_tell_signalling_from_data() {
    for (ms, signalling, data) in [(10, 0.25, 0.9), (100, 0.05, 0.9), (1000, 0.025, 0.9)] {
        assert!(
            !report(MS * ms, MS * ms, Some(signalling)).active(),
            "{ms} ms"
        );
        assert!(report(MS * ms, MS * ms, Some(data)).active(), "{ms} ms");
    }
}

/// MAC reports name a UE by its C-RNTI, KPM by its AMF id; at a change of the source both are there.
#[test]
fn a_ue_under_two_names_is_one() {
    let with_data = |ue| UeReport {
        ue,
        delivered_bytes: Some(1),
        ..report(100 * MS, 50 * MS, None)
    };
    let mut active = ActiveUes::new(500 * MS);
    active.observe(&with_data(UeId::AmfUeNgapId(7)));
    active.observe(&with_data(UeId::AmfUeNgapId(8)));
    assert_eq!(active.count(100 * MS), 2);
    for rnti in 1..=3 {
        active.observe(&with_data(UeId::CRnti(rnti)));
    }
    assert_eq!(active.count(100 * MS), 3);
}

#[test]
fn a_policy_without_its_measurements_is_passed_over_with_the_reason() {
    let preferences = [GainPolicy::RapidPeak, GainPolicy::Rapid];
    let selection = GainPolicy::select(&preferences, None, |m| m != Measurement::Prbs);
    assert_eq!(selection.policy, None);
    assert_eq!(
        selection.passed_over[0],
        (
            GainPolicy::RapidPeak,
            Lack::Measurements(vec![Measurement::Prbs])
        )
    );
    assert_eq!(
        GainPolicy::select(&preferences, None, |_| true).policy,
        Some(GainPolicy::RapidPeak)
    );
}
