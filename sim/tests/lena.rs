//! Profile `lena` against what was measured in ns-3 with 5G-LENA (`reference/*.csv`).

use sim::cell::{Cell, CellConfig, UeConfig};
use sim::channel::Channel;
use sim::mac::behaviour::SchedulerKind;
use sim::simulation::{Control, Delays, FlowConfig, SenderConfig, Simulation};
use std::time::Duration;

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Equal constant-rate flows to `ues` UEs with a channel good enough for MCS 28.
fn sweep(
    ues: usize,
    scheduler: SchedulerKind,
    buffer: u64,
    mbps: f64,
) -> sim::results::WindowSummary {
    let mut config = CellConfig::lena();
    config.behaviour.scheduler = scheduler;
    config.ues = vec![
        UeConfig {
            queue_limit_bytes: buffer,
            ..UeConfig::default()
        };
        ues
    ];
    let mut cell = Cell::new(config, 1).unwrap();
    let flows = (0..ues).map(|ue| {
        cell.set_channel(ue, Channel::fixed(45.0));
        FlowConfig {
            name: format!("cbr {ue}"),
            ue,
            start: Duration::ZERO,
            stop: Duration::MAX,
            sender: SenderConfig::Constant {
                bps: mbps * 1e6,
                payload: 1252,
            },
        }
    });
    let flows = flows.collect();
    let mut simulation = Simulation::new(cell, Delays::default(), Control::default(), flows);
    simulation.run_until(secs(4.0));
    simulation.flows()[0].results.window(secs(1.0), secs(4.0))
}

#[test]
fn print_sweep() {
    for (ues, rates) in [
        (1, [10.0, 50.0, 110.0, 140.0, 145.0, 155.0, 170.0]),
        (4, [5.0, 10.0, 20.0, 30.0, 37.0, 38.0, 40.0]),
    ] {
        for scheduler in [
            SchedulerKind::ProportionalFair,
            SchedulerKind::RoundRobinSymbols,
        ] {
            for buffer in [10_240, 1_000_000] {
                for mbps in rates {
                    let s = sweep(ues, scheduler, buffer, mbps);
                    println!(
                        "{ues} {scheduler:?} {buffer} {mbps} prb {:.2} % goodput {:.2} loss {:.2} owd {:.3} p99 {:.3}",
                        s.prbs / 1.06,
                        s.goodput_mbps,
                        s.loss_percent,
                        s.report_delay.mean_ms,
                        s.report_delay.max_ms
                    );
                }
            }
        }
    }
}
