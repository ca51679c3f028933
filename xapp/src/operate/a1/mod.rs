//! A1-P for the non-RT RIC (O-RAN.WG2.A1AP v2): policy types and instances, their status, and notifications of it.
//!
//! [`instances`] holds the policies, [`service`] speaks HTTP, [`notify`] watches their status and tells who asked for it,
//! [`problem`] says what is wrong (RFC 9457).

pub mod instances;
mod notify;
mod problem;
mod service;

pub use instances::{EnforceReason, EnforceStatus, Instances, PolicyStatus};
pub use notify::watch;
pub use service::router;
