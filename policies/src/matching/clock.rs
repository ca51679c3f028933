//! Time stamps of other clocks on our own.

use std::time::Duration;

/// Maps a sender's time stamps to the receiver's clock.
///
/// The offset is the smallest difference between receipt and time stamp, so that messages that were held up do not
/// disturb it. It may grow slowly, as clocks drift, and starts anew when the sender's clock was set.
#[derive(Clone, Debug, Default)]
pub struct ClockMap {
    /// Offset in µs, and when it was observed.
    offset: Option<(f64, Duration)>,
    /// Receipts in a row that were far later than the offset says.
    late: u32,
}

/// Two clocks drift apart by at most this part of the time.
const DRIFT: f64 = 1e-4;
/// A clock was set if so many messages in a row seem later than this, µs.
const STEP_US: f64 = 500_000.0;
const STEP_MESSAGES: u32 = 20;

impl ClockMap {
    /// The time on our clock of `stamp_us` (Unix µs of the sender), received at `now`.
    pub fn map(&mut self, stamp_us: i64, now: Duration) -> Duration {
        let difference = now.as_secs_f64() * 1e6 - stamp_us as f64;
        let offset = match self.offset {
            None => difference,
            Some((offset, seen)) => {
                let drifted = offset + now.saturating_sub(seen).as_secs_f64() * DRIFT * 1e6;
                self.late = if difference > drifted + STEP_US {
                    self.late + 1
                } else {
                    0
                };
                if self.late >= STEP_MESSAGES {
                    self.late = 0;
                    difference
                } else {
                    drifted.min(difference)
                }
            }
        };
        self.offset = Some((offset, now));
        let micros = (stamp_us as f64 + offset).clamp(0.0, now.as_secs_f64() * 1e6);
        Duration::from_secs_f64(micros * 1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIX: i64 = 1_796_061_887_000_000;

    #[test]
    fn messages_that_were_held_up_keep_their_time() {
        let mut map = ClockMap::default();
        let ms = Duration::from_millis;
        map.map(UNIX, ms(1000));
        let held_up = map.map(UNIX + 50_000, ms(1250));
        assert!(held_up.abs_diff(ms(1050)) < ms(1), "{held_up:?}");
    }

    #[test]
    fn a_clock_that_was_set_is_followed() {
        let mut map = ClockMap::default();
        let ms = Duration::from_millis;
        map.map(UNIX, ms(1000));
        let mut mapped = Duration::ZERO;
        for k in 1..=u64::from(STEP_MESSAGES) {
            let stamp = UNIX - 3_600_000_000 + 50_000 * k as i64;
            mapped = map.map(stamp, ms(1000 + 50 * k));
        }
        assert!(mapped.abs_diff(ms(1000 + 50 * u64::from(STEP_MESSAGES))) < ms(1));
        // In the other direction at once.
        assert_eq!(map.map(UNIX + 7_200_000_000, ms(2050)), ms(2050));
    }
}
