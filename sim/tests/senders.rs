//! What each sender is known for, over a constant bottleneck.

use sim::link::Service;
use sim::random::stream;
use sim::senders::CongestionControl;
use sim::senders::bbr1::Bbr1;
use sim::senders::bbr3::Bbr3;
use sim::senders::cubic::Cubic;
use sim::senders::reminis::{Reminis, ReminisConfig};
use sim::tcp::sender::TcpConfig;
use sim::testbed::{FlowResults, FlowSpec, Testbed};
use std::time::Duration;

const SEGMENT: u32 = 1400;
const RATE_BPS: f64 = 50e6;
const RTT: Duration = Duration::from_millis(40);
/// Goodput of a full link: headers are not payload.
const FULL_BPS: f64 = RATE_BPS * 1400.0 / 1452.0;

fn bandwidth_delay_octets() -> f64 {
    RATE_BPS / 8.0 * RTT.as_secs_f64()
}

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn flow(control: Box<dyn CongestionControl>, start: f64) -> FlowSpec {
    FlowSpec {
        control,
        rtt: RTT,
        start: secs(start),
        stop: Duration::MAX,
    }
}

fn cubic(start: f64) -> FlowSpec {
    flow(Box::new(Cubic::new(SEGMENT)), start)
}

fn bbr1(index: u64, start: f64) -> FlowSpec {
    flow(Box::new(Bbr1::new(SEGMENT, stream(1, "bbr", index))), start)
}

fn bbr3(index: u64, start: f64) -> FlowSpec {
    flow(Box::new(Bbr3::new(SEGMENT, stream(1, "bbr", index))), start)
}

fn run(
    service: Service,
    buffer_bdp: f64,
    flows: Vec<FlowSpec>,
    end: f64,
) -> (Vec<FlowResults>, Testbed) {
    let buffer = (buffer_bdp * bandwidth_delay_octets()) as u64;
    let mut testbed = Testbed::new(service, buffer, TcpConfig::default(), flows);
    let results = testbed.run(secs(end));
    (results, testbed)
}

fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * rates.iter().map(|r| r * r).sum::<f64>())
}

#[test]
fn cubic_alone_fills_the_link_and_the_buffer() {
    let (results, testbed) = run(Service::constant(RATE_BPS), 2.0, vec![cubic(0.0)], 60.0);
    let goodput = results[0].goodput_bps(secs(10.0), secs(60.0));
    assert!(goodput > 0.97 * FULL_BPS, "{goodput}");
    let buffer = 2.0 * bandwidth_delay_octets();
    let fullest = *testbed.queue[10_000..].iter().max().unwrap() as f64;
    assert!(fullest > 0.98 * buffer, "{fullest} of {buffer}");
    let mean = testbed.queue[10_000..].iter().sum::<u64>() as f64 / 50_000.0;
    assert!(
        (0.5..0.95).contains(&(mean / buffer)),
        "mean queue {}",
        mean / buffer
    );
    assert_eq!(results[0].counters.timeouts, 0);
}

#[test]
fn two_cubic_flows_share_within_ten_percent() {
    let flows = vec![cubic(0.0), cubic(5.0)];
    let (results, _) = run(Service::constant(RATE_BPS), 1.0, flows, 200.0);
    let rates: Vec<f64> = results
        .iter()
        .map(|r| r.goodput_bps(secs(60.0), secs(200.0)))
        .collect();
    assert!(
        (rates[0] - rates[1]).abs() / (rates[0] + rates[1]) < 0.05,
        "{rates:?}"
    );
    assert!(rates.iter().sum::<f64>() > 0.95 * FULL_BPS, "{rates:?}");
}

#[test]
fn hystart_spares_slow_start_most_of_its_losses() {
    let drops = |control: Cubic| {
        let flows = vec![flow(Box::new(control), 0.0)];
        let (results, testbed) = run(Service::constant(RATE_BPS), 4.0, flows, 3.0);
        (
            testbed.drops(),
            results[0].goodput_bps(secs(1.0), secs(3.0)),
        )
    };
    let (with, goodput) = drops(Cubic::new(SEGMENT));
    let (without, _) = drops(Cubic::without_hystart(SEGMENT));
    assert!(3 * with < without, "{with} {without}");
    assert!(goodput > 0.9 * FULL_BPS, "{goodput}");
}

