//! A 5G downlink cell, slot by slot: a pure state machine.
//!
//! Time is the slot number. Whoever drives the cell enqueues the packets that have arrived and calls
//! [`Cell::run_slot`]; the packets that thereby left the cell come back. The same configuration, seed and calls give
//! the same outcome. The live node maps slots to the wall clock, the simulator to virtual time.

mod config;
mod counters;
mod slot;

pub use config::{Background, CellConfig, CellError, UeConfig};
pub use counters::MacCounters;

use crate::mac::harq::{Block, Harq};
use crate::mac::link::{Link, LinkState};
use crate::mac::scheduler::{Candidate, ProportionalFair};
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
    /// Octets waiting in the RLC queue.
    pub queue_octets: u64,
    /// Age of the oldest SDU that waits; zero if none does.
    pub head_of_line: Duration,
}

#[derive(Debug)]
struct Ue {
    config: UeConfig,
    link: LinkState,
    queue: RlcQueue,
    harq: Harq,
    pdcp: Reordering,
    mac: MacCounters,
    /// Octets of constant-rate background traffic that are due but not yet a packet.
    background_credit: f64,
    random: Xoshiro256PlusPlus,
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
    tdd: TddPattern,
    shapes: Vec<SlotShape>,
    slot: u64,
    ues: Vec<Ue>,
    scheduler: ProportionalFair,
    candidates: Vec<Candidate>,
    /// Octets of new data sent to each UE in this slot.
    sent: Vec<u32>,
    outputs: Vec<Output>,
}

impl Cell {
    /// A cell at slot 0. Each UE draws from its own random stream, so that adding a UE leaves the others' draws alone.
    pub fn new(config: CellConfig, seed: u64) -> Result<Self, CellError> {
        let (numerology, tdd) = config.check()?;
        let mut shapes: Vec<SlotShape> = Vec::new();
        for slot in 0..tdd.period() {
            let symbols = config.data_symbols(&tdd, slot);
            if symbols > 0 && shapes.iter().all(|s| s.symbols != symbols) {
                let elements = data_elements(symbols, config.overhead_elements);
                let tbs = TbsTable::new(config.mcs_table, config.prbs, elements, config.layers);
                shapes.push(SlotShape { symbols, tbs });
            }
        }
        let t_reordering = config.t_reordering_ms * numerology.slots_per_second() / 1000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let ues: Vec<Ue> = config
            .ues
            .iter()
            .map(|ue| {
                random.jump();
                Ue {
                    config: ue.clone(),
                    link: ue.link.adapt(config.mcs_table),
                    queue: RlcQueue::new(ue.queue_limit_bytes),
                    pdcp: Reordering::new(t_reordering),
                    harq: Harq::new(config.harq_processes, config.harq_round_trip_slots),
                    mac: MacCounters::default(),
                    background_credit: 0.0,
                    random: random.clone(),
                }
            })
            .collect();
        let scheduler = ProportionalFair::new(ues.len(), config.fairness_window, config.prb_group);
        Ok(Self {
            sent: vec![0; ues.len()],
            config,
            numerology,
            tdd,
            shapes,
            slot: 0,
            ues,
            scheduler,
            candidates: Vec::new(),
            outputs: Vec::new(),
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
        Duration::from_micros(self.numerology.slot_duration().as_micros() as u64 * slots)
    }

    /// Share of the slots that can carry downlink data.
    pub fn downlink_share(&self) -> f64 {
        let carries = |&slot: &u64| self.config.data_symbols(&self.tdd, slot) > 0;
        (0..self.tdd.period()).filter(carries).count() as f64 / self.tdd.period() as f64
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
}
