//! Binary `cantor`.
#![forbid(unsafe_code)]

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    xapp::cli::Cli::parse().execute()
}
