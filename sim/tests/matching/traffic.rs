//! Traffic of edge servers.

use policies::matching::dither;
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use std::time::Duration;

/// Octets of a packet.
pub const PACKET: u32 = 1400;

/// What a flow carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Frames of 30 per second, of sizes that follow the scene, paced over a few milliseconds.
    Video,
    /// A few Mbit/s for a second or so, and silence.
    OnOff,
    /// Web pages: bursts at line rate.
    Pages,
    /// As the edge library sends without guidance: from 2 Mbit/s down to 1 Mbit/s, half of the way in 250 ms,
    /// dithered. Then as the controller says.
    Guided,
    /// A constant rate of 2 Mbit/s from a moment on, seconds.
    Constant { begin: f64 },
    /// The same, dithered.
    Dithered { begin: f64 },
}

/// A source: what it sends in each slot.
pub struct Source {
    kind: Kind,
    seed: u64,
    random: SmallRng,
    /// Octets that wait to be paced, and the rate at which they are, octets per second.
    backlog: f64,
    rate: f64,
    /// What changes next, and when.
    next: f64,
    on: bool,
    scene: f64,
    credit: f64,
    begin: f64,
    /// Rate of guidance, bit/s.
    pub guided_bps: Option<f64>,
}

impl Source {
    pub fn new(kind: Kind, seed: u64) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        let begin = match kind {
            Kind::Constant { begin } | Kind::Dithered { begin } => begin,
            _ => random.random_range(0.5..8.0),
        };
        Self {
            kind,
            seed,
            backlog: 0.0,
            rate: 0.0,
            next: begin,
            on: false,
            scene: random.random_range(6e3..14e3),
            credit: 0.0,
            begin,
            guided_bps: None,
            random,
        }
    }

    /// Packets of the slot of `length` seconds from `now` on.
    pub fn packets(&mut self, now: f64, length: f64) -> u32 {
        if now < self.begin {
            return 0;
        }
        match self.kind {
            Kind::Video => self.video(now),
            Kind::OnOff => self.on_off(now),
            Kind::Pages => self.pages(now),
            Kind::Guided => {
                let fallback = 1e6 + 1e6 * (-(now - self.begin) / 0.25).exp2();
                let dithered = fallback * self.dither(now);
                self.constant(self.guided_bps.unwrap_or(dithered), length);
            }
            Kind::Constant { .. } => self.constant(2e6, length),
            Kind::Dithered { .. } => self.constant(2e6 * self.dither(now), length),
        }
        let due = self.backlog.min(self.rate * length);
        self.backlog -= due;
        self.credit += due;
        let packets = (self.credit / f64::from(PACKET)).floor();
        self.credit -= packets * f64::from(PACKET);
        packets as u32
    }

    fn constant(&mut self, bps: f64, length: f64) {
        self.rate = bps / 8.0;
        self.backlog += self.rate * length;
    }

    fn dither(&self, now: f64) -> f64 {
        dither(self.seed, Duration::from_secs_f64(now), 0.4)
    }

    fn video(&mut self, now: f64) {
        if now < self.next {
            return;
        }
        self.next += 1.0 / 30.0;
        if self.random.random_bool(1.0 / 60.0) {
            self.scene = self.random.random_range(4e3..16e3);
            self.backlog += 4.0 * self.scene;
        }
        self.backlog += self.scene * self.random.random_range(0.6..1.5);
        self.rate = 30e6 / 8.0;
    }

    fn on_off(&mut self, now: f64) {
        if now >= self.next {
            self.on = !self.on;
            let mean: f64 = if self.on { 1.2 } else { 0.8 };
            self.next = now - mean * self.random.random_range(0.02_f64..1.0).ln().max(-2.5);
            self.rate = self.random.random_range(2e6..6e6) / 8.0;
        }
        self.backlog = if self.on {
            f64::from(PACKET) * 100.0
        } else {
            0.0
        };
    }

    fn pages(&mut self, now: f64) {
        if now < self.next {
            return;
        }
        self.next = now + self.random.random_range(0.2..1.6);
        self.backlog += self.random.random_range(10e3..300e3);
        self.rate = 25e6 / 8.0;
    }
}
