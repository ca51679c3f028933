//! Where the arms of an experiment can disturb each other, or what it finds would be hard to trust.

use super::spec::{Experiment, Unit};

/// Periods below so many warm-ups spend too much of their time on switching.
const PERIOD_WARM_UPS: f64 = 3.0;

/// Warnings about the design of an experiment, each with its reason. `cells` is how many cells there are.
pub fn warnings(experiment: &Experiment, cells: usize) -> Vec<String> {
    let spec = &experiment.spec;
    let mut warnings = Vec::new();
    match spec.unit {
        Unit::Ue => warnings.push(
            "UEs of different arms share the PRBs of their cell: what one arm leaves, the other gets, so the \
             difference shown here is not the one that all UEs on the better arm would see. Compare cells, or time \
             slots (unit: switchback), where this matters."
                .to_owned(),
        ),
        Unit::Cell if cells < 4 * spec.arms.len() => warnings.push(format!(
            "{cells} cells for {} arms: differences between cells will hide those between arms. Take at least 4 cells \
             per arm, or time slots (unit: switchback), in which each cell is compared with itself.",
            spec.arms.len()
        )),
        Unit::Cell => {}
        Unit::Switchback if spec.period_seconds < PERIOD_WARM_UPS * spec.warm_up_seconds => {
            warnings.push(format!(
                "of each period of {} s, {} s are warm-up and left out. Make the period at least {PERIOD_WARM_UPS} \
                 times as long as the warm-up.",
                spec.period_seconds, spec.warm_up_seconds
            ));
        }
        Unit::Switchback => {}
    }
    if spec.warm_up_seconds < 1.0 {
        warnings.push(
            "without a warm-up, the queue that one arm left behind counts against the next one."
                .to_owned(),
        );
    }
    if spec.key.is_none() {
        warnings.push(
            "the assignment has no key of its own: who knows the experiment's name can foresee the arms (spec.key)."
                .to_owned(),
        );
    }
    warnings
}
