//! A 5G cell as a pure state machine, and the same cell as a live E2 node.
#![forbid(unsafe_code)]

pub mod plot;
