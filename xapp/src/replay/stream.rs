//! One node of a recording: its measurements, its deciding core, and a flow per UE.

use super::{
    Options, Start,
    summary::{NodeSummary, UeSummary},
};
use crate::{
    cell::{Cell, DecisionRecord, Settings},
    guidance::{FlowKey, hub::Notice, outbox::Outbox, registry::BoundFlow},
    measure::{self, NodeMeasurements},
    ran::{NodeId, ServiceModel},
};
use e2sm::e2ap::RicRequestId;
use policies::{GainPolicy, UeId, UeReport};
use serde::Serialize;
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

/// What happened in a replay. Times are since the first indication.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A UE reported for the first time, or again.
    UeUp {
        /// When.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which UE.
        #[serde(serialize_with = "display")]
        ue: UeId,
    },
    /// A UE reported no more.
    UeDown {
        /// When.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which UE.
        #[serde(serialize_with = "display")]
        ue: UeId,
    },
    /// The node lists a UE that it has given up: data waits, and no transport block is sent.
    UeLost {
        /// When that was certain.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which UE.
        #[serde(serialize_with = "display")]
        ue: UeId,
    },
    /// What a flow runs on, or why it cannot run.
    Policy {
        /// When.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which flow: named after its UE.
        flow: String,
        /// The gain policy.
        policy: Option<GainPolicy>,
        /// Why not a preferred one.
        detail: String,
    },
    /// A report was made of a UE.
    Report(UeReport),
    /// A control interval ended for a UE.
    Decision(Decided),
}

/// A control interval of a UE, and what would have been guided at its end.
#[derive(Clone, Debug, Serialize)]
pub struct Decided {
    /// End of the interval, since the first indication.
    pub t: Duration,
    /// The same on the recording's clock, seconds since its epoch.
    pub time: f64,
    /// At which node.
    pub node: NodeId,
    /// Which UE.
    #[serde(serialize_with = "display")]
    pub ue: UeId,
    /// Reports in the interval.
    pub reports: u32,
    /// PRBs per slot that the law compared with its target.
    pub prbs: Option<f64>,
    /// Pε.
    pub target_prbs: f64,
    /// n.
    pub active_ues: u32,
    /// Newest MCS index.
    pub mcs: Option<f64>,
    /// HARQ retransmissions per first transmission.
    pub retransmission_ratio: Option<f64>,
    /// Throughput, bit/s.
    pub throughput_bps: Option<f64>,
    /// Rate at which data arrived at the base station, bit/s.
    pub arrival_bps: Option<f64>,
    /// Octets in the RLC queue at the end.
    pub queue_bytes: Option<u64>,
    /// Age of the oldest of them.
    pub head_of_line: Option<Duration>,
    /// Rate at which the interval started, bit/s.
    pub previous_rate_bps: f64,
    /// Rate that would have been guided, bit/s.
    pub rate_bps: f64,
    /// Gain policy that says so.
    pub policy: GainPolicy,
    /// Why the rate did not follow the law; empty when it did.
    pub note: &'static str,
}

/// What the reports of a UE's open interval say together.
#[derive(Debug, Default)]
struct Interval {
    reports: u32,
    delivered: Amount,
    arrived: Amount,
    sent: Option<u64>,
    retransmitted: Option<u64>,
    newest: Option<UeReport>,
}

/// Octets, and the time in which they were counted: not every report has them.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    octets: u64,
    seconds: f64,
}

impl Amount {
    fn add(&mut self, octets: Option<u64>, report: &UeReport) {
        if let Some(octets) = octets {
            self.octets = self.octets.saturating_add(octets);
            self.seconds += report.length.as_secs_f64();
        }
    }

    fn bps(self) -> Option<f64> {
        (self.seconds > 0.0).then_some(self.octets as f64 * 8.0 / self.seconds)
    }
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
        let config = &options.config;
        let mut settings = Settings::from(config);
        if let Some(period) = period_ms {
            // Slower reports than intervals: an interval lasts until there is one.
            settings.report_period = Duration::from_millis(period.into());
            settings.interval = settings.interval.max(settings.report_period);
            settings.ue_timeout = settings.ue_timeout.max(settings.interval * 3);
            settings.valid_for = settings.valid_for.max(settings.interval * 3);
        }
        let node = NodeId(node.into());
        Self {
            cell: Cell::new(node.clone(), settings),
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
                        policies: self.policies.clone(),
                        current_rate_bps: None,
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
                } => events.push(Event::Policy {
                    t,
                    node,
                    flow: flow.flow.to_string(),
                    policy,
                    detail,
                }),
                Notice::Up | Notice::Down => {}
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

fn display<S: serde::Serializer>(
    value: &impl fmt::Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn key(ue: UeId) -> FlowKey {
    FlowKey {
        edge: "replay".into(),
        flow: ue.to_string().into(),
    }
}

impl Interval {
    fn add(&mut self, report: &UeReport) {
        let add = |sum: &mut Option<u64>, value: Option<u64>| {
            if let Some(value) = value {
                *sum = Some(sum.unwrap_or(0).saturating_add(value));
            }
        };
        self.reports += 1;
        self.delivered.add(report.delivered_bytes, report);
        self.arrived.add(report.arrived_bytes, report);
        add(&mut self.sent, report.tb_sent);
        add(&mut self.retransmitted, report.tb_retx);
        self.newest = Some(report.clone());
    }

    fn decided(&self, record: DecisionRecord, t: Duration, time: Duration) -> Decided {
        let newest = self.newest.as_ref();
        let ratio = |sent: u64, retransmitted: u64| {
            if sent == 0 {
                0.0
            } else {
                retransmitted as f64 / sent as f64
            }
        };
        Decided {
            t,
            time: time.as_secs_f64(),
            reports: self.reports,
            prbs: record.decision.prbs,
            target_prbs: record.decision.target_prbs,
            active_ues: record.active_ues,
            mcs: newest.and_then(|report| report.mcs),
            retransmission_ratio: self
                .sent
                .zip(self.retransmitted)
                .map(|(sent, retx)| ratio(sent, retx)),
            throughput_bps: self.delivered.bps(),
            arrival_bps: self.arrived.bps(),
            queue_bytes: newest.and_then(|report| report.queue_bytes),
            head_of_line: newest.and_then(|report| report.head_of_line),
            previous_rate_bps: record.previous_rate_bps,
            rate_bps: record.decision.rate_bps,
            policy: record.policy,
            note: record.note(),
            node: record.node,
            ue: record.ue,
        }
    }
}
