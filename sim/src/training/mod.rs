//! Training of learned policies: PRISM's gain (arXiv 2611.02032) by proximal policy optimisation in the simulation.
//!
//! - [`plan`]: everything that determines the outcome.
//! - [`environment`], [`reward`]: scenarios in which the production controller explores, and what it is rewarded for.
//! - [`ppo`], [`mlp`], [`adam`]: how it learns.
//! - [`trainer`]: rounds of runs; each ends with a checkpoint and its [`validation`].
//! - [`checkpoint`], [`record`]: what is written, and read to resume.
//!
//! Environments run on all cores. The outcome does not depend on how many those are: every environment has its own random
//! numbers and learns from nothing but its own run until all of them have come as far.

pub mod adam;
pub mod checkpoint;
pub mod environment;
pub mod mlp;
pub mod plan;
pub mod ppo;
pub mod record;
pub mod reward;
pub mod trainer;
pub mod validation;

pub use plan::{Plan, Source, Task};
pub use trainer::{Progress, Trainer};

use crate::plot::PlotError;
use crate::scenario::ScenarioError;
use policies::model::Refusal;
use std::path::PathBuf;

/// Why a training cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario that is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The tensor library.
    #[error("tensors: {0}")]
    Tensor(#[from] candle_core::Error),
    /// No model bundle can be made of it.
    #[error("model: {0}")]
    Model(#[from] Refusal),
    /// A chart.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A file of the training that cannot be read or written.
    #[error("{}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A plan that cannot be carried out.
    #[error("{setting}: {reason}")]
    Plan {
        /// What is wrong.
        setting: &'static str,
        /// Why.
        reason: String,
    },
}

impl Error {
    fn file(file: &std::path::Path, reason: impl std::fmt::Display) -> Self {
        Self::File {
            file: file.to_owned(),
            reason: reason.to_string(),
        }
    }
}
