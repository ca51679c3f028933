//! What the flows of one slice policy have in common in one cell: the target factor, the share of the PRBs, the rates.

use super::effective::{EffectivePolicy, Factor};
use super::objective::{ObjectiveState, OuterLoop};
use super::policy::Latency;
use crate::controller::{RateBounds, Target};
use std::sync::Arc;
use std::time::Duration;

/// Flows that use less than this part of their PRB target are limited by something else.
const USED: f64 = 0.8;

/// The flows of one policy in one cell.
#[derive(Clone, Debug)]
pub struct SliceControl {
    effective: Arc<EffectivePolicy>,
    configured: f64,
    objective: Option<OuterLoop>,
    used_prbs: f64,
    target_prbs: f64,
}

impl SliceControl {
    /// Control by a policy; `configured` is the PRB target factor where it leaves that open.
    pub fn new(effective: Arc<EffectivePolicy>, configured: f64) -> Self {
        let mut control = Self {
            effective,
            configured,
            objective: None,
            used_prbs: 0.0,
            target_prbs: 0.0,
        };
        control.objective = control.outer_loop(configured);
        control
    }

    /// The policy has changed: the loop begins anew from the present factor.
    pub fn change(&mut self, effective: Arc<EffectivePolicy>) {
        let same = self.effective.latency == effective.latency
            && self.effective.factor == effective.factor;
        let factor = self.factor();
        self.effective = effective;
        if !same {
            self.objective = self.outer_loop(factor);
        }
    }

    /// A fixed factor leaves nothing to adapt, but the objective is still watched.
    fn outer_loop(&self, factor: f64) -> Option<OuterLoop> {
        let latency = self.effective.latency.clone()?;
        let bounds = match self.effective.factor {
            Factor::Auto { min, max } => (min, max),
            Factor::Fixed(fixed) => (fixed, fixed),
            Factor::Configured => (self.configured, self.configured),
        };
        Some(OuterLoop::new(latency, bounds, factor))
    }

    /// The policy.
    pub fn effective(&self) -> &Arc<EffectivePolicy> {
        &self.effective
    }

    /// The delay objective.
    pub fn latency(&self) -> Option<&Latency> {
        self.effective.latency.as_ref()
    }

    /// PRB target factor f now.
    pub fn factor(&self) -> f64 {
        match (&self.objective, self.effective.factor) {
            (Some(objective), _) => objective.factor(),
            (None, Factor::Fixed(factor)) => factor,
            (None, _) => self.configured,
        }
    }

    /// The measured statistic of the objective, ms, and how the objective stands.
    pub fn objective(&self) -> Option<(Option<f64>, ObjectiveState)> {
        let objective = self.objective.as_ref()?;
        Some((objective.measured_ms(), objective.state()))
    }

    /// A delay of one of its flows, ms.
    pub fn observe(&mut self, ms: f64) {
        if let Some(objective) = &mut self.objective {
            objective.observe(ms);
        }
    }

    /// One of its flows compared its PRB use with its target.
    pub fn used(&mut self, prbs: f64, target_prbs: f64) {
        self.used_prbs += prbs;
        self.target_prbs += target_prbs;
    }

    /// A control interval begins: the outer loop has its turn.
    pub fn begin_interval(&mut self, now: Duration) {
        let limited = self.used_prbs < USED * self.target_prbs;
        (self.used_prbs, self.target_prbs) = (0.0, 0.0);
        if let Some(objective) = &mut self.objective {
            objective.update(now, limited);
        }
    }

    /// PRB target of each of its flows where `active` flows share a cell of `cell_prbs`, `own` of them of this policy: an
    /// equal part of the cell, but together at most the policy's share.
    pub fn target(&self, cell_prbs: f64, active: u32, own: u32) -> Target {
        let (active, own) = (active.max(1), own.max(1));
        let equal = 1.0 / f64::from(active);
        let part = match self.effective.prb_share {
            Some(share) => equal.min(share / f64::from(own)),
            None => equal,
        };
        Target {
            factor: self.factor() * part / equal,
            cell_prbs,
            active_flows: active,
        }
    }

    /// Bounds of the rate of each of its `own` flows within those of the cell: the policy's floor and ceiling, and an equal
    /// part of the slice's floor. The cell's ceiling goes before any floor.
    pub fn bounds(&self, cell: RateBounds, own: u32) -> RateBounds {
        let flow = &self.effective.flow_rate;
        let slice_floor = self
            .effective
            .slice_rate
            .min_bps
            .map_or(0.0, |bps| bps as f64 / f64::from(own.max(1)));
        let floor = flow.min_bps.map_or(cell.min_bps, |bps| bps as f64);
        let ceiling = flow.max_bps.map_or(cell.max_bps, |bps| bps as f64);
        let max_bps = ceiling.min(cell.max_bps);
        RateBounds {
            min_bps: floor.max(slice_floor).min(max_bps),
            max_bps,
        }
    }

    /// Brings rates down to what the policy allows its flows together: each gives up the same part of what it has above
    /// its floor. `false`: they were within it.
    pub fn limit(&self, flows: &mut [(f64, RateBounds)]) -> bool {
        let Some(ceiling) = self.effective.slice_rate.max_bps else {
            return false;
        };
        let total: f64 = flows.iter().map(|(rate, _)| rate).sum();
        let floors: f64 = flows.iter().map(|(rate, b)| b.min_bps.min(*rate)).sum();
        if total <= ceiling as f64 {
            return false;
        }
        let part = ((ceiling as f64 - floors) / (total - floors)).clamp(0.0, 1.0);
        for (rate, bounds) in flows {
            let floor = bounds.min_bps.min(*rate);
            *rate = floor + (*rate - floor) * part;
        }
        true
    }
}
