//! UEs that are reached over a link of their own instead of the cell.

use super::Simulation;
use super::flow::Emission;
use super::ue::InCell;
use crate::link::Link;
use std::time::Duration;

impl Simulation {
    /// Reaches a UE over `link` instead of the cell. Acknowledgements take [`super::Delays::uplink`].
    pub fn set_link(&mut self, ue: usize, link: Link<InCell>) {
        if let Some(state) = self.ues.get_mut(ue) {
            state.link = Some(link);
        }
    }

    /// Runs the links up to `now`; the flows have been run so far.
    pub(super) fn run_links(&mut self, now: Duration) {
        for ue in 0..self.ues.len() {
            let Some(mut link) = self.ues[ue].link.take() else {
                continue;
            };
            let wired = self.delays.wired;
            let mut arrivals: Vec<(Duration, usize, Emission)> = Vec::new();
            for (index, flow) in self
                .flows
                .iter_mut()
                .enumerate()
                .filter(|(_, f)| f.ue() == ue)
            {
                while let Some(emission) = flow.arrived_by(now, wired) {
                    arrivals.push((emission.sent_at + wired, index, emission));
                }
            }
            arrivals.sort_by_key(|&(at, index, _)| (at, index));
            for (at, flow, emission) in arrivals {
                self.depart(&mut link, at, now);
                let packet = InCell {
                    flow,
                    segment: emission.segment,
                    sent_at: emission.sent_at,
                };
                if !link.push(at, packet, emission.wire_octets) {
                    self.flows[flow].results.lost();
                }
            }
            self.depart(&mut link, now, now);
            self.ues[ue].link = Some(link);
        }
    }

    /// Hands over what has left the link by `until`.
    fn depart(&mut self, link: &mut Link<InCell>, until: Duration, now: Duration) {
        while let Some(at) = link.next_departure().filter(|&at| at <= until) {
            let Some(packet) = link.pop() else { return };
            let flow = &mut self.flows[packet.flow];
            if let Some(video) = flow.video() {
                let back = self.delays.uplink + self.delays.wired;
                video.acknowledge(at + back, packet.segment.len.into());
            }
            if let Some(ack) = flow.receive(at, packet.segment, packet.sent_at) {
                // The flow itself has already been run to `now`.
                let arrival = at + self.delays.uplink + self.delays.wired;
                flow.acknowledgement(arrival.max(now), ack);
            }
        }
    }
}
