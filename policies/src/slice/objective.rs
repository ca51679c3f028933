//! The outer loop: adapts the PRB target factor f of a slice until its delay objective holds.
//!
//! The smaller f, the more PRBs are left over when the channel of a UE fades, and the shorter its queue. Once every
//! [`PERIOD`] the loop looks at the delays since f last fell:
//! - *Too long* (a percentile: more of them exceed [`AIM`] of the objective than may in a [`WINDOW`]; a mean: it does):
//!   f falls in proportion to the excess, by [`DOWN`] at most (the rate limit), and the f that was too much is remembered.
//! - *Short* (the statistic is below [`CALM`] of the objective, and nothing was too long for [`PATIENCE`] periods): f rises
//!   quickly until [`MARGIN`] below an f that was too much, then it creeps, the faster the longer nothing happens, as CUBIC
//!   does with its window (RFC 9438 clause 4.2): each time that an f is found to be too much costs the objective a window,
//!   so it must not happen often.
//! - *Between*: f stays (hysteresis).
//!
//! Anti-windup: f is the loop's only integrator and never leaves its bounds; it does not rise while the flows do not use
//! the PRBs that they may (then something else limits them, and a larger f would only be found out later); and delays
//! from before a fall say nothing about the present f, so that a queue that still drains does not push f further down.
//!
//! The constants were chosen on the scenario `slice-objectives` of the simulator (docs/operating.md has the figures).

use super::policy::Latency;
use std::collections::VecDeque;
use std::time::Duration;

/// How often f may change.
pub const PERIOD: Duration = Duration::from_secs(1);
/// Time over which the objective is to hold.
pub const WINDOW: Duration = Duration::from_secs(10);
/// Part of the objective at which the loop aims: what is sampled at the end of each report misses the peaks between.
const AIM: f64 = 0.75;
/// Largest part by which f falls in a period.
const DOWN: f64 = 0.2;
/// f falls by the excess of the delay to this power: delay grows much faster than f.
const SHARPNESS: f64 = 0.25;
/// Part of the aim below which f may rise.
const CALM: f64 = 0.7;
/// Periods without too long a delay after which f may rise.
const PATIENCE: u32 = 3;
/// Part of an f that was too much from which on f only creeps.
const MARGIN: f64 = 0.1;
/// Part of the distance to there by which f rises in a period, and the most that it rises.
const APPROACH: (f64, f64) = (0.1, 0.02);
/// By how much f creeps in a period, and after how many calm periods twice as fast.
const CREEP: (f64, f64) = (1e-4, 200.0);

/// How the objective stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectiveState {
    /// No delay was measured lately.
    NotMeasured,
    /// It holds.
    Met,
    /// It does not hold.
    Violated,
}

/// The outer loop of one slice in one cell.
#[derive(Clone, Debug)]
pub struct OuterLoop {
    latency: Latency,
    bounds: (f64, f64),
    factor: f64,
    /// An f that was too much.
    too_much: Option<f64>,
    /// Delays by periods, the newest last; the last one is open.
    periods: VecDeque<Delays>,
    /// Periods since f changed, the open one included.
    fresh: usize,
    calm: u32,
    /// When the open period began.
    began: Option<Duration>,
}

impl OuterLoop {
    /// Adapts f within `bounds`, beginning at `factor`.
    pub fn new(latency: Latency, bounds: (f64, f64), factor: f64) -> Self {
        Self {
            latency,
            bounds,
            factor: factor.clamp(bounds.0, bounds.1),
            too_much: None,
            periods: VecDeque::from([Delays::default()]),
            fresh: 1,
            calm: 0,
            began: None,
        }
    }

    /// f now.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// A delay was measured, ms.
    pub fn observe(&mut self, ms: f64) {
        if let (Some(open), true) = (self.periods.back_mut(), ms.is_finite()) {
            open.add(ms, AIM * self.latency.ms);
        }
    }

    /// The statistic over the last [`WINDOW`], ms; `None`: nothing was measured.
    pub fn measured_ms(&self) -> Option<f64> {
        statistic(&self.latency, self.periods.iter())
    }

    /// How the objective stands over the last [`WINDOW`].
    pub fn state(&self) -> ObjectiveState {
        match self.measured_ms() {
            None => ObjectiveState::NotMeasured,
            Some(ms) if ms <= self.latency.ms => ObjectiveState::Met,
            Some(_) => ObjectiveState::Violated,
        }
    }

