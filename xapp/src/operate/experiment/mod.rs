//! The experiments of an xApp: who is in which arm, and what was observed.
//!
//! [`Experiments`] is what everyone shares. Cells ask it once a control interval which arm their flows are in, and tell
//! it what the flows did.

pub mod service;
mod stored;

use crate::cell::arm::FlowArm;
use crate::guidance::FlowKey;
use crate::store::{self, Store};
use policies::experiment::trial::{State, Trial};
use policies::experiment::{Experiment, Report, Sample};
use policies::slice::{FlowFacts, read};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::{info, warn};

/// Most experiments, ended ones included.
pub const MAX_EXPERIMENTS: usize = 256;

/// The experiments. Clones share them.
#[derive(Clone, Debug)]
pub struct Experiments(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    trials: Mutex<BTreeMap<Arc<str>, Kept>>,
    /// Some experiment runs: what cells look at first.
    running: AtomicBool,
    store: Store,
}

/// An experiment, and how much of it the store has.
#[derive(Debug)]
struct Kept {
    trial: Trial,
    observations: usize,
}

/// Why an experiment is not as asked for. Nothing has changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// It is written wrongly.
    #[error(transparent)]
    Document(#[from] policies::Error),
    /// A text with none.
    #[error("{0}: no experiment in it")]
    Empty(String),
    /// A name that is taken.
    #[error("there is an experiment {0:?} already: delete it, or give this one another name")]
    Exists(Arc<str>),
    /// A name that is not known.
    #[error("no experiment {0:?}")]
    Unknown(String),
    /// Not possible as it stands.
    #[error("experiment {name:?} {state}")]
    State {
        /// Its name.
        name: String,
        /// How it stands.
        state: &'static str,
    },
    /// There are too many.
    #[error("there are {MAX_EXPERIMENTS} experiments, and no more may be: delete some")]
    Full,
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] Arc<store::Error>),
}

impl Experiments {
    /// Those that the store has.
    pub fn new(store: Store) -> Self {
        let experiments = Self(Arc::new(Shared {
            trials: Mutex::default(),
            running: AtomicBool::new(false),
            store,
        }));
        experiments.load();
        experiments
    }

    /// Some experiment runs.
    pub fn running(&self) -> bool {
        self.0.running.load(Ordering::Relaxed)
    }

    /// Takes over the experiments of a text, all or none; they do not run yet.
    ///
    /// # Errors
    /// [`Error`] for the first thing that is wrong.
    pub fn create(&self, text: &str, name: &str) -> Result<Vec<Experiment>, Error> {
        let read = read::<Experiment>(text, name)?;
        let new: Vec<_> = read.into_iter().map(|(experiment, _)| experiment).collect();
        if new.is_empty() {
            return Err(Error::Empty(name.to_owned()));
        }
        let mut trials = self.lock();
        if trials.len() + new.len() > MAX_EXPERIMENTS {
            return Err(Error::Full);
        }
        for (index, experiment) in new.iter().enumerate() {
            let earlier = new
                .iter()
                .take(index)
                .any(|e| e.name() == experiment.name());
            if earlier || trials.contains_key(experiment.name()) {
                return Err(Error::Exists(experiment.name().into()));
            }
        }
        for experiment in &new {
            let trial = Trial::new(experiment.clone());
            self.keep_state(&trial)?;
            let kept = Kept {
                trial,
                observations: 0,
            };
            trials.insert(experiment.name().into(), kept);
        }
        Ok(new)
    }

    /// Starts an experiment.
    ///
    /// # Errors
    /// When there is none of this name, or it has run before.
    pub fn start(&self, name: &str, now: Duration) -> Result<(), Error> {
        let mut trials = self.lock();
        let kept = known(&mut trials, name)?;
        if !kept.trial.start(now) {
            return Err(Error::State {
                name: name.into(),
                state: "has been started before: create another one",
            });
        }
        self.keep_state(&kept.trial)?;
        info!(experiment = name, "experiment started");
        self.look(&trials);
        Ok(())
    }

    /// Stops an experiment; what it has observed stays.
    ///
    /// # Errors
    /// When there is none of this name, or it does not run.
    pub fn stop(&self, name: &str, now: Duration, why: &str) -> Result<(), Error> {
        let mut trials = self.lock();
        let kept = known(&mut trials, name)?;
        if !kept.trial.stop(now, why) {
            return Err(Error::State {
                name: name.into(),
                state: "does not run",
            });
        }
        self.keep(kept)?;
        info!(experiment = name, why, "experiment stopped");
        self.look(&trials);
        Ok(())
    }

