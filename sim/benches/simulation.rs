//! Speed of whole simulations: PRISM's test with its five flows.

use criterion::{Criterion, criterion_group, criterion_main};
use sim::runs::cpu_time;
use sim::scenario::{Scenario, Selection};
use sim::simulation::Simulation;
use std::path::Path;
use std::time::{Duration, Instant};

fn five_flows() -> Simulation {
    let settings = [
        "flows.1.start_s=1",
        "flows.2.start_s=1",
        "flows.3.start_s=1",
        "flows.4.start_s=1",
    ];
    let (variants, _) = Selection::new("prism-test")
        .with(&settings)
        .variants()
        .expect("a built-in scenario");
    let scenario: &Scenario = &variants[0].scenario;
    let mut simulation = scenario.build(1, Path::new("")).expect("a valid scenario");
    simulation.run_until(Duration::from_secs(10));
    simulation
}

/// One second of virtual time while all five flows are active.
fn prism_test(c: &mut Criterion) {
    let mut simulation = five_flows();
    let (start, from) = (Instant::now(), simulation.now());
    let before = cpu_time().unwrap_or_default();
    while start.elapsed() < Duration::from_secs(1) && simulation.now() < Duration::from_secs(1000) {
        simulation.run_until(simulation.now() + Duration::from_secs(1));
    }
    let seconds = (simulation.now() - from).as_secs_f64();
    let slots = seconds / simulation.cell().duration(1).as_secs_f64();
    let wall = start.elapsed().as_secs_f64();
    let cpu = (cpu_time().unwrap_or_default() - before).as_secs_f64();
    println!(
        "PRISM's test, five flows: {:.0} x real time; by CPU time {:.0} x, {:.0} ns per UE and slot",
        seconds / wall,
        seconds / cpu,
        1e9 * cpu / slots / 5.0
    );
    c.bench_function("PRISM's test, five flows, one second", |b| {
        b.iter(|| simulation.run_until(simulation.now() + Duration::from_secs(1)));
    });
}

criterion_group!(benches, prism_test);
criterion_main!(benches);
