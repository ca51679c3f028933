//! `cantor decode` and `cantor replay` as commands: what they print, and how they end.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn cantor(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cantor"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
        + &String::from_utf8(output.stderr.clone()).unwrap()
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests")
        .join(name)
}

fn run(arguments: &[&str], name: &str) -> (Option<i32>, String) {
    let path = file(name);
    let arguments: Vec<_> = arguments
        .iter()
        .copied()
        .chain([path.to_str().unwrap()])
        .collect();
    let output = cantor(&arguments, &[]);
    (output.status.code(), text(&output))
}

/// RICsubscriptionDeleteResponse of FlexRIC.
const PDU: &str = "20090012000002001d00050003fd00000005000200 02";

#[test]
fn results_that_cannot_be_written_are_an_error_and_no_panic() {
    let end = |stdout: Stdio| {
        let command = Command::new(env!("CARGO_BIN_EXE_cantor"))
            .args(["run", "--check"])
            .stdout(stdout)
            .output();
        let output = command.unwrap();
        (output.status.code(), text(&output))
    };
    let full = std::fs::File::create("/dev/full").unwrap();
    let (code, text) = end(full.into());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("cantor: "), "{text}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(end(writer.into()), (Some(0), String::new()));
}

#[test]
fn inputs_need_not_be_regular_files() {
    use std::os::fd::AsRawFd as _;
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(PDU.as_bytes()).unwrap();
    drop(writer);
    // As a shell gives <(COMMAND).
    let pipe = format!("/proc/{}/fd/{}", std::process::id(), reader.as_raw_fd());
    let output = cantor(&["decode", &pipe], &[]);
    assert!(text(&output).contains("RICsubscriptionDeleteResponse"));
    let folder = cantor(&["replay", "/"], &[]);
    assert_eq!(folder.status.code(), Some(2));
    assert!(text(&folder).contains("is a folder"), "{}", text(&folder));
}

#[test]
fn decodes_hex_given_as_argument_or_input() {
    for output in [
        cantor(&["decode", PDU], &[]),
        cantor(&["decode", "-"], PDU.as_bytes()),
        cantor(
            &["decode", "-"],
            &hex::decode(PDU.replace(' ', "")).unwrap(),
        ),
    ] {
        assert!(output.status.success(), "{}", text(&output));
        let text = text(&output);
        assert!(text.contains("RICsubscriptionDeleteResponse"), "{text}");
        assert!(text.contains("requestor 1021"), "{text}");
    }
}

#[test]
fn says_where_a_pdu_is_wrong_and_goes_on() {
    let input = format!("2009001200000200\n{PDU}");
    // The first claims more octets than there are before the second begins, so both lines are taken as one.
    let output = cantor(&["decode", "-"], input.as_bytes());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let input = format!("20ff0003000000\n{PDU}");
    let output = cantor(&["decode", "-"], input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let text = text(&output);
    assert!(text.contains("procedure code 255"), "{text}");
    assert!(text.contains("RICsubscriptionDeleteResponse"), "{text}");
    assert!(text.contains("1 of 2 PDUs"), "{text}");
}

#[test]
fn decodes_bare_service_model_octets() {
    let empty_mac = format!(
        "00000000{}",
        hex::encode(1_796_056_921_603_437i64.to_le_bytes())
    );
    let output = cantor(&["decode", "--json", "--as", "mac", &empty_mac], &[]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["contents"]["tstamp_us"], 1_796_056_921_603_437i64);
    let output = cantor(&["decode", "--as", "mac", "0000"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("needs 12 octets"),
        "{}",
        text(&output)
    );
}

#[test]
fn wrong_usage_is_told_apart_from_failure() {
    let output = cantor(&["decode", "no-such-file"], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let (code, text) = run(
        &["replay", "--gain=-1"],
        "recordings/oai_E_uelost_slow.e2.jsonl.gz",
    );
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("control.gain"), "{text}");
}

#[test]
fn decodes_several_files() {
    let (one, other) = (
        file("vectors/oai/oai_e2_ind_mac_heavy.hex"),
        file("vectors/oai/oai_e2_ind_rlc_heavy.hex"),
    );
    let output = cantor(
        &["decode", one.to_str().unwrap(), other.to_str().unwrap()],
        &[],
    );
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("dl_aggr_tbs: 33144790") && text.contains("txbuf_occ_bytes: 9640416"),
        "{text}"
    );
}

#[test]
fn json_lines_are_json() {
    let (code, text) = run(&["decode", "--json"], "vectors/flexric/pcap/v2_cudu.pcap");
    assert_eq!(code, Some(0), "{text}");
    let pdus: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(pdus[0]["message"], "E2setupRequest");
    assert_eq!(pdus[0]["direction"], "node>ric");
    assert!(pdus.len() > 10);
}

#[test]
fn replay_names_the_lost_ue_and_what_would_have_been_guided() {
    let (code, text) = run(&["replay"], "recordings/oai_E_uelost_slow.e2.jsonl.gz");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("rnti:c0bf is LOST"), "{text}");
    assert!(text.contains("rnti:c0bf runs on rapid"), "{text}");
    assert!(text.contains("quarantined: nothing"), "{text}");
    let (_, text) = run(
        &["replay", "--json", "--policy", "rapid_peak", "--reports"],
        "recordings/oai_E_uelost_slow.e2.jsonl.gz",
    );
    let events: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of_kind = |kind: &str| {
        events
            .iter()
            .filter(|event| event["event"] == kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(of_kind("decision")[3]["policy"], "rapid-peak");
    assert!(of_kind("decision")[3]["rate_bps"].is_f64());
    assert_eq!(of_kind("ue_lost")[0]["ue"], "rnti:c0bf");
    assert!(of_kind("report")[5]["length"].is_f64());
    assert_eq!(of_kind("summary")[0]["counters"]["lost"], 1);
}

#[test]
fn replay_of_an_emulator_says_that_its_values_cannot_be() {
    let (code, text) = run(
        &["replay"],
        "vectors/flexric/pcap/v2_mac_rlc_pdcp_gtp_slice_tc.pcap",
    );
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("14 of 18 records refused"), "{text}");
    assert!(text.contains("MCS index above 31"), "{text}");
    assert!(text.contains("not a real RAN"), "{text}");
    assert!(text.contains("nothing would have been guided"), "{text}");
}

/// What the sender does not follow ends at a bound; the summary of both ways is the same recording.
#[test]
fn replay_can_go_on_from_its_own_guidance() {
    let (code, text) = run(
        &["replay", "--start", "guided", "--summary"],
        "recordings/oai_E_uelost_slow.e2.jsonl.gz",
    );
    assert_eq!(code, Some(0), "{text}");
    let (_, arrivals) = run(
        &["replay", "--summary"],
        "recordings/oai_E_uelost_slow.e2.jsonl.gz",
    );
    assert!(
        text.contains("UE reports: 59") && arrivals.contains("UE reports: 59"),
        "{text}{arrivals}"
    );
    assert_ne!(text, arrivals);
}
