//! RAPID around a constant cell: two guided UEs and a greedy one.

use policies::controller::RateBounds;
use policies::rapid::{PrbStatistic, Rapid};
use sim::cell::{Background, Cell, CellConfig, UeConfig};
use sim::closed_loop::{ClosedLoop, Flow, Sample, Timing};
use std::time::Duration;

/// 20 s of two RAPID flows with gain `k` beside a greedy UE, all at MCS 28.
fn rapid(k: f64) -> Vec<Sample> {
    let config = CellConfig {
        ues: vec![
            UeConfig::default(),
            UeConfig::default(),
            UeConfig {
                background: Background::Greedy,
                ..UeConfig::default()
            },
        ],
        ..CellConfig::default()
    };
    let cell = Cell::new(config, 7).unwrap();
    let flow = |ue| Flow {
        ue,
        controller: Box::new(Rapid::new(k, 1e6, PrbStatistic::Mean, 5e6).unwrap()),
        bounds: RateBounds {
            min_bps: 1e5,
            max_bps: 1e8,
        },
        packet_len: 1400,
    };
    let mut run = ClosedLoop::new(cell, Timing::default(), vec![flow(0), flow(1)]);
    run.run(Duration::from_secs(20));
    run.samples().to_vec()
}

/// The samples of one flow after `from`.
fn later(samples: &[Sample], flow: usize, from: u64) -> impl Iterator<Item = &Sample> {
    samples
        .iter()
        .filter(move |s| s.flow == flow && s.at > Duration::from_secs(from))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Root mean square distance of the PRB use from its target, in PRBs per slot.
fn deviation(samples: &[Sample], flow: usize) -> f64 {
    mean(later(samples, flow, 5).map(|s| (s.prbs - s.target_prbs).powi(2))).sqrt()
}

#[test]
fn reaches_its_target_and_keeps_the_queue_empty() {
    let samples = rapid(0.5);
    for flow in 0..2 {
        let target = later(&samples, flow, 5).next().unwrap().target_prbs;
        assert!((target - 0.9 * 84.8 / 3.0).abs() < 1e-9, "{target}");
        let prbs = mean(later(&samples, flow, 5).map(|s| s.prbs));
        assert!(
            (prbs - target).abs() < 2.0,
            "flow {flow}: {prbs} of {target} PRBs"
        );
        // A flow within its fair share is served at once: a few slots, a retransmission now and then.
        let delay = mean(later(&samples, flow, 5).map(|s| s.mean_delay.as_secs_f64()));
        assert!(delay < 0.005, "flow {flow}: {delay} s");
        assert!(later(&samples, flow, 5).all(|s| s.max_delay < Duration::from_millis(50)));
    }
}

#[test]
fn gain_of_one_half_settles_and_of_five_oscillates() {
    for flow in 0..2 {
        let calm = deviation(&rapid(0.5), flow);
        let wild = deviation(&rapid(5.0), flow);
        println!("flow {flow}: strays by {calm:.2} PRBs at K = 0.5, by {wild:.2} at K = 5");
        assert!(calm < 2.0, "K = 0.5 strays by {calm} PRBs");
        assert!(
            wild > 8.0 && wild > 5.0 * calm,
            "K = 5 strays by only {wild} PRBs"
        );
    }
}
