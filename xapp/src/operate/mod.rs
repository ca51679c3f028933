//! What operators see: the operations API, health, readiness, metrics.

pub mod a1;
pub mod experiment;
pub mod guard;
pub mod http;
pub mod log;
pub mod metrics;
pub mod operations;
pub mod policy;

use tokio::sync::watch;

/// Whether the process serves, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Not yet.
    Starting,
    /// Yes.
    Ready,
    /// No more.
    Stopping,
}

impl Readiness {
    /// Why not; `None`: ready.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Starting => Some("starting: the listeners are not up yet"),
            Self::Ready => None,
            Self::Stopping => Some("stopping"),
        }
    }
}

/// Sees the readiness change.
pub type ReadinessWatch = watch::Receiver<Readiness>;
