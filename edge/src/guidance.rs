//! What a flow makes of guidance: a state machine that is told the time.
//!
//! ```text
//!             first guidance               valid-for is over        as long again
//!  Waiting ──► Ramping ──► Guided ────────────────► Holding ─────────────────► Fallback
//!                 ▲                                                               │
//!                 └───────────────────────── new guidance ────────────────────────┘
//! ```
//!
//! Guidance that is older than its valid-for never looks like valid guidance: its rate is applied only in
//! [`Phase::Holding`], and after [`Phase::Fallback`] began not at all.

use crate::fallback::Fallback;
use crate::report::FlowMeasurement;
use policies::controller::RateBounds;
use proto::guidance as pb;
use std::time::Duration;

/// Which rule gives a flow its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No guidance came yet: the fallback controller rules from the start rate on.
    Waiting,
    /// Valid guidance is applied.
    Guided,
    /// Guidance became too old; its rate is held for as long again as it was valid.
    Holding,
    /// The fallback controller rules.
    Fallback,
    /// Valid guidance is back; the rate rises to it at a limited pace.
    Ramping,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Waiting => "waiting",
            Self::Guided => "guided",
            Self::Holding => "holding",
            Self::Fallback => "fallback",
            Self::Ramping => "ramping",
        })
    }
}

/// What a sender applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Pacing {
    /// Send rate of IP packets, bit/s.
    pub rate_bps: f64,
    /// Which rule gives this rate.
    pub phase: Phase,
    /// Sequence of the newest guidance; 0: none came yet.
    pub sequence: u64,
    /// For frame-based video: encoder target bitrate, bit/s. Only while guidance is valid.
    pub target_bitrate_bps: Option<f64>,
    /// For frame-based video: pacing rate, bit/s. Only while guidance is valid.
    pub pacing_rate_bps: Option<f64>,
    /// Why the xApp decided on this rate. Only while guidance is valid.
    pub reason: Option<pb::Reason>,
}

/// How a flow follows guidance.
#[derive(Clone, Debug)]
pub struct FlowSettings {
    /// Rate before any guidance came, bit/s.
    pub start_rate_bps: f64,
    /// Bounds of every rate, whoever gives it.
    pub bounds: RateBounds,
    /// Guidance that claims to be valid for longer counts as valid for this long.
    pub max_valid_for: Duration,
    /// When guidance is back the rate at most doubles in this time.
    pub ramp_doubling: Duration,
    /// Part of its rate, 0 to 0.9, by which a flow is dithered while the xApp does not know its UE: by this the xApp can
    /// tell it among flows with equal traffic. The mean rate stays. 0: not at all.
    pub dither: f64,
}

impl Default for FlowSettings {
    fn default() -> Self {
        Self {
            start_rate_bps: 2e6,
            bounds: RateBounds {
                min_bps: 64e3,
                max_bps: 10e9,
            },
            max_valid_for: Duration::from_secs(10),
            ramp_doubling: Duration::from_millis(100),
            dither: 0.0,
        }
    }
}

/// Guidance messages of a flow, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Applied.
    pub accepted: u64,
    /// Dropped: sequence not above the newest one.
    pub old: u64,
    /// Dropped: no time of validity.
    pub invalid: u64,
}

/// What became of a guidance message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It rules the flow now.
    Accepted,
    /// Its sequence is not above the newest one: dropped.
    Old,
    /// It is valid for no time: dropped.
    Invalid,
}

/// State of one flow. All times are on the caller's monotonic clock.
pub struct FlowGuidance {
    settings: FlowSettings,
    fallback: Box<dyn Fallback>,
    state: State,
    newest: Option<Newest>,
    counters: Counters,
}

#[derive(Clone, Copy)]
enum State {
    Waiting,
    Guided,
    Holding { rate_bps: f64, was_ramping: bool },
    Fallback,
    Ramping { since: Duration, from_bps: f64 },
}

struct Newest {
    guidance: pb::Guidance,
    received: Duration,
    valid_for: Duration,
}

impl Newest {
    fn expires(&self) -> Duration {
        self.received.saturating_add(self.valid_for)
    }

    fn hold_ends(&self) -> Duration {
        self.expires().saturating_add(self.valid_for)
    }
}

impl FlowGuidance {
    /// Steps in which a ramp is updated.
    const RAMP_STEP: Duration = Duration::from_millis(5);

    /// A flow without guidance: `fallback` takes it over at the start rate.
    pub fn new(settings: FlowSettings, mut fallback: Box<dyn Fallback>, now: Duration) -> Self {
        fallback.start(now, settings.start_rate_bps);
        Self {
            settings,
            fallback,
            state: State::Waiting,
            newest: None,
            counters: Counters::default(),
        }
    }

