//! What rules a flow, as plain values: its slice policy on top of the configuration.

use super::factor::TargetFactor;
use super::policy::{Latency, RateRange, SlicePolicy};
use super::set::Source;
use crate::gain::GainPolicy;
use std::sync::Arc;

/// What rules a flow. Whoever decides more closely (an experiment's arm) changes a copy of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectivePolicy {
    /// The slice policy; `None`: no policy applies, the configuration rules.
    pub provenance: Option<Provenance>,
    /// Gain policies in order of preference; empty: as the edge server, or the configuration, says.
    pub gain_policies: Vec<GainPolicy>,
    /// PRB target factor.
    pub factor: Factor,
    /// Delay to keep to.
    pub latency: Option<Latency>,
    /// Rate of the flow.
    pub flow_rate: RateRange,
    /// Rate of all flows of the policy in the cell together.
    pub slice_rate: RateRange,
    /// The part of the cell's PRBs that all flows of the policy may target together, times f.
    pub prb_share: Option<f64>,
}

/// Which slice policy it is, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provenance {
    /// Who gave it.
    pub source: Source,
    /// Its name.
    pub name: Arc<str>,
}

/// PRB target factor f of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Factor {
    /// As configured.
    #[default]
    Configured,
    /// This.
    Fixed(f64),
    /// Adapted within these bounds until the latency objective holds.
    Auto {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
}

impl EffectivePolicy {
    pub(super) fn new(policy: &SlicePolicy, source: Source) -> Self {
        let spec = &policy.spec;
        let auto = || match spec.prb.factors() {
            Ok((min, max)) => Factor::Auto { min, max },
            // The policy was checked.
            Err(_) => Factor::Configured,
        };
        let factor = match (spec.prb.target_factor, &spec.latency) {
            (Some(TargetFactor::Fixed(factor)), _) => Factor::Fixed(factor),
            (Some(TargetFactor::Auto), _) | (None, Some(_)) => auto(),
            (None, None) => Factor::Configured,
        };
        Self {
            provenance: Some(Provenance {
                source,
                name: policy.name().into(),
            }),
            gain_policies: spec.gain_policies.clone(),
            factor,
            latency: spec.latency.clone(),
            flow_rate: spec.flow_rate,
            slice_rate: spec.slice_rate,
            prb_share: spec.prb.share,
        }
    }

    /// Name of the slice policy; empty: none.
    pub fn policy_name(&self) -> &str {
        self.provenance.as_ref().map_or("", |p| &p.name)
    }
}
