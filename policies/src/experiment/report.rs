//! What an experiment has shown.

use super::guard::Harm;
use super::interference;
use super::outcome::{Better, Metric, Observation, Scale};
use super::spec::{Constraint, Experiment, Unit};
use super::statistics::sequential::{Course, Mixture, course, looks};
use super::statistics::{Interval, Samples, bootstrap, power, ratio};
use super::trial::{State, Trial};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Below this the sample ratio is wrong beyond chance.
const SAMPLE_RATIO_ALPHA: f64 = 0.001;

/// Points of a plot.
const PLOTTED: usize = 300;

/// What an experiment has shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Name of the experiment.
    pub name: String,
    /// Where it is.
    pub state: State,
    /// What gets an arm.
    pub unit: Unit,
    /// The metric that decides.
    pub primary: Metric,
    /// Probability of a false alarm, over all looks and arms.
    pub alpha: f64,
    /// The arms, the baseline first.
    pub arms: Vec<ArmReport>,
    /// Each other arm against the baseline, in each metric.
    pub comparisons: Vec<Comparison>,
    /// Probability of so uneven a number of observations by chance, valid at any look.
    pub sample_ratio_p: f64,
    /// Distribution of the observations of each arm, in the primary metric and in goodput: values at evenly spaced ranks.
    pub distributions: BTreeMap<Metric, Vec<Vec<f64>>>,
    /// How the comparisons in the primary metric went, by the index of the arm.
    pub courses: BTreeMap<usize, Vec<CoursePoint>>,
    /// What is to be kept in mind.
    pub warnings: Vec<String>,
    /// What the planned number of observations can find, in the primary metric; `None`: too few observations to say.
    pub power: Option<Power>,
    /// The outcome.
    pub verdict: Verdict,
}

/// What became of an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArmReport {
    /// Its name.
    pub name: String,
    /// Complete observations.
    pub observations: u64,
    /// Flow-seconds in them.
    pub seconds: f64,
    /// Mean over the observations; geometric for rates and delays.
    pub values: BTreeMap<Metric, f64>,
    /// Why it was stopped.
    pub stopped: Option<Harm>,
}

/// An arm against the baseline in a metric. Differences are parts of the baseline for rates and delays (0.1: 10 % more),
/// otherwise absolute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Index of the arm.
    pub arm: usize,
    /// In what.
    pub metric: Metric,
    /// Estimated difference.
    pub difference: f64,
    /// Misses the true difference with probability α at most, over all looks and arms.
    pub interval: Interval,
    /// For this one look: cluster bootstrap.
    pub bootstrap: Option<Interval>,
    /// Always-valid p-value.
    pub p_value: f64,
    /// The test has decided: +1 above the baseline, −1 below.
    pub decided: Option<f64>,
    /// Values (pairs, for a switchback) that it rests on.
    pub values: usize,
}

/// A comparison after some of its values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoursePoint {
    /// How many.
    pub values: usize,
    /// Estimated difference, as in [`Comparison`].
    pub difference: f64,
    /// Its always-valid interval; `None` as long as it is unbounded.
    pub interval: Option<Interval>,
}

/// What a number of observations can find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Power {
    /// Observations per arm (or pairs).
    pub observations: u32,
    /// True difference, as a part of the baseline, or absolute.
    pub effect: f64,
    /// Probability of finding it.
    pub probability: f64,
}

/// The outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Verdict {
    /// Too little is known yet, or the arms do not differ.
    Open {
        /// What is missing.
        why: String,
    },
    /// An arm is better than the baseline, or the baseline better than all others.
    Winner {
        /// Its index.
        arm: usize,
        /// In a sentence.
        summary: String,
    },
    /// An arm is better in the primary metric, but gives up more than it may in another.
    HeldBack {
        /// Its index.
        arm: usize,
        /// In which metric.
        metric: Metric,
        /// In a sentence.
        summary: String,
    },
    /// The data cannot be trusted.
    Invalid {
        /// Why.
        why: String,
    },
}

