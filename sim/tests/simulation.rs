//! Whole scenarios: what must hold whatever the numbers are.

use sim::results::{FlowResults, ReportRow, Summary};
use sim::runs::{self, Job};
use sim::scenario::{Scenario, Selection};
use std::io::Write;
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
        let window = results.window(Duration::from_secs(5), Duration::from_secs(30));
        let fullest = results.rows().iter().map(|row| row.queue_bytes).max();
        (window, fullest.unwrap_or_default())
    };
    // ns-3: 113.8 Mbit/s at 54 ms, 113.8 Mbit/s at 11.7 ms.
    let ((cubic, fullest), (bbr, _)) = (scenario("cubic"), scenario("bbr1"));
    assert!(
        fullest > 980_000,
        "CUBIC fills the RLC queue: {fullest} octets"
    );
    assert!((cubic.goodput_mbps / 113.8 - 1.0).abs() < 0.1, "{cubic:?}");
    assert!((bbr.goodput_mbps / 113.8 - 1.0).abs() < 0.1, "{bbr:?}");
    assert!(
        (54.0 / 1.5..54.0 * 1.5).contains(&cubic.report_delay.mean_ms),
        "{cubic:?}"
    );
    assert!(bbr.report_delay.mean_ms < 20.0, "{bbr:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let selection = Selection {
        sweeps: vec!["control.target_factor=[0.7, 0.9]".to_owned()],
        ..Selection::new("prism-test")
            .with(&EARLY)
            .with(&["duration_s=6"])
    };
    let (variants, folder) = selection.variants().unwrap();
    let jobs: Vec<Job<'_>> = variants
        .iter()
        .flat_map(|variant| {
            [1, 2, 3].map(|seed| Job {
                scenario: &variant.scenario,
                folder: &folder,
                seed,
            })
        })
        .collect();
    let rows = |workers| {
        let keep = |_, flows: Vec<FlowResults>| flows.iter().map(|f| f.rows().to_vec()).collect();
        runs::run_all(&jobs, workers, |_| {}, keep).unwrap()
    };
    let alone: Vec<Vec<Vec<ReportRow>>> = rows(1);
    assert_eq!(alone, rows(4));
    assert_ne!(alone[0], alone[3], "the variants differ");
}

#[test]
fn a_ue_may_have_a_mahimahi_link_instead_of_the_cell() {
    // Four opportunities of 1504 octets in 4 ms: 12.0 Mbit/s.
    let mut trace = tempfile::NamedTempFile::new().unwrap();
    write!(trace, "1\n2\n3\n4\n").unwrap();
    let text = format!(
        "duration_s = 20\n[[ues]]\nqueue_limit_bytes = 60000\n\
         mahimahi = '{}'\n[[flows]]\nue = 0\nsender = 'cubic'\n",
        trace.path().display()
    );
    let scenario = Scenario::parse(&text, &[]).unwrap();
    let mut simulation = scenario.build(1, Path::new("")).unwrap();
    simulation.run_until(Duration::from_secs(20));
    let results = &simulation.flows()[0].results;
    let window = results.window(Duration::from_secs(5), Duration::from_secs(20));
    // 1452 octets of payload in each opportunity; a full queue of 60 kB delays by 40 ms.
    assert!((11.0..11.7).contains(&window.goodput_mbps), "{window:?}");
    assert!(window.loss_percent > 0.0, "{window:?}");
    assert!(
        (15.0..42.0).contains(&window.report_delay.mean_ms),
        "{window:?}"
    );
    let guided = text.replace("cubic", "rapid");
    let error = Scenario::parse(&guided, &[])
        .unwrap()
        .build(1, Path::new(""));
    assert!(error.err().unwrap().to_string().contains("flows[0].sender"));
}

#[test]
fn a_ceiling_by_what_was_delivered_ends_the_loss_of_a_wound_up_flow() {
    let loss = |settings: &[&str]| {
        let flows = run("prism-test", 1, 60.0, &[&EARLY[..], settings].concat());
        flows[0].loss_percent + flows[1].loss_percent
    };
    let (without, with) = (loss(&[]), loss(&["flows.guided.anti_windup=1.1"]));
    assert!(with < without / 3.0, "{with} {without}");
}

/// What docs/simulator.md shows can be run, and it shows every key.
#[test]
fn the_documented_scenarios_can_be_built() {
    let text = include_str!("../../docs/simulator.md");
    let blocks: Vec<&str> = text
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 2);
    for block in &blocks {
        let scenario = Scenario::parse(block, &[]).unwrap();
        scenario.build(1, Path::new("")).unwrap();
    }
    // An unknown key makes the reader name all those that it knows.
    for place in ["", "control.", "delays.", "flows.0.", "ues.0."] {
        let setting = format!("{place}no_such_key=1");
        let error = Scenario::parse(blocks[1], &[setting])
            .unwrap_err()
            .to_string();
        let known = error.split("expected").nth(1).expect("the known keys");
        for key in known.split('`').skip(1).step_by(2) {
            assert!(text.contains(key), "{place}{key} is missing");
        }
    }
}
