//! A flow's controller with guard rails: PRISM as long as it is to be trusted, else RAPID.

use super::{Cause, Guard, GuardRails, Signs};
use crate::{
    controller::{Controller, Decision, Interval, Note, RateBounds},
    gain::GainPolicy,
    model::best,
    prism::Prism,
    rapid::Rapid,
};

/// Observations that differ by less in every number are the same.
const SAME_OBSERVATION: f32 = 1e-3;

/// PRISM within guard rails.
#[derive(Clone, Debug)]
pub struct Guarded {
    prism: Prism,
    reserve: Rapid,
    guard: Guard,
    rails: GuardRails,
    /// An observation of the present interval is with the model.
    asked: bool,
    /// The last observation and the answer to it.
    last: Option<(Vec<f32>, Vec<f32>)>,
}

impl Guarded {
    /// `prism`, with `reserve` for when it is demoted.
    pub fn new(prism: Prism, reserve: Rapid, rails: GuardRails) -> Self {
        Self {
            prism,
            reserve,
            guard: Guard::new(rails),
            rails,
            asked: false,
            last: None,
        }
    }

    fn signs(&mut self, scores: Option<&[f32]>) -> Signs {
        let outside = self.prism.observations().outside();
        let Some(scores) = scores else {
            return Signs {
                no_answer: true,
                outside,
                ..Signs::default()
            };
        };
        let observation = self.prism.observations().newest();
        let (repeated, same) = match &self.last {
            None => (None, false),
            Some((before, answer)) => {
                let close = |(a, b): (&f32, &f32)| (a - b).abs() < SAME_OBSERVATION;
                let same = before.iter().zip(observation).all(close);
                ((!same).then_some(answer == scores), same)
            }
        };
        if !same {
            let (before, answer) = self.last.get_or_insert_default();
            observation.clone_into(before);
            scores.clone_into(answer);
        }
        Signs {
            no_answer: false,
            not_finite: best(scores).is_none(),
            repeated,
            outside,
        }
    }

    fn judged(&mut self, interval: &Interval<'_>, scores: Option<&[f32]>) -> Decision {
        // Without a report there is nothing to judge.
        let trusted = if std::mem::take(&mut self.asked) {
            let signs = self.signs(scores);
            self.guard.judge(interval.now, &signs)
        } else {
            self.guard.demoted().is_none()
        };
        if trusted {
            let before = self.prism.rate_bps();
            let gain = scores.and_then(best);
            let mut decision = self.prism.decide_with(interval, gain);
            self.limit_step(before, interval.bounds, &mut decision);
            self.reserve.set_rate_bps(decision.rate_bps);
            decision
        } else {
            let decision = self.reserve.decide(interval);
            self.prism.set_rate_bps(decision.rate_bps);
            decision
        }
    }

    fn limit_step(&mut self, before: f64, bounds: RateBounds, decision: &mut Decision) {
        let step = self.rails.max_step * bounds.max_bps;
        let limited = bounds.clamp(decision.rate_bps.clamp(before - step, before + step));
        if limited != decision.rate_bps {
            decision.rate_bps = limited;
            decision.note = Some(Note::StepLimited);
            self.prism.set_rate_bps(limited);
        }
    }
}

impl Controller for Guarded {
    fn policy(&self) -> GainPolicy {
        match self.guard.demoted() {
            None => self.prism.policy(),
            Some(_) => self.reserve.policy(),
        }
    }

    fn demoted(&self) -> Option<Cause> {
        self.guard.demoted()
    }

    /// Also while demoted: the model goes on answering, so that it can be seen when it is well again.
    fn observe(&mut self, interval: &Interval<'_>, batch: &mut Vec<f32>) -> bool {
        self.asked = self.prism.observe(interval, batch);
        self.asked
    }

    fn decide_scored(&mut self, interval: &Interval<'_>, scores: &[f32]) -> Decision {
        self.judged(interval, Some(scores))
    }

    fn decide(&mut self, interval: &Interval<'_>) -> Decision {
        self.judged(interval, None)
    }

    fn rate_bps(&self) -> f64 {
        self.prism.rate_bps()
    }

    fn set_rate_bps(&mut self, rate_bps: f64) {
        self.prism.set_rate_bps(rate_bps);
        self.reserve.set_rate_bps(rate_bps);
    }
}
