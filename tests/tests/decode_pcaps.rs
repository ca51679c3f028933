//! Packet captures of FlexRIC's RIC, agents and xApps: every PDU decodes, with everything inside it that is known.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
};
use xapp::capture::{Capture, Description, Direction, Framing, describe, session::Session};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/flexric/pcap")
}

/// All PDUs of a capture, with the errors of those that fail.
fn decode(path: &Path) -> (Vec<(Option<Direction>, Description)>, Vec<String>) {
    let mut session = Session::new(None);
    let (mut good, mut errors) = (Vec::new(), Vec::new());
    let mut capture = Capture::open(File::open(path).unwrap(), Framing::E2ap).unwrap();
    for pdu in capture.by_ref() {
        let pdu = pdu.unwrap();
        match describe(&mut session, &pdu) {
            Ok(description) => {
                errors.extend(
                    description
                        .errors
                        .iter()
                        .map(|e| format!("{}: {e}", pdu.place)),
                );
                good.push((pdu.direction, description));
            }
            Err(error) => errors.push(format!("{}: {error}", pdu.place)),
        }
    }
    (good, errors)
}

/// The one malformed PDU was sent on purpose: an xApp's nonsense that aborted the RIC.
#[test]
fn every_pdu_of_every_capture_decodes() {
    let mut table = String::new();
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in std::fs::read_dir(vectors()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (pdus, errors) = decode(&path);
        let expected = usize::from(name == "v2_case_malformed.pcap");
        assert_eq!(errors.len(), expected, "{name}: {errors:?}");
        assert!(pdus.len() >= 4, "{name}: {} PDUs", pdus.len());
        for (direction, description) in &pdus {
            assert!(direction.is_some(), "{name}");
            assert_eq!(
                description.notes.skipped(),
                0,
                "{name}: {:?}",
                description.notes
            );
            // E2 setups of v2.03 and v3.01 are alike; E42 tells the versions apart.
            let version = description.version.as_str();
            let told = !description.name.starts_with("E42")
                || name.starts_with(&format!("v{}", &version[..1]));
            assert!(told, "{name}: taken for E2AP {version}");
            *all.entry(description.name).or_default() += 1;
        }
        table += &format!("{name:40} {:4} PDUs\n", pdus.len());
    }
    println!("{table}{all:#?}");
    let messages = [
        "E2setupRequest",
        "E2setupResponse",
        "E42setupRequest",
        "E42setupResponse",
        "E42RICsubscriptionRequest",
        "RICsubscriptionRequest",
        "RICsubscriptionResponse",
        "RICindication",
        "E42RICsubscriptionDeleteRequest",
        "RICsubscriptionDeleteRequest",
        "RICsubscriptionDeleteResponse",
        "E42RICcontrolRequest",
        "RICcontrolRequest",
        "RICcontrolAcknowledge",
    ];
    for message in messages {
        assert!(all.contains_key(message), "no {message} in any capture");
    }
}

/// Both dialects and both time stamps of KPM are told from what the agents announce and send.
#[test]
fn kpm_values_come_out_of_both_dialects() {
    for (name, first) in [
        ("v2_kpm_style4_mono.pcap", 13),
        ("v3_kpm3_style4_mono.pcap", 13),
        ("v2_fr2023_kpm_xapp.pcap", 971),
        ("v1_kpm_style4_mono.pcap", 971),
    ] {
        let (pdus, _) = decode(&vectors().join(name));
        let indication = pdus
            .iter()
            .find(|(_, d)| d.name == "RICindication" && d.contents["ran_function"] == 2);
        let contents = &indication
            .unwrap_or_else(|| panic!("{name}: no KPM indication"))
            .1
            .contents;
        let record = &contents["message"]["ues"][0]["report"]["records"][0];
        assert_eq!(record["DRB.PdcpSduVolumeDL"], first, "{name}: {contents:#}");
        assert_eq!(contents["header"]["sender_name"], "My OAI-MONO", "{name}");
    }
}
