//! A running experiment.

use super::{experiment, flow};
use policies::experiment::{
    Choice, Harm, Metric, Observation, Report, Sample, State, Trial, Verdict,
};
use std::collections::BTreeMap;
use std::time::Duration;

const START: Duration = Duration::from_secs(1_700_000_000);

fn at(seconds: f64) -> Duration {
    START + Duration::from_secs_f64(seconds)
}

/// A flow's second: delay in ms, and 1 Mbit.
fn second(delay_ms: f64) -> Sample {
    Sample {
        length: Duration::from_secs(1),
        delivered_bytes: Some(125_000.0),
        delay_ms: Some(delay_ms),
        sent_arrived_bytes: Some((125_000.0, 125_000.0)),
        ..Sample::default()
    }
}

fn started(unit: &str, more: &str) -> Trial {
    let mut trial = Trial::new(experiment(unit, more));
    assert!(trial.start(START));
    trial
}

/// The arm of a UE, after it got it.
fn arm(trial: &mut Trial, ue: u16) -> usize {
    trial
        .choose(START, &flow("cell", ue), "edge")
        .expect("it takes part")
        .arm
}

#[test]
fn units_keep_their_arm_and_the_arms_are_balanced() {
    let mut trial = started("ue", "");
    let arms: Vec<_> = (0..1000).map(|ue| arm(&mut trial, ue)).collect();
    let of_first = arms.iter().filter(|arm| **arm == 0).count();
    assert!((498..=502).contains(&of_first), "{of_first}");
    // Not just in turn: neighbours do not tell an arm.
    let changes = arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((400..900).contains(&changes), "{changes}");

    // After a restart: from what was kept; without it, from the hash, for nearly all.
    let kept = (0..1000u16).map(|ue| (format!("cell rnti:{ue:04x}"), arms[usize::from(ue)]));
    let mut restored = Trial::restore(trial.snapshot(), kept.collect::<Vec<_>>(), Vec::new());
    let backwards: Vec<_> = (0..1000).rev().map(|ue| arm(&mut restored, ue)).collect();
    assert!(arms.iter().eq(backwards.iter().rev()));
}

#[test]
fn a_switchback_gives_every_block_each_arm_once_in_a_drawn_order() {
    let mut trial = started("switchback", "  periodSeconds: 10\n  warmUpSeconds: 2\n");
    let mut orders = BTreeMap::new();
    for block in 0..200 {
        let arm = |trial: &mut Trial, seconds: f64| {
            trial
                .choose(at(seconds), &flow("cell", 1), "edge")
                .expect("it takes part")
        };
        let first = arm(&mut trial, f64::from(block) * 20.0 + 1.0);
        let second = arm(&mut trial, f64::from(block) * 20.0 + 15.0);
        assert_ne!(first.arm, second.arm);
        assert!(!first.counts && second.counts, "the warm-up is left out");
        *orders.entry(first.arm).or_insert(0) += 1;
    }
    assert!(
        orders.values().all(|count| (70..=130).contains(count)),
        "{orders:?}"
    );
}

#[test]
fn periods_become_observations_without_their_warm_up() {
    let mut trial = started("switchback", "  periodSeconds: 10\n  warmUpSeconds: 2\n");
    for seconds in 0..100 {
        let now = at(f64::from(seconds));
        let choice = trial
            .choose(now, &flow("cell", 1), "edge")
            .expect("it takes part");
        // After each switch the queue of the other arm is still there.
        let delay = if seconds % 10 < 2 {
            500.0
        } else {
            10.0 + choice.arm as f64
        };
        assert_eq!(trial.record(now, "flow", &choice, &second(delay)), None);
    }
    trial.settle(at(100.0));
    assert_eq!(trial.observations().len(), 10);
    for observation in trial.observations() {
        assert_eq!(observation.seconds, 8.0);
        let delay = observation.values[&Metric::DelayMean];
        assert!(
            (delay - 10.0 - observation.arm as f64).abs() < 1e-9,
            "{delay}"
        );
    }
    let report = Report::new(&trial, 1);
    let comparison = report.comparison(1, Metric::DelayMean).expect("five pairs");
    assert!((comparison.difference - 0.1).abs() < 1e-6, "{comparison:?}");
}

#[test]
fn a_ue_is_observed_once_and_for_as_long_as_asked() {
    let mut trial = started("ue", "  observationSeconds: 20\n  warmUpSeconds: 3\n");
    for seconds in 0..100 {
        for ue in 0..4 {
            let now = at(f64::from(seconds));
            let choice = trial
                .choose(now, &flow("cell", ue), "edge")
                .expect("it takes part");
            trial.record(now, "flow", &choice, &second(10.0));
        }
    }
    let seconds: Vec<_> = trial.observations().iter().map(|o| o.seconds).collect();
    assert_eq!(seconds, [20.0; 4]);
}

