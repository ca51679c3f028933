//! A 5G downlink cell, slot by slot: a pure state machine.
//!
//! Time is the slot number. Whoever drives the cell enqueues the packets that have arrived and calls
//! [`Cell::run_slot`]; the packets that thereby left the cell come back. The same configuration, seed and calls give
//! the same outcome. The live node maps slots to the wall clock, the simulator to virtual time.

mod config;
mod counters;
mod profile;
mod slot;

pub use config::{Background, Broadcast, CellConfig, CellError, UeConfig};
pub use counters::MacCounters;
pub use profile::ProfileError;

use crate::channel::Channel;
use crate::linkmodel::lena;
use crate::mac::behaviour::{BlockSizes, SchedulerKind};
use crate::mac::feedback::FeedbackTiming;
use crate::mac::harq::{Block, Harq};
use crate::mac::link::{Link, LinkState};
use crate::mac::radio_link::{RadioLink, Transmission};
use crate::mac::scheduler::{Candidate, ProportionalFair, RoundRobin};
use crate::mac::uplink::UplinkQueue;
use crate::pdcp::{PdcpCounters, Reordering};
use crate::radio::numerology::{Numerology, TddPattern};
use crate::radio::tbs::{TbsTable, data_elements};
use crate::rlc::{Departure, Fate, Packet, RlcCounters, RlcQueue};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// Octets of a packet of background traffic, IP header included.
const BACKGROUND_PACKET: u32 = 1400;
/// Octets that a greedy source keeps waiting: several slots' worth at the highest rate of a 100 MHz carrier.
const GREEDY_BACKLOG: u64 = 400_000;

/// A packet that left the cell in the slot just run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Index of the UE.
    pub ue: usize,
    /// The packet's name.
    pub id: u64,
    /// Octets, IP header included.
    pub len: u32,
    /// Slot before which it was enqueued.
    pub arrived: u64,
    /// What became of it.
    pub fate: Fate,
    /// Symbols of the slot that had passed by then.
    pub symbol: u8,
}

/// An uplink packet that has arrived at the base station in the slot just run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkOutput {
    /// Index of the UE.
    pub ue: usize,
    /// The packet's name.
    pub id: u64,
}

/// One UE, for reading.
#[derive(Clone, Copy, Debug)]
pub struct UeView<'a> {
    /// Its configuration.
    pub config: &'a UeConfig,
    /// MAC counts.
    pub mac: &'a MacCounters,
    /// RLC counts.
    pub rlc: &'a RlcCounters,
    /// Counts of the UE's PDCP.
    pub pdcp: &'a PdcpCounters,
    /// MCS, CQI, SINR.
    pub link: LinkState,
    /// The bearer is in RLC acknowledged mode.
    pub acknowledged: bool,
    /// Octets waiting in the RLC queue.
    pub queue_octets: u64,
    /// Age of the oldest SDU that waits; zero if none does.
    pub head_of_line: Duration,
}

#[derive(Debug)]
struct Ue {
    config: UeConfig,
    link: LinkState,
    /// The radio link, if the UE has a channel: it decides `link` and the errors.
    radio: Option<Box<RadioLink>>,
    uplink: UplinkQueue,
    queue: RlcQueue,
    harq: Harq,
    feedback: FeedbackTiming,
    pdcp: Reordering,
    mac: MacCounters,
    /// Octets of constant-rate background traffic that are due but not yet a packet.
    background_credit: f64,
    random: Xoshiro256PlusPlus,
}

/// A block that is sent in the slot being run.
#[derive(Debug)]
struct OnAir {
    ue: usize,
    process: usize,
    round: u8,
    block: Block,
    /// First PRB, and symbols of the slot that have passed at its end.
    first_prb: u16,
    end_symbol: u8,
}

/// The tables of one slot length.
#[derive(Debug)]
struct SlotShape {
    symbols: u8,
    tbs: TbsTable,
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    config: CellConfig,
    numerology: Numerology,
    /// Time that a slot takes, ns.
    slot_ns: u64,
    tdd: TddPattern,
    shapes: Vec<SlotShape>,
    slot: u64,
    ues: Vec<Ue>,
    proportional_fair: ProportionalFair,
    round_robin: RoundRobin,
    candidates: Vec<Candidate>,
    on_air: Vec<OnAir>,
    /// Octets of new data sent to each UE in this slot.
    sent: Vec<u32>,
    outputs: Vec<Output>,
    uplink_outputs: Vec<UplinkOutput>,
    uplink_slots: u64,
}

