//! Experiments in virtual time, and how a report is shown.

pub mod page;
pub mod table;
pub mod trials;

pub use page::page;
pub use table::table;
pub use trials::{Rig, run};
