//! One slot of the cell: arrivals, uplink, retransmissions, new data, and what of it arrives.

use super::*;
use crate::mac::behaviour::Uplink;
use crate::radio::numerology::SYMBOLS_PER_SLOT;

/// Smallest block that is worth sending: below, headers leave no room (and 5G-LENA sends none).
const LEAST_BLOCK: u32 = 10;

impl Cell {
    /// Runs one slot; the packets that left the cell in it, background traffic left out.
    pub fn run_slot(&mut self) -> &[Output] {
        self.outputs.clear();
        self.uplink_outputs.clear();
        let now = self.duration(self.slot);
        let slots_per_second = self.numerology.slots_per_second() as f64 * self.config.made_slots;
        for ue in &mut self.ues {
            ue.mac.current_tbs_octets = 0;
            ue.mac.current_prbs = 0;
            ue.queue.advance(self.slot);
            ue.background_arrivals(self.slot, slots_per_second);
            if let Some(radio) = &mut ue.radio {
                radio.begin_slot(self.slot, now, &ue.mac);
                ue.link = radio.state();
            }
        }
        let symbols = self.uplink(self.config.data_symbols(&self.tdd, self.slot));
        if symbols > 0 {
            self.sent.fill(0);
            match self.config.behaviour.scheduler {
                SchedulerKind::RoundRobinSymbols => self.fill_symbols(symbols),
                _ => self.fill_prbs(symbols),
            }
            self.settle_on_air();
        }
        self.slot += 1;
        let now_us = self.duration(self.slot).as_micros() as u64;
        for (index, ue) in self.ues.iter_mut().enumerate() {
            ue.mac.update_bler(now_us);
            let outputs = &mut self.outputs;
            ue.pdcp.tick(self.slot, |sdu| {
                output(outputs, index, SYMBOLS_PER_SLOT, sdu);
            });
        }
        &self.outputs
    }

    /// Sends uplink data; the symbols left for the downlink.
    fn uplink(&mut self, symbols: u8) -> u8 {
        let uplink_slot = self.tdd.is_uplink(self.slot);
        let mut senders = 0;
        for (index, ue) in self.ues.iter_mut().enumerate() {
            if !ue.uplink.sends(self.slot, uplink_slot) {
                continue;
            }
            senders += 1;
            let outputs = &mut self.uplink_outputs;
            ue.uplink.send(self.slot, |packet| {
                outputs.push(UplinkOutput {
                    ue: index,
                    id: packet.id,
                });
            });
        }
        let Uplink::WholeSlots { .. } = self.config.behaviour.uplink else {
            return symbols;
        };
        self.uplink_slots += u64::from(senders > 0);
        match self.config.behaviour.scheduler {
            // Time is shared symbol by symbol: acknowledgements take one each.
            SchedulerKind::RoundRobinSymbols => symbols.saturating_sub(senders),
            _ if senders > 0 => 0,
            _ => symbols,
        }
    }

    /// OFDMA: retransmissions, at most one block per UE, then new data, side by side in frequency.
    fn fill_prbs(&mut self, symbols: u8) {
        let total = self.config.data_prbs(self.slot);
        let mut left = total;
        let count = self.ues.len();
        for i in 0..count {
            // Another UE comes first in every slot, so that nobody's retransmissions starve.
            let index = (self.slot as usize + i) % count;
            let ue = &self.ues[index];
            let Some(again) = ue.harq.due(self.slot, left, symbols) else {
                continue;
            };
            if !ue.feedback.can_send(self.slot, &self.tdd) {
                continue;
            }
            let first_prb = total - left;
            left -= again.block.prbs;
            self.put_on_air(
                index,
                again.process,
                again.round,
                again.block,
                first_prb,
                symbols,
            );
        }
        let mixed = self.config.behaviour.mixed_slots || left == total;
        let Some(shape) = self.shapes.iter().position(|s| s.symbols == symbols) else {
            return;
        };
        if left == 0 || !mixed {
            return;
        }
        self.gather(shape, total, |tbs, mcs, octets| tbs.prbs_for(mcs, octets));
        match self.config.behaviour.scheduler {
            SchedulerKind::RoundRobin => {
                let group = self.config.prb_group;
                self.round_robin.allocate(&mut self.candidates, left, group);
            }
            _ => self.proportional_fair.allocate(&mut self.candidates, left),
        }
        let mut first_prb = total - left;
        for i in 0..self.candidates.len() {
            let Candidate { ue, granted, .. } = self.candidates[i];
            if granted > 0 {
                self.send_new(ue, shape, granted, symbols, first_prb, symbols);
                first_prb += granted;
            }
        }
        let sent = &self.sent;
        let only_active = self.config.behaviour.average_while_active;
        // Both are in the order of the UEs.
        let mut active = self.candidates.iter().map(|c| c.ue).peekable();
        self.proportional_fair.end_slot(|ue| {
            let counts = active.next_if_eq(&ue).is_some() || !only_active;
            counts.then(|| f64::from(sent[ue]))
        });
    }