#[test]
fn bbr1_alone_fills_the_link_with_at_most_two_bandwidth_delay_products_in_flight() {
    let (results, testbed) = run(Service::constant(RATE_BPS), 8.0, vec![bbr1(0, 0.0)], 60.0);
    let goodput = results[0].goodput_bps(secs(5.0), secs(60.0));
    assert!(goodput > 0.93 * FULL_BPS, "{}", goodput / FULL_BPS);
    // In flight: the queue and what the path itself holds.
    let queue = *testbed.queue[5_000..].iter().max().unwrap() as f64;
    let in_flight = queue + bandwidth_delay_octets();
    assert!(in_flight <= 2.0 * bandwidth_delay_octets(), "{in_flight}");
    let mean = testbed.queue[5_000..].iter().sum::<u64>() as f64 / 55_000.0;
    assert!(mean < 0.2 * bandwidth_delay_octets(), "{mean}");
    assert_eq!(testbed.drops(), 0);
}

#[test]
fn bbr1_flows_that_start_apart_share() {
    let flows = vec![bbr1(0, 0.0), bbr1(1, 5.0)];
    let (results, _) = run(Service::constant(RATE_BPS), 8.0, flows, 120.0);
    let rates: Vec<f64> = results
        .iter()
        .map(|r| r.goodput_bps(secs(60.0), secs(120.0)))
        .collect();
    assert!(jain(&rates) > 0.9, "{rates:?}");
}

#[test]
fn bbr3_alone_fills_the_link_with_a_short_queue() {
    let (results, testbed) = run(Service::constant(RATE_BPS), 2.0, vec![bbr3(0, 0.0)], 60.0);
    let goodput = results[0].goodput_bps(secs(5.0), secs(60.0));
    assert!(goodput > 0.93 * FULL_BPS, "{}", goodput / FULL_BPS);
    let mean = testbed.queue[5_000..].iter().sum::<u64>() as f64 / 55_000.0;
    assert!(mean < 0.25 * bandwidth_delay_octets(), "{mean}");
}

#[test]
fn bbr3_leaves_cubic_a_larger_share_than_bbr1_does_in_a_shallow_buffer() {
    let cubic_share = |other: FlowSpec| {
        let flows = vec![cubic(0.0), other];
        let (results, _) = run(Service::constant(RATE_BPS), 0.5, flows, 100.0);
        let rates: Vec<f64> = results
            .iter()
            .map(|r| r.goodput_bps(secs(20.0), secs(100.0)))
            .collect();
        rates[0] / (rates[0] + rates[1])
    };
    let (beside_v1, beside_v3) = (cubic_share(bbr1(0, 2.0)), cubic_share(bbr3(0, 2.0)));
    assert!(beside_v3 > 1.5 * beside_v1, "{beside_v1} {beside_v3}");
}

#[test]
fn bbr3_two_flows_share_and_lose_little() {
    let flows = vec![bbr3(0, 0.0), bbr3(1, 5.0)];
    let (results, testbed) = run(Service::constant(RATE_BPS), 1.0, flows, 200.0);
    let rates: Vec<f64> = results
        .iter()
        .map(|r| r.goodput_bps(secs(80.0), secs(200.0)))
        .collect();
    assert!(jain(&rates) > 0.85, "{rates:?}");
    let sent: u64 = results.iter().map(|r| r.counters.segments).sum();
    assert!(
        (testbed.drops() as f64) < 0.02 * sent as f64,
        "{} of {sent}",
        testbed.drops()
    );
}

/// Reminis over the paper's 720 Mbit/s link with mRTT 20 ms: (use, mean RTT, 95 % RTT, worst RTT) after 5 s, in ms.
fn reminis(config: ReminisConfig, service: Service) -> (f64, f64, f64, f64) {
    reminis_over(config, service, 720e6, Duration::from_millis(20))
}

/// The same with another rate and mRTT.
fn reminis_over(
    config: ReminisConfig,
    service: Service,
    rate_bps: f64,
    rtt: Duration,
) -> (f64, f64, f64, f64) {
    let spec = FlowSpec {
        control: Box::new(Reminis::new(SEGMENT, config, stream(5, "reminis", 0))),
        rtt,
        start: Duration::ZERO,
        stop: Duration::MAX,
    };
    let tcp = TcpConfig {
        buffer: 100_000_000,
        ..TcpConfig::default()
    };
    let mut testbed = Testbed::new(service, 40_000_000, tcp, vec![spec]);
    let results = testbed.run(secs(25.0));
    let (from, to) = (secs(5.0), secs(25.0));
    let back_ms = rtt.as_secs_f64() * 1e3 / 2.0;
    let ms = |d: &Duration| d.as_secs_f64() * 1e3 + back_ms;
    let delays = results[0].sorted_delays(from, to);
    let mean = delays.iter().map(ms).sum::<f64>() / delays.len() as f64;
    let p95 = ms(&delays[delays.len() * 95 / 100]);
    let worst = ms(delays.last().unwrap());
    let utilisation = results[0].goodput_bps(from, to) / (rate_bps * 1400.0 / 1452.0);
    (utilisation, mean, p95, worst)
}

