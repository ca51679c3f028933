//! Cantor, the xApp: RAN links, cells, guidance and operations services, HTTP, command line.
#![forbid(unsafe_code)]

pub mod capture;
pub mod cli;
pub mod config;
pub mod measure;
pub mod ran;
pub mod telemetry;
