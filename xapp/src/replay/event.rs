//! What happens in a replay: events, and the control intervals of each UE.

use crate::{cell::DecisionRecord, ran::NodeId};
use policies::{GainPolicy, UeId, UeReport};
use serde::Serialize;
use std::{fmt, time::Duration};

/// What happened in a replay. Times are since the first indication.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A UE reported for the first time, or again.
    UeUp {
        /// When.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which UE.
        #[serde(serialize_with = "display")]
        ue: UeId,
    },
    /// A UE reported no more.
    UeDown {
        /// When.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which UE.
        #[serde(serialize_with = "display")]
        ue: UeId,
    },
    /// The node lists a UE that it has given up: data waits, and no transport block is sent.
    UeLost {
        /// When that was certain.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which UE.
        #[serde(serialize_with = "display")]
        ue: UeId,
    },
    /// What a flow runs on, or why it cannot run.
    Policy {
        /// When.
        t: Duration,
        /// At which node.
        node: NodeId,
        /// Which flow: named after its UE.
        flow: String,
        /// The gain policy.
        policy: Option<GainPolicy>,
        /// Why not a preferred one.
        detail: String,
    },
    /// A report was made of a UE.
    Report(UeReport),
    /// A control interval ended for a UE.
    Decision(Decided),
}

/// A control interval of a UE, and what would have been guided at its end.
#[derive(Clone, Debug, Serialize)]
pub struct Decided {
    /// End of the interval, since the first indication.
    pub t: Duration,
    /// The same on the recording's clock, seconds since its epoch.
    pub time: f64,
    /// At which node.
    pub node: NodeId,
    /// Which UE.
    #[serde(serialize_with = "display")]
    pub ue: UeId,
    /// Reports in the interval.
    pub reports: u32,
    /// PRBs per slot that the law compared with its target.
    pub prbs: Option<f64>,
    /// Pε.
    pub target_prbs: f64,
    /// n.
    pub active_ues: u32,
    /// Newest MCS index.
    pub mcs: Option<f64>,
    /// HARQ retransmissions per first transmission.
    pub retransmission_ratio: Option<f64>,
    /// Throughput, bit/s.
    pub throughput_bps: Option<f64>,
    /// Rate at which data arrived at the base station, bit/s.
    pub arrival_bps: Option<f64>,
    /// Octets in the RLC queue at the end.
    pub queue_bytes: Option<u64>,
    /// Age of the oldest of them.
    pub head_of_line: Option<Duration>,
    /// Rate at which the interval started, bit/s.
    pub previous_rate_bps: f64,
    /// Rate that would have been guided, bit/s.
    pub rate_bps: f64,
    /// Gain policy that says so.
    pub policy: GainPolicy,
    /// Why the rate did not follow the law; empty when it did.
    pub note: &'static str,
}

/// What the reports of a UE's open interval say together.
#[derive(Debug, Default)]
pub(super) struct Interval {
    reports: u32,
    pub(super) delivered: Amount,
    pub(super) arrived: Amount,
    sent: Option<u64>,
    retransmitted: Option<u64>,
    newest: Option<UeReport>,
}

/// Octets, and the time in which they were counted: not every report has them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    pub(super) octets: u64,
    pub(super) seconds: f64,
}

impl Amount {
    fn add(&mut self, octets: Option<u64>, report: &UeReport) {
        if let Some(octets) = octets {
            self.octets = self.octets.saturating_add(octets);
            self.seconds += report.length.as_secs_f64();
        }
    }

    pub(super) fn bps(self) -> Option<f64> {
        (self.seconds > 0.0).then_some(self.octets as f64 * 8.0 / self.seconds)
    }
}

impl Interval {
    pub(super) fn add(&mut self, report: &UeReport) {
        let add = |sum: &mut Option<u64>, value: Option<u64>| {
            if let Some(value) = value {
                *sum = Some(sum.unwrap_or(0).saturating_add(value));
            }
        };
        self.reports += 1;
        self.delivered.add(report.delivered_bytes, report);
        self.arrived.add(report.arrived_bytes, report);
        add(&mut self.sent, report.tb_sent);
        add(&mut self.retransmitted, report.tb_retx);
        self.newest = Some(report.clone());
    }

    pub(super) fn decided(&self, record: DecisionRecord, t: Duration, time: Duration) -> Decided {
        let newest = self.newest.as_ref();
        let ratio = |sent: u64, retransmitted: u64| {
            if sent == 0 {
                0.0
            } else {
                retransmitted as f64 / sent as f64
            }
        };
        Decided {
            t,
            time: time.as_secs_f64(),
            reports: self.reports,
            prbs: record.decision.prbs,
            target_prbs: record.decision.target_prbs,
            active_ues: record.active_ues,
            mcs: newest.and_then(|report| report.mcs),
            retransmission_ratio: self
                .sent
                .zip(self.retransmitted)
                .map(|(sent, retx)| ratio(sent, retx)),
            throughput_bps: self.delivered.bps(),
            arrival_bps: self.arrived.bps(),
            queue_bytes: newest.and_then(|report| report.queue_bytes),
            head_of_line: newest.and_then(|report| report.head_of_line),
            previous_rate_bps: record.previous_rate_bps,
            rate_bps: record.decision.rate_bps,
            policy: record.policy,
            note: record.note(),
            node: record.node,
            ue: record.ue,
        }
    }
}

fn display<S: serde::Serializer>(
    value: &impl fmt::Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
