//! A guided flow within its cell, and what was decided for it.

use super::arm::{FlowArm, Sampler};
use super::core::Settings;
use super::slices::Terms;
use super::ue::Ue;
use crate::guidance::FlowKey;
use crate::guidance::registry::BoundFlow;
use crate::ran::NodeId;
use policies::decision_log;
use policies::slice::{DelayMeter, DelaySource, EffectivePolicy, FlowFacts};
use policies::{
    Controller, Decision, GainPolicy, Interval, Note, RateBounds, Target, UeId, UeReport,
};
use proto::guidance::{Guidance, Reason};
use std::sync::Arc;
use std::time::Duration;

/// What was decided for a flow at the end of a control interval, and from what.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRecord {
    /// Which flow.
    pub flow: FlowKey,
    /// Its node.
    pub node: NodeId,
    /// Its UE there.
    pub ue: UeId,
    /// Sequence of the guidance.
    pub sequence: u64,
    /// Unix time in microseconds.
    pub time_us: i64,
    /// Rate before, bit/s.
    pub previous_rate_bps: f64,
    /// The decision.
    pub decision: Decision,
    /// Gain policy that made it.
    pub policy: GainPolicy,
    /// Slice policy that rules the flow.
    pub slice_policy: Option<Arc<str>>,
    /// Arm of the experiment that the flow takes part in, after the experiment's name.
    pub arm: Option<Arc<str>>,
    /// n of the target.
    pub active_ues: u32,
    /// RLC queue of the UE, octets.
    pub queue_bytes: Option<u64>,
    /// Age of the newest report.
    pub report_age: Duration,
    /// When it was decided, on the monotonic clock of the reports.
    pub at: Duration,
    /// Reports of the UE in the interval, oldest first: at most [`decision_log::MAX_REPORTS`].
    pub reports: Vec<UeReport>,
    /// What the cell expected of the flow.
    pub target: Target,
    /// Bounds of the rate.
    pub bounds: RateBounds,
}

pub(super) struct Flow {
    pub(super) bound: BoundFlow,
    /// What rules it: its slice policy, on top of the configuration.
    pub(super) effective: Arc<EffectivePolicy>,
    /// Its arm in an experiment.
    pub(super) arm: Option<FlowArm>,
    pub(super) sampler: Sampler,
    pub(super) delay: DelayMeter,
    pub(super) delay_source: Option<DelaySource>,
    controller: Option<(GainPolicy, Box<dyn Controller>)>,
    /// Policies that were passed over for the present one, as told to the hub; `None`: nothing was told yet.
    told: Option<String>,
    rate_bps: f64,
    sequence: u64,
}

/// The policy of a flow changed.
pub(super) struct PolicyChange {
    pub(super) policy: Option<GainPolicy>,
    pub(super) detail: String,
}

impl Flow {
    pub(super) fn new(bound: BoundFlow, rate_bps: f64, last_sequence: u64) -> Self {
        Self {
            bound,
            effective: Arc::default(),
            arm: None,
            sampler: Sampler::default(),
            delay: DelayMeter::default(),
            delay_source: None,
            controller: None,
            told: None,
            rate_bps,
            sequence: last_sequence,
        }
    }

    pub(super) fn set_rate(&mut self, rate_bps: f64) {
        if let Some((_, controller)) = &mut self.controller {
            controller.set_rate_bps(rate_bps);
        }
        self.rate_bps = rate_bps;
    }

    /// What decides which slice policy rules it. The edge server knows better than the RAN which slice a flow is of.
    pub(super) fn facts(&self, cell: &Arc<str>, ue: Option<&Ue>) -> FlowFacts {
        FlowFacts {
            slice: self.bound.slice.or_else(|| ue?.slice()),
            cell: cell.clone(),
            ue: self.bound.ue,
            address: self.bound.address,
        }
    }

    /// Gain policies in order of preference: the arm's go before the slice policy's, and those before the ones of the
    /// edge server or the configuration.
    pub(super) fn preferences(&self) -> &[GainPolicy] {
        if let Some(arm) = self
            .arm
            .as_ref()
            .filter(|arm| !arm.gain_policies.is_empty())
        {
            return &arm.gain_policies;
        }
        match self.effective.gain_policies.as_slice() {
            [] => &self.bound.policies,
            own => own,
        }
    }

    /// The gain policy that runs.
    pub(super) fn running(&self) -> Option<GainPolicy> {
        self.controller.as_ref().map(|(policy, _)| *policy)
    }

