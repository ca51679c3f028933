//! Video flows: their guidance, and what the base station does for them in every slot.

use super::flow::{Emission, Flow};
use super::guide::Guide;
use super::ue::UeState;
use crate::cell::Cell;
use crate::senders::paced::UDP_HEADER;
use crate::senders::video::{Frame, VideoConfig, VideoSender};
use crate::tcp::Segment;
use policies::choir::{Guidance, PerTti, Tti};
use policies::controller::{Controller, RateBounds};
use std::collections::VecDeque;
use std::time::Duration;

/// Queue of SCONE, as Choir's paper runs it: drained in this time.
const SCONE_DRAINING_S: f64 = 0.0166;

/// Who tells a video sender its bitrate.
pub enum VideoGuidance {
    /// Nobody: it stays.
    Nobody,
    /// The base station.
    BaseStation(Box<BaseStation>),
    /// A controller that is fed with reports.
    Reports {
        /// What decides.
        controller: Box<dyn Controller>,
        /// Bounds of its rate.
        bounds: RateBounds,
        /// From a decision until the sender has it.
        delay: Duration,
    },
}

/// The law of a base station that guides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Choir.
    Choir,
    /// SCONE in the form of Choir's paper: the bandwidth, less what drains the present queue in 16.6 ms.
    Scone,
}

/// What a base station keeps of a flow that it guides.
#[derive(Clone, Debug)]
pub struct BaseStation {
    law: Law,
    choir: PerTti,
    /// Time between acknowledgements that carry guidance.
    every: Duration,
    /// From the base station to the sender.
    delay: Duration,
    next: Duration,
    before: Counts,
}

/// Cumulative counts at the end of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    first_prbs: u64,
    block_octets: u64,
    user_octets: u64,
    blocks: u64,
    retransmissions: u64,
    arrived_octets: u64,
    slot: u64,
}

impl BaseStation {
    /// Gives guidance `every` so often; it takes `delay` to the sender.
    pub fn new(law: Law, choir: PerTti, every: Duration, delay: Duration) -> Self {
        Self {
            law,
            choir,
            every,
            delay,
            next: Duration::ZERO,
            before: Counts::default(),
        }
    }

    /// A slot has ended: guidance for the sender, and when it arrives there.
    fn end_slot(
        &mut self,
        cell: &Cell,
        ue: usize,
        ues: &[UeState],
        load: Load,
    ) -> Option<(Duration, f64)> {
        let now = cell.duration(cell.slot());
        let tti = match &ues[ue].link {
            Some(link) => self.tti_of_link(now, cell, link),
            None => {
                let hold = self.choir.parameters().active_hold;
                let counts =
                    |state: &&UeState| state.last_active.is_some_and(|at| now <= at + hold);
                let active = ues.iter().filter(counts).count() as u32;
                self.tti(now, cell, ue, active, load)?
            }
        };
        self.choir.observe(&tti);
        if now < self.next {
            return None;
        }
        self.next = now + self.every;
        let guidance = self.choir.feedback(now)?;
        Some((
            now + self.delay,
            self.guided_bps(&guidance, tti.queue_octets),
        ))
    }

    fn guided_bps(&self, guidance: &Guidance, queue_octets: u64) -> f64 {
        match self.law {
            Law::Choir => guidance.guided_bps,
            Law::Scone => {
                let draining = queue_octets as f64 * 8.0 / SCONE_DRAINING_S;
                (guidance.bandwidth_bps - draining).max(0.0)
            }
        }
    }

    fn tti(
        &mut self,
        now: Duration,
        cell: &Cell,
        ue: usize,
        active: u32,
        load: Load,
    ) -> Option<Tti> {
        let view = cell.ue(ue)?;
        let counts = Counts {
            first_prbs: view.mac.prbs,
            block_octets: view.mac.tbs_octets,
            user_octets: view.rlc.sent_sdu_octets,
            blocks: view.mac.harq[0],
            retransmissions: view.mac.retransmissions(),
            arrived_octets: view.rlc.arrived_octets,
            slot: cell.slot(),
        };
        let before = std::mem::replace(&mut self.before, counts);
        Some(Tti {
            now,
            downlink: cell.carries_downlink(before.slot),
            cell_prbs: f64::from(cell.config().prbs),
            used_prbs: f64::from(load.used_prbs),
            own_prbs: f64::from(view.mac.current_prbs),
            first_prbs: (counts.first_prbs - before.first_prbs) as f64,
            block_octets: counts.block_octets - before.block_octets,
            user_octets: counts.user_octets - before.user_octets,
            blocks: counts.blocks - before.blocks,
            retransmissions: counts.retransmissions - before.retransmissions,
            active,
            total: load.total,
            queue_octets: view.queue_octets,
            arrived_octets: counts.arrived_octets - before.arrived_octets,
        })
    }

