//! Cell, paced senders and rate controllers in virtual time.
//!
//! A paced sender emits packets at its controller's rate; after the wired delay they reach the cell. Every report
//! interval δ each UE is measured; every control interval Δ each controller decides on the reports since. It is the
//! production controller: only the clock differs.

use crate::cell::Cell;
use crate::measure::{Meter, downlink_prbs, rnti, slots};
use crate::rlc::{Fate, Packet};
use policies::activity::ActiveUes;
use policies::controller::{Controller, Interval, RateBounds, Target};
use policies::report::{UeId, UeReport};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// Intervals and target of the loop.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Report interval δ.
    pub report_interval: Duration,
    /// Control interval Δ, a multiple of δ.
    pub control_interval: Duration,
    /// PRB target factor f.
    pub target_factor: f64,
    /// One-way delay from sender to base station.
    pub wired_delay: Duration,
}

impl Default for Timing {
    /// δ = 50 ms, Δ = 200 ms, f = 0.9, as in the papers; no wired delay.
    fn default() -> Self {
        Self {
            report_interval: Duration::from_millis(50),
            control_interval: Duration::from_millis(200),
            target_factor: 0.9,
            wired_delay: Duration::ZERO,
        }
    }
}

/// A guided flow.
pub struct Flow {
    /// The UE it goes to.
    pub ue: usize,
    /// What decides its rate.
    pub controller: Box<dyn Controller>,
    /// Bounds of its rate.
    pub bounds: RateBounds,
    /// Octets of its packets, IP header included.
    pub packet_len: u32,
}

/// One control interval of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// End of the interval.
    pub at: Duration,
    /// Index of the flow.
    pub flow: usize,
    /// Rate decided at the end of the interval, bit/s.
    pub rate_bps: f64,
    /// PRBs per slot in the interval, retransmissions included.
    pub prbs: f64,
    /// Pε, PRBs per slot.
    pub target_prbs: f64,
    /// Delivered in the interval, bit/s.
    pub goodput_bps: f64,
    /// Mean one-way delay of what was delivered in the interval; zero if nothing was.
    pub mean_delay: Duration,
    /// Largest one-way delay of what was delivered in the interval.
    pub max_delay: Duration,
    /// Packets dropped by the queue or lost on the air in the interval.
    pub lost: u64,
}

struct Sender {
    flow: Flow,
    /// Octets that may be sent now.
    credit: f64,
    reports: Vec<UeReport>,
    delivered_octets: u64,
    delivered: u64,
    delay_sum: Duration,
    delay_max: Duration,
    lost: u64,
}

/// A packet on its way: through the wire or in the cell.
#[derive(Clone, Copy)]
struct OnTheWay {
    flow: usize,
    sent: u64,
}

/// The loop.
pub struct ClosedLoop {
    cell: Cell,
    timing: Timing,
    cell_prbs: f64,
    senders: Vec<Sender>,
    meters: Vec<Meter>,
    active: ActiveUes,
    next_id: u64,
    /// Packets on the wire, with the slot in which they reach the cell.
    wire: VecDeque<(u64, usize, Packet)>,
    packets: HashMap<u64, OnTheWay>,
    samples: Vec<Sample>,
}

impl ClosedLoop {
    /// A loop around a cell.
    pub fn new(cell: Cell, timing: Timing, flows: Vec<Flow>) -> Self {
        let senders = flows
            .into_iter()
            .map(|flow| Sender {
                flow,
                credit: 0.0,
                reports: Vec::new(),
                delivered_octets: 0,
                delivered: 0,
                delay_sum: Duration::ZERO,
                delay_max: Duration::ZERO,
                lost: 0,
            })
            .collect();
        Self {
            cell_prbs: downlink_prbs(&cell),
            meters: vec![Meter::default(); cell.ue_count()],
            active: ActiveUes::new(timing.control_interval),
            cell,
            timing,
            senders,
            next_id: 0,
            wire: VecDeque::new(),
            packets: HashMap::new(),
            samples: Vec::new(),
        }
    }

    /// The cell.
    pub fn cell(&self) -> &Cell {
        &self.cell
    }

