//! RAPID keeps its bounds whatever it is told, and behaves on a plant as its paper says.

mod common;

use common::report;
use policies::{
    Controller, GainParameters, GainPolicy, Interval, Note, PrbStatistic, Rapid, RateBounds,
    Target, UeReport,
    windows::{mean_prbs, peak_prbs},
};
use proptest::prelude::*;
use std::time::Duration;

const BOUNDS: RateBounds = RateBounds {
    min_bps: 0.1e6,
    max_bps: 200e6,
};
const TARGET: Target = Target {
    factor: 0.9,
    cell_prbs: 106.0,
    active_flows: 3,
};
const MS: Duration = Duration::from_millis(1);

fn rapid(k: f64, initial_bps: f64) -> Rapid {
    Rapid::new(k, 1e6, PrbStatistic::Mean, initial_bps).unwrap()
}

fn interval(reports: &[UeReport]) -> Interval<'_> {
    Interval {
        now: Duration::from_secs(1),
        reports,
        target: TARGET,
        bounds: BOUNDS,
    }
}

fn reports(prbs: &[f64]) -> Vec<UeReport> {
    (1..)
        .zip(prbs)
        .map(|(i, p)| report(50 * i * MS, 50 * MS, Some(*p)))
        .collect()
}

/// The law by hand: 20 PRBs too many cost 0.5 · 10⁶ · 20 bit/s.
#[test]
fn one_step_of_the_law() {
    let mut controller = rapid(0.5, 40e6);
    let decision = controller.decide(&interval(&reports(&[41.8, 61.8])));
    assert!((decision.rate_bps - 30e6).abs() < 1.0, "{decision:?}");
    assert_eq!(decision.prbs, Some(51.8));
    assert!((decision.target_prbs - 31.8).abs() < 1e-9);
    assert_eq!(decision.note, None);
}

#[test]
fn the_peak_variant_follows_the_largest_report() {
    let parameters = GainParameters {
        initial_bps: 40e6,
        ..GainParameters::default()
    };
    let mut controller = GainPolicy::RapidPeak.controller(&parameters, None).unwrap();
    let decision = controller.decide(&interval(&reports(&[1.8, 51.8, 11.8])));
    assert_eq!(decision.prbs, Some(51.8));
    assert!((decision.rate_bps - 30e6).abs() < 1.0);
}

/// An interval without a report, or with none that says anything, leaves the rate alone and says so.
#[test]
fn no_report_no_change() {
    let mut controller = rapid(0.5, 40e6);
    let silent = [
        report(50 * MS, 50 * MS, None),
        report(100 * MS, Duration::ZERO, Some(90.0)),
    ];
    for reports in [&[][..], &silent[..]] {
        let decision = controller.decide(&interval(reports));
        assert_eq!(
            (decision.rate_bps, decision.note),
            (40e6, Some(Note::NoReport))
        );
    }
}

/// However long a bound held, the first error of the other sign moves the rate: nothing winds up.
#[test]
fn leaves_a_bound_at_once() {
    let mut controller = rapid(0.5, 190e6);
    for _ in 0..1000 {
        controller.decide(&interval(&reports(&[0.0])));
    }
    assert_eq!(controller.rate_bps(), BOUNDS.max_bps);
    let decision = controller.decide(&interval(&reports(&[41.8])));
    assert!((decision.rate_bps - (BOUNDS.max_bps - 5e6)).abs() < 1.0);
}

/// The mean weighs reports by their length: a late report that covers 150 ms counts three times one of 50 ms.
#[test]
fn late_reports_weigh_more() {
    let reports = [
        report(150 * MS, 150 * MS, Some(10.0)),
        report(200 * MS, 50 * MS, Some(50.0)),
    ];
    assert!((mean_prbs(&reports).unwrap() - 20.0).abs() < 1e-9);
}

/// At a 10 ms period a peak is still one over δ = 50 ms: a single full slot is not taken for a full cell.
#[test]
fn peaks_are_taken_over_the_report_interval() {
    let reports: Vec<_> = (1..=20)
        .map(|i| report(10 * i * MS, 10 * MS, Some(if i == 7 { 106.0 } else { 0.0 })))
        .collect();
    let peak = peak_prbs(&reports, 50 * MS).unwrap();
    assert!((20.0..=27.0).contains(&peak), "{peak}");
    assert_eq!(peak_prbs(&reports, MS), Some(106.0));
}

