//! A cell, its sources, what edge servers and the node report of them, and the matcher between.

use crate::traffic::{Kind, PACKET, Source};
use policies::matching::{Change, ClockMap, FlowKey, Matcher, UeKey};
use policies::{
    Controller as _, Interval, PrbStatistic, Rapid, RateBounds, Target, UeId, UeReport,
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use sim::cell::{Cell, CellConfig, UeConfig};
use sim::mac::link::Link;
use sim::measure::{Meter, downlink_prbs, rnti};
use sim::rlc::Packet;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

const SLOT: f64 = 0.5e-3;
/// From the edge server to the base station, seconds.
const WIRED: f64 = 0.012;
/// Of reports, seconds, in slots.
const PERIOD_SLOTS: u64 = 100;
/// Guidance is decided at this interval, in slots.
const CONTROL_SLOTS: u64 = 400;
const NODE: &str = "gnb";
/// The edge server's clock is ahead of ours by this, µs.
const EDGE_CLOCK_US: i64 = 1_796_000_000_000_000;

/// One flow and its source, or (no key) traffic of others.
struct Flow {
    key: Option<FlowKey>,
    kind: Kind,
    source: Source,
    controller: Rapid,
    reports: Vec<UeReport>,
    first: Option<f64>,
    sent: u64,
    total: u64,
    /// When its edge server reports, in slots.
    phase: u64,
}

pub struct Bench {
    seed: u64,
    random: SmallRng,
    flows: Vec<Flow>,
}

/// What came of a run.
#[derive(Default)]
pub struct Figures {
    /// For each flow: time from its first octet to its first right binding.
    delays: Vec<Option<f64>>,
    /// Flows that were ever bound.
    bound: Vec<bool>,
    pub wrong: u32,
    pub longest_wrong: f64,
    pub ended: u32,
    /// Part of the time after the first binding for which flows were bound to the right UE.
    held: f64,
}

/// A message on its way to the xApp.
enum Message {
    Edge {
        key: FlowKey,
        stamp_us: i64,
        octets: u64,
        began: bool,
    },
    Node(Vec<UeReport>, i64),
}

impl Bench {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            random: SmallRng::seed_from_u64(seed),
            flows: Vec::new(),
        }
    }

    /// A flow whose edge server reports; its number, which is also that of its UE.
    pub fn flow(&mut self, kind: Kind) -> usize {
        let index = self.flows.len();
        let key = FlowKey {
            edge: format!("edge-{}", index % 3).into(),
            flow: format!("flow-{index}").into(),
        };
        self.add(Some(key), kind)
    }

    /// Traffic that Cantor knows nothing of.
    pub fn other(&mut self, kind: Kind) {
        self.add(None, kind);
    }

    fn add(&mut self, key: Option<FlowKey>, kind: Kind) -> usize {
        let seed = self.random.random();
        let phase = self.random.random_range(0..PERIOD_SLOTS);
        self.flows.push(Flow {
            key,
            kind,
            source: Source::new(kind, seed),
            controller: Rapid::new(0.5, 1e6, PrbStatistic::Mean, 1e6).unwrap(),
            reports: Vec::new(),
            first: None,
            sent: 0,
            total: 0,
            phase,
        });
        self.flows.len() - 1
    }

    fn cell(&mut self) -> Cell {
        let ues = self.flows.iter().map(|_| UeConfig {
            link: Link::Mcs(self.random.random_range(18..=28)),
            ..UeConfig::default()
        });
        let config = CellConfig {
            ues: ues.collect(),
            ..CellConfig::default()
        };
        Cell::new(config, self.seed).unwrap()
    }

    pub fn run(mut self, seconds: f64) -> Figures {
        let mut cell = self.cell();
        let mut matcher = Matcher::default();
        for (index, flow) in self.flows.iter().enumerate() {
            if let Some(key) = &flow.key {
                matcher.add_flow(key.clone(), address(index));
            }
        }
        let mut meters = vec![Meter::default(); self.flows.len()];
        let mut clocks: BTreeMap<Arc<str>, ClockMap> = BTreeMap::new();
        let mut wire: VecDeque<(u64, usize, Packet)> = VecDeque::new();
        let mut messages: Vec<(f64, Message)> = Vec::new();
        let mut outcome = Outcome::new(self.flows.len());
        let cell_prbs = downlink_prbs(&cell);
        let wired = (WIRED / SLOT) as u64;
        for slot in 0..(seconds / SLOT) as u64 {
            let now = slot as f64 * SLOT;
            for (index, flow) in self.flows.iter_mut().enumerate() {
                let packets = flow.source.packets(now, SLOT);
                for _ in 0..packets {
                    flow.first.get_or_insert(now);
                    flow.sent += u64::from(PACKET);
                    wire.push_back((slot + wired, index, Packet { id: 0, len: PACKET }));
                }
            }
            while wire.front().is_some_and(|packet| packet.0 <= slot) {
                let (_, ue, packet) = wire.pop_front().unwrap();
                cell.enqueue(ue, packet);
            }
            cell.run_slot();
            let now = now + SLOT;
            let stamp_us = (now * 1e6) as i64;
            for flow in &mut self.flows {
                if (slot + flow.phase).is_multiple_of(PERIOD_SLOTS)
                    && let Some(key) = &flow.key
                {
                    let octets = std::mem::take(&mut flow.sent);
                    let began = flow.total == 0;
                    flow.total += octets;
                    let message = Message::Edge {
                        key: key.clone(),
                        stamp_us: stamp_us + EDGE_CLOCK_US,
                        octets,
                        began,
                    };
                    messages.push((now + 0.004 + delay(&mut self.random), message));
                }
            }
            if slot.is_multiple_of(PERIOD_SLOTS) {
                let reports: Vec<_> = meters
                    .iter_mut()
                    .enumerate()
                    .filter_map(|(ue, meter)| meter.report(&cell, ue, cell_prbs))
                    .collect();
                for (flow, report) in self.flows.iter_mut().zip(&reports) {
                    flow.reports.push(report.clone());
                }
                let late = now + 0.002 + delay(&mut self.random);
                messages.push((late, Message::Node(reports, stamp_us)));
            }
            let mut due = Vec::new();
            messages.retain_mut(|(at, message)| {
                let is_due = *at <= now;
                if is_due {
                    let taken = std::mem::replace(message, Message::Node(Vec::new(), 0));
                    due.push((*at, taken));
                }
                !is_due
            });
            due.sort_by(|a, b| a.0.total_cmp(&b.0));
            let clock = Duration::from_secs_f64(now);
            for (_, message) in due {
                match message {
                    Message::Edge {
                        key,
                        stamp_us,
                        octets,
                        began,
                    } => {
                        let end = clocks.entry(key.edge.clone()).or_default();
                        let end = end.map(stamp_us, clock);
                        matcher.sent(&key, end, Duration::from_millis(50), octets, began);
                    }
                    Message::Node(reports, stamp_us) => {
                        let end = clocks.entry(NODE.into()).or_default();
                        let end = end.map(stamp_us, clock);
                        for report in reports {
                            matcher.arrived(&NODE.into(), &report, end);
                        }
                    }
                }
            }
            if slot.is_multiple_of(PERIOD_SLOTS) {
                for change in matcher.update(clock) {
                    outcome.take(change, now, &self.flows);
                }
            }
            if slot.is_multiple_of(CONTROL_SLOTS) {
                self.guide(&outcome, clock, cell_prbs);
            }
        }
        outcome.figures(seconds, &self.flows)
    }

    /// Guidance for the flows that are bound, from the UE that they are bound to.
    fn guide(&mut self, outcome: &Outcome, now: Duration, cell_prbs: f64) {
        let target = Target {
            factor: 0.9,
            cell_prbs,
            active_flows: self.flows.len() as u32,
        };
        for index in 0..self.flows.len() {
            let ue = outcome.bound[index];
            let reports = ue.map(|ue| self.flows[ue].reports.clone());
            let flow = &mut self.flows[index];
            if flow.kind != Kind::Guided {
                continue;
            }
            flow.source.guided_bps = reports.map(|reports| {
                let decision = flow.controller.decide(&Interval {
                    now,
                    reports: &reports,
                    target,
                    bounds: RateBounds {
                        min_bps: 1e5,
                        max_bps: 2e7,
                    },
                });
                decision.rate_bps
            });
        }
        for flow in &mut self.flows {
            flow.reports.clear();
        }
    }
}