impl Report {
    /// Draws it up. `cells` is how many cells there are.
    pub fn new(trial: &Trial, cells: usize) -> Self {
        let experiment = trial.experiment();
        let spec = &experiment.spec;
        let arms: Vec<_> = (0..spec.arms.len())
            .map(|arm| arm_report(trial, arm))
            .collect();
        // Bonferroni over the arms that are compared with the baseline.
        let alpha = spec.alpha / (spec.arms.len() - 1) as f64;
        let mut comparisons = Vec::new();
        for arm in 1..spec.arms.len() {
            for metric in Metric::ALL {
                let samples = samples(trial.observations(), spec.unit, arm, metric);
                comparisons.extend(compare(experiment, &samples, arm, metric, alpha));
            }
        }
        let counts: Vec<u64> = arms.iter().map(|arm| arm.observations).collect();
        let weights: Vec<f64> = spec.arms.iter().map(|arm| arm.weight).collect();
        let sample_ratio_p = ratio::p_value(&counts, &weights);
        let mut report = Self {
            name: experiment.name().to_owned(),
            state: trial.state().clone(),
            unit: spec.unit,
            primary: spec.primary,
            alpha: spec.alpha,
            arms,
            comparisons,
            sample_ratio_p,
            distributions: [spec.primary, Metric::Goodput]
                .into_iter()
                .map(|metric| (metric, distributions(trial, metric)))
                .collect(),
            courses: (1..spec.arms.len())
                .map(|arm| {
                    (
                        arm,
                        planned_course(experiment, trial.observations(), arm, alpha),
                    )
                })
                .collect(),
            warnings: interference::warnings(experiment, cells),
            power: planned_power(experiment, trial.observations(), alpha),
            verdict: Verdict::Open { why: String::new() },
        };
        if trial.refused_units() > 0 {
            let refused = trial.refused_units();
            report.warnings.push(format!(
                "{refused} flows took no part: there are too many units"
            ));
        }
        report.verdict = report.judge(experiment);
        report
    }

    /// The comparison of an arm in a metric.
    pub fn comparison(&self, arm: usize, metric: Metric) -> Option<&Comparison> {
        self.comparisons
            .iter()
            .find(|c| c.arm == arm && c.metric == metric)
    }

    fn judge(&self, experiment: &Experiment) -> Verdict {
        if self.sample_ratio_p < SAMPLE_RATIO_ALPHA {
            let counts: Vec<_> = self
                .arms
                .iter()
                .map(|arm| arm.observations.to_string())
                .collect();
            return Verdict::Invalid {
                why: format!(
                    "the arms have {} observations, which their weights do not explain: something loses those of one \
                     arm (a stopped arm, flows that end early, a cell without reports). Find it before reading on.",
                    counts.join(" and ")
                ),
            };
        }
        let primary: Vec<_> = self
            .comparisons
            .iter()
            .filter(|c| c.metric == self.primary)
            .collect();
        let good = |c: &Comparison| match self.primary.better() {
            Better::Higher => c.decided == Some(1.0),
            Better::Lower => c.decided == Some(-1.0),
        };
        let decided = primary.iter().any(|c| c.decided.is_some());
        if experiment.spec.a_a && decided {
            return Verdict::Invalid {
                why: "both arms run the same, and yet they differ: what is measured depends on more than the arm"
                    .to_owned(),
            };
        }
        let best = primary.iter().copied().filter(|c| good(c)).min_by(|a, b| {
            let merit = |c: &Comparison| match self.primary.better() {
                Better::Higher => -c.difference,
                Better::Lower => c.difference,
            };
            merit(a).total_cmp(&merit(b))
        });
        if let Some(best) = best {
            return self.winner(best, &experiment.spec.constraints);
        }
        let worse = |c: &&Comparison| c.decided.is_some();
        if !primary.is_empty() && primary.len() + 1 == self.arms.len() && primary.iter().all(worse)
        {
            let said: Vec<_> = primary.iter().map(|c| self.sentence(c)).collect();
            return Verdict::Winner {
                arm: 0,
                summary: format!("{} wins: {}", self.name_of(0), said.join("; ")),
            };
        }
        Verdict::Open {
            why: if primary.is_empty() {
                "too few observations for a statement".to_owned()
            } else {
                let said: Vec<_> = primary.iter().map(|c| self.sentence(c)).collect();
                format!("no difference beyond chance so far: {}", said.join("; "))
            },
        }
    }

