//! Cells: one task per E2 node owns all its state.
//!
//! [`core`] decides, without I/O and told the time; [`task`] drives it.

pub mod arm;
pub mod core;
pub mod dispatch;
mod flow;
mod resume;
mod shadow;
mod slices;
pub mod task;
mod ue;
pub mod view;

pub use self::core::{Cell, Settings};
pub use flow::{DecisionRecord, Standing};
pub use shadow::ShadowDecision;
pub use task::{CellHandle, Command};
