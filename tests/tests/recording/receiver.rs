//! What the UE's PDCP does with the packets that RLC brought, told by the node's own counters.
//!
//! RLC refuses SDUs when its queue is full, and PDCP has numbered them before. At such a hole the receiving PDCP holds
//! everything back until t-Reordering expires (TS 38.323 clause 5.2.2.2): 100 to 200 ms and, at 80 Mbit/s, up to 1.8 MB
//! that the air interface has carried and nobody has received. Without this a phase that begins with a full queue looks
//! up to 15 % off; with it, the packets received are told to the packet nearly everywhere.

use e2sm::{
    e2ap::{self, Pdu, Version},
    flexric::{MacUe, Model, RlcBearer, Stats},
};
use std::{
    collections::{BTreeSet, VecDeque},
    fs::File,
    path::Path,
};
use xapp::capture::{Capture, Framing};

/// IP octets of every packet of the recordings, and what RLC counts of them: with the PDCP header.
pub const IP_OCTETS: f64 = 1400.0;
pub const SDU_OCTETS: f64 = 1403.0;
/// OAI's RLC refuses an SDU when it would hold more than 10 MB that is not acknowledged.
const FULL: f64 = 7127.0;
/// 100 ms, after which OAI's UE waits for the next tick of 1 ms; of the radio's time, which its clock is.
const T_REORDERING: f64 = 0.101;
const SLOT: f64 = 0.0005;

/// A curve through points: x never falls, and neither does y.
#[derive(Default)]
struct Curve(Vec<(f64, f64)>);

impl Curve {
    fn at(&self, x: f64) -> f64 {
        let after = self.0.partition_point(|point| point.0 < x);
        self.between(after, |a, b| {
            a.1 + (b.1 - a.1) * ((x - a.0) / (b.0 - a.0)).clamp(0.0, 1.0)
        })
    }

    /// The first x at which the curve reaches y.
    fn reaches(&self, y: f64) -> f64 {
        let after = self.0.partition_point(|point| point.1 < y);
        self.between(after, |a, b| {
            a.0 + (b.0 - a.0) * ((y - a.1) / (b.1 - a.1)).clamp(0.0, 1.0)
        })
    }

    fn between(&self, after: usize, value: impl Fn((f64, f64), (f64, f64)) -> f64) -> f64 {
        let after = after.clamp(1, self.0.len() - 1);
        value(self.0[after - 1], self.0[after])
    }
}

/// One RLC report; packets.
struct Report {
    t: f64,
    offered: u64,
    accepted: f64,
    acknowledged: f64,
    queued: f64,
}

impl Report {
    fn full(&self) -> bool {
        self.accepted - self.acknowledged >= FULL
    }
}

/// What a recorded stream says of one UE's bearer.
pub struct Bearer {
    reports: Vec<Report>,
    /// IP octets that the UE's RLC has acknowledged, which is what the reports count as delivered.
    acknowledged: Curve,
    /// Seconds of radio time, which falls behind the clock.
    radio: Curve,
}

impl Bearer {
    pub fn open(path: &Path, rnti: u32) -> Self {
        let (mut reports, mut slots, mut last) = (Vec::new(), 0_i64, None);
        let mut radio = Curve::default();
        for recorded in Capture::open(File::open(path).unwrap(), Framing::E2ap).unwrap() {
            let octets = recorded.unwrap().octets;
            let Pdu::RicIndication(m) = e2ap::decode(&octets, Version::V2_03).unwrap().value else {
                continue;
            };
            match Model::from_ran_function_id(m.ran_function) {
                Some(Model::Rlc) => {
                    let stats = Stats::<RlcBearer>::decode(&m.message).unwrap();
                    let record = stats.records.iter().find(|record| record.rnti == rnti);
                    reports.extend(record.map(|record| Report {
                        t: stats.tstamp_us as f64 * 1e-6,
                        offered: record.rxsdu_pkts.into(),
                        accepted: record.rxsdu_bytes as f64 / SDU_OCTETS,
                        acknowledged: record.txsdu_bytes as f64 / SDU_OCTETS,
                        queued: f64::from(record.txbuf_occ_bytes) / SDU_OCTETS,
                    }));
                }
                Some(Model::Mac) => {
                    let stats = Stats::<MacUe>::decode(&m.message).unwrap();
                    let Some(record) = stats.records.iter().find(|record| record.rnti == rnti)
                    else {
                        continue;
                    };
                    let slot = i64::from(record.frame) * 20 + i64::from(record.slot);
                    slots += last.map_or(0, |last: i64| (slot - last).rem_euclid(1024 * 20));
                    last = Some(slot);
                    let t = stats.tstamp_us as f64 * 1e-6;
                    radio.0.push((t, slots as f64 * SLOT));
                }
                _ => {}
            }
        }
        let octets = |report: &Report| (report.t, report.acknowledged * IP_OCTETS);
        Self {
            acknowledged: Curve(reports.iter().map(octets).collect()),
            reports,
            radio,
        }
    }