/// A cell that serves what is sent until it is full: µ = r / b, one interval later.
fn plant(k: f64, intervals: usize) -> Vec<f64> {
    const BPS_PER_PRB: f64 = 1.2e6;
    let mut controller = rapid(k, 10e6);
    let mut used = Vec::new();
    for _ in 0..intervals {
        let prbs = (controller.rate_bps() / BPS_PER_PRB).clamp(0.0, 106.0);
        used.push(prbs);
        controller.decide(&interval(&reports(&[prbs])));
    }
    used
}

fn crossings(values: &[f64]) -> usize {
    let above: Vec<_> = values.iter().map(|v| *v > TARGET.prbs()).collect();
    above.windows(2).filter(|w| w[0] != w[1]).count()
}

/// Pole 1 − K/b with b = 1.2 Mbit/s per PRB: 0.58 settles, −0.67 rings down, −3.2 diverges into the bounds (RAPID, Fig. 3a).
#[test]
fn gain_settles_rings_or_swings() {
    let settled = |used: &[f64]| used[30..].iter().all(|p| (p - TARGET.prbs()).abs() < 0.5);
    let (slow, ringing, unstable) = (plant(0.5, 60), plant(2.0, 60), plant(5.0, 60));
    assert!(
        settled(&slow) && crossings(&slow[..20]) == 0,
        "K = 0.5: {slow:?}"
    );
    assert!(
        settled(&ringing) && crossings(&ringing[..10]) >= 8,
        "K = 2: {ringing:?}"
    );
    let swing = unstable[30..].iter().copied().fold(0.0, f64::max)
        - unstable[30..].iter().copied().fold(f64::MAX, f64::min);
    assert!(swing > 80.0, "K = 5 swings by {swing} PRBs: {unstable:?}");
}

#[test]
fn nonsense_parameters_are_refused() {
    for k in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Rapid::new(k, 1e6, PrbStatistic::Mean, 1e6).is_err());
    }
    assert!(RateBounds::new(2.0, 1.0).is_err());
    assert!(RateBounds::new(f64::NAN, 1.0).is_err());
    assert!(
        "rapidd"
            .parse::<GainPolicy>()
            .unwrap_err()
            .to_string()
            .contains("rapid-peak")
    );
    assert_eq!("rapid_peak".parse(), Ok(GainPolicy::RapidPeak));
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        proptest::num::f64::ANY,
        0.0..200.0,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY)
    ]
}

proptest! {
    /// Whatever the measurements, targets and rates put in: what comes out is finite and within the bounds.
    #[test]
    fn bounds_always_hold(
        steps in prop::collection::vec((prop::collection::vec(any_number(), 0..6), any_number(), any_number(), any_number(), 0u32..9), 1..30),
        peak: bool,
    ) {
        let policy = if peak { GainPolicy::RapidPeak } else { GainPolicy::Rapid };
        let mut controller = policy.controller(&GainParameters::default(), None).unwrap();
        for (prbs, factor, cell_prbs, takeover, active_flows) in steps {
            controller.set_rate_bps(takeover);
            let reports = reports(&prbs);
            let decision = controller.decide(&Interval {
                target: Target { factor, cell_prbs, active_flows },
                ..interval(&reports)
            });
            prop_assert!((BOUNDS.min_bps..=BOUNDS.max_bps).contains(&decision.rate_bps), "{decision:?}");
            prop_assert!(decision.prbs.is_none_or(f64::is_finite) && decision.target_prbs.is_finite(), "{decision:?}");
            prop_assert_eq!(controller.rate_bps(), decision.rate_bps);
        }
    }

    /// Below the target the rate never falls, above it never rises; and more PRBs never mean a higher rate.
    #[test]
    fn sign_and_monotony(a in 0.0..106.0f64, b in 0.0..106.0f64, rate in 0.1e6..200e6f64) {
        let next = |prbs: f64| rapid(0.5, rate).decide(&interval(&reports(&[prbs]))).rate_bps;
        let (next_a, next_b) = (next(a), next(b));
        prop_assert_eq!(next_a > rate, a < TARGET.prbs() && rate < BOUNDS.max_bps);
        prop_assert!((a - b) * (next_a - next_b) <= 0.0);
    }
}
