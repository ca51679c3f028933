//! One cell, its UEs and their flows in virtual time.
//!
//! The loop advances slot by slot. Flows meet only in the cell, so within a slot each flow runs its own events (packets
//! due, acknowledgements arriving, timers) at their exact times, one flow after the other; no event queue is needed, and
//! the order of flows decides nothing.
//!
//! A packet: sender → wired delay → scheduling latency → RLC queue → HARQ → decoding → in-order delivery → receiver.
//! An acknowledgement: receiver → uplink → wired delay → sender.

mod arms;
mod control;
pub mod flow;
mod guide;
mod own_link;
mod slices;
mod ue;
pub mod video;

pub use arms::{Arms, MakeController};
pub use control::{Control, Feedback, PrbDenominator};
pub use flow::{FlowConfig, SenderConfig};
pub use slices::{SliceConfig, SliceRow};

use crate::cell::Cell;
use crate::results::FlowResults;
use crate::rlc::{Fate, Packet};
use crate::tcp::Acknowledgement;
use control::Controlled;
use flow::{Emission, Flow};
use policies::controller::Controller;
use policies::model::Inference;
use std::time::Duration;
pub use ue::InCell;
use ue::{UeState, UplinkItem};
pub use video::{BaseStation, Law, VideoGuidance};

/// Delays of the parts around the cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delays {
    /// One way between the senders and the base station.
    pub wired: Duration,
    /// Slots from a packet's arrival at the base station to the first slot that can carry it.
    pub scheduling_slots: u64,
    /// Decoding of a block at the UE.
    pub decoding: Duration,
    /// Uplink, where the cell does not carry it itself.
    pub uplink: Duration,
}

impl Default for Delays {
    /// Of 5G-LENA: scheduled two slots ahead, decoded in 100 µs.
    fn default() -> Self {
        Self {
            wired: Duration::ZERO,
            scheduling_slots: 2,
            decoding: Duration::from_micros(100),
            uplink: Duration::from_millis(4),
        }
    }
}

/// The simulation.
pub struct Simulation {
    cell: Cell,
    delays: Delays,
    slot: Duration,
    flows: Vec<Flow>,
    ues: Vec<UeState>,
    controlled: Controlled,
    /// The cell carries uplink data itself.
    uplink_in_cell: bool,
    /// The base station guides some flow.
    base_station_guides: bool,
    /// Acknowledgements made in the slot being run: flow, time, acknowledgement.
    acknowledgements: Vec<(usize, Duration, Acknowledgement)>,
}

impl Simulation {
    /// A simulation of `cell` with these flows.
    pub fn new(cell: Cell, delays: Delays, control: Control, flows: Vec<FlowConfig>) -> Self {
        use crate::mac::behaviour::Uplink;
        let slot = cell.duration(1);
        let ues = (0..cell.ue_count()).map(|_| UeState::default());
        let mut flows: Vec<Flow> = flows.into_iter().map(Flow::new).collect();
        let mut videos = flows.iter_mut().filter_map(Flow::video);
        Self {
            base_station_guides: videos.any(|video| video.by_base_station()),
            uplink_in_cell: cell.config().behaviour.uplink != Uplink::None,
            ues: ues.collect(),
            controlled: Controlled::new(control, &cell),
            flows,
            acknowledgements: Vec::new(),
            slot,
            delays,
            cell,
        }
    }

    /// The cell.
    pub fn cell(&self) -> &Cell {
        &self.cell
    }

    /// Puts flows under slice policies.
    pub fn set_slices(&mut self, slices: Vec<SliceConfig>) {
        for slice in &slices {
            let objective = slice.spec.latency.as_ref();
            let objective = objective.map(|latency| Duration::from_secs_f64(latency.ms / 1e3));
            for flow in &slice.flows {
                self.flows[*flow].results.set_objective(objective);
            }
        }
        self.controlled.set_slices(slices, self.delays.wired);
    }

    /// How each slice stood after each control interval.
    pub fn slices(&self) -> impl Iterator<Item = &[SliceRow]> {
        self.controlled.slices()
    }

    /// The flows, in the order in which they were given.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// What learned policies ask.
    pub fn set_model(&mut self, model: Box<dyn Inference>) {
        self.controlled.set_model(model);
    }

