//! The binary `cantor run`, as a process.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

fn cantor() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cantor"));
    command
        .env_remove("RUST_LOG")
        .env("CANTOR_RAN__LISTEN", "[\"tcp://127.0.0.1:0\"]")
        .env("CANTOR_GRPC__LISTEN", "127.0.0.1:0")
        .env("CANTOR_HTTP__LISTEN", "127.0.0.1:0");
    command
}

fn text(octets: &[u8]) -> &str {
    std::str::from_utf8(octets).unwrap()
}

#[test]
fn sigterm_ends_it_in_order_and_the_log_is_json() {
    let mut child = cantor()
        .args(["run", "--log-format", "json"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let started: serde_json::Value = serde_json::from_str(&log.next().unwrap().unwrap()).unwrap();
    assert_eq!(started["message"], "Cantor runs");
    assert!(
        started["ran"]
            .as_str()
            .unwrap()
            .starts_with("tcp://127.0.0.1:")
    );

    let kill = Command::new("kill").arg(child.id().to_string()).status();
    assert!(kill.unwrap().success());
    let last = log.last().unwrap().unwrap();
    assert!(last.contains("Cantor has stopped"), "{last}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn check_prints_the_effective_settings_and_starts_nothing() {
    let Output { status, stdout, .. } = cantor()
        .args(["run", "--check"])
        .env("CANTOR_CONTROL__TARGET_FACTOR", "0.8")
        .output()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    let line = text(&stdout)
        .lines()
        .find(|line| line.starts_with("control.target_factor"))
        .unwrap();
    let (value, origin) = line.split_once('#').unwrap();
    assert_eq!(value.trim(), "control.target_factor = 0.8");
    assert_eq!(
        origin.trim(),
        "environment variable CANTOR_CONTROL__TARGET_FACTOR"
    );
}

#[test]
fn wrong_settings_and_wrong_arguments_end_with_2_and_name_what_is_wrong() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "[grpc]\nlisten_on = 1\n").unwrap();
    let config = file.path().to_str().unwrap();
    for (arguments, expected) in [
        (
            &["run", "--config", config][..],
            &*format!(
                "cantor: {config}: unknown key `grpc.listen_on`; did you mean `grpc.listen`?\n"
            ),
        ),
        (
            &["run", "--log-level", "xapp=loud"][..],
            "cantor: log filter \"xapp=loud\": ",
        ),
        (
            &["run", "--chekc"][..],
            "error: unexpected argument '--chekc'",
        ),
    ] {
        let Output { status, stderr, .. } = cantor().args(arguments).output().unwrap();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
        let stderr = text(&stderr);
        assert!(stderr.starts_with(expected), "{stderr}");
        assert!(!stderr.contains('\u{1b}'), "colours outside a terminal");
    }
}

/// Only where there is no SCTP.
#[test]
fn the_demo_speaks_of_its_own_option() {
    if transport::sctp_available() {
        return;
    }
    let arguments = ["demo", "--transport", "sctp"];
    let Output { status, stderr, .. } = cantor().args(arguments).output().unwrap();
    assert_eq!(status.code(), Some(2));
    let expected = "cantor: --transport sctp: this kernel has no SCTP";
    assert!(text(&stderr).starts_with(expected), "{}", text(&stderr));
}

#[test]
fn an_address_that_cannot_be_listened_on_ends_with_1() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let Output { status, stderr, .. } = cantor()
        .arg("run")
        .env(
            "CANTOR_GRPC__LISTEN",
            taken.local_addr().unwrap().to_string(),
        )
        .output()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(
        text(&stderr).contains("(grpc.listen): "),
        "{}",
        text(&stderr)
    );
}
