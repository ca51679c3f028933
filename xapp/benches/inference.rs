//! Inference of PRISM's network, 64 – 128 – 64 – 11, by each engine, and a tick of a cell with 1,000 flows that it decides.
//!
//! ONNX Runtime takes part where its library is found (`ORT_DYLIB_PATH`, or the system's).

#[allow(dead_code, reason = "shared with tests")]
#[path = "../../policies/tests/common/bundle.rs"]
mod bundle;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use policies::model::Bundle;
use policies::{GainParameters, GainPolicy, UeId, UeReport};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use xapp::cell::{Cell, Settings};
use xapp::guidance::{FlowKey, outbox::Outbox, registry::BoundFlow};
use xapp::models::{Backend, Engines, Model, onnxruntime};
use xapp::ran::NodeId;

const MS: Duration = Duration::from_millis(1);
const BATCHES: [usize; 4] = [1, 16, 64, 1024];
const UES: u16 = 1000;

/// The engines that are here.
fn engines() -> Vec<(&'static str, Engines)> {
    let engines = |backend| Engines {
        backend,
        ..Engines::default()
    };
    let mut here = vec![("native", engines(Backend::Native))];
    match onnxruntime(Path::new("")) {
        Ok(()) => here.push(("onnxruntime", engines(Backend::OnnxRuntime))),
        Err(reason) => eprintln!("without ONNX Runtime: {reason}"),
    }
    here
}

fn inference(c: &mut Criterion) {
    let bundle = Bundle::new(bundle::folder()).expect("a bundle");
    for (name, engines) in engines() {
        let mut network = engines.open(&bundle).expect("a network");
        let mut group = c.benchmark_group(format!("inference/{name}"));
        for rows in BATCHES {
            let batch: Vec<f32> = bundle::spread(1).take(64 * rows).collect();
            group.throughput(Throughput::Elements(rows as u64));
            group.bench_function(rows.to_string(), |b| {
                b.iter(|| black_box(network.infer(black_box(&batch)).expect("scores")).len());
            });
        }
        group.finish();
    }
}

fn tick(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("tick/{UES} UEs"));
    group.throughput(Throughput::Elements(UES.into()));
    for (name, engines) in engines() {
        let model = Model::new(bundle::folder(), Path::new(""), &engines).expect("a model");
        let model = Arc::new(model);
        group.bench_function(format!("prism, {name}"), |b| {
            decide(b, Some(model.clone()));
        });
    }
    group.bench_function("rapid", |b| decide(b, None));
    group.finish();
}

/// From the reports of an interval to the decisions about all flows.
fn decide(b: &mut criterion::Bencher<'_>, model: Option<Arc<Model>>) {
    let (mut cell, mut now) = (cell(model), 1000 * MS);
    b.iter_custom(|ticks| {
        let mut spent = Duration::ZERO;
        for _ in 0..ticks {
            while !cell.due(now) {
                now += 50 * MS;
                cell.on_reports((0..UES).map(|ue| report(ue, now)).collect(), now);
            }
            let started = std::time::Instant::now();
            let decisions = black_box(cell.decide(now, now.as_micros() as u64));
            spent += started.elapsed();
            assert_eq!(decisions.len(), usize::from(UES));
        }
        spent
    });
}

fn cell(model: Option<Arc<Model>>) -> Cell {
    let settings = Settings {
        interval: 200 * MS,
        report_period: 50 * MS,
        valid_for: 600 * MS,
        ue_timeout: 10_000 * MS,
        target_factor: 0.9,
        gain: GainParameters::default(),
        shadow: None,
        rate_min_bps: 1e5,
        rate_max_bps: 1e9,
        peak_bps_per_prb: 1.4e6,
    };
    let mut cell = Cell::new(NodeId("gnb".into()), settings);
    cell.set_model(model);
    cell.on_reports((0..UES).map(|ue| report(ue, 900 * MS)).collect(), 900 * MS);
    for ue in 0..UES {
        let flow = BoundFlow {
            key: FlowKey {
                edge: "edge".into(),
                flow: format!("{ue:04}").into(),
            },
            ue: UeId::CRnti(ue),
            address: None,
            slice: None,
            wired: Duration::ZERO,
            frame_interval: None,
            policies: vec![GainPolicy::Prism, GainPolicy::Rapid],
            current_rate_bps: None,
            last_sequence: 0,
            outbox: Arc::new(Outbox::new(8)),
        };
        cell.bind(flow, 5e6, 0, 1000 * MS);
    }
    cell
}

fn report(ue: u16, now: Duration) -> UeReport {
    let step = (now.as_millis() / 50 % 7) as f64;
    UeReport {
        ue: UeId::CRnti(ue),
        start: now - 50 * MS,
        length: 50 * MS,
        ran_time_us: None,
        prbs: Some(0.01 * (step + f64::from(ue % 11))),
        retx_prbs: None,
        used_prbs: None,
        cell_prbs: 84.8,
        mcs: Some(f64::from(ue % 28)),
        tb_sent: Some(90),
        tb_retx: Some(u64::from(ue % 9)),
        tb_failed: None,
        sinr_db: Some(f64::from(ue % 30)),
        cqi: None,
        delivered_bytes: Some(10_000),
        arrived_bytes: None,
        queue_bytes: Some(0),
        head_of_line: None,
        rlc_delay: None,
        slice: None,
    }
}

criterion_group!(benches, inference, tick);
criterion_main!(benches);
