//! The task of a cell: it hears the RAN and the hub, and drives the core.

use super::arm::EdgeMeasured;
use super::core::{Cell, Settings};
use super::flow::{DecisionRecord, micros};
use super::view::{FlowRule, NodeInfo, SliceView, View};
use crate::config::Config;
use crate::guidance::FlowKey;
use crate::guidance::hub::{HubHandle, Message, Notice};
use crate::guidance::matching::MatchingHandle;
use crate::guidance::outbox::Outbox;
use crate::guidance::registry::BoundFlow;
use crate::measure::{self, Identity, NodeMeasurements};
use crate::models::Models;
use crate::operate::experiment::Experiments;
use crate::operate::metrics::Metrics;
use crate::operate::policy::Policies;
use crate::ran::{NodeId, ServiceModel, SubscriptionState, SubscriptionStatus};
use crate::store::Store;
use policies::UeId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Indications that may wait. At a report every millisecond that is an eighth of a second.
const INDICATIONS: usize = 128;
const COMMANDS: usize = 256;

/// What all cells share.
#[derive(Clone, Debug)]
pub struct Context {
    /// All settings; those of a cell may differ.
    pub config: Arc<Config>,
    /// Zero of the monotonic clock.
    pub start: Instant,
    /// Where decisions are kept.
    pub store: Store,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Who is told of changes.
    pub hub: HubHandle,
    /// Who compares the UEs' traffic with that of flows.
    pub matching: MatchingHandle,
    /// The slice policies in force.
    pub policies: Policies,
    /// The experiments.
    pub experiments: Experiments,
    /// The model that learned policies run.
    pub models: Models,
    /// Cancelled when Cantor stops.
    pub stop: CancellationToken,
}

/// A report of the RAN.
#[derive(Debug)]
pub struct Indication {
    /// Service model.
    pub model: ServiceModel,
    /// RICindicationHeader.
    pub header: Vec<u8>,
    /// RICindicationMessage.
    pub message: Vec<u8>,
    /// When it was read from the socket.
    pub received: Instant,
}

/// What a cell is told beside indications.
#[derive(Debug)]
pub enum Command {
    /// The node is connected, or its functions changed.
    Up(NodeInfo),
    /// The node is gone.
    Down(String),
    /// A subscription changed.
    Subscription(SubscriptionStatus),
    /// Guide a flow.
    Bind(BoundFlow),
    /// Guide it no more.
    Unbind(FlowKey),
    /// An edge server measured a flow.
    Measured(FlowKey, EdgeMeasured),
    /// An operator asks.
    View(oneshot::Sender<View>),
    /// An operator asks for the slice policies that rule flows here.
    Slices(oneshot::Sender<Vec<SliceView>>),
    /// An operator asks what rules a flow.
    Rule(FlowKey, oneshot::Sender<Option<FlowRule>>),
}

/// Speaks to a cell task.
#[derive(Clone, Debug)]
pub struct CellHandle {
    /// Which node.
    pub node: NodeId,
    commands: mpsc::Sender<Command>,
    indications: mpsc::Sender<Indication>,
}

impl CellHandle {
    /// Sends a command; a cell that has ended needs none.
    pub async fn command(&self, command: Command) {
        let _ = self.commands.send(command).await;
    }

    /// Hands over an indication. `false`: the cell is behind, and the indication is lost.
    pub fn indication(&self, indication: Indication) -> bool {
        self.indications.try_send(indication).is_ok()
    }

    /// How the cell stands; `None` if it has ended.
    pub async fn view(&self) -> Option<View> {
        let (answer, view) = oneshot::channel();
        self.commands.send(Command::View(answer)).await.ok()?;
        view.await.ok()
    }

    /// The slice policies that rule flows of the cell.
    pub async fn slices(&self) -> Vec<SliceView> {
        let (answer, slices) = oneshot::channel();
        self.command(Command::Slices(answer)).await;
        slices.await.unwrap_or_default()
    }

    /// What rules a flow of the cell.
    pub async fn rule(&self, flow: FlowKey) -> Option<FlowRule> {
        let (answer, rule) = oneshot::channel();
        self.command(Command::Rule(flow, answer)).await;
        rule.await.ok()?
    }
}