/// Delay of a message beyond the least, seconds: some milliseconds, now and then much more.
fn delay(random: &mut SmallRng) -> f64 {
    if random.random_bool(0.02) {
        random.random_range(0.0..0.12)
    } else {
        random.random_range(0.0..0.006)
    }
}

fn address(index: usize) -> IpAddr {
    IpAddr::from([10, 45, 0, index as u8])
}

/// How flows are bound while a run goes on.
struct Outcome {
    bound: Vec<Option<usize>>,
    since: Vec<f64>,
    first_right: Vec<Option<f64>>,
    right_for: Vec<f64>,
    ever: Vec<bool>,
    wrong: u32,
    longest_wrong: f64,
    ended: u32,
}

impl Outcome {
    fn new(flows: usize) -> Self {
        Self {
            bound: vec![None; flows],
            since: vec![0.0; flows],
            first_right: vec![None; flows],
            right_for: vec![0.0; flows],
            ever: vec![false; flows],
            wrong: 0,
            longest_wrong: 0.0,
            ended: 0,
        }
    }

    fn take(&mut self, change: Change, now: f64, flows: &[Flow]) {
        let address_of = match &change {
            Change::Bound(address, _) | Change::Unbound(address, _) => *address,
        };
        let index = (0..flows.len())
            .find(|index| address(*index) == address_of)
            .unwrap();
        match change {
            Change::Bound(_, found) => {
                let ue = (0..flows.len()).find(|ue| {
                    found.ue
                        == UeKey {
                            node: NODE.into(),
                            ue: UeId::CRnti(rnti(*ue)),
                        }
                });
                if self.bound[index] == ue {
                    return;
                }
                self.end(index, now);
                (self.bound[index], self.since[index]) = (ue, now);
                self.ever[index] = true;
                if ue == Some(index) {
                    self.first_right[index].get_or_insert(now);
                } else {
                    self.wrong += 1;
                    println!(
                        "  {now:.2} s: {:?} {index} bound to {ue:?} ({:?})",
                        flows[index].kind, found
                    );
                }
            }
            Change::Unbound(_, why) => {
                self.ended += 1;
                println!(
                    "  {now:.2} s: {:?} {index} unbound from {:?}: {why}",
                    flows[index].kind, self.bound[index]
                );
                self.end(index, now);
            }
        }
    }

