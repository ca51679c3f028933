//! A 5G cell as a pure state machine, and the same cell as a live E2 node.
//!
//! - [`radio`], [`mac`], [`rlc`], [`pdcp`]: what the layers do, one topic a file.
//! - [`cell`]: the cell, told the time in slots.
//! - [`closed_loop`]: cell, paced senders and rate controllers in virtual time.
//! - [`live`]: the cell by the wall clock, relaying real UDP packets.
//! - [`node`]: the cell as an E2 node.
//! - [`plot`]: charts for reports.
//! - [`channel`], [`linkmodel`]: SINR over time, and what a block of a given MCS makes of it.
//! - [`senders`], [`tcp`]: congestion controls, and the transport around them.
//! - [`simulation`], [`scenario`], [`results`]: cell, UEs and flows of every kind in virtual time, from a TOML file.
//! - [`runs`]: many of them on all cores.
//! - [`link`], [`testbed`]: a wired bottleneck, and flows over it.
//! - `training` (feature): PRISM's gain, learned in the simulation.
//! - [`random`]: random streams, one per purpose.
#![forbid(unsafe_code)]

pub mod capacity;
pub mod cell;
pub mod channel;
pub mod closed_loop;
pub mod experiment;
pub mod frames;
pub mod link;
pub mod linkmodel;
pub mod live;
pub mod mac;
pub mod measure;
pub mod node;
pub mod objectives;
pub mod pdcp;
pub mod plot;
pub mod radio;
pub mod random;
pub mod recorded;
pub mod results;
pub mod rlc;
pub mod runs;
pub mod scenario;
pub mod senders;
pub mod simulation;
pub mod tcp;
pub mod testbed;
#[cfg(feature = "training")]
pub mod training;
