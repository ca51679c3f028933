//! Metrics of the process: the catalogue, in one place.
//!
//! Base units, counters end in `_total`, no UE and no flow in a label: the number of series does not grow with
//! the number of users. The help texts below are what the metrics page shows.

use crate::cell::Standing;
use crate::ran::{Counters, NodeId, ServiceModel};
use crate::store::Store;
use policies::GainPolicy;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeMetric as _, text::encode,
};
use prometheus_client::metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge};
use prometheus_client::metrics::{
    counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info,
};
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Label `model`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Model {
    model: &'static str,
}

/// Label `policy`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Policy {
    policy: &'static str,
}

/// Label `state`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    state: &'static str,
}

/// Label `node`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Node {
    node: String,
}

/// Label `cause`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Cause {
    cause: &'static str,
}

/// Label `result`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    result: &'static str,
}

/// A gauge of a real number.
type Real = Gauge<f64, AtomicU64>;

/// All metrics. Cheap to update from any task.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    ready: Gauge,
    nodes: Gauge,
    silent_nodes: Gauge,
    active_ues: Family<Node, Gauge>,
    used_prbs: Family<Node, Real>,
    available_prbs: Family<Node, Real>,
    indications: Family<Model, Counter>,
    rejected: Family<Model, Counter>,
    dropped: Counter,
    quarantined: Counter,
    refused_ues: Counter,
    decisions: Family<Policy, Counter>,
    report_age: Histogram,
    ticks: Counter,
    ticks_missed: Counter,
    tick_duration: Histogram,
    observations: Counter,
    model_failures: Counter,
    model_loads: Family<Outcome, Counter>,
    demotions: Family<Cause, Counter>,
    recoveries: Counter,
    shadow_decisions: Family<Policy, Counter>,
    shadow_rate: Histogram,
    streams: Gauge,
    flows: Family<State, Gauge>,
    refused_registrations: Counter,
    flow_reports: Counter,
    unknown_flow_reports: Counter,
    guidance: Counter,
    replaced: Counter,
}

