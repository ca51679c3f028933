//! What a cell must do whatever its traffic: conserve, share, repeat itself.

use proptest::prelude::*;
use sim::cell::{Background, Cell, CellConfig, Output, UeConfig};
use sim::mac::link::Link;
use sim::rlc::{Fate, PDCP_HEADER, Packet};

fn cell(ues: Vec<UeConfig>, seed: u64) -> Cell {
    let config = CellConfig {
        ues,
        ..CellConfig::default()
    };
    Cell::new(config, seed).unwrap()
}

fn greedy(mcs: u8) -> UeConfig {
    UeConfig {
        link: Link::Mcs(mcs),
        background: Background::Greedy,
        ..UeConfig::default()
    }
}

fn run(cell: &mut Cell, slots: u64) {
    for _ in 0..slots {
        cell.run_slot();
    }
}

/// PRBs per slot of a UE, retransmissions included.
fn prbs(cell: &Cell, ue: usize) -> f64 {
    let mac = cell.ue(ue).unwrap().mac;
    (mac.prbs + mac.retx_prbs) as f64 / cell.slot() as f64
}

#[test]
fn lone_greedy_ue_gets_every_downlink_slot() {
    let mut cell = cell(
        vec![UeConfig {
            first_error: 0.0,
            ..greedy(28)
        }],
        1,
    );
    assert_eq!(cell.downlink_share(), 0.8, "DDDSU: four of five slots");
    run(&mut cell, 20_000);
    let ue = cell.ue(0).unwrap();
    assert_eq!(ue.mac.prbs, 106 * 16_000);
    // Three slots of 13 data symbols and one of 9 in every five.
    let full = 10_497;
    let special = (f64::from(full) * (9.0 * 12.0 - 12.0) / 144.0) as u64;
    let expected = 4000 * (3 * u64::from(full as u32) + special);
    let ratio = ue.mac.tbs_octets as f64 / expected as f64;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    // Headers, padding and segments cost little.
    let goodput = ue.rlc.delivered_octets as f64 / ue.mac.tbs_octets as f64;
    assert!(goodput > 0.99 && goodput < 1.0, "{goodput}");
}

#[test]
fn equal_ues_share_equally() {
    let mut cell = cell(vec![greedy(20); 4], 2);
    run(&mut cell, 40_000);
    let shares: Vec<f64> = (0..4).map(|ue| prbs(&cell, ue)).collect();
    let total: f64 = shares.iter().sum();
    assert!(total > 0.95 * 84.8 && total <= 84.8, "{total}");
    for share in &shares {
        assert!((share / (total / 4.0) - 1.0).abs() < 0.02, "{shares:?}");
    }
}

#[test]
fn greedy_ue_gets_what_the_modest_one_leaves() {
    let modest = UeConfig {
        background: Background::Constant(20e6),
        ..UeConfig::default()
    };
    let mut cell = cell(vec![modest, greedy(28)], 3);
    run(&mut cell, 40_000);
    let ue = cell.ue(0).unwrap();
    let offered = 20e6 / 8.0 * 20.0 * 1403.0 / 1400.0;
    assert!((ue.rlc.delivered_octets as f64 / offered - 1.0).abs() < 0.01);
    assert_eq!(ue.rlc.refused_sdus, 0);
    let total = prbs(&cell, 0) + prbs(&cell, 1);
    assert!(total > 0.9 * 84.8 && total <= 84.8, "{total}");
    assert!(prbs(&cell, 1) > 2.0 * prbs(&cell, 0));
}

#[test]
fn harq_fails_as_often_as_configured() {
    let ue = UeConfig {
        first_error: 0.2,
        retransmission_error: 0.3,
        ..greedy(16)
    };
    let mut cell = cell(vec![ue; 2], 4);
    run(&mut cell, 200_000);
    for ue in cell.ues() {
        let [first, second, third, fourth, failed] = ue.mac.harq.map(|n| n as f64);
        assert!(first > 50_000.0);
        assert!((second / first - 0.2).abs() < 0.01, "{:?}", ue.mac.harq);
        assert!((third / second - 0.3).abs() < 0.02, "{:?}", ue.mac.harq);
        assert!((fourth / third - 0.3).abs() < 0.03, "{:?}", ue.mac.harq);
        assert!((failed / fourth - 0.3).abs() < 0.06, "{:?}", ue.mac.harq);
        assert!((ue.mac.bler - 0.2).abs() < 0.05, "{}", ue.mac.bler);
        assert!(ue.mac.retx_prbs > 0 && ue.rlc.lost_sdus > 0);
    }
}

#[test]
fn every_retransmission_costs_the_prbs_of_its_block() {
    let ue = UeConfig {
        first_error: 1.0,
        retransmission_error: 0.0,
        ..greedy(28)
    };
    let mut cell = cell(vec![ue], 5);
    run(&mut cell, 10_000);
    let mac = cell.ue(0).unwrap().mac;
    let pending = mac.prbs - mac.retx_prbs;
    assert!(
        pending <= 16 * 106,
        "each block is sent exactly twice: {mac:?}"
    );
}

