//! Choir (arXiv 2605.02510): the base station tells frame-based video how much it can carry and drains what waits.
//!
//! Bandwidth is predicted from what the scheduler gave ([`capacity`], eqs. 1 to 6); what will have piled up by the time the
//! guidance acts is predicted from the frames on their way ([`pattern`], eqs. 7 to 15); the sender turns guidance into an
//! encoder bitrate and a pacing rate ([`sender`], eqs. 16 and 17).
//!
//! The law comes in two forms. [`PerTti`] is the paper's, in the base station. [`Choir`] is a [`crate::Controller`] that runs
//! on E2 reports every 1 to 10 ms. No figure of the paper is claimed for the second.
//!
//! What the paper leaves open is a [`Parameters`] field that says so.

pub mod capacity;
mod error;
mod frames;
mod parameters;
pub mod pattern;
mod per_report;
mod per_tti;
pub mod sender;

pub use parameters::{DownlinkTtis, InFlight, Parameters, Path};
pub use pattern::Guidance;
pub(crate) use per_report::NEEDS;
pub use per_report::{Choir, ChoirFlow, LONGEST_REPORT_PERIOD};
pub use per_tti::{PerTti, Tti};
