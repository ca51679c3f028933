//! Rounds of training: every environment plays one run of the scenario, and the round ends with a checkpoint.

use super::environment::Environment;
use super::ppo::{Learner, Trajectory};
use super::record::{CheckpointRow, Record, UpdateRow};
use super::validation::validate;
use super::{Error, Plan, Task, checkpoint};
use crate::random::stream;
use crate::runs::in_parallel;
use policies::model::{Bundle, Card, Folder, Native, Training};
use rand::Rng;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How far a training is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Everything so far.
    pub record: &'a Record,
    /// Updates done in the round.
    pub update: usize,
    /// Updates in a round.
    pub of: usize,
}

/// A training that is carried out.
pub struct Trainer {
    folder: PathBuf,
    threads: usize,
    training: Task,
    validation: Task,
    card: Arc<Card>,
    learner: Learner,
    record: Record,
}

impl Trainer {
    /// A new training, which keeps its files in `folder`. At most `threads` environments run at the same time.
    ///
    /// # Errors
    /// When the plan cannot be carried out.
    pub fn new(plan: Plan, folder: &Path, threads: usize) -> Result<Self, Error> {
        let (training, validation) = (plan.training.task()?, plan.validation.task()?);
        plan.check(&training)?;
        let card = &plan.card;
        let learner = Learner::new(plan.hyper, card.inputs(), card.gains.len(), plan.seed)?;
        std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, error))?;
        Ok(Self {
            folder: folder.to_owned(),
            threads,
            training,
            validation,
            card: Arc::new(card.clone()),
            learner,
            record: Record::new(plan),
        })
    }

    /// Goes on with the training in `folder` after its last checkpoint, as if it had never been interrupted.
    ///
    /// # Errors
    /// When there is none, or it has another plan (more or fewer checkpoints are no other plan).
    pub fn resume(plan: Plan, folder: &Path, threads: usize) -> Result<Self, Error> {
        let record = Record::read(folder)?;
        let as_recorded = Plan {
            checkpoints: record.plan.checkpoints,
            ..plan.clone()
        };
        if as_recorded != record.plan {
            return Err(Error::Plan {
                setting: "resume",
                reason: format!("the training in {} has other settings", folder.display()),
            });
        }
        let mut trainer = Self::new(plan.clone(), folder, threads)?;
        if let Some(last) = record.checkpoints.last() {
            let file = checkpoint::path(folder, last.validation.checkpoint);
            checkpoint::load(&mut trainer.learner, &file)?;
        }
        trainer.record = Record { plan, ..record };
        Ok(trainer)
    }

    /// What happened so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Carries out what is left of the plan.
    ///
    /// # Errors
    /// When a scenario is wrong, or a file cannot be written.
    pub fn run(&mut self, mut progress: impl FnMut(Progress<'_>)) -> Result<(), Error> {
        while self.record.checkpoints.len() < self.record.plan.checkpoints as usize {
            self.round(&mut progress)?;
            self.record.write(&self.folder)?;
        }
        Ok(())
    }

    fn round(&mut self, progress: &mut impl FnMut(Progress<'_>)) -> Result<(), Error> {
        let number = self.record.checkpoints.len() as u32 + 1;
        let plan = &self.record.plan;
        let (seed, decisions) = (plan.seed, plan.decisions());
        let updates = plan.updates(&self.training);
        let first = u64::from(number - 1) * plan.environments as u64;
        let runs = first..first + plan.environments as u64;
        let environments = runs.map(|run| {
            let scenario_seed = stream(seed, "environment", run).random();
            Environment::new(
                self.training.parts(),
                scenario_seed,
                &self.card,
                plan.reward,
                stream(seed, "exploration", run),
            )
        });
        let mut environments = environments.collect::<Result<Vec<_>, _>>()?;
        let mut shuffle = stream(seed, "shuffle", number.into());
        for update in 0..updates {
            let actor = self.actor()?;
            let trajectories = in_parallel(
                environments.iter_mut().collect(),
                self.threads,
                |environment| environment.collect(&actor, decisions),
            );
            let update_made = self.learner.update(&trajectories, &mut shuffle)?;
            self.note(number, &trajectories, update_made);
            progress(Progress {
                record: &self.record,
                update: update + 1,
                of: updates,
            });
        }
        checkpoint::save(&self.learner, &checkpoint::path(&self.folder, number))?;
        let seeds = self.record.plan.validation_seeds;
        let actor = self.actor()?;
        let validated = validate(&self.validation, seeds, &self.card, &actor, self.threads)?;
        self.record.checkpoints.push(CheckpointRow {
            validation: policies::model::Validation {
                checkpoint: number,
                ..validated.result
            },
            delay_max_ms: validated.delay_max_ms,
        });
        Ok(())
    }

    fn actor(&self) -> Result<Native, Error> {
        Ok(Native::new(&self.learner.actor().to_model()?))
    }

    fn note(&mut self, number: u32, trajectories: &[Trajectory], update: super::ppo::Update) {
        let (mut samples, mut reward, mut gain) = (0, 0.0, 0.0);
        for transition in trajectories.iter().flat_map(|t| &t.transitions) {
            self.record.see(&transition.state);
            samples += 1;
            reward += transition.reward;
            let index = transition.action as usize;
            gain += self.card.gains.get(index).copied().unwrap_or_default();
        }
        self.record.samples += samples;
        let mean = |sum: f64| sum / samples.max(1) as f64;
        self.record.updates.push(UpdateRow {
            checkpoint: number,
            samples: self.record.samples,
            reward: mean(reward),
            gain: mean(gain),
            update,
        });
    }

    /// The bundle of the best checkpoint. `command` repeats the training.
    ///
    /// # Errors
    /// When there is no checkpoint, or its actor makes no valid bundle.
    pub fn bundle(&mut self, command: &str) -> Result<Folder, Error> {
        let Some(best) = self.record.best().map(|row| row.validation.checkpoint) else {
            return Err(Error::Plan {
                setting: "checkpoints",
                reason: "there is none yet".to_owned(),
            });
        };
        let plan = &self.record.plan;
        let card = &plan.card;
        let mut learner = Learner::new(plan.hyper, card.inputs(), card.gains.len(), plan.seed)?;
        checkpoint::load(&mut learner, &checkpoint::path(&self.folder, best))?;
        let network = learner.actor().to_model()?;
        let actor = Native::new(&network);
        // The goldens are taken from what it observes in validation.
        let validated = validate(
            &self.validation,
            plan.validation_seeds,
            &self.card,
            &actor,
            self.threads,
        )?;
        let mut card = card.clone();
        for (input, [low, high]) in card.features.iter_mut().zip(&self.record.seen) {
            let value = |x: f32| significant(f64::from(x) * input.scale - input.offset);
            input.range = [value(*low), value(*high)];
        }
        card.training = Training {
            command: command.to_owned(),
            scenario: plan.training.scenario.clone(),
            seed: plan.seed,
            samples: self.record.samples,
            checkpoint: best,
        };
        let rows = self.record.checkpoints.iter();
        card.validation = rows.map(|row| rounded(row.validation)).collect();
        Ok(Bundle::make(card, &network, &validated.observations)?)
    }
}

/// To four significant digits: more of a range says nothing.
fn significant(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let digits = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * digits).round() / digits
}

fn rounded(row: policies::model::Validation) -> policies::model::Validation {
    policies::model::Validation {
        checkpoint: row.checkpoint,
        score: significant(row.score),
        goodput_mbps: significant(row.goodput_mbps),
        loss: significant(row.loss),
        delay_mean_ms: significant(row.delay_mean_ms),
        delay_p95_ms: significant(row.delay_p95_ms),
    }
}