#[test]
fn a_worse_link_takes_rate_but_not_prbs() {
    let mut cell = cell(vec![greedy(28), greedy(28)], 6);
    run(&mut cell, 20_000);
    cell.set_link(1, Link::SinrDb(8.0));
    let before: Vec<_> = cell.ues().map(|ue| (*ue.mac, *ue.rlc)).collect();
    run(&mut cell, 20_000);
    let after: Vec<_> = cell.ues().collect();
    let prbs = |ue: usize| (after[ue].mac.prbs - before[ue].0.prbs) as f64;
    let octets =
        |ue: usize| (after[ue].rlc.delivered_octets - before[ue].1.delivered_octets) as f64;
    assert!(
        (prbs(1) / prbs(0) - 1.0).abs() < 0.05,
        "{} {}",
        prbs(0),
        prbs(1)
    );
    assert!(octets(1) < 0.4 * octets(0));
    assert!(after[1].link.cqi < 8 && after[0].link.cqi == 15);
}

/// What is done to a cell, slot by slot: packets for UE 0 and 1.
fn arrivals() -> impl Strategy<Value = Vec<Vec<(usize, u32)>>> {
    let packet = (0_usize..2, 1_u32..3000);
    prop::collection::vec(prop::collection::vec(packet, 0..8), 1..120)
}

fn play(
    arrivals: &[Vec<(usize, u32)>],
    config: &CellConfig,
    seed: u64,
) -> (Cell, Vec<Output>, u64) {
    let mut cell = Cell::new(config.clone(), seed).unwrap();
    let (mut outputs, mut refused, mut id) = (Vec::new(), 0, 0);
    for slot in arrivals {
        for &(ue, len) in slot {
            refused += u64::from(!cell.enqueue(ue, Packet { id, len }));
            id += 1;
        }
        outputs.extend_from_slice(cell.run_slot());
    }
    (cell, outputs, refused)
}

proptest! {
    /// Octets in = delivered + lost + refused + still in the cell; each packet leaves at most once, unchanged.
    #[test]
    fn nothing_is_created_or_vanishes(
        arrivals in arrivals(), error in 0.0..=1.0, again in 0.0..=1.0, mcs in 0_u8..=28, limit in 0_u64..30_000, seed: u64,
    ) {
        let ue = UeConfig {
            link: Link::Mcs(mcs), first_error: error, retransmission_error: again, queue_limit_bytes: limit, ..UeConfig::default()
        };
        let config = CellConfig { ues: vec![ue.clone(), ue], ..CellConfig::default() };
        let (cell, outputs, refused) = play(&arrivals, &config, seed);

        let offered: Vec<u32> = arrivals.iter().flatten().map(|&(_, len)| len).collect();
        let mut seen = std::collections::HashSet::new();
        for output in &outputs {
            prop_assert!(seen.insert(output.id), "packet {} left twice", output.id);
            prop_assert_eq!(output.len, offered[output.id as usize]);
        }
        for ue in 0..2 {
            let delivered = outputs.iter().filter(|o| o.ue == ue && o.fate == Fate::Delivered);
            prop_assert!(delivered.is_sorted_by_key(|o| o.id), "out of order");
        }
        let mut refused_by_rlc = 0;
        for (index, ue) in cell.ues().enumerate() {
            let rlc = ue.rlc;
            let settled = ue.pdcp.delivered_octets + ue.pdcp.late_octets + rlc.lost_octets + rlc.refused_octets;
            prop_assert_eq!(rlc.arrived_octets, settled + cell.open_octets(index));
            let delivered: u64 = outputs.iter()
                .filter(|o| o.ue == index && o.fate == Fate::Delivered)
                .map(|o| u64::from(o.len + PDCP_HEADER))
                .sum();
            prop_assert_eq!(ue.pdcp.delivered_octets, delivered);
            prop_assert!(ue.queue_octets <= limit);
            refused_by_rlc += rlc.refused_sdus;
        }
        prop_assert_eq!(refused, refused_by_rlc);
    }

    #[test]
    fn the_same_seed_gives_the_same_outcome(arrivals in arrivals(), seed: u64) {
        let config = CellConfig {
            ues: vec![UeConfig { first_error: 0.3, ..UeConfig::default() }, greedy(10)],
            ..CellConfig::default()
        };
        let (first, first_outputs, _) = play(&arrivals, &config, seed);
        let (second, second_outputs, _) = play(&arrivals, &config, seed);
        prop_assert_eq!(first_outputs, second_outputs);
        prop_assert_eq!(first.ue(1).unwrap().mac, second.ue(1).unwrap().mac);
    }
}
