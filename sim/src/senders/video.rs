//! A video sender: an encoder that makes a frame at fixed intervals, and a pacer that sends its packets.
//!
//! Bitrate and pacing rate are Choir's sender side ([`policies::choir::sender`]), whoever guides it.

use policies::choir::sender::{SenderParameters, VideoRate};
use std::collections::VecDeque;
use std::time::Duration;

/// Parameters of a video sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VideoConfig {
    /// Frames per second.
    pub frames_per_second: f64,
    /// Frames that the encoder takes to reach a new bitrate; 1: at once.
    pub response_frames: u32,
    /// Largest payload of a packet, octets.
    pub payload: u32,
    /// Bitrate until guidance comes, bit/s.
    pub start_bps: f64,
    /// Rate control.
    pub rate: SenderParameters,
}

impl Default for VideoConfig {
    fn default() -> Self {
        Self {
            frames_per_second: 60.0,
            response_frames: 1,
            payload: 1252,
            start_bps: 2e6,
            rate: SenderParameters::default(),
        }
    }
}

/// A frame as it leaves the encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When it was encoded.
    pub at: Duration,
    /// Number of its first packet.
    pub first_packet: u64,
    /// How many packets it takes.
    pub packets: u32,
    /// Its octets.
    pub octets: u64,
}

/// A packet as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoPacket {
    /// Its number.
    pub number: u64,
    /// Its payload, octets.
    pub payload: u32,
}

/// The sender.
#[derive(Clone, Debug)]
pub struct VideoSender {
    config: VideoConfig,
    rate: VideoRate,
    start: Duration,
    frames: u64,
    /// Targets of the last frames, as many as the encoder takes to respond.
    targets: VecDeque<f64>,
    packets: u64,
    /// Octets of the frames that wait, oldest first.
    waiting: VecDeque<u64>,
    /// When the pacer lets the next packet go.
    free_at: Duration,
}

impl VideoSender {
    /// Makes its first frame at `start`.
    pub fn new(config: VideoConfig, start: Duration) -> Self {
        Self {
            rate: VideoRate::new(config.rate, config.start_bps),
            start,
            frames: 0,
            targets: VecDeque::new(),
            packets: 0,
            waiting: VecDeque::new(),
            free_at: start,
            config,
        }
    }

    /// Its rate control.
    pub fn rate(&mut self) -> &mut VideoRate {
        &mut self.rate
    }

    /// Bitrate of the last frame, bit/s.
    pub fn bitrate_bps(&self) -> f64 {
        self.rate.bitrate_bps()
    }

    /// When the next frame is made.
    pub fn next_frame(&self) -> Duration {
        self.start + Duration::from_secs_f64(self.frames as f64 / self.config.frames_per_second)
    }

    /// When it has something to do.
    pub fn next_event(&self) -> Duration {
        match self.waiting.is_empty() {
            true => self.next_frame(),
            false => self.next_frame().min(self.free_at),
        }
    }

    /// The frame that is due at `now`.
    pub fn poll_frame(&mut self, now: Duration) -> Option<Frame> {
        if now < self.next_frame() {
            return None;
        }
        self.frames += 1;
        let target = self.rate.next_frame();
        self.targets.push_back(target);
        while self.targets.len() > self.config.response_frames.max(1) as usize {
            self.targets.pop_front();
        }
        // A step of the target is reached in equal parts.
        let encoded_bps = self.targets.iter().sum::<f64>() / self.targets.len() as f64;
        let octets = (encoded_bps / self.config.frames_per_second / 8.0).max(1.0) as u64;
        let before: u64 = self
            .waiting
            .iter()
            .map(|&octets| self.packets_of(octets))
            .sum();
        let frame = Frame {
            at: now,
            first_packet: self.packets + before,
            packets: self.packets_of(octets) as u32,
            octets,
        };
        self.waiting.push_back(octets);
        Some(frame)
    }

    fn packets_of(&self, octets: u64) -> u64 {
        octets.div_ceil(u64::from(self.config.payload))
    }

    /// The packet that may go at `now`, with `headers` octets around it.
    pub fn poll_packet(&mut self, now: Duration, headers: u32) -> Option<VideoPacket> {
        if self.free_at > now {
            return None;
        }
        let left = self.waiting.front_mut()?;
        let payload = (*left).min(u64::from(self.config.payload)) as u32;
        *left -= u64::from(payload);
        if *left == 0 {
            self.waiting.pop_front();
        }
        let number = self.packets;
        self.packets += 1;
        let bits = f64::from(payload + headers) * 8.0;
        let wait = Duration::from_secs_f64(bits / self.rate.pacing_bps(now).max(1.0));
        self.free_at = now + wait;
        Some(VideoPacket { number, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Payload sent in the frame intervals from 0 on.
    fn sent(sender: &mut VideoSender, seconds: f64) -> Vec<u64> {
        let mut frames = Vec::new();
        while sender.next_event() < Duration::from_secs_f64(seconds) {
            let now = sender.next_event();
            if sender.poll_frame(now).is_some() {
                frames.push(0);
            }
            if let (Some(packet), Some(sum)) = (sender.poll_packet(now, 28), frames.last_mut()) {
                *sum += u64::from(packet.payload);
            }
        }
        frames
    }

    #[test]
    fn frames_are_paced_over_most_of_their_interval() {
        let mut sender = VideoSender::new(VideoConfig::default(), Duration::ZERO);
        sender.rate().guided(24e6);
        let frame = sender.poll_frame(Duration::ZERO).unwrap();
        assert_eq!((frame.first_packet, frame.octets), (0, 50_000));
        assert_eq!(frame.packets, 40);
        let mut last = Duration::ZERO;
        for number in 0..40 {
            last = sender.next_event();
            let packet = sender.poll_packet(last, 28).unwrap();
            assert_eq!(packet.number, number);
            assert_eq!(sender.poll_packet(last, 28), None);
        }
        // 1/ρ of the interval, headers included.
        let part = last.as_secs_f64() * 60.0;
        assert!((0.77..0.83).contains(&part), "{part}");
        assert_eq!(sender.next_event(), sender.next_frame());
    }

    #[test]
    fn a_slow_encoder_reaches_the_target_in_equal_steps() {
        let config = VideoConfig {
            response_frames: 3,
            start_bps: 4.8e6,
            ..VideoConfig::default()
        };
        let mut sender = VideoSender::new(config, Duration::ZERO);
        assert_eq!(sent(&mut sender, 0.05), [10_000; 3]);
        sender.rate().guided(19.2e6);
        assert_eq!(sent(&mut sender, 0.1), [20_000, 30_000, 40_000]);
    }
}
