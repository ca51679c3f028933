//! The token bucket: pure arithmetic that is told the time.

use std::time::Duration;

/// Largest burst that a pacer lets through after it was late or idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// In time at the current rate. It has to cover the lateness of the timer, else rate is lost.
    pub time: Duration,
    /// At least so many octets, so that slow flows can send a packet at all.
    pub min_bytes: u64,
}

impl Default for Burst {
    /// 10 ms, at least two full-size packets.
    fn default() -> Self {
        Self {
            time: Duration::from_millis(10),
            min_bytes: 3_000,
        }
    }
}

/// A token bucket: what may be sent grows with the rate, up to the burst.
///
/// At every moment: granted = earned − forfeited − available.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate_bps: f64,
    burst: Burst,
    available: f64,
    updated: Duration,
    earned: f64,
    forfeited: f64,
    granted: u64,
}

impl TokenBucket {
    /// An empty bucket. `now` is on the caller's monotonic clock, as in all calls.
    pub fn new(rate_bps: f64, burst: Burst, now: Duration) -> Self {
        Self {
            rate_bps: valid_rate(rate_bps),
            burst,
            available: 0.0,
            updated: now,
            earned: 0.0,
            forfeited: 0.0,
            granted: 0,
        }
    }

    /// Changes the rate from `now` on, bit/s. What was earned at the old rate stays, up to the new burst.
    pub fn set_rate(&mut self, rate_bps: f64, now: Duration) {
        self.advance(now);
        self.rate_bps = valid_rate(rate_bps);
        self.advance(now);
    }

    /// The rate, bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// Takes `bytes` out, if they are there.
    pub fn take(&mut self, bytes: u64, now: Duration) -> bool {
        self.advance(now);
        // A packet that is larger than the burst goes when the bucket is full, and leaves a debt.
        if self.available < (bytes as f64).min(self.depth()) {
            return false;
        }
        self.available -= bytes as f64;
        self.granted += bytes;
        true
    }

    /// When `bytes` will be there, seen from the last call; `None`: never at this rate.
    pub fn ready_at(&self, bytes: u64) -> Option<Duration> {
        let missing = (bytes as f64).min(self.depth()) - self.available;
        if missing <= 0.0 {
            return Some(self.updated);
        }
        let seconds = missing * 8.0 / self.rate_bps;
        // Rounded up, so that the bytes are really there at that time.
        Duration::try_from_secs_f64(seconds)
            .ok()
            .map(|wait| self.updated + wait + Duration::from_nanos(1))
    }

    /// Octets granted so far.
    pub fn granted_bytes(&self) -> u64 {
        self.granted
    }

    /// Octets that the rate would have allowed and nobody took in time, because the caller was late or had
    /// nothing to send.
    pub fn forfeited_bytes(&self) -> f64 {
        self.forfeited
    }

    /// Octets that the rate has allowed so far.
    pub fn earned_bytes(&self) -> f64 {
        self.earned
    }

    fn depth(&self) -> f64 {
        let by_time = self.rate_bps / 8.0 * self.burst.time.as_secs_f64();
        by_time.max(self.burst.min_bytes as f64)
    }

    /// Earns what the time since the last call is worth.
    pub fn advance(&mut self, now: Duration) {
        let elapsed = now.saturating_sub(self.updated);
        self.updated = self.updated.max(now);
        let new = self.rate_bps / 8.0 * elapsed.as_secs_f64();
        self.earned += new;
        let full = self.available + new;
        self.available = full.min(self.depth());
        self.forfeited += full - self.available;
    }
}

