//! `cantor-edge`: sends a paced UDP test flow and measures what arrives.
#![forbid(unsafe_code)]

mod cli;

use clap::Parser;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let args = cli::Args::parse();
    match cli::run(args).await {
        Ok(code) => code,
        Err(error) => {
            cli::print::status(format_args!("cantor-edge: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
