//! What a flow achieved: totals, delay distribution, and one row per report interval.

use crate::frames::{FrameResults, FrameSummary};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::time::Duration;

/// Delays are kept in microseconds, to three digits, up to a minute.
const LONGEST_DELAY_US: u64 = 60_000_000;

/// One report interval of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportRow {
    /// End of the interval.
    pub at: Duration,
    /// PRBs per slot of the UE, related as the scenario says.
    pub prbs: f64,
    /// Mean MCS.
    pub mcs: f64,
    /// SINR, dB.
    pub sinr_db: f64,
    /// HARQ retransmissions per first transmission.
    pub retransmission_ratio: f64,
    /// RLC queue at the end, octets.
    pub queue_bytes: u64,
    /// Send rate of a paced flow at the end, bit/s.
    pub rate_bps: Option<f64>,
    /// Payload sent, octets.
    pub sent_bytes: u64,
    /// Payload received for the first time, octets.
    pub received_bytes: u64,
    /// Packets received.
    pub packets: u64,
    /// Packets dropped by the queue or lost on the air.
    pub lost: u64,
    /// Mean one-way delay of the packets received, s.
    pub delay_mean_s: f64,
    /// Largest one-way delay of the packets received, s.
    pub delay_max_s: f64,
    /// Packets received later than the delay objective of the flow's slice allows.
    pub late: u64,
}

/// Summary of delays, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DelaySummary {
    /// Mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Largest.
    pub max_ms: f64,
}

impl DelaySummary {
    fn of_histogram(delays: &Histogram<u32>) -> Self {
        let ms = |us: u64| us as f64 / 1e3;
        Self {
            mean_ms: delays.mean() / 1e3,
            p50_ms: ms(delays.value_at_quantile(0.5)),
            p95_ms: ms(delays.value_at_quantile(0.95)),
            p99_ms: ms(delays.value_at_quantile(0.99)),
            max_ms: ms(delays.max()),
        }
    }

    /// Of plain values in seconds.
    pub fn of_seconds(mut values: Vec<f64>) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        values.sort_by(f64::total_cmp);
        let at = |q: f64| 1e3 * values[((values.len() - 1) as f64 * q).round() as usize];
        Self {
            mean_ms: 1e3 * values.iter().sum::<f64>() / values.len() as f64,
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            max_ms: at(1.0),
        }
    }
}

/// Results of one flow.
#[derive(Clone, Debug)]
pub struct FlowResults {
    name: String,
    start: Duration,
    stop: Duration,
    sent_packets: u64,
    sent_bytes: u64,
    lost_packets: u64,
    received_packets: u64,
    received_bytes: u64,
    delays_us: Histogram<u32>,
    /// The report interval that is open.
    open: ReportRow,
    delay_sum: Duration,
    delay_max: Duration,
    rows: Vec<ReportRow>,
    /// Gains applied, bit/s per PRB, with how often.
    gains: Vec<(f64, u64)>,
    /// Delay objective of its slice.
    objective: Option<Duration>,
    /// Frames, if it is a video flow.
    pub frames: Option<FrameResults>,
}

impl FlowResults {
    /// Nothing yet.
    pub fn new(name: String, start: Duration, stop: Duration) -> Self {
        let delays_us = Histogram::new_with_max(LONGEST_DELAY_US, 3);
        Self {
            name,
            start,
            stop,
            sent_packets: 0,
            sent_bytes: 0,
            lost_packets: 0,
            received_packets: 0,
            received_bytes: 0,
            // Three digits up to a minute is a valid combination.
            delays_us: delays_us.unwrap_or_else(|_| unreachable!()),
            open: ReportRow::default(),
            delay_sum: Duration::ZERO,
            delay_max: Duration::ZERO,
            rows: Vec::new(),
            gains: Vec::new(),
            objective: None,
            frames: None,
        }
    }

    /// Packets later than this are counted.
    pub(crate) fn set_objective(&mut self, objective: Option<Duration>) {
        self.objective = objective;
    }

