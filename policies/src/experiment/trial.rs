//! A running experiment: who is in which arm, and what has been observed.

use super::assign::{Assigner, Period};
use super::guard::{Harm, Window};
use super::outcome::{Accumulator, Observation, Sample};
use super::spec::{Experiment, Unit};
use crate::slice::FlowFacts;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Units of an experiment; flows of further ones take no part.
pub const MAX_UNITS: usize = 100_000;
/// Observations that are kept. The experiment ends with the last one.
pub const MAX_OBSERVATIONS: usize = 100_000;

/// Where an experiment is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum State {
    /// Not started.
    Created,
    /// Runs since this Unix time.
    Running {
        /// Unix time.
        since: Duration,
    },
    /// Ended.
    Stopped {
        /// Unix time of the start.
        since: Duration,
        /// Unix time of the end.
        until: Duration,
        /// Why.
        why: String,
    },
}

/// The arm of a flow now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index of the arm that the unit is counted for.
    pub arm: usize,
    /// Unit that the flow belongs to.
    pub unit: String,
    /// Period of the switchback.
    pub period: Option<Period>,
    /// What is measured counts: the warm-up is over, and the arm has not been stopped.
    pub counts: bool,
}

/// What must be kept to go on after a restart, beside the arms of the units and the observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What was asked for.
    pub experiment: Experiment,
    /// Where it is.
    pub state: State,
    /// Arms that were stopped, by their index, with the Unix time and why.
    pub stopped_arms: BTreeMap<usize, (Duration, Harm)>,
}

/// An observation under way.
#[derive(Clone, Debug)]
struct Open {
    arm: usize,
    period: Option<Period>,
    began: Duration,
    sums: Accumulator,
}

/// A running experiment. Time is Unix time, so that all replicas agree on the periods.
#[derive(Clone, Debug)]
pub struct Trial {
    experiment: Experiment,
    assigner: Assigner,
    state: State,
    assigned: BTreeMap<String, usize>,
    counts: Vec<u64>,
    open: BTreeMap<String, Open>,
    /// Units of which an observation is complete (units that are observed once).
    done: BTreeSet<String>,
    observations: Vec<Observation>,
    windows: Vec<Window>,
    stopped_arms: BTreeMap<usize, (Duration, Harm)>,
    refused_units: u64,
}

impl Trial {
    /// Not started yet.
    pub fn new(experiment: Experiment) -> Self {
        let snapshot = Snapshot {
            experiment,
            state: State::Created,
            stopped_arms: BTreeMap::new(),
        };
        Self::restore(snapshot, [], Vec::new())
    }

    /// Goes on from what was kept. An observation that was under way begins anew.
    pub fn restore(
        snapshot: Snapshot,
        assigned: impl IntoIterator<Item = (String, usize)>,
        observations: Vec<Observation>,
    ) -> Self {
        let Snapshot {
            experiment,
            state,
            stopped_arms,
        } = snapshot;
        let arms = experiment.spec.arms.len();
        let weights = experiment.spec.arms.iter().map(|arm| arm.weight).collect();
        let assigned: BTreeMap<_, _> = assigned
            .into_iter()
            .filter(|(_, arm)| *arm < arms)
            .collect();
        let mut counts = vec![0; arms];
        for arm in assigned.values() {
            counts[*arm] += 1;
        }
        let done = match experiment.spec.unit {
            Unit::Switchback => BTreeSet::new(),
            Unit::Ue | Unit::Cell => observations.iter().map(|o| o.unit.clone()).collect(),
        };
        Self {
            assigner: Assigner::new(experiment.key(), weights),
            experiment,
            state,
            assigned,
            counts,
            open: BTreeMap::new(),
            done,
            observations,
            windows: vec![Window::default(); arms],
            stopped_arms,
            refused_units: 0,
        }
    }