impl Cell {
    /// A cell at slot 0. Each UE draws from its own random stream, so that adding a UE leaves the others' draws alone.
    pub fn new(config: CellConfig, seed: u64) -> Result<Self, CellError> {
        let (numerology, tdd) = config.check()?;
        let t_reordering = config.t_reordering_ms * numerology.slots_per_second() / 1000;
        let shapes = slot_shapes(&config, &tdd);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let ues: Vec<Ue> = config
            .ues
            .iter()
            .map(|ue| {
                random.jump();
                Ue {
                    config: ue.clone(),
                    link: ue.link.adapt(config.mcs_table),
                    radio: None,
                    uplink: UplinkQueue::new(config.behaviour.uplink),
                    queue: RlcQueue::with_mode(
                        ue.queue_limit_bytes,
                        ue.rlc.unwrap_or(config.behaviour.rlc),
                        numerology.slots_per_second(),
                    ),
                    pdcp: Reordering::new(t_reordering),
                    harq: Harq::new(config.harq_processes),
                    feedback: FeedbackTiming::new(
                        config.harq_round_trip_slots,
                        config.harq_feedback,
                    ),
                    mac: MacCounters::default(),
                    background_credit: 0.0,
                    random: random.clone(),
                }
            })
            .collect();
        let proportional_fair =
            ProportionalFair::new(ues.len(), config.fairness_window, config.prb_group);
        let slot_ns = numerology.slot_duration().as_nanos() as f64 / config.made_slots;
        Ok(Self {
            sent: vec![0; ues.len()],
            slot_ns: slot_ns.round() as u64,
            config,
            numerology,
            tdd,
            shapes,
            slot: 0,
            ues,
            proportional_fair,
            round_robin: RoundRobin::default(),
            candidates: Vec::new(),
            on_air: Vec::new(),
            outputs: Vec::new(),
            uplink_outputs: Vec::new(),
            uplink_slots: 0,
        })
    }

    /// The configuration.
    pub fn config(&self) -> &CellConfig {
        &self.config
    }

    /// The numerology.
    pub fn numerology(&self) -> Numerology {
        self.numerology
    }

    /// The slot that [`Cell::run_slot`] will run next.
    pub fn slot(&self) -> u64 {
        self.slot
    }

    /// Duration of `slots` slots.
    pub fn duration(&self, slots: u64) -> Duration {
        Duration::from_nanos(self.slot_ns * slots)
    }

    /// Share of the slots that can carry downlink data.
    pub fn downlink_share(&self) -> f64 {
        let carries = |&slot: &u64| self.carries_downlink(slot);
        (0..self.tdd.period()).filter(carries).count() as f64 / self.tdd.period() as f64
    }

    /// The TDD pattern lets this slot carry downlink data.
    pub fn carries_downlink(&self, slot: u64) -> bool {
        self.config.data_symbols(&self.tdd, slot) > 0
    }

    /// Number of UEs.
    pub fn ue_count(&self) -> usize {
        self.ues.len()
    }