fn valid_rate(rate_bps: f64) -> f64 {
    if rate_bps.is_finite() {
        rate_bps.max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PACKET: u64 = 1_250;

    fn us(v: u64) -> Duration {
        Duration::from_micros(v)
    }

    /// Sends as a loop would that wakes at the bucket's word rounded up to whole milliseconds, and `late`
    /// after that. Octets sent in `run`, and the largest burst.
    fn drive(
        bucket: &mut TokenBucket,
        run: Duration,
        late: impl Fn(u64) -> Duration,
    ) -> (u64, u64) {
        let (mut now, mut sent, mut largest, mut wakes) = (Duration::ZERO, 0, 0, 0);
        while now < run {
            let mut burst = 0;
            while bucket.take(PACKET, now) {
                burst += PACKET;
            }
            sent += burst;
            largest = largest.max(burst);
            let ready = bucket.ready_at(PACKET).expect("the rate is not zero");
            wakes += 1;
            now = us((ready.as_micros() as u64).div_ceil(1_000) * 1_000) + late(wakes);
        }
        (sent, largest)
    }

    #[test]
    fn one_second_at_any_rate_is_within_one_percent_with_a_millisecond_timer() {
        for mbps in [1.0, 3.7, 10.0, 40.0, 123.4, 250.0, 500.0] {
            let mut bucket = TokenBucket::new(mbps * 1e6, Burst::default(), Duration::ZERO);
            // Every third wake is late by 4 ms.
            let late = |wake: u64| {
                if wake.is_multiple_of(3) {
                    us(4_000)
                } else {
                    us(80)
                }
            };
            let (sent, largest) = drive(&mut bucket, Duration::from_secs(1), late);
            let error = sent as f64 * 8.0 / (mbps * 1e6) - 1.0;
            // Packets that are not yet due, or due while the last wake is late, are no error.
            let packet = PACKET as f64 * 8.0 / (mbps * 1e6);
            assert!(
                (-0.006 - packet..0.001).contains(&error),
                "{mbps} Mbit/s: off by {error}"
            );
            let depth = (mbps * 1e6 / 8.0 * 0.010).max(3_000.0);
            assert!(largest as f64 <= depth, "{mbps} Mbit/s: burst of {largest}");
        }
    }

    #[test]
    fn idle_time_is_worth_no_more_than_the_burst() {
        let mut bucket = TokenBucket::new(10e6, Burst::default(), Duration::ZERO);
        let now = Duration::from_secs(60);
        let mut sent = 0;
        while bucket.take(PACKET, now) {
            sent += PACKET;
        }
        assert_eq!(sent, 12_500);
        assert_eq!(bucket.forfeited_bytes(), 60.0 * 10e6 / 8.0 - 12_500.0);
    }

    #[test]
    fn a_new_rate_counts_from_its_moment_on() {
        let mut bucket = TokenBucket::new(1e6, Burst::default(), Duration::ZERO);
        bucket.set_rate(8e6, us(1_000)); // 125 octets earned
        assert!(!bucket.take(PACKET, us(2_124)));
        assert!(bucket.take(PACKET, us(2_125)));
    }

    #[test]
    fn at_rate_zero_nothing_is_ever_ready() {
        let mut bucket = TokenBucket::new(0.0, Burst::default(), Duration::ZERO);
        assert_eq!(bucket.ready_at(PACKET), None);
        assert!(!bucket.take(PACKET, Duration::from_secs(3_600)));
        bucket.set_rate(f64::NAN, Duration::from_secs(3_601));
        assert_eq!(bucket.rate_bps(), 0.0);
    }

    #[test]
    fn a_packet_larger_than_the_burst_goes_on_average_at_the_rate() {
        let burst = Burst {
            time: Duration::ZERO,
            min_bytes: 500,
        };
        let mut bucket = TokenBucket::new(8e6, burst, Duration::ZERO);
        let mut sent = 0;
        for now in 0..100_000 {
            sent += PACKET * u64::from(bucket.take(PACKET, us(now)));
        }
        assert!((98_000..=101_000).contains(&sent), "{sent}");
    }

    proptest! {
        /// Whatever the calls: nothing is granted that was not earned, and what is granted, lost and left
        /// adds up to what was earned.
        #[test]
        fn tokens_are_conserved(steps in prop::collection::vec((0u64..50_000, 1u64..3_000, 0.0f64..1e9), 1..200)) {
            let mut bucket = TokenBucket::new(5e6, Burst::default(), Duration::ZERO);
            let mut now = Duration::ZERO;
            for (wait, bytes, rate) in steps {
                now += us(wait);
                if wait % 7 == 0 {
                    bucket.set_rate(rate, now);
                }
                let ready = bucket.take(bytes, now);
                prop_assert!(!ready || bucket.available >= -1e-6);
                let sum = bucket.granted as f64 + bucket.forfeited + bucket.available;
                prop_assert!((sum - bucket.earned).abs() < 1e-3);
                prop_assert!(bucket.available <= bucket.depth());
                if let Some(at) = bucket.ready_at(bytes) {
                    let mut then = bucket.clone();
                    prop_assert!(then.take(bytes, at), "not ready when it said");
                }
            }
        }
    }
}
