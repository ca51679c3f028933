//! BBRv3's model of the path (draft-ietf-ccwg-bbr section 5.5): bandwidth, round-trip time, volumes, loss.

use super::filter::WindowedMax;
use super::{Ack, Loss};
use std::time::Duration;

/// LossThresh.
const LOSS_THRESHOLD: f64 = 0.02;
/// Beta.
pub(super) const BETA: f64 = 0.7;
/// Headroom.
const HEADROOM: f64 = 0.15;
/// MinRTTFilterLen.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// ProbeRTTInterval.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// MaxBwFilterLen, cycles.
const BANDWIDTH_CYCLES: u64 = 2;
/// ExtraAckedFilterLen, rounds.
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// MinPipeCwnd, segments.
const LEAST_SEGMENTS: u64 = 4;
/// BBRStartupFullLossCnt. The draft counts discontiguous ranges; segments are counted here.
const STARTUP_LOSSES: u32 = 6;

/// The model. Bandwidths are octets per second, volumes octets; `None` of a bound is the draft's Infinity.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub segment: u64,

    pub round: u64,
    pub round_start: bool,
    next_round_delivered: u64,

    max_bandwidth: WindowedMax,
    cycle: u64,
    bandwidth_short_term: Option<f64>,
    bandwidth_latest: f64,

    pub inflight_long_term: Option<u64>,
    pub inflight_short_term: Option<u64>,
    inflight_latest: u64,

    loss_in_round: bool,
    loss_round_delivered: u64,
    loss_round_start: bool,
    losses_in_round: u32,
    /// The last round lost more than the threshold, in several segments.
    startup_excess: bool,
    /// is_bw_probe_sample.
    pub probe_sample: bool,

    full_bandwidth: f64,
    full_rounds: u32,
    pub full_bandwidth_now: bool,
    pub full_bandwidth_reached: bool,

    min_rtt: Option<Duration>,
    min_rtt_at: Duration,
    probe_rtt_min: Option<Duration>,
    probe_rtt_min_at: Duration,
    pub probe_rtt_expired: bool,

    extra_acked: WindowedMax,
    extra_acked_start: Duration,
    extra_acked_delivered: f64,
}

impl Model {
    pub fn new(segment: u64) -> Self {
        Self {
            segment,
            round: 0,
            round_start: false,
            next_round_delivered: 0,
            max_bandwidth: WindowedMax::new(BANDWIDTH_CYCLES),
            cycle: 0,
            bandwidth_short_term: None,
            bandwidth_latest: 0.0,
            inflight_long_term: None,
            inflight_short_term: None,
            inflight_latest: 0,
            loss_in_round: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            losses_in_round: 0,
            startup_excess: false,
            probe_sample: false,
            full_bandwidth: 0.0,
            full_rounds: 0,
            full_bandwidth_now: false,
            full_bandwidth_reached: false,
            min_rtt: None,
            min_rtt_at: Duration::ZERO,
            probe_rtt_min: None,
            probe_rtt_min_at: Duration::ZERO,
            probe_rtt_expired: false,
            extra_acked: WindowedMax::new(EXTRA_ACKED_ROUNDS),
            extra_acked_start: Duration::ZERO,
            extra_acked_delivered: 0.0,
        }
    }

    pub fn least_window(&self) -> u64 {
        LEAST_SEGMENTS * self.segment
    }

    /// BBR.bw.
    pub fn bandwidth(&self) -> f64 {
        let max = self.max_bandwidth.max();
        self.bandwidth_short_term
            .map_or(max, |short| max.min(short))
    }

    /// BBR.bdp; `None` before the first round-trip time.
    pub fn bandwidth_delay(&self) -> Option<f64> {
        Some(self.bandwidth() * self.min_rtt?.as_secs_f64())
    }

    pub fn inflight_latest(&self) -> u64 {
        self.inflight_latest
    }

    pub fn extra_acked(&self) -> f64 {
        self.extra_acked.max()
    }

    /// InflightWithHeadroom.
    pub fn with_headroom(&self) -> Option<u64> {
        let bound = self.inflight_long_term?;
        let headroom = ((HEADROOM * bound as f64) as u64).max(self.segment);
        Some(bound.saturating_sub(headroom).max(self.least_window()))
    }

    /// The first half of UpdateModelAndState. True if a round has ended.
    pub fn update(&mut self, ack: &Ack, window: u64, probes: bool) -> bool {
        self.update_latest(ack);
        self.update_max_bandwidth(ack);
        if self.loss_round_start {
            self.adapt_lower_bounds(window, probes);
            self.startup_excess = ack.sample.is_some_and(|sample| {
                self.losses_in_round >= STARTUP_LOSSES
                    && Self::too_high(sample.lost, sample.newest.in_flight)
            });
            self.losses_in_round = 0;
            self.loss_in_round = false;
        }
        self.update_extra_acked(ack, window);
        self.check_full_bandwidth(ack);
        self.round_start
    }

    /// UpdateLatestDeliverySignals.
    fn update_latest(&mut self, ack: &Ack) {
        self.loss_round_start = false;
        let Some(sample) = &ack.sample else { return };
        self.bandwidth_latest = self.bandwidth_latest.max(ack.rate());
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.newest.delivered >= self.loss_round_delivered {
            self.loss_round_delivered = ack.delivered;
            self.loss_round_start = true;
        }
    }

