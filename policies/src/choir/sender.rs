//! The sender's side (eqs. 16 and 17): from guidance to an encoder bitrate and a pacing rate.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::Duration;

/// Parameters of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SenderParameters {
    /// ε of eq. 16: bitrates that are averaged. 1: guidance is followed at once.
    pub smoothing: u32,
    /// ρ of eq. 17.
    pub pacing: f64,
    /// Open: time over which a receive rate is measured. Below a frame interval it would be the pacing rate itself, and grow
    /// by ρ each time.
    pub rate_window: Duration,
    /// Open: time over which the largest receive rate counts.
    pub rate_memory: Duration,
    /// Lowest bitrate of the encoder, bit/s: guidance can be 0, an encoder has to send something.
    pub min_bps: f64,
    /// Highest bitrate of the encoder, bit/s.
    pub max_bps: f64,
}

impl Default for SenderParameters {
    fn default() -> Self {
        Self {
            smoothing: 1,
            pacing: 1.25,
            rate_window: Duration::from_nanos(1_000_000_000 / 60),
            rate_memory: Duration::from_millis(500),
            min_bps: 500e3,
            max_bps: 1e9,
        }
    }
}

/// Rate control of one video sender.
#[derive(Clone, Debug)]
pub struct VideoRate {
    parameters: SenderParameters,
    guided_bps: f64,
    /// Bitrates of the last frames, newest last, at most ε − 1.
    bitrates: VecDeque<f64>,
    bitrate_bps: f64,
    received: ReceiveRate,
}

impl VideoRate {
    /// Starts at `start_bps`, until guidance comes.
    pub fn new(parameters: SenderParameters, start_bps: f64) -> Self {
        let start_bps = start_bps.clamp(parameters.min_bps, parameters.max_bps);
        Self {
            guided_bps: start_bps,
            bitrates: VecDeque::new(),
            bitrate_bps: start_bps,
            received: ReceiveRate::new(parameters.rate_window, parameters.rate_memory),
            parameters,
        }
    }

    /// Guidance came: B̂, bit/s.
    pub fn guided(&mut self, guided_bps: f64) {
        if guided_bps.is_finite() && guided_bps >= 0.0 {
            self.guided_bps = guided_bps;
        }
    }

    /// So many octets were acknowledged at `now`.
    pub fn acknowledged(&mut self, now: Duration, octets: u64) {
        self.received.add(now, octets);
    }

    /// A frame is to be encoded: its target bitrate BR, bit/s (eq. 16).
    pub fn next_frame(&mut self) -> f64 {
        let count = self.bitrates.len() as f64 + 1.0;
        let smoothed = (self.bitrates.iter().sum::<f64>() + self.guided_bps) / count;
        self.bitrate_bps = smoothed.clamp(self.parameters.min_bps, self.parameters.max_bps);
        self.bitrates.push_back(self.bitrate_bps);
        while self.bitrates.len() >= self.parameters.smoothing.max(1) as usize {
            self.bitrates.pop_front();
        }
        self.bitrate_bps
    }

    /// BR of the last frame, bit/s.
    pub fn bitrate_bps(&self) -> f64 {
        self.bitrate_bps
    }

    /// The pacing rate, bit/s (eq. 17).
    pub fn pacing_bps(&mut self, now: Duration) -> f64 {
        self.parameters.pacing * self.received.largest_bps(now).max(self.bitrate_bps)
    }
}

/// The largest receive rate of the last time.
#[derive(Clone, Debug)]
struct ReceiveRate {
    window: Duration,
    memory: Duration,
    /// Begin of the window that is open, and what was acknowledged in it.
    open: Option<(Duration, u64)>,
    /// Ends of past windows with their rates in bit/s.
    rates: VecDeque<(Duration, f64)>,
}

impl ReceiveRate {
    fn new(window: Duration, memory: Duration) -> Self {
        Self {
            window,
            memory,
            open: None,
            rates: VecDeque::new(),
        }
    }

    fn add(&mut self, now: Duration, octets: u64) {
        let Some((begin, sum)) = &mut self.open else {
            // What comes first only begins the window: its time is not known.
            self.open = Some((now, 0));
            return;
        };
        *sum += octets;
        let elapsed = now.saturating_sub(*begin);
        if elapsed < self.window || elapsed.is_zero() {
            return;
        }
        let rate = *sum as f64 * 8.0 / elapsed.as_secs_f64();
        self.open = Some((now, 0));
        while self.rates.back().is_some_and(|&(_, last)| last <= rate) {
            self.rates.pop_back();
        }
        self.rates.push_back((now, rate));
    }

    /// Rates are kept in falling order: the first one that is not too old is the largest.
    fn largest_bps(&mut self, now: Duration) -> f64 {
        while let Some(&(at, _)) = self.rates.front()
            && at + self.memory < now
        {
            self.rates.pop_front();
        }
        self.rates.front().map_or(0.0, |&(_, rate)| rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

    #[test]
    fn without_smoothing_the_bitrate_is_the_guidance_within_the_bounds() {
        let mut rate = VideoRate::new(SenderParameters::default(), 1e6);
        assert_eq!(rate.next_frame(), 1e6);
        for (guided, bitrate) in [(30e6, 30e6), (0.0, 500e3), (f64::NAN, 500e3), (2e9, 1e9)] {
            rate.guided(guided);
            assert_eq!(rate.next_frame(), bitrate);
        }
    }

    #[test]
    fn smoothing_averages_past_bitrates_with_the_guidance() {
        let parameters = SenderParameters {
            smoothing: 5,
            ..SenderParameters::default()
        };
        let mut rate = VideoRate::new(parameters, 10e6);
        for _ in 0..10 {
            rate.next_frame();
        }
        rate.guided(20e6);
        assert_eq!(rate.next_frame(), 12e6);
        assert_eq!(rate.next_frame(), (30e6 + 12e6 + 20e6) / 5.0);
    }

    #[test]
    fn pacing_stays_above_the_largest_rate_received_lately_and_does_not_feed_itself() {
        let mut rate = VideoRate::new(SenderParameters::default(), 30e6);
        rate.next_frame();
        assert_eq!(rate.pacing_bps(Duration::ZERO), 1.25 * 30e6);
        // Frames of 62,500 octets arrive at the pacing rate.
        let mut now = Duration::ZERO;
        for frame in 0..120 {
            let pacing = rate.pacing_bps(FRAME * frame);
            for packet in 1..=50 {
                now = FRAME * frame
                    + Duration::from_secs_f64(1250.0 * 8.0 * f64::from(packet) / pacing);
                rate.acknowledged(now, 1250);
            }
        }
        let pacing = rate.pacing_bps(now);
        assert!((37e6..50e6).contains(&pacing), "{pacing}");
        // Bitrate falls: pacing follows once the memory is over.
        rate.guided(5e6);
        rate.next_frame();
        assert_eq!(rate.pacing_bps(now + Duration::from_secs(1)), 1.25 * 5e6);
    }
}