#[test]
fn an_arm_that_does_harm_stops_and_its_flows_run_on_the_baseline() {
    let rails = "  guardRails: {maxDelayP99Ms: 100, windowSeconds: 5}\n  warmUpSeconds: 0\n";
    let mut trial = started("ue", rails);
    let ue = (0..100)
        .find(|ue| arm(&mut trial, *ue) == 1)
        .expect("one of them");
    let stopped = (0..10).find_map(|seconds| {
        let now = at(f64::from(seconds));
        let choice = trial
            .choose(now, &flow("cell", ue), "edge")
            .expect("it takes part");
        let harm = trial.record(now, "flow", &choice, &second(250.0))?;
        Some((seconds, harm))
    });
    let (seconds, harm) = stopped.expect("stopped");
    assert_eq!(seconds, 5);
    assert!(
        matches!(harm, Harm::Delay { p99_ms, .. } if (245.0..255.0).contains(&p99_ms)),
        "{harm}"
    );
    let choice = Choice {
        arm: 1,
        unit: "x".into(),
        period: None,
        counts: false,
    };
    assert_eq!(trial.settings(&choice), 0);
    // Of two arms one is left: nothing to compare.
    let State::Stopped { why, .. } = trial.state() else {
        panic!("{:?}", trial.state());
    };
    assert!(why.starts_with("arm peak: delay p99"), "{why}");
}

/// A trial of UEs with these p99 delays and goodputs, arm after arm in turn.
fn observed(more: &str, units: usize, values: impl Fn(usize, usize) -> (f64, f64)) -> Trial {
    let mut snapshot = Trial::new(experiment("ue", more)).snapshot();
    snapshot.state = State::Running { since: START };
    let mut observations = Vec::new();
    for index in 0..units {
        let (delay, goodput) = values(index % 2, index);
        observations.push(Observation {
            arm: index % 2,
            unit: index.to_string(),
            block: None,
            ended: at(index as f64),
            seconds: 300.0,
            values: [(Metric::DelayP99, delay), (Metric::Goodput, goodput)].into(),
        });
    }
    Trial::restore(snapshot, [], observations)
}

/// A spread that is the same for both arms.
fn spread(index: usize) -> f64 {
    1.0 + 0.1 * ((index / 2 * 7) % 10) as f64
}

#[test]
fn the_report_names_the_winner_with_its_interval() {
    let trial = observed("", 80, |arm, index| {
        ([40.0, 20.0][arm] * spread(index), 1e7)
    });
    let report = Report::new(&trial, 1);
    let Verdict::Winner { arm: 1, summary } = &report.verdict else {
        panic!("{:?}", report.verdict);
    };
    assert!(
        summary.starts_with("peak wins: delay p99 of peak against rapid: −50.0 % (−"),
        "{summary}"
    );
    let comparison = report.comparison(1, Metric::DelayP99).expect("it is known");
    assert!((comparison.difference + 0.5).abs() < 1e-9);
    assert!(
        comparison.interval.low < -0.5
            && comparison.interval.high > -0.5
            && comparison.interval.high < -0.3
    );
    assert!(
        report.warnings.iter().any(|w| w.contains("share the PRBs")),
        "{:?}",
        report.warnings
    );
}

#[test]
fn a_winner_that_gives_up_more_than_it_may_is_held_back() {
    let more = "  constraints: [{metric: goodput, margin: 0.2}]\n";
    let values = |arm: usize, index| {
        (
            [40.0, 20.0][arm] * spread(index),
            [1e7, 7e6][arm] * spread(index),
        )
    };
    let report = Report::new(&observed(more, 80, values), 1);
    assert!(
        matches!(
            &report.verdict,
            Verdict::HeldBack {
                arm: 1,
                metric: Metric::Goodput,
                ..
            }
        ),
        "{:?}",
        report.verdict
    );
    let fewer = "  constraints: [{metric: goodput, margin: 0.5}]\n";
    let report = Report::new(&observed(fewer, 80, values), 1);
    assert!(
        matches!(&report.verdict, Verdict::Winner { arm: 1, .. }),
        "{:?}",
        report.verdict
    );
}

#[test]
fn a_difference_between_equal_arms_is_called_a_fault() {
    let trial = observed("  aA: true\n", 80, |arm, index| {
        ([40.0, 20.0][arm] * spread(index), 1e7)
    });
    let report = Report::new(&trial, 1);
    assert!(
        matches!(&report.verdict, Verdict::Invalid { why } if why.contains("the same")),
        "{:?}",
        report.verdict
    );
}

#[test]
fn lost_observations_of_one_arm_are_noticed() {
    let trial = observed("", 600, |_, index| (20.0 * spread(index), 1e7));
    let mut observations = trial.observations().to_vec();
    observations.retain(|o| o.arm == 0 || o.ended.as_secs() % 3 == 0);
    let trial = Trial::restore(trial.snapshot(), [], observations);
    let report = Report::new(&trial, 1);
    assert!(report.sample_ratio_p < 1e-3);
    assert!(
        matches!(report.verdict, Verdict::Invalid { .. }),
        "{:?}",
        report.verdict
    );
}

#[test]
fn mistakes_are_named_by_their_field() {
    let spec = |change: fn(&mut policies::experiment::spec::Spec)| {
        let mut experiment = experiment("switchback", "");
        change(&mut experiment.spec);
        experiment.check().expect_err("a mistake").path
    };
    assert_eq!(spec(|s| s.arms.truncate(1)), "spec.arms");
    assert_eq!(
        spec(|s| s.arms[1].name = "rapid".into()),
        "spec.arms[1].name"
    );
    assert_eq!(spec(|s| s.arms[1].weight = 2.0), "spec.arms");
    assert_eq!(
        spec(|s| s.arms[0].target_factor = Some(1.5)),
        "spec.arms[0].targetFactor"
    );
    assert_eq!(spec(|s| s.warm_up_seconds = 30.0), "spec.warmUpSeconds");
    assert_eq!(spec(|s| s.alpha = f64::NAN), "spec.alpha");
    assert_eq!(
        spec(|s| s.guard_rails.max_loss = Some(-1.0)),
        "spec.guardRails.maxLoss"
    );
}
