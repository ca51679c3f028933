//! What an edge server measures of its flows, and how measurements add up between two reports.

use proto::guidance as pb;
use std::time::Duration;

/// What was measured of a flow over an interval. What cannot be known stays `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowMeasurement {
    /// Length of the interval.
    pub interval: Duration,
    /// Octets of IP packets sent.
    pub sent_bytes: Option<u64>,
    /// Octets of IP packets acknowledged by the receiver.
    pub acknowledged_bytes: Option<u64>,
    /// Packets lost.
    pub lost_packets: Option<u64>,
    /// Mean one-way delay.
    pub one_way_delay_mean: Option<Duration>,
    /// 99th percentile of the one-way delay.
    pub one_way_delay_p99: Option<Duration>,
    /// Newest round-trip time sample (not reported: for the fallback controller).
    pub round_trip: Option<Duration>,
    /// The application had less to send than the guidance allowed.
    pub application_limited: bool,
}

impl FlowMeasurement {
    /// Joins the measurement of the next interval: counts add up, means are weighted by acknowledged octets,
    /// of percentiles the worst stays.
    pub fn join(&mut self, next: &FlowMeasurement) {
        self.one_way_delay_mean = match (self.one_way_delay_mean, next.one_way_delay_mean) {
            (Some(a), Some(b)) => {
                let (wa, wb) = (self.delay_weight(), next.delay_weight());
                Some((a.mul_f64(wa) + b.mul_f64(wb)).div_f64(wa + wb))
            }
            (a, b) => b.or(a),
        };
        self.one_way_delay_p99 = self.one_way_delay_p99.max(next.one_way_delay_p99);
        self.interval += next.interval;
        self.sent_bytes = add(self.sent_bytes, next.sent_bytes);
        self.acknowledged_bytes = add(self.acknowledged_bytes, next.acknowledged_bytes);
        self.lost_packets = add(self.lost_packets, next.lost_packets);
        self.round_trip = next.round_trip.or(self.round_trip);
        self.application_limited |= next.application_limited;
    }

    fn delay_weight(&self) -> f64 {
        self.acknowledged_bytes.unwrap_or(0).max(1) as f64
    }

    /// As the contract carries it; `applied_sequence`: newest guidance that was applied.
    pub(crate) fn to_proto(
        &self,
        flow_id: &str,
        applied_sequence: u64,
        sent: Sent,
    ) -> pb::FlowReport {
        let micros = |d: Duration| u64::try_from(d.as_micros()).unwrap_or(u64::MAX);
        pb::FlowReport {
            flow_id: flow_id.to_owned(),
            interval_us: micros(self.interval),
            sent_bytes: self.sent_bytes,
            acknowledged_bytes: self.acknowledged_bytes,
            lost_packets: self.lost_packets,
            one_way_delay_mean_us: self.one_way_delay_mean.map(micros),
            one_way_delay_p99_us: self.one_way_delay_p99.map(micros),
            application_limited: self.application_limited,
            applied_sequence,
            interval_end_us: sent.until_us,
            total_sent_bytes: self.sent_bytes.map(|_| sent.total_bytes),
        }
    }
}

/// What a flow has sent since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// When it was counted, Unix µs; 0: never.
    pub(crate) until_us: i64,
    pub(crate) total_bytes: u64,
}

impl Sent {
    /// Counts what was measured until `now_us`.
    pub(crate) fn count(&mut self, measurement: &FlowMeasurement, now_us: i64) {
        if let Some(bytes) = measurement.sent_bytes {
            self.total_bytes = self.total_bytes.saturating_add(bytes);
            self.until_us = now_us;
        }
    }
}

fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_measurements_add_counts_and_weigh_means() {
        let ms = Duration::from_millis;
        let mut sum = FlowMeasurement {
            interval: ms(50),
            sent_bytes: Some(4_000),
            acknowledged_bytes: Some(3_000),
            one_way_delay_mean: Some(ms(10)),
            one_way_delay_p99: Some(ms(30)),
            ..Default::default()
        };
        sum.join(&FlowMeasurement {
            interval: ms(50),
            sent_bytes: Some(1_000),
            acknowledged_bytes: Some(1_000),
            lost_packets: Some(2),
            one_way_delay_mean: Some(ms(50)),
            one_way_delay_p99: Some(ms(20)),
            application_limited: true,
            ..Default::default()
        });
        assert_eq!(
            sum,
            FlowMeasurement {
                interval: ms(100),
                sent_bytes: Some(5_000),
                acknowledged_bytes: Some(4_000),
                lost_packets: Some(2),
                one_way_delay_mean: Some(ms(20)),
                one_way_delay_p99: Some(ms(30)),
                round_trip: None,
                application_limited: true,
            }
        );
    }
}
