//! PRISM in scenarios: the simulator asks the bundle that it is given, within the same guard rails as the xApp.

#[allow(dead_code, reason = "shared by several tests")]
#[path = "../../policies/tests/common/bundle.rs"]
mod bundle;

use bundle::{GAINS, card, folder, network, spread};
use policies::model::{Bundle, Feature};
use sim::scenario::{Scenario, ScenarioError, Selection, SenderKind};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SCENARIO: &str = r#"
duration_s = 8
model = "model"
[channel]
model = "fixed"
sinr_db = 22
[[ues]]
count = 3
[[flows]]
ue = 0
sender = "prism"
[[flows]]
ue = 1
sender = "prism"
guard = false
[[flows]]
ue = 2
sender = "cubic"
"#;

/// Gains of the flows' decisions, bit/s per PRB, and how often.
fn gains(folder: &Path) -> Vec<Vec<(f64, u64)>> {
    let scenario = Scenario::parse(SCENARIO, &[]).unwrap();
    let mut simulation = scenario.build(1, folder).unwrap();
    simulation.run_until(Duration::from_secs(8));
    let results = simulation.into_results();
    results.iter().map(|flow| flow.gains().to_vec()).collect()
}

/// Every gain is one of the card's, divided by n = 3 or not; and the same seed gives the same run.
#[test]
fn flows_follow_the_gains_of_the_bundle() {
    let path = tempfile::tempdir().unwrap();
    folder().write(&path.path().join("model")).unwrap();
    let first = gains(path.path());
    for flow in &first[..2] {
        let decisions: u64 = flow.iter().map(|(_, count)| count).sum();
        assert!(decisions >= 39, "{decisions} decisions in 8 s");
        let of_the_card = |gain: f64| {
            let close = |a: f64| (a * 1e6 - gain).abs() < 1.0 || (a * 1e6 / 3.0 - gain).abs() < 1.0;
            GAINS.into_iter().any(close)
        };
        assert!(flow.iter().all(|(gain, _)| of_the_card(*gain)), "{flow:?}");
        assert!(flow.len() > 1, "the gain never changes: {flow:?}");
    }
    assert_eq!(gains(path.path()), first);
}

/// A model that was trained on rates below 1 Mbit/s only is not asked to lead a cell of 50: RAPID does.
#[test]
fn a_model_outside_of_its_training_is_demoted_here_too() {
    let mut narrow = card();
    for input in &mut narrow.features {
        if input.name == Feature::RateBps {
            input.range = [0.0, 1e6];
        }
    }
    let candidates: Vec<f32> = spread(7).take(64 * 512).collect();
    let path = tempfile::tempdir().unwrap();
    let bundle = Bundle::make(narrow, &network(), &candidates).unwrap();
    bundle.write(&path.path().join("model")).unwrap();
    let flows = gains(path.path());
    let rapids = |flow: &[(f64, u64)]| {
        flow.iter()
            .filter(|(g, _)| *g == 0.5e6)
            .map(|(_, n)| *n)
            .sum::<u64>()
    };
    assert!(rapids(&flows[0]) > 30, "{:?}", flows[0]);
    assert!(rapids(&flows[1]) < 20, "no guard rails: {:?}", flows[1]);
}

#[test]
fn a_bundle_that_is_no_good_is_named() {
    let path = tempfile::tempdir().unwrap();
    let scenario = Scenario::parse(SCENARIO, &[]).unwrap();
    let error = scenario.build(1, path.path()).err().unwrap();
    assert!(matches!(error, ScenarioError::Model { .. }), "{error}");
    let selection = Selection {
        policy: Some(SenderKind::Prism),
        ..Selection::new("prism-test")
    };
    let (variants, folder) = selection.variants().unwrap();
    let error = variants[0].scenario.build(1, &folder).err().unwrap();
    assert!(error.to_string().contains("needs a model"), "{error}");
}

/// The command takes the bundle from here, whatever the scenario's folder is.
#[test]
fn the_command_runs_a_policy_of_a_bundle() {
    let path = tempfile::tempdir().unwrap();
    folder().write(&path.path().join("mine")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cantor-sim"))
        .current_dir(path.path())
        .args(["run", "prism-test", "--policy", "prism", "--model", "mine"])
        .args(["--set", "duration_s=25"])
        .output()
        .unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(table.matches("prism").count(), 2, "{table}");
}
