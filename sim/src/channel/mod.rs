//! The downlink channel of a UE: SINR per sub-band over time, modelled or replayed.
//!
//! A channel's course depends on its seed and on time alone, never on how often it is asked: a UE meets the same
//! fading under every policy.

pub mod fading;
pub mod mobility;
pub mod pathloss;
pub mod replay;

use crate::linkmodel::mutual_information::{Modulation, mutual_information};
use crate::random::stream;
use fading::{Fading, SUBBANDS};
use mobility::{Mobility, Position, Walker};
use pathloss::{Budget, Shadowing};
use rand_xoshiro::Xoshiro256PlusPlus;
use replay::Replay;
use std::ops::Range;
use std::time::Duration;

/// Time between two values of the fast fading: a tenth of the coherence time at walking speed.
const FAST_STEP: Duration = Duration::from_micros(2500);
/// Fast steps between two positions and values of the shadowing (a tenth of a metre at walking speed).
const FAST_PER_SLOW: u32 = 40;

/// A channel model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Movement.
    pub mobility: Mobility,
    /// Powers, path loss, shadowing.
    pub budget: Budget,
    /// Fast fading; without it the channel is flat.
    pub fading: bool,
    /// Time after which the clusters are drawn anew; `None`: never (5G-LENA's default).
    pub redraw: Option<Duration>,
    /// Bandwidth over which the power is spread, Hz.
    pub bandwidth_hz: f64,
}

/// How the base station spreads its power over the PRBs of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerAllocation {
    /// Over all PRBs of the carrier: the density is constant.
    #[default]
    FullBand,
    /// Over the PRBs in use (5G-LENA's default): few PRBs are received better.
    UsedPrbs,
}

impl PowerAllocation {
    /// Gain in density, dB, when `used` of `total` PRBs are in use.
    pub fn boost_db(self, used: u16, total: u16) -> f64 {
        match self {
            Self::FullBand => 0.0,
            Self::UsedPrbs => 10.0 * (f64::from(total) / f64::from(used.max(1))).log10(),
        }
    }
}

/// The channel of one UE.
#[derive(Clone, Debug)]
pub struct Channel {
    source: Source,
    /// SINR per sub-band at the density of a fully used carrier, linear and in dB.
    sinr: [f32; SUBBANDS],
    sinr_db: [f32; SUBBANDS],
    /// MCS that a recording prescribes.
    mcs: Option<u8>,
}

#[derive(Clone, Debug)]
enum Source {
    Fixed,
    Modelled(Box<Modelled>),
    Replay(Replay),
}

#[derive(Clone, Debug)]
struct Modelled {
    model: Model,
    walker: Walker,
    shadowing: Shadowing,
    fading: Option<Fading>,
    random: Xoshiro256PlusPlus,
    position: Position,
    /// Mean SINR with shadowing, linear.
    mean: f64,
    /// When the next fast step is due, and how many were done since the last slow one.
    next: Duration,
    since_slow: u32,
    redraw_at: Option<Duration>,
}

impl Channel {
    /// A channel of constant SINR.
    pub fn fixed(sinr_db: f64) -> Self {
        let mut channel = Self::new(Source::Fixed);
        channel.set([linear(sinr_db) as f32; SUBBANDS]);
        channel
    }

    fn new(source: Source) -> Self {
        Self {
            source,
            sinr: [0.0; SUBBANDS],
            sinr_db: [f32::NEG_INFINITY; SUBBANDS],
            mcs: None,
        }
    }

    fn set(&mut self, sinr: [f32; SUBBANDS]) {
        self.sinr = sinr;
        self.sinr_db = sinr.map(|sinr| 10.0 * sinr.log10());
    }

    /// A recorded channel.
    pub fn replayed(replay: Replay) -> Self {
        let mut channel = Self::new(Source::Replay(replay));
        channel.advance(Duration::ZERO);
        channel
    }

    /// The channel of UE number `ue` under a model.
    pub fn modelled(model: Model, seed: u64, ue: u64) -> Self {
        let mut walker = Walker::new(model.mobility, stream(seed, "mobility", ue));
        let position = walker.position(Duration::ZERO);
        let at = (position.x, position.y);
        let mut modelled = Modelled {
            walker,
            shadowing: Shadowing::new(&model.budget, at, stream(seed, "shadowing", ue)),
            fading: None,
            random: stream(seed, "fading", ue),
            position,
            mean: 0.0,
            next: Duration::ZERO,
            since_slow: FAST_PER_SLOW - 1,
            redraw_at: model.redraw,
            model,
        };
        if model.fading {
            modelled.draw_clusters();
        }
        let mut channel = Self::new(Source::Modelled(Box::new(modelled)));
        channel.advance(Duration::ZERO);
        channel
    }

    /// Brings the channel to `now`, which must not run backwards.
    pub fn advance(&mut self, now: Duration) {
        match &mut self.source {
            Source::Fixed => {}
            Source::Replay(replay) => {
                let (sinr_db, mcs) = replay.at(now);
                self.mcs = mcs;
                self.set([linear(sinr_db) as f32; SUBBANDS]);
            }
            Source::Modelled(modelled) => {
                let mut moved = false;
                while modelled.next <= now {
                    modelled.step();
                    moved = true;
                }
                if moved {
                    let mean = modelled.mean as f32;
                    let sinr = match &modelled.fading {
                        Some(fading) => fading.gains().map(|gain| gain * mean),
                        None => [mean; SUBBANDS],
                    };
                    self.set(sinr);
                }
            }
        }
    }