    /// One UE; `None` if there is no such UE.
    pub fn ue(&self, ue: usize) -> Option<UeView<'_>> {
        self.ues.get(ue).map(|u| self.view(u))
    }

    fn view<'a>(&'a self, ue: &'a Ue) -> UeView<'a> {
        UeView {
            config: &ue.config,
            mac: &ue.mac,
            rlc: ue.queue.counters(),
            pdcp: ue.pdcp.counters(),
            link: ue.link,
            acknowledged: ue.queue.is_acknowledged(),
            queue_octets: ue.queue.waiting_octets(),
            head_of_line: self.duration(ue.queue.head_of_line_slots(self.slot).unwrap_or(0)),
        }
    }

    /// All UEs, in the order of the configuration.
    pub fn ues(&self) -> impl ExactSizeIterator<Item = UeView<'_>> {
        self.ues.iter().map(|u| self.view(u))
    }

    /// Octets of SDUs (PDCP headers included) that are in the cell: waiting, on the air, or held back by the
    /// UE for their turn.
    pub fn open_octets(&self, ue: usize) -> u64 {
        self.ues
            .get(ue)
            .map_or(0, |u| u.queue.open_octets() + u.pdcp.held_octets())
    }

    /// Changes a UE's link from the next slot on.
    pub fn set_link(&mut self, ue: usize, link: Link) {
        if let Some(u) = self.ues.get_mut(ue) {
            u.link = link.adapt(self.config.mcs_table);
        }
    }

    /// Gives a UE a channel: from now on link adaptation chooses its MCS and the error model its errors.
    pub fn set_channel(&mut self, ue: usize, channel: Channel) {
        let config = &self.config;
        let slots_per_second = self.numerology.slots_per_second();
        if let Some(u) = self.ues.get_mut(ue) {
            let radio = RadioLink::new(
                channel,
                config.behaviour.adaptation,
                config.mcs_table,
                config.prbs,
                config.harq_processes,
                slots_per_second,
            );
            u.link = radio.state();
            u.radio = Some(Box::new(radio));
        }
    }

    /// A UE's channel, if it has one.
    pub fn channel(&self, ue: usize) -> Option<&Channel> {
        Some(self.ues.get(ue)?.radio.as_ref()?.channel())
    }

    /// Changes a UE's background traffic from the next slot on.
    pub fn set_background(&mut self, ue: usize, background: Background) {
        if let Some(u) = self.ues.get_mut(ue) {
            u.config.background = background;
        }
    }

    /// A packet arrives before the next slot. False if the UE's queue is full, or there is no such UE: then it is dropped.
    pub fn enqueue(&mut self, ue: usize, packet: Packet) -> bool {
        self.ues
            .get_mut(ue)
            .is_some_and(|u| u.queue.push(self.slot, Some(packet.id), packet.len))
    }

    /// A packet is ready at a UE for the uplink before the next slot; it comes back in [`Cell::uplink_outputs`].
    pub fn enqueue_uplink(&mut self, ue: usize, packet: Packet) {
        let slot = self.slot;
        if let Some(u) = self.ues.get_mut(ue) {
            u.uplink.push(slot, packet);
        }
    }

    /// The packets that left the cell in the slot last run, background traffic left out.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The uplink packets that arrived at the base station in the slot last run.
    pub fn uplink_outputs(&self) -> &[UplinkOutput] {
        &self.uplink_outputs
    }

    /// Data symbols of the longest downlink slot.
    pub fn longest_slot_symbols(&self) -> u8 {
        self.shapes
            .iter()
            .map(|shape| shape.symbols)
            .max()
            .unwrap_or(0)
    }

    /// Slots so far that carried uplink instead of downlink.
    pub fn uplink_slots(&self) -> u64 {
        self.uplink_slots
    }
}

fn slot_shapes(config: &CellConfig, tdd: &TddPattern) -> Vec<SlotShape> {
    let mut lengths: Vec<u8> = (0..tdd.period())
        .map(|slot| config.data_symbols(tdd, slot))
        .collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let special = config
        .special_symbols
        .saturating_sub(config.control_symbols);
    if config.behaviour.scheduler == SchedulerKind::RoundRobinSymbols {
        lengths = (1..=longest).collect();
    }
    lengths.sort_unstable();
    lengths.dedup();
    let shape = |symbols: u8| SlotShape {
        symbols,
        tbs: match config.behaviour.block_sizes {
            BlockSizes::Nr => {
                let overhead = match symbols == special && symbols != longest {
                    true => config.special_overhead_elements,
                    false => config.overhead_elements,
                };
                let elements = data_elements(symbols, overhead);
                TbsTable::new(config.mcs_table, config.prbs, elements, config.layers)
            }
            BlockSizes::Lena => {
                let highest = lena::CODE_RATES.len() as u8 - 1;
                TbsTable::from_fn(highest, config.prbs, |mcs, prbs| {
                    lena::transport_block_octets(mcs, u32::from(prbs) * u32::from(symbols))
                })
            }
        },
    };
    lengths.into_iter().filter(|&n| n > 0).map(shape).collect()
}