    fn winner(&self, best: &Comparison, constraints: &[Constraint]) -> Verdict {
        let name = self.name_of(best.arm);
        for constraint in constraints {
            let comparison = self.comparison(best.arm, constraint.metric);
            let loss = comparison.map_or(f64::INFINITY, |c| match constraint.metric.better() {
                Better::Higher => -c.interval.low,
                Better::Lower => c.interval.high,
            });
            if loss > constraint.margin {
                let known = match comparison {
                    Some(c) => self.sentence(c),
                    None => format!("nothing is known of its {}", constraint.metric),
                };
                return Verdict::HeldBack {
                    arm: best.arm,
                    metric: constraint.metric,
                    summary: format!(
                        "{}; but {known}, and it may give up {} at most",
                        self.sentence(best),
                        amount(constraint.metric, constraint.margin),
                    ),
                };
            }
        }
        Verdict::Winner {
            arm: best.arm,
            summary: format!("{name} wins: {}", self.sentence(best)),
        }
    }

    /// `delay p99 of prism is 81.2 % below that of rapid (70.1 to 88.4 % below)`.
    fn sentence(&self, c: &Comparison) -> String {
        let signed = |value: f64| {
            let sign = if value < 0.0 { '−' } else { '+' };
            format!("{sign}{}", amount(c.metric, value.abs()))
        };
        let ends = if c.interval.low.is_finite() && c.interval.high.is_finite() {
            format!("{} to {}", signed(c.interval.low), signed(c.interval.high))
        } else {
            "interval still unbounded".to_owned()
        };
        format!(
            "{} of {} against {}: {} ({ends})",
            c.metric,
            self.name_of(c.arm),
            self.name_of(0),
            signed(c.difference),
        )
    }

    fn name_of(&self, arm: usize) -> &str {
        self.arms.get(arm).map_or("", |arm| &arm.name)
    }
}

/// A difference in a metric, for people.
pub fn amount(metric: Metric, value: f64) -> String {
    match metric.scale() {
        Scale::Ratio => format!("{:.1} %", value * 100.0),
        Scale::Difference => {
            let unit = metric.unit();
            let space = if unit.is_empty() { "" } else { " " };
            format!(
                "{:.3}{space}{}",
                metric.display(value),
                if unit == "%" { "% points" } else { unit }
            )
        }
    }
}

fn arm_report(trial: &Trial, arm: usize) -> ArmReport {
    let own = || trial.observations().iter().filter(|o| o.arm == arm);
    let values = Metric::ALL.into_iter().filter_map(|metric| {
        let scaled: Vec<f64> = own()
            .filter_map(|o| o.values.get(&metric))
            .map(|v| scale(metric, *v))
            .collect();
        let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
        let value = match metric.scale() {
            Scale::Ratio => mean.exp(),
            Scale::Difference => mean,
        };
        value.is_finite().then_some((metric, value))
    });
    let spec = trial.experiment().spec.arms.get(arm);
    ArmReport {
        name: spec.map(|arm| arm.name.clone()).unwrap_or_default(),
        observations: own().count() as u64,
        seconds: own().map(|o| o.seconds).sum(),
        values: values.collect(),
        stopped: trial.stopped_arms().get(&arm).map(|(_, harm)| *harm),
    }
}

/// A value on the scale on which it is compared.
fn scale(metric: Metric, value: f64) -> f64 {
    /// Less than any rate in bit/s or delay in ms that matters.
    const LEAST: f64 = 1e-3;
    match metric.scale() {
        Scale::Ratio => value.max(LEAST).ln(),
        Scale::Difference => value,
    }
}