    /// Chooses the first policy whose measurements the RAN gives; goes on from the present rate.
    pub(super) fn choose_policy(&mut self, ue: &Ue, settings: &Settings) -> Option<PolicyChange> {
        let selection = GainPolicy::select(self.preferences(), None, |m| ue.gives(m));
        let present = self.controller.as_ref().map(|(policy, _)| *policy);
        let detail = passed_over(&selection);
        if self.told.as_ref() == Some(&detail) && present == selection.policy {
            return None;
        }
        if present != selection.policy {
            self.controller = selection.policy.and_then(|policy| {
                // The parameters were checked with the configuration.
                let mut controller = policy.controller(&settings.gain, None).ok()?;
                controller.set_rate_bps(self.rate_bps);
                Some((policy, controller))
            });
        }
        self.told = Some(detail.clone());
        Some(PolicyChange {
            policy: selection.policy,
            detail,
        })
    }

    /// The decision at the end of an interval; `None` where no policy can run, or nothing is known of the UE any more.
    pub(super) fn decide(
        &mut self,
        node: &NodeId,
        ue: &Ue,
        terms: Terms,
        now: Duration,
        unix_us: u64,
        settings: &Settings,
    ) -> Option<DecisionRecord> {
        let (policy, controller) = self.controller.as_mut()?;
        let newest = ue.newest()?;
        let report_age = now.saturating_sub(newest.end());
        // Beyond this age a rate is no statement about now: the edge server falls back.
        if ue.silent_for(now) >= settings.valid_for {
            return None;
        }
        let interval = Interval {
            now,
            reports: ue.fresh(),
            target: terms.target,
            bounds: terms.bounds,
        };
        let decision = controller.decide(&interval);
        self.sequence = unix_us.max(self.sequence + 1);
        let previous_rate_bps = std::mem::replace(&mut self.rate_bps, decision.rate_bps);
        Some(DecisionRecord {
            flow: self.bound.key.clone(),
            node: node.clone(),
            ue: self.bound.ue,
            sequence: self.sequence,
            time_us: i64::try_from(unix_us).unwrap_or(i64::MAX),
            previous_rate_bps,
            decision,
            policy: *policy,
            slice_policy: self.effective.provenance.as_ref().map(|p| p.name.clone()),
            arm: self.arm.as_ref().map(|arm| arm.name.clone()),
            active_ues: terms.target.active_flows,
            queue_bytes: newest.queue_bytes,
            report_age,
            at: now,
            reports: decision_log::join(interval.reports),
            target: interval.target,
            bounds: interval.bounds,
        })
    }
}

impl DecisionRecord {
    /// What the edge server is told.
    pub(super) fn guidance(&self, valid_for: Duration) -> Guidance {
        let decision = &self.decision;
        Guidance {
            flow_id: self.flow.flow.to_string(),
            sequence: self.sequence,
            rate_bps: decision.rate_bps as u64,
            valid_for_us: micros(valid_for),
            target_bitrate_bps: decision.target_bitrate_bps.unwrap_or(0.0) as u64,
            pacing_rate_bps: decision.pacing_rate_bps.unwrap_or(0.0) as u64,
            reason: Some(Reason {
                controller: self.policy.name().into(),
                arm: self.arm.as_deref().unwrap_or_default().into(),
                prbs: decision.prbs,
                target_prbs: decision.target_prbs,
                gain_bps_per_prb: decision.gain_bps_per_prb,
                report_age_us: micros(self.report_age),
                slice_policy: self.slice_policy.as_deref().unwrap_or_default().into(),
            }),
        }
    }

    /// Why the rate did not follow the law, for people; empty when it did.
    pub fn note(&self) -> &'static str {
        match self.decision.note {
            None => "",
            Some(Note::NoReport) => "no report in the interval",
            Some(Note::NoGain) => "the model gave no gain",
            Some(Note::NoTarget) => "the PRBs of the cell are not known",
            Some(Note::StepLimited) => "at the largest step of a learned policy",
            Some(Note::AtFloor) => "at the rate floor",
            Some(Note::AtCeiling) => "at the rate ceiling",
            Some(Note::AtSliceCeiling) => "at the rate ceiling of its slice policy",
        }
    }
}

impl Settings {
    /// Bounds of a rate in a cell of `cell_prbs` PRBs per slot.
    pub(super) fn bounds(&self, cell_prbs: f64) -> RateBounds {
        let peak_bps = cell_prbs * self.peak_bps_per_prb;
        let max_bps = if peak_bps > 0.0 {
            self.rate_max_bps.min(peak_bps).max(self.rate_min_bps)
        } else {
            self.rate_max_bps
        };
        RateBounds {
            min_bps: self.rate_min_bps,
            max_bps,
        }
    }
}

fn passed_over(selection: &policies::Selection) -> String {
    let reasons: Vec<_> = selection
        .passed_over
        .iter()
        .map(|(policy, lack)| format!("{policy} {lack}"))
        .collect();
    let reasons = reasons.join("; ");
    match (reasons.is_empty(), selection.policy) {
        (false, None) => format!("no gain policy can run: {reasons}"),
        _ => reasons,
    }
}

pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
