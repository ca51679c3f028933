//! Slice policies in a simulation, controlled by what controls them in the xApp.

use super::flow::Flow;
use policies::controller::Target;
use policies::slice::SlicePolicy;
use policies::slice::{
    DelayMeter, Entry, ObjectiveState, Origin, Place, SliceControl, Source, Spec,
};
use std::time::Duration;

/// A slice of a simulation.
#[derive(Clone, Debug)]
pub struct SliceConfig {
    /// Name.
    pub name: String,
    /// What its policy says; the scope is ignored.
    pub spec: Spec,
    /// Indices of its flows.
    pub flows: Vec<usize>,
}

/// A running slice.
#[derive(Debug)]
pub(super) struct Slice {
    control: SliceControl,
    /// Its flows, each with what measures its delay.
    flows: Vec<(usize, DelayMeter)>,
    active: u32,
    history: Vec<SliceRow>,
}

/// How a slice stood at the end of a control interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceRow {
    /// When.
    pub at: Duration,
    /// PRB target factor f.
    pub factor: f64,
    /// The measured statistic of its objective, ms.
    pub measured_ms: Option<f64>,
    /// How the objective stood.
    pub state: ObjectiveState,
}

impl Slice {
    pub fn new(config: SliceConfig, factor: f64) -> Self {
        let place = Place {
            text: "scenario".into(),
            line: 0,
        };
        let source = Source::File;
        let policy = SlicePolicy::new(config.name, config.spec);
        let entry = Entry::new(policy, Origin { source, place });
        let meters = config
            .flows
            .into_iter()
            .map(|flow| (flow, DelayMeter::default()));
        Self {
            control: SliceControl::new(entry.effective, factor),
            flows: meters.collect(),
            active: 0,
            history: Vec::new(),
        }
    }

    pub fn history(&self) -> &[SliceRow] {
        &self.history
    }

    /// A control interval ends: what its reports say of the delay, then the outer loop, then bounds and target of each of
    /// its flows.
    pub fn begin(&mut self, now: Duration, wired: Duration, flows: &mut [Flow]) {
        self.active = 0;
        for (index, meter) in &mut self.flows {
            let flow = &flows[*index];
            self.active += u32::from(flow.active(now));
            let Some(latency) = self.control.latency().cloned() else {
                continue;
            };
            for report in flow.reports() {
                if let Some((ms, _)) = meter.report(&latency, report, wired) {
                    self.control.observe(ms);
                }
            }
        }
        self.control.begin_interval(now);
        let (measured_ms, state) = self
            .control
            .objective()
            .unwrap_or((None, ObjectiveState::NotMeasured));
        self.history.push(SliceRow {
            at: now,
            factor: self.control.factor(),
            measured_ms,
            state,
        });
        for (index, _) in &self.flows {
            flows[*index].bound_by(&self.control, self.active);
        }
    }

    /// Target of a flow that is one of its.
    pub fn target(&self, flow: usize, cell: Target) -> Option<Target> {
        let Target {
            cell_prbs,
            active_flows,
            ..
        } = cell;
        self.has(flow)
            .then(|| self.control.target(cell_prbs, active_flows, self.active))
    }

    /// Whether a flow is one of its.
    pub fn has(&self, flow: usize) -> bool {
        self.flows.iter().any(|(index, _)| *index == flow)
    }

    /// One of its flows has decided.
    pub fn used(&mut self, prbs: Option<f64>, target_prbs: f64) {
        if let Some(prbs) = prbs {
            self.control.used(prbs, target_prbs);
        }
    }

    /// All have decided: together they keep to its ceiling.
    pub fn conclude(&self, now: Duration, flows: &mut [Flow]) {
        let guided: Vec<_> = self
            .flows
            .iter()
            .filter_map(|(index, _)| {
                let flow = flows.get(*index).filter(|flow| flow.active(now))?;
                Some((*index, (flow.rate_bps()?, flow.bounds()?)))
            })
            .collect();
        let mut rates: Vec<_> = guided.iter().map(|(_, rate)| *rate).collect();
        if self.control.limit(&mut rates) {
            for ((index, _), (rate_bps, _)) in guided.into_iter().zip(rates) {
                flows[index].set_rate(now, rate_bps);
            }
        }
    }
}