#[test]
fn reminis_keeps_its_delay_within_twice_its_tolerance_on_a_constant_link() {
    let (utilisation, mean, p95, worst) =
        reminis(ReminisConfig::default(), Service::constant(720e6));
    // DTT = 30 ms.
    assert!(
        p95 <= 60.0 && mean <= 33.0,
        "use {utilisation}, mean {mean}, p95 {p95}, worst {worst}"
    );
    assert!(utilisation > 0.7, "{utilisation}");
    for (mbps, rtt_ms) in [(50.0, 40), (100.0, 10), (200.0, 50), (720.0, 5)] {
        let (rate, rtt) = (mbps * 1e6, Duration::from_millis(rtt_ms));
        let config = ReminisConfig::default();
        let (utilisation, _, p95, worst) = reminis_over(config, Service::constant(rate), rate, rtt);
        // Twice 1.5 mRTT.
        let limit = 3.0 * rtt_ms as f64;
        println!("{mbps} Mbit/s, {rtt_ms} ms: use {utilisation}, 95 % {p95} ms, worst {worst} ms");
        assert!(worst <= limit, "{mbps} Mbit/s, {rtt_ms} ms: {worst} ms");
        assert!(
            utilisation > 0.7,
            "{mbps} Mbit/s, {rtt_ms} ms: {utilisation}"
        );
    }
}

#[test]
fn reminis_without_aimd_uses_less_and_without_mitigation_a_drop_hurts_more() {
    let constant = || Service::constant(720e6);
    let (full, ..) = reminis(ReminisConfig::default(), constant());
    let without = ReminisConfig {
        aimd: false,
        ..ReminisConfig::default()
    };
    let (without, ..) = reminis(without, constant());
    assert!(without < full, "{without} {full}");

    let drop = || Service::Rates(vec![(Duration::ZERO, 720e6), (secs(10.0), 100e6)]);
    let (_, mean, ..) = reminis(ReminisConfig::default(), drop());
    let unmitigated = ReminisConfig {
        mitigation: false,
        ..ReminisConfig::default()
    };
    let (_, worse, ..) = reminis(unmitigated, drop());
    assert!(worse > 1.5 * mean, "{worse} {mean}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let go = || {
        let flows = vec![cubic(0.0), bbr1(0, 1.0), bbr3(1, 2.0)];
        let (results, _) = run(Service::constant(RATE_BPS), 1.0, flows, 20.0);
        results
            .into_iter()
            .map(|r| (r.received, r.counters))
            .collect::<Vec<_>>()
    };
    assert_eq!(go(), go());
}

#[test]
fn random_loss_stops_nobody_and_bbr1_least() {
    let goodput = |spec: FlowSpec| {
        let buffer = bandwidth_delay_octets() as u64;
        let service = Service::constant(RATE_BPS);
        let mut testbed =
            Testbed::new(service, buffer, TcpConfig::default(), vec![spec]).with_loss(0.01, 3);
        let results = testbed.run(secs(60.0));
        let sent = results[0].counters.segments as f64;
        let again = results[0].counters.retransmissions as f64;
        // What is lost is sent again, and little else is.
        assert!(
            (0.009..0.016).contains(&(again / sent)),
            "{again} of {sent}"
        );
        results[0].goodput_bps(secs(10.0), secs(60.0)) / FULL_BPS
    };
    let reminis = Reminis::new(SEGMENT, ReminisConfig::default(), stream(5, "reminis", 0));
    let (loss_based, delay_based) = (goodput(cubic(0.0)), goodput(flow(Box::new(reminis), 0.0)));
    // BBRv3 answers every round with loss between its probes, BBRv1 none.
    let (v1, v3) = (goodput(bbr1(0, 0.0)), goodput(bbr3(0, 0.0)));
    assert!(
        loss_based > 0.02 && delay_based > 0.1,
        "{loss_based} {delay_based}"
    );
    assert!(v1 > 0.9 && v3 > 0.5, "{v1} {v3}");
}
