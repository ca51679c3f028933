//! Choir in the simulator: what its paper promises, whatever the numbers are.

use sim::results::{FlowResults, jain_index};
use sim::scenario::Scenario;
use std::path::Path;
use std::time::Duration;

fn run(scenario: &Scenario, seconds: u64) -> Vec<FlowResults> {
    let mut simulation = scenario.build(1, Path::new("")).unwrap();
    simulation.run_until(Duration::from_secs(seconds));
    simulation.into_results()
}

fn builtin(name: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(name, &settings).unwrap().0
}

#[test]
fn seven_flows_share_the_cell_in_the_base_station_and_over_e2() {
    for settings in [&[][..], &["flows.*.sender=choir"]] {
        let flows = run(&builtin("choir-7", settings), 12);
        let end = Duration::from_secs(12);
        let summaries: Vec<_> = flows.iter().map(|flow| flow.summary(end)).collect();
        let goodputs: Vec<f64> = summaries.iter().map(|s| s.goodput_mbps).collect();
        assert!(jain_index(&goodputs) >= 0.99, "{goodputs:?}");
        for summary in &summaries {
            let frames = summary.frames.expect("video");
            assert_eq!(frames.lost, 0);
            // Most of the cell is used, and no queue stands: a frame is paced over 13 ms.
            assert!(frames.bitrate_mbps > 27.0, "{settings:?}: {frames:?}");
            assert!(frames.p50_ms < 40.0, "{settings:?}: {frames:?}");
        }
    }
}

#[test]
fn a_burst_of_100_kb_is_drained_within_the_interval_of_the_first_frame_that_can_react() {
    let text = "
        duration_s = 7
        [cell]
        profile = 'gnb'
        tdd = 'DDDSU'
        [channel]
        model = 'fixed'
        sinr_db = 24
        [delays]
        wired_ms = 1.0
        [control]
        report_interval_ms = 1
        control_interval_ms = 10
        [[ues]]
        [[flows]]
        ue = 0
        sender = 'choir-tti'
        # 100 kB on top of the video, within 10 ms.
        [[flows]]
        ue = 0
        sender = 'cbr'
        mbps = 80
        start_s = 6
        stop_s = 6.01
    ";
    let flows = run(&Scenario::parse(text, &[]).unwrap(), 7);
    let largest_least = |from_ms: u64, until_ms: u64| {
        // Of each frame interval the least queue: what the law keeps near nothing.
        let rows: Vec<u64> = flows[0]
            .rows()
            .iter()
            .filter(|row| row.at > Duration::from_millis(from_ms))
            .filter(|row| row.at <= Duration::from_millis(until_ms))
            .map(|row| row.queue_bytes)
            .collect();
        let least = rows.windows(17).map(|w| w.iter().min().copied());
        least.flatten().max().unwrap_or(0)
    };
    let steady = largest_least(5_000, 6_000);
    assert!(steady < 20_000, "{steady}");
    // Shown by the least of one interval, acted upon by the next frame, drained in its interval.
    assert!(largest_least(6_000, 6_040) > 40_000);
    let after = largest_least(6_067, 7_000);
    assert!(after < 20_000, "{after}");
}

#[test]
fn a_slower_encoder_and_smoothing_cost_delay_and_a_seed_determines_everything() {
    let frames = |settings: &[&str]| {
        let flows = run(&builtin("choir-single", settings), 20);
        flows[0].frames.as_ref().expect("video").summary()
    };
    let plain = frames(&[]);
    assert_eq!(plain, frames(&[]));
    assert!(frames(&["flows.0.response_frames=3"]).p999_ms > plain.p999_ms);
    let smooth = frames(&["flows.0.smoothing=10"]);
    assert!(smooth.p99_ms > 2.0 * plain.p99_ms, "{smooth:?}");
    assert!(smooth.bitrate_deviation_mbps < plain.bitrate_deviation_mbps);
}

#[test]
fn parameters_that_a_video_flow_does_not_have_are_refused() {
    let build = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        let (scenario, folder) = Scenario::load("choir-single", &settings).unwrap();
        scenario
            .build(1, &folder)
            .map(drop)
            .map_err(|e| e.to_string())
    };
    assert_eq!(build(&[]), Ok(()));
    assert!(build(&["flows.0.k=1"]).unwrap_err().contains("flows[0].k"));
    assert!(
        build(&["flows.0.frames_per_second=0"])
            .unwrap_err()
            .contains("above 0")
    );
    // Reports come from the cell, the link has none.
    assert!(
        build(&["flows.0.sender=choir"])
            .unwrap_err()
            .contains("not in the cell")
    );
}
