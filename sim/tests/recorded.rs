//! Recorded decisions: the same after they were written and read, and the same when the same policy decides again.

use policies::decision_log::{LoggedDecision, LoggedReport};
use policies::{GainParameters, GainPolicy, Note, UeId};
use sim::recorded::{Format, Shadow, Writer, read};
use std::fs::File;
use std::time::Duration;

/// What RAPID decides for some flows on made-up reports: what is recorded is what was decided.
fn recorded(policy: GainPolicy) -> Vec<LoggedDecision> {
    let mut all = Vec::new();
    for (flow, ue) in [
        ("video", UeId::CRnti(0x4601)),
        ("a \"b\", c", UeId::AmfUeNgapId(7)),
    ] {
        let mut controller = policy.controller(&GainParameters::default(), None).unwrap();
        for n in 0_u32..50 {
            let now = Duration::from_secs(100) + Duration::from_millis(200) * n;
            let mut decision = LoggedDecision {
                edge: "edge-1".into(),
                flow: flow.into(),
                node: "gnb:001-01:00000e00/32".into(),
                ue,
                sequence: 1_000_000 + u64::from(n),
                time_us: 1_700_000_000_000_000 + 200_000 * i64::from(n),
                controller: policy.name().into(),
                slice_policy: "default".into(),
                arm: String::new(),
                previous_rate_bps: controller.rate_bps(),
                rate_bps: 0.0,
                target_bitrate_bps: None,
                pacing_rate_bps: None,
                prbs: None,
                target_prbs: 0.0,
                gain_bps_per_prb: 0.0,
                chosen_gain: None,
                shadow_controller: "rapid-peak".into(),
                shadow_rate_bps: Some(2.5e6),
                note: None,
                target_factor: 0.9,
                cell_prbs: 84.8,
                active_ues: 2,
                rate_min_bps: 1e5,
                rate_max_bps: 1e9,
                report_age_us: 1500,
                // The last interval of every ten brings nothing.
                reports: (0..if n % 10 == 9 { 0 } else { 4 })
                    .map(|i| report(n, i))
                    .collect(),
            };
            let reports = decision.ue_reports(now);
            let made = controller.decide(&decision.interval(now, &reports));
            decision.rate_bps = made.rate_bps;
            decision.prbs = made.prbs;
            decision.target_prbs = made.target_prbs;
            decision.gain_bps_per_prb = made.gain_bps_per_prb;
            decision.note = made.note;
            all.push(decision);
        }
    }
    all
}

fn report(n: u32, i: u32) -> LoggedReport {
    LoggedReport {
        age_us: u64::from(3 - i) * 50_000 + 1500,
        length_us: 50_000,
        prbs: Some(20.0 + f64::from((n * 7 + i * 3) % 31)),
        cell_prbs: 84.8,
        mcs: Some(27.25),
        sinr_db: (i == 0).then_some(-1.5),
        queue_bytes: Some(u64::from(n)),
        ran_time_us: Some(-1),
        ..LoggedReport::default()
    }
}

#[test]
fn files_hold_what_was_recorded() {
    let decisions = recorded(GainPolicy::Rapid);
    assert!(decisions.iter().any(|d| d.note == Some(Note::NoReport)));
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [("d.csv", Format::Csv), ("d.parquet", Format::Parquet)] {
        let path = folder.path().join(name);
        assert_eq!(Format::of(&path), Some(format));
        let mut writer = Writer::new(format, File::create(&path).unwrap()).unwrap();
        for decision in &decisions {
            writer.add(decision).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(read(&path).unwrap(), decisions, "{name}");
    }
}

#[test]
fn what_is_no_log_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    let heading = "edge,flow,node,ue,sequence,time_us,previous_rate_bps,rate_bps";
    for (text, hint) in [
        ("", "no column edge"),
        ("edge,flow\n1,2\n", "no column node"),
        (
            &format!("{heading}\ne,f,n,rnti:1,x,1,1,1\n"),
            "row 1: sequence is \"x\"",
        ),
        (&format!("{heading}\ne,f,n,ue 1,1,1,1,1\n"), "names no UE"),
        (
            &format!("{heading}\n\"e,f,n,rnti:1,1,1,1,1\n"),
            "quotation mark",
        ),
        (
            &format!("{heading}\ne,f,n,rnti:1,1,1,1,1\n"),
            "missing field",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains(hint), "{text:?}: {error}");
    }
    let path = folder.path().join("d.parquet");
    std::fs::write(&path, "PAR1 and nothing else").unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("Parquet"));
}

fn shadow(policy: GainPolicy, factor: Option<f64>, own_rate: bool) -> Shadow<'static> {
    Shadow {
        policy,
        parameters: GainParameters::default(),
        factor,
        own_rate,
        model: None,
    }
}

#[test]
fn the_same_policy_decides_the_same_again() {
    for policy in [GainPolicy::Rapid, GainPolicy::RapidPeak] {
        let decisions = recorded(policy);
        for own_rate in [false, true] {
            let flows = shadow(policy, None, own_rate).decide(&decisions).unwrap();
            assert_eq!(flows.len(), 2);
            for flow in &flows {
                assert_eq!(flow.steps.len(), 50);
                for step in &flow.steps {
                    assert_eq!(step.shadow_rate_bps, step.recorded_rate_bps);
                    assert_eq!(step.shadow_from_bps, step.previous_rate_bps);
                }
                let summary = flow.summary();
                assert_eq!((summary.distance_bps, summary.opposed), (0.0, 0.0));
            }
        }
    }
}

/// A lower target by 0.1 · P / n PRBs lowers each decision by K·γ times as much, and its own ones more and more.
#[test]
fn another_target_differs_by_what_the_law_says() {
    let decisions = recorded(GainPolicy::Rapid);
    let flows = shadow(GainPolicy::Rapid, Some(0.8), false)
        .decide(&decisions)
        .unwrap();
    let expected = 0.5e6 * 0.1 * 84.8 / 2.0;
    let far_from_bounds = |rate_bps: f64| rate_bps > 1e6 + expected;
    let mut compared = 0;
    for (step, decision) in flows[1].steps.iter().zip(&decisions) {
        if decision.note.is_none() && far_from_bounds(decision.rate_bps) {
            let lower = step.recorded_rate_bps - step.shadow_rate_bps;
            assert!((lower - expected).abs() < 1.0, "{step:?}");
            compared += 1;
        }
    }
    assert!(compared > 10);
    let own = shadow(GainPolicy::Rapid, Some(0.8), true)
        .decide(&decisions)
        .unwrap();
    assert!(own[1].summary().distance_bps > flows[1].summary().distance_bps);
}
