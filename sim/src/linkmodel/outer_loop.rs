//! Link adaptation of a deployed gNB: OpenAirInterface's loop that steers the MCS by the measured block error rate.
//!
//! As measured of OAI 2024.w12: every 10 frames the ratio of first retransmissions to first transmissions enters an
//! average (0.9 old + 0.1 new), and the MCS moves by one step: up while the average is below the lower bound and more than
//! three blocks were sent, down above the upper bound, and down towards the start value while (nearly) nothing is sent.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Parameters of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OuterLoopConfig {
    /// MCS at start, and the one idle UEs fall back to.
    pub start: u8,
    /// Lowest MCS.
    pub floor: u8,
    /// Highest MCS.
    pub ceiling: u8,
    /// Below this error rate the MCS rises.
    pub lower: f64,
    /// Above this error rate the MCS falls.
    pub upper: f64,
    /// Time between updates, ms.
    pub period_ms: u64,
    /// Weight of the newest ratio in the average.
    pub weight: f64,
    /// First transmissions per update up to which a UE counts as idle.
    pub idle: u64,
}

impl Default for OuterLoopConfig {
    /// OAI's defaults (`dl_bler_target_lower` 0.05, `dl_bler_target_upper` 0.15) and the measured floor.
    fn default() -> Self {
        Self {
            start: 9,
            floor: 6,
            ceiling: 28,
            lower: 0.05,
            upper: 0.15,
            period_ms: 100,
            weight: 0.1,
            idle: 3,
        }
    }
}

/// The loop of one UE.
#[derive(Clone, Copy, Debug)]
pub struct OuterLoop {
    config: OuterLoopConfig,
    mcs: u8,
    error_rate: f64,
    next: Duration,
    seen: [u64; 2],
}

impl OuterLoop {
    /// A loop at its start value.
    pub fn new(config: OuterLoopConfig) -> Self {
        Self {
            mcs: config.start,
            error_rate: f64::midpoint(config.lower, config.upper),
            next: Duration::from_millis(config.period_ms),
            seen: [0; 2],
            config,
        }
    }

    /// The MCS for new data.
    pub fn mcs(&self) -> u8 {
        self.mcs
    }

    /// Averaged ratio of first retransmissions to first transmissions.
    pub fn error_rate(&self) -> f64 {
        self.error_rate
    }

    /// Time has passed; `first` and `second` are the cumulative counts of first transmissions and first retransmissions.
    pub fn update(&mut self, now: Duration, first: u64, second: u64) {
        if now < self.next {
            return;
        }
        self.next = now + Duration::from_millis(self.config.period_ms);
        let sent = first - self.seen[0];
        let again = second - self.seen[1];
        self.seen = [first, second];
        // An idle UE still gets a control block or two per update, which arrive.
        let ratio = again as f64 / sent.max(1) as f64;
        self.error_rate += self.config.weight * (ratio - self.error_rate);
        let OuterLoopConfig {
            start,
            floor,
            ceiling,
            lower,
            upper,
            idle,
            ..
        } = self.config;
        if sent <= idle {
            if self.mcs > start {
                self.mcs -= 1;
            }
        } else if self.error_rate < lower && self.mcs < ceiling {
            self.mcs += 1;
        } else if self.error_rate > upper && self.mcs > floor {
            self.mcs -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(oai: &mut OuterLoop, from_ms: u64, to_ms: u64, sent: u64, error: impl Fn(u8) -> f64) {
        let [mut first, mut second] = oai.seen.map(|count| count as f64);
        for ms in (from_ms..to_ms).step_by(10) {
            first += sent as f64 / 10.0;
            second += sent as f64 / 10.0 * error(oai.mcs());
            oai.update(Duration::from_millis(ms), first as u64, second as u64);
        }
    }

    #[test]
    fn climbs_in_two_to_three_seconds_and_falls_back_in_two_when_idle() {
        let mut oai = OuterLoop::new(OuterLoopConfig::default());
        run(&mut oai, 0, 3_000, 100, |_| 0.0);
        assert_eq!(oai.mcs(), 28);
        run(&mut oai, 3_000, 5_000, 1, |_| 0.0);
        assert_eq!(oai.mcs(), 9);
    }

    #[test]
    fn settles_where_the_error_rate_lies_between_its_bounds() {
        let mut oai = OuterLoop::new(OuterLoopConfig::default());
        let error = |mcs: u8| 0.1 * 2_f64.powi(i32::from(mcs) - 19).min(10.0);
        run(&mut oai, 0, 20_000, 100, error);
        assert!((17..=20).contains(&oai.mcs()), "{}", oai.mcs());
        assert!(
            (0.03..0.17).contains(&oai.error_rate()),
            "{}",
            oai.error_rate()
        );
    }

    #[test]
    fn does_not_fall_below_its_floor() {
        let mut oai = OuterLoop::new(OuterLoopConfig::default());
        run(&mut oai, 0, 10_000, 100, |_| 0.9);
        assert_eq!(oai.mcs(), 6);
    }
}
