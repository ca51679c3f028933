//! BBR version 3 (draft-ietf-ccwg-bbr). Names in comments are the draft's.
//!
//! Left out: ECN, undoing spurious losses (loss detection here has none worth undoing).

use super::bbr3_model::{BETA, Model};
use super::{Ack, CongestionControl, Loss, bits};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// StartupPacingGain, 4 ln 2.
const STARTUP_PACING_GAIN: f64 = 2.77;
/// DrainPacingGain.
const DRAIN_PACING_GAIN: f64 = 0.5;
/// DefaultCwndGain.
const WINDOW_GAIN: f64 = 2.0;
/// cwnd_gain of ProbeBW_UP.
const UP_WINDOW_GAIN: f64 = 2.25;
/// ProbeRTTCwndGain.
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// ProbeRTTDuration.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// PacingMarginPercent, as what is left.
const PACING_MARGIN: f64 = 0.99;
/// Initial window, segments (RFC 6928).
const INITIAL_SEGMENTS: u64 = 10;
/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;
/// Rounds after which a flow probes for bandwidth beside a loss-based one.
const RENO_ROUNDS: u64 = 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// ack_phase: what the acknowledgements now arriving tell about the last probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    model: Model,
    state: State,
    window: u64,
    prior_window: u64,
    /// Octets per second.
    pacing_rate: f64,

    drain_start_round: u64,
    ack_phase: AckPhase,
    cycle_at: Duration,
    probe_wait: Duration,
    rounds_since_probe: u64,
    /// bw_probe_up_rounds, bw_probe_up_acked, probe_up_acked_per_inc.
    up_rounds: u32,
    up_acked: u64,
    up_acked_per_increment: u64,
    previous_probe_too_high: bool,
    previous_probe_precautionary: bool,

    probe_rtt_done_at: Option<Duration>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    random: Xoshiro256PlusPlus,
}

impl Bbr3 {
    /// A controller at its start. The random numbers set the time between probes.
    pub fn new(segment: u32, random: Xoshiro256PlusPlus) -> Self {
        let initial = INITIAL_SEGMENTS * u64::from(segment);
        Self {
            model: Model::new(u64::from(segment)),
            state: State::Startup,
            window: initial,
            prior_window: 0,
            // InitPacingRate, with its 1 ms for the unknown round-trip time.
            pacing_rate: STARTUP_PACING_GAIN * initial as f64 / 1e-3,
            drain_start_round: 0,
            ack_phase: AckPhase::Init,
            cycle_at: Duration::ZERO,
            probe_wait: Duration::ZERO,
            rounds_since_probe: 0,
            up_rounds: 0,
            up_acked: 0,
            up_acked_per_increment: u64::MAX,
            previous_probe_too_high: false,
            previous_probe_precautionary: false,
            probe_rtt_done_at: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            random,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::Down => 0.9,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            State::Up => UP_WINDOW_GAIN,
            State::ProbeRtt => PROBE_RTT_WINDOW_GAIN,
            _ => WINDOW_GAIN,
        }
    }

