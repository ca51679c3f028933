//! What the link counts, for metrics.

use std::sync::atomic::AtomicU64;

/// Totals over all associations since the start.
#[derive(Debug, Default)]
pub struct Counters {
    /// Associations accepted.
    pub associations: AtomicU64,
    /// Associations closed at once because there were too many.
    pub associations_refused: AtomicU64,
    /// Associations that had not set up and were closed for another one.
    pub associations_displaced: AtomicU64,
    /// PDUs received.
    pub pdus_received: AtomicU64,
    /// PDUs sent.
    pub pdus_sent: AtomicU64,
    /// PDUs that could not be decoded.
    pub pdus_undecodable: AtomicU64,
    /// PDUs that were decoded and refused: unknown IEs to be rejected, procedures out of place.
    pub pdus_rejected: AtomicU64,
    /// IEs, extension additions and values stepped over in PDUs that were used.
    pub items_skipped: AtomicU64,
    /// ErrorIndications received.
    pub error_indications: AtomicU64,
    /// Indications handed on.
    pub indications: AtomicU64,
    /// Indications of requests that are not ours (any more).
    pub indications_foreign: AtomicU64,
    /// Indications dropped because the reader was slow.
    pub indications_dropped: AtomicU64,
    /// Requests that were not answered in time.
    pub requests_timed_out: AtomicU64,
    /// Subscriptions that a node refused or ended.
    pub subscriptions_refused: AtomicU64,
}
