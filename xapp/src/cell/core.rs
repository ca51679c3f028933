//! The deciding core of a cell: UEs, flows, and what each interval brings. No I/O, no clock.
//!
//! Decisions follow the reports: an interval ends with the first report of a guided UE after Δ, so that a
//! decision never waits for a timer while its newest report ages. Without reports it ends by time.

use super::arm::{EdgeMeasured, FlowArm};
use super::flow::{DecisionRecord, Flow, PolicyChange};
use super::slices::Slices;
use super::ue::Ue;
use super::view::{FlowRule, SliceView};
use crate::config::Config;
use crate::guidance::FlowKey;
use crate::guidance::hub::Notice;
use crate::guidance::registry::BoundFlow;
use crate::models::Model;
use crate::ran::NodeId;
use policies::experiment::Sample;
use policies::model::Refusal;
use policies::slice::{FlowFacts, PolicySet};
use policies::{ActiveUes, Batch, GainParameters, GainPolicy, UeId, UeReport};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// UEs per node. A cell serves some hundreds; more can only be a node that invents them.
const MAX_UES: usize = 4096;
/// A UE counts as active for so many control intervals after its last data.
const ACTIVE_FOR_INTERVALS: u32 = 5;

/// What a cell is told once.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Control interval Δ.
    pub interval: Duration,
    /// Report period δ.
    pub report_period: Duration,
    /// Time for which guidance holds.
    pub valid_for: Duration,
    /// A UE without reports for this long is gone.
    pub ue_timeout: Duration,
    /// PRB target factor f.
    pub target_factor: f64,
    /// Parameters of the gain policies.
    pub gain: GainParameters,
    /// Gain policy that decides beside the one that rules a flow, and is not followed.
    pub shadow: Option<GainPolicy>,
    /// Rate floor, bit/s.
    pub rate_min_bps: f64,
    /// Rate ceiling, bit/s.
    pub rate_max_bps: f64,
    /// What one PRB in every slot carries at best, bit/s.
    pub peak_bps_per_prb: f64,
}

impl From<&Config> for Settings {
    fn from(config: &Config) -> Self {
        let control = &config.control;
        let report_period = Duration::from_millis(config.ran.report_period_ms.into());
        Self {
            interval: control.interval(),
            report_period,
            valid_for: config.valid_for(),
            ue_timeout: control.ue_timeout(),
            target_factor: control.target_factor,
            gain: GainParameters {
                k: control.gain,
                gamma_bps_per_prb: control.gamma_bps_per_prb as f64,
                initial_bps: control.start_rate_bps as f64,
                report_interval: report_period,
                guard: Some(config.guard.rails()),
                ..GainParameters::default()
            },
            shadow: control.shadow,
            rate_min_bps: control.rate_min_bps as f64,
            rate_max_bps: control.rate_max_bps as f64,
            peak_bps_per_prb: control.peak_bps_per_prb as f64,
        }
    }
}

/// State of one E2 node.
pub struct Cell {
    node: NodeId,
    settings: Settings,
    ues: BTreeMap<UeId, Ue>,
    active: ActiveUes,
    flows: BTreeMap<FlowKey, Flow>,
    slices: Slices,
    /// What learned policies ask.
    model: Option<Arc<Model>>,
    batch: Batch,
    /// Why the model did not answer in the last tick.
    model_failure: Option<Refusal>,
    last_decision: Duration,
    /// The report of a guided UE came with which the interval ends.
    complete: bool,
    /// A report came for a flow whose policy decides with every report.
    prompt: bool,
    notices: Vec<Notice>,
    refused_ues: u64,
}

/// A UE, for operators.
#[derive(Clone, Debug)]
pub struct UeView {
    /// Its newest report.
    pub report: UeReport,
    /// Age of that report.
    pub age: Duration,
    /// It counts towards n.
    pub active: bool,
    /// The node has given it up.
    pub lost: bool,
}

impl Cell {
    /// A node that nothing is known of yet.
    pub fn new(node: NodeId, settings: Settings) -> Self {
        let active = ActiveUes::new(settings.interval * ACTIVE_FOR_INTERVALS);
        Self {
            node,
            settings,
            ues: BTreeMap::new(),
            active,
            flows: BTreeMap::new(),
            slices: Slices::default(),
            model: None,
            batch: Batch::default(),
            model_failure: None,
            last_decision: Duration::ZERO,
            complete: false,
            prompt: false,
            notices: Vec::new(),
            refused_ues: 0,
        }
    }

