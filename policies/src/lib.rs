//! What decides: UE reports, histories, gain policies (RAPID, peak RAPID, PRISM, Choir) and their models, slice policies.
//!
//! No I/O and no clock here: reports and the time are arguments. (The files of a model are read in [`model::Folder`].)
#![forbid(unsafe_code)]

pub mod a1;
pub mod activity;
pub mod batch;
pub mod choir;
pub mod controller;
pub mod decision_log;
pub mod error;
pub mod experiment;
pub mod gain;
pub mod guard;
pub mod history;
pub mod matching;
pub mod model;
pub mod prism;
pub mod rapid;
pub mod report;
pub mod slice;
pub mod windows;

pub use activity::ActiveUes;
pub use batch::{Batch, Row};
pub use choir::Choir;
pub use controller::{Controller, Decision, Interval, Measurement, Note, RateBounds, Target};
pub use error::Error;
pub use gain::{GainParameters, GainPolicy, Lack, Selection};
pub use guard::{Guard, GuardRails, Guarded};
pub use history::History;
pub use prism::Prism;
pub use rapid::{PrbStatistic, Rapid};
pub use report::{SNssai, UeId, UeReport};
