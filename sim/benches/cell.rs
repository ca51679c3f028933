//! Speed of the cell: slots per second, and how many times real time that is.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sim::cell::{Background, Cell, CellConfig, UeConfig};
use sim::runs::cpu_time;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn saturated(ues: usize, profile: CellConfig) -> Cell {
    let ue = UeConfig {
        background: Background::Greedy,
        ..UeConfig::default()
    };
    let config = CellConfig {
        ues: vec![ue; ues],
        ..profile
    };
    Cell::new(config, 1).expect("a valid cell")
}

/// One second of radio time of a saturated cell, by profile and number of UEs.
fn saturated_cell(c: &mut Criterion) {
    let profiles = [
        ("default", CellConfig::default()),
        ("lena", CellConfig::lena()),
        ("gnb", CellConfig::gnb()),
    ];
    for (name, profile) in profiles {
        let mut group = c.benchmark_group(format!("saturated cell, one second, {name}"));
        for ues in [1, 5, 16, 64, 256] {
            let mut cell = saturated(ues, profile.clone());
            let slots = cell.numerology().slots_per_second();
            let start = Instant::now();
            let before = cpu_time().unwrap_or_default();
            let mut run: u64 = 0;
            while start.elapsed() < Duration::from_millis(600) {
                for _ in 0..slots {
                    black_box(cell.run_slot());
                }
                run += slots;
            }
            let cpu = cpu_time().unwrap_or_default() - before;
            let per_second = run as f64 / cpu.as_secs_f64();
            println!(
                "{name}, {ues} UEs: {per_second:.0} slots per second of CPU time, {:.0} x real time, \
                 {:.0} ns per UE and slot",
                per_second / slots as f64,
                1e9 / per_second / ues as f64,
            );
            group.throughput(Throughput::Elements(slots));
            group.bench_function(BenchmarkId::from_parameter(ues), |b| {
                b.iter(|| {
                    for _ in 0..slots {
                        black_box(cell.run_slot());
                    }
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, saturated_cell);
criterion_main!(benches);