    /// TDMA: one UE after the other on the whole carrier, a number of symbols each.
    fn fill_symbols(&mut self, symbols: u8) {
        let prbs = self.config.prbs;
        let mut passed = 0;
        let count = self.ues.len();
        for i in 0..count {
            let index = (self.slot as usize + i) % count;
            let room = symbols - passed;
            let ue = &self.ues[index];
            let due = ue.harq.due_if(self.slot, |block| block.symbols <= room);
            let Some(again) = due else { continue };
            if !ue.feedback.can_send(self.slot, &self.tdd) {
                continue;
            }
            passed += again.block.symbols;
            self.put_on_air(index, again.process, again.round, again.block, 0, passed);
        }
        if passed == symbols || passed > 0 && !self.config.behaviour.mixed_slots {
            return;
        }
        self.gather(self.shapes.len() - 1, prbs, |_, _, _| 0);
        for candidate in &mut self.candidates {
            let ue = &self.ues[candidate.ue];
            let enough = |shape: &&SlotShape| {
                u64::from(shape.tbs.octets(ue.link.mcs, prbs)) >= ue.queue.demand_octets()
            };
            let longest = self.shapes.last();
            let shape = self.shapes.iter().find(enough).or(longest);
            candidate.wanted = shape.map_or(0, |shape| u16::from(shape.symbols));
        }
        let room = u16::from(symbols - passed);
        self.round_robin.allocate(&mut self.candidates, room, 1);
        for i in 0..self.candidates.len() {
            let Candidate { ue, granted, .. } = self.candidates[i];
            let granted = granted as u8;
            let shape = self.shapes.iter().position(|s| s.symbols == granted);
            if let Some(shape) = shape {
                passed += granted;
                self.send_new(ue, shape, prbs, granted, 0, passed);
            }
        }
    }

    /// The UEs that can take new data; `wanted` units suffice for a UE's queue.
    fn gather(&mut self, shape: usize, total: u16, wanted: impl Fn(&TbsTable, u8, u32) -> u16) {
        self.candidates.clear();
        let tbs = &self.shapes[shape].tbs;
        for (index, ue) in self.ues.iter().enumerate() {
            let demand = ue.queue.demand_octets();
            // A UE receives one transport block per slot: after a retransmission it has to wait.
            if demand == 0
                || ue.mac.current_prbs > 0
                || ue.harq.free_process(self.slot).is_none()
                || !ue.feedback.can_send(self.slot, &self.tdd)
            {
                continue;
            }
            let mcs = ue.link.mcs;
            let demand = u32::try_from(demand).unwrap_or(u32::MAX);
            self.candidates.push(Candidate {
                ue: index,
                octets_per_prb: f64::from(tbs.octets(mcs, total)) / f64::from(total),
                wanted: wanted(tbs, mcs, demand),
                granted: 0,
            });
        }
    }

