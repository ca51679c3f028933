//! PRISM's law and observations, and the guard rails around it.

#[allow(dead_code, reason = "shared by several tests")]
#[path = "common/bundle.rs"]
mod bundle;
mod common;

use bundle::{GAINS, card};
use common::report;
use policies::guard::{Cause, Guard, GuardRails, Signs};
use policies::model::{Card, Feature};
use policies::prism::Outside;
use policies::{
    Batch, Controller, GainParameters, GainPolicy, Interval, Lack, Measurement, Note, Prism,
    RateBounds, Target, UeReport,
};
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const BOUNDS: RateBounds = RateBounds {
    min_bps: 0.1e6,
    max_bps: 100e6,
};

/// Four reports of 50 ms each, the last ending at `now`.
fn reports(now: Duration, prbs: [f64; 4]) -> Vec<UeReport> {
    (0..4)
        .map(|i| UeReport {
            cell_prbs: 100.0,
            mcs: Some(20.0),
            tb_sent: Some(90),
            tb_retx: Some(9),
            sinr_db: Some(15.0),
            ..report(now - (150 - 50 * i) * MS, 50 * MS, Some(prbs[i as usize]))
        })
        .collect()
}

/// Pε = 30 of 100 PRBs.
fn interval(now: Duration, reports: &[UeReport]) -> Interval<'_> {
    Interval {
        now,
        reports,
        target: Target {
            factor: 0.9,
            cell_prbs: 100.0,
            active_flows: 3,
        },
        bounds: BOUNDS,
    }
}

fn prism(card: Card) -> Prism {
    Prism::new(Arc::new(card), 40e6).unwrap()
}

/// One score each, the best at `gain`.
fn scores(gain: usize) -> [f32; 11] {
    std::array::from_fn(|i| if i == gain { 1.0 } else { 0.0 })
}

/// Above the target the peak of 50 PRBs costs a·γ·20, below it a peak of 24 brings a third of a·γ·6.
#[test]
fn the_gain_is_divided_by_n_on_increases_only() {
    let now = 200 * MS;
    let mut prism = prism(card());
    let above = reports(now, [10.0, 50.0, 20.0, 30.0]);
    let decision = prism.decide_with(&interval(now, &above), Some(5));
    assert_eq!(decision.chosen_gain, Some(0.5));
    assert!((decision.rate_bps - 30e6).abs() < 1.0, "{decision:?}");
    let below = reports(2 * now, [10.0, 24.0, 20.0, 10.0]);
    let decision = prism.decide_with(&interval(2 * now, &below), Some(10));
    assert!((decision.rate_bps - 32e6).abs() < 1.0, "{decision:?}");
}

/// Eight features of a window in the card's order, normalised; fewer than eight windows repeat the oldest.
#[test]
fn an_observation_is_the_last_windows_oldest_first() {
    let now = 200 * MS;
    let mut prism = prism(card());
    let first = reports(now, [10.0, 50.0, 20.0, 30.0]);
    let mut batch = Vec::new();
    assert!(prism.observe(&interval(now, &first), &mut batch));
    let row = |i: usize, batch: &[f32]| -> Vec<f32> { batch[8 * i..8 * (i + 1)].to_vec() };
    let window = |prbs: f32, min: f32, max: f32| {
        let rest = [0.3, 0.1, 0.4, 20.0 / 28.0, 0.5];
        [&[prbs, min, max], &rest[..]].concat()
    };
    let close = |a: Vec<f32>, b: Vec<f32>| a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6);
    for i in 0..5 {
        assert!(
            close(row(i, &batch), window(0.1, 0.1, 0.1)),
            "{i}: {batch:?}"
        );
    }
    assert!(close(row(5, &batch), window(0.5, 0.1, 0.5)));
    assert!(close(row(7, &batch), window(0.3, 0.1, 0.5)));
    // The Δ that ends with the first report of the next interval has lost the oldest of this one.
    let second = reports(2 * now, [40.0, 40.0, 40.0, 40.0]);
    batch.clear();
    assert!(prism.observe(&interval(2 * now, &second), &mut batch));
    assert!(close(row(3, &batch), window(0.3, 0.1, 0.5)));
    assert!(close(row(4, &batch), window(0.4, 0.2, 0.5)));
    assert!(close(row(7, &batch), window(0.4, 0.4, 0.4)));
}

