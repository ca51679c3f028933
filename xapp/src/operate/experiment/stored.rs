//! What of the experiments outlives the process: each experiment, the arms of its units, and its observations.

use super::{Error, Experiments, Kept};
use crate::store::{Kind, Store, Stored};
use policies::experiment::trial::Snapshot;
use policies::experiment::{Choice, Observation, Trial};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// An experiment without its observations.
#[derive(Debug, Serialize, Deserialize)]
struct StoredTrial(Snapshot);

impl Stored for StoredTrial {
    const KIND: Kind = Kind::Experiment;
    const VERSION: u32 = 1;
}

/// The arm of a unit.
#[derive(Debug, Serialize, Deserialize)]
struct StoredArm {
    arm: usize,
}

impl Stored for StoredArm {
    const KIND: Kind = Kind::Assignment;
    const VERSION: u32 = 1;
}

/// One observation.
#[derive(Debug, Serialize, Deserialize)]
struct StoredObservation(Observation);

impl Stored for StoredObservation {
    const KIND: Kind = Kind::Observation;
    const VERSION: u32 = 1;
}

/// Key of what belongs to an experiment. Names have no '/'.
fn key(experiment: &str, part: &str) -> String {
    format!("{experiment}/{part}")
}

/// Keeps the arm that a unit has just got.
pub(super) fn keep_assignment(store: &Store, experiment: &str, choice: &Choice) {
    let arm = StoredArm { arm: choice.arm };
    if let Err(error) = store.put(&key(experiment, &choice.unit), &arm) {
        warn!(experiment, unit = choice.unit, %error, "the arm of a unit is not kept over a restart");
    }
}

impl Experiments {
    /// Takes over the experiments in the store that are not known yet.
    pub(super) fn load(&self) {
        let mut trials = self.lock();
        let store = &self.0.store;
        let mut new: Vec<_> = store.load_all::<StoredTrial>();
        new.retain(|(name, _)| !trials.contains_key(&**name));
        if new.is_empty() {
            return;
        }
        let mut arms = by_experiment(store.load_all::<StoredArm>());
        let mut observations = by_experiment(store.load_all::<StoredObservation>());
        for (name, StoredTrial(snapshot)) in new {
            if let Err(error) = snapshot.experiment.check() {
                warn!(%error, experiment = name, "a stored experiment cannot be used");
                continue;
            }
            // In the order of their keys, which is that of their numbers.
            let observed = observations.remove(&name).unwrap_or_default();
            let observed = observed.into_iter().map(|(_, stored)| stored.0).collect();
            let arms = arms.remove(&name).unwrap_or_default();
            let assigned = arms.into_iter().map(|(unit, stored)| (unit, stored.arm));
            let trial = Trial::restore(snapshot, assigned, observed);
            let observations = trial.observations().len();
            let kept = Kept {
                trial,
                observations,
            };
            trials.insert(name.into(), kept);
        }
        self.look(&trials);
    }

    /// Takes over what turns up in the store, until `stop`.
    pub async fn follow_store(self, stop: CancellationToken) {
        let mut changes = self.0.store.changes(Kind::Experiment);
        let follow = async {
            while changes.changed().await.is_ok() {
                self.load();
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = follow => {}
        }
    }

    /// Keeps where an experiment stands.
    pub(super) fn keep_state(&self, trial: &Trial) -> Result<(), Error> {
        let stored = StoredTrial(trial.snapshot());
        let name = trial.experiment().name();
        Ok(self.0.store.put(name, &stored).map_err(Arc::new)?)
    }

    /// Keeps where an experiment stands, and the observations that are not kept yet.
    pub(super) fn keep(&self, kept: &mut Kept) -> Result<(), Error> {
        let name = kept.trial.experiment().name();
        let observations = kept.trial.observations();
        for (index, observation) in observations.iter().enumerate().skip(kept.observations) {
            let stored = StoredObservation(observation.clone());
            let key = key(name, &format!("{index:08}"));
            self.0.store.put(&key, &stored).map_err(Arc::new)?;
            kept.observations = index + 1;
        }
        self.keep_state(&kept.trial)
    }

    pub(super) fn keep_or_warn(&self, kept: &mut Kept) {
        if let Err(error) = self.keep(kept) {
            let experiment = kept.trial.experiment().name();
            warn!(experiment, %error, "what an experiment observed is not kept over a restart");
        }
    }

    /// Deletes all that is kept of an experiment.
    pub(super) fn forget(&self, name: &str) {
        let store = &self.0.store;
        store.delete(Kind::Experiment, name);
        let prefix = key(name, "");
        let arms = store.load_all::<StoredArm>().into_iter();
        for (key, _) in arms.filter(|(key, _)| key.starts_with(&prefix)) {
            store.delete(Kind::Assignment, &key);
        }
        let observations = store.load_all::<StoredObservation>().into_iter();
        for (key, _) in observations.filter(|(key, _)| key.starts_with(&prefix)) {
            store.delete(Kind::Observation, &key);
        }
    }
}

/// Items by the experiment in their keys; the rest of the key stays with each.
fn by_experiment<T>(items: Vec<(String, T)>) -> BTreeMap<String, Vec<(String, T)>> {
    let mut sorted: BTreeMap<String, Vec<(String, T)>> = BTreeMap::new();
    for (key, item) in items {
        if let Some((experiment, rest)) = key.split_once('/') {
            let of_one = sorted.entry(experiment.to_owned()).or_default();
            of_one.push((rest.to_owned(), item));
        }
    }
    sorted
}
