//! Recorded intervals, decided again by another policy.

use policies::decision_log::LoggedDecision;
use policies::model::{Card, Inference};
use policies::{Batch, Controller, Error, GainParameters, GainPolicy};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// After a pause of this length, a flow begins anew: it was not bound, or nobody decided.
const PAUSE_US: i64 = 10_000_000;
/// Time of the first decision on the reports' clock: its reports ended before.
const START: Duration = Duration::from_secs(3600);

/// Who decides again, and how.
pub struct Shadow<'a> {
    /// The gain policy.
    pub policy: GainPolicy,
    /// Its parameters.
    pub parameters: GainParameters,
    /// PRB target factor f in place of the recorded one.
    pub factor: Option<f64>,
    /// Each decision goes on from the shadow's own one before, not from the recorded rate.
    pub own_rate: bool,
    /// Model of a learned policy.
    pub model: Option<(Arc<Card>, &'a mut dyn Inference)>,
}

/// One interval of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Unix time of the decision, microseconds.
    pub time_us: i64,
    /// Rate that the recorded decision started from, bit/s.
    pub previous_rate_bps: f64,
    /// Rate decided, bit/s.
    pub recorded_rate_bps: f64,
    /// Gain applied, bit/s per PRB.
    pub recorded_gain_bps_per_prb: f64,
    /// Rate that the shadow's decision started from, bit/s.
    pub shadow_from_bps: f64,
    /// Rate that the shadow decided, bit/s.
    pub shadow_rate_bps: f64,
    /// Gain that the shadow applied, bit/s per PRB.
    pub shadow_gain_bps_per_prb: f64,
}

/// A flow and its intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShadowedFlow {
    /// Edge server.
    pub edge: String,
    /// Flow.
    pub flow: String,
    /// In the order of time.
    pub steps: Vec<Step>,
}

/// What a flow's intervals add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Number of intervals.
    pub decisions: usize,
    /// Mean of the recorded rates, bit/s.
    pub recorded_rate_bps: f64,
    /// Mean of the shadow's rates, bit/s.
    pub shadow_rate_bps: f64,
    /// Mean distance of both, bit/s.
    pub distance_bps: f64,
    /// Part of the intervals in which one raised the rate and the other lowered it.
    pub opposed: f64,
    /// Mean of the recorded gains, bit/s per PRB.
    pub recorded_gain_bps_per_prb: f64,
    /// Mean of the shadow's gains, bit/s per PRB.
    pub shadow_gain_bps_per_prb: f64,
}

impl Shadow<'_> {
    /// Decides again about all that was recorded, flow by flow.
    ///
    /// # Errors
    /// When a parameter is out of its range, or the policy lacks its model.
    pub fn decide(&mut self, decisions: &[LoggedDecision]) -> Result<Vec<ShadowedFlow>, Error> {
        let mut flows: BTreeMap<(&str, &str), Vec<&LoggedDecision>> = BTreeMap::new();
        for decision in decisions {
            let key = (decision.edge.as_str(), decision.flow.as_str());
            flows.entry(key).or_default().push(decision);
        }
        let flows = flows.into_iter().map(|((edge, flow), mut recorded)| {
            recorded.sort_by_key(|decision| decision.sequence);
            // After an outage of the store a decision can be in the log twice.
            recorded.dedup_by_key(|decision| decision.sequence);
            Ok(ShadowedFlow {
                edge: edge.to_owned(),
                flow: flow.to_owned(),
                steps: self.flow(&recorded)?,
            })
        });
        flows.collect()
    }

    fn flow(&mut self, recorded: &[&LoggedDecision]) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::with_capacity(recorded.len());
        let mut batch = Batch::default();
        let together = |a: &&LoggedDecision, b: &&LoggedDecision| b.time_us - a.time_us < PAUSE_US;
        for run in recorded.chunk_by(together) {
            let mut controller = self.controller()?;
            let Some(first) = run.first() else { continue };
            controller.set_rate_bps(first.previous_rate_bps);
            for decision in run {
                if !self.own_rate {
                    controller.set_rate_bps(decision.previous_rate_bps);
                }
                let since = u64::try_from(decision.time_us - first.time_us).unwrap_or(0);
                let now = START + Duration::from_micros(since);
                steps.push(self.step(decision, controller.as_mut(), &mut batch, now));
            }
        }
        Ok(steps)
    }

    fn step(
        &mut self,
        recorded: &LoggedDecision,
        controller: &mut dyn Controller,
        batch: &mut Batch,
        now: Duration,
    ) -> Step {
        let reports = recorded.ue_reports(now);
        let mut interval = recorded.interval(now, &reports);
        if let Some(factor) = self.factor {
            interval.target.factor = factor;
        }
        let shadow_from_bps = controller.rate_bps();
        batch.clear();
        let row = batch.observe(controller, &interval);
        if let Some((_, model)) = &mut self.model
            && !batch.is_empty()
        {
            // Without an answer the controller says so itself: its decision holds the rate.
            let _ = batch.infer(*model);
        }
        let shadow = batch.decide(controller, &interval, row);
        Step {
            time_us: recorded.time_us,
            previous_rate_bps: recorded.previous_rate_bps,
            recorded_rate_bps: recorded.rate_bps,
            recorded_gain_bps_per_prb: recorded.gain_bps_per_prb,
            shadow_from_bps,
            shadow_rate_bps: shadow.rate_bps,
            shadow_gain_bps_per_prb: shadow.gain_bps_per_prb,
        }
    }

    fn controller(&self) -> Result<Box<dyn Controller>, Error> {
        let card = self.model.as_ref().map(|(card, _)| card);
        self.policy.controller(&self.parameters, card)
    }
}

impl ShadowedFlow {
    /// What its intervals add up to.
    pub fn summary(&self) -> Summary {
        let mean = |value: &dyn Fn(&Step) -> f64| {
            let count = self.steps.len().max(1) as f64;
            self.steps.iter().map(value).sum::<f64>() / count
        };
        let opposed = |step: &Step| {
            let recorded = step.recorded_rate_bps - step.previous_rate_bps;
            let shadow = step.shadow_rate_bps - step.shadow_from_bps;
            f64::from(u8::from(recorded * shadow < 0.0))
        };
        Summary {
            decisions: self.steps.len(),
            recorded_rate_bps: mean(&|step| step.recorded_rate_bps),
            shadow_rate_bps: mean(&|step| step.shadow_rate_bps),
            distance_bps: mean(&|step| (step.shadow_rate_bps - step.recorded_rate_bps).abs()),
            opposed: mean(&opposed),
            recorded_gain_bps_per_prb: mean(&|step| step.recorded_gain_bps_per_prb),
            shadow_gain_bps_per_prb: mean(&|step| step.shadow_gain_bps_per_prb),
        }
    }
}