    /// Takes the reports that an indication brought.
    pub fn on_reports(&mut self, reports: Vec<UeReport>, now: Duration) {
        // A report that comes a little early still closes the interval that it belongs to.
        let earliest = self.settings.interval - self.settings.report_period / 2;
        let closing = now.saturating_sub(self.last_decision) >= earliest;
        let prompt: BTreeSet<UeId> = self.prompt_flows().map(|flow| flow.bound.ue).collect();
        for report in reports {
            let id = report.ue;
            self.prompt |= prompt.contains(&id);
            if !self.ues.contains_key(&id) {
                if self.ues.len() >= MAX_UES {
                    self.refused_ues += 1;
                    continue;
                }
                let flows = self.flows.values().filter(|flow| flow.bound.ue == id);
                let ue = Ue::new(now, self.history(), flows.count());
                self.ues.insert(id, ue);
                self.notices.push(Notice::UeUp(id));
            }
            self.active.observe(&report);
            if let Some(ue) = self.ues.get_mut(&id) {
                if ue.push(report, now) && ue.flows > 0 {
                    self.slices.unresolved();
                }
                self.complete |= closing && ue.flows > 0;
            }
        }
    }

    /// Flows whose policy decides with every report.
    fn prompt_flows(&self) -> impl Iterator<Item = &Flow> {
        let flows = self.flows.values();
        flows.filter(|flow| flow.running().is_some_and(GainPolicy::every_report))
    }

    /// UEs that the node lists but has given up. Returns those that it gave up since the last call.
    pub fn on_lost(&mut self, lost: impl Iterator<Item = UeId>) -> Vec<UeId> {
        let mut new = Vec::new();
        for id in lost {
            self.active.remove(id);
            if let Some(ue) = self.ues.get_mut(&id)
                && !std::mem::replace(&mut ue.lost, true)
            {
                new.push(id);
            }
        }
        new
    }

    /// Guides a flow from now on, starting at `rate_bps`; its sequences go on after `last_sequence` and what its edge has.
    pub fn bind(&mut self, flow: BoundFlow, rate_bps: f64, last_sequence: u64, now: Duration) {
        self.unbind(&flow.key);
        if self.flows.is_empty() {
            // The first interval begins here: what came before was for nobody.
            self.last_decision = now;
            self.ues.values_mut().for_each(Ue::decided);
        }
        if let Some(ue) = self.ues.get_mut(&flow.ue) {
            ue.flows += 1;
        }
        let key = flow.key.clone();
        let last_sequence = last_sequence.max(flow.last_sequence);
        self.flows
            .insert(key, Flow::new(flow, rate_bps, last_sequence));
        self.slices.unresolved();
    }

    /// Reports that an earlier process had of a UE: the choice of policies goes by them too.
    pub fn remember(&mut self, ue: UeId, reports: Vec<UeReport>) {
        if let Some(ue) = self.ues.get_mut(&ue) {
            ue.remember(reports);
        }
    }

    /// A flow goes on from another rate, such as that at which it really sends, bit/s.
    pub fn set_rate(&mut self, key: &FlowKey, rate_bps: f64) {
        if let Some(flow) = self.flows.get_mut(key) {
            flow.set_rate(rate_bps);
        }
    }

    /// Guides a flow no more.
    pub fn unbind(&mut self, key: &FlowKey) {
        let Some(flow) = self.flows.remove(key) else {
            return;
        };
        self.slices.unresolved();
        if let Some(ue) = self.ues.get_mut(&flow.bound.ue) {
            ue.flows = ue.flows.saturating_sub(1);
        }
    }

    /// Whether the slice policies of this revision have to be looked at: they have changed, or a flow has.
    pub fn outdated(&self, revision: u64) -> bool {
        self.slices.outdated(revision)
    }

    /// Finds the slice policy of each flow.
    pub fn resolve(&mut self, revision: u64, policies: &PolicySet) {
        let cell = self.node.0.clone();
        let (flows, ues) = (&mut self.flows, &self.ues);
        self.slices
            .resolve(revision, policies, flows, &cell, ues, &self.settings);
    }

    /// An edge server measured a flow.
    pub fn edge_measured(&mut self, key: &FlowKey, measured: EdgeMeasured, now: Duration) {
        if let Some(flow) = self.flows.get_mut(key) {
            self.slices.edge_measured(flow, measured.delay, now);
            let EdgeMeasured {
                delay,
                sent_arrived_bytes,
            } = measured;
            flow.sampler.edge_delay(delay, flow.bound.wired, now);
            if let Some((sent, arrived)) = sent_arrived_bytes {
                flow.sampler.sent(sent, arrived);
            }
        }
    }

