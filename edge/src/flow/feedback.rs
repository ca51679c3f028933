//! What a sender learns from its receiver's reports: arithmetic without sockets.

use super::packet::{Packet, Report};
use crate::report::FlowMeasurement;
use std::time::Duration;

/// Follows the reports of one session.
#[derive(Clone, Debug)]
pub(super) struct Feedback {
    session: u64,
    newest: Option<Report>,
    reports: u64,
    delay_sum_us: f64,
    delay_packets: f64,
}

impl Feedback {
    pub(super) fn new(session: u64) -> Self {
        Self {
            session,
            newest: None,
            reports: 0,
            delay_sum_us: 0.0,
            delay_packets: 0.0,
        }
    }

    /// A packet came at `now_us`, Unix time: what it says that is new. `None`: nothing, or no report of this
    /// session.
    pub(super) fn receive(&mut self, bytes: &[u8], now_us: i64) -> Option<FlowMeasurement> {
        let Some(Packet::Report(report)) = Packet::decode(bytes) else {
            return None;
        };
        let (number, packets, bytes, lost) = self
            .newest
            .map_or((0, 0, 0, 0), |r| (r.number, r.packets, r.bytes, r.lost));
        if report.session != self.session || report.number <= number {
            return None;
        }
        let new_packets = report.packets.saturating_sub(packets);
        self.newest = Some(report);
        self.reports += 1;
        if let Some((mean, _)) = report.delay_us {
            self.delay_sum_us += f64::from(mean) * new_packets as f64;
            self.delay_packets += new_packets as f64;
        }
        let micros = |us: u32| Duration::from_micros(us.into());
        let round_trip_us = now_us
            .saturating_sub(report.newest_sent_us)
            .saturating_sub(report.held_us.into());
        Some(FlowMeasurement {
            acknowledged_bytes: Some(report.bytes.saturating_sub(bytes)),
            lost_packets: Some(report.lost.saturating_sub(lost)),
            one_way_delay_mean: report.delay_us.map(|(mean, _)| micros(mean)),
            one_way_delay_p99: report.delay_us.map(|(_, p99)| micros(p99)),
            // Without a packet since the last report the sample would be an old one.
            round_trip: report
                .delay_us
                .and_then(|_| u64::try_from(round_trip_us).ok())
                .map(Duration::from_micros),
            ..Default::default()
        })
    }

    pub(super) fn ended(&self) -> bool {
        self.newest.is_some_and(|r| r.ended)
    }

    pub(super) fn reports(&self) -> u64 {
        self.reports
    }

    pub(super) fn acknowledged_bytes(&self) -> u64 {
        self.newest.map_or(0, |r| r.bytes)
    }

    pub(super) fn lost_packets(&self) -> u64 {
        self.newest.map_or(0, |r| r.lost)
    }

    pub(super) fn reordered_packets(&self) -> u64 {
        self.newest.map_or(0, |r| r.reordered)
    }

    /// Mean and 99th percentile in the newest report.
    pub(super) fn last_delay_us(&self) -> Option<(u32, u32)> {
        self.newest.and_then(|r| r.delay_us)
    }

    /// Mean over all packets that were reported.
    pub(super) fn delay_mean_us(&self) -> Option<f64> {
        (self.delay_packets > 0.0).then(|| self.delay_sum_us / self.delay_packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::packet::REPORT_BYTES;

    fn report(number: u64, packets: u64, lost: u64, mean_us: u32) -> Vec<u8> {
        let mut buffer = vec![0; REPORT_BYTES];
        Packet::Report(Report {
            session: 7,
            number,
            packets,
            bytes: packets * 1_000,
            lost,
            reordered: 0,
            delay_us: Some((mean_us, 2 * mean_us)),
            newest_sent_us: 10_000,
            held_us: 500,
            ended: false,
        })
        .encode(&mut buffer);
        buffer
    }

    #[test]
    fn a_lost_report_loses_no_counts_and_an_old_one_changes_nothing() {
        let mut feedback = Feedback::new(7);
        let first = feedback.receive(&report(1, 10, 0, 4_000), 20_000).unwrap();
        assert_eq!(first.acknowledged_bytes, Some(10_000));
        assert_eq!(first.round_trip, Some(Duration::from_micros(9_500)));
        // Report 2 was lost.
        let third = feedback.receive(&report(3, 40, 2, 8_000), 20_000).unwrap();
        assert_eq!(third.acknowledged_bytes, Some(30_000));
        assert_eq!(third.lost_packets, Some(2));
        assert_eq!(third.one_way_delay_p99, Some(Duration::from_micros(16_000)));
        assert_eq!(feedback.receive(&report(2, 20, 0, 0), 20_000), None);
        assert_eq!(feedback.acknowledged_bytes(), 40_000);
        assert_eq!(feedback.delay_mean_us(), Some(7_000.0));
    }

    #[test]
    fn reports_of_other_sessions_are_not_believed() {
        let mut feedback = Feedback::new(8);
        assert_eq!(feedback.receive(&report(1, 10, 0, 1), 0), None);
        assert_eq!(feedback.acknowledged_bytes(), 0);
    }
}
