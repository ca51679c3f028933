//! The sender of one connection.

use super::rate_sample::RateSampler;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::{Acknowledgement, Segment};
use crate::senders::{Ack, CongestionControl, Loss};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Parameters of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpConfig {
    /// Payload of a full segment, octets.
    pub segment: u32,
    /// Limit of the data in flight that the sockets' buffers set, octets.
    pub buffer: u64,
    /// Floor of the retransmission timeout, ms.
    pub least_timeout_ms: u64,
    /// How long a receiver holds back an acknowledgement, ms.
    pub delayed_ack_ms: u64,
}

impl Default for TcpConfig {
    /// 1400 octets and 4 MB as in the ns-3 reference runs; RFC 6298's 1 s; Linux' 40 ms.
    fn default() -> Self {
        Self {
            segment: 1400,
            buffer: 4_000_000,
            least_timeout_ms: 1000,
            delayed_ack_ms: 40,
        }
    }
}

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backlog {
    Endless,
    Octets(u64),
}

/// Counts of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounters {
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Loss episodes.
    pub congestion_events: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// The sender.
pub struct TcpSender {
    config: TcpConfig,
    control: Box<dyn CongestionControl>,
    board: Scoreboard,
    sampler: RateSampler,
    rtt: RttEstimator,
    backlog: Backlog,
    /// Segments below this number were sent before the present loss episode began.
    recovery_until: Option<u64>,
    timer: Option<Duration>,
    /// Earliest time of the next segment by pacing.
    next_send: Duration,
    window_limited: bool,
    counters: TcpCounters,
}

impl TcpSender {
    /// A sender with endless data.
    pub fn endless(config: TcpConfig, control: Box<dyn CongestionControl>) -> Self {
        Self::new(config, control, Backlog::Endless)
    }

    /// A sender that waits for [`Self::offer`].
    pub fn on_demand(config: TcpConfig, control: Box<dyn CongestionControl>) -> Self {
        Self::new(config, control, Backlog::Octets(0))
    }

    fn new(config: TcpConfig, control: Box<dyn CongestionControl>, backlog: Backlog) -> Self {
        Self {
            control,
            board: Scoreboard::default(),
            sampler: RateSampler::default(),
            rtt: RttEstimator::new(Duration::from_millis(config.least_timeout_ms)),
            backlog,
            recovery_until: None,
            timer: None,
            next_send: Duration::ZERO,
            window_limited: false,
            counters: TcpCounters::default(),
            config,
        }
    }

    /// The congestion control.
    pub fn control(&self) -> &dyn CongestionControl {
        self.control.as_ref()
    }

    /// Counts so far.
    pub fn counters(&self) -> &TcpCounters {
        &self.counters
    }

    /// Smoothed round-trip time.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// Least round-trip time.
    pub fn least_rtt(&self) -> Option<Duration> {
        self.rtt.least()
    }

    /// Octets in flight.
    pub fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    /// Octets delivered.
    pub fn delivered(&self) -> u64 {
        self.sampler.delivered()
    }

    /// Octets that the application has offered and that were not yet sent once.
    pub fn backlog(&self) -> Option<u64> {
        match self.backlog {
            Backlog::Endless => None,
            Backlog::Octets(octets) => Some(octets),
        }
    }

    /// The application has `octets` more to send.
    pub fn offer(&mut self, octets: u64) {
        if let Backlog::Octets(backlog) = &mut self.backlog {
            *backlog += octets;
        }
    }

    /// The application stops: nothing new is sent.
    pub fn close(&mut self) {
        self.backlog = Backlog::Octets(0);
    }

    /// What would be sent next, and whether it is a retransmission.
    fn candidate(&mut self) -> Option<(Segment, bool)> {
        if let Some((seq, len)) = self.board.next_lost() {
            return Some((Segment { seq, len }, true));
        }
        let full = self.config.segment;
        let len = match self.backlog {
            Backlog::Endless => full,
            Backlog::Octets(0) => return None,
            Backlog::Octets(octets) => full.min(u32::try_from(octets).unwrap_or(full)),
        };
        let seq = self.board.next_seq();
        Some((Segment { seq, len }, false))
    }

    fn window(&self) -> u64 {
        self.control.window().min(self.config.buffer)
    }

