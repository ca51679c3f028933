//! Whole scenarios: what must hold whatever the numbers are.

use sim::results::Summary;
use sim::scenario::Scenario;
use std::path::Path;
use std::time::Duration;

fn run(name: &str, seed: u64, seconds: f64, settings: &[&str]) -> Vec<Summary> {
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    let (scenario, folder) = Scenario::load(name, &settings).unwrap();
    let mut simulation = scenario.build(seed, &folder).unwrap();
    let end = Duration::from_secs_f64(seconds);
    simulation.run_until(end);
    simulation
        .flows()
        .iter()
        .map(|flow| flow.results.summary(end))
        .collect()
}

const EARLY: [&str; 3] = [
    "flows.2.start_s=3",
    "flows.3.start_s=4",
    "flows.4.start_s=5",
];

#[test]
fn a_seed_determines_everything() {
    let first = run("prism-test", 4, 15.0, &EARLY);
    assert_eq!(first, run("prism-test", 4, 15.0, &EARLY));
    assert_ne!(first, run("prism-test", 5, 15.0, &EARLY));
}

#[test]
fn a_flow_that_starts_later_does_not_change_the_channel_of_the_others() {
    let position = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        let (scenario, _) = Scenario::load("prism-test", &settings).unwrap();
        let mut simulation = scenario.build(2, Path::new("")).unwrap();
        simulation.run_until(Duration::from_secs(8));
        let channel = simulation.cell().channel(0).unwrap();
        (channel.position(), *channel.subbands())
    };
    assert_eq!(position(&[]), position(&EARLY));
}

#[test]
fn rapid_winds_up_under_five_flows_and_the_peak_variant_does_not() {
    let rapid = run("prism-test", 1, 60.0, &EARLY);
    let peak = ["flows.0.sender=rapid-peak", "flows.1.sender=rapid-peak"];
    let peak = run("prism-test", 1, 60.0, &[&EARLY[..], &peak[..]].concat());
    let delay =
        |flows: &[Summary]| (flows[0].packet_delay.mean_ms + flows[1].packet_delay.mean_ms) / 2.0;
    assert!(delay(&rapid) > 100.0, "{rapid:?}");
    assert!(
        delay(&peak) < delay(&rapid) / 2.0,
        "{} {}",
        delay(&peak),
        delay(&rapid)
    );
}

#[test]
fn tcp_over_the_cell_behaves_as_in_ns3() {
    // A lone UE that stands at 22 dB: CUBIC keeps a queue, BBR does not, both fill the cell.
    let scenario = |sender: &str| {
        let text = format!(
            "duration_s = 30\n[cell]\nprofile = 'lena'\n[channel]\nmodel = 'fixed'\nsinr_db = 22\n\
             [[ues]]\n[[flows]]\nue = 0\nsender = '{sender}'\n"
        );
        let scenario = Scenario::parse(&text, &[]).unwrap();
        let mut simulation = scenario.build(1, Path::new("")).unwrap();
        simulation.run_until(Duration::from_secs(30));
        let results = &simulation.flows()[0].results;
        results.window(Duration::from_secs(5), Duration::from_secs(30))
    };
    // ns-3: 113.8 Mbit/s at 54 ms, 113.8 Mbit/s at 11.7 ms.
    let (cubic, bbr) = (scenario("cubic"), scenario("bbr1"));
    assert!((cubic.goodput_mbps / 113.8 - 1.0).abs() < 0.1, "{cubic:?}");
    assert!((bbr.goodput_mbps / 113.8 - 1.0).abs() < 0.1, "{bbr:?}");
    assert!(
        (54.0 / 1.5..54.0 * 1.5).contains(&cubic.report_delay.mean_ms),
        "{cubic:?}"
    );
    assert!(bbr.report_delay.mean_ms < 20.0, "{bbr:?}");
}
