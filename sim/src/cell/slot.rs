//! One slot of the cell: background arrivals, retransmissions, new data.

use super::*;

impl Cell {
    /// Runs one slot; the packets that left the cell in it, background traffic left out.
    pub fn run_slot(&mut self) -> &[Output] {
        self.outputs.clear();
        for ue in &mut self.ues {
            ue.mac.current_tbs_octets = 0;
            ue.mac.current_prbs = 0;
            ue.background_arrivals(self.slot, self.numerology);
        }
        let symbols = self.config.data_symbols(&self.tdd, self.slot);
        if let Some(shape) = self.shapes.iter().position(|s| s.symbols == symbols) {
            let left = self.retransmit(symbols);
            self.send_new(shape, left);
        }
        self.slot += 1;
        let now_us = self.duration(self.slot).as_micros() as u64;
        for (index, ue) in self.ues.iter_mut().enumerate() {
            ue.mac.update_bler(now_us);
            let outputs = &mut self.outputs;
            ue.pdcp.tick(self.slot, |sdu| output(outputs, index, sdu));
        }
        &self.outputs
    }

    /// Sends the retransmissions that are due, at most one block per UE; the PRBs left for new data.
    fn retransmit(&mut self, symbols: u8) -> u16 {
        let mut left = self.config.prbs;
        let count = self.ues.len();
        for i in 0..count {
            // Another UE comes first in every slot, so that nobody's retransmissions starve.
            let index = (self.slot as usize + i) % count;
            let ue = &mut self.ues[index];
            let Some(again) = ue.harq.due(self.slot, left, symbols) else {
                continue;
            };
            left -= again.block.prbs;
            ue.mac.retx_prbs += u64::from(again.block.prbs);
            self.transmit(index, again.process, again.round, again.block);
        }
        left
    }

    /// Schedules new data onto `prbs` PRBs.
    fn send_new(&mut self, shape: usize, prbs: u16) {
        let SlotShape { symbols, ref tbs } = self.shapes[shape];
        self.sent.fill(0);
        self.candidates.clear();
        for (index, ue) in self.ues.iter().enumerate() {
            let demand = ue.queue.demand_octets();
            // A UE receives one transport block per slot: after a retransmission it has to wait.
            if demand == 0 || ue.mac.current_prbs > 0 || ue.harq.free_process(self.slot).is_none() {
                continue;
            }
            let mcs = ue.link.mcs;
            self.candidates.push(Candidate {
                ue: index,
                octets_per_prb: f64::from(tbs.octets(mcs, self.config.prbs))
                    / f64::from(self.config.prbs),
                wanted: tbs.prbs_for(mcs, u32::try_from(demand).unwrap_or(u32::MAX)),
                granted: 0,
            });
        }
        self.scheduler.allocate(&mut self.candidates, prbs);

        for i in 0..self.candidates.len() {
            let Candidate {
                ue: index,
                granted: prbs,
                ..
            } = self.candidates[i];
            if prbs == 0 {
                continue;
            }
            let ue = &mut self.ues[index];
            let octets = self.shapes[shape].tbs.octets(ue.link.mcs, prbs);
            let Some(process) = ue.harq.free_process(self.slot) else {
                continue;
            };
            let Some(payload) = ue.queue.pull(self.slot, octets) else {
                continue;
            };
            ue.mac.tbs_octets += u64::from(octets);
            ue.mac.prbs += u64::from(prbs);
            ue.mac.current_tbs_octets = octets;
            self.sent[index] = octets;
            self.transmit(
                index,
                process,
                0,
                Block {
                    payload,
                    prbs,
                    symbols,
                },
            );
        }
        let sent = &self.sent;
        self.scheduler.end_slot(|ue| f64::from(sent[ue]));
    }

    /// Sends a block and learns whether it arrived.
    fn transmit(&mut self, index: usize, process: usize, round: u8, block: Block) {
        let ue = &mut self.ues[index];
        ue.mac.harq[usize::from(round)] += 1;
        ue.mac.current_prbs += block.prbs;
        let error = match round {
            0 => ue.config.first_error,
            _ => ue.config.retransmission_error,
        };
        let success = ue.random.random::<f64>() >= error;
        let failed = ue
            .harq
            .transmitted(self.slot, process, round, block, success);
        let fate = match (success, failed) {
            (true, _) => Fate::Delivered,
            (false, true) => {
                ue.mac.harq[4] += 1;
                Fate::Lost
            }
            (false, false) => return,
        };
        let Ue { queue, pdcp, .. } = ue;
        let (now, outputs) = (self.slot, &mut self.outputs);
        queue.settle(block.payload, fate, |sdu| match sdu.fate {
            Fate::Lost => output(outputs, index, sdu),
            Fate::Delivered => pdcp.receive(now, sdu, |sdu| output(outputs, index, sdu)),
        });
    }
}

/// A packet leaves the cell; background traffic is of no interest outside.
fn output(outputs: &mut Vec<Output>, ue: usize, departure: Departure) {
    let Departure {
        id,
        len,
        arrived,
        fate,
        ..
    } = departure;
    outputs.extend(id.map(|id| Output {
        ue,
        id,
        len,
        arrived,
        fate,
    }));
}

impl Ue {
    fn background_arrivals(&mut self, now: u64, numerology: Numerology) {
        let len = BACKGROUND_PACKET;
        match self.config.background {
            Background::None => {}
            Background::Greedy => {
                while self.queue.waiting_octets()
                    < GREEDY_BACKLOG.min(self.config.queue_limit_bytes / 2)
                {
                    if !self.queue.push(now, None, len) {
                        break;
                    }
                }
            }
            Background::Constant(bits_per_second) => {
                self.background_credit +=
                    bits_per_second / 8.0 / numerology.slots_per_second() as f64;
                while self.background_credit >= f64::from(len) {
                    self.background_credit -= f64::from(len);
                    self.queue.push(now, None, len);
                }
            }
        }
    }
}
