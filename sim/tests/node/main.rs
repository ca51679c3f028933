//! The E2 node's session, driven by messages that real RICs sent.

mod kpm;
mod session;

use e2sm::e2ap::{Pdu, RicIndication, Version, decode, encode};
use sim::cell::{Background, Cell, CellConfig, UeConfig};
use sim::node::{KpmDialect, Node, NodeConfig};
use std::path::PathBuf;
use std::time::Duration;

/// 30 November 2026, Unix microseconds.
const TODAY_US: i64 = 1_796_061_419_094_548;

fn vector(path: &str) -> Vec<u8> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/vectors")
        .join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let digits: String = text.split_whitespace().collect();
    hex::decode(digits).unwrap()
}

fn greedy() -> UeConfig {
    UeConfig {
        background: Background::Greedy,
        ..UeConfig::default()
    }
}

/// A node, its cell and a clock.
struct Rig {
    node: Node,
    cell: Cell,
    now: Duration,
}

impl Rig {
    fn new(kpm: KpmDialect, ues: Vec<UeConfig>) -> Self {
        let config = NodeConfig {
            kpm: Some(kpm),
            ..NodeConfig::default()
        };
        let cell = CellConfig {
            ues,
            ..CellConfig::default()
        };
        Self {
            node: Node::new(&config).unwrap(),
            cell: Cell::new(cell, 1).unwrap(),
            now: Duration::ZERO,
        }
    }

    /// One that a RIC has accepted.
    fn up(kpm: KpmDialect, ues: Vec<UeConfig>) -> Self {
        let mut rig = Self::new(kpm, ues);
        rig.node.connected(rig.now);
        rig.poll();
        rig.receive("flexric/v2_e2_setup_resp.hex");
        assert!(rig.node.is_up());
        rig
    }

    fn receive(&mut self, name: &str) {
        self.node.received(self.now, &self.cell, &vector(name));
    }

    fn receive_pdu(&mut self, pdu: &Pdu) {
        let octets = encode(pdu, Version::V2_03).unwrap();
        self.node.received(self.now, &self.cell, &octets);
    }

    fn poll(&mut self) -> Vec<Pdu> {
        let unix_us = TODAY_US + self.now.as_micros() as i64;
        let messages = self.node.poll(self.now, unix_us, &self.cell);
        messages
            .iter()
            .map(|octets| decode(octets, Version::V2_03).unwrap().value)
            .collect()
    }

    /// The only message that there is to send.
    fn answer(&mut self) -> Pdu {
        let mut messages = self.poll();
        assert_eq!(messages.len(), 1, "{messages:?}");
        messages.remove(0)
    }

    /// Time passes; the indications on the way.
    fn run(&mut self, length: Duration) -> Vec<RicIndication> {
        let end = self.now + length;
        let mut indications = Vec::new();
        while self.now < end {
            self.now += Duration::from_millis(1);
            while self.cell.duration(self.cell.slot() + 1) <= self.now {
                self.cell.run_slot();
            }
            for pdu in self.poll() {
                match pdu {
                    Pdu::RicIndication(indication) => indications.push(indication),
                    other => panic!("{other:?}"),
                }
            }
        }
        indications
    }
}
