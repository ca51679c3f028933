//! The messages of E2AP §9.1, as tables.

mod functional;
mod global;
mod setup;

pub use functional::*;
pub use global::*;
pub use setup::*;
