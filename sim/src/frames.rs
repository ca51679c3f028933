//! Frames of video at their receiver: when each was complete.

use crate::senders::video::Frame;
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::VecDeque;
use std::time::Duration;

/// Delays are kept in microseconds, to three digits, up to a minute.
const LONGEST_DELAY_US: u64 = 60_000_000;
/// A frame is lost when so many later ones are complete.
const GIVEN_UP_AFTER: usize = 120;

/// What became of the frames of one flow.
#[derive(Clone, Debug)]
pub struct FrameResults {
    /// Frames that are not complete, and complete ones behind them: with the packets that are missing.
    open: VecDeque<(Frame, u32)>,
    delays_us: Histogram<u32>,
    frames: u64,
    lost: u64,
    octets: u64,
    /// Encoded bitrate, bit/s: sum and sum of squares over the frames.
    bitrate: (f64, f64),
    frames_per_second: f64,
}

/// Frame delay, ms: from encoding until the last packet is at the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FrameSummary {
    /// Frames encoded.
    pub frames: u64,
    /// Frames of which a packet never came.
    pub lost: u64,
    /// Mean bitrate of the encoder, Mbit/s.
    pub bitrate_mbps: f64,
    /// Its standard deviation, Mbit/s.
    pub bitrate_deviation_mbps: f64,
    /// Mean delay, ms.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// 99.9th percentile.
    pub p999_ms: f64,
    /// Largest.
    pub max_ms: f64,
}

impl FrameResults {
    /// No frame yet.
    pub fn new(frames_per_second: f64) -> Self {
        let delays_us = Histogram::new_with_max(LONGEST_DELAY_US, 3);
        Self {
            open: VecDeque::new(),
            // Three digits up to a minute is a valid combination.
            delays_us: delays_us.unwrap_or_else(|_| unreachable!()),
            frames: 0,
            lost: 0,
            octets: 0,
            bitrate: (0.0, 0.0),
            frames_per_second,
        }
    }

    pub(crate) fn encoded(&mut self, frame: Frame) {
        self.frames += 1;
        self.octets += frame.octets;
        let bps = frame.octets as f64 * 8.0 * self.frames_per_second;
        self.bitrate.0 += bps;
        self.bitrate.1 += bps * bps;
        self.open.push_back((frame, frame.packets));
        while self.open.len() > GIVEN_UP_AFTER {
            let missing = self.open.pop_front().map_or(0, |(_, missing)| missing);
            self.lost += u64::from(missing > 0);
        }
    }

    /// A packet came at `at`.
    pub(crate) fn received(&mut self, packet: u64, at: Duration) {
        let behind = self.open.partition_point(|(f, _)| f.first_packet <= packet);
        let frame = behind.checked_sub(1).and_then(|i| self.open.get_mut(i));
        let Some((frame, missing)) = frame.filter(|(_, missing)| *missing > 0) else {
            return;
        };
        *missing -= 1;
        if *missing == 0 {
            let delay = at.saturating_sub(frame.at);
            self.delays_us.saturating_record(delay.as_micros() as u64);
        }
        while self.open.front().is_some_and(|&(_, missing)| missing == 0) {
            self.open.pop_front();
        }
    }

    /// The whole life of the flow.
    pub fn summary(&self) -> FrameSummary {
        let ms = |us: u64| us as f64 / 1e3;
        let at = |quantile| ms(self.delays_us.value_at_quantile(quantile));
        let count = self.frames.max(1) as f64;
        let mean_bps = self.bitrate.0 / count;
        let variance = (self.bitrate.1 / count - mean_bps * mean_bps).max(0.0);
        FrameSummary {
            frames: self.frames,
            lost: self.lost,
            bitrate_mbps: mean_bps / 1e6,
            bitrate_deviation_mbps: variance.sqrt() / 1e6,
            mean_ms: self.delays_us.mean() / 1e3,
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: ms(self.delays_us.max()),
        }
    }

    /// Delays in ms with the share of frames up to each, for a chart.
    pub fn distribution(&self) -> Vec<(f64, f64)> {
        let all = self.delays_us.len().max(1) as f64;
        let mut below = 0;
        let values = self.delays_us.iter_recorded();
        values
            .map(|value| {
                below += value.count_since_last_iteration();
                (value.value_iterated_to() as f64 / 1e3, below as f64 / all)
            })
            .collect()
    }

    /// Adds the frames of another flow or seed.
    pub fn merge(&mut self, other: &Self) {
        self.frames += other.frames;
        self.lost += other.lost;
        self.octets += other.octets;
        self.bitrate.0 += other.bitrate.0;
        self.bitrate.1 += other.bitrate.1;
        // Both have the same bounds.
        let _ = self.delays_us.add(&other.delays_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_complete_with_its_last_packet_in_any_order() {
        let ms = Duration::from_millis;
        let mut results = FrameResults::new(60.0);
        let frame = |number: u64| Frame {
            at: ms(number * 17),
            first_packet: number * 3,
            packets: 3,
            octets: 3_000,
        };
        results.encoded(frame(0));
        results.encoded(frame(1));
        for (packet, at) in [(0, 5), (3, 20), (4, 21), (5, 22), (1, 30), (2, 31)] {
            results.received(packet, ms(at));
        }
        let summary = results.summary();
        assert_eq!((summary.frames, summary.lost), (2, 0));
        assert!(
            (summary.mean_ms - (31.0 + 5.0) / 2.0).abs() < 0.1,
            "{summary:?}"
        );
        assert!(
            (summary.bitrate_mbps - 1.44).abs() < 1e-9 && summary.bitrate_deviation_mbps < 1e-6
        );
        // A frame whose packet never comes is lost once enough others came.
        for number in 2..200 {
            results.encoded(frame(number));
            for packet in (3 * number..3 * number + 3).filter(|&packet| packet != 7) {
                results.received(packet, ms(number * 17 + 9));
            }
        }
        assert_eq!(results.summary().lost, 1);
    }
}