    /// Puts another controller in the place of a guided flow's, before the simulation starts.
    pub fn set_controller(&mut self, flow: usize, controller: Box<dyn Controller>) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.set_controller(controller);
        }
    }

    /// Gives the guided flows the arms of an experiment.
    pub fn set_experiment(&mut self, arms: Arms) {
        self.controlled.set_experiment(arms);
    }

    /// The experiment, and what the flows achieved.
    pub fn into_experiment(mut self) -> (Option<Arms>, Vec<FlowResults>) {
        (self.controlled.take_experiment(), self.into_results())
    }

    /// What the flows achieved.
    pub fn into_results(self) -> Vec<FlowResults> {
        self.flows.into_iter().map(|flow| flow.results).collect()
    }

    /// Virtual time.
    pub fn now(&self) -> Duration {
        self.cell.duration(self.cell.slot())
    }

    /// Runs until virtual time `end`.
    pub fn run_until(&mut self, end: Duration) {
        while self.now() < end {
            self.run_slot();
        }
    }

    fn run_slot(&mut self) {
        let start = self.now();
        self.run_flows(start);
        self.run_links(start);
        self.cell.run_slot();
        self.receive(start);
        self.receive_uplink(start + self.slot);
        if self.base_station_guides {
            video::end_slot(&self.cell, &mut self.flows, &mut self.ues);
        }
        self.controlled
            .end_slot(&mut self.cell, &mut self.flows, &mut self.ues);
    }

    /// Brings every flow to `now` and hands to the cell what can be scheduled in the slot that begins.
    fn run_flows(&mut self, now: Duration) {
        let lead = self.slot * self.delays.scheduling_slots as u32 + self.delays.wired;
        for (index, flow) in self.flows.iter_mut().enumerate() {
            flow.run_until(now);
            if self.ues[flow.ue()].link.is_some() {
                continue;
            }
            while let Some(emission) = flow.arrived_by(now, lead) {
                let Emission {
                    segment,
                    sent_at,
                    wire_octets,
                } = emission;
                let ue = flow.ue();
                let state = &mut self.ues[ue];
                let id = state.next_id();
                if self.cell.enqueue(
                    ue,
                    Packet {
                        id,
                        len: wire_octets,
                    },
                ) {
                    state.entered(InCell {
                        flow: index,
                        segment,
                        sent_at,
                    });
                } else {
                    flow.results.lost();
                }
            }
        }
    }

    /// Hands over what left the cell in the slot that began at `start`.
    fn receive(&mut self, start: Duration) {
        let symbol = self.slot / u32::from(crate::radio::numerology::SYMBOLS_PER_SLOT);
        let end = start + self.slot;
        for output in self.cell.outputs() {
            let at = start + symbol * u32::from(output.symbol) + self.delays.decoding;
            let Some(packet) = self.ues[output.ue].left(output.id) else {
                continue;
            };
            let flow = &mut self.flows[packet.flow];
            match output.fate {
                Fate::Lost => flow.results.lost(),
                Fate::Delivered => {
                    if let Some(ack) = flow.receive(at, packet.segment, packet.sent_at) {
                        self.acknowledgements.push((packet.flow, at, ack));
                    }
                    if let Some(video) = flow.video() {
                        // Its acknowledgements are small: what they take of the uplink is left out.
                        let back = self.delays.uplink + self.delays.wired;
                        video.acknowledge(at + back, packet.segment.len.into());
                    }
                }
            }
        }
        for index in 0..self.flows.len() {
            if let Some(ack) = self.flows[index].delayed_ack(end) {
                self.acknowledgements.push((index, end, ack));
            }
        }
        let mut acknowledgements = std::mem::take(&mut self.acknowledgements);
        for (flow, at, ack) in acknowledgements.drain(..) {
            self.acknowledge(flow, at, ack);
        }
        self.acknowledgements = acknowledgements;
    }

    fn acknowledge(&mut self, flow: usize, at: Duration, ack: Acknowledgement) {
        let ue = self.flows[flow].ue();
        if self.uplink_in_cell && self.ues[ue].link.is_none() {
            let len = ack.wire_octets();
            self.ues[ue].uplink.push_back(UplinkItem::Ack(flow, ack));
            self.cell.enqueue_uplink(ue, Packet { id: 0, len });
        } else {
            let arrival = at + self.delays.uplink + self.delays.wired;
            self.flows[flow].acknowledgement(arrival, ack);
        }
    }

    /// Hands over what reached the base station from the UEs by `now`.
    fn receive_uplink(&mut self, now: Duration) {
        for output in self.cell.uplink_outputs() {
            match self.ues[output.ue].uplink.pop_front() {
                Some(UplinkItem::Ack(flow, ack)) => {
                    self.flows[flow].acknowledgement(now + self.delays.wired, ack);
                }
                Some(UplinkItem::Report(flow, report)) => self.flows[flow].report(report),
                None => {}
            }
        }
    }
}