    /// A link is a cell of one PRB that is always taken.
    fn tti_of_link<T>(&mut self, now: Duration, cell: &Cell, link: &crate::link::Link<T>) -> Tti {
        let capacity = link.capacity_octets(now - cell.duration(1), now);
        let arrived = link.arrived_octets();
        let before = std::mem::replace(&mut self.before.arrived_octets, arrived);
        Tti {
            now,
            downlink: true,
            cell_prbs: 1.0,
            used_prbs: 1.0,
            own_prbs: 1.0,
            first_prbs: 1.0,
            block_octets: capacity,
            user_octets: capacity,
            blocks: 1,
            retransmissions: 0,
            active: 1,
            total: 1,
            queue_octets: link.queued(),
            arrived_octets: arrived - before,
        }
    }
}

/// How busy the cell was in a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    used_prbs: u32,
    /// Flows that run.
    total: u32,
}

/// A slot has ended: what base stations tell their flows.
pub(super) fn end_slot(cell: &Cell, flows: &mut [Flow], ues: &mut [UeState]) {
    let now = cell.duration(cell.slot());
    let mut load = Load {
        total: flows.iter().filter(|flow| flow.active(now)).count() as u32,
        ..Load::default()
    };
    for (ue, state) in cell.ues().zip(&mut *ues) {
        load.used_prbs += u32::from(ue.mac.current_prbs);
        if ue.mac.current_prbs > 0 || ue.queue_octets > 0 {
            state.last_active = Some(now);
        }
    }
    for flow in flows.iter_mut().filter(|flow| flow.active(now)) {
        let ue = flow.ue();
        if let Some(video) = flow.video() {
            video.end_slot(cell, ue, ues, load);
        }
    }
}

/// A video flow while it runs: its sender, and what is on its way to it.
pub(super) struct Video {
    sender: VideoSender,
    guide: VideoGuide,
    guidance: VecDeque<(Duration, f64)>,
    acknowledged: VecDeque<(Duration, u64)>,
}

enum VideoGuide {
    Nobody,
    BaseStation(Box<BaseStation>),
    Reports(Guide, Duration),
}

impl Video {
    pub fn new(config: VideoConfig, guidance: VideoGuidance, start: Duration) -> Self {
        let guide = match guidance {
            VideoGuidance::Nobody => VideoGuide::Nobody,
            VideoGuidance::BaseStation(station) => VideoGuide::BaseStation(station),
            VideoGuidance::Reports {
                controller,
                bounds,
                delay,
            } => VideoGuide::Reports(Guide::new(controller, bounds, None), delay),
        };
        Self {
            sender: VideoSender::new(config, start),
            guide,
            guidance: VecDeque::new(),
            acknowledged: VecDeque::new(),
        }
    }

    /// The base station guides it.
    pub fn by_base_station(&self) -> bool {
        matches!(self.guide, VideoGuide::BaseStation(_))
    }

    /// The controller that guides it, if one does.
    pub fn guide(&self) -> Option<&Guide> {
        match &self.guide {
            VideoGuide::Reports(guide, _) => Some(guide),
            _ => None,
        }
    }

    /// The same, to change it.
    pub fn guide_mut(&mut self) -> Option<&mut Guide> {
        match &mut self.guide {
            VideoGuide::Reports(guide, _) => Some(guide),
            _ => None,
        }
    }

    /// Bitrate of the last frame, bit/s.
    pub fn bitrate_bps(&self) -> f64 {
        self.sender.bitrate_bps()
    }

    /// A controller has decided on a bitrate at `now`.
    pub fn decided(&mut self, now: Duration, bps: f64) {
        if let VideoGuide::Reports(_, delay) = self.guide {
            self.guidance.push_back((now + delay, bps));
        }
    }

    fn end_slot(&mut self, cell: &Cell, ue: usize, ues: &[UeState], load: Load) {
        if let VideoGuide::BaseStation(station) = &mut self.guide {
            self.guidance.extend(station.end_slot(cell, ue, ues, load));
        }
    }

    /// So many octets will be acknowledged at `at`.
    pub fn acknowledge(&mut self, at: Duration, octets: u64) {
        self.acknowledged.push_back((at, octets));
    }

    /// When it has something to do.
    pub fn next_event(&self) -> Duration {
        self.sender.next_event()
    }

    /// Runs the events of `now`: a frame that was encoded, and packets.
    pub fn run_at(&mut self, now: Duration, emissions: &mut VecDeque<Emission>) -> Option<Frame> {
        let rate = self.sender.rate();
        while let Some(&(_, bps)) = self.guidance.front().filter(|(at, _)| *at <= now) {
            self.guidance.pop_front();
            rate.guided(bps);
        }
        while let Some(&(at, octets)) = self.acknowledged.front().filter(|(at, _)| *at <= now) {
            self.acknowledged.pop_front();
            rate.acknowledged(at, octets);
        }
        let frame = self.sender.poll_frame(now);
        while let Some(packet) = self.sender.poll_packet(now, UDP_HEADER) {
            emissions.push_back(Emission {
                segment: Segment {
                    seq: packet.number,
                    len: packet.payload,
                },
                sent_at: now,
                wire_octets: packet.payload + UDP_HEADER,
            });
        }
        frame
    }
}
