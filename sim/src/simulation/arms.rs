//! An experiment in the simulation: every interval each guided flow gets its arm, and what it did is told.

use super::flow::Flow;
use policies::controller::{Controller, Decision};
use policies::experiment::{Choice, Sampler, Trial};
use policies::report::UeId;
use policies::slice::FlowFacts;
use std::sync::Arc;
use std::time::Duration;

/// Makes the controller of a flow for an arm; `None`: the flow keeps the one it has.
pub type MakeController = Box<dyn Fn(usize) -> Option<Box<dyn Controller>> + Send>;

/// An experiment in one cell.
pub struct Arms {
    trial: Trial,
    cell: Arc<str>,
    flows: Vec<FlowArm>,
    decided: Duration,
}

/// A flow in the experiment.
struct FlowArm {
    make: Option<MakeController>,
    choice: Option<Choice>,
    /// Arm with whose settings the flow runs.
    runs: Option<usize>,
    sampler: Sampler,
    /// Octets sent and received up to the last decision.
    counted: (u64, u64),
}

impl Arms {
    /// `make`: for each flow, what makes its controllers; `None` for flows that are not guided. Virtual time counts as
    /// Unix time.
    pub fn new(trial: Trial, cell: &str, make: Vec<Option<MakeController>>) -> Self {
        let flow = |make| FlowArm {
            make,
            choice: None,
            runs: None,
            sampler: Sampler::default(),
            counted: (0, 0),
        };
        Self {
            trial,
            cell: cell.into(),
            flows: make.into_iter().map(flow).collect(),
            decided: Duration::ZERO,
        }
    }

    /// What has been observed.
    pub fn into_trial(mut self, now: Duration) -> Trial {
        self.trial.settle(now);
        self.trial
    }

    /// Gives an active flow its arm; the PRB target factor of it, if it has one.
    pub(super) fn choose(&mut self, now: Duration, index: usize, flow: &mut Flow) -> Option<f64> {
        let arm = self.flows.get_mut(index)?;
        let make = arm.make.as_ref()?;
        let facts = FlowFacts {
            slice: None,
            cell: self.cell.clone(),
            ue: UeId::CRnti(u16::try_from(flow.ue()).unwrap_or(u16::MAX)),
            address: None,
        };
        arm.choice = self.trial.choose(now, &facts, "");
        let runs = self.trial.settings(arm.choice.as_ref()?);
        if arm.runs.replace(runs) != Some(runs)
            && let Some(controller) = make(runs)
        {
            flow.go_on_with(controller);
        }
        let settings = self.trial.experiment().settings(runs)?;
        settings.target_factor
    }

    /// The reports that a flow is about to decide from.
    pub(super) fn reports(&mut self, index: usize, flow: &Flow) {
        if let Some(arm) = self.flows.get_mut(index) {
            arm.sampler.reports(flow.reports(), Duration::ZERO);
        }
    }

    /// A flow has decided.
    pub(super) fn decided(
        &mut self,
        now: Duration,
        index: usize,
        flow: &Flow,
        decision: &Decision,
        previous_rate_bps: f64,
    ) {
        let Some(arm) = self.flows.get_mut(index) else {
            return;
        };
        let totals = flow.results.octets();
        let sent = totals.0 - arm.counted.0;
        let received = totals.1 - arm.counted.1;
        arm.counted = totals;
        arm.sampler.sent(sent, received);
        let length = now.saturating_sub(self.decided);
        let sample = arm.sampler.decided(decision, previous_rate_bps, length);
        if let Some(choice) = &arm.choice {
            self.trial.record(now, flow.name(), choice, &sample);
        }
    }

    /// All flows have decided.
    pub(super) fn end_interval(&mut self, now: Duration) {
        self.decided = now;
    }
}