/// Reports every 10 ms give the same observation as reports every 50 ms.
#[test]
fn faster_reports_are_averaged_over_the_window_of_training() {
    let now = 200 * MS;
    let slow = reports(now, [10.0, 50.0, 20.0, 30.0]);
    let fast: Vec<_> = slow
        .iter()
        .flat_map(|report| {
            (0..5).map(|i| UeReport {
                start: report.start + 10 * i * MS,
                length: 10 * MS,
                ..report.clone()
            })
        })
        .collect();
    let observe = |reports: &[UeReport]| {
        let mut batch = Vec::new();
        prism(card()).observe(&interval(now, reports), &mut batch);
        batch
    };
    let difference = observe(&slow)
        .iter()
        .zip(observe(&fast))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(difference < 1e-6, "{difference}");
}

/// A RAN that reports the CQI only serves a card with a table, and no other.
#[test]
fn the_cqi_takes_the_place_of_the_sinr_by_the_cards_table() {
    let mut without_table = card();
    without_table.cqi_to_sinr = None;
    let has = |m| !matches!(m, Measurement::Sinr);
    let select =
        |card: &Card| GainPolicy::select(&[GainPolicy::Prism, GainPolicy::Rapid], Some(card), has);
    assert_eq!(select(&card()).policy, Some(GainPolicy::Prism));
    assert_eq!(
        select(&without_table).passed_over,
        [(
            GainPolicy::Prism,
            Lack::Measurements(vec![Measurement::Sinr])
        )]
    );
    let now = 200 * MS;
    let reports: Vec<_> = reports(now, [10.0; 4])
        .into_iter()
        .map(|report| UeReport {
            sinr_db: None,
            cqi: Some(12),
            ..report
        })
        .collect();
    let mut batch = Vec::new();
    prism(card()).observe(&interval(now, &reports), &mut batch);
    assert_eq!(batch[63], ((16.0 + 10.0) / 50.0) as f32);
}

#[test]
fn without_news_or_an_answer_the_rate_stays() {
    let now = 200 * MS;
    let mut prism = prism(card());
    let mut batch = Vec::new();
    assert!(!prism.observe(&interval(now, &[]), &mut batch));
    assert!(batch.is_empty());
    let decision = prism.decide(&interval(now, &[]));
    assert_eq!(
        (decision.rate_bps, decision.note),
        (40e6, Some(Note::NoReport))
    );
    let reports = reports(now, [50.0; 4]);
    for answer in [&[f32::NAN; 11][..], &[][..]] {
        let decision = prism.decide_scored(&interval(now, &reports), answer);
        assert_eq!(
            (decision.rate_bps, decision.note),
            (40e6, Some(Note::NoGain))
        );
    }
}

fn guarded() -> Box<dyn Controller> {
    let parameters = GainParameters {
        initial_bps: 40e6,
        ..GainParameters::default()
    };
    GainPolicy::Prism
        .controller(&parameters, Some(&Arc::new(card())))
        .unwrap()
}

/// Runs `count` intervals in which the peak wanders and the model answers `answer(interval)`; when they ended.
fn run(
    controller: &mut dyn Controller,
    from: Duration,
    count: u32,
    answer: impl Fn(u32) -> Option<[f32; 11]>,
) -> Duration {
    let mut now = from;
    for i in 0..count {
        now += 200 * MS;
        let peak = 25.0 + f64::from(i % 7);
        let reports = reports(now, [10.0, peak, 20.0, 15.0]);
        let interval = interval(now, &reports);
        let mut batch = Batch::default();
        assert!(batch.observe(controller, &interval).is_some());
        match answer(i) {
            Some(scores) => controller.decide_scored(&interval, &scores),
            None => controller.decide(&interval),
        };
    }
    now
}

fn healthy(i: u32) -> Option<[f32; 11]> {
    Some(scores(i as usize % 11))
}

/// NaN demotes at once, in the same interval; after ten seconds of good answers PRISM is back, and after the next NaN it
/// takes twenty.
#[test]
fn a_model_that_answers_nan_makes_way_until_it_is_well() {
    let mut controller = guarded();
    let nan = |_| Some([f32::NAN; 11]);
    let now = run(&mut *controller, Duration::ZERO, 5, healthy);
    assert_eq!(controller.policy(), GainPolicy::Prism);
    let now = run(&mut *controller, now, 1, nan);
    assert_eq!(controller.policy(), GainPolicy::Rapid);
    assert_eq!(controller.demoted(), Some(Cause::NotFinite));
    let now = run(&mut *controller, now, 50, healthy);
    assert_eq!(controller.policy(), GainPolicy::Rapid, "after 9.8 s");
    let now = run(&mut *controller, now, 1, healthy);
    assert_eq!(controller.policy(), GainPolicy::Prism, "after 10 s");
    let now = run(&mut *controller, now, 1, nan);
    let now = run(&mut *controller, now, 100, healthy);
    assert_eq!(controller.policy(), GainPolicy::Rapid);
    run(&mut *controller, now, 1, healthy);
    assert_eq!(controller.policy(), GainPolicy::Prism);
}

