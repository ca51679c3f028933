//! Senders: congestion controls of TCP-like flows, and paced UDP.
//!
//! A congestion control is one file that cites its source, behind [`CongestionControl`]; [`crate::tcp::sender`] calls it.
//! Time comes with every call. Volumes are octets of payload.

pub mod bbr1;
pub mod bbr3;
mod bbr3_model;
pub mod cubic;
pub mod filter;
pub mod hystart;
pub mod paced;
pub mod reminis;
pub mod video;

use crate::tcp::rate_sample::RateSample;
use std::time::Duration;

/// What an acknowledgement tells.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Duration,
    /// Octets that it newly acknowledges, cumulatively or selectively.
    pub acked: u64,
    /// Octets declared lost on its account.
    pub lost: u64,
    /// Round-trip time of the newest segment it acknowledges, if that was sent once only.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Duration,
    /// Octets in flight before it, and after it.
    pub prior_in_flight: u64,
    /// See `prior_in_flight`.
    pub in_flight: u64,
    /// Octets delivered since the start.
    pub delivered: u64,
    /// Delivery rate sample, if it delivered anything.
    pub sample: Option<RateSample>,
    /// A loss episode is being repaired.
    pub in_recovery: bool,
    /// This acknowledgement ended a loss episode.
    pub recovered: bool,
    /// The window, not the application or the pacing, held sending back since the last acknowledgement.
    pub window_limited: bool,
}

impl Ack {
    /// Delivery rate of the sample, octets per second; 0 if there is none.
    fn rate(&self) -> f64 {
        self.sample.and_then(|sample| sample.rate).unwrap_or(0.0)
    }

    /// The sample says nothing about the path.
    fn app_limited(&self) -> bool {
        self.sample.is_none_or(|sample| sample.newest.app_limited)
    }
}

/// A segment declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Its payload, octets.
    pub len: u32,
    /// Octets lost since it was sent, itself included.
    pub lost_since_sent: u64,
    /// Octets in flight when it was sent, itself included.
    pub in_flight_when_sent: u64,
    /// It was sent while the application did not fill the window.
    pub app_limited: bool,
    /// Octets delivered since the start.
    pub delivered: u64,
}

/// A congestion control.
pub trait CongestionControl: Send {
    /// Name, as scenarios write it.
    fn name(&self) -> &'static str;

    /// A segment is about to be sent with nothing in flight, after the application had nothing to send.
    fn on_restart_from_idle(&mut self, _now: Duration) {}

    /// A segment has been declared lost (before the [`Self::on_ack`] of the acknowledgement that told).
    fn on_loss(&mut self, _now: Duration, _loss: &Loss) {}

    /// A loss episode begins: called once, until everything sent before has been acknowledged.
    fn on_congestion(&mut self, now: Duration, in_flight: u64);

    /// The retransmission timer has expired; everything outstanding counts as lost.
    fn on_timeout(&mut self, now: Duration);

    /// An acknowledgement has been processed.
    fn on_ack(&mut self, ack: &Ack);

    /// Congestion window: how much may be in flight, octets.
    fn window(&self) -> u64;

    /// Pacing rate in bit/s; `None`: as fast as the window allows.
    fn pacing_bps(&self) -> Option<f64> {
        None
    }

    /// It holds the flow below what it could send, on purpose: delivery rates now are no measure of the path.
    fn holds_back(&self) -> bool {
        false
    }
}

/// Bits per second of octets per second.
fn bits(octets_per_second: f64) -> f64 {
    octets_per_second * 8.0
}
