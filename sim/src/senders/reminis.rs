//! Reminis (arXiv 2309.07324): delay and its derivative, once per round-trip time, decide between exploring and retreating.
//!
//! The paper's formulas of SafeZone, proactive slowdown and catastrophe mitigation are not public in full; those here
//! have the properties it states: SafeZone(y) = max(0, (y − DTT)/DTT); the slowdown multiplies the window by
//! 2^−SafeZone(delay expected in the next interval), the mitigation by ½ · 2^−SafeZone(delay).

use super::{Ack, CongestionControl};
use crate::random::normal;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Initial window, segments (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;
/// Smallest window, segments.
const LEAST_WINDOW: f64 = 2.0;
/// Bound of |µ|: the sigmoid has long reached 0 or 1 there.
const MEAN_BOUND: f64 = 8.0;
/// DTT by default, as a multiple of the least round-trip time.
const DEFAULT_TOLERANCE: f64 = 1.5;

/// Parameters; the switches are for ablations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReminisConfig {
    /// Delay tolerance threshold DTT in ms; by default 1.5 × the least round-trip time seen.
    pub tolerance_ms: Option<f64>,
    /// Additive increase per acknowledgement, halving on loss.
    pub aimd: bool,
    /// Proactive slowdown (zone 2).
    pub slowdown: bool,
    /// Catastrophe mitigation (zone 3).
    pub mitigation: bool,
}

impl Default for ReminisConfig {
    fn default() -> Self {
        Self {
            tolerance_ms: None,
            aimd: true,
            slowdown: true,
            mitigation: true,
        }
    }
}

/// The controller. The window is in segments.
#[derive(Clone, Debug)]
pub struct Reminis {
    config: ReminisConfig,
    segment: f64,
    window: f64,
    least_rtt: Option<Duration>,
    /// Start of the steady interval (SI), and the samples in it.
    interval_start: Duration,
    rtt_sum: Duration,
    rtt_count: u32,
    /// Mean delay of the last interval and when it was taken.
    last: Option<(Duration, f64)>,
    /// µ of the exploration.
    mean: f64,
    skip: bool,
    random: Xoshiro256PlusPlus,
}

impl Reminis {
    /// A controller at its initial window.
    pub fn new(segment: u32, config: ReminisConfig, random: Xoshiro256PlusPlus) -> Self {
        Self {
            config,
            segment: f64::from(segment),
            window: INITIAL_WINDOW,
            least_rtt: None,
            interval_start: Duration::ZERO,
            rtt_sum: Duration::ZERO,
            rtt_count: 0,
            last: None,
            mean: 0.0,
            skip: false,
            random,
        }
    }

    /// DTT in seconds.
    fn tolerance(&self, least: Duration) -> f64 {
        match self.config.tolerance_ms {
            Some(ms) => ms / 1e3,
            None => DEFAULT_TOLERANCE * least.as_secs_f64(),
        }
    }

    /// One steady interval ends: the Guardian acts (algorithm 1).
    fn end_interval(&mut self, now: Duration, least: Duration) {
        let delay = self.rtt_sum.as_secs_f64() / f64::from(self.rtt_count);
        self.rtt_sum = Duration::ZERO;
        self.rtt_count = 0;
        self.interval_start = now;
        let slope = match self.last.replace((now, delay)) {
            Some((at, before)) if now > at => (delay - before) / (now - at).as_secs_f64(),
            _ => 0.0,
        };
        if std::mem::take(&mut self.skip) {
            return;
        }
        self.mean = (self.mean - slope).clamp(-MEAN_BOUND, MEAN_BOUND);
        let tolerance = self.tolerance(least);
        let excess = |delay: f64| ((delay - tolerance) / tolerance).max(0.0);
        if delay > tolerance {
            if self.config.mitigation {
                self.window *= 0.5 * (-excess(delay)).exp2();
                // The next interval's samples left before the cut.
                self.skip = true;
            }
        } else if slope > 0.0 {
            if self.config.slowdown {
                let expected = delay + slope * least.as_secs_f64();
                self.window *= (-excess(expected)).exp2();
            }
        } else {
            let x = normal(&mut self.random, self.mean, (self.mean.abs() / 4.0).sqrt());
            let sigmoid = 1.0 / (1.0 + (-x).exp());
            self.window *= sigmoid.exp2();
        }
        self.window = self.window.max(LEAST_WINDOW);
    }
}

impl CongestionControl for Reminis {
    fn name(&self) -> &'static str {
        "reminis"
    }

    fn on_congestion(&mut self, _now: Duration, _in_flight: u64) {
        if self.config.aimd {
            self.window = (self.window / 2.0).max(LEAST_WINDOW);
        }
    }

    fn on_timeout(&mut self, _now: Duration) {
        self.window = LEAST_WINDOW;
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.rtt_sum += rtt;
            self.rtt_count += 1;
        }
        if self.config.aimd && ack.window_limited && !ack.in_recovery {
            self.window += ack.acked as f64 / self.segment / self.window;
        }
        if let Some(least) = self.least_rtt
            && self.rtt_count > 0
            && ack.now >= self.interval_start + least
        {
            self.end_interval(ack.now, least);
        }
    }

    fn window(&self) -> u64 {
        (self.window * self.segment) as u64
    }
}
