//! The arm of an experiment that a flow is in, and what the experiment is told of the flow.

use super::flow::DecisionRecord;
use policies::GainPolicy;
use policies::experiment::{Choice, Sample};
use policies::slice::{Delay, DelayMeter, EdgeDelay, Latency, Statistic};
use std::sync::Arc;
use std::time::Duration;

/// The delay that arms are compared by: what the base station's queue adds.
const QUEUEING: Latency = Latency {
    statistic: Statistic::Mean,
    ms: 1.0,
    delay: Delay::Queueing,
};

/// The arm of a flow now.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowArm {
    /// Which experiment.
    pub experiment: Arc<str>,
    /// Its name, after that of the experiment: "rapid-vs-prism/prism".
    pub name: Arc<str>,
    /// What the experiment chose.
    pub choice: Choice,
    /// Gain policies in order of preference; empty: as without the experiment.
    pub gain_policies: Arc<[GainPolicy]>,
    /// PRB target factor f; `None`: as without the experiment.
    pub target_factor: Option<f64>,
}

/// What an edge server measured of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeMeasured {
    /// One-way delay.
    pub delay: EdgeDelay,
    /// Octets sent, and how many of them arrived.
    pub sent_arrived_bytes: Option<(u64, u64)>,
}

/// Gathers what an experiment is told of a flow.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    meter: DelayMeter,
    edge_delay_ms: Option<f64>,
    sent_arrived_bytes: Option<(u64, u64)>,
}

impl Sampler {
    /// An edge server measured.
    pub(super) fn measured(&mut self, measured: EdgeMeasured, wired: Duration, now: Duration) {
        let delay = self.meter.edge(&QUEUEING, measured.delay, wired, now);
        self.edge_delay_ms = delay.map(|(ms, _)| ms);
        if let Some((sent, arrived)) = measured.sent_arrived_bytes {
            let sum = self.sent_arrived_bytes.get_or_insert_default();
            *sum = (sum.0.saturating_add(sent), sum.1.saturating_add(arrived));
        }
    }

    /// What a flow did in the interval of `length` that a decision ended.
    pub(super) fn sample(
        &mut self,
        record: &DecisionRecord,
        wired: Duration,
        length: Duration,
    ) -> Sample {
        let octets = record.reports.iter().filter_map(|r| r.delivered_bytes);
        let delivered = octets.reduce(u64::saturating_add).map(|o| o as f64);
        let meter = &mut self.meter;
        let delays = record
            .reports
            .iter()
            .filter_map(|report| meter.report(&QUEUEING, report, wired));
        let (sum, count) = delays.fold((0.0, 0u32), |(sum, n), (ms, _)| (sum + ms, n + 1));
        let of_ran = (count > 0).then(|| sum / f64::from(count));
        let of_edge = self.edge_delay_ms.take();
        let decision = &record.decision;
        Sample {
            length,
            delivered_bytes: delivered,
            delay_ms: of_ran.or(of_edge),
            sent_arrived_bytes: self
                .sent_arrived_bytes
                .take()
                .map(|(sent, arrived)| (sent as f64, arrived as f64)),
            prbs: decision.prbs.map(|prbs| (prbs, decision.target_prbs)),
            rates_bps: Some((record.previous_rate_bps, decision.rate_bps)),
        }
    }
}
