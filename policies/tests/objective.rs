//! The outer loop on a plant that is known: delay grows with f.

use policies::slice::{Delay, Latency, ObjectiveState, OuterLoop, Statistic};
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

fn p99(ms: f64) -> Latency {
    Latency {
        statistic: Statistic::Percentile(99.0),
        ms,
        delay: Delay::Queueing,
    }
}

/// Runs the loop for some seconds: 100 delays a second, as the plant says.
struct Bench {
    outer: OuterLoop,
    now: Duration,
}

impl Bench {
    fn new(latency: Latency, bounds: (f64, f64)) -> Self {
        let mut outer = OuterLoop::new(latency, bounds, 0.9);
        outer.update(Duration::ZERO, false);
        let now = Duration::ZERO;
        Self { outer, now }
    }

    fn run(&mut self, seconds: u32, limited: bool, plant: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut factors = Vec::new();
        for _ in 0..seconds {
            for _ in 0..100 {
                self.outer.observe(plant(self.outer.factor()));
            }
            self.now += PERIOD;
            factors.push(self.outer.update(self.now, limited));
        }
        factors
    }
}

/// An M/M/1-like queue: 20 ms at f = 0.75.
fn queue(f: f64) -> f64 {
    5.0 / (1.0 - f).max(0.01)
}

#[test]
fn f_falls_until_the_objective_holds_and_stays_below_what_was_too_much() {
    let mut bench = Bench::new(p99(20.0), (0.2, 0.95));
    let factors = bench.run(120, false, queue);
    for pair in factors.windows(2) {
        assert!(pair[1] >= pair[0] * 0.8 - 1e-12, "the rate limit: {pair:?}");
    }
    let settled = &factors[30..];
    assert!(settled.iter().all(|f| queue(*f) <= 20.0), "{settled:?}");
    assert!(
        settled.iter().all(|f| *f > 0.5),
        "more than needed is given up: {settled:?}"
    );
    assert_eq!(bench.outer.state(), ObjectiveState::Met);
    // Once it is there it hardly moves.
    let spread =
        settled.iter().cloned().fold(0.0, f64::max) - settled.iter().cloned().fold(1.0, f64::min);
    assert!(spread < 0.1, "{spread}");
}

#[test]
fn when_the_cell_gets_better_f_rises_again_and_when_it_cannot_help_it_stays_in_its_bounds() {
    let mut bench = Bench::new(p99(20.0), (0.3, 0.95));
    // Nothing that f does shortens this delay.
    let stuck = bench.run(60, false, |_| 500.0);
    assert_eq!(*stuck.last().unwrap(), 0.3);
    assert_eq!(bench.outer.state(), ObjectiveState::Violated);
    // No windup: f rises as soon as the window has forgotten what was.
    let better = bench.run(30, false, |_| 1.0);
    assert!(better[11] > 0.3, "{better:?}");
    let long = bench.run(1200, false, |_| 1.0);
    assert_eq!(*long.last().unwrap(), 0.95);
}

#[test]
fn f_does_not_rise_while_something_else_limits_the_flows() {
    let mut bench = Bench::new(p99(20.0), (0.2, 0.95));
    bench.run(30, false, |_| 100.0);
    let low = bench.outer.factor();
    let held = bench.run(60, true, |_| 1.0);
    assert!(held.iter().all(|f| *f == low), "{held:?}");
    assert!(bench.run(60, false, |_| 1.0).last().unwrap() > &low);
}

#[test]
fn between_short_and_too_long_f_stays() {
    let mut bench = Bench::new(p99(20.0), (0.2, 0.95));
    let held = bench.run(60, false, |_| 14.0);
    assert!(held.iter().all(|f| *f == 0.9), "{held:?}");
}

#[test]
fn a_percentile_lets_its_part_be_late_and_a_mean_does_not_care_for_one() {
    let seldom = |n: &std::cell::Cell<u32>| {
        n.set(n.get() + 1);
        if n.get().is_multiple_of(400) {
            50.0
        } else {
            1.0
        }
    };
    let n = std::cell::Cell::new(0);
    let mut bench = Bench::new(p99(20.0), (0.2, 0.95));
    bench.run(60, false, |_| seldom(&n));
    assert!(bench.outer.factor() >= 0.9);
    let often = |n: &std::cell::Cell<u32>| {
        n.set(n.get() + 1);
        if n.get().is_multiple_of(20) {
            50.0
        } else {
            1.0
        }
    };
    bench.run(60, false, |_| often(&n));
    assert!(bench.outer.factor() < 0.5);
    let mean = Latency {
        statistic: Statistic::Mean,
        ..p99(20.0)
    };
    let mut bench = Bench::new(mean, (0.2, 0.95));
    bench.run(60, false, |_| often(&n));
    assert!(bench.outer.factor() >= 0.9);
    assert!((bench.outer.measured_ms().unwrap() - 3.45).abs() < 0.1);
}

#[test]
fn without_delays_nothing_is_decided() {
    let mut bench = Bench::new(p99(20.0), (0.2, 0.95));
    for _ in 0..100 {
        bench.now += PERIOD;
        assert_eq!(bench.outer.update(bench.now, false), 0.9);
    }
    assert_eq!(bench.outer.state(), ObjectiveState::NotMeasured);
    assert_eq!(bench.outer.measured_ms(), None);
}
