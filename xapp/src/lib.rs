//! Cantor, the xApp: RAN links, cells, guidance and operations services, HTTP, command line.
#![forbid(unsafe_code)]

pub mod capture;
pub mod cell;
pub mod cli;
pub mod config;
pub mod demo;
pub mod guidance;
pub mod measure;
pub mod models;
pub mod operate;
pub mod ran;
pub mod replay;
mod run;
pub mod store;
pub mod telemetry;

pub use run::{Error, Running, run, run_with};
