//! A guided flow within its cell, and what was decided for it.

use super::arm::FlowArm;
use super::core::Settings;
use super::shadow::{Shadow, ShadowDecision, same};
use super::slices::Terms;
use super::ue::Ue;
use crate::guidance::FlowKey;
use crate::guidance::registry::BoundFlow;
use crate::ran::NodeId;
use policies::decision_log;
use policies::experiment::Sampler;
use policies::guard::Cause;
use policies::model::Card;
use policies::slice::{DelayMeter, DelaySource, EffectivePolicy, FlowFacts};
use policies::{
    Batch, Controller, Decision, GainParameters, GainPolicy, Interval, Note, RateBounds, Row,
    Target, UeId, UeReport,
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
    /// What the policy in the shadow would have decided.
    pub shadow: Option<ShadowDecision>,
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
    controller: Option<Chosen>,
    shadow: Option<Shadow>,
    /// What was told to the hub of the present policy; `None`: nothing yet.
    told: Option<Told>,
    rate_bps: f64,
    sequence: u64,
    /// The interval that ends, between observing and deciding.
    pending: Option<Pending>,
}

/// The policy that rules a flow.
struct Chosen {
    policy: GainPolicy,
    /// Card of its model, if it is learned.
    card: Option<Arc<Card>>,
    controller: Box<dyn Controller>,
}

struct Told {
    /// Why others were passed over.
    detail: String,
    /// Why another policy decides in its place.
    demoted: Option<&'static str>,
}

struct Pending {
    terms: Terms,
    row: Option<Row>,
}

/// The policy of a flow changed.
pub(super) struct PolicyChange {
    /// The one that decides now.
    pub(super) policy: Option<GainPolicy>,
    /// Why not another one.
    pub(super) detail: String,
    pub(super) standing: Standing,
}

