//! Slice policies at scale: what a tick of a cell with 10,000 flows takes while policies change 1,000 times a second, and
//! while they do not.

use policies::slice::Source;
use policies::{GainPolicy, SNssai, UeId, UeReport};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use xapp::cell::{Cell, Settings};
use xapp::config::Config;
use xapp::guidance::FlowKey;
use xapp::guidance::outbox::Outbox;
use xapp::guidance::registry::BoundFlow;
use xapp::operate::policy::Policies;
use xapp::ran::NodeId;
use xapp::store::Store;

const FLOWS: usize = 10_000;
const UES: u16 = 2_000;
const SLICES: u32 = 100;
const TICKS: usize = 100;
const TICK: Duration = Duration::from_millis(200);
const CHANGES_PER_SECOND: u32 = 1_000;

fn main() {
    println!("{FLOWS} flows of {SLICES} slices to {UES} UEs, {TICKS} ticks");
    for changing in [false, true] {
        let policies = Policies::new(Store::memory());
        for slice in 0..SLICES {
            change(&policies, slice, 0);
        }
        let (stop, changes) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let changer = changing.then(|| {
            let (policies, stop, changes) = (policies.clone(), stop.clone(), changes.clone());
            std::thread::spawn(move || changer(&policies, &stop, &changes))
        });
        let begin = Instant::now();
        let mut ticks = run(&policies);
        let seconds = begin.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        if let Some(changer) = changer {
            changer.join().expect("the changer ends");
        }
        ticks.sort();
        let at = |share: f64| {
            let index = ((ticks.len() - 1) as f64 * share).round() as usize;
            ticks[index].as_secs_f64() * 1e3
        };
        println!(
            "{:>6.0} changes/s: tick p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms",
            changes.load(Ordering::Relaxed) as f64 / seconds,
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}

/// Puts another policy for a slice into force.
fn change(policies: &Policies, slice: u32, n: u64) {
    let text = format!(
        "apiVersion: cantor.io/v1\nkind: SlicePolicy\nmetadata: {{ name: slice-{slice} }}\nspec:\n  scope: {{ slice: {{ sst: 1, sd: \"{slice:06x}\" }} }}\n  latency: {{ statistic: p99, ms: {} }}\n  flowRate: {{ maxBps: {} }}\n",
        20 + n % 80,
        10_000_000 + n % 1000
    );
    let applied = policies.apply(Source::Operator, &text, "bench", false);
    applied.expect("a policy");
}

fn changer(policies: &Policies, stop: &AtomicBool, changes: &AtomicU64) {
    let begin = Instant::now();
    let mut n = 0;
    while !stop.load(Ordering::Relaxed) {
        n += 1;
        change(policies, (n % u64::from(SLICES)) as u32, n);
        changes.store(n, Ordering::Relaxed);
        let next = Duration::from_secs_f64(n as f64 / f64::from(CHANGES_PER_SECOND));
        std::thread::sleep(next.saturating_sub(begin.elapsed()));
    }
}

/// What each tick took: policies, delays, outer loops, decisions.
fn run(policies: &Policies) -> Vec<Duration> {
    let mut cell = Cell::new(NodeId("gnb".into()), Settings::from(&Config::default()));
    let mut now = Duration::from_secs(1);
    cell.on_reports(reports(now), now);
    let outbox = Arc::new(Outbox::new(FLOWS));
    for flow in 0..FLOWS {
        let bound = BoundFlow {
            key: FlowKey {
                edge: "edge".into(),
                flow: flow.to_string().into(),
            },
            ue: UeId::CRnti(flow as u16 % UES),
            address: None,
            slice: Some(SNssai {
                sst: 1,
                sd: Some(flow as u32 % SLICES),
            }),
            wired: Duration::ZERO,
            frame_interval: None,
            policies: vec![GainPolicy::Rapid],
            current_rate_bps: None,
            last_sequence: 0,
            outbox: outbox.clone(),
        };
        cell.bind(bound, 1e6, 0, now);
    }
    let mut ticks = Vec::with_capacity(TICKS);
    for tick in 0..TICKS + 5 {
        now += TICK;
        cell.on_reports(reports(now), now);
        let begin = Instant::now();
        let revision = policies.revision();
        if cell.outdated(revision) {
            cell.resolve(revision, &policies.read());
        }
        let decided = cell.decide(now, now.as_micros() as u64);
        let took = begin.elapsed();
        assert_eq!(decided.len(), FLOWS);
        // The first ones warm up.
        if tick >= 5 {
            ticks.push(took);
        }
        std::thread::sleep(Duration::from_millis(20).saturating_sub(took));
    }
    ticks
}

fn reports(end: Duration) -> Vec<UeReport> {
    let report = |rnti| UeReport {
        ue: UeId::CRnti(rnti),
        start: end - TICK,
        length: TICK,
        ran_time_us: None,
        prbs: Some(1.0),
        retx_prbs: None,
        cell_prbs: 84.8,
        mcs: None,
        tb_sent: None,
        tb_retx: None,
        tb_failed: None,
        sinr_db: None,
        cqi: None,
        delivered_bytes: Some(10_000),
        arrived_bytes: None,
        queue_bytes: Some(1000),
        head_of_line: Some(Duration::from_millis(5)),
        rlc_delay: None,
        used_prbs: None,
        slice: None,
    };
    (0..UES).map(report).collect()
}
