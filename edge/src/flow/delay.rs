//! One-way delay of many packets.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Delays in µs, up to a minute, to 3 digits.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    histogram: Histogram<u32>,
    sum_us: u64,
}

/// Largest delay that is told apart, µs.
const LARGEST_US: u64 = 60_000_000;

impl Delays {
    pub(super) fn new() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LARGEST_US, 3)
                .expect("constant bounds that a histogram takes"),
            sum_us: 0,
        }
    }

    pub(super) fn record(&mut self, delay_us: u64) {
        let delay_us = delay_us.min(LARGEST_US);
        self.histogram.saturating_record(delay_us);
        self.sum_us = self.sum_us.saturating_add(delay_us);
    }

    pub(super) fn clear(&mut self) {
        self.histogram.reset();
        self.sum_us = 0;
    }

    /// `None` if nothing was recorded.
    pub(super) fn summary(&self) -> Option<DelaySummary> {
        let packets = self.histogram.len();
        (packets > 0).then(|| DelaySummary {
            packets,
            mean_us: self.sum_us as f64 / packets as f64,
            p50_us: self.histogram.value_at_quantile(0.5),
            p95_us: self.histogram.value_at_quantile(0.95),
            p99_us: self.histogram.value_at_quantile(0.99),
            max_us: self.histogram.max(),
        })
    }
}

/// One-way delay of some packets, µs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DelaySummary {
    /// How many packets.
    pub packets: u64,
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// Largest.
    pub max_us: u64,
}