impl Metrics {
    /// All metrics, with those of the direct RAN link if there is one.
    pub fn new(link: Option<Arc<Counters>>, store: Store) -> Self {
        let mut registry = Registry::with_prefix("cantor");
        registry.register_collector(Box::new(StoreCounters(store)));
        if let Some(counters) = link {
            registry.register_collector(Box::new(LinkCounters(counters)));
        }
        let r = &mut registry;
        r.register(
            "build",
            "Version of this binary",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        Self {
            ready: add(r, "ready", "1 while the process is ready to serve, else 0"),
            nodes: add(r, "nodes", "E2 nodes connected"),
            silent_nodes: add(
                r,
                "silent_nodes",
                "Those of them that have reported nothing for long",
            ),
            active_ues: add(
                r,
                "active_ues",
                "UEs with downlink data lately, per node: n of the PRB target",
            ),
            used_prbs: add(
                r,
                "used_prbs",
                "PRBs per slot that all UEs of a node used in its newest report",
            ),
            available_prbs: add(
                r,
                "available_prbs",
                "PRBs per slot that the cell of a node can give in downlink",
            ),
            indications: add(r, "indications", "RIC indications used, per service model"),
            rejected: add(
                r,
                "indications_rejected",
                "RIC indications that could not be decoded, per service model",
            ),
            dropped: add(
                r,
                "indications_dropped",
                "RIC indications dropped because their node's task was behind",
            ),
            quarantined: add(
                r,
                "values_quarantined",
                "Measured values outside their physical range, which were not used",
            ),
            refused_ues: add(
                r,
                "ue_reports_refused",
                "UE reports refused because their node has too many UEs",
            ),
            decisions: add(r, "decisions", "Rates decided, per gain policy"),
            report_age: {
                let ages = Histogram::new([
                    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0,
                ]);
                r.register_with_unit(
                    "report_age",
                    "Age of the newest report of the UE when a rate was decided",
                    Unit::Seconds,
                    ages.clone(),
                );
                ages
            },
            ticks: add(r, "ticks", "Control intervals ended, all nodes together"),
            ticks_missed: add(
                r,
                "ticks_missed",
                "Control intervals that ended a whole interval late or later",
            ),
            tick_duration: {
                let seconds = Histogram::new([
                    0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                ]);
                r.register_with_unit(
                    "tick_duration",
                    "Time to decide for all flows of a node, inference included",
                    Unit::Seconds,
                    seconds.clone(),
                );
                seconds
            },
            observations: add(
                r,
                "model_observations",
                "Observations that the model was asked about",
            ),
            model_failures: add(
                r,
                "model_failures",
                "Ticks in which the model did not answer",
            ),
            model_loads: add(
                r,
                "model_loads",
                "Model bundles that were loaded or refused",
            ),
            demotions: add(
                r,
                "policy_demotions",
                "Learned policies that guard rails demoted, per cause",
            ),
            recoveries: add(
                r,
                "policy_recoveries",
                "Learned policies that guard rails let decide again",
            ),
            shadow_decisions: add(
                r,
                "shadow_decisions",
                "Rates decided in the shadow, per gain policy",
            ),
            shadow_rate: {
                let ratios = Histogram::new([
                    0.1, 0.25, 0.5, 0.8, 0.9, 0.95, 0.99, 1.01, 1.05, 1.1, 1.25, 2.0, 4.0, 10.0,
                ]);
                r.register_with_unit(
                    "shadow_rate",
                    "Rate decided in the shadow, relative to the one that was followed",
                    Unit::Ratios,
                    ratios.clone(),
                );
                ratios
            },
            streams: add(r, "streams", "Edge servers connected"),
            flows: add(
                r,
                "flows",
                "Registered flows of connected edge servers, per state",
            ),
            refused_registrations: add(
                r,
                "registrations_refused",
                "Registrations of flows that were refused",
            ),
            flow_reports: add(r, "flow_reports", "Flow reports taken from edge servers"),
            unknown_flow_reports: add(
                r,
                "flow_reports_unknown",
                "Flow reports of flows that are not registered",
            ),
            guidance: add(r, "guidance", "Guidance put into the slots of the streams"),
            replaced: add(
                r,
                "guidance_replaced",
                "Guidance that a newer one replaced before its edge server took it",
            ),
            registry,
        }
    }
}

fn add<M>(registry: &mut Registry, name: &str, help: &str) -> M
where
    M: prometheus_client::registry::Metric + Clone + Default,
{
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// How the store stands, read when the page is made.
#[derive(Debug)]
struct StoreCounters(Store);

impl Collector for StoreCounters {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = self.0.counts();
        let good = self.0.standing().borrow().is_good();
        for (name, help, value) in [
            (
                "store_good",
                "1 while the store is written (or in memory by configuration), else 0.",
                usize::from(good),
            ),
            (
                "store_waiting",
                "Items and last decisions of flows that are not written to the store yet.",
                counts.waiting,
            ),
            (
                "store_log_waiting",
                "Decisions that wait for the log in the store.",
                counts.log_waiting,
            ),
        ] {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        }
        for (name, help, value) in [
            (
                "store_writes",
                "Writes to the store that succeeded.",
                counts.writes,
            ),
            (
                "store_outages",
                "Times that the store could not be written any more.",
                counts.outages,
            ),
            (
                "store_log_dropped",
                "Decisions that gave way to newer ones before they were in the log.",
                counts.log_dropped,
            ),
        ] {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
        }
        Ok(())
    }
}

/// What the direct link counts, read when the page is made.
#[derive(Debug)]
struct LinkCounters(Arc<Counters>);

impl Collector for LinkCounters {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let c = &self.0;
        for (name, help, counter) in [
            (
                "e2_associations",
                "E2 associations accepted.",
                &c.associations,
            ),
            (
                "e2_associations_refused",
                "E2 associations closed at once because there were too many.",
                &c.associations_refused,
            ),
            (
                "e2_associations_displaced",
                "E2 associations that had not set up and were closed for another one.",
                &c.associations_displaced,
            ),
            ("e2_pdus_received", "E2AP PDUs received.", &c.pdus_received),
            ("e2_pdus_sent", "E2AP PDUs sent.", &c.pdus_sent),
            (
                "e2_pdus_undecodable",
                "E2AP PDUs that could not be decoded.",
                &c.pdus_undecodable,
            ),
            (
                "e2_pdus_rejected",
                "E2AP PDUs that were decoded and refused.",
                &c.pdus_rejected,
            ),
            (
                "e2_items_skipped",
                "IEs, extension additions and values stepped over in PDUs that were used.",
                &c.items_skipped,
            ),
            (
                "e2_indications_foreign",
                "RIC indications of requests that are not Cantor's.",
                &c.indications_foreign,
            ),
            (
                "e2_indications_dropped",
                "RIC indications dropped by the link because its reader was slow.",
                &c.indications_dropped,
            ),
            (
                "e2_requests_timed_out",
                "Requests that a node did not answer in time.",
                &c.requests_timed_out,
            ),
            (
                "e2_subscriptions_refused",
                "Subscriptions that a node refused or ended.",
                &c.subscriptions_refused,
            ),
        ] {
            let counter = ConstCounter::new(counter.load(Ordering::Relaxed));
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            counter.encode(metric)?;
        }
        Ok(())
    }
}

