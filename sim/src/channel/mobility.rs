//! Where a UE is: standing, or walking by a Gauss-Markov model in a rectangle around the base station.
//!
//! Gauss-Markov: T. Camp, J. Boleng, V. Davies, "A survey of mobility models for ad hoc network research", Wireless
//! Communications and Mobile Computing 2(5), 2002, section 2.5; with reflection at the borders. Speed and direction are
//! drawn anew every `step`, and the UE walks straight in between.

use crate::random::normal;
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};
use std::time::Duration;

/// How a UE moves. Coordinates are in metres, the base station is at (0, 0).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mobility {
    /// Stands at a point.
    Static {
        /// East, m.
        x: f64,
        /// North, m.
        y: f64,
    },
    /// Walks, from a uniformly drawn start.
    GaussMarkov(GaussMarkov),
}

/// Parameters of the Gauss-Markov model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GaussMarkov {
    /// Mean speed, m/s.
    pub speed: f64,
    /// Memory α: 0 is a random walk, 1 a straight line.
    pub alpha: f64,
    /// Time between two draws, s.
    pub step_s: f64,
    /// Half the side of the square in which it stays, m.
    pub half_side: f64,
    /// Variance of the normal term of the speed, (m/s)².
    pub speed_variance: f64,
    /// Variance of the normal term of the direction, rad².
    pub direction_variance: f64,
}

impl Default for GaussMarkov {
    /// PRISM's 1 m/s, α = 0.95, 30 s, 200 m × 200 m; the paper does not give the variances.
    fn default() -> Self {
        Self {
            speed: 1.0,
            alpha: 0.95,
            step_s: 30.0,
            half_side: 100.0,
            speed_variance: 0.1,
            direction_variance: 0.2,
        }
    }
}

/// A point and the velocity there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// East, m.
    pub x: f64,
    /// North, m.
    pub y: f64,
    /// Velocity to the east, m/s.
    pub vx: f64,
    /// Velocity to the north, m/s.
    pub vy: f64,
}

/// A walking (or standing) UE.
#[derive(Clone, Debug)]
pub struct Walker {
    position: Position,
    at: Duration,
    walk: Option<Walk>,
}

#[derive(Clone, Debug)]
struct Walk {
    model: GaussMarkov,
    speed: f64,
    direction: f64,
    mean_direction: f64,
    next_draw: Duration,
    random: Xoshiro256PlusPlus,
}

impl Walker {
    /// A UE at time 0.
    pub fn new(mobility: Mobility, mut random: Xoshiro256PlusPlus) -> Self {
        match mobility {
            Mobility::Static { x, y } => Self {
                position: Position {
                    x,
                    y,
                    vx: 0.0,
                    vy: 0.0,
                },
                at: Duration::ZERO,
                walk: None,
            },
            Mobility::GaussMarkov(model) => {
                let x = random.random_range(-1.0..1.0) * model.half_side;
                let y = random.random_range(-1.0..1.0) * model.half_side;
                let direction = random.random_range(0.0..TAU);
                let mut walker = Self {
                    position: Position {
                        x,
                        y,
                        vx: 0.0,
                        vy: 0.0,
                    },
                    at: Duration::ZERO,
                    walk: Some(Walk {
                        speed: model.speed,
                        direction,
                        mean_direction: direction,
                        next_draw: Duration::from_secs_f64(model.step_s),
                        model,
                        random,
                    }),
                };
                walker.turn();
                walker
            }
        }
    }

    /// Where it is at `now`, which must not run backwards.
    pub fn position(&mut self, now: Duration) -> Position {
        while let Some(next_draw) = self.walk.as_ref().map(|w| w.next_draw)
            && next_draw <= now
        {
            self.walk_until(next_draw);
            self.draw();
        }
        self.walk_until(now);
        self.position
    }

    fn draw(&mut self) {
        let Some(walk) = &mut self.walk else { return };
        let GaussMarkov {
            speed,
            alpha,
            step_s,
            speed_variance,
            direction_variance,
            ..
        } = walk.model;
        let fresh = (1.0 - alpha * alpha).sqrt();
        let mut noise = |variance: f64| fresh * normal(&mut walk.random, 0.0, variance.sqrt());
        walk.speed = alpha * walk.speed + (1.0 - alpha) * speed + noise(speed_variance);
        walk.direction = alpha * walk.direction
            + (1.0 - alpha) * walk.mean_direction
            + noise(direction_variance);
        walk.next_draw += Duration::from_secs_f64(step_s);
        self.turn();
    }

    fn turn(&mut self) {
        if let Some(walk) = &self.walk {
            self.position.vx = walk.speed * walk.direction.cos();
            self.position.vy = walk.speed * walk.direction.sin();
        }
    }

    fn walk_until(&mut self, until: Duration) {
        let seconds = until.saturating_sub(self.at).as_secs_f64();
        self.at = self.at.max(until);
        let Some(walk) = &mut self.walk else { return };
        let side = walk.model.half_side;
        let p = &mut self.position;
        p.x += p.vx * seconds;
        p.y += p.vy * seconds;
        let mut bounced = false;
        if p.x.abs() > side {
            p.x = reflect(p.x, side);
            walk.direction = PI - walk.direction;
            walk.mean_direction = PI - walk.mean_direction;
            bounced = true;
        }
        if p.y.abs() > side {
            p.y = reflect(p.y, side);
            walk.direction = -walk.direction;
            walk.mean_direction = -walk.mean_direction;
            bounced = true;
        }
        if bounced {
            self.turn();
        }
    }
}

/// Mirrors a coordinate that has crossed a border of [−side, side], once.
fn reflect(value: f64, side: f64) -> f64 {
    (value.signum() * 2.0 * side - value).clamp(-side, side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn walks_about_as_fast_as_told_and_stays_in_its_square() {
        let model = GaussMarkov::default();
        let (mut path, walkers) = (0.0, 40);
        for seed in 0..walkers {
            let mut walker = Walker::new(Mobility::GaussMarkov(model), stream(seed, "mobility", 0));
            let mut previous = walker.position(Duration::ZERO);
            for second in 1..=2000 {
                let p = walker.position(Duration::from_secs(second));
                assert!(p.x.abs() <= 100.0 && p.y.abs() <= 100.0);
                path += (p.x - previous.x).hypot(p.y - previous.y);
                previous = p;
            }
        }
        let speed = path / (2000 * walkers) as f64;
        assert!((0.9..1.1).contains(&speed), "{speed} m/s");
    }

    #[test]
    fn position_does_not_depend_on_how_often_it_is_asked() {
        let mobility = Mobility::GaussMarkov(GaussMarkov::default());
        let mut often = Walker::new(mobility, stream(3, "mobility", 0));
        let mut seldom = Walker::new(mobility, stream(3, "mobility", 0));
        for ms in (0..40_000).step_by(100) {
            often.position(Duration::from_millis(ms));
        }
        let (a, b) = (
            often.position(Duration::from_secs(40)),
            seldom.position(Duration::from_secs(40)),
        );
        assert!((a.x - b.x).abs() < 1e-6 && (a.y - b.y).abs() < 1e-6);
    }
}
