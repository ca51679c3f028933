//! How late this process runs: what a busy machine adds to every time that a test measures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

const STEP: Duration = Duration::from_millis(10);

/// Measures as long as it lives. All tasks must share one thread (`#[tokio::test]`): then whatever makes one of
/// them late is seen here.
#[derive(Debug)]
pub struct Lag {
    worst_us: Arc<AtomicU64>,
    _task: AbortOnDropHandle<()>,
}

impl Lag {
    /// Begins to measure.
    pub fn start() -> Self {
        let worst_us = Arc::new(AtomicU64::new(0));
        let worst = worst_us.clone();
        let task = tokio::spawn(async move {
            loop {
                let due = Instant::now() + STEP;
                tokio::time::sleep_until(due).await;
                let late = due.elapsed().as_micros();
                worst.fetch_max(u64::try_from(late).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        });
        Self {
            worst_us,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// The longest delay of a timer so far.
    pub fn worst(&self) -> Duration {
        Duration::from_micros(self.worst_us.load(Ordering::Relaxed))
    }
}
