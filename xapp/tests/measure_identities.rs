//! Names of UEs: PDCP's and RLC's counts of packets tell which UE of RRC has which C-RNTI, and GTP its tunnel.

use e2sm::flexric::{GtpTunnel, PdcpBearer, RlcBearer, Stats};
use policies::UeId;
use std::time::Duration;
use xapp::{
    measure::{CellConfig, Identity, NodeMeasurements},
    ran::ServiceModel,
};

/// UEs of RRC 1, 2, … with tunnels 101, 102, … and the packets that PDCP and RLC have counted so far.
struct Node {
    measurements: NodeMeasurements,
    ms: i64,
    ues: Vec<Ue>,
}

#[derive(Clone, Copy)]
struct Ue {
    c_rnti: u16,
    pdcp: u32,
    rlc: u32,
    /// Packets in each 100 ms.
    rate: u32,
}

impl Node {
    fn new(ues: &[Ue]) -> Self {
        Self {
            measurements: NodeMeasurements::new(CellConfig::default()),
            ms: 0,
            ues: ues.to_vec(),
        }
    }

    fn tell(&mut self, model: ServiceModel, message: &[u8]) {
        let received = Duration::from_millis(self.ms as u64 + 5000);
        self.measurements
            .on_indication(model, &[0; 4], message, received)
            .unwrap();
    }

    fn stamp(&self, ms: i64) -> i64 {
        (self.ms + ms) * 1000
    }

    /// Some tenths of a second: RLC reports in each, PDCP and GTP in every fifth, half a tenth later.
    fn run(&mut self, tenths: i64) {
        for tenth in 0..tenths {
            self.ms += 100;
            let records = self.ues.iter().map(|ue| RlcBearer {
                rnti: ue.c_rnti.into(),
                rbid: 1,
                rxsdu_pkts: ue.rlc,
                ..RlcBearer::default()
            });
            let records = records.collect();
            let tstamp_us = self.stamp(0);
            self.tell(ServiceModel::Rlc, &Stats { records, tstamp_us }.encode());
            if tenth % 5 == 4 {
                self.slow_reports();
            }
            for ue in &mut self.ues {
                ue.pdcp = ue.pdcp.wrapping_add(ue.rate);
                ue.rlc = ue.rlc.wrapping_add(ue.rate);
            }
        }
    }

    fn slow_reports(&mut self) {
        let records = (1..).zip(&self.ues).map(|(rrc_ue, ue)| PdcpBearer {
            rnti: rrc_ue,
            rbid: 1,
            txpdu_pkts: ue.pdcp.wrapping_add(ue.rate / 2),
            ..PdcpBearer::default()
        });
        let records = records.collect();
        let tstamp_us = self.stamp(50);
        self.tell(ServiceModel::Pdcp, &Stats { records, tstamp_us }.encode());
        let records = (1..=self.ues.len() as u32).map(|rrc_ue| GtpTunnel {
            rnti: rrc_ue,
            teidgnb: 100 + rrc_ue,
            qfi: 1,
            ..GtpTunnel::default()
        });
        let records = records.collect();
        self.tell(ServiceModel::Gtp, &Stats { records, tstamp_us }.encode());
    }

    fn of_tunnel(&self, teid: u32) -> Option<u16> {
        match self.measurements.names().get(&Identity::GnbTeid(teid)) {
            Some(UeId::CRnti(c_rnti)) => Some(*c_rnti),
            _ => None,
        }
    }
}

fn ue(c_rnti: u16, rate: u32) -> Ue {
    Ue {
        c_rnti,
        pdcp: 0,
        rlc: 0,
        rate,
    }
}

#[test]
fn ues_are_told_apart_by_their_packets_and_idle_ones_wait() {
    let mut node = Node::new(&[ue(0xa, 40), ue(0xb, 9), ue(0xc, 0), ue(0xd, 0)]);
    node.run(40);
    assert_eq!(node.of_tunnel(101), Some(0xa));
    assert_eq!(node.of_tunnel(102), Some(0xb));
    assert_eq!((node.of_tunnel(103), node.of_tunnel(104)), (None, None));
    node.ues[3].rate = 20;
    node.run(40);
    assert_eq!(node.of_tunnel(104), Some(0xd));
    assert_eq!(node.of_tunnel(103), None);
}

/// The counts of one are the other's to the packet, but for what they began with: nothing tells them apart.
#[test]
fn ues_with_equal_constant_rates_stay_unjoined_until_one_differs() {
    let mut node = Node::new(&[ue(0xa, 30), ue(0xb, 30)]);
    node.run(200);
    assert_eq!((node.of_tunnel(101), node.of_tunnel(102)), (None, None));
    node.ues[0].rate = 60;
    node.run(40);
    assert_eq!(node.of_tunnel(101), Some(0xa));
    assert_eq!(node.of_tunnel(102), Some(0xb));
}

/// RLC's entities are made anew with the new C-RNTI, PDCP's go on.
#[test]
fn a_handover_is_followed() {
    let mut node = Node::new(&[ue(0xa, 40), ue(0xb, 11)]);
    node.run(40);
    assert_eq!(node.of_tunnel(101), Some(0xa));
    (node.ues[0].c_rnti, node.ues[0].rlc) = (0xe, 0);
    node.run(10);
    assert_ne!(node.of_tunnel(101), Some(0xa));
    node.run(40);
    assert_eq!(node.of_tunnel(101), Some(0xe));
    assert_eq!(node.of_tunnel(102), Some(0xb));
}

#[test]
fn a_c_rnti_that_another_ue_gets_is_not_believed_for_long() {
    let mut node = Node::new(&[ue(0xa, 40), ue(0xb, 11)]);
    node.run(40);
    let (first, second) = (node.ues[0].c_rnti, node.ues[1].c_rnti);
    (node.ues[0].c_rnti, node.ues[1].c_rnti) = (second, first);
    for ue in &mut node.ues {
        ue.rlc = 0;
    }
    node.run(15);
    assert_ne!(node.of_tunnel(101), Some(0xa));
    assert_ne!(node.of_tunnel(102), Some(0xb));
    node.run(60);
    assert_eq!(node.of_tunnel(101), Some(0xb));
    assert_eq!(node.of_tunnel(102), Some(0xa));
}

#[test]
fn counts_wrap() {
    let mut node = Node::new(&[ue(0xa, 40), ue(0xb, 11)]);
    (node.ues[0].pdcp, node.ues[0].rlc) = (u32::MAX - 1500, u32::MAX - 1500);
    node.run(30);
    assert_eq!(node.of_tunnel(101), Some(0xa));
    for _ in 0..8 {
        node.run(5);
        assert_eq!(node.of_tunnel(101), Some(0xa));
    }
}

/// FlexRIC's emulators draw everything at random.
#[test]
fn random_counts_join_nobody() {
    let mut state = 1_u64;
    let mut random = || {
        // Knuth's MMIX generator.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let mut node = Node::new(&[ue(0xa, 0), ue(0xb, 0), ue(0xc, 0)]);
    for _ in 0..2000 {
        for ue in &mut node.ues {
            (ue.pdcp, ue.rlc) = (random(), random());
        }
        node.run(5);
        assert!(node.measurements.names().is_empty());
    }
}