/// The task's state.
pub struct Task {
    node: NodeId,
    core: Cell,
    measurements: NodeMeasurements,
    settings: Settings,
    /// What is known of the cell.
    cell: measure::CellConfig,
    context: Context,
    info: NodeInfo,
    connected: bool,
    silent: bool,
    subscriptions: BTreeMap<(u16, u16), SubscriptionStatus>,
    used_prbs: f64,
    /// Other names of the UEs, as the hub was told them.
    names: BTreeMap<Identity, UeId>,
    counted: Counted,
    notices: VecDeque<Notice>,
    commands: mpsc::Receiver<Command>,
    indications: mpsc::Receiver<Indication>,
}

/// What of the node's counters the metrics know already.
#[derive(Debug, Default)]
struct Counted {
    quarantined: u64,
    refused_ues: u64,
    /// The model did not answer in the last tick.
    model_fails: bool,
    /// When it was; `None`: the flows are new.
    last_tick: Option<Duration>,
}

impl Task {
    /// A cell that waits for its node, and what speaks to it.
    pub fn new(node: NodeId, context: Context) -> (Self, CellHandle) {
        let (command_sender, commands) = mpsc::channel(COMMANDS);
        let (indication_sender, indications) = mpsc::channel(INDICATIONS);
        let config = context.config.of_node(&node.0);
        let (settings, cell) = (Settings::from(&config), config.measured());
        let task = Self {
            core: Cell::new(node.clone(), settings.clone()),
            measurements: NodeMeasurements::new(cell.clone()),
            settings,
            cell,
            node: node.clone(),
            context,
            info: NodeInfo::default(),
            connected: false,
            silent: false,
            subscriptions: BTreeMap::new(),
            used_prbs: 0.0,
            names: BTreeMap::new(),
            counted: Counted::default(),
            notices: VecDeque::new(),
            commands,
            indications,
        };
        let handle = CellHandle {
            node,
            commands: command_sender,
            indications: indication_sender,
        };
        (task, handle)
    }

    /// Runs until nobody can send to the cell any more, or the hub has ended.
    pub async fn run(mut self) {
        let hub = self.context.hub.clone();
        loop {
            let deadline = self.core.deadline().map(|at| self.context.start + at);
            tokio::select! {
                // Commands first: an indication must not come before the news that its node is up.
                biased;
                command = self.commands.recv() => match command {
                    Some(command) => self.command(command),
                    None => break,
                },
                // The hub may wait for this cell, so the cell never waits for the hub.
                permit = hub.reserve(), if !self.notices.is_empty() => {
                    let (Ok(permit), Some(notice)) = (permit, self.notices.pop_front()) else {
                        break;
                    };
                    permit.send(Message::Cell(self.node.clone(), notice));
                }
                Some(indication) = self.indications.recv() => self.indication(&indication),
                () = sleep_until(deadline), if deadline.is_some() => {}
            }
            let now = self.now();
            self.core.expire(now);
            if self.core.due(now) {
                self.resolve();
                self.decide(now);
            }
            let notices = self.core.take_notices();
            for notice in &notices {
                if let Notice::Policy { standing, .. } = notice {
                    self.context.metrics.standing(*standing);
                }
            }
            self.notices.extend(notices);
        }
        if self.connected {
            self.silent(false);
            self.context.metrics.node_down(&self.node);
        }
    }

