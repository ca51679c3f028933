//! `cantor-sim` as a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

fn cantor_sim() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cantor-sim"))
}

#[test]
fn sigterm_ends_the_cell_in_order() {
    let mut child = cantor_sim()
        .args(["cell", "--ue", "127.0.0.1:0=127.0.0.1:9", "--greedy", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().strip_prefix("relay 0: send to ").unwrap();
    assert!(
        !address.ends_with(":0"),
        "the port that was bound: {address}"
    );
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_wrong_configuration_is_named_and_ends_with_2() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "[cell]\nprbs = 106\nprb_grup = 4").unwrap();
    let output = cantor_sim()
        .args(["cell", "--config"])
        .arg(file.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("prb_grup"), "{message}");
    assert!(message.contains(file.path().to_str().unwrap()), "{message}");
}

#[test]
fn values_out_of_range_end_with_2() {
    let output = cantor_sim()
        .args(["cell", "--greedy", "1", "--mcs", "29"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("ues[0].link.mcs = 29"), "{message}");
}

#[test]
fn the_printed_configuration_can_be_read_back() {
    let output = cantor_sim()
        .args(["cell", "--greedy", "2", "--print-config"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let config: sim::cell::CellConfig = toml::from_str(&text).unwrap();
    assert_eq!(config.ues.len(), 2);
}

#[test]
fn a_profile_is_the_base_of_the_configuration() {
    let output = cantor_sim()
        .args([
            "cell",
            "--profile",
            "gnb",
            "--greedy",
            "1",
            "--print-config",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let config: sim::cell::CellConfig = toml::from_str(&text).unwrap();
    assert_eq!(
        config.harq_feedback,
        sim::cell::CellConfig::gnb().harq_feedback
    );
    assert_eq!(config.ues.len(), 1);

    let output = cantor_sim()
        .args(["cell", "--profile", "enb"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("\"gnb\" or \"lena\""), "{message}");
}

/// The annotated example says of itself that it holds every key with its default.
#[test]
fn the_example_holds_the_defaults() {
    let text = include_str!("../cell.example.toml");
    let example: sim::live::LiveConfig = toml::from_str(text).unwrap();
    let mut cell = sim::cell::CellConfig::default();
    let ue = sim::cell::UeConfig::default();
    let greedy = sim::cell::UeConfig {
        background: sim::cell::Background::Greedy,
        ..ue.clone()
    };
    cell.ues = vec![ue, greedy];
    assert_eq!(example.cell, cell);
    assert_eq!(example.e2.unwrap().node, sim::node::NodeConfig::default());
    for key in toml::to_string(&cell)
        .unwrap()
        .lines()
        .filter_map(|l| l.split_once(" = "))
    {
        assert!(
            text.contains(&format!("{} = ", key.0)),
            "{} is missing",
            key.0
        );
    }
}

#[test]
fn a_run_writes_tidy_files_and_charts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let output = cantor_sim()
        .args(["run", "prism-validate", "--seeds", "2", "--json"])
        .args(["--set", "duration_s=4", "--set", "flows.1.start_s=1"])
        .args(["--sweep", "flows.guided.k=[0.5, 1]"])
        .arg("--out")
        .arg(path("out"))
        .arg("--plots")
        .arg(path("plots"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    // Two variants, two seeds, two flows.
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[4]["variant"], "flows.guided.k=1");
    assert_eq!(rows[4]["gains"][0]["mbps_per_prb"], 1.0);
    for file in ["flows.csv", "gains.csv", "reports.csv"] {
        let text = std::fs::read_to_string(path("out").join(file)).unwrap();
        let columns = text.lines().next().unwrap().split(',').count();
        assert!(text.lines().count() > 4, "{file}");
        assert!(
            text.lines().all(|line| line.split(',').count() == columns),
            "{file}"
        );
    }
    let page = std::fs::read_to_string(path("plots").join("index.html")).unwrap();
    assert!(page.matches("<svg").count() > 10);
    assert!(path("plots").join("throughput-delay.svg").exists());
}

#[test]
fn figures_are_reproduced_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let output = cantor_sim()
        .args(["reproduce", "rapid", "--only", "fig3", "--out"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // K = 5 never settles.
    assert!(text.contains("never / 5.0"), "{text}");
    let document = std::fs::read_to_string(folder.path().join("reproduction.md")).unwrap();
    assert!(document.contains("| never / 5.0 |"), "{document}");
    assert!(folder.path().join("img/fig3a.svg").exists());
}

#[test]
fn readers_that_have_seen_enough_are_no_failure() {
    let unread = |arguments: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = cantor_sim();
        command.args(arguments).stdin(Stdio::null());
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        command.status().unwrap().code()
    };
    assert_eq!(unread(&["run", "--list"]), Some(0));
    assert_eq!(unread(&["run", "no-such-scenario"]), Some(2));
    // Its statistics have no reader any more: the cell ends.
    let cell = ["cell", "--stats", "--ue", "127.0.0.1:0=127.0.0.1:9"];
    assert_eq!(unread(&cell), Some(0));
}

#[test]
fn every_subcommand_has_examples_and_says_what_its_exit_codes_mean() {
    for name in ["cell", "run", "reproduce"] {
        let output = cantor_sim().args([name, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        for part in ["\nExamples:\n", "\nExit codes: 0 "] {
            assert!(help.contains(part), "{name}: {help}");
        }
    }
}