    pub(crate) fn sent(&mut self, payload: u32) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(payload);
        self.open.sent_bytes += u64::from(payload);
    }

    /// A packet was refused by the queue, or HARQ gave it up.
    pub(crate) fn lost(&mut self) {
        self.lost_packets += 1;
        self.open.lost += 1;
    }

    /// A packet has been received; `new`: its payload counts.
    pub(crate) fn received(&mut self, at: Duration, payload: u32, sent_at: Duration, new: bool) {
        let delay = at.saturating_sub(sent_at);
        self.received_packets += 1;
        self.open.packets += 1;
        self.delay_sum += delay;
        self.delay_max = self.delay_max.max(delay);
        self.delays_us.saturating_record(delay.as_micros() as u64);
        let late = self.objective.is_some_and(|objective| delay > objective);
        self.open.late += u64::from(late);
        if new {
            self.received_bytes += u64::from(payload);
            self.open.received_bytes += u64::from(payload);
        }
    }

    /// Ends a report interval with what the cell tells of it.
    pub(crate) fn end_window(&mut self, cell: ReportRow) {
        let ReportRow {
            sent_bytes,
            received_bytes,
            packets,
            lost,
            late,
            ..
        } = std::mem::take(&mut self.open);
        let delay_sum = std::mem::take(&mut self.delay_sum).as_secs_f64();
        self.rows.push(ReportRow {
            sent_bytes,
            received_bytes,
            packets,
            lost,
            late,
            delay_mean_s: delay_sum / packets.max(1) as f64,
            delay_max_s: std::mem::take(&mut self.delay_max).as_secs_f64(),
            ..cell
        });
    }

    pub(crate) fn decided(&mut self, gain_bps_per_prb: f64) {
        match self
            .gains
            .iter_mut()
            .find(|(gain, _)| *gain == gain_bps_per_prb)
        {
            Some((_, count)) => *count += 1,
            None => self.gains.push((gain_bps_per_prb, 1)),
        }
    }

    /// The flow's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Octets of payload sent, and received for the first time.
    pub fn octets(&self) -> (u64, u64) {
        (self.sent_bytes, self.received_bytes)
    }

    /// One row per report interval.
    pub fn rows(&self) -> &[ReportRow] {
        &self.rows
    }

    /// Gains applied, bit/s per PRB, and how often each.
    pub fn gains(&self) -> &[(f64, u64)] {
        &self.gains
    }

    /// The whole life of the flow, until `end`.
    pub fn summary(&self, end: Duration) -> Summary {
        let seconds = self
            .stop
            .min(end)
            .saturating_sub(self.start)
            .as_secs_f64()
            .max(1e-9);
        let active: Vec<&ReportRow> = self
            .rows
            .iter()
            .filter(|r| r.at > self.start && r.at <= self.stop)
            .collect();
        let reports = active.iter().filter(|r| r.packets > 0);
        let mean = |of: &dyn Fn(&ReportRow) -> f64| {
            active.iter().map(|r| of(r)).fold(0.0, |a, b| a + b) / active.len().max(1) as f64
        };
        Summary {
            flow: self.name.clone(),
            goodput_mbps: self.received_bytes as f64 * 8e-6 / seconds,
            loss_percent: 100.0 * self.lost_packets as f64 / self.sent_packets.max(1) as f64,
            packet_delay: DelaySummary::of_histogram(&self.delays_us),
            report_delay: DelaySummary::of_seconds(reports.map(|r| r.delay_mean_s).collect()),
            prbs: mean(&|r| r.prbs),
            mcs: mean(&|r| r.mcs),
            retransmission_ratio: mean(&|r| r.retransmission_ratio),
            frames: self.frames.as_ref().map(FrameResults::summary),
        }
    }

    /// When it started and stopped.
    pub fn life(&self) -> (Duration, Duration) {
        (self.start, self.stop)
    }

    /// The part of its life between two times, from the report intervals: goodput, loss, delay per report.
    pub fn window(&self, from: Duration, to: Duration) -> WindowSummary {
        let mut pool = Pool::default();
        let rows = self.rows.iter();
        pool.add(rows.filter(|r| r.at > from && r.at <= to));
        pool.summary((to - from).as_secs_f64())
    }
}

/// Report intervals taken together: of several flows, seeds or times.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    sent: u64,
    received: u64,
    packets: u64,
    lost: u64,
    prbs: f64,
    rows: u64,
    delays_s: Vec<f64>,
}

impl Pool {
    /// Adds report intervals.
    pub fn add<'a>(&mut self, rows: impl IntoIterator<Item = &'a ReportRow>) {
        for row in rows {
            self.sent += row.sent_bytes;
            self.received += row.received_bytes;
            self.packets += row.packets;
            self.lost += row.lost;
            self.prbs += row.prbs;
            self.rows += 1;
            if row.packets > 0 {
                self.delays_s.push(row.delay_mean_s);
            }
        }
    }

    /// Adds another pool.
    pub fn merge(&mut self, other: Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.packets += other.packets;
        self.lost += other.lost;
        self.prbs += other.prbs;
        self.rows += other.rows;
        self.delays_s.extend(other.delays_s);
    }

    /// Mean one-way delays of the intervals in which packets were received, s.
    pub fn delays_s(&self) -> &[f64] {
        &self.delays_s
    }

    /// What they come to, over `seconds` of time.
    pub fn summary(&self, seconds: f64) -> WindowSummary {
        WindowSummary {
            goodput_mbps: self.received as f64 * 8e-6 / seconds,
            sent_mbps: self.sent as f64 * 8e-6 / seconds,
            loss_percent: 100.0 * self.lost as f64 / (self.packets + self.lost).max(1) as f64,
            report_delay: DelaySummary::of_seconds(self.delays_s.clone()),
            prbs: self.prbs / self.rows.max(1) as f64,
        }
    }
}

/// Results of one flow over its life.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the flow.
    pub flow: String,
    /// Payload received per second of its life.
    pub goodput_mbps: f64,
    /// Packets dropped or lost, of those sent.
    pub loss_percent: f64,
    /// One-way delay per packet.
    pub packet_delay: DelaySummary,
    /// One-way delay as means of report intervals (the papers' statistic).
    pub report_delay: DelaySummary,
    /// PRBs per slot.
    pub prbs: f64,
    /// Mean MCS.
    pub mcs: f64,
    /// HARQ retransmissions per first transmission.
    pub retransmission_ratio: f64,
    /// Frames, if it is a video flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameSummary>,
}

/// Results of one flow in a part of its life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowSummary {
    /// Payload received.
    pub goodput_mbps: f64,
    /// Payload sent.
    pub sent_mbps: f64,
    /// Packets dropped or lost, of those received, dropped or lost.
    pub loss_percent: f64,
    /// One-way delay as means of report intervals.
    pub report_delay: DelaySummary,
    /// PRBs per slot.
    pub prbs: f64,
}

/// Jain's fairness index of some goodputs (Jain, Chiu, Hawe, DEC-TR-301, 1984): 1 if equal, 1/n if one has all.
pub fn jain_index(goodputs: &[f64]) -> f64 {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|g| g * g).sum();
    if squares == 0.0 {
        return 1.0;
    }
    sum * sum / (goodputs.len() as f64 * squares)
}
