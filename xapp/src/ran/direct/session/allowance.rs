//! How much of something a peer may cause: a bucket that empties with time.

use std::time::Instant;

/// At most `burst` at once, and `per_second` in the long run.
#[derive(Debug)]
pub(super) struct Allowance {
    burst: f64,
    per_second: f64,
    used: f64,
    at: Instant,
}

impl Allowance {
    pub(super) fn new(burst: u32, per_second: u32, now: Instant) -> Self {
        Allowance {
            burst: f64::from(burst),
            per_second: f64::from(per_second),
            used: 0.0,
            at: now,
        }
    }

    /// Takes one; false when there is none left.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        self.used = (self.used - passed * self.per_second).max(0.0);
        let left = self.used + 1.0 <= self.burst;
        if left {
            self.used += 1.0;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let start = Instant::now();
        let mut allowance = Allowance::new(3, 2, start);
        assert_eq!((0..5).filter(|_| allowance.take(start)).count(), 3);
        let later = start + Duration::from_secs(1);
        assert_eq!((0..5).filter(|_| allowance.take(later)).count(), 2);
        assert!(!allowance.take(start), "time does not run backwards");
        let much_later = start + Duration::from_secs(1000);
        assert_eq!((0..5).filter(|_| allowance.take(much_later)).count(), 3);
    }
}
