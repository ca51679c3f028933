//! Vectors that hold one KPM value: those of pycrate, and the synthetic ones of the FlexRIC set.

use crate::{index, json, names, octets};
use e2sm::aper::{DecodeError, EncodeError, Notes};
use e2sm::kpm::{
    ActionDefinition, Dialect, EventTrigger, IndicationHeader, IndicationMessage,
    RanFunctionDescription, Version,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;

/// Decoded value in the INDEX's notation, what was skipped, and the octets that encoding gives.
type Decoded = (Value, Notes, Result<Vec<u8>, EncodeError>);

/// Type of a vector by its name.
fn decode(name: &str, octets: &[u8]) -> Result<Decoded, DecodeError> {
    let dialect = match name.contains("kpm300mod") {
        true => Dialect::FlexRic2023,
        false => Dialect::Standard,
    };
    Ok(if name.contains("-hdr") || name.contains("kpm_hdr") {
        // The announced version is taken for a hint: either one must do.
        let (value, notes) = IndicationHeader::decode(octets, Version::V2)?;
        let other = IndicationHeader::decode(octets, Version::V3)?;
        assert_eq!(other.0, value, "{name}");
        (json::header(&value), notes, value.encode())
    } else if name.contains("evtrig") {
        let (value, notes) = EventTrigger::decode(octets)?;
        (json::trigger(&value), notes, value.encode())
    } else if name.contains("actdef") || name.contains("kpm_ad") {
        let (value, notes) = ActionDefinition::decode(octets, dialect)?;
        (json::action(&value), notes, value.encode(dialect))
    } else if name.contains("ranfuncdef") || name.contains("rfdesc") {
        let (value, notes) = RanFunctionDescription::decode(octets)?;
        (json::description(&value), notes, value.encode())
    } else {
        let (value, notes) = IndicationMessage::decode(octets, dialect)?;
        (json::message(&value), notes, value.encode(dialect))
    })
}

#[test]
fn pycrate_kpm_vectors_have_their_values_and_octets() {
    let mut table: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen = Vec::new();
    for entry in index::pycrate() {
        let name = entry.name.as_str();
        if !name.starts_with("kpm") {
            continue;
        }
        seen.push(name.to_owned());
        let octets = octets("pycrate", name);
        if name.ends_with("-hdr-empty-strings") {
            // Whether an empty string is preceded by alignment is disputed between tools: either answer will do.
            let _ = decode(name, &octets);
            *table
                .entry("empty strings, disputed: not compared")
                .or_default() += 1;
            continue;
        }
        let (value, notes, encoded) =
            decode(name, &octets).unwrap_or_else(|e| panic!("{name}: {e}"));
        match &entry.value {
            // These two are listed without the outer CHOICE, and their values are no JSON numbers.
            Some(expected) if name.contains("real-inf") || name.contains("real-nan") => {
                index::compare(
                    &expected["indicationMessage-Format1"]["measData"][0]["measRecord"],
                    &reals(&value),
                    name,
                );
            }
            Some(expected) => {
                let skipped = index::compare(expected, &value, name);
                assert_eq!(notes.skipped(), skipped, "{name}: {notes:?}");
            }
            None => panic!("{name} has no value in the INDEX"),
        }
        let row = match name {
            "kpm300-msg-f1-real-base10" => {
                assert_eq!(
                    encoded.unwrap().len(),
                    21,
                    "decimal REAL becomes a binary one"
                );
                "decimal REAL, written as binary"
            }
            // What is unknown is stepped over, so it is not there to be written.
            "kpmfut-f1-unknown-recorditem" => {
                encoded.unwrap_err();
                "unknown value, cannot be written"
            }
            "kpmfut-f1-unknown-dataitem"
            | "kpmfut-f3-unknown-report"
            | "kpmfut-f1-unknown-label" => {
                assert!(encoded.unwrap().len() < octets.len(), "{name}");
                "unknown additions, left out"
            }
            _ => {
                assert_eq!(encoded.unwrap(), octets, "{name}");
                "same octets"
            }
        };
        *table.entry(row).or_default() += 1;
    }
    let mut there = names("pycrate");
    there.retain(|name| name.starts_with("kpm"));
    seen.sort();
    assert_eq!(seen, there, "the INDEX lists every file");

    let _ = writeln!(
        std::io::stderr(),
        "pycrate E2SM-KPM vectors: value as in INDEX, and encoded again"
    );
    for (row, count) in &table {
        let _ = writeln!(std::io::stderr(), "{count:5}  {row}");
    }
    let expected = [
        ("decimal REAL, written as binary", 1),
        ("empty strings, disputed: not compared", 2),
        ("same octets", 86),
        ("unknown additions, left out", 3),
        ("unknown value, cannot be written", 1),
    ];
    assert_eq!(table, expected.into_iter().collect());
}

/// The REAL values of a decoded format 1 message, without their CHOICE.
fn reals(message: &Value) -> Value {
    let report = &message["indicationMessage-formats"]["indicationMessage-Format1"];
    let record = report["measData"][0]["measRecord"].as_array().unwrap();
    record.iter().map(|item| item["real"].clone()).collect()
}

#[test]
fn malformed_vectors_give_the_documented_errors() {
    let error = |name: &str| {
        decode(name, &octets("pycrate", name))
            .map(|_| ())
            .unwrap_err()
    };

    let truncated = error("neg-kpm300-evtrig-truncated");
    assert_eq!(
        truncated.to_string(),
        "octet 1, E2SM-KPM-EventTriggerDefinition / reportingPeriod: ends too early: 16 bits wanted, 8 left"
    );
    let huge = error("neg-kpm300-hugelist");
    assert_eq!(huge.octet(), 3);
    assert_eq!(
        huge.path(),
        "E2SM-KPM-IndicationMessage / indicationMessage-Format1 / measData"
    );
    let fragment = error("neg-kpm300-hugefrag");
    assert_eq!(fragment.octet(), 5);
    assert_eq!(
        fragment.path(),
        "E2SM-KPM-IndicationMessage / indicationMessage-Format1 / measData[0] / measRecord"
    );

    // Octets behind the end: accepted and reported.
    let (_, notes, _) = decode(
        "neg-kpm300-evtrig-trailing",
        &octets("pycrate", "neg-kpm300-evtrig-trailing"),
    )
    .unwrap();
    assert_eq!((notes.trailing_octets, notes.skipped()), (2, 2));
}

#[test]
fn the_dialect_shows_in_the_message() {
    for name in names("pycrate") {
        if !name.starts_with("kpm300") || !(name.contains("-msg-") || name.contains("-ueid-")) {
            continue;
        }
        let expected = match name.starts_with("kpm300mod") {
            true => Dialect::FlexRic2023,
            false => Dialect::Standard,
        };
        let found = Dialect::of_message(&octets("pycrate", &name));
        // Without measInfoList and granulPeriod, format 1 is the same in both.
        assert!(
            found.is_none_or(|found| found == expected),
            "{name}: {found:?}"
        );
        if name.contains("f3") || name.contains("ueid") || name.contains("50rec") {
            assert_eq!(found, Some(expected), "{name}");
        }
    }
}

#[test]
fn synthetic_flexric_payloads_have_their_values_and_octets() {
    let expected: BTreeMap<&str, &str> = [
        (
            "syn_kpm_ind_msg_oai_like",
            r#"{"indicationMessage-formats": {"indicationMessage-Format3": {"ueMeasReportList": [{"ueID": {"gNB-UEID": {"...cut": 0,
                "ran-UEID": "h:0100000000000000"}}, "measReport": {"...cut": 0, "measData": [{"measRecord": [
                {"integer": 4294967295}, {"real": "REAL 3*2^-1 = 1.5"}, {"noValue": 0}, {"integer": 0}]}]}}]}}}"#,
        ),
        (
            "syn_kpm_ind_msg_incomplete",
            r#"{"indicationMessage-formats": {"indicationMessage-Format1": {"measData": [
                {"measRecord": [{"integer": 7}], "incompleteFlag": "true"}, {"measRecord": [{"real": "REAL -5*2^-2 = -1.25"}]}],
                "measInfoList": [{"measType": {"...cut": 0}, "labelInfoList": [{"measLabel": {
                "sliceID": {"sST": "h:01", "sD": "h:000007"}, "fiveQI": 9, "distBinX": 3, "sUM": "true"}}]}], "granulPeriod": 1000}}}"#,
        ),
        (
            "syn_kpm_ad_fmt1",
            r#"{"ric-Style-Type": 1, "actionDefinition-formats": {"actionDefinition-Format1": {"...cut": 0,
                "cellGlobalID": {"nR-CGI": {"...cut": 0, "nRCellIdentity": "b:000100100011010001010110011110001001/36"}}}}}"#,
        ),
        (
            "syn_kpm_ad_fmt3",
            r#"{"ric-Style-Type": 3, "actionDefinition-formats": {"actionDefinition-Format3": {"...cut": 0, "measCondList": [{"...cut": 0,
                "matchingCond": [{"matchingCondChoice": {"testCondInfo": {"testType": {"rSRP": "true"}, "testExpr": "greaterthan",
                "testValue": {"valueInt": -100}}}}]}]}}}"#,
        ),
        (
            "syn_kpm_ad_fmt4",
            r#"{"ric-Style-Type": 4, "actionDefinition-formats": {"actionDefinition-Format4": {"...cut": 0, "matchingUeCondList": [
                {"testCondInfo": {"...cut": 0}, "logicalOR": "true"}, {"testCondInfo": {"...cut": 0, "testValue": {"valueReal": "REAL 21*2^-1 = 10.5"}}}]}}}"#,
        ),
        (
            "syn_kpm_ad_fmt5",
            r#"{"ric-Style-Type": 5, "actionDefinition-formats": {"actionDefinition-Format5": {"...cut": 0, "matchingUEidList": ["... 2 items in all ..."]}}}"#,
        ),
        (
            "syn_kpm_rfdesc",
            r#"{"...cut": 0, "ric-ReportStyle-List": [{"...cut": 0, "ric-ReportStyle-Type": 4, "measInfo-Action-List": ["... 4 items in all ..."]}]}"#,
        ),
        (
            "syn_kpm_hdr_v3",
            r#"{"indicationHeader-formats": {"indicationHeader-Format1": {"...cut": 0}}}"#,
        ),
    ]
    .into();
    let mut there = names("flexric");
    there.retain(|name| name.starts_with("syn_kpm"));
    assert_eq!(there.len(), expected.len());
    for name in there {
        let octets = octets("flexric", &name);
        let (value, notes, encoded) = decode(&name, &octets).unwrap();
        let expected = serde_json::from_str(expected[name.as_str()]).unwrap();
        index::compare(&expected, &value, &name);
        assert_eq!(notes.skipped(), 0, "{name}");
        assert_eq!(encoded.unwrap(), octets, "{name}");
    }
}
