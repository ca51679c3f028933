//! Model bundles: what a learned policy is, how it is checked, and how it is run.
//!
//! A bundle is a folder of three files: `actor.onnx` (the network), `card.toml` (what goes in and out of it, how it was
//! trained, and the SHA-256 of the network) and `goldens.csv` (observations with the gains that the network chooses for them).
//!
//! [`Folder::read`] brings it into memory within limits, [`Bundle::new`] takes it apart, and [`Bundle::check`] runs it: a
//! bundle that gets through all three has the shape that its card says, answers its goldens, and never NaN.

mod bundle;
mod card;
mod feature;
mod folder;
mod goldens;
mod inference;
mod native;
mod network;
pub mod onnx;
mod refusal;

pub use bundle::{Bundle, sha256};
pub use card::{Card, CqiTable, FORMAT, Training, Validation};
pub use feature::{Feature, Input};
pub use folder::Folder;
pub use goldens::{GOLDENS, Golden, Goldens};
pub use inference::{Inference, best};
pub use native::Native;
pub use network::{Activation, Layer, Network};
pub use refusal::Refusal;