    /// The segment to send now, if window, pacing and application allow one. Call until `None`.
    pub fn poll_send(&mut self, now: Duration) -> Option<Segment> {
        let in_flight = self.board.in_flight();
        let Some((segment, again)) = self.candidate() else {
            if in_flight < self.window() {
                self.sampler.mark_app_limited(in_flight);
            }
            return None;
        };
        if in_flight + u64::from(segment.len) > self.window() {
            self.window_limited = true;
            return None;
        }
        if self.next_send > now {
            return None;
        }
        if in_flight == 0 && !again && self.backlog != Backlog::Endless {
            self.control.on_restart_from_idle(now);
        }
        let transmission = self.board.next_transmission();
        let state = self
            .sampler
            .on_send(now, transmission, segment.len, in_flight);
        self.board.on_send(segment.seq, segment.len, state);
        if !again && let Backlog::Octets(octets) = &mut self.backlog {
            *octets -= u64::from(segment.len);
        }
        if let Some(rate) = self.control.pacing_bps() {
            let seconds = f64::from(segment.len + super::DATA_HEADER) * 8.0 / rate.max(1.0);
            self.next_send = self.next_send.max(now) + Duration::from_secs_f64(seconds);
        }
        self.counters.segments += 1;
        self.counters.retransmissions += u64::from(again);
        self.timer.get_or_insert(now + self.rtt.timeout());
        Some(segment)
    }

    /// When [`Self::poll_send`] or [`Self::on_timer`] has to be called next, if nothing arrives before.
    pub fn next_event(&mut self, now: Duration) -> Option<Duration> {
        let in_flight = self.board.in_flight();
        let may_send = match self.candidate() {
            Some((segment, _)) => in_flight + u64::from(segment.len) <= self.window(),
            None => false,
        };
        let send = may_send.then_some(self.next_send.max(now));
        match (send, self.timer) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Lets the retransmission timer expire if it is due (RFC 6298 section 5, rules 5.4 to 5.6).
    pub fn on_timer(&mut self, now: Duration) {
        if self.timer.is_none_or(|at| at > now) {
            return;
        }
        let sampler = &mut self.sampler;
        self.board.lose_all(|segment| sampler.on_lost(segment.len));
        self.rtt.back_off();
        self.timer = Some(now + self.rtt.timeout());
        self.recovery_until = Some(self.board.next_seq());
        self.counters.timeouts += 1;
        self.control.on_timeout(now);
        self.next_send = self.next_send.min(now);
    }

    /// An acknowledgement arrives.
    pub fn on_ack(&mut self, now: Duration, ack: &Acknowledgement) {
        let prior_in_flight = self.board.in_flight();
        let first_before = self.board.first_unacknowledged();
        let (delivered_before, lost_before) = (self.sampler.delivered(), self.sampler.lost());
        let least_rtt = self.rtt.least().unwrap_or(Duration::ZERO);

        let (sampler, mut newest_once) = (&mut self.sampler, None);
        self.board
            .acknowledge(ack, now.saturating_sub(least_rtt), |segment| {
                sampler.on_delivered(now, segment.len, segment.sent);
                if !segment.retransmitted {
                    newest_once = newest_once.max(Some(segment.sent.sent_at));
                }
            });
        let rtt = newest_once.map(|sent_at| now - sent_at);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }

        let control = &mut self.control;
        self.board.detect_losses(|segment| {
            sampler.on_lost(segment.len);
            control.on_loss(
                now,
                &Loss {
                    len: segment.len,
                    lost_since_sent: sampler.lost() - segment.sent.lost,
                    in_flight_when_sent: segment.sent.in_flight,
                    app_limited: segment.sent.app_limited,
                    delivered: sampler.delivered(),
                },
            );
        });

        let first = self.board.first_unacknowledged();
        let lost = self.sampler.lost() - lost_before;
        let recovered = self.recovery_until.is_some_and(|until| first >= until);
        if recovered {
            self.recovery_until = None;
        }
        if lost > 0 && self.recovery_until.is_none() {
            self.recovery_until = Some(self.board.next_seq());
            self.counters.congestion_events += 1;
            self.control.on_congestion(now, prior_in_flight);
        }
        if self.board.is_empty() {
            self.timer = None;
        } else if first > first_before || self.sampler.delivered() > delivered_before {
            self.timer = Some(now + self.rtt.timeout());
        }

        let sample = self
            .sampler
            .sample(now, self.rtt.least().unwrap_or(Duration::ZERO));
        self.control.on_ack(&Ack {
            now,
            acked: self.sampler.delivered() - delivered_before,
            lost,
            rtt,
            smoothed_rtt: self.rtt.smoothed().unwrap_or_default(),
            prior_in_flight,
            in_flight: self.board.in_flight(),
            delivered: self.sampler.delivered(),
            sample,
            in_recovery: self.recovery_until.is_some(),
            recovered,
            window_limited: std::mem::take(&mut self.window_limited),
        });
        if self.control.holds_back() {
            self.sampler.mark_app_limited(self.board.in_flight());
        }
    }
}
