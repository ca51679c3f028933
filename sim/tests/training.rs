//! Training: that it learns, and that the outcome is determined by the plan alone.
#![cfg(feature = "training")]

use candle_core::{Device, Tensor};
use rand::Rng;
use sim::random::stream;
use sim::training::ppo::{
    Hyperparameters, Learner, Trajectory, Transition, generalised_advantages,
};
use sim::training::{Plan, Trainer};
use std::path::Path;

/// Probabilities of the actions in a state.
fn probabilities(learner: &Learner, state: &[f32]) -> Vec<f32> {
    let state = Tensor::new(state, &Device::Cpu).unwrap();
    let scores = learner.actor().forward(&state.unsqueeze(0).unwrap());
    let scores: Vec<f32> = scores.unwrap().flatten_all().unwrap().to_vec1().unwrap();
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let total: f32 = scores.iter().map(|s| (s - most).exp()).sum();
    scores.iter().map(|s| (s - most).exp() / total).collect()
}

/// A corridor of five places. To the right of the last one lies 1, and the way begins anew; who turns left in the first one
/// gets 0.1 at once. At a discount of 0.95, going right is worth 3.6 in the first place, and turning left for ever 2.
const PLACES: usize = 5;

fn walk(place: usize, right: bool) -> (usize, f64) {
    match (place, right) {
        (0, false) => (0, 0.1),
        (_, false) => (place - 1, 0.0),
        (place, true) if place + 1 == PLACES => (0, 1.0),
        (_, true) => (place + 1, 0.0),
    }
}

fn one_hot(place: usize) -> Vec<f32> {
    (0..PLACES)
        .map(|p| if p == place { 1.0 } else { 0.0 })
        .collect()
}

#[test]
fn the_larger_reward_is_found_although_it_comes_late() {
    let mut learner = Learner::new(Hyperparameters::default(), PLACES, 2, 1).unwrap();
    let (mut explore, mut shuffle) = (stream(1, "explore", 0), stream(1, "shuffle", 0));
    let mut place = 0;
    for _ in 0..40 {
        let policy: Vec<Vec<f32>> = (0..PLACES)
            .map(|place| probabilities(&learner, &one_hot(place)))
            .collect();
        let mut trajectory = Trajectory::default();
        for _ in 0..512 {
            let action = usize::from(explore.random::<f32>() >= policy[place][0]);
            let (next, reward) = walk(place, action == 1);
            trajectory.transitions.push(Transition {
                state: one_hot(place),
                action: action as u32,
                log_probability: policy[place][action].ln(),
                reward,
            });
            place = next;
        }
        trajectory.next_state = Some(one_hot(place));
        learner.update(&[trajectory], &mut shuffle).unwrap();
    }
    for place in 0..PLACES {
        let right = probabilities(&learner, &one_hot(place))[1];
        assert!(right > 0.8, "place {place}: {right}");
    }
}

#[test]
fn advantages_are_those_of_hand() {
    // δ₁ = 2 + 0.5·4 − 3 = 1; δ₀ = 1 + 0.5·3 − 2 = 0.5, and 0.5·0.5·δ₁ more.
    let advantages = generalised_advantages(&[1.0, 2.0], &[2.0, 3.0], 4.0, 0.5, 0.5);
    assert_eq!(advantages, [0.75, 1.0]);
}

/// A training of half a minute of virtual time per round.
fn small(checkpoints: u32) -> Plan {
    let mut plan = Plan::prism(7);
    plan.checkpoints = checkpoints;
    plan.validation_seeds = 2;
    plan.hyper = Hyperparameters {
        batch: 128,
        minibatch: 32,
        hidden: [16, 8],
        ..plan.hyper
    };
    let settings = |settings: &[&str]| settings.iter().map(|s| (*s).to_owned()).collect();
    plan.training.settings = settings(&[
        "duration_s=30",
        "flows.1.start_s=[4, 8]",
        "flows.1.stop_s=25",
        "flows.1.at_least_s=1",
        "flows.2.start_s=[4, 8]",
        "flows.2.stop_s=25",
        "flows.2.at_least_s=1",
    ]);
    plan.validation.settings =
        settings(&["duration_s=12", "flows.1.start_s=6", "flows.1.stop_s=12"]);
    plan
}

fn train(plan: Plan, folder: &Path, threads: usize) -> Trainer {
    let mut trainer = Trainer::new(plan, folder, threads).unwrap();
    trainer.run(|_| ()).unwrap();
    trainer
}

#[test]
fn the_plan_alone_determines_the_model() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut first = train(small(2), one.path(), 1);
    let mut second = train(small(2), two.path(), 2);
    assert_eq!(first.record(), second.record());
    let (first, second) = (first.bundle("").unwrap(), second.bundle("").unwrap());
    assert_eq!(first, second);
    let other = Plan {
        seed: 8,
        ..small(2)
    };
    let other = train(other, two.path(), 2).bundle("").unwrap();
    assert_ne!(first.actor, other.actor);
}

#[test]
fn a_training_that_was_interrupted_goes_on_as_if_it_had_not_been() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut uninterrupted = train(small(3), whole.path(), 2);
    train(small(1), parts.path(), 2);
    let mut resumed = Trainer::resume(small(3), parts.path(), 2).unwrap();
    assert_eq!(resumed.record().checkpoints.len(), 1);
    resumed.run(|_| ()).unwrap();
    assert_eq!(uninterrupted.record(), resumed.record());
    assert_eq!(
        uninterrupted.bundle("").unwrap(),
        resumed.bundle("").unwrap()
    );
    let mut other = small(3);
    other.hyper.clip = 0.1;
    let refused = Trainer::resume(other, parts.path(), 2).err().unwrap();
    assert!(refused.to_string().contains("other settings"), "{refused}");
}