#[test]
fn a_model_that_does_not_answer_makes_way() {
    let mut controller = guarded();
    run(&mut *controller, Duration::ZERO, 1, |_| None);
    assert_eq!(controller.demoted(), Some(Cause::NoAnswer));
}

/// The same scores for 25 different observations; a model that only chooses the same gain is not stuck.
#[test]
fn a_model_that_is_stuck_makes_way() {
    let mut controller = guarded();
    let now = run(&mut *controller, Duration::ZERO, 60, |i| {
        let mut same_gain = scores(3);
        same_gain[0] = i as f32 / 100.0;
        Some(same_gain)
    });
    assert_eq!(controller.demoted(), None);
    let now = run(&mut *controller, now, 25, |_| Some(scores(3)));
    assert_eq!(controller.demoted(), None);
    run(&mut *controller, now, 2, |_| Some(scores(3)));
    assert_eq!(controller.demoted(), Some(Cause::Constant));
}

/// 1.5 times the widest range of training, three intervals long; the way back asks for the range itself.
#[test]
fn observations_far_outside_of_training_demote_and_inside_bring_back() {
    let rails = GuardRails::default();
    let mut guard = Guard::new(rails);
    let outside = |by| Signs {
        outside: Some(Outside {
            feature: Feature::Mcs,
            value: 3.0,
            by,
        }),
        ..Signs::default()
    };
    let mut now = Duration::ZERO;
    let mut judge = |signs: &Signs, times: u32| {
        let mut trusted = true;
        for _ in 0..times {
            now += 200 * MS;
            trusted = guard.judge(now, signs);
        }
        trusted
    };
    assert!(judge(&outside(0.4), 100), "a little outside");
    assert!(judge(&outside(0.6), 2), "far outside, but not for long");
    assert!(judge(&outside(0.4), 1));
    assert!(!judge(&outside(0.6), 3));
    assert!(!judge(&outside(0.1), 1000), "not yet inside");
    assert!(!judge(&Signs::default(), 50));
    assert!(judge(&Signs::default(), 1));
}

/// While PRISM is demoted the rate is RAPID's, and PRISM goes on from there.
#[test]
fn rates_go_on_from_one_to_the_other() {
    let mut controller = guarded();
    let now = run(&mut *controller, Duration::ZERO, 1, |_| {
        Some([f32::INFINITY; 11])
    });
    let rate = controller.rate_bps();
    let now = now + 200 * MS;
    let reports = reports(now, [20.0, 60.0, 40.0, 40.0]);
    let decision = controller.decide(&interval(now, &reports));
    // RAPID: mean 40 instead of 30 PRBs, K = 0.5.
    assert!(
        (decision.rate_bps - (rate - 5e6)).abs() < 1.0,
        "{decision:?}"
    );
    assert_eq!(controller.rate_bps(), decision.rate_bps);
}

#[test]
fn no_step_is_larger_than_the_rails_allow() {
    let parameters = GainParameters {
        initial_bps: 90e6,
        guard: Some(GuardRails {
            max_step: 0.1,
            ..GuardRails::default()
        }),
        ..GainParameters::default()
    };
    let mut controller = GainPolicy::Prism
        .controller(&parameters, Some(&Arc::new(card())))
        .unwrap();
    let now = 200 * MS;
    let reports = reports(now, [100.0; 4]);
    let interval = interval(now, &reports);
    controller.observe(&interval, &mut Vec::new());
    let decision = controller.decide_scored(&interval, &scores(GAINS.len() - 1));
    assert_eq!(decision.note, Some(Note::StepLimited));
    assert!((decision.rate_bps - 80e6).abs() < 1.0, "{decision:?}");
}

#[test]
fn a_learned_policy_needs_its_model() {
    let error = GainPolicy::Prism
        .controller(&GainParameters::default(), None)
        .err()
        .unwrap();
    assert!(error.to_string().contains("needs a model"), "{error}");
    let selection = GainPolicy::select(&[GainPolicy::Prism, GainPolicy::Rapid], None, |_| true);
    assert_eq!(selection.policy, Some(GainPolicy::Rapid));
    assert_eq!(selection.passed_over, [(GainPolicy::Prism, Lack::Model)]);
}