    /// Fills a block of new data and sends it.
    fn send_new(
        &mut self,
        index: usize,
        shape: usize,
        prbs: u16,
        symbols: u8,
        first_prb: u16,
        end_symbol: u8,
    ) {
        let ue = &mut self.ues[index];
        let mcs = ue.link.mcs;
        let octets = self.shapes[shape].tbs.octets(mcs, prbs);
        let Some(process) = ue.harq.free_process(self.slot) else {
            return;
        };
        if octets < LEAST_BLOCK {
            return;
        }
        let Some(payload) = ue.queue.pull(self.slot, octets) else {
            return;
        };
        ue.mac.tbs_octets += u64::from(octets);
        ue.mac.current_tbs_octets = octets;
        self.sent[index] = octets;
        let block = Block {
            payload,
            prbs,
            symbols,
            mcs,
            octets,
        };
        self.put_on_air(index, process, 0, block, first_prb, end_symbol);
    }

    fn put_on_air(
        &mut self,
        index: usize,
        process: usize,
        round: u8,
        block: Block,
        first_prb: u16,
        end_symbol: u8,
    ) {
        let mac = &mut self.ues[index].mac;
        mac.harq[usize::from(round)] += 1;
        mac.current_prbs += block.prbs;
        let symbols = u64::from(block.prbs) * u64::from(block.symbols);
        match round {
            0 => {
                mac.prbs += u64::from(block.prbs);
                mac.prb_symbols += symbols;
            }
            _ => {
                mac.retx_prbs += u64::from(block.prbs);
                mac.retx_prb_symbols += symbols;
            }
        }
        self.on_air.push(OnAir {
            ue: index,
            process,
            round,
            block,
            first_prb,
            end_symbol,
        });
    }

    /// What was sent arrives, or not.
    fn settle_on_air(&mut self) {
        let total = self.config.prbs;
        let used: u16 = match self.config.behaviour.scheduler {
            SchedulerKind::RoundRobinSymbols => total,
            _ => self.on_air.iter().map(|sent| sent.block.prbs).sum(),
        };
        let boost_db = self.config.behaviour.power.boost_db(used, total);
        let lost_retransmissions = self.config.behaviour.lost_retransmissions;
        for i in 0..self.on_air.len() {
            let OnAir {
                ue: index,
                process,
                round,
                block,
                first_prb,
                end_symbol,
            } = self.on_air[i];
            let ue = &mut self.ues[index];
            let error = match (&mut ue.radio, round) {
                (Some(radio), _) => {
                    let transmission = Transmission {
                        process,
                        round,
                        mcs: block.mcs,
                        octets: block.octets,
                        prbs: first_prb..first_prb + block.prbs,
                        boost_db,
                    };
                    let least = if round > 0 { lost_retransmissions } else { 0.0 };
                    radio.error_rate(self.slot, &transmission).max(least)
                }
                (None, 0) => ue.config.first_error,
                (None, _) => ue.config.retransmission_error,
            };
            let success = ue.random.random::<f64>() >= error;
            let next = ue.feedback.sent(self.slot, &self.tdd);
            let failed = ue.harq.transmitted(next, process, round, block, success);
            let fate = match (success, failed) {
                (true, _) => Fate::Delivered,
                (false, true) => {
                    ue.mac.harq[4] += 1;
                    Fate::Lost
                }
                (false, false) => continue,
            };
            // Control symbols come before the data.
            let symbol = end_symbol + 1;
            let Ue { queue, pdcp, .. } = ue;
            let (now, outputs) = (self.slot, &mut self.outputs);
            queue.settle(block.payload, fate, |sdu| match sdu.fate {
                Fate::Lost => output(outputs, index, symbol, sdu),
                Fate::Delivered => {
                    pdcp.receive(now, sdu, |sdu| output(outputs, index, symbol, sdu));
                }
            });
        }
        self.on_air.clear();
    }
}

/// A packet leaves the cell; background traffic is of no interest outside.
fn output(outputs: &mut Vec<Output>, ue: usize, symbol: u8, departure: Departure) {
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
        symbol,
    }));
}

impl Ue {
    fn background_arrivals(&mut self, now: u64, slots_per_second: f64) {
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
                self.background_credit += bits_per_second / 8.0 / slots_per_second;
                while self.background_credit >= f64::from(len) {
                    self.background_credit -= f64::from(len);
                    self.queue.push(now, None, len);
                }
            }
        }
    }
}
