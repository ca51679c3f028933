//! What is measured of a unit: samples of each control interval, summed up into one observation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::{fmt, time::Duration};

/// What arms are compared by.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Metric {
    /// Goodput of a flow, bit/s.
    Goodput,
    /// Mean downlink delay, ms.
    DelayMean,
    /// Median of the downlink delay, ms.
    DelayP50,
    /// 95th percentile of the downlink delay, ms.
    DelayP95,
    /// 99th percentile of the downlink delay, ms.
    DelayP99,
    /// Part of the octets sent that did not arrive.
    Loss,
    /// Mean distance of the PRB use from its target, as a part of the target.
    TrackingError,
    /// Mean change of the guided rate per decision, as a part of the rate.
    RateChange,
    /// Jain's index of the flows' goodputs within the unit.
    Fairness,
}

/// Which direction is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// How two arms are compared in a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By the ratio of their geometric means: rates and delays, which are skewed and differ between units by factors.
    Ratio,
    /// By the difference of their means: parts of one, which may be 0.
    Difference,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Goodput,
        Self::DelayMean,
        Self::DelayP50,
        Self::DelayP95,
        Self::DelayP99,
        Self::Loss,
        Self::TrackingError,
        Self::RateChange,
        Self::Fairness,
    ];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::DelayMean => "delay mean",
            Self::DelayP50 => "delay p50",
            Self::DelayP95 => "delay p95",
            Self::DelayP99 => "delay p99",
            Self::Loss => "loss",
            Self::TrackingError => "PRB tracking error",
            Self::RateChange => "rate change",
            Self::Fairness => "fairness",
        }
    }

    /// Unit in which [`display`](Self::display) gives it; empty: none.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Goodput => "Mbit/s",
            Self::DelayMean | Self::DelayP50 | Self::DelayP95 | Self::DelayP99 => "ms",
            Self::Loss | Self::TrackingError | Self::RateChange => "%",
            Self::Fairness => "",
        }
    }

    /// A value in that unit.
    pub fn display(self, value: f64) -> f64 {
        match self {
            Self::Goodput => value / 1e6,
            Self::Loss | Self::TrackingError | Self::RateChange => value * 100.0,
            _ => value,
        }
    }

    /// The good direction.
    pub fn better(self) -> Better {
        match self {
            Self::Goodput | Self::Fairness => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// How arms are compared in it.
    pub fn scale(self) -> Scale {
        match self {
            Self::Goodput | Self::DelayMean | Self::DelayP50 | Self::DelayP95 | Self::DelayP99 => {
                Scale::Ratio
            }
            Self::Loss | Self::TrackingError | Self::RateChange | Self::Fairness => {
                Scale::Difference
            }
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is known of one flow over one control interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Length of the interval.
    pub length: Duration,
    /// Octets that the UE got.
    pub delivered_bytes: Option<f64>,
    /// Downlink delay, ms.
    pub delay_ms: Option<f64>,
    /// Octets sent, and how many of them arrived.
    pub sent_arrived_bytes: Option<(f64, f64)>,
    /// PRBs that the law compared with its target, and that target.
    pub prbs: Option<(f64, f64)>,
    /// Rates before and after the decision, bit/s.
    pub rates_bps: Option<(f64, f64)>,
}

/// One unit under one arm: the data point of every statistic here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Index of the arm.
    pub arm: usize,
    /// Which UE or cell.
    pub unit: String,
    /// Block of the switchback that the period belongs to.
    pub block: Option<u64>,
    /// Unix time of its end.
    pub ended: Duration,
    /// Flow-seconds that it sums up.
    pub seconds: f64,
    /// What was measured. A metric of which nothing is known is left out.
    pub values: BTreeMap<Metric, f64>,
}

/// Flows of one unit that are kept apart, for fairness.
const MAX_FLOWS: usize = 1024;

/// Sums of an observation under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accumulator {
    seconds: f64,
    /// Octets and seconds of each flow.
    flows: BTreeMap<String, (f64, f64)>,
    delays: Delays,
    sent_arrived: SentArrived,
    tracking: Mean,
    change: Mean,
}

impl Accumulator {
    /// Adds what a flow did in an interval. Values that are no numbers are left out.
    pub fn add(&mut self, flow: &str, sample: &Sample) {
        let seconds = sample.length.as_secs_f64();
        self.seconds += seconds;
        if let Some(octets) = sample
            .delivered_bytes
            .filter(|o| o.is_finite() && *o >= 0.0)
            && (self.flows.contains_key(flow) || self.flows.len() < MAX_FLOWS)
        {
            let sum = self.flows.entry(flow.to_owned()).or_default();
            *sum = (sum.0 + octets, sum.1 + seconds);
        }
        if let Some(ms) = sample.delay_ms {
            self.delays.add(ms);
        }
        self.sent_arrived.add(sample);
        if let Some((prbs, target)) = sample.prbs {
            self.tracking.add((prbs - target).abs() / target);
        }
        if let Some((before, after)) = sample.rates_bps {
            self.change.add((after - before).abs() / before);
        }
    }

    /// Flow-seconds so far.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// What was measured.
    pub fn values(&self) -> BTreeMap<Metric, f64> {
        let goodputs: Vec<f64> = self
            .flows
            .values()
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(octets, seconds)| octets * 8.0 / seconds)
            .collect();
        let mean = |values: &[f64]| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        [
            (Metric::Goodput, mean(&goodputs)),
            (Metric::DelayMean, self.delays.mean()),
            (Metric::DelayP50, self.delays.quantile(0.5)),
            (Metric::DelayP95, self.delays.quantile(0.95)),
            (Metric::DelayP99, self.delays.quantile(0.99)),
            (Metric::Loss, self.sent_arrived.loss()),
            (Metric::TrackingError, self.tracking.get()),
            (Metric::RateChange, self.change.get()),
            (Metric::Fairness, jain(&goodputs)),
        ]
        .into_iter()
        .filter_map(|(metric, value)| Some((metric, value.filter(|v| v.is_finite())?)))
        .collect()
    }
}