    fn in_probe_bandwidth(&self) -> bool {
        matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// IsProbingBW.
    fn probes(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// SetSendQuantum, octets.
    fn send_quantum(&self) -> u64 {
        let quantum = (self.pacing_rate * 1e-3) as u64;
        quantum.min(64_000).max(2 * self.model.segment)
    }

    /// QuantizationBudget.
    fn budget(&self, cap: u64) -> u64 {
        let cap = cap
            .max(3 * self.send_quantum())
            .max(self.model.least_window());
        match self.state {
            State::Up => cap + 2 * self.model.segment,
            _ => cap,
        }
    }

    /// BDPMultiple.
    fn product(&self, gain: f64) -> u64 {
        match self.model.bandwidth_delay() {
            Some(product) => (gain * product) as u64,
            None => INITIAL_SEGMENTS * self.model.segment,
        }
    }

    /// Inflight.
    fn inflight(&self, gain: f64) -> u64 {
        self.budget(self.product(gain))
    }

    /// TargetInflight.
    fn target_inflight(&self) -> u64 {
        self.product(1.0).min(self.window)
    }

    // Startup and Drain.

    /// CheckStartupDone, with CheckStartupHighLoss.
    fn check_startup(&mut self, ack: &Ack) {
        if self.state != State::Startup {
            return;
        }
        if ack.in_recovery && self.model.too_many_losses_in_startup() {
            self.model.full_bandwidth_reached = true;
            let safe = self.product(1.0).max(self.model.inflight_latest());
            self.model.inflight_long_term = Some(safe);
        }
        if self.model.full_bandwidth_reached {
            self.state = State::Drain;
            self.drain_start_round = self.model.round;
        }
    }

    /// CheckDrainDone.
    fn check_drain(&mut self, ack: &Ack) {
        let long = self.model.round > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (ack.in_flight <= self.inflight(1.0) || long) {
            self.start_down(ack.now, ack.delivered);
        }
    }

    // The cycle of ProbeBW.

    fn start_down(&mut self, now: Duration, delivered: u64) {
        self.model.reset_congestion_signals();
        self.up_acked_per_increment = u64::MAX;
        // PickProbeWait.
        self.rounds_since_probe = self.random.random_range(0..=1);
        self.probe_wait = Duration::from_secs_f64(2.0 + self.random.random::<f64>());
        self.cycle_at = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.model.start_round(delivered);
        self.state = State::Down;
    }

    fn start_refill(&mut self, ack: &Ack) {
        self.model.reset_short_term();
        self.up_rounds = 0;
        self.up_acked = 0;
        self.previous_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.model.start_round(ack.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, ack: &Ack) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.model.start_round(ack.delivered);
        self.model.reset_full_bandwidth(ack.rate());
        self.state = State::Up;
        self.raise_slope();
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self) {
        let growth = 1_u64 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_acked_per_increment = (self.window / growth).max(self.model.segment);
    }

    /// UpdateProbeBWCyclePhase.
    fn update_cycle(&mut self, ack: &Ack) {
        if !self.model.full_bandwidth_reached || self.adapt_long_term(ack) {
            return;
        }
        let state = self.state;
        match state {
            State::Down => {
                if self.time_to_probe(ack.now) {
                    self.start_refill(ack);
                } else if self.time_to_cruise(ack) {
                    self.state = State::Cruise;
                }
            }
            State::Cruise if self.time_to_probe(ack.now) => self.start_refill(ack),
            State::Refill if self.model.round_start => {
                self.model.probe_sample = true;
                self.start_up(ack);
            }
            State::Up if self.time_to_go_down(ack) => {
                self.previous_probe_too_high = false;
                self.start_down(ack.now, ack.delivered);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    fn time_to_probe(&self, now: Duration) -> bool {
        let reno = (self.target_inflight() / self.model.segment).min(RENO_ROUNDS);
        now > self.cycle_at + self.probe_wait || self.rounds_since_probe >= reno
    }

    /// IsTimeToCruise.
    fn time_to_cruise(&self, ack: &Ack) -> bool {
        let room = self
            .model
            .with_headroom()
            .is_none_or(|cap| ack.in_flight <= cap);
        room && ack.in_flight <= self.inflight(1.0)
    }

    /// IsTimeToGoDown.
    fn time_to_go_down(&mut self, ack: &Ack) -> bool {
        let bound = self.model.inflight_long_term;
        if self.previous_probe_too_high && bound.is_some_and(|bound| ack.in_flight >= bound) {
            self.previous_probe_precautionary = true;
            return true;
        }
        if ack.window_limited && bound.is_some_and(|bound| self.window >= bound) {
            self.model.reset_full_bandwidth(ack.rate());
            return false;
        }
        self.model.full_bandwidth_now
    }

    /// AdaptLongTermModel: true if it has changed the state.
    fn adapt_long_term(&mut self, ack: &Ack) -> bool {
        if self.model.round_start && self.ack_phase == AckPhase::ProbeStarting {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.model.round_start && self.ack_phase == AckPhase::ProbeStopping {
            self.model.probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.in_probe_bandwidth() && !ack.app_limited() {
                self.model.advance_bandwidth_filter();
            }
            if self.in_probe_bandwidth()
                && self.previous_probe_precautionary
                && !self.previous_probe_too_high
            {
                self.start_refill(ack);
                return true;
            }
        }
        let Some(sample) = &ack.sample else {
            return false;
        };
        if Model::too_high(sample.lost, sample.newest.in_flight) {
            return false;
        }
        let Some(bound) = self.model.inflight_long_term else {
            return false;
        };
        self.model.inflight_long_term = Some(bound.max(sample.newest.in_flight));
        if self.state == State::Up {
            self.probe_upward(ack);
        }
        false
    }

    /// ProbeInflightLongtermUpward.
    fn probe_upward(&mut self, ack: &Ack) {
        let Some(bound) = self.model.inflight_long_term else {
            return;
        };
        if !ack.window_limited || self.window < bound {
            return;
        }
        self.up_acked += ack.acked;
        let increments = self.up_acked / self.up_acked_per_increment;
        self.up_acked -= increments * self.up_acked_per_increment;
        self.model.inflight_long_term = Some(bound + increments * self.model.segment);
        if self.model.round_start {
            self.raise_slope();
        }
    }

    // ProbeRTT.

    /// CheckProbeRTT.
    fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.state != State::ProbeRtt && self.model.probe_rtt_expired && !self.idle_restart {
            self.save_window(ack.in_recovery);
            self.state = State::ProbeRtt;
            self.probe_rtt_done_at = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.model.start_round(ack.delivered);
        }
        if self.state == State::ProbeRtt {
            match self.probe_rtt_done_at {
                None if ack.in_flight <= self.probe_rtt_window() => {
                    self.probe_rtt_done_at = Some(ack.now + PROBE_RTT_DURATION);
                    self.probe_rtt_round_done = false;
                    self.model.start_round(ack.delivered);
                }
                None => {}
                Some(done_at) => {
                    self.probe_rtt_round_done |= self.model.round_start;
                    if self.probe_rtt_round_done && ack.now > done_at {
                        self.leave_probe_rtt(ack);
                    }
                }
            }
        }
        self.idle_restart = false;
    }

    fn leave_probe_rtt(&mut self, ack: &Ack) {
        self.model.probe_rtt_scheduled(ack.now);
        self.window = self.window.max(self.prior_window);
        self.model.reset_short_term();
        if self.model.full_bandwidth_reached {
            self.start_down(ack.now, ack.delivered);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// ProbeRTTCwnd.
    fn probe_rtt_window(&self) -> u64 {
        self.product(PROBE_RTT_WINDOW_GAIN)
            .max(self.model.least_window())
    }

    // Control parameters.

    fn save_window(&mut self, in_recovery: bool) {
        self.prior_window = if in_recovery || self.state == State::ProbeRtt {
            self.prior_window.max(self.window)
        } else {
            self.window
        };
    }

    /// SetPacingRate.
    fn set_pacing_rate(&mut self, ack: &Ack) {
        let bandwidth = self.model.bandwidth();
        if bandwidth == 0.0 {
            if let Some(rtt) = ack.rtt {
                let initial = (INITIAL_SEGMENTS * self.model.segment) as f64;
                self.pacing_rate = STARTUP_PACING_GAIN * initial / rtt.as_secs_f64().max(1e-3);
            }
            return;
        }
        let rate = self.pacing_gain() * bandwidth * PACING_MARGIN;
        if self.model.full_bandwidth_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// SetCwnd.
    fn set_window(&mut self, ack: &Ack) {
        if ack.recovered {
            self.window = self.window.max(self.prior_window);
        }
        let extra = self.model.extra_acked() as u64;
        let most = self.budget(self.product(self.window_gain()) + extra);
        if self.model.full_bandwidth_reached {
            self.window = (self.window + ack.acked).min(most);
        } else if self.window < most || ack.delivered < INITIAL_SEGMENTS * self.model.segment {
            self.window += ack.acked;
        }
        self.window = self.window.max(self.model.least_window());
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        // BoundCwndForModel.
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.model.inflight_long_term,
            State::Cruise | State::ProbeRtt => self.model.with_headroom(),
            State::Startup | State::Drain => None,
        };
        let caps = [long_term, self.model.inflight_short_term];
        let cap = caps.into_iter().flatten().min().unwrap_or(u64::MAX);
        self.window = self.window.min(cap.max(self.model.least_window()));
    }

    /// HandleInflightTooHigh.
    fn inflight_too_high(&mut self, now: Duration, loss: &Loss, inflight_at_loss: u64) {
        self.previous_probe_too_high = true;
        self.model.probe_sample = false;
        if !loss.app_limited {
            let least = (self.target_inflight() as f64 * BETA) as u64;
            self.model.inflight_long_term = Some(inflight_at_loss.max(least));
        }
        if self.state == State::Up {
            self.start_down(now, loss.delivered);
        }
    }
}

impl CongestionControl for Bbr3 {
    fn name(&self) -> &'static str {
        "bbr3"
    }

    fn on_restart_from_idle(&mut self, now: Duration) {
        self.idle_restart = true;
        self.model.restart_extra_acked(now);
        if self.in_probe_bandwidth() && self.model.bandwidth() > 0.0 {
            self.pacing_rate = self.model.bandwidth() * PACING_MARGIN;
        }
    }

    fn on_loss(&mut self, now: Duration, loss: &Loss) {
        self.model.note_loss(loss);
        if !self.model.probe_sample {
            return;
        }
        if Model::too_high(loss.lost_since_sent, loss.in_flight_when_sent) {
            let at_loss = Model::inflight_at_loss(loss);
            self.inflight_too_high(now, loss, at_loss);
        }
    }

    fn on_congestion(&mut self, _now: Duration, _in_flight: u64) {
        self.save_window(false);
    }

    fn on_timeout(&mut self, _now: Duration) {
        self.save_window(false);
        self.window = self.model.segment;
    }

    fn on_ack(&mut self, ack: &Ack) {
        let probes = self.probes();
        if self.model.update(ack, self.window, probes) {
            self.rounds_since_probe += 1;
        }
        self.check_startup(ack);
        self.check_drain(ack);
        self.update_cycle(ack);
        self.model.update_min_rtt(ack);
        self.check_probe_rtt(ack);
        self.model.finish_ack(ack);
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
