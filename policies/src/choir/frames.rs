//! The frame interval, from the gaps between packets (eq. 9).

use super::Parameters;
use std::time::Duration;

/// Intervals that can be one of video: 10 to 250 frames/s. Others come from lost or split frames.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.004..=0.1;

/// FI of one flow.
#[derive(Clone, Debug)]
pub(super) struct FrameInterval {
    seconds: f64,
    /// The sender announced it: nothing is measured.
    announced: bool,
    measured: bool,
    head: Option<Duration>,
    last_packet: Option<Duration>,
}

impl FrameInterval {
    pub fn new(announced: Option<Duration>, parameters: &Parameters) -> Self {
        let assumed = announced.unwrap_or(parameters.frame_interval);
        Self {
            // Whatever is announced: a tiny interval would have any number of frames in flight.
            seconds: assumed
                .as_secs_f64()
                .clamp(*PLAUSIBLE.start(), *PLAUSIBLE.end()),
            announced: announced.is_some(),
            measured: false,
            head: None,
            last_packet: None,
        }
    }

    /// FI in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Packets arrived at `now`.
    pub fn arrived(&mut self, now: Duration, parameters: &Parameters) {
        if self.announced {
            return;
        }
        let last = self.last_packet.replace(now);
        if last.is_some_and(|last| now.saturating_sub(last) <= parameters.frame_gap) {
            return;
        }
        let Some(head) = self.head.replace(now) else {
            return;
        };
        let measured = now.saturating_sub(head).as_secs_f64();
        if !PLAUSIBLE.contains(&measured) {
            return;
        }
        // Eq. 9; the first interval seen replaces the assumed one.
        let alpha = if self.measured { parameters.alpha } else { 0.0 };
        self.measured = true;
        self.seconds = alpha * self.seconds + (1.0 - alpha) * measured;
    }
}
