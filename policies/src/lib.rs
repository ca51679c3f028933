//! What decides: UE reports, histories, gain policies (RAPID, peak RAPID), slice policies.
//!
//! No I/O and no clock here: reports and the time are arguments.
#![forbid(unsafe_code)]

pub mod activity;
pub mod controller;
pub mod decision_log;
pub mod error;
pub mod gain;
pub mod history;
pub mod matching;
pub mod rapid;
pub mod report;
pub mod slice;

pub use activity::ActiveUes;
pub use controller::{Controller, Decision, Interval, Measurement, Note, RateBounds, Target};
pub use error::Error;
pub use gain::{GainParameters, GainPolicy, Selection};
pub use history::History;
pub use rapid::{PrbStatistic, Rapid};
pub use report::{SNssai, UeId, UeReport};
