//! What the whole-system tests are built from: the project's binaries as processes, observers that record what
//! the edge servers and operators see, peers that mean harm, and a kernel with SCTP.
//!
//! Tests wait for events, never for time to pass. The one limit is [`PATIENCE`], and it ends only tests that hang.
#![forbid(unsafe_code)]

pub mod decisions;
pub mod edge_server;
pub mod hostile;
pub mod kernel;
pub mod lag;
pub mod ports;
pub mod process;
pub mod record;
pub mod redis;
pub mod site;
pub mod stream;

use std::time::Duration;

/// Far longer than anything takes, on a slow and busy machine too.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The future's outcome.
///
/// # Panics
/// When it does not come within [`PATIENCE`]: `what` did not happen.
pub async fn within_patience<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain: {what}"))
}
