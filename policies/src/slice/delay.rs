//! The delay of a flow, from what is reported.
//!
//! Queueing delay, the first of these that the RAN gives:
//! 1. the age of the oldest SDU in the RLC queue;
//! 2. the mean RLC SDU delay of the window (DRB.RlcSduDelayDl, TS 28.552 clause 5.1.3.3.3);
//! 3. the octets in the queue over the rate at which they were served;
//! 4. without any: the one-way delay that the edge server measured, less the wired part.
//!
//! One-way delay: what the edge server measured, where it does; else the queueing delay plus the wired part.

use super::policy::{Delay, Latency};
use crate::report::UeReport;
use std::time::Duration;

/// For how long a better source that has fallen silent is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where a delay comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelaySource {
    /// Age of the oldest SDU in the RLC queue.
    HeadOfLine,
    /// Mean RLC SDU delay.
    SduDelay,
    /// Octets in the RLC queue over the rate at which they were served.
    QueueOverRate,
    /// The edge server.
    Edge,
}

impl DelaySource {
    /// As people read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::HeadOfLine => "RLC head-of-line age",
            Self::SduDelay => "RLC SDU delay",
            Self::QueueOverRate => "RLC queue over served rate",
            Self::Edge => "edge server",
        }
    }
}

/// What an edge server measured of a flow, ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeDelay {
    /// Mean one-way delay.
    pub mean_ms: Option<f64>,
    /// Its 99th percentile.
    pub p99_ms: Option<f64>,
}

/// Chooses among the sources of one flow's delay.
#[derive(Clone, Debug, Default)]
pub struct DelayMeter {
    edge_at: Option<Duration>,
    ran_at: Option<Duration>,
}

impl DelayMeter {
    /// The delay that a report of the flow's UE tells, ms; `None`: nothing was sent, it does not tell, or a better source
    /// does. `wired` is the delay between edge server and base station.
    pub fn report(
        &mut self,
        latency: &Latency,
        report: &UeReport,
        wired: Duration,
    ) -> Option<(f64, DelaySource)> {
        let (queueing_ms, source) = queueing_ms(report)?;
        self.ran_at = Some(report.end());
        match latency.delay {
            Delay::Queueing => Some((queueing_ms, source)),
            Delay::OneWay if recent(self.edge_at, report.end()) => None,
            Delay::OneWay => Some((queueing_ms + ms(wired), source)),
        }
    }

    /// The delay that the edge server's measurement at `at` tells, ms.
    pub fn edge(
        &mut self,
        latency: &Latency,
        measured: EdgeDelay,
        wired: Duration,
        at: Duration,
    ) -> Option<(f64, DelaySource)> {
        let one_way_ms = match latency.statistic.quantile() {
            None => measured.mean_ms.or(measured.p99_ms),
            Some(_) => measured.p99_ms.or(measured.mean_ms),
        }?;
        self.edge_at = Some(at);
        match latency.delay {
            Delay::OneWay => Some((one_way_ms, DelaySource::Edge)),
            Delay::Queueing if recent(self.ran_at, at) => None,
            Delay::Queueing => Some(((one_way_ms - ms(wired)).max(0.0), DelaySource::Edge)),
        }
    }
}

fn recent(last: Option<Duration>, now: Duration) -> bool {
    last.is_some_and(|last| now.saturating_sub(last) < PATIENCE)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Queueing delay of a UE that took part in the cell, ms.
fn queueing_ms(report: &UeReport) -> Option<(f64, DelaySource)> {
    if !report.active() {
        return None;
    }
    if let Some(age) = report.head_of_line {
        return Some((ms(age), DelaySource::HeadOfLine));
    }
    if let Some(delay) = report.rlc_delay {
        return Some((ms(delay), DelaySource::SduDelay));
    }
    let queue = report.queue_bytes? as f64 * 8.0;
    let rate = report.throughput_bps()?;
    let seconds = if queue == 0.0 { 0.0 } else { queue / rate };
    seconds
        .is_finite()
        .then_some((seconds * 1e3, DelaySource::QueueOverRate))
}
