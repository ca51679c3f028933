//! The slice policies in this cell: which one rules each flow, and what its flows have in common.

use super::core::Settings;
use super::flow::{DecisionRecord, Flow};
use super::ue::Ue;
use super::view::SliceView;
use crate::guidance::FlowKey;
use policies::slice::{EdgeDelay, EffectivePolicy, PolicySet, Provenance, SliceControl};
use policies::{Note, RateBounds, Target, UeId};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// What a flow is given to decide with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) target: Target,
    pub(super) bounds: RateBounds,
}

/// The flows of one policy.
#[derive(Debug)]
struct Slice {
    control: SliceControl,
    flows: u32,
    /// UEs of its flows that take part in the cell.
    ues: u32,
}

/// All policies that rule flows of this cell.
#[derive(Debug, Default)]
pub(super) struct Slices {
    by_policy: BTreeMap<Provenance, Slice>,
    /// Revision of the policies that the flows were resolved with; `None`: some flow is not.
    resolved: Option<u64>,
}

impl Slices {
    /// A flow is new, or its slice became known.
    pub(super) fn unresolved(&mut self) {
        self.resolved = None;
    }

    /// Whether the flows have to be resolved against the policies of this revision.
    pub(super) fn outdated(&self, revision: u64) -> bool {
        self.resolved != Some(revision)
    }

    /// Finds the policy of each flow.
    pub(super) fn resolve(
        &mut self,
        revision: u64,
        policies: &PolicySet,
        flows: &mut BTreeMap<FlowKey, Flow>,
        cell: &Arc<str>,
        ues: &BTreeMap<UeId, Ue>,
        settings: &Settings,
    ) {
        self.resolved = Some(revision);
        let unruled = Arc::default();
        self.by_policy
            .values_mut()
            .for_each(|slice| slice.flows = 0);
        for flow in flows.values_mut() {
            let facts = flow.facts(cell, ues.get(&flow.bound.ue));
            let entry = policies.resolve(&facts);
            let effective = entry.map_or(&unruled, |entry| &entry.effective);
            flow.effective = effective.clone();
            let Some(provenance) = &effective.provenance else {
                continue;
            };
            let slice = match self.by_policy.get_mut(provenance) {
                Some(slice) => slice,
                None => self.by_policy.entry(provenance.clone()).or_insert(Slice {
                    control: SliceControl::new(effective.clone(), settings.target_factor),
                    flows: 0,
                    ues: 0,
                }),
            };
            if !Arc::ptr_eq(slice.control.effective(), effective) {
                slice.control.change(effective.clone());
            }
            slice.flows += 1;
        }
        self.by_policy.retain(|_, slice| slice.flows > 0);
    }

    fn of(&mut self, effective: &EffectivePolicy) -> Option<&mut Slice> {
        self.by_policy.get_mut(effective.provenance.as_ref()?)
    }

    /// An interval ends: the delays in its reports, and who took part. Then the outer loops have their turn.
    pub(super) fn measure(
        &mut self,
        flows: &mut BTreeMap<FlowKey, Flow>,
        ues: &BTreeMap<UeId, Ue>,
        takes_part: impl Fn(UeId) -> bool,
        now: Duration,
    ) {
        if self.by_policy.is_empty() {
            return;
        }
        // Flows of one policy share it.
        let mut seen: HashSet<(*const EffectivePolicy, UeId)> = HashSet::new();
        self.by_policy.values_mut().for_each(|slice| slice.ues = 0);
        for flow in flows.values_mut() {
            let (Some(ue), Some(provenance)) =
                (ues.get(&flow.bound.ue), &flow.effective.provenance)
            else {
                continue;
            };
            let Some(slice) = self.by_policy.get_mut(provenance) else {
                continue;
            };
            if takes_part(flow.bound.ue)
                && seen.insert((Arc::as_ptr(&flow.effective), flow.bound.ue))
            {
                slice.ues += 1;
            }
            if let Some(latency) = &flow.effective.latency {
                for report in ue.fresh() {
                    let delay = flow.delay.report(latency, report, flow.bound.wired);
                    if let Some((ms, source)) = delay {
                        slice.control.observe(ms);
                        flow.delay_source = Some(source);
                    }
                }
            }
        }
        for slice in self.by_policy.values_mut() {
            slice.control.begin_interval(now);
        }
    }

