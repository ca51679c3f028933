//! Cantor, the xApp: RAN links, cells, guidance and operations services, HTTP, command line.
#![forbid(unsafe_code)]

pub mod ran;