/// Jain's index (Jain, Chiu, Hawe: A Quantitative Measure of Fairness, 1984); `None` for fewer than two flows.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let (sum, squares) = rates
        .iter()
        .fold((0.0, 0.0), |(s, q), rate| (s + rate, q + rate * rate));
    (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Octets sent, and how many of them arrived. What is under way evens out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SentArrived(f64, f64);

impl SentArrived {
    pub(super) fn add(&mut self, sample: &Sample) {
        if let Some((sent, arrived)) = sample.sent_arrived_bytes
            && sent.is_finite()
            && arrived.is_finite()
        {
            *self = Self(self.0 + sent, self.1 + arrived);
        }
    }

    pub(super) fn loss(self) -> Option<f64> {
        let Self(sent, arrived) = self;
        (sent > 0.0).then(|| (1.0 - arrived / sent).max(0.0))
    }
}

/// A running mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.sum += value;
            self.count += 1;
        }
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Delays in bins of 2 % width, from 1 µs to about a week; what is beyond counts as the nearest bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delays {
    bins: BTreeMap<u16, u64>,
    mean: Mean,
}

impl Delays {
    const LEAST_MS: f64 = 1e-3;
    const WIDTH: f64 = 1.02;
    const MAX_BIN: f64 = 1400.0;

    /// Adds a delay in ms; one that is no number or negative is left out.
    pub fn add(&mut self, ms: f64) {
        if !(ms.is_finite() && ms >= 0.0) {
            return;
        }
        let bin = (ms.max(Self::LEAST_MS) / Self::LEAST_MS).ln() / Self::WIDTH.ln();
        *self.bins.entry(bin.min(Self::MAX_BIN) as u16).or_default() += 1;
        self.mean.add(ms);
    }

    /// Mean, ms.
    pub fn mean(&self) -> Option<f64> {
        self.mean.get()
    }

    /// Delay in ms that a part `quantile` of all does not exceed, to 1 %.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        let rank = (quantile * self.mean.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        for (bin, count) in &self.bins {
            below += count;
            if below >= rank {
                return Some(Self::LEAST_MS * Self::WIDTH.powf(f64::from(*bin) + 0.5));
            }
        }
        None
    }
}