    /// A guidance message for this flow came in.
    pub fn receive(&mut self, guidance: pb::Guidance, now: Duration) -> Outcome {
        self.advance(now);
        if self
            .newest
            .as_ref()
            .is_some_and(|newest| guidance.sequence <= newest.guidance.sequence)
        {
            self.counters.old += 1;
            return Outcome::Old;
        }
        if guidance.valid_for_us == 0 {
            self.counters.invalid += 1;
            return Outcome::Invalid;
        }
        let from_bps = self.rate_bps(now);
        let catching_up = match self.state {
            State::Waiting | State::Fallback | State::Ramping { .. } => true,
            State::Holding { was_ramping, .. } => was_ramping,
            State::Guided => false,
        };
        self.state = if catching_up && self.clamp(guidance.rate_bps as f64) > from_bps {
            State::Ramping {
                since: now,
                from_bps,
            }
        } else {
            State::Guided
        };
        self.newest = Some(Newest {
            received: now,
            valid_for: Duration::from_micros(guidance.valid_for_us)
                .min(self.settings.max_valid_for),
            guidance,
        });
        self.counters.accepted += 1;
        Outcome::Accepted
    }

    /// Tells the fallback controller what was measured.
    pub fn measured(&mut self, now: Duration, measurement: &FlowMeasurement) {
        self.fallback.measured(now, measurement);
    }

    /// What to apply now.
    pub fn pacing(&mut self, now: Duration) -> Pacing {
        self.advance(now);
        let rate_bps = self.rate_bps(now);
        let phase = match self.state {
            State::Waiting => Phase::Waiting,
            State::Guided => Phase::Guided,
            State::Holding { .. } => Phase::Holding,
            State::Fallback => Phase::Fallback,
            State::Ramping { .. } => Phase::Ramping,
        };
        let valid = self
            .newest
            .as_ref()
            .filter(|_| matches!(phase, Phase::Guided | Phase::Ramping))
            .map(|newest| &newest.guidance);
        let given = |bps: u64| (bps > 0).then(|| self.clamp(bps as f64));
        Pacing {
            rate_bps,
            phase,
            sequence: self.sequence(),
            target_bitrate_bps: valid.and_then(|g| given(g.target_bitrate_bps)),
            pacing_rate_bps: valid.and_then(|g| given(g.pacing_rate_bps)),
            reason: valid.and_then(|g| g.reason.clone()),
        }
    }

    /// When [`Self::pacing`] will change although nothing comes in; `None`: not by itself.
    pub fn next_change(&self, now: Duration) -> Option<Duration> {
        let newest = self.newest.as_ref();
        match self.state {
            State::Waiting | State::Fallback => self.fallback.next_change(now),
            State::Guided => newest.map(Newest::expires),
            State::Holding { .. } => newest.map(Newest::hold_ends),
            State::Ramping { .. } => newest.map(|n| n.expires().min(now + Self::RAMP_STEP)),
        }
    }

    /// Sequence of the newest guidance; 0: none came yet.
    pub fn sequence(&self) -> u64 {
        self.newest.as_ref().map_or(0, |n| n.guidance.sequence)
    }

    /// Messages so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Goes through the state changes that time alone brings.
    fn advance(&mut self, now: Duration) {
        let Some((expires, hold_ends)) = self.newest.as_ref().map(|n| (n.expires(), n.hold_ends()))
        else {
            return;
        };
        if let State::Guided | State::Ramping { .. } = self.state
            && now >= expires
        {
            self.state = State::Holding {
                rate_bps: self.rate_bps(expires),
                was_ramping: matches!(self.state, State::Ramping { .. }),
            };
        }
        if let State::Holding { rate_bps, .. } = self.state
            && now >= hold_ends
        {
            self.fallback.start(hold_ends, rate_bps);
            self.state = State::Fallback;
        }
        if let State::Ramping { .. } = self.state
            && self.rate_bps(now) >= self.guided_bps()
        {
            self.state = State::Guided;
        }
    }

    fn rate_bps(&mut self, now: Duration) -> f64 {
        let rate = match self.state {
            State::Waiting | State::Fallback => self.fallback.rate_bps(now),
            State::Guided => self.guided_bps(),
            State::Holding { rate_bps, .. } => rate_bps,
            State::Ramping { since, from_bps } => {
                let doublings = now.saturating_sub(since).as_secs_f64()
                    / self.settings.ramp_doubling.as_secs_f64().max(1e-9);
                (from_bps * doublings.exp2()).min(self.guided_bps())
            }
        };
        self.clamp(rate)
    }

    fn guided_bps(&self) -> f64 {
        let rate = self.newest.as_ref().map_or(0, |n| n.guidance.rate_bps);
        self.clamp(rate as f64)
    }

    fn clamp(&self, rate_bps: f64) -> f64 {
        let RateBounds { min_bps, max_bps } = self.settings.bounds;
        // A controller that answers NaN gets the floor.
        if rate_bps.is_nan() {
            min_bps
        } else {
            rate_bps.min(max_bps).max(min_bps)
        }
    }
}

#[cfg(test)]
mod tests;