    /// IP octets that the UE's RLC has acknowledged until `t`.
    pub fn acknowledged(&self, t: f64) -> f64 {
        self.acknowledged.at(t)
    }

    /// Indices of the accepted packets before which packets were refused.
    fn holes(&self) -> BTreeSet<u64> {
        let mut holes = BTreeSet::new();
        for pair in self.reports.windows(2) {
            let (from, to) = (&pair[0], &pair[1]);
            let accepted = to.accepted - from.accepted;
            if (to.offered - from.offered) as f64 - accepted < 0.5 {
                continue;
            }
            if from.full() {
                holes.insert(from.accepted as u64);
            }
            if to.full() {
                holes.insert(to.accepted as u64);
            }
            if !from.full() && !to.full() {
                let until_full = from.acknowledged + FULL;
                holes.insert(until_full.clamp(from.accepted, to.accepted) as u64);
            }
        }
        holes
    }

    /// When each packet reached the UE's PDCP, in radio time.
    fn arrivals(&self) -> Vec<f64> {
        let mut sent = 0.0_f64;
        let curve = self.reports.iter().map(|report| {
            sent = sent.max(report.accepted - report.queued);
            (report.t, sent)
        });
        let curve = Curve(curve.collect());
        let packets = self
            .reports
            .last()
            .map_or(0, |last| last.accepted.round() as u64);
        (1..=packets)
            .map(|n| self.radio.at(curve.reaches(n as f64)))
            .collect()
    }
}

/// Receiving PDCP entity. Packets arrive in order: a hole is never filled.
#[derive(Default)]
struct Pdcp {
    /// RX_NEXT, RX_DELIV and RX_REORD.
    next: u64,
    deliver: u64,
    reorder: u64,
    expires: Option<f64>,
    held: VecDeque<u64>,
    /// When each packet was delivered, in radio time.
    delivered: Vec<f64>,
}

impl Pdcp {
    fn take(&mut self, count: u64, at: f64) {
        self.until(at);
        self.next = count + 1;
        self.held.push_back(count);
        self.in_sequence(at);
        self.wait(at);
    }

    fn until(&mut self, at: f64) {
        while let Some(expired) = self.expires.take_if(|expires| *expires <= at) {
            while self.held.front().is_some_and(|count| *count < self.reorder) {
                self.held.pop_front();
                self.delivered.push(expired);
            }
            self.deliver = self.reorder;
            self.in_sequence(expired);
            self.wait(expired);
        }
    }

    fn in_sequence(&mut self, at: f64) {
        while self.held.front() == Some(&self.deliver) {
            self.held.pop_front();
            self.delivered.push(at);
            self.deliver += 1;
        }
    }

    fn wait(&mut self, at: f64) {
        if self.expires.is_none() && self.deliver < self.next {
            self.reorder = self.next;
            self.expires = Some(at + T_REORDERING);
        }
    }
}

/// When the UE's packets come out of its PDCP.
pub struct Receiver {
    delivered: Vec<f64>,
}

impl Receiver {
    /// The bearer's reports must come much faster than t-Reordering.
    pub fn of(bearer: &Bearer) -> Self {
        let holes = bearer.holes();
        let mut pdcp = Pdcp::default();
        let mut refused = 0;
        for (index, at) in (0..).zip(bearer.arrivals()) {
            // One for all that were refused in a row: the size of a hole does not matter.
            refused += u64::from(holes.contains(&index));
            pdcp.take(index + refused, at);
        }
        pdcp.until(f64::INFINITY);
        let delivered = pdcp.delivered.into_iter();
        Self {
            delivered: delivered.map(|radio| bearer.radio.reaches(radio)).collect(),
        }
    }

    /// IP octets that PDCP has delivered until `t`.
    pub fn delivered(&self, t: f64) -> f64 {
        self.delivered.partition_point(|at| *at <= t) as f64 * IP_OCTETS
    }
}
