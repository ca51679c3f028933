//! Smoothed round-trip time and retransmission timeout (RFC 6298).

use std::time::Duration;

/// Timeout before the first sample, and floor of the timeout (RFC 6298 section 2, rules 2.1 and 2.4).
const INITIAL: Duration = Duration::from_secs(1);
/// Ceiling of the timeout (rule 2.5).
const CEILING: Duration = Duration::from_secs(60);

/// The estimator.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    smoothed: Option<Duration>,
    variation: Duration,
    least: Option<Duration>,
    floor: Duration,
    backoff: u32,
}

impl RttEstimator {
    /// An estimator without samples; the timeout is never below `floor`.
    pub fn new(floor: Duration) -> Self {
        Self {
            smoothed: None,
            variation: Duration::ZERO,
            least: None,
            floor,
            backoff: 0,
        }
    }

    /// A sample from a segment that was sent once only (Karn's algorithm).
    pub fn sample(&mut self, rtt: Duration) {
        self.backoff = 0;
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.smoothed = Some(match self.smoothed {
            None => {
                self.variation = rtt / 2;
                rtt
            }
            Some(smoothed) => {
                let deviation = smoothed.abs_diff(rtt);
                self.variation = (self.variation * 3 + deviation) / 4;
                (smoothed * 7 + rtt) / 8
            }
        });
    }

    /// Smoothed round-trip time.
    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The least sample so far.
    pub fn least(&self) -> Option<Duration> {
        self.least
    }

    /// The timer has expired: the next timeout is twice as long (rule 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(6);
    }

    /// Retransmission timeout.
    pub fn timeout(&self) -> Duration {
        let base = match self.smoothed {
            None => INITIAL,
            Some(smoothed) => (smoothed + self.variation * 4).max(self.floor),
        };
        (base * (1 << self.backoff)).min(CEILING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_follows_the_rules() {
        let ms = Duration::from_millis;
        let mut rtt = RttEstimator::new(ms(200));
        assert_eq!(rtt.timeout(), ms(1000));
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(300));
        rtt.sample(ms(100));
        assert_eq!(rtt.smoothed(), Some(ms(100)));
        for _ in 0..30 {
            rtt.sample(ms(100));
        }
        assert_eq!(rtt.timeout(), ms(200), "the floor");
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(), ms(800));
        rtt.sample(ms(90));
        assert_eq!(rtt.least(), Some(ms(90)));
        assert!(rtt.timeout() < ms(210));
    }
}