    /// UpdateMaxBw, with UpdateRound.
    fn update_max_bandwidth(&mut self, ack: &Ack) {
        self.round_start = false;
        let Some(sample) = &ack.sample else { return };
        if sample.newest.delivered >= self.next_round_delivered {
            self.start_round(ack.delivered);
            self.round += 1;
            self.round_start = true;
        }
        if let Some(rate) = sample.rate
            && (rate >= self.max_bandwidth.max() || !sample.newest.app_limited)
        {
            self.max_bandwidth.update(self.cycle, rate);
        }
    }

    pub fn start_round(&mut self, delivered: u64) {
        self.next_round_delivered = delivered;
    }

    pub fn advance_bandwidth_filter(&mut self) {
        self.cycle += 1;
    }

    /// AdaptLowerBoundsFromCongestion.
    fn adapt_lower_bounds(&mut self, window: u64, probes: bool) {
        if probes || !self.loss_in_round {
            return;
        }
        let bandwidth = self
            .bandwidth_short_term
            .unwrap_or(self.max_bandwidth.max());
        self.bandwidth_short_term = Some(self.bandwidth_latest.max(BETA * bandwidth));
        let inflight = self.inflight_short_term.unwrap_or(window);
        let reduced = (BETA * inflight as f64) as u64;
        self.inflight_short_term = Some(self.inflight_latest.max(reduced));
    }

    /// UpdateACKAggregation.
    fn update_extra_acked(&mut self, ack: &Ack, window: u64) {
        let interval = ack.now.saturating_sub(self.extra_acked_start);
        let mut expected = self.bandwidth() * interval.as_secs_f64();
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_start = ack.now;
            expected = 0.0;
        }
        self.extra_acked_delivered += ack.acked as f64;
        let extra = (self.extra_acked_delivered - expected).min(window as f64);
        self.extra_acked.set_length(if self.full_bandwidth_reached {
            EXTRA_ACKED_ROUNDS
        } else {
            1
        });
        self.extra_acked.update(self.round, extra);
    }

    pub fn restart_extra_acked(&mut self, now: Duration) {
        self.extra_acked_start = now;
        self.extra_acked_delivered = 0.0;
    }

    /// CheckFullBWReached.
    fn check_full_bandwidth(&mut self, ack: &Ack) {
        if self.full_bandwidth_now || !self.round_start || ack.app_limited() {
            return;
        }
        if ack.rate() >= self.full_bandwidth * 1.25 {
            self.reset_full_bandwidth(ack.rate());
            return;
        }
        self.full_rounds += 1;
        self.full_bandwidth_now = self.full_rounds >= 3;
        self.full_bandwidth_reached |= self.full_bandwidth_now;
    }

    /// ResetFullBW, with a new baseline.
    pub fn reset_full_bandwidth(&mut self, baseline: f64) {
        self.full_bandwidth = baseline;
        self.full_rounds = 0;
        self.full_bandwidth_now = false;
    }

    /// UpdateMinRTT.
    pub fn update_min_rtt(&mut self, ack: &Ack) {
        self.probe_rtt_expired = ack.now > self.probe_rtt_min_at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = ack.rtt
            && (self.probe_rtt_min.is_none_or(|least| rtt < least) || self.probe_rtt_expired)
        {
            self.probe_rtt_min = Some(rtt);
            self.probe_rtt_min_at = ack.now;
        }
        let expired = ack.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(least) = self.probe_rtt_min
            && (self.min_rtt.is_none_or(|min| least < min) || expired)
        {
            self.min_rtt = Some(least);
            self.min_rtt_at = self.probe_rtt_min_at;
        }
    }

    pub fn probe_rtt_scheduled(&mut self, now: Duration) {
        self.probe_rtt_min_at = now;
    }

    /// AdvanceLatestDeliverySignals.
    pub fn finish_ack(&mut self, ack: &Ack) {
        if self.loss_round_start {
            self.bandwidth_latest = ack.rate();
            self.inflight_latest = ack.sample.map_or(0, |s| s.delivered);
        }
    }

    pub fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.bandwidth_latest = 0.0;
        self.inflight_latest = 0;
    }

    pub fn reset_short_term(&mut self) {
        self.bandwidth_short_term = None;
        self.inflight_short_term = None;
    }

    /// NoteLoss.
    pub fn note_loss(&mut self, loss: &Loss) {
        if !self.loss_in_round {
            self.loss_round_delivered = loss.delivered;
        }
        self.loss_in_round = true;
        self.losses_in_round += 1;
    }

    /// CheckStartupHighLoss.
    pub fn too_many_losses_in_startup(&self) -> bool {
        self.startup_excess
    }

    /// IsInflightTooHigh.
    pub fn too_high(lost: u64, in_flight: u64) -> bool {
        lost as f64 > in_flight as f64 * LOSS_THRESHOLD
    }

    /// InflightAtLoss: the volume at which losses crossed the threshold.
    pub fn inflight_at_loss(loss: &Loss) -> u64 {
        let len = f64::from(loss.len);
        let inflight_before = loss.in_flight_when_sent as f64 - len;
        let lost_before = loss.lost_since_sent as f64 - len;
        let prefix = (LOSS_THRESHOLD * inflight_before - lost_before) / (1.0 - LOSS_THRESHOLD);
        (inflight_before + prefix).max(0.0) as u64
    }
}