    /// The control intervals so far, in order of time, then flow.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Runs for `length`.
    pub fn run(&mut self, length: Duration) {
        let report_slots = slots(&self.cell, self.timing.report_interval);
        let control_slots = slots(&self.cell, self.timing.control_interval);
        for _ in 0..slots(&self.cell, length) {
            self.send();
            self.run_slot();
            let now = self.cell.slot();
            if now.is_multiple_of(report_slots) {
                self.report();
            }
            if now.is_multiple_of(control_slots) {
                self.decide();
            }
        }
    }

    /// Every sender emits what its rate allows at the start of this slot; the wire hands over what is due.
    fn send(&mut self) {
        let now = self.cell.slot();
        let slot = self.cell.duration(1).as_secs_f64();
        let delay = self.timing.wired_delay.as_nanos() / self.cell.duration(1).as_nanos();
        for (index, sender) in self.senders.iter_mut().enumerate() {
            let len = sender.flow.packet_len;
            sender.credit += sender.flow.controller.rate_bps() / 8.0 * slot;
            while sender.credit >= f64::from(len) {
                sender.credit -= f64::from(len);
                let id = self.next_id;
                self.next_id += 1;
                self.packets.insert(
                    id,
                    OnTheWay {
                        flow: index,
                        sent: now,
                    },
                );
                self.wire
                    .push_back((now + delay as u64, sender.flow.ue, Packet { id, len }));
            }
        }
        while let Some(&(due, ue, packet)) = self.wire.front()
            && due <= now
        {
            self.wire.pop_front();
            if !self.cell.enqueue(ue, packet)
                && let Some(dropped) = self.packets.remove(&packet.id)
            {
                self.senders[dropped.flow].lost += 1;
            }
        }
    }

    fn run_slot(&mut self) {
        let end = self.cell.slot() + 1;
        let slot = self.cell.duration(1);
        for output in self.cell.run_slot() {
            let Some(packet) = self.packets.remove(&output.id) else {
                continue;
            };
            let sender = &mut self.senders[packet.flow];
            match output.fate {
                Fate::Lost => sender.lost += 1,
                Fate::Delivered => {
                    let delay = slot * (end - packet.sent) as u32;
                    sender.delivered += 1;
                    sender.delivered_octets += u64::from(output.len);
                    sender.delay_sum += delay;
                    sender.delay_max = sender.delay_max.max(delay);
                }
            }
        }
    }

    fn report(&mut self) {
        for (ue, meter) in self.meters.iter_mut().enumerate() {
            let Some(report) = meter.report(&self.cell, ue, self.cell_prbs) else {
                continue;
            };
            self.active.observe(&report);
            for sender in self.senders.iter_mut().filter(|s| s.flow.ue == ue) {
                sender.reports.push(report.clone());
            }
        }
    }

    fn decide(&mut self) {
        let now = self.cell.duration(self.cell.slot());
        let mut active_flows = self.active.count(now);
        for sender in &self.senders {
            let ue = UeId::CRnti(rnti(sender.flow.ue));
            active_flows += u32::from(!self.active.contains(ue, now));
        }
        let target = Target {
            factor: self.timing.target_factor,
            cell_prbs: self.cell_prbs,
            active_flows,
        };
        let seconds = self.timing.control_interval.as_secs_f64();
        for (flow, sender) in self.senders.iter_mut().enumerate() {
            let decision = sender.flow.controller.decide(&Interval {
                now,
                reports: &sender.reports,
                target,
                bounds: sender.flow.bounds,
            });
            let prbs: f64 = sender.reports.iter().filter_map(|r| r.prbs).sum();
            self.samples.push(Sample {
                at: now,
                flow,
                rate_bps: decision.rate_bps,
                prbs: prbs / sender.reports.len().max(1) as f64,
                target_prbs: decision.target_prbs,
                goodput_bps: sender.delivered_octets as f64 * 8.0 / seconds,
                mean_delay: sender.delay_sum / (sender.delivered.max(1) as u32),
                max_delay: sender.delay_max,
                lost: sender.lost,
            });
            sender.reports.clear();
            sender.delivered_octets = 0;
            sender.delivered = 0;
            sender.delay_sum = Duration::ZERO;
            sender.delay_max = Duration::ZERO;
            sender.lost = 0;
        }
    }
}