    fn now(&self) -> Duration {
        self.context.start.elapsed()
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Up(info) => {
                if !self.connected {
                    self.connected = true;
                    self.context.metrics.node_up();
                    self.notices.push_back(Notice::Up);
                }
                self.info = info;
            }
            Command::Down(reason) => self.down(&reason),
            Command::Subscription(status) => self.subscription(status),
            Command::Bind(flow) => {
                let now = self.now();
                let from = super::resume::from(&self.context.store, &flow, now, unix_us());
                let rate_bps = from.rate_bps.unwrap_or(self.settings.gain.initial_bps);
                self.core.remember(flow.ue, from.reports);
                self.counted.last_tick = self.counted.last_tick.filter(|_| self.core.guides());
                self.core.bind(flow, rate_bps, from.sequence, now);
            }
            Command::Unbind(flow) => self.core.unbind(&flow),
            Command::Measured(flow, measured) => {
                let now = self.now();
                self.core.edge_measured(&flow, measured, now);
            }
            Command::View(answer) => {
                let view = self.view();
                let _ = answer.send(view);
            }
            Command::Slices(answer) => {
                self.resolve();
                let _ = answer.send(self.core.slices());
            }
            Command::Rule(flow, answer) => {
                self.resolve();
                let _ = answer.send(self.core.rule(&flow));
            }
        }
    }

    fn down(&mut self, reason: &str) {
        if !std::mem::replace(&mut self.connected, false) {
            return;
        }
        if self.context.stop.is_cancelled() {
            info!(node = %self.node, reason, "E2 node let go");
        } else {
            warn!(node = %self.node, reason, "E2 node gone");
        }
        self.silent(false);
        self.core.down();
        self.subscriptions.clear();
        self.used_prbs = 0.0;
        self.names.clear();
        // Counters start again with the node's next connection.
        self.measurements = NodeMeasurements::new(self.cell.clone());
        self.counted = Counted {
            quarantined: 0,
            ..std::mem::take(&mut self.counted)
        };
        self.context.metrics.node_down(&self.node);
        // Indications of the connection that ended.
        while self.indications.try_recv().is_ok() {}
    }

    fn subscription(&mut self, status: SubscriptionStatus) {
        let key = (status.requestor, status.instance);
        if status.model == ServiceModel::Mac {
            let asked = match status.state {
                SubscriptionState::Requested
                | SubscriptionState::Active
                | SubscriptionState::Silent => Some(self.now()),
                SubscriptionState::Failed | SubscriptionState::Ended => None,
            };
            self.measurements.mac_asked(asked);
        }
        if status.model == ServiceModel::Kpm && status.state == SubscriptionState::Requested {
            let names = status.measurements.iter().map(ToString::to_string);
            self.measurements.kpm_subscribed(names);
        }
        let (node, model) = (&self.node, status.model);
        match status.state {
            SubscriptionState::Requested => {}
            SubscriptionState::Silent => {
                info!(%node, ?model, reason = status.detail, "nothing is reported");
                self.silent(true);
            }
            SubscriptionState::Active => {
                info!(%node, ?model, period_ms = status.period_ms, "subscription active");
                self.silent(false);
            }
            SubscriptionState::Failed => {
                warn!(%node, ?model, reason = status.detail, "subscription failed");
            }
            SubscriptionState::Ended => {
                info!(%node, ?model, reason = status.detail, "subscription ended");
                self.subscriptions.remove(&key);
                return;
            }
        }
        self.subscriptions.insert(key, status);
    }

    fn silent(&mut self, silent: bool) {
        if std::mem::replace(&mut self.silent, silent) != silent {
            self.context.metrics.silent_node(silent);
        }
    }

    fn indication(&mut self, indication: &Indication) {
        if !self.connected {
            return;
        }
        let received = indication
            .received
            .saturating_duration_since(self.context.start);
        let result = self.measurements.on_indication(
            indication.model,
            &indication.header,
            &indication.message,
            received,
        );
        let metrics = &self.context.metrics;
        metrics.indication(indication.model, result.is_ok());
        let quarantined = self.measurements.counters().quarantined_total();
        metrics.quarantined(quarantined - self.counted.quarantined);
        self.counted.quarantined = quarantined;
        if *self.measurements.names() != self.names {
            self.names = self.measurements.names().clone();
            self.notices.push_back(Notice::Names(self.names.clone()));
        }
        let reports = match result {
            Ok(reports) => reports,
            Err(error) => {
                tracing::debug!(node = %self.node, %error, "indication rejected");
                return;
            }
        };
        if reports.is_empty() {
            return;
        }
        self.context
            .matching
            .arrived(&self.node, &reports, received);
        let now = self.now();
        self.used_prbs = reports.iter().filter_map(|report| report.prbs).sum();
        self.core.on_reports(reports, now);
        for ue in self.core.on_lost(self.measurements.lost_ues()) {
            warn!(node = %self.node, %ue, "UE lost: it has data and is not scheduled");
        }
        let metrics = &self.context.metrics;
        metrics.ue_reports_refused(self.core.refused_ues() - self.counted.refused_ues);
        self.counted.refused_ues = self.core.refused_ues();
        metrics.cell(
            &self.node,
            self.core.active_ues(now),
            self.used_prbs,
            self.measurements.cell_prbs(),
        );
    }

    /// Looks at the slice policies, if they or the flows have changed.
    fn resolve(&mut self) {
        // The revision first: a change that comes in between is looked at again.
        let revision = self.context.policies.revision();
        if self.core.outdated(revision) {
            self.core.resolve(revision, &self.context.policies.read());
        }
    }

    fn decide(&mut self, now: Duration) {
        let unix_us = unix_us();
        let length = now.saturating_sub(self.core.last_decision());
        let experiments = self.context.experiments.clone();
        if experiments.running() || self.core.in_experiment() {
            let unix = Duration::from_micros(unix_us);
            let mut chooser = experiments.chooser(unix);
            self.core
                .give_arms(|facts, flow| chooser.choose(facts, &flow.edge));
        }
        // Between two ticks: all flows of a tick are decided by the same model.
        self.core.set_model(self.context.models.current());
        let started = Instant::now();
        let records = self.core.decide(now, unix_us);
        self.count(now, started.elapsed(), &records);
        if self.core.in_experiment() {
            let unix = Duration::from_micros(unix_us);
            experiments.record(unix, self.core.samples(&records, length));
        }
        let posted = Instant::now();
        // Flows lie in the order of their edge servers: one batch for each.
        for records in records.chunk_by(|a, b| a.flow.edge == b.flow.edge) {
            let Some(outbox) = records.first().and_then(|r| self.core.outbox(&r.flow)) else {
                continue;
            };
            self.post(outbox, posted, records);
        }
        self.context.store.record(records);
    }

    fn count(&mut self, now: Duration, took: Duration, records: &[DecisionRecord]) {
        let metrics = &self.context.metrics;
        let (asked, failure) = self.core.asked();
        metrics.tick(took, asked, failure.is_some());
        if failure.is_some() != self.counted.model_fails {
            self.counted.model_fails = failure.is_some();
            match failure {
                Some(reason) => warn!(node = %self.node, %reason, "the model does not answer"),
                None => info!(node = %self.node, "the model answers again"),
            }
        }
        let interval = self.settings.interval;
        let last = self.counted.last_tick.replace(now);
        if last.is_some_and(|last| now.saturating_sub(last) >= interval * 2) {
            metrics.tick_missed();
        }
        for record in records {
            let Some(shadow) = &record.shadow else {
                continue;
            };
            let (followed, shadowed) = (record.decision.rate_bps, shadow.rate_bps);
            metrics.shadow(shadow.policy, followed, shadowed);
            tracing::debug!(
                flow = %record.flow,
                sequence = record.sequence,
                policy = %record.policy,
                rate_bps = followed,
                shadow = %shadow.policy,
                shadow_rate_bps = shadowed,
                "decided, and in the shadow"
            );
        }
    }

    fn post(&self, outbox: &Outbox, now: Instant, records: &[DecisionRecord]) {
        let metrics = &self.context.metrics;
        let valid_for = self.settings.valid_for;
        let batch = records.iter().map(|record| {
            metrics.decision(record.policy, record.report_age);
            (record.flow.flow.clone(), record.guidance(valid_for))
        });
        metrics.guidance(outbox.post(now, batch));
    }

    fn view(&mut self) -> View {
        let now = self.now();
        let counters = self.measurements.counters();
        View {
            node: self.node.clone(),
            info: self.info.clone(),
            connected: self.connected,
            silent: self.silent,
            subscriptions: self.subscriptions.values().cloned().collect(),
            indications: counters.decoded,
            rejected: counters.undecodable,
            quarantined: counters.quarantined_total(),
            available_prbs: self.measurements.cell_prbs(),
            used_prbs: self.used_prbs,
            active_ues: self.core.active_ues(now),
            ues: self.core.ues(now),
        }
    }
}

fn unix_us() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, micros)
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
