//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), the one in Linux. Names in comments are the draft's.

use super::filter::WindowedMax;
use super::{Ack, CongestionControl, bits};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// BBRHighGain, 2/ln 2: doubles the rate every round.
const HIGH_GAIN: f64 = 2.885;
/// Pacing gains of the phases of PROBE_BW.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// cwnd_gain outside STARTUP and DRAIN.
const WINDOW_GAIN: f64 = 2.0;
/// BtlBwFilterLen, rounds.
const BANDWIDTH_ROUNDS: u64 = 10;
/// RTpropFilterLen.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// ProbeRTTDuration.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// BBRMinPipeCwnd, segments.
const LEAST_SEGMENTS: u64 = 4;
/// Initial window, segments (RFC 6928).
const INITIAL_SEGMENTS: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    segment: u64,
    state: State,
    pacing_gain: f64,
    window_gain: f64,
    window: u64,
    prior_window: u64,
    /// Octets per second.
    pacing_rate: f64,

    bandwidth: WindowedMax,
    min_rtt: Option<Duration>,
    min_rtt_at: Duration,
    min_rtt_expired: bool,

    round: u64,
    round_start: bool,
    next_round_delivered: u64,

    full_bandwidth: f64,
    full_rounds: u32,
    filled_pipe: bool,

    cycle_at: Duration,
    cycle: usize,

    probe_rtt_done_at: Option<Duration>,
    probe_rtt_round_done: bool,

    /// packet_conservation: in the first round of recovery one segment goes out per segment that comes in.
    conserving: bool,
    recovery_begins: bool,
    idle_restart: bool,
    random: Xoshiro256PlusPlus,
}

impl Bbr1 {
    /// A controller at its start. The random numbers choose the phase in which PROBE_BW begins.
    pub fn new(segment: u32, random: Xoshiro256PlusPlus) -> Self {
        let segment = u64::from(segment);
        Self {
            segment,
            state: State::Startup,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            window: INITIAL_SEGMENTS * segment,
            prior_window: 0,
            // BBRInitPacingRate, with its 1 ms for the unknown round-trip time.
            pacing_rate: HIGH_GAIN * (INITIAL_SEGMENTS * segment) as f64 / 1e-3,
            bandwidth: WindowedMax::new(BANDWIDTH_ROUNDS),
            min_rtt: None,
            min_rtt_at: Duration::ZERO,
            min_rtt_expired: false,
            round: 0,
            round_start: false,
            next_round_delivered: 0,
            full_bandwidth: 0.0,
            full_rounds: 0,
            filled_pipe: false,
            cycle_at: Duration::ZERO,
            cycle: 0,
            probe_rtt_done_at: None,
            probe_rtt_round_done: false,
            conserving: false,
            recovery_begins: false,
            idle_restart: false,
            random,
        }
    }

    /// Bottleneck bandwidth estimate, octets per second.
    fn max_bandwidth(&self) -> f64 {
        self.bandwidth.max()
    }

    /// BBRInflight.
    fn inflight(&self, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt else {
            return INITIAL_SEGMENTS * self.segment;
        };
        let product = self.max_bandwidth() * min_rtt.as_secs_f64();
        (gain * product) as u64 + 3 * self.send_quantum()
    }

    /// BBRSetSendQuantum, octets.
    fn send_quantum(&self) -> u64 {
        let rate = bits(self.pacing_rate);
        if rate < 1.2e6 {
            self.segment
        } else if rate < 24e6 {
            2 * self.segment
        } else {
            ((self.pacing_rate * 1e-3) as u64).min(64_000)
        }
    }

    fn update_round(&mut self, ack: &Ack) {
        self.round_start = false;
        if let Some(sample) = &ack.sample
            && sample.newest.delivered >= self.next_round_delivered
        {
            self.next_round_delivered = ack.delivered;
            self.round += 1;
            self.round_start = true;
            self.conserving = false;
        }
        if std::mem::take(&mut self.recovery_begins) {
            self.next_round_delivered = ack.delivered;
            self.conserving = true;
            self.window = ack.in_flight + ack.acked.max(self.segment);
        }
    }

    /// BBRUpdateBtlBw.
    fn update_bandwidth(&mut self, ack: &Ack) {
        self.update_round(ack);
        if let Some(sample) = &ack.sample
            && let Some(rate) = sample.rate
            && (rate >= self.max_bandwidth() || !sample.newest.app_limited)
        {
            self.bandwidth.update(self.round, rate);
        }
    }

    /// BBRCheckCyclePhase.
    fn check_cycle(&mut self, ack: &Ack) {
        if self.state != State::ProbeBandwidth {
            return;
        }
        let full_length = ack.now - self.cycle_at > self.min_rtt.unwrap_or_default();
        let next = if self.pacing_gain > 1.0 {
            let filled = ack.prior_in_flight >= self.inflight(self.pacing_gain);
            full_length && (ack.lost > 0 || filled)
        } else if self.pacing_gain < 1.0 {
            full_length || ack.prior_in_flight <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.advance_cycle(ack.now);
        }
    }

