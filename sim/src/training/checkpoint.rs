//! Checkpoints: all that a learner has learned, as safetensors.

use super::Error;
use super::ppo::Learner;
use candle_core::{Device, Tensor, safetensors};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const STEPS: &str = "adam.steps";

/// Where a training keeps this checkpoint.
pub fn path(folder: &Path, checkpoint: u32) -> PathBuf {
    folder
        .join("checkpoints")
        .join(format!("{checkpoint:02}.safetensors"))
}

/// Writes a checkpoint.
///
/// # Errors
/// When the file cannot be written.
pub fn save(learner: &Learner, file: &Path) -> Result<(), Error> {
    let mut tensors = HashMap::new();
    for (index, variable) in learner.variables().enumerate() {
        tensors.insert(format!("variable.{index}"), variable.as_tensor().clone());
    }
    for (index, [mean, variance]) in learner.optimiser().moments().iter().enumerate() {
        tensors.insert(format!("adam.mean.{index}"), mean.clone());
        tensors.insert(format!("adam.variance.{index}"), variance.clone());
    }
    let steps = Tensor::new(&[learner.optimiser().steps()], &Device::Cpu)?;
    tensors.insert(STEPS.to_owned(), steps);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, error))?;
    }
    safetensors::save(&tensors, file).map_err(|error| Error::file(file, error))
}

/// Brings a learner to what a checkpoint of one like it holds.
///
/// # Errors
/// When the file cannot be read, or is of another learner.
pub fn load(learner: &mut Learner, file: &Path) -> Result<(), Error> {
    let mut tensors =
        safetensors::load(file, &Device::Cpu).map_err(|error| Error::file(file, error))?;
    let mut take = |name: String| {
        let missing = || Error::file(file, format!("{name} is missing"));
        tensors.remove(&name).ok_or_else(missing)
    };
    let mut moments = Vec::new();
    for (index, variable) in learner.variables().enumerate() {
        variable.set(&take(format!("variable.{index}"))?)?;
        moments.push([
            take(format!("adam.mean.{index}"))?,
            take(format!("adam.variance.{index}"))?,
        ]);
    }
    let steps: Vec<u32> = take(STEPS.to_owned())?.to_vec1()?;
    let steps = steps.first().copied().unwrap_or(0);
    learner.optimiser_mut().restore(steps, moments);
    Ok(())
}