/// How a flow came to its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is the first of the list that can run.
    Chosen,
    /// Guard rails put it in the place of a learned one; the kind of cause.
    Demoted(&'static str),
    /// Guard rails let it decide again.
    Recovered,
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
            shadow: None,
            told: None,
            rate_bps,
            sequence: last_sequence,
            pending: None,
        }
    }

    pub(super) fn set_rate(&mut self, rate_bps: f64) {
        if let Some(chosen) = &mut self.controller {
            chosen.controller.set_rate_bps(rate_bps);
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

    /// The gain policy that decides now.
    pub(super) fn running(&self) -> Option<GainPolicy> {
        Some(self.controller.as_ref()?.controller.policy())
    }

    /// Chooses the first policy whose measurements the RAN gives and whose model is in use; goes on from the present rate.
    pub(super) fn choose_policy(
        &mut self,
        ue: &Ue,
        card: Option<&Arc<Card>>,
        settings: &Settings,
    ) -> Option<PolicyChange> {
        let has = |m| ue.gives(m);
        let model = card.map(AsRef::as_ref);
        let selection = GainPolicy::select(self.preferences(), model, has);
        let stays = match (&self.controller, selection.policy) {
            (None, None) => true,
            (Some(chosen), Some(policy)) => {
                chosen.policy == policy && (!policy.learned() || same(chosen.card.as_ref(), card))
            }
            _ => false,
        };
        if !stays {
            self.controller = selection.policy.and_then(|policy| {
                // The parameters were checked with the configuration.
                let parameters = GainParameters {
                    wired_delay: self.bound.wired,
                    frame_interval: self.bound.frame_interval,
                    ..settings.gain
                };
                let mut controller = policy.controller(&parameters, card).ok()?;
                controller.set_rate_bps(self.rate_bps);
                Some(Chosen {
                    policy,
                    card: card.cloned(),
                    controller,
                })
            });
        }
        // A shadow decides at the same times, which are those of a control interval.
        let prompt = selection.policy.is_some_and(GainPolicy::every_report);
        let shadow = settings.shadow.filter(|_| !prompt);
        let shadow = shadow.filter(|policy| {
            let possible = GainPolicy::select(&[*policy], model, has).policy;
            selection.policy != Some(*policy) && possible.is_some()
        });
        match (shadow, &self.shadow) {
            (None, _) => self.shadow = None,
            (Some(policy), Some(present)) if present.is(policy, card) => {}
            (Some(policy), _) => self.shadow = Shadow::new(policy, &settings.gain, card),
        }
        let mut detail = passed_over(&selection);
        if selection.policy.is_some_and(GainPolicy::every_report) {
            // What it achieves depends on it.
            let separator = if detail.is_empty() { "" } else { "; " };
            let period = settings.report_period.as_millis();
            detail += &format!("{separator}a report every {period} ms");
        }
        let told = Told {
            detail,
            demoted: self.told.as_ref().and_then(|t| t.demoted.filter(|_| stays)),
        };
        if stays && self.told.as_ref().is_some_and(|t| t.detail == told.detail) {
            return None;
        }
        let change = PolicyChange {
            policy: self.running(),
            detail: told.detail.clone(),
            standing: Standing::Chosen,
        };
        self.told = Some(told);
        Some(change)
    }

    /// Whether guard rails have put another policy in the place of the chosen one since this was asked last, or taken it back.
    pub(super) fn standing_change(&mut self) -> Option<PolicyChange> {
        let (chosen, told) = (self.controller.as_ref()?, self.told.as_mut()?);
        let cause = chosen.controller.demoted();
        let kind = cause.as_ref().map(Cause::kind);
        if told.demoted == kind {
            return None;
        }
        told.demoted = kind;
        let demoted = cause.map(|cause| format!("{} is demoted: {cause}", chosen.policy));
        let parts = [demoted, Some(told.detail.clone()).filter(|d| !d.is_empty())];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        Some(PolicyChange {
            policy: Some(chosen.controller.policy()),
            detail: parts.join("; "),
            standing: kind.map_or(Standing::Recovered, Standing::Demoted),
        })
    }

    /// Begins the end of an interval: what learned policies observe goes into the batch.
    pub(super) fn observe(
        &mut self,
        ue: &Ue,
        terms: Terms,
        now: Duration,
        settings: &Settings,
        batch: &mut Batch,
    ) {
        self.pending = None;
        let Some(chosen) = &mut self.controller else {
            return;
        };
        // Beyond this age a rate is no statement about now: the edge server falls back.
        if ue.newest().is_none() || ue.silent_for(now) >= settings.valid_for {
            return;
        }
        let interval = interval(ue, chosen.policy, terms, now);
        let row = batch.observe(chosen.controller.as_mut(), &interval);
        if let Some(shadow) = &mut self.shadow {
            shadow.observe(&interval, self.rate_bps, batch);
        }
        self.pending = Some(Pending { terms, row });
    }

    /// The decision at the end of an interval; `None` where no policy can run, or nothing is known of the UE any more.
    pub(super) fn decide(
        &mut self,
        node: &NodeId,
        ue: &Ue,
        now: Duration,
        unix_us: u64,
        batch: &Batch,
    ) -> Option<DecisionRecord> {
        let Pending { terms, row } = self.pending.take()?;
        let chosen = self.controller.as_mut()?;
        let newest = ue.newest()?;
        let interval = interval(ue, chosen.policy, terms, now);
        let decision = batch.decide(chosen.controller.as_mut(), &interval, row);
        let shadow = self.shadow.as_mut().map(|s| s.decide(&interval, batch));
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
            policy: chosen.controller.policy(),
            shadow,
            slice_policy: self.effective.provenance.as_ref().map(|p| p.name.clone()),
            arm: self.arm.as_ref().map(|arm| arm.name.clone()),
            active_ues: terms.target.active_flows,
            queue_bytes: newest.queue_bytes,
            report_age: now.saturating_sub(newest.end()),
            at: now,
            reports: decision_log::join(interval.reports),
            target: interval.target,
            bounds: interval.bounds,
        })
    }
}

fn interval(ue: &Ue, policy: GainPolicy, terms: Terms, now: Duration) -> Interval<'_> {
    Interval {
        now,
        reports: match policy.every_report() {
            true => ue.unseen(),
            false => ue.fresh(),
        },
        target: terms.target,
        bounds: terms.bounds,
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
