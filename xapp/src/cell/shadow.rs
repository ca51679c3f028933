//! Shadow mode: a gain policy that decides beside the one that rules a flow, and is not followed.

use policies::model::Card;
use policies::{Batch, Controller, GainParameters, GainPolicy, Interval, Row};
use std::sync::Arc;

/// What a policy would have decided.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowDecision {
    /// The gain policy that decided: the one in the shadow, or RAPID where guard rails demoted it.
    pub policy: GainPolicy,
    /// Rate, bit/s.
    pub rate_bps: f64,
    /// The gain that a learned policy chose.
    pub chosen_gain: Option<f64>,
}

/// A policy in the shadow of a flow's.
pub(super) struct Shadow {
    policy: GainPolicy,
    card: Option<Arc<Card>>,
    controller: Box<dyn Controller>,
    row: Option<Row>,
}

impl Shadow {
    /// `policy` beside a flow, if its parameters allow; `card`: that of the model in use.
    pub(super) fn new(
        policy: GainPolicy,
        parameters: &GainParameters,
        card: Option<&Arc<Card>>,
    ) -> Option<Self> {
        Some(Self {
            policy,
            card: card.cloned(),
            controller: policy.controller(parameters, card).ok()?,
            row: None,
        })
    }

    /// It is this policy, with this model if it needs one.
    pub(super) fn is(&self, policy: GainPolicy, card: Option<&Arc<Card>>) -> bool {
        self.policy == policy && (!policy.learned() || same(self.card.as_ref(), card))
    }

    /// Observes the interval that the flow was sent at `rate_bps` in: it decides from there, as if it had ruled.
    pub(super) fn observe(&mut self, interval: &Interval<'_>, rate_bps: f64, batch: &mut Batch) {
        self.controller.set_rate_bps(rate_bps);
        self.row = batch.observe(self.controller.as_mut(), interval);
    }

    pub(super) fn decide(&mut self, interval: &Interval<'_>, batch: &Batch) -> ShadowDecision {
        let decision = batch.decide(self.controller.as_mut(), interval, self.row.take());
        ShadowDecision {
            policy: self.controller.policy(),
            rate_bps: decision.rate_bps,
            chosen_gain: decision.chosen_gain,
        }
    }
}

/// They are the card of the same loaded model.
pub(super) fn same(a: Option<&Arc<Card>>, b: Option<&Arc<Card>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}
