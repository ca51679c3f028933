//! The outer loop keeps slices to their delay objectives.

use sim::objectives::{SliceOutcome, outcomes};
use sim::scenario::{Scenario, builtin};
use std::path::Path;
use std::time::Duration;

/// The built-in scenario with a target factor, over some seeds.
fn run(factor: &str, seeds: std::ops::Range<u64>) -> Vec<SliceOutcome> {
    let text = builtin("slice-objectives").unwrap();
    let setting = format!("slices.*.policy.prb.targetFactor={factor}");
    let scenario = Scenario::parse(text, &[setting]).unwrap();
    let end = Duration::from_secs_f64(scenario.duration_s);
    let mut all: Vec<SliceOutcome> = Vec::new();
    for seed in seeds {
        let mut simulation = scenario.build(seed, Path::new("")).unwrap();
        simulation.run_until(end);
        let slices = scenario.slice_configs().unwrap();
        for outcome in outcomes(&slices, &simulation.into_results(), end) {
            match all.iter_mut().find(|known| known.slice == outcome.slice) {
                None => all.push(outcome),
                Some(known) => {
                    known.windows += outcome.windows;
                    known.met += outcome.met;
                    known.goodput_mbps += outcome.goodput_mbps;
                }
            }
        }
    }
    all
}

#[test]
fn objectives_hold_in_95_percent_of_the_windows_and_the_price_is_known() {
    let (adapted, fixed) = (run("auto", 101..105), run("0.9", 101..105));
    for (adapted, fixed) in adapted.iter().zip(&fixed) {
        let part = |o: &SliceOutcome| f64::from(o.met) / f64::from(o.windows);
        let given_up = 1.0 - adapted.goodput_mbps / fixed.goodput_mbps;
        println!(
            "{}: {} in {:.1} % of {} windows ({:.1} % with f = 0.9), for {:.1} % of the goodput",
            adapted.slice,
            adapted.objective,
            100.0 * part(adapted),
            adapted.windows,
            100.0 * part(fixed),
            100.0 * given_up
        );
        assert!(part(adapted) >= 0.95, "{adapted:?}");
        assert!(part(fixed) < 0.95, "the objective takes no loop: {fixed:?}");
        assert!(given_up < 0.3, "{given_up}");
    }
}
