//! The E2 node of a cell.

mod config;

pub use config::{KpmDialect, NodeConfig};
