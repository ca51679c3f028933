//! Why a model bundle is refused.

use std::path::PathBuf;

/// Why a bundle cannot be used. The message says what is wrong and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// A file that cannot be read or written.
    #[error("{}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A card that is no TOML, or lacks something.
    #[error("card.toml: {reason}")]
    Card {
        /// What is wrong.
        reason: String,
    },
    /// The network is not the one that the card was written for.
    #[error(
        "actor.onnx has the SHA-256 {found}, card.toml says {wanted}: one of them was changed or cut off"
    )]
    Hash {
        /// Of the file.
        found: String,
        /// On the card.
        wanted: String,
    },
    /// No ONNX, or one that is not run here.
    #[error("actor.onnx: {reason}")]
    Onnx {
        /// What is wrong.
        reason: String,
    },
    /// The network does not take what the card says, or does not give it.
    #[error("actor.onnx: {what} is {found}, card.toml needs {wanted}")]
    Shape {
        /// Input or output.
        what: &'static str,
        /// Of the network.
        found: usize,
        /// Of the card.
        wanted: usize,
    },
    /// Goldens that cannot be read.
    #[error("goldens.csv: {reason}")]
    Goldens {
        /// What is wrong.
        reason: String,
    },
    /// The network chooses another gain than a golden says.
    #[error("goldens.csv, row {row}: the network chooses gain {found}, not {wanted}")]
    Golden {
        /// Row, from 1.
        row: usize,
        /// Chosen.
        found: f64,
        /// In the file.
        wanted: f64,
    },
    /// The network answers with something that is no finite number.
    #[error("the network answers {value} to {observation}")]
    NotFinite {
        /// The answer.
        value: f32,
        /// Which observation.
        observation: String,
    },
    /// The network always chooses the same gain.
    #[error("the network chooses gain {gain} whatever it observes")]
    Constant {
        /// The gain.
        gain: f64,
    },
    /// The engine that runs networks failed.
    #[error("{engine}: {reason}")]
    Engine {
        /// Its name.
        engine: &'static str,
        /// Why.
        reason: String,
    },
}