    /// Forgets an experiment and what it has observed.
    ///
    /// # Errors
    /// When there is none of this name, or it runs.
    pub fn delete(&self, name: &str) -> Result<(), Error> {
        let mut trials = self.lock();
        if matches!(
            known(&mut trials, name)?.trial.state(),
            State::Running { .. }
        ) {
            return Err(Error::State {
                name: name.into(),
                state: "runs: stop it first",
            });
        }
        trials.remove(name);
        self.forget(name);
        Ok(())
    }

    /// What an experiment has shown. `cells`: how many there are.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn report(&self, name: &str, now: Duration, cells: usize) -> Result<Report, Error> {
        // Statistics take their time: cells must not wait for them.
        let trial = {
            let mut trials = self.lock();
            let kept = known(&mut trials, name)?;
            kept.trial.settle(now);
            self.keep(kept)?;
            kept.trial.clone()
        };
        Ok(Report::new(&trial, cells))
    }

    /// All of them, with the number of units of each arm and of observations.
    pub fn list(&self) -> Vec<(Experiment, State, Vec<u64>, usize)> {
        let trials = self.lock();
        let each = trials.values().map(|Kept { trial, .. }| {
            (
                trial.experiment().clone(),
                trial.state().clone(),
                trial.counts().to_vec(),
                trial.observations().len(),
            )
        });
        each.collect()
    }

    /// Gives flows their arms. Holds the experiments meanwhile: to be dropped soon.
    pub fn chooser(&self, now: Duration) -> Chooser<'_> {
        Chooser {
            now,
            trials: self.lock(),
            store: &self.0.store,
        }
    }

    /// Takes what flows did under their arms.
    pub fn record<'a>(
        &self,
        now: Duration,
        samples: impl Iterator<Item = (&'a FlowKey, FlowArm, Sample)>,
    ) {
        let mut trials = self.lock();
        let mut stopped = false;
        for (flow, arm, sample) in samples {
            let Some(kept) = trials.get_mut(&arm.experiment) else {
                continue;
            };
            let harm = kept
                .trial
                .record(now, &flow.to_string(), &arm.choice, &sample);
            if let Some(harm) = harm {
                warn!(arm = &*arm.name, %harm, "arm of an experiment stopped by its guard rail");
                stopped = true;
            }
            if harm.is_some() || kept.trial.observations().len() > kept.observations {
                self.keep_or_warn(kept);
            }
        }
        if stopped {
            self.look(&trials);
        }
    }

    fn look(&self, trials: &BTreeMap<Arc<str>, Kept>) {
        let runs = |kept: &Kept| matches!(kept.trial.state(), State::Running { .. });
        let running = trials.values().any(runs);
        self.0.running.store(running, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Kept>> {
        let trials = self.0.trials.lock();
        trials.unwrap_or_else(PoisonError::into_inner)
    }
}

fn known<'a>(trials: &'a mut BTreeMap<Arc<str>, Kept>, name: &str) -> Result<&'a mut Kept, Error> {
    let kept = trials.get_mut(name);
    kept.ok_or_else(|| Error::Unknown(name.to_owned()))
}

/// Gives flows their arms at one moment.
#[derive(Debug)]
pub struct Chooser<'a> {
    now: Duration,
    trials: MutexGuard<'a, BTreeMap<Arc<str>, Kept>>,
    store: &'a Store,
}

impl Chooser<'_> {
    /// The arm of a flow: of the first experiment, by name, in which it takes part.
    pub fn choose(&mut self, flow: &FlowFacts, edge: &str) -> Option<FlowArm> {
        self.trials.iter_mut().find_map(|(experiment, kept)| {
            let trial = &mut kept.trial;
            let units: u64 = trial.counts().iter().sum();
            let choice = trial.choose(self.now, flow, edge)?;
            if trial.counts().iter().sum::<u64>() > units {
                stored::keep_assignment(self.store, experiment, &choice);
            }
            let settings = trial.experiment().settings(trial.settings(&choice))?;
            let named = trial.experiment().spec.arms.get(choice.arm)?;
            Some(FlowArm {
                experiment: experiment.clone(),
                name: format!("{experiment}/{}", named.name).into(),
                gain_policies: settings.gain_policies.clone().into(),
                target_factor: settings.target_factor,
                choice,
            })
        })
    }
}
