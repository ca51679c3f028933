//! What an edge server links or runs to follow Cantor's guidance.
//!
//! - [`client`]: registers flows with the xApp and keeps what each of them is to apply.
//! - [`guidance`]: the state machine behind it: sequences, validity, hold, fallback, return.
//! - [`fallback`]: who rules a flow without guidance.
//! - [`pacer`]: sends at a rate.
//! - [`video`]: bitrate and pacing of frame-based video.
//! - [`flow`]: a paced UDP test flow and its receiver, as `cantor-edge` runs them.
#![forbid(unsafe_code)]

pub mod client;
pub mod fallback;
pub mod flow;
pub mod guidance;
pub mod pacer;
pub mod report;
pub mod units;
pub mod video;

mod error;

pub use client::{Config, EdgeClient, FlowHandle, FlowSpec, Ue};
pub use error::Error;

/// A number that nobody can guess: the standard library seeds its hashers from the system's random source.
fn random_u64() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}