    /// Ends the period if it is over. `limited`: the flows do not use the PRBs that they may. Returns f.
    pub fn update(&mut self, now: Duration, limited: bool) -> f64 {
        let began = *self.began.get_or_insert(now);
        if now.saturating_sub(began) < PERIOD {
            return self.factor;
        }
        self.began = Some(now);
        self.adapt(limited);
        self.periods.push_back(Delays::default());
        self.fresh += 1;
        let kept = (WINDOW.as_secs_f64() / PERIOD.as_secs_f64()) as usize;
        while self.periods.len() > kept {
            self.periods.pop_front();
        }
        self.factor
    }

    fn adapt(&mut self, limited: bool) {
        let fresh = self.fresh.min(self.periods.len());
        let since = || self.periods.range(self.periods.len() - fresh..);
        let Some(measured) = statistic(&self.latency, since()) else {
            return;
        };
        let objective = AIM * self.latency.ms;
        let too_long = match self.latency.statistic.quantile() {
            None => measured > objective,
            Some(quantile) => {
                let over: u64 = since().map(|d| d.over).sum();
                // As many as may in a window of which these periods are a part.
                let per_period = since().map(|d| d.count).sum::<u64>() as f64 / fresh as f64;
                let window = per_period * WINDOW.as_secs_f64() / PERIOD.as_secs_f64();
                over as f64 > (1.0 - quantile) * window
            }
        };
        if too_long {
            self.calm = 0;
            // Where f cannot fall any more, it was not f that was too much.
            if self.factor > self.bounds.0 {
                self.too_much = Some(self.factor);
            }
            let excess = (measured / objective).max(1.0).powf(SHARPNESS);
            self.set(self.factor * (1.0 / excess).max(1.0 - DOWN));
            return;
        }
        self.calm = self.calm.saturating_add(1);
        if self.calm < PATIENCE || measured > CALM * objective || limited {
            return;
        }
        let below = match self.too_much {
            Some(too_much) => (1.0 - MARGIN) * too_much - self.factor,
            None => f64::INFINITY,
        };
        let creep = CREEP.0 * (1.0 + (f64::from(self.calm) / CREEP.1).powi(2));
        let step = (APPROACH.0 * below).max(creep).min(APPROACH.1);
        // A rise is small: what was measured before it still counts.
        self.factor = (self.factor + step).min(self.bounds.1);
    }

    fn set(&mut self, factor: f64) {
        let factor = factor.clamp(self.bounds.0, self.bounds.1);
        if factor != self.factor {
            self.factor = factor;
            self.fresh = 0;
        }
    }
}

/// Statistic of the delays of some periods, ms.
fn statistic<'a>(
    latency: &Latency,
    periods: impl Iterator<Item = &'a Delays> + Clone,
) -> Option<f64> {
    let count: u64 = periods.clone().map(|d| d.count).sum();
    if count == 0 {
        return None;
    }
    let Some(quantile) = latency.statistic.quantile() else {
        let sum: f64 = periods.map(|d| d.sum_ms).sum();
        return Some(sum / count as f64);
    };
    let rank = (quantile * count as f64).ceil() as u64;
    let mut seen = 0;
    let bucket = (0..BUCKETS).find(|bucket| {
        seen += periods
            .clone()
            .map(|d| u64::from(d.buckets[*bucket]))
            .sum::<u64>();
        seen >= rank
    });
    Some(LEAST_MS * RATIO.powi(bucket.unwrap_or(BUCKETS) as i32))
}

const BUCKETS: usize = 256;
/// Upper edge of the first bucket, ms.
const LEAST_MS: f64 = 0.1;
/// Upper edge of a bucket over that of the one before: percentiles are exact to this. The last edge is 85 s.
const RATIO: f64 = 1.055;

/// Delays of one period: constant in memory, however often they are reported.
#[derive(Clone, Debug)]
struct Delays {
    buckets: Box<[u32; BUCKETS]>,
    count: u64,
    /// Those above the objective.
    over: u64,
    sum_ms: f64,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            buckets: Box::new([0; BUCKETS]),
            count: 0,
            over: 0,
            sum_ms: 0.0,
        }
    }
}

impl Delays {
    fn add(&mut self, ms: f64, objective_ms: f64) {
        let bucket = ((ms / LEAST_MS).max(1.0).ln() / RATIO.ln()).ceil() as usize;
        self.buckets[bucket.min(BUCKETS - 1)] += 1;
        self.count += 1;
        self.over += u64::from(ms > objective_ms);
        self.sum_ms += ms;
    }
}
