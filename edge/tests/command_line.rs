//! `cantor-edge` as a process.

use std::process::{Command, Stdio};

fn cantor_edge() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cantor-edge"))
}

/// Runs it with standard output and standard error where nobody reads; its exit code.
fn unread(arguments: &[&str]) -> Option<i32> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = cantor_edge();
    command.args(arguments).stdin(Stdio::null());
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    command.status().unwrap().code()
}

#[test]
fn readers_that_have_seen_enough_are_no_failure() {
    let send = [
        "send",
        "--to",
        "127.0.0.1:9",
        "--rate",
        "1M",
        "--seconds",
        "1.2",
    ];
    assert_eq!(unread(&send), Some(0));
    // No packet came.
    let receive = ["receive", "--listen", "127.0.0.1:0", "--seconds", "0.1"];
    assert_eq!(unread(&receive), Some(5));
    assert_eq!(unread(&["receive", "--listen", "192.0.2.1:1"]), Some(1));
}

#[test]
fn every_subcommand_has_examples_and_says_what_its_exit_codes_mean() {
    for name in ["send", "receive"] {
        let output = cantor_edge().args([name, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        for part in ["\nExamples:\n", "\nExit codes: 0 "] {
            assert!(help.contains(part), "{name}: {help}");
        }
    }
}