impl Metrics {
    /// The page, in OpenMetrics text format.
    ///
    /// # Errors
    /// Only if formatting itself fails.
    pub fn page(&self) -> Result<String, std::fmt::Error> {
        let mut page = String::new();
        encode(&mut page, &self.registry)?;
        Ok(page)
    }

    pub(crate) fn ready(&self, ready: bool) {
        self.ready.set(ready.into());
    }

    pub(crate) fn node_up(&self) {
        self.nodes.inc();
    }

    /// A node reports nothing, or reports again.
    pub(crate) fn silent_node(&self, silent: bool) {
        if silent {
            self.silent_nodes.inc();
        } else {
            self.silent_nodes.dec();
        }
    }

    /// The node is gone, and with it its series.
    pub(crate) fn node_down(&self, node: &NodeId) {
        self.nodes.dec();
        let label = node_label(node);
        self.active_ues.remove(&label);
        self.used_prbs.remove(&label);
        self.available_prbs.remove(&label);
    }

    pub(crate) fn cell(&self, node: &NodeId, active_ues: u32, used_prbs: f64, available_prbs: f64) {
        let label = node_label(node);
        self.active_ues.get_or_create(&label).set(active_ues.into());
        self.used_prbs.get_or_create(&label).set(used_prbs);
        self.available_prbs
            .get_or_create(&label)
            .set(available_prbs);
    }

    pub(crate) fn indication(&self, model: ServiceModel, usable: bool) {
        let family = if usable {
            &self.indications
        } else {
            &self.rejected
        };
        family.get_or_create(&model_label(model)).inc();
    }

    pub(crate) fn indication_dropped(&self) {
        self.dropped.inc();
    }

    pub(crate) fn quarantined(&self, values: u64) {
        self.quarantined.inc_by(values);
    }

    pub(crate) fn ue_reports_refused(&self, reports: u64) {
        self.refused_ues.inc_by(reports);
    }

    pub(crate) fn decision(&self, policy: GainPolicy, report_age: std::time::Duration) {
        let policy = Policy {
            policy: policy.name(),
        };
        self.decisions.get_or_create(&policy).inc();
        self.report_age.observe(report_age.as_secs_f64());
    }

    pub(crate) fn tick(&self, took: std::time::Duration, asked: usize, failed: bool) {
        self.ticks.inc();
        self.tick_duration.observe(took.as_secs_f64());
        self.observations.inc_by(asked as u64);
        if failed {
            self.model_failures.inc();
        }
    }

    pub(crate) fn tick_missed(&self) {
        self.ticks_missed.inc();
    }

    pub(crate) fn model_load(&self, loaded: bool) {
        let result = if loaded { "loaded" } else { "refused" };
        self.model_loads.get_or_create(&Outcome { result }).inc();
    }

    pub(crate) fn standing(&self, standing: Standing) {
        match standing {
            Standing::Chosen => {}
            Standing::Demoted(cause) => {
                self.demotions.get_or_create(&Cause { cause }).inc();
            }
            Standing::Recovered => {
                self.recoveries.inc();
            }
        }
    }

    pub(crate) fn shadow(&self, policy: GainPolicy, followed_bps: f64, shadow_bps: f64) {
        let policy = Policy {
            policy: policy.name(),
        };
        self.shadow_decisions.get_or_create(&policy).inc();
        if followed_bps > 0.0 {
            self.shadow_rate.observe(shadow_bps / followed_bps);
        }
    }

    pub(crate) fn streams(&self, streams: usize) {
        self.streams.set(i64::try_from(streams).unwrap_or(i64::MAX));
    }

    pub(crate) fn flows(&self, bound: usize, unbound: usize) {
        for (state, count) in [("bound", bound), ("unbound", unbound)] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.flows.get_or_create(&State { state }).set(count);
        }
    }

    pub(crate) fn registration_refused(&self) {
        self.refused_registrations.inc();
    }

    pub(crate) fn flow_report(&self, known: bool) {
        if known {
            self.flow_reports.inc();
        } else {
            self.unknown_flow_reports.inc();
        }
    }

    pub(crate) fn guidance(&self, posted: crate::guidance::outbox::Posted) {
        self.guidance.inc_by(posted.stored);
        self.replaced.inc_by(posted.replaced);
    }
}

fn node_label(node: &NodeId) -> Node {
    Node {
        node: node.to_string(),
    }
}

fn model_label(model: ServiceModel) -> Model {
    Model {
        model: model_name(model),
    }
}

/// Name of a service model in metrics and in the operations API.
pub(crate) fn model_name(model: ServiceModel) -> &'static str {
    match model {
        ServiceModel::Kpm => "kpm",
        ServiceModel::Mac => "mac",
        ServiceModel::Rlc => "rlc",
        ServiceModel::Pdcp => "pdcp",
        ServiceModel::Gtp => "gtp",
        ServiceModel::Other => "unknown",
    }
}
