//! Everything that determines the outcome of a training.

use super::Error;
use super::ppo::Hyperparameters;
use super::reward::Reward;
use crate::linkmodel::lena;
use crate::linkmodel::mutual_information::mutual_information;
use crate::scenario::Scenario;
use policies::gain::GainPolicy;
use policies::model::{Card, CqiTable, FORMAT, Feature, Input, Training};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Rounds, each of which ends with a checkpoint.
    pub checkpoints: u32,
    /// Runs of the training scenario in a round, side by side.
    pub environments: usize,
    /// What it trains in.
    pub training: Source,
    /// What the checkpoints are judged by.
    pub validation: Source,
    /// Seeds of the validation, from 1.
    pub validation_seeds: u64,
    /// How it learns.
    pub hyper: Hyperparameters,
    /// What it is rewarded for.
    pub reward: Reward,
    /// What the model will be; hash, ranges and the record of its training are filled in.
    pub card: Card,
}

/// A scenario by name or file, and settings of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A built-in scenario, or a file.
    pub scenario: String,
    /// `key.path=value`.
    #[serde(default)]
    pub settings: Vec<String>,
}

/// A scenario that is ready to be built.
pub struct Task {
    scenario: Scenario,
    folder: PathBuf,
}

impl Source {
    /// The scenario as it is.
    pub fn new(scenario: &str) -> Self {
        Self {
            scenario: scenario.to_owned(),
            settings: Vec::new(),
        }
    }

    /// Reads the scenario.
    ///
    /// # Errors
    /// When it is not there, or wrong.
    pub fn task(&self) -> Result<Task, Error> {
        let (scenario, folder) = Scenario::load(&self.scenario, &self.settings)?;
        Ok(Task { scenario, folder })
    }
}

impl Task {
    /// The scenario, and where its files are named from.
    pub fn parts(&self) -> (&Scenario, &Path) {
        (&self.scenario, &self.folder)
    }
}

impl Plan {
    /// PRISM's: scenarios, hyper-parameters and reward of the paper.
    pub fn prism(seed: u64) -> Self {
        Self {
            seed,
            checkpoints: 40,
            environments: 2,
            training: Source::new("prism-train"),
            validation: Source::new("prism-validate"),
            validation_seeds: 4,
            hyper: Hyperparameters::default(),
            reward: Reward::default(),
            card: prism_card(),
        }
    }

    /// Decisions of an environment in an update.
    pub fn decisions(&self) -> usize {
        self.hyper.batch / self.environments.max(1)
    }

    /// Updates in a round: as many as find their decisions in a run of the training scenario.
    pub fn updates(&self, task: &Task) -> usize {
        let interval = self.card.control_interval().as_secs_f64();
        // What the last decision led to is not seen.
        let decisions = (task.scenario.duration_s / interval) as usize;
        decisions.saturating_sub(1) / self.decisions().max(1)
    }

    /// Says what is wrong with it.
    ///
    /// # Errors
    /// When it cannot be carried out.
    pub fn check(&self, training: &Task) -> Result<(), Error> {
        let wrong = |setting, reason: &str| {
            Err(Error::Plan {
                setting,
                reason: reason.to_owned(),
            })
        };
        if self.checkpoints == 0 || self.environments == 0 || self.validation_seeds == 0 {
            return wrong("checkpoints, environments, validation_seeds", "at least 1");
        }
        if self.decisions() == 0 || !self.hyper.batch.is_multiple_of(self.environments) {
            return wrong("environments", "must divide the batch");
        }
        if self.updates(training) == 0 {
            return wrong("training", "the scenario is too short for one batch");
        }
        Ok(())
    }
}

/// What PRISM's network sees and chooses from.
fn prism_card() -> Card {
    let input = |name, offset: f64, scale: f64| Input {
        name,
        offset,
        scale,
        range: [0.0 - offset, scale - offset],
    };
    Card {
        format: FORMAT,
        name: "prism-v1".to_owned(),
        policy: GainPolicy::Prism,
        about: "PRISM (arXiv 2611.02032): gain of a rate law on the peak PRB use.".to_owned(),
        licence: "Apache-2.0".to_owned(),
        onnx_sha256: String::new(),
        history: 8,
        report_interval_ms: 50,
        control_interval_ms: 200,
        gains: vec![0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        gamma_bps_per_prb: 1e6,
        increase_divided_by_flows: true,
        features: vec![
            input(Feature::Prbs, 0.0, 1.0),
            input(Feature::MinPrbs, 0.0, 1.0),
            input(Feature::MaxPrbs, 0.0, 1.0),
            input(Feature::TargetPrbs, 0.0, 1.0),
            input(Feature::RetransmissionRatio, 0.0, 1.0),
            input(Feature::RateBps, 0.0, 100e6),
            input(Feature::Mcs, 0.0, 28.0),
            input(Feature::SinrDb, 10.0, 50.0),
        ],
        cqi_to_sinr: Some(cqi_table()),
        training: Training::default(),
        validation: Vec::new(),
    }
}

/// The SINR that a CQI stands for in 5G-LENA's link adaptation: the middle between where it begins and where the next one does,
/// over the whole carrier. The last has no end; it is taken to be as wide as five of the others, as far as SINRs go indoors.
fn cqi_table() -> CqiTable {
    const PRBS: u16 = 106;
    const STEP_DB: f64 = 0.1;
    let begins = |cqi: u8| {
        let grid = (-150..=300).map(|step| f64::from(step) * STEP_DB);
        let reaches = |db: &f64| lena::cqi(PRBS, |m| mutual_information(m, *db)) >= cqi;
        grid.clone().find(reaches).unwrap_or(30.0)
    };
    let begin: [f64; 15] = std::array::from_fn(|index| begins(index as u8 + 1));
    let usual = (begin[14] - begin[0]) / 14.0;
    CqiTable {
        name: "5G-LENA, LTE-MI".to_owned(),
        sinr_db: std::array::from_fn(|index| match begin.get(index + 1) {
            Some(next) => round((begin[index] + next) / 2.0),
            None => round(begin[index] + 2.5 * usual),
        }),
    }
}

fn round(db: f64) -> f64 {
    (db * 10.0).round() / 10.0
}
