//! Experiments: two or more ways to guide flows, side by side on a live network, and what can be said of them.
//!
//! [`spec`] is what an operator writes; [`assign`] gives each unit its arm; [`trial`] is a running experiment, which
//! collects one [`outcome::Observation`] per unit; [`guard`] stops an arm that does harm; [`statistics`] compares the
//! arms; [`report`] is the result. [`interference`] warns where arms can disturb each other.
//!
//! All guided flows of a cell share its PRBs: what one arm leaves, the other gets. So the *unit* matters. With UEs as
//! units, both arms run in one cell at the same time, and the difference between them is not the difference that the
//! operator would see after giving all flows to one arm. With cells, or time slots in turn (switchback; Bojinov,
//! Simchi-Levi, Zhao: Design and Analysis of Switchback Experiments, 2023), it is.

pub mod assign;
pub mod guard;
pub mod interference;
pub mod outcome;
pub mod report;
pub mod sampler;
pub mod spec;
pub mod statistics;
pub mod trial;

pub use assign::{Assigner, Period};
pub use guard::{GuardRails, Harm};
pub use outcome::{Better, Metric, Observation, Sample, Scale};
pub use report::{ArmReport, Comparison, Report, Verdict};
pub use sampler::Sampler;
pub use spec::{Arm, Constraint, Experiment, Unit};
pub use trial::{Choice, State, Trial};