    fn advance_cycle(&mut self, now: Duration) {
        self.cycle_at = now;
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.pacing_gain = CYCLE[self.cycle];
    }

    /// BBRCheckFullPipe.
    fn check_full_pipe(&mut self, ack: &Ack) {
        let app_limited = ack.sample.is_none_or(|s| s.newest.app_limited);
        if self.filled_pipe || !self.round_start || app_limited {
            return;
        }
        if self.max_bandwidth() >= self.full_bandwidth * 1.25 {
            self.full_bandwidth = self.max_bandwidth();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled_pipe = self.full_rounds >= 3;
    }

    /// BBRCheckDrain.
    fn check_drain(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / HIGH_GAIN;
            self.window_gain = HIGH_GAIN;
        }
        if self.state == State::Drain && ack.in_flight <= self.inflight(1.0) {
            self.enter_probe_bandwidth(ack.now);
        }
    }

    fn enter_probe_bandwidth(&mut self, now: Duration) {
        self.state = State::ProbeBandwidth;
        self.window_gain = WINDOW_GAIN;
        // Any phase but the draining one may come first.
        self.cycle = CYCLE.len() - 1 - self.random.random_range(0..7);
        self.advance_cycle(now);
    }

    fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = HIGH_GAIN;
        self.window_gain = HIGH_GAIN;
    }

    /// BBRUpdateRTprop.
    fn update_min_rtt(&mut self, ack: &Ack) {
        self.min_rtt_expired = ack.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt
            && (self.min_rtt.is_none_or(|least| rtt <= least) || self.min_rtt_expired)
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = ack.now;
        }
    }

    /// BBRCheckProbeRTT.
    fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.state != State::ProbeRtt && self.min_rtt_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.window_gain = 1.0;
            self.save_window(ack.in_recovery);
            self.probe_rtt_done_at = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, ack: &Ack) {
        match self.probe_rtt_done_at {
            None if ack.in_flight <= LEAST_SEGMENTS * self.segment => {
                self.probe_rtt_done_at = Some(ack.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = ack.delivered;
            }
            None => {}
            Some(done_at) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done && ack.now > done_at {
                    self.min_rtt_at = ack.now;
                    self.window = self.window.max(self.prior_window);
                    if self.filled_pipe {
                        self.enter_probe_bandwidth(ack.now);
                    } else {
                        self.enter_startup();
                    }
                }
            }
        }
    }

    fn save_window(&mut self, in_recovery: bool) {
        self.prior_window = if in_recovery || self.state == State::ProbeRtt && self.prior_window > 0
        {
            self.prior_window.max(self.window)
        } else {
            self.window
        };
    }

    /// BBRSetPacingRate.
    fn set_pacing_rate(&mut self, ack: &Ack) {
        let bandwidth = self.max_bandwidth();
        if bandwidth == 0.0 {
            if let Some(rtt) = ack.rtt {
                let window = (INITIAL_SEGMENTS * self.segment) as f64;
                self.pacing_rate = HIGH_GAIN * window / rtt.as_secs_f64().max(1e-3);
            }
            return;
        }
        let rate = self.pacing_gain * bandwidth;
        if self.filled_pipe || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// BBRSetCwnd.
    fn set_window(&mut self, ack: &Ack) {
        let target = self.inflight(self.window_gain);
        if ack.recovered {
            self.window = self.window.max(self.prior_window);
            self.conserving = false;
        }
        if ack.in_recovery && ack.lost > 0 {
            self.window = self.window.saturating_sub(ack.lost).max(self.segment);
        }
        if ack.in_recovery && self.conserving {
            self.window = self.window.max(ack.in_flight + ack.acked);
        } else {
            if self.filled_pipe {
                self.window = (self.window + ack.acked).min(target);
            } else if self.window < target || ack.delivered < INITIAL_SEGMENTS * self.segment {
                self.window += ack.acked;
            }
            self.window = self.window.max(LEAST_SEGMENTS * self.segment);
        }
        if self.state == State::ProbeRtt {
            self.window = self.window.min(LEAST_SEGMENTS * self.segment);
        }
    }
}

impl CongestionControl for Bbr1 {
    fn name(&self) -> &'static str {
        "bbr1"
    }

    fn on_restart_from_idle(&mut self, _now: Duration) {
        self.idle_restart = true;
        if self.state == State::ProbeBandwidth && self.max_bandwidth() > 0.0 {
            self.pacing_rate = self.max_bandwidth();
        }
    }

    fn on_congestion(&mut self, _now: Duration, _in_flight: u64) {
        self.save_window(false);
        self.recovery_begins = true;
    }

    fn on_timeout(&mut self, _now: Duration) {
        self.save_window(false);
        self.window = self.segment;
        self.conserving = false;
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.update_bandwidth(ack);
        self.check_cycle(ack);
        self.check_full_pipe(ack);
        self.check_drain(ack);
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack);
        self.set_pacing_rate(ack);
        self.set_window(ack);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_bps(&self) -> Option<f64> {
        Some(bits(self.pacing_rate))
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }
}
