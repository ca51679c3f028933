//! Which UE a flow goes to, told by its traffic: a busy simulated cell, with several seeds.

mod bench;
mod traffic;

use bench::{Bench, Figures};
use traffic::Kind;

/// The thresholds were tuned on lower ones.
const FIRST_SEED: u64 = 101;

/// Sixteen UEs whose flows are known, and more whose traffic is that of others.
fn realistic(seed: u64) -> Bench {
    let mut bench = Bench::new(seed);
    for _ in 0..4 {
        bench.flow(Kind::Video);
        bench.flow(Kind::OnOff);
        bench.flow(Kind::Pages);
    }
    for _ in 0..4 {
        bench.flow(Kind::Guided);
    }
    for kind in [Kind::Video, Kind::OnOff, Kind::Pages, Kind::Pages] {
        bench.other(kind);
    }
    bench
}

#[test]
fn flows_of_a_busy_cell_are_bound_to_their_ues() {
    let mut all = Figures::default();
    for seed in (FIRST_SEED..).take(24) {
        let figures = realistic(seed).run(40.0);
        println!("seed {seed}: {figures}");
        all.add(&figures);
    }
    println!("all: {all}");
    assert!(all.bound_within(5.0) >= 0.99, "{all}");
    assert!(all.longest_wrong < 2.0, "{all}");
}

/// Four UEs get the same constant rate from the same instant on: nothing tells them apart, and none is bound.
#[test]
fn equal_flows_stay_unbound() {
    for seed in (FIRST_SEED..).take(4) {
        let mut bench = realistic(seed);
        let equal: Vec<_> = (0..4)
            .map(|_| bench.flow(Kind::Constant { begin: 3.0 }))
            .collect();
        let figures = bench.run(30.0);
        println!("seed {seed}: {figures}");
        for flow in equal {
            assert!(figures.never_bound(flow), "flow {flow}");
        }
        assert_eq!(figures.longest_wrong, 0.0);
    }
}

/// The same four with dithered pacing are told apart.
#[test]
fn equal_flows_are_told_apart_by_dithering() {
    let mut all = Figures::default();
    for seed in (FIRST_SEED..).take(12) {
        let mut bench = realistic(seed);
        for _ in 0..4 {
            bench.flow(Kind::Dithered { begin: 3.0 });
        }
        let figures = bench.run(30.0);
        println!("seed {seed}: {figures}");
        all.add(&figures);
    }
    println!("all: {all}");
    assert!(all.bound_within(5.0) >= 0.99, "{all}");
    assert!(all.longest_wrong < 2.0, "{all}");
}
