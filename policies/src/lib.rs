//! What decides: UE reports, histories, gain policies (RAPID, peak RAPID).
//!
//! No I/O and no clock here: reports and the time are arguments.
#![forbid(unsafe_code)]

pub mod controller;
pub mod report;