/// The values of an arm beside those of the baseline, in the order in which they came.
fn samples(observations: &[Observation], unit: Unit, arm: usize, metric: Metric) -> Samples {
    let both = observations.iter().filter(|o| o.arm == 0 || o.arm == arm);
    let known = both.filter_map(|o| Some((o, scale(metric, *o.values.get(&metric)?))));
    if unit != Unit::Switchback {
        return Samples {
            paired: false,
            values: known.map(|(o, value)| (o.arm == arm, value)).collect(),
        };
    }
    let mut waiting: BTreeMap<(&str, Option<u64>), (bool, f64)> = BTreeMap::new();
    let mut values = Vec::new();
    for (observation, value) in known {
        let treated = observation.arm == arm;
        let block = (observation.unit.as_str(), observation.block);
        match waiting.remove(&block) {
            Some((before, other)) if before != treated => {
                values.push((
                    true,
                    if treated {
                        value - other
                    } else {
                        other - value
                    },
                ));
            }
            _ => {
                waiting.insert(block, (treated, value));
            }
        }
    }
    Samples {
        paired: true,
        values,
    }
}

/// Values of a metric at evenly spaced ranks, for each arm.
fn distributions(trial: &Trial, metric: Metric) -> Vec<Vec<f64>> {
    let arms = 0..trial.experiment().spec.arms.len();
    let of_arm = |arm| {
        let own = trial.observations().iter().filter(|o| o.arm == arm);
        let mut values: Vec<f64> = own.filter_map(|o| o.values.get(&metric)).copied().collect();
        values.sort_by(f64::total_cmp);
        thinned(&values)
    };
    arms.map(of_arm).collect()
}

fn planned_course(
    experiment: &Experiment,
    observations: &[Observation],
    arm: usize,
    alpha: f64,
) -> Vec<CoursePoint> {
    let spec = &experiment.spec;
    let samples = samples(observations, spec.unit, arm, spec.primary);
    let mixture = Mixture::tuned(spec.planned_observations, samples.paired, alpha);
    let unscaled = |value: f64| unscale(spec.primary, value);
    let mut values = samples.values.len();
    let mut points = Vec::new();
    looks(&samples, mixture, alpha, |look| {
        let Interval { low, high } = look.interval;
        points.push(CoursePoint {
            values: 0,
            difference: unscaled(look.difference),
            interval: (low.is_finite() && high.is_finite()).then(|| look.interval.map(unscaled)),
        });
    });
    // The first values make no look.
    for point in points.iter_mut().rev() {
        point.values = values;
        values -= 1;
    }
    thinned(&points)
}

/// At most [`PLOTTED`] of them, the first and the last among these.
fn thinned<T: Copy>(all: &[T]) -> Vec<T> {
    let last = all.len().saturating_sub(1);
    let kept = all.len().min(PLOTTED);
    let at = |i: usize| all.get(i * last / (kept - 1).max(1)).copied();
    (0..kept).filter_map(at).collect()
}

/// A difference on the scale of comparison as a part of the baseline, or absolute.
fn unscale(metric: Metric, value: f64) -> f64 {
    match metric.scale() {
        Scale::Ratio => value.exp_m1(),
        Scale::Difference => value,
    }
}

fn compare(
    experiment: &Experiment,
    samples: &Samples,
    arm: usize,
    metric: Metric,
    alpha: f64,
) -> Option<Comparison> {
    let planned = experiment.spec.planned_observations;
    let mixture = Mixture::tuned(planned, samples.paired, alpha);
    let Course { now, decided } = course(samples, mixture, alpha);
    let look = now?;
    let plain = |value: f64| unscale(metric, value);
    Some(Comparison {
        arm,
        metric,
        difference: plain(look.difference),
        interval: look.interval.map(plain),
        bootstrap: bootstrap::interval(samples, alpha).map(|interval| interval.map(plain)),
        p_value: look.p_value,
        decided: decided.map(|(_, sign)| sign),
        values: samples.values.len(),
    })
}

fn planned_power(
    experiment: &Experiment,
    observations: &[Observation],
    alpha: f64,
) -> Option<Power> {
    let spec = &experiment.spec;
    let samples = samples(observations, spec.unit, 1, spec.primary);
    let deviation = power::deviation(&samples)?;
    let mixture = Mixture::tuned(spec.planned_observations, samples.paired, alpha);
    let effect = match spec.primary.scale() {
        Scale::Ratio => spec.effect.ln_1p(),
        Scale::Difference => spec.effect,
    };
    Some(Power {
        observations: spec.planned_observations,
        effect: spec.effect,
        probability: power::power(
            effect / deviation,
            spec.planned_observations,
            samples.paired,
            mixture,
            alpha,
        ),
    })
}
