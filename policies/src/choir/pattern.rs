//! Eqs. 7 to 15: guidance that leaves the queue empty when the next frame comes.

use super::error::Errors;
use super::frames::FrameInterval;
use super::{InFlight, Parameters, Path};
use std::collections::VecDeque;
use std::time::Duration;

/// Bound of the time that guidance takes to act.
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(1);

/// Guidance for the sender, and what led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guidance {
    /// B̂_i: what the sender may send, bit/s (eq. 7).
    pub guided_bps: f64,
    /// BW_i, bit/s (eq. 6).
    pub bandwidth_bps: f64,
    /// DR_i, bit/s (eq. 8), not below 0: a negative one would lift the guidance above η·BW_i.
    pub draining_bps: f64,
    /// FI_i, s (eq. 9).
    pub frame_interval_s: f64,
    /// FNum_i (eq. 11).
    pub frames: u32,
    /// rlcQ_i, octets: the least of the queue within the last frame interval.
    pub queue_octets: f64,
    /// PredQ_i, octets (eq. 15); negative if there is room to spare.
    pub predicted_octets: f64,
}

/// A TTI or a report, as the pattern of the flow sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Its end.
    pub now: Duration,
    /// BW_i, bit/s; `None` while nothing was sent yet.
    pub bandwidth_bps: Option<f64>,
    /// Octets in the RLC queue at its end.
    pub queue_octets: u64,
    /// Octets that arrived for the flow within it.
    pub arrived_octets: u64,
}

/// State of one flow.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    parameters: Parameters,
    path: Path,
    frames: FrameInterval,
    /// The steps of the last frame interval: end, BW_i, queue.
    steps: VecDeque<(Duration, f64, u64)>,
    /// Feedbacks given, oldest first: time, bit/s.
    given: VecDeque<(Duration, f64)>,
    errors: Errors,
    /// Since when arrivals are counted for the next error, and how many octets came.
    counted: Option<(Duration, u64)>,
    /// Frame intervals per error: more than one where steps are too long to see single frames.
    frames_per_error: f64,
}

impl Pattern {
    pub fn new(
        parameters: Parameters,
        path: Path,
        announced_interval: Option<Duration>,
        step: Duration,
    ) -> Self {
        // Edge servers announce their delay: beyond this no guidance acts in time anyway.
        let path = Path {
            round_trip: path.round_trip.min(LONGEST_ROUND_TRIP),
            lead: path.lead.min(LONGEST_ROUND_TRIP),
        };
        let coarse = step * 4 > parameters.frame_interval;
        Self {
            frames: FrameInterval::new(announced_interval, &parameters),
            steps: VecDeque::new(),
            given: VecDeque::new(),
            errors: Errors::new(parameters.error_memory),
            counted: None,
            frames_per_error: if coarse { 3.0 } else { 1.0 },
            path,
            parameters,
        }
    }

    pub fn observe(&mut self, step: Step) {
        let Step { now, .. } = step;
        if step.arrived_octets > 0 {
            self.frames.arrived(now, &self.parameters);
        }
        let interval = Duration::from_secs_f64(self.frames.seconds());
        if let Some(bandwidth) = step.bandwidth_bps {
            self.steps.push_back((now, bandwidth, step.queue_octets));
        }
        while self.steps.len() > 1 && self.steps[0].0 + interval <= now {
            self.steps.pop_front();
        }
        self.count(now, step.arrived_octets);
    }

    /// Every frame interval: by how much what arrived falls short of what was guided.
    fn count(&mut self, now: Duration, arrived: u64) {
        let Some((since, octets)) = &mut self.counted else {
            if arrived > 0 {
                self.counted = Some((now, 0));
            }
            return;
        };
        *octets += arrived;
        let elapsed = now.saturating_sub(*since).as_secs_f64();
        if elapsed < self.frames.seconds() * self.frames_per_error {
            return;
        }
        let sent_bps = *octets as f64 * 8.0 / elapsed;
        let begin = std::mem::replace(since, now);
        *octets = 0;
        let heard = begin.checked_sub(self.path.round_trip);
        if let Some(guided) = heard.and_then(|heard| self.given_by(heard)) {
            self.errors.push(guided - sent_bps);
        }
    }

    /// Guidance now; `None` while no bandwidth is known.
    pub fn guide(&self) -> Option<Guidance> {
        let &(now, bandwidth_bps, _) = self.steps.back()?;
        let interval = self.frames.seconds();
        let round_trip = self.path.round_trip.as_secs_f64();
        // Eq. 11.
        let frames = (round_trip / interval).floor() as u32 + 1;
        // Eq. 12.
        let until_effect = self.path.lead.as_secs_f64() + interval * f64::from(frames);
        // Eq. 10.
        let mean_bps = self.steps.iter().map(|s| s.1).sum::<f64>() / self.steps.len() as f64;
        let queue_octets = self.steps.iter().map(|s| s.2).min().unwrap_or(0) as f64;
        // Eqs. 13 and 14, and the sum of eq. 15.
        let coming: f64 = (1..=frames)
            .map(|k| {
                let guided = self.heard_by_frame(now, k).unwrap_or(0.0);
                (guided - self.errors.ahead(k.cast_signed())).max(0.0) * interval / 8.0
            })
            .sum();
        // Eq. 15.
        let predicted_octets = coming + queue_octets - mean_bps / 8.0 * until_effect;
        // Eq. 8.
        let draining_bps = (predicted_octets * 8.0 / interval).max(0.0);
        // Eq. 7.
        let guided_bps = (self.parameters.eta * bandwidth_bps - draining_bps).max(0.0);
        Some(Guidance {
            guided_bps,
            bandwidth_bps,
            draining_bps,
            frame_interval_s: interval,
            frames,
            queue_octets,
            predicted_octets,
        })
    }

    /// The guidance goes to the sender.
    pub fn given(&mut self, now: Duration, guided_bps: f64) {
        self.given.push_back((now, guided_bps));
        // The oldest that is still asked for: of the frame before the one that arrives.
        let kept = self.path.round_trip.as_secs_f64() * 2.0 + 8.0 * self.frames.seconds();
        let kept = Duration::from_secs_f64(kept);
        while self.given.len() > 1 && self.given[1].0 + kept < now {
            self.given.pop_front();
        }
    }

    /// HisBW_k: the feedback that shapes the k-th frame to come.
    fn heard_by_frame(&self, now: Duration, k: u32) -> Option<f64> {
        let frames = Duration::from_secs_f64(self.frames.seconds()) * (k - 1);
        let by = match self.parameters.in_flight {
            InFlight::Causal => (now + frames).checked_sub(self.path.round_trip),
            InFlight::Printed => now.checked_sub(self.path.round_trip + frames),
        };
        by.and_then(|by| self.given_by(by))
    }

    /// The last feedback given by then.
    fn given_by(&self, by: Duration) -> Option<f64> {
        let index = self.given.partition_point(|&(at, _)| at <= by);
        Some(self.given.get(index.checked_sub(1)?)?.1)
    }
}
