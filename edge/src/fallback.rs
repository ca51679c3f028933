//! Who rules a flow while there is no valid guidance.

use crate::report::FlowMeasurement;
use std::time::Duration;

/// A controller that needs no guidance. Pure: time and measurements are arguments; times are on the caller's
/// monotonic clock.
///
/// It takes a flow over when guidance has been stale for as long again as it was valid, and gives it back
/// when guidance returns.
pub trait Fallback: Send {
    /// Name for logs, e.g. "safe-rate".
    fn name(&self) -> &'static str;

    /// Takes over at the rate that the flow has now, bit/s.
    fn start(&mut self, now: Duration, rate_bps: f64);

    /// What was measured of the flow. Told at all times, so that the controller knows the path when it is
    /// needed.
    fn measured(&mut self, now: Duration, measurement: &FlowMeasurement) {
        let _ = (now, measurement);
    }

    /// Send rate now, bit/s.
    fn rate_bps(&mut self, now: Duration) -> f64;

    /// When to ask for the rate again; `None` while it does not change by itself.
    fn next_change(&self, now: Duration) -> Option<Duration>;
}

/// The plain conservative fallback: the rate goes exponentially to one that is known to be safe.
///
/// r(t) = s + (r₀ − s)·2^(−t/h), and r = s when they differ by less than 1 %.
#[derive(Clone, Debug)]
pub struct SafeRate {
    safe_bps: f64,
    half_life: Duration,
    start: Duration,
    start_bps: f64,
}

impl SafeRate {
    /// Steps in which the rate is updated.
    const STEP: Duration = Duration::from_millis(20);

    /// `safe_bps`: rate that the path carries without queueing whatever happens; `half_life`: time in which
    /// the distance to it halves.
    pub fn new(safe_bps: f64, half_life: Duration) -> Self {
        Self {
            safe_bps,
            half_life,
            start: Duration::ZERO,
            start_bps: safe_bps,
        }
    }

    fn at(&self, now: Duration) -> f64 {
        let half_lives = now.saturating_sub(self.start).as_secs_f64()
            / self.half_life.max(Duration::from_nanos(1)).as_secs_f64();
        let rate = self.safe_bps + (self.start_bps - self.safe_bps) * (-half_lives).exp2();
        if (rate - self.safe_bps).abs() <= 0.01 * self.safe_bps {
            self.safe_bps
        } else {
            rate
        }
    }
}

impl Default for SafeRate {
    /// To 1 Mbit/s with a half-life of 250 ms.
    fn default() -> Self {
        Self::new(1e6, Duration::from_millis(250))
    }
}

impl Fallback for SafeRate {
    fn name(&self) -> &'static str {
        "safe-rate"
    }

    fn start(&mut self, now: Duration, rate_bps: f64) {
        self.start = now;
        self.start_bps = rate_bps;
    }

    fn rate_bps(&mut self, now: Duration) -> f64 {
        self.at(now)
    }

    fn next_change(&self, now: Duration) -> Option<Duration> {
        (self.at(now) != self.safe_bps).then_some(now + Self::STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_its_distance_to_the_safe_rate_and_settles_there() {
        let mut fallback = SafeRate::new(2e6, Duration::from_millis(100));
        let start = Duration::from_secs(5);
        fallback.start(start, 10e6);
        assert_eq!(fallback.rate_bps(start), 10e6);
        let later = start + Duration::from_millis(200);
        assert!((fallback.rate_bps(later) - 4e6).abs() < 1.0);
        assert!(fallback.next_change(later).is_some());
        let end = start + Duration::from_secs(2);
        assert_eq!(fallback.rate_bps(end), 2e6);
        assert_eq!(fallback.next_change(end), None);
    }

    #[test]
    fn rises_to_the_safe_rate_from_below() {
        let mut fallback = SafeRate::new(2e6, Duration::from_millis(100));
        fallback.start(Duration::ZERO, 0.0);
        assert!((fallback.rate_bps(Duration::from_millis(100)) - 1e6).abs() < 1.0);
    }
}
