//! The statistics against simulated experiments whose truth is known.

use policies::experiment::statistics::power::{deviation, power};
use policies::experiment::statistics::sequential::{Mixture, course};
use policies::experiment::statistics::{Samples, bootstrap};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

const ALPHA: f64 = 0.05;
const PLANNED: u32 = 50;

/// Logarithms of delays: units differ by a factor of about e^0.2, the treatment's are `effect` away.
fn delays(random: &mut Xoshiro256PlusPlus, paired: bool, count: u32, effect: f64) -> Samples {
    let spread = Normal::new(0.0, 0.2).expect("a distribution");
    let mut values = Vec::new();
    for _ in 0..count {
        let (a, b) = (spread.sample(random), spread.sample(random) + effect);
        if paired {
            values.push((true, b - a));
        } else {
            values.extend([(false, a), (true, b)]);
        }
    }
    Samples { paired, values }
}

fn share(runs: u32, found: impl Fn(&mut Xoshiro256PlusPlus) -> bool) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let found = (0..runs).filter(|_| found(&mut random)).count();
    found as f64 / f64::from(runs)
}

#[test]
fn an_a_a_experiment_looked_at_after_every_observation_alarms_in_at_most_a_twentieth_of_runs() {
    for paired in [false, true] {
        let mixture = Mixture::tuned(PLANNED, paired, ALPHA);
        // Four times as long as planned.
        let alarms = share(1000, |random| {
            let samples = delays(random, paired, 4 * PLANNED, 0.0);
            course(&samples, mixture, ALPHA).decided.is_some()
        });
        println!(
            "A/A, paired {paired}: false alarms in {:.1} % of 1,000 experiments",
            alarms * 100.0
        );
        assert!(alarms <= ALPHA, "{alarms}");
        // A test that never says anything would pass the line above.
        assert!(alarms > 0.0);
    }
}

#[test]
fn a_difference_of_a_tenth_is_found_as_often_as_the_power_says() {
    let effect = 1.1_f64.ln();
    for paired in [false, true] {
        let mixture = Mixture::tuned(PLANNED, paired, ALPHA);
        for planned in [25, 50, 100] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
            let pilot = delays(&mut random, paired, 2000, effect);
            let deviation = deviation(&pilot).expect("enough values");
            let claimed = power(effect / deviation, planned, paired, mixture, ALPHA);
            let found = share(1000, |random| {
                let samples = delays(random, paired, planned, effect);
                course(&samples, mixture, ALPHA)
                    .decided
                    .is_some_and(|(_, sign)| sign > 0.0)
            });
            println!(
                "paired {paired}, {planned} observations per arm: claimed {claimed:.2}, found {found:.2}"
            );
            // Both are known to about ± 0.02 (one standard deviation).
            assert!(
                (claimed - found).abs() < 0.07,
                "claimed {claimed}, found {found}"
            );
        }
    }
}

#[test]
fn intervals_hold_the_true_difference() {
    let effect = 0.1;
    let mixture = Mixture::tuned(PLANNED, false, ALPHA);
    let held = share(1000, |random| {
        let samples = delays(random, false, PLANNED, effect);
        let interval = bootstrap::interval(&samples, ALPHA).expect("enough values");
        interval.low <= effect && effect <= interval.high
    });
    let held_always = share(1000, |random| {
        let samples = delays(random, false, PLANNED, effect);
        let look = course(&samples, mixture, ALPHA).now.expect("enough values");
        look.interval.low <= effect && effect <= look.interval.high
    });
    println!("bootstrap {held:.3}, always-valid {held_always:.3}");
    assert!((0.92..=0.97).contains(&held), "{held}");
    assert!(held_always >= 0.95, "{held_always}");
    // An interval for every look is wider than one for a single look.
    assert!(held_always > held);
}