    /// Gives each flow its arm.
    pub fn give_arms(&mut self, mut choose: impl FnMut(&FlowFacts, &FlowKey) -> Option<FlowArm>) {
        for (key, flow) in &mut self.flows {
            let facts = flow.facts(&self.node.0, self.ues.get(&flow.bound.ue));
            flow.arm = choose(&facts, key);
        }
    }

    /// Some flow has an arm.
    pub fn in_experiment(&self) -> bool {
        self.flows.values().any(|flow| flow.arm.is_some())
    }

    /// What the flows with an arm did in the interval of `length` that these decisions ended.
    pub fn samples<'a>(
        &'a mut self,
        records: &'a [DecisionRecord],
        length: Duration,
    ) -> impl Iterator<Item = (&'a FlowKey, FlowArm, Sample)> {
        records.iter().filter_map(move |record| {
            let flow = self.flows.get_mut(&record.flow)?;
            let arm = flow.arm.clone()?;
            let sampler = &mut flow.sampler;
            sampler.reports(&record.reports, flow.bound.wired);
            let sample = sampler.decided(&record.decision, record.previous_rate_bps, length);
            Some((&record.flow, arm, sample))
        })
    }

    /// When the last interval ended.
    pub fn last_decision(&self) -> Duration {
        self.last_decision
    }

    /// The node is gone, and all that it reported.
    pub fn down(&mut self) {
        self.ues.clear();
        self.flows.clear();
        self.slices = Slices::default();
        self.active = ActiveUes::new(self.settings.interval * ACTIVE_FOR_INTERVALS);
        self.complete = false;
        self.notices.push(Notice::Down);
    }

    /// Whether it guides flows.
    pub fn guides(&self) -> bool {
        !self.flows.is_empty()
    }

    /// Whether an interval ends at `now`.
    pub fn due(&self, now: Duration) -> bool {
        if self.flows.is_empty() {
            return false;
        }
        self.complete || self.prompt || now >= self.interval_end()
    }

    /// When to look again if nothing comes; `None`: never.
    pub fn deadline(&self) -> Option<Duration> {
        let heard = self.ues.values().map(Ue::last_heard).min();
        let silence = heard.map(|heard| heard + self.settings.ue_timeout);
        let interval = (!self.flows.is_empty()).then(|| self.interval_end());
        silence.into_iter().chain(interval).min()
    }

    /// Forgets UEs that were silent for too long.
    pub fn expire(&mut self, now: Duration) {
        let timeout = self.settings.ue_timeout;
        let (active, notices) = (&mut self.active, &mut self.notices);
        self.ues.retain(|id, ue| {
            let keep = ue.silent_for(now) < timeout;
            if !keep {
                active.remove(*id);
                notices.push(Notice::UeDown(*id));
            }
            keep
        });
    }

    /// Decides: for each flow if the interval ends, else for those whose policy decides with every report. `unix_us` is the
    /// time of the sequences.
    pub fn decide(&mut self, now: Duration, unix_us: u64) -> Vec<DecisionRecord> {
        let prompt = std::mem::take(&mut self.prompt);
        if prompt && !self.complete && now < self.interval_end() {
            self.decide_promptly(now, unix_us)
        } else {
            self.end_interval(now, unix_us)
        }
    }

    /// Decides for the flows whose policy does with every report. What only whole intervals can tell, the choice of policies
    /// and the ceilings that flows of a slice share, waits for the end of the interval.
    fn decide_promptly(&mut self, now: Duration, unix_us: u64) -> Vec<DecisionRecord> {
        let active_ues = self.active.count(now).max(1);
        let mut records = Vec::new();
        self.batch.clear();
        let flows = self.flows.values_mut();
        for flow in flows.filter(|flow| flow.running().is_some_and(GainPolicy::every_report)) {
            let Some(ue) = self.ues.get(&flow.bound.ue) else {
                continue;
            };
            if ue.unseen().is_empty() {
                continue;
            }
            let cell_prbs = ue.newest().map_or(0.0, |report| report.cell_prbs);
            let settings = &self.settings;
            let terms = self
                .slices
                .terms(&flow.effective, settings, cell_prbs, active_ues);
            flow.observe(ue, terms, now, settings, &mut self.batch);
            records.extend(flow.decide(&self.node, ue, now, unix_us, &self.batch));
        }
        self.ues.values_mut().for_each(Ue::seen);
        records
    }

    /// Ends the interval.
    fn end_interval(&mut self, now: Duration, unix_us: u64) -> Vec<DecisionRecord> {
        let active_ues = self.active.count(now).max(1);
        let active = &self.active;
        let takes_part = |ue| active.contains(ue, now);
        self.slices
            .measure(&mut self.flows, &self.ues, takes_part, now);
        self.observe(now, active_ues);
        let mut records = Vec::with_capacity(self.flows.len());
        for (key, flow) in &mut self.flows {
            let Some(ue) = self.ues.get(&flow.bound.ue) else {
                continue;
            };
            records.extend(flow.decide(&self.node, ue, now, unix_us, &self.batch));
            if let Some(change) = flow.standing_change() {
                self.notices.push(notice(key, change));
            }
        }
        self.slices.conclude(&mut records, &mut self.flows);
        self.ues.values_mut().for_each(Ue::decided);
        self.last_decision = now;
        self.complete = false;
        records
    }

    /// Every flow observes the interval that ends; the model answers all of them at once.
    fn observe(&mut self, now: Duration, active_ues: u32) {
        self.batch.clear();
        let (slices, settings) = (&self.slices, &self.settings);
        let card = self.model.as_ref().map(|model| model.card());
        for (key, flow) in &mut self.flows {
            let Some(ue) = self.ues.get(&flow.bound.ue) else {
                continue;
            };
            if let Some(change) = flow.choose_policy(ue, card, settings) {
                self.notices.push(notice(key, change));
            }
            let cell_prbs = ue.newest().map_or(0.0, |report| report.cell_prbs);
            let mut terms = slices.terms(&flow.effective, settings, cell_prbs, active_ues);
            if let Some(factor) = flow.arm.as_ref().and_then(|arm| arm.target_factor) {
                terms.target.factor = factor;
            }
            flow.observe(ue, terms, now, settings, &mut self.batch);
        }
        self.model_failure = match &self.model {
            Some(model) if !self.batch.is_empty() => model.answer(&mut self.batch).err(),
            _ => None,
        };
    }

    /// The model that learned policies ask from the next tick on.
    pub fn set_model(&mut self, model: Option<Arc<Model>>) {
        self.model = model;
    }

    /// How many observations the model was asked about in the last tick, and why it did not answer.
    pub fn asked(&self) -> (usize, Option<&Refusal>) {
        (self.batch.len(), self.model_failure.as_ref())
    }

    /// What changed since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Where the guidance of a flow goes.
    pub fn outbox(
        &self,
        key: &FlowKey,
    ) -> Option<&std::sync::Arc<crate::guidance::outbox::Outbox>> {
        Some(&self.flows.get(key)?.bound.outbox)
    }

    /// The slice policies that rule flows here.
    pub fn slices(&self) -> Vec<SliceView> {
        self.slices.views()
    }

    /// What rules a flow.
    pub fn rule(&self, key: &FlowKey) -> Option<FlowRule> {
        let flow = self.flows.get(key)?;
        let slice = self.slices.view(&flow.effective);
        Some(FlowRule {
            facts: flow.facts(&self.node.0, self.ues.get(&flow.bound.ue)),
            effective: flow.effective.clone(),
            preferences: flow.preferences().to_vec(),
            running: flow.running(),
            factor: slice
                .as_ref()
                .map_or(self.settings.target_factor, |slice| slice.factor),
            slice,
            delay_source: flow.delay_source,
        })
    }

    /// n, without the floor of one that the target has.
    pub fn active_ues(&mut self, now: Duration) -> u32 {
        self.active.count(now)
    }

    /// UEs that were refused because the node has too many.
    pub fn refused_ues(&self) -> u64 {
        self.refused_ues
    }

    /// All UEs.
    pub fn ues(&self, now: Duration) -> Vec<UeView> {
        let views = self.ues.iter().filter_map(|(id, ue)| {
            let report = ue.newest()?.clone();
            Some(UeView {
                age: ue.silent_for(now),
                active: self.active.contains(*id, now),
                lost: ue.lost,
                report,
            })
        });
        views.collect()
    }

    /// Time by which an interval without reports ends.
    fn interval_end(&self) -> Duration {
        self.last_decision + self.settings.interval + self.settings.report_period / 2
    }

    /// Reports to keep of a UE: twice an interval's.
    fn history(&self) -> usize {
        let period = self.settings.report_period.as_millis().max(1);
        let reports = 2 * self.settings.interval.as_millis() / period;
        usize::try_from(reports)
            .unwrap_or(usize::MAX)
            .clamp(20, 1024)
    }
}

fn notice(flow: &FlowKey, change: PolicyChange) -> Notice {
    Notice::Policy {
        flow: flow.clone(),
        policy: change.policy,
        detail: change.detail,
        standing: change.standing,
    }
}
