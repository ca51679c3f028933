//! Which engine runs the networks.

use super::library;
use policies::model::{Bundle, Inference, Native, Network, Refusal};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which engine is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// ONNX Runtime where its library is, else the pure-Rust executor.
    #[default]
    Auto,
    /// The pure-Rust executor.
    Native,
    /// ONNX Runtime.
    OnnxRuntime,
}

/// Makes networks ready to run.
#[derive(Clone, Debug, Default)]
pub struct Engines {
    /// Which engine.
    pub backend: Backend,
    /// Library of ONNX Runtime; empty: the one that `ORT_DYLIB_PATH` names, or the system's.
    pub library: PathBuf,
}

impl Engines {
    /// The network of a bundle, ready to run.
    ///
    /// # Errors
    /// When the engine cannot run it, or is not there.
    pub fn open(&self, bundle: &Bundle) -> Result<Box<dyn Inference>, Refusal> {
        let onnx = || Ok(Box::new(library::open(&self.library, bundle.actor())?) as Box<_>);
        match self.backend {
            Backend::OnnxRuntime => onnx(),
            Backend::Auto if library::available(&self.library).is_ok() => onnx(),
            Backend::Auto | Backend::Native => native(bundle),
        }
    }
}

/// Whether ONNX Runtime can be used. `library`: as [`Engines::library`].
///
/// # Errors
/// Why not.
pub fn onnxruntime(library: &Path) -> Result<(), Refusal> {
    library::available(library)
}

fn native(bundle: &Bundle) -> Result<Box<dyn Inference>, Refusal> {
    Ok(Box::new(Native::new(&Network::from_onnx(bundle.actor())?)))
}
