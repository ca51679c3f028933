//! One node of a recording: its measurements, its deciding core, and a flow per UE.

use super::{
    Event, Options, Start,
    event::Interval,
    summary::{NodeSummary, UeSummary},
};
use crate::{
    cell::{Cell, Settings},
    guidance::{FlowKey, hub::Notice, outbox::Outbox, registry::BoundFlow},
    measure::{self, NodeMeasurements},
    ran::{NodeId, ServiceModel},
};
use e2sm::e2ap::RicRequestId;
use policies::{GainPolicy, UeId};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

/// Beyond this silence the UEs are forgotten at once, without an interval each 200 ms.
const LONG_SILENCE: Duration = Duration::from_secs(600);

/// A report of a subscription.
pub(super) struct Indication {
    pub(super) model: ServiceModel,
    pub(super) request: RicRequestId,
    pub(super) period_ms: Option<u32>,
    pub(super) header: Vec<u8>,
    pub(super) message: Vec<u8>,
}

pub(super) struct Stream {
    node: NodeId,
    begin: Duration,
    start: Start,
    policies: Vec<GainPolicy>,
    start_rate_bps: f64,
    measurements: NodeMeasurements,
    cell: Cell,
    /// The subscription of each model that is listened to, and its period.
    subscriptions: BTreeMap<ServiceModel, (RicRequestId, Option<u32>)>,
    passed_over: BTreeMap<(ServiceModel, u16), u64>,
    indications: BTreeMap<ServiceModel, u64>,
    intervals: BTreeMap<UeId, Interval>,
    ues: BTreeMap<UeId, UeSummary>,
    lost: BTreeSet<UeId>,
    now: Duration,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

impl Stream {
    pub(super) fn new(
        node: String,
        options: &Options,
        begin: Duration,
        period_ms: Option<u32>,
    ) -> Self {
        let config = options.config.of_node(&node);
        let mut settings = Settings::from(&config);
        if let Some(period) = period_ms {
            // Slower reports than intervals: an interval lasts until there is one.
            settings.report_period = Duration::from_millis(period.into());
            settings.interval = settings.interval.max(settings.report_period);
            settings.ue_timeout = settings.ue_timeout.max(settings.interval * 3);
            settings.valid_for = settings.valid_for.max(settings.interval * 3);
        }
        let node = NodeId(node.into());
        let mut cell = Cell::new(node.clone(), settings);
        cell.set_model(options.model.clone());
        Self {
            cell,
            node,
            begin,
            start: options.start,
            policies: config.control.policies.clone(),
            start_rate_bps: config.control.start_rate_bps as f64,
            measurements: NodeMeasurements::new(config.cell.measured()),
            subscriptions: BTreeMap::new(),
            passed_over: BTreeMap::new(),
            indications: BTreeMap::new(),
            intervals: BTreeMap::new(),
            ues: BTreeMap::new(),
            lost: BTreeSet::new(),
            now: Duration::ZERO,
        }
    }

    pub(super) fn kpm_names(&mut self, names: &[String]) {
        if !self.subscriptions.contains_key(&ServiceModel::Kpm) {
            self.measurements.kpm_subscribed(names.iter().cloned());
        }
    }

    /// Takes an indication at `now`.
    pub(super) fn indication(
        &mut self,
        indication: &Indication,
        now: Duration,
        events: &mut Vec<Event>,
    ) -> Result<(), measure::Error> {
        if !self.listens_to(indication) {
            let passed_over = (indication.model, indication.request.requestor);
            *self.passed_over.entry(passed_over).or_default() += 1;
            return Ok(());
        }
        *self.indications.entry(indication.model).or_default() += 1;
        let now = now.max(self.now);
        self.advance(now, events);
        let reports = self.measurements.on_indication(
            indication.model,
            &indication.header,
            &indication.message,
            now,
        )?;
        for report in &reports {
            self.intervals.entry(report.ue).or_default().add(report);
            events.push(Event::Report(report.clone()));
        }
        self.cell.on_reports(reports, now);
        let lost: BTreeSet<UeId> = self.measurements.lost_ues().collect();
        self.cell.on_lost(lost.iter().copied());
        for ue in lost.difference(&self.lost) {
            self.ues.entry(*ue).or_default().lost_at = Some(now);
            events.push(Event::UeLost {
                t: now,
                node: self.node.clone(),
                ue: *ue,
            });
        }
        self.lost = lost;
        self.notices(now, events);
        if self.cell.due(now) {
            self.decide(now, events);
        }
        Ok(())
    }

