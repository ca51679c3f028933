//! How long to wait before the next attempt to connect.

use rand::Rng;
use std::time::Duration;

/// Exponential backoff with jitter: attempt k waits between half and all of min(base · 2ᵏ, max), so that many
/// edges that lost the same xApp do not come back at the same moment.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    base: Duration,
    max: Duration,
    attempt: u32,
}

impl Backoff {
    pub(super) fn new(base: Duration, max: Duration) -> Self {
        Self {
            base,
            max,
            attempt: 0,
        }
    }

    pub(super) fn next(&mut self, rng: &mut impl Rng) -> Duration {
        let factor = 2u32.saturating_pow(self.attempt);
        self.attempt = self.attempt.saturating_add(1);
        let full = self.base.saturating_mul(factor).min(self.max);
        full.mul_f64(rng.random_range(0.5..=1.0))
    }

    /// No attempt has failed since the last connection that held.
    pub(super) fn is_first(&self) -> bool {
        self.attempt == 0
    }

    /// The connection held: the next loss begins at the base again.
    pub(super) fn reset(&mut self) {
        self.attempt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::SmallRng};

    #[test]
    fn doubles_up_to_the_maximum_with_jitter_and_starts_over() {
        let ms = Duration::from_millis;
        let mut rng = SmallRng::seed_from_u64(1);
        let mut backoff = Backoff::new(ms(100), ms(1_000));
        for full in [100, 200, 400, 800, 1_000, 1_000] {
            let wait = backoff.next(&mut rng);
            assert!(
                (ms(full / 2)..=ms(full)).contains(&wait),
                "{wait:?} of {full}"
            );
        }
        for _ in 0..100 {
            assert!(backoff.next(&mut rng) <= ms(1_000));
        }
        backoff.reset();
        assert!(backoff.next(&mut rng) <= ms(100));
    }
}
