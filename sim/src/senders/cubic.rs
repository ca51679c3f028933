//! CUBIC (RFC 9438), with HyStart++ (RFC 9406) in slow start.

use super::hystart::{HyStart, Verdict};
use super::{Ack, CongestionControl};
use std::time::Duration;

/// β: what remains of the window after a loss (section 4.6).
const BETA: f64 = 0.7;
/// C, segments/s³ (section 5.1).
const C: f64 = 0.4;
/// Initial window, segments (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;
/// Smallest window after a loss, segments.
const LEAST_WINDOW: f64 = 2.0;

/// The controller. Windows are in segments, as in the RFC.
#[derive(Clone, Debug)]
pub struct Cubic {
    segment: f64,
    window: f64,
    threshold: f64,
    /// W_max.
    before_loss: f64,
    /// cwnd_prior: the window at the last congestion event.
    prior: f64,
    /// K, seconds.
    inflection: f64,
    /// W_est of section 4.3.
    reno_window: f64,
    /// Start of the present congestion avoidance stage.
    epoch: Option<Duration>,
    hystart: Option<HyStart>,
}

impl Cubic {
    /// A controller at its initial window.
    pub fn new(segment: u32) -> Self {
        Self {
            segment: f64::from(segment),
            window: INITIAL_WINDOW,
            threshold: f64::INFINITY,
            before_loss: 0.0,
            prior: 0.0,
            inflection: 0.0,
            reno_window: 0.0,
            epoch: None,
            hystart: Some(HyStart::default()),
        }
    }

    /// The same with the slow start of RFC 5681, which ends with a loss only.
    pub fn without_hystart(segment: u32) -> Self {
        Self {
            hystart: None,
            ..Self::new(segment)
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    fn slow_start(&mut self, ack: &Ack) {
        let sent_delivered = ack.sample.map_or(0, |s| s.newest.delivered);
        let segment = self.segment as u64;
        let verdict = match &mut self.hystart {
            None => Verdict::Grow(ack.acked),
            Some(h) => h.on_ack(ack.acked, segment, ack.rtt, ack.delivered, sent_delivered),
        };
        match verdict {
            Verdict::Grow(octets) => {
                self.window = (self.window + octets as f64 / self.segment).min(self.threshold);
            }
            Verdict::Exit => self.threshold = self.window,
        }
    }

    fn avoid_congestion(&mut self, ack: &Ack) {
        let acked = ack.acked as f64 / self.segment;
        let epoch = *self.epoch.get_or_insert_with(|| {
            // Section 4.2: without a loss (slow start ended by delay) the plateau is where we are.
            self.before_loss = self.before_loss.max(self.window);
            self.inflection = ((self.before_loss - self.window) / C).cbrt();
            self.reno_window = self.window;
            ack.now
        });
        // Section 4.3, figures 3 and 4.
        let alpha = if self.reno_window >= self.prior {
            1.0
        } else {
            3.0 * (1.0 - BETA) / (1.0 + BETA)
        };
        self.reno_window += alpha * acked / self.window;
        // Section 4.2, figure 1, one round-trip time ahead.
        let elapsed = (ack.now - epoch).as_secs_f64();
        let cubic = |t: f64| C * (t - self.inflection).powi(3) + self.before_loss;
        if cubic(elapsed) < self.reno_window {
            self.window = self.window.max(self.reno_window);
        } else {
            let ahead = cubic(elapsed + ack.smoothed_rtt.as_secs_f64());
            let target = ahead.clamp(self.window, 1.5 * self.window);
            self.window += (target - self.window) / self.window * acked;
        }
    }

    /// Sections 4.6 and 4.7: the new W_max and threshold after a congestion event.
    fn reduce(&mut self) {
        self.before_loss = if self.window < self.before_loss {
            // Fast convergence: give way to newer flows.
            self.window * (1.0 + BETA) / 2.0
        } else {
            self.window
        };
        self.prior = self.window;
        self.threshold = (self.window * BETA).max(LEAST_WINDOW);
        self.epoch = None;
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn on_congestion(&mut self, _now: Duration, _in_flight: u64) {
        self.reduce();
        self.window = self.threshold;
    }

    fn on_timeout(&mut self, _now: Duration) {
        self.reduce();
        self.window = 1.0;
        self.hystart = self.hystart.map(|_| HyStart::default());
    }

    fn on_ack(&mut self, ack: &Ack) {
        // A window that is not used proves nothing (section 5.8); in recovery it stays (RFC 6675).
        if ack.acked == 0 || ack.in_recovery && !self.in_slow_start() {
            return;
        }
        if !ack.window_limited {
            return;
        }
        if self.in_slow_start() {
            self.slow_start(ack);
        } else {
            self.avoid_congestion(ack);
        }
    }

    fn window(&self) -> u64 {
        (self.window * self.segment) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now: Duration, acked: u64) -> Ack {
        Ack {
            now,
            acked,
            lost: 0,
            rtt: Some(Duration::from_millis(100)),
            smoothed_rtt: Duration::from_millis(100),
            prior_in_flight: 0,
            in_flight: 0,
            delivered: 0,
            sample: None,
            in_recovery: false,
            recovered: false,
            window_limited: true,
        }
    }

    #[test]
    fn after_a_loss_the_window_returns_to_its_plateau_in_k_seconds() {
        let mut cubic = Cubic::new(1000);
        cubic.window = 1000.0;
        cubic.on_congestion(Duration::ZERO, 1_000_000);
        assert_eq!(cubic.window(), 700_000);
        // K = cbrt(W_max · (1 − β) / C) = 9.09 s.
        let mut at_plateau = None;
        for ms in (0..20_000).step_by(100) {
            let now = Duration::from_millis(ms);
            cubic.on_ack(&ack(now, cubic.window()));
            if cubic.window >= 995.0 {
                at_plateau.get_or_insert(ms);
            }
        }
        let reached = at_plateau.expect("never reached");
        assert!((6_500..9_500).contains(&reached), "{reached} ms");
        assert!(cubic.window > 1000.0, "and then goes beyond it");
    }

    #[test]
    fn a_second_loss_below_the_plateau_lowers_it_further() {
        let mut cubic = Cubic::new(1000);
        cubic.window = 1000.0;
        cubic.on_congestion(Duration::ZERO, 0);
        cubic.on_congestion(Duration::from_secs(1), 0);
        assert!((cubic.before_loss - 700.0 * 0.85).abs() < 1e-9);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut cubic = Cubic::new(1000);
        let before = cubic.window();
        cubic.on_ack(&Ack {
            window_limited: false,
            ..ack(Duration::from_secs(1), 1000)
        });
        assert_eq!(cubic.window(), before);
    }
}