    /// What must be kept beside the arms of the units and the observations.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            experiment: self.experiment.clone(),
            state: self.state.clone(),
            stopped_arms: self.stopped_arms.clone(),
        }
    }

    /// What was asked for.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// Where it is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The arm of each unit that has one.
    pub fn assigned(&self) -> &BTreeMap<String, usize> {
        &self.assigned
    }

    /// Units of each arm.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Finished observations, oldest first.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Arms that stopped by themselves, with the Unix time and why.
    pub fn stopped_arms(&self) -> &BTreeMap<usize, (Duration, Harm)> {
        &self.stopped_arms
    }

    /// Units that found no place.
    pub fn refused_units(&self) -> u64 {
        self.refused_units
    }

    /// Starts it. `false`: it has been started before.
    pub fn start(&mut self, now: Duration) -> bool {
        let created = self.state == State::Created;
        if created {
            self.state = State::Running { since: now };
        }
        created
    }

    /// Ends it. `false`: it does not run.
    pub fn stop(&mut self, now: Duration, why: impl Into<String>) -> bool {
        let State::Running { since } = self.state else {
            return false;
        };
        // What is not complete is not comparable.
        self.settle(now);
        self.open.clear();
        self.state = State::Stopped {
            since,
            until: now,
            why: why.into(),
        };
        true
    }

    /// The arm of a flow; `None`: it takes no part.
    pub fn choose(&mut self, now: Duration, flow: &FlowFacts, edge: &str) -> Option<Choice> {
        let State::Running { since } = self.state else {
            return None;
        };
        let spec = &self.experiment.spec;
        if !spec.scope.contains(flow, edge) {
            return None;
        }
        let (unit, arm, period, age) = match spec.unit {
            Unit::Switchback => {
                let elapsed = now.saturating_sub(since);
                let (period, age) = self.assigner.period(&flow.cell, elapsed, spec.period());
                (flow.cell.to_string(), period.arm, Some(period), age)
            }
            Unit::Cell | Unit::Ue => {
                let unit = match (spec.unit, flow.address) {
                    (Unit::Cell, _) => flow.cell.to_string(),
                    // An address stays with a UE; the names that a RAN gives it do not.
                    (_, Some(address)) => address.to_string(),
                    (_, None) => format!("{} {}", flow.cell, flow.ue),
                };
                let arm = self.assign(&unit)?;
                let open = self.open.get(&unit);
                let age = open.map_or(Duration::ZERO, |open| now.saturating_sub(open.began));
                (unit, arm, None, age)
            }
        };
        let warm = age >= self.experiment.spec.warm_up();
        Some(Choice {
            arm,
            unit,
            period,
            counts: warm && !self.stopped_arms.contains_key(&arm),
        })
    }

    fn assign(&mut self, unit: &str) -> Option<usize> {
        if let Some(arm) = self.assigned.get(unit) {
            return Some(*arm);
        }
        if self.assigned.len() >= MAX_UNITS {
            self.refused_units += 1;
            return None;
        }
        let arm = self.assigner.assign(unit, &self.counts);
        self.counts[arm] += 1;
        self.assigned.insert(unit.to_owned(), arm);
        Some(arm)
    }

    /// The arm with whose settings a flow runs: the baseline in place of an arm that was stopped.
    pub fn settings(&self, choice: &Choice) -> usize {
        if self.stopped_arms.contains_key(&choice.arm) {
            0
        } else {
            choice.arm
        }
    }

    /// Takes what a flow did in an interval under the arm chosen for it. The harm that stopped the arm, if any.
    pub fn record(
        &mut self,
        now: Duration,
        flow: &str,
        choice: &Choice,
        sample: &Sample,
    ) -> Option<Harm> {
        if !matches!(self.state, State::Running { .. })
            || self.stopped_arms.contains_key(&choice.arm)
        {
            return None;
        }
        if self
            .open
            .get(&choice.unit)
            .is_some_and(|open| open.period != choice.period)
        {
            self.close(&choice.unit, now);
        }
        let open = self
            .open
            .entry(choice.unit.clone())
            .or_insert_with(|| Open {
                arm: choice.arm,
                period: choice.period,
                began: now,
                sums: Accumulator::default(),
            });
        if !choice.counts {
            return None;
        }
        if !self.done.contains(&choice.unit) {
            open.sums.add(flow, sample);
            let full = open.sums.seconds() >= self.experiment.spec.observation_seconds;
            if full && choice.period.is_none() {
                self.done.insert(choice.unit.clone());
                self.close(&choice.unit, now);
            }
        }
        let rails = self.experiment.spec.guard_rails;
        let harm = self.windows.get_mut(choice.arm)?.add(now, sample, &rails)?;
        self.stop_arm(now, choice.arm, harm);
        Some(harm)
    }

    fn stop_arm(&mut self, now: Duration, arm: usize, harm: Harm) {
        self.stopped_arms.insert(arm, (now, harm));
        let name = self
            .experiment
            .spec
            .arms
            .get(arm)
            .map_or("", |arm| &arm.name);
        let why = format!("arm {name}: {harm}");
        let running = self.experiment.spec.arms.len() - self.stopped_arms.len();
        // Without its baseline, or with it alone, there is nothing left to compare.
        if arm == 0 || running < 2 {
            self.stop(now, why);
        }
    }

    /// Closes the observations of periods that are over, of cells that have fallen silent too.
    pub fn settle(&mut self, now: Duration) {
        let State::Running { since } = self.state else {
            return;
        };
        let present = self
            .assigner
            .index(now.saturating_sub(since), self.experiment.spec.period());
        let over = |open: &Open| open.period.is_some_and(|period| period.index < present);
        let units: Vec<_> = self
            .open
            .iter()
            .filter(|(_, open)| over(open))
            .map(|(unit, _)| unit.clone())
            .collect();
        for unit in units {
            self.close(&unit, now);
        }
    }

    /// Ends an observation. Of a unit that is observed once, the entry stays: it says since when it has its arm.
    fn close(&mut self, unit: &str, now: Duration) {
        let Some(open) = self.open.get_mut(unit) else {
            return;
        };
        let sums = std::mem::take(&mut open.sums);
        let values = sums.values();
        if !values.is_empty() && self.observations.len() < MAX_OBSERVATIONS {
            self.observations.push(Observation {
                arm: open.arm,
                unit: unit.to_owned(),
                block: open.period.map(|period| period.block),
                ended: now,
                seconds: sums.seconds(),
                values,
            });
        }
        if open.period.is_some() {
            self.open.remove(unit);
        }
    }
}