    /// An edge server measured the delay of a flow.
    pub(super) fn edge_measured(&mut self, flow: &mut Flow, measured: EdgeDelay, now: Duration) {
        let effective = flow.effective.clone();
        let (Some(slice), Some(latency)) = (self.of(&effective), &effective.latency) else {
            return;
        };
        let delay = flow.delay.edge(latency, measured, flow.bound.wired, now);
        if let Some((ms, source)) = delay {
            slice.control.observe(ms);
            flow.delay_source = Some(source);
        }
    }

    /// Target and bounds of a flow in a cell of `cell_prbs` PRBs per slot that `active` UEs share.
    pub(super) fn terms(
        &self,
        effective: &EffectivePolicy,
        settings: &Settings,
        cell_prbs: f64,
        active: u32,
    ) -> Terms {
        let bounds = settings.bounds(cell_prbs);
        let slice = effective.provenance.as_ref();
        match slice.and_then(|provenance| self.by_policy.get(provenance)) {
            Some(slice) => Terms {
                target: slice.control.target(cell_prbs, active, slice.ues),
                bounds: slice.control.bounds(bounds, slice.flows),
            },
            None => Terms {
                target: Target {
                    factor: settings.target_factor,
                    cell_prbs,
                    active_flows: active,
                },
                bounds,
            },
        }
    }

    /// The decisions are made: those of a policy keep to its ceiling together, and what they used of their targets tells
    /// the outer loops what limits them.
    pub(super) fn conclude(
        &mut self,
        records: &mut [DecisionRecord],
        flows: &mut BTreeMap<FlowKey, Flow>,
    ) {
        if self.by_policy.is_empty() {
            return;
        }
        let mut rates: BTreeMap<&Provenance, Vec<(usize, f64, RateBounds)>> = BTreeMap::new();
        for (index, record) in records.iter().enumerate() {
            let Some(flow) = flows.get(&record.flow) else {
                continue;
            };
            let Some(provenance) = &flow.effective.provenance else {
                continue;
            };
            let decision = &record.decision;
            if let (Some(slice), Some(prbs)) = (self.by_policy.get_mut(provenance), decision.prbs) {
                slice.control.used(prbs, decision.target_prbs);
            }
            if flow.effective.slice_rate.max_bps.is_some() {
                let rate = (index, decision.rate_bps, record.bounds);
                rates.entry(provenance).or_default().push(rate);
            }
        }
        let mut lowered = Vec::new();
        for (provenance, flows) in rates {
            let Some(slice) = self.by_policy.get(provenance) else {
                continue;
            };
            let mut limited: Vec<_> = flows.iter().map(|(_, rate, b)| (*rate, *b)).collect();
            if slice.control.limit(&mut limited) {
                let rates = limited.into_iter().map(|(rate, _)| rate);
                lowered.extend(flows.into_iter().map(|(index, ..)| index).zip(rates));
            }
        }
        for (index, rate_bps) in lowered {
            let record = &mut records[index];
            record.decision.rate_bps = rate_bps;
            record.decision.note = Some(Note::AtSliceCeiling);
            if let Some(flow) = flows.get_mut(&record.flow) {
                flow.set_rate(rate_bps);
            }
        }
    }

    /// How they stand, for operators.
    pub(super) fn views(&self) -> Vec<SliceView> {
        let views = self.by_policy.iter().map(|(provenance, slice)| SliceView {
            policy: provenance.clone(),
            flows: slice.flows,
            factor: slice.control.factor(),
            objective: slice.control.objective(),
        });
        views.collect()
    }

    /// How the policy of a flow stands.
    pub(super) fn view(&self, effective: &EffectivePolicy) -> Option<SliceView> {
        let wanted = effective.provenance.as_ref()?;
        self.views().into_iter().find(|view| view.policy == *wanted)
    }
}
