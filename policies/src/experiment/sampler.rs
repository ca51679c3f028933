//! Gathers what an experiment is told of a flow: the same in the xApp and in the simulator.

use super::outcome::Sample;
use crate::controller::Decision;
use crate::report::UeReport;
use crate::slice::{Delay, DelayMeter, EdgeDelay, Latency, Statistic};
use std::time::Duration;

/// The delay that arms are compared by: what the base station's queue adds.
const QUEUEING: Latency = Latency {
    statistic: Statistic::Mean,
    ms: 1.0,
    delay: Delay::Queueing,
};

/// Gathers what one flow does in a control interval.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    meter: DelayMeter,
    /// Sum and number of the delays that the RAN told.
    delays_ms: (f64, u32),
    edge_delay_ms: Option<f64>,
    delivered_bytes: Option<f64>,
    sent_arrived_bytes: Option<(f64, f64)>,
}

impl Sampler {
    /// The edge server measured the one-way delay, `wired` of it between itself and the base station.
    pub fn edge_delay(&mut self, measured: EdgeDelay, wired: Duration, now: Duration) {
        let delay = self.meter.edge(&QUEUEING, measured, wired, now);
        self.edge_delay_ms = delay.map(|(ms, _)| ms);
    }

    /// Octets were sent, and so many arrived.
    pub fn sent(&mut self, sent_bytes: u64, arrived_bytes: u64) {
        let sum = self.sent_arrived_bytes.get_or_insert_default();
        *sum = (sum.0 + sent_bytes as f64, sum.1 + arrived_bytes as f64);
    }

    /// The RAN reported the flow's UE.
    pub fn reports(&mut self, reports: &[UeReport], wired: Duration) {
        for report in reports {
            if let Some(octets) = report.delivered_bytes {
                *self.delivered_bytes.get_or_insert_default() += octets as f64;
            }
            if let Some((ms, _)) = self.meter.report(&QUEUEING, report, wired) {
                self.delays_ms = (self.delays_ms.0 + ms, self.delays_ms.1 + 1);
            }
        }
    }

    /// The interval of `length` ends with a decision: what the flow did in it.
    pub fn decided(
        &mut self,
        decision: &Decision,
        previous_rate_bps: f64,
        length: Duration,
    ) -> Sample {
        let (sum, count) = std::mem::take(&mut self.delays_ms);
        let of_ran = (count > 0).then(|| sum / f64::from(count));
        let of_edge = self.edge_delay_ms.take();
        Sample {
            length,
            delivered_bytes: self.delivered_bytes.take(),
            delay_ms: of_ran.or(of_edge),
            sent_arrived_bytes: self.sent_arrived_bytes.take(),
            prbs: decision.prbs.map(|prbs| (prbs, decision.target_prbs)),
            rates_bps: Some((previous_rate_bps, decision.rate_bps)),
        }
    }
}