    /// One subscription per model counts: the first that reports, or a later one whose period is that of MAC.
    fn listens_to(&mut self, indication: &Indication) -> bool {
        let mac_period = self
            .subscriptions
            .get(&ServiceModel::Mac)
            .and_then(|(_, period)| *period);
        let offered = (indication.request, indication.period_ms);
        let chosen = self
            .subscriptions
            .entry(indication.model)
            .or_insert(offered);
        let fits = |period: Option<u32>| period.is_some() && period == mac_period;
        if indication.model == ServiceModel::Rlc && !fits(chosen.1) && fits(offered.1) {
            *chosen = offered;
        }
        *chosen == offered
    }

    /// What falls due before `now` without a report.
    fn advance(&mut self, now: Duration, events: &mut Vec<Event>) {
        if now.saturating_sub(self.now) > LONG_SILENCE {
            self.cell.expire(now);
            self.notices(now, events);
        }
        while let Some(deadline) = self.cell.deadline().filter(|deadline| *deadline < now) {
            self.cell.expire(deadline);
            self.notices(deadline, events);
            if self.cell.due(deadline) {
                self.decide(deadline, events);
            }
        }
        self.now = now;
    }

    /// Every UE that is reported has a flow.
    fn notices(&mut self, t: Duration, events: &mut Vec<Event>) {
        for notice in self.cell.take_notices() {
            let node = self.node.clone();
            match notice {
                Notice::UeUp(ue) => {
                    self.ues.entry(ue).or_default();
                    let flow = BoundFlow {
                        key: key(ue),
                        ue,
                        address: None,
                        slice: None,
                        wired: Duration::ZERO,
                        frame_interval: None,
                        policies: self.policies.clone(),
                        current_rate_bps: None,
                        last_sequence: 0,
                        outbox: Arc::new(Outbox::new(1)),
                    };
                    self.cell.bind(flow, self.start_rate_bps, 0, t);
                    events.push(Event::UeUp { t, node, ue });
                }
                Notice::UeDown(ue) => {
                    self.cell.unbind(&key(ue));
                    self.intervals.remove(&ue);
                    events.push(Event::UeDown { t, node, ue });
                }
                Notice::Policy {
                    flow,
                    policy,
                    detail,
                    ..
                } => events.push(Event::Policy {
                    t,
                    node,
                    flow: flow.flow.to_string(),
                    policy,
                    detail,
                }),
                Notice::Up | Notice::Down | Notice::Names(_) => {}
            }
        }
    }

    fn decide(&mut self, now: Duration, events: &mut Vec<Event>) {
        if self.start == Start::Arrivals {
            for (ue, interval) in &self.intervals {
                if let Some(rate) = interval.arrived.bps().or(interval.delivered.bps()) {
                    self.cell.set_rate(&key(*ue), rate);
                }
            }
        }
        let time = self.begin + now;
        let unix_us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let records = self.cell.decide(now, unix_us);
        self.notices(now, events);
        for record in records {
            let interval = self.intervals.remove(&record.ue).unwrap_or_default();
            let decided = interval.decided(record, now, time);
            self.ues.entry(decided.ue).or_default().add(
                &decided,
                interval.delivered.octets,
                interval.delivered.seconds,
            );
            events.push(Event::Decision(decided));
        }
    }

    pub(super) fn summary(&self) -> NodeSummary {
        NodeSummary {
            node: self.node.clone(),
            seconds: self.now.as_secs_f64(),
            indications: self.indications.clone(),
            passed_over: self.passed_over.values().sum(),
            counters: self.measurements.counters().clone(),
            cell_prbs: self.measurements.cell_prbs(),
            ues: self.ues.clone(),
            lost: self.lost.clone(),
        }
    }
}

fn key(ue: UeId) -> FlowKey {
    FlowKey {
        edge: "replay".into(),
        flow: ue.to_string().into(),
    }
}