    fn end(&mut self, index: usize, now: f64) {
        let Some(ue) = self.bound[index].take() else {
            return;
        };
        let held = now - self.since[index];
        if ue == index {
            self.right_for[index] += held;
        } else {
            self.longest_wrong = self.longest_wrong.max(held);
        }
    }

    fn figures(mut self, seconds: f64, flows: &[Flow]) -> Figures {
        let (mut held, mut possible) = (0.0, 0.0);
        for index in 0..flows.len() {
            self.end(index, seconds);
            if let Some(first) = self.first_right[index] {
                held += self.right_for[index];
                possible += seconds - first;
            }
        }
        let guided = flows
            .iter()
            .enumerate()
            .filter(|(_, flow)| flow.key.is_some());
        Figures {
            delays: guided
                .filter_map(|(index, flow)| {
                    let first = flow.first?;
                    Some(self.first_right[index].map(|at| at - first))
                })
                .collect(),
            bound: self.ever,
            wrong: self.wrong,
            longest_wrong: self.longest_wrong,
            ended: self.ended,
            held: held / f64::max(possible, 1e-9),
        }
    }
}

impl Figures {
    /// Part of the flows that were bound to the right UE within `seconds` of their first octet.
    pub fn bound_within(&self, seconds: f64) -> f64 {
        let in_time = self.delays.iter().flatten().filter(|d| **d <= seconds);
        in_time.count() as f64 / self.delays.len() as f64
    }

    pub fn never_bound(&self, flow: usize) -> bool {
        !self.bound[flow]
    }

    pub fn add(&mut self, other: &Self) {
        let (n, m) = (self.delays.len() as f64, other.delays.len() as f64);
        self.held = (self.held * n + other.held * m) / (n + m);
        self.delays.extend(&other.delays);
        self.wrong += other.wrong;
        self.ended += other.ended;
        self.longest_wrong = self.longest_wrong.max(other.longest_wrong);
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut delays: Vec<f64> = self.delays.iter().flatten().copied().collect();
        delays.sort_by(f64::total_cmp);
        let median = delays.get(delays.len() / 2).copied().unwrap_or(f64::NAN);
        write!(
            f,
            "{} flows, {:.1} % right within 5 s (median {median:.2} s, longest {:.2} s), held {:.1} % of the time; \
             {} ended; {} wrong, the longest for {:.2} s",
            self.delays.len(),
            100.0 * self.bound_within(5.0),
            delays.last().copied().unwrap_or(f64::NAN),
            100.0 * self.held,
            self.ended,
            self.wrong,
            self.longest_wrong,
        )
    }
}