    /// The MCS that the base station used when the channel was recorded, if the recording tells.
    pub fn recorded_mcs(&self) -> Option<u8> {
        self.mcs
    }

    /// Linear SINR per sub-band, lowest frequency first, at the density of a fully used carrier.
    pub fn subbands(&self) -> &[f32; SUBBANDS] {
        &self.sinr
    }

    /// Mean SINR of the whole carrier, dB.
    pub fn wideband_db(&self) -> f64 {
        let sum: f32 = self.sinr.iter().sum();
        10.0 * f64::from(sum / SUBBANDS as f32).log10()
    }

    /// Mean SINR in dB of the PRBs `prbs` of a carrier of `total`.
    pub fn mean_db(&self, prbs: Range<u16>, total: u16) -> f64 {
        let mean = mean_over(prbs, total, |band| f64::from(self.sinr[band]));
        10.0 * mean.log10()
    }

    /// Mean mutual information per coded bit of the PRBs `prbs` of a carrier of `total`, when they are sent with `boost_db`
    /// more than the density of a fully used carrier.
    pub fn information(
        &self,
        modulation: Modulation,
        prbs: Range<u16>,
        total: u16,
        boost_db: f64,
    ) -> f64 {
        mean_over(prbs, total, |band| {
            mutual_information(modulation, f64::from(self.sinr_db[band]) + boost_db)
        })
    }

    /// Where a modelled UE was at the last slow step.
    pub fn position(&self) -> Option<Position> {
        match &self.source {
            Source::Modelled(modelled) => Some(modelled.position),
            _ => None,
        }
    }
}

/// Mean over PRBs of a quantity that depends on the sub-band.
fn mean_over(prbs: Range<u16>, total: u16, of: impl Fn(usize) -> f64) -> f64 {
    let width = f64::from(total.max(1)) / SUBBANDS as f64;
    let (start, end) = (f64::from(prbs.start), f64::from(prbs.end));
    let mut sum = 0.0;
    for band in 0..SUBBANDS {
        let low = band as f64 * width;
        let overlap = end.min(low + width) - start.max(low);
        if overlap > 0.0 {
            sum += overlap * of(band);
        }
    }
    sum / (end - start).max(f64::MIN_POSITIVE)
}

impl Modelled {
    fn draw_clusters(&mut self) {
        // The base station is at the origin.
        let los = (-self.position.y).atan2(-self.position.x);
        let carrier_hz = self.model.budget.carrier_ghz * 1e9;
        let bandwidth = self.model.bandwidth_hz;
        self.fading = Some(Fading::new(carrier_hz, bandwidth, los, &mut self.random));
    }

    fn step(&mut self) {
        self.since_slow += 1;
        if self.since_slow == FAST_PER_SLOW {
            self.since_slow = 0;
            self.slow_step(self.next);
        } else if let Some(fading) = &mut self.fading {
            fading.step();
        }
        self.next += FAST_STEP;
    }

    fn slow_step(&mut self, now: Duration) {
        self.position = self.walker.position(now);
        let Position { x, y, vx, vy } = self.position;
        let budget = &self.model.budget;
        let mean_db = budget.mean_sinr_db(x, y, self.model.bandwidth_hz);
        self.mean = linear(mean_db + self.shadowing.at(x, y));
        if self.redraw_at.is_some_and(|at| at <= now) && self.fading.is_some() {
            self.draw_clusters();
            self.redraw_at = self.model.redraw.map(|every| now + every);
        }
        if let Some(fading) = &mut self.fading {
            let seconds = FAST_STEP.as_secs_f64();
            fading.place((x, y), (vx * seconds, vy * seconds));
        }
    }
}

fn linear(db: f64) -> f64 {
    10_f64.powf(db / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mobility::GaussMarkov;

    fn model() -> Model {
        Model {
            mobility: Mobility::GaussMarkov(GaussMarkov::default()),
            budget: Budget::default(),
            fading: true,
            redraw: None,
            bandwidth_hz: 106.0 * 12.0 * 30e3,
        }
    }

    #[test]
    fn course_does_not_depend_on_how_often_it_is_asked() {
        let mut often = Channel::modelled(model(), 7, 2);
        let mut seldom = Channel::modelled(model(), 7, 2);
        for slot in 0..20_000 {
            often.advance(Duration::from_micros(500) * slot);
        }
        seldom.advance(Duration::from_micros(500) * 19_999);
        assert_eq!(often.subbands(), seldom.subbands());
    }

    #[test]
    fn mean_over_a_range_weighs_the_subbands_it_covers() {
        let mean = |prbs| mean_over(prbs, 80, |band| band as f64);
        assert_eq!(mean(0..80), 3.5);
        assert_eq!(mean(0..10), 0.0);
        assert!((mean(5..15) - 0.5).abs() < 1e-12);
        assert_eq!(mean(70..80), 7.0);
    }

    #[test]
    fn few_prbs_get_all_the_power_only_if_told_so() {
        assert_eq!(PowerAllocation::FullBand.boost_db(10, 100), 0.0);
        assert_eq!(PowerAllocation::UsedPrbs.boost_db(10, 100), 10.0);
    }
}
