//! Service model payloads inside of captured E2AP and E42 PDUs: FlexRIC's emulators and a real OAI gNB. Each is compared
//! with what its line in INDEX.md says, and encoded again.

use crate::lines::{Line, compare_fields, lines};
use crate::octets;
use e2sm::e2ap::{self, Pdu};
use e2sm::flexric::{
    GtpTunnel, INDICATION_HEADER, MacUe, Model, PdcpBearer, RlcBearer, SliceIndication,
    SliceParams, Stats,
};
use e2sm::kpm::{
    ActionDefinition, ActionFormat, Dialect, EventTrigger, IndicationHeader, IndicationMessage,
    MeasValue, RanFunctionDescription, TestType, TestValue, TimeStamp, Version,
};
use std::collections::BTreeMap;
use std::io::Write as _;

/// RAN function id of KPM, fixed by FlexRIC.
const KPM: u16 = 2;

/// Reads an indication of a plain model, compares it, and says whether it is encoded to the same octets: not so if the
/// agent left something in the padding.
macro_rules! compare_stats {
    ($line:expr, $record:ty, $fields:expr) => {{
        let line: &Line = $line;
        let message = line.indication().unwrap().message.as_slice();
        let stats = Stats::<$record>::decode(message).unwrap();
        if line.has_values() {
            let (before, _) = line.text.split_once(" record(s)").unwrap();
            let count = before.rsplit(' ').next().unwrap();
            assert_eq!(stats.records.len().to_string(), count, "{}", line.name);
            let tstamp = line.between("tstamp ", " us");
            assert_eq!(stats.tstamp_us.to_string(), tstamp, "{}", line.name);
        }
        // FlexRIC's INDEX gives the first record, OAI's all.
        let texts: Vec<&str> = match (line.set, line.text.split_once("; first: ")) {
            ("flexric", Some((_, first))) => vec![first],
            ("flexric", None) => vec![],
            _ => line.text.split("; ").skip(1).collect(),
        };
        assert!(texts.len() <= stats.records.len(), "{}", line.name);
        for (text, record) in texts.iter().zip(&stats.records) {
            let text = text.split(" (header").next().unwrap();
            assert!(
                compare_fields(line, text, record) >= $fields,
                "{}",
                line.name
            );
        }
        assert_eq!(Stats::<$record>::decode(&stats.encode()).unwrap(), stats);
        stats.encode() == message
    }};
}

fn compare_kpm(line: &Line) -> bool {
    let indication = line.indication().unwrap();
    let (header, message) = (indication.header.as_slice(), indication.message.as_slice());
    let announced = match line.name.starts_with("v3_") {
        true => Version::V3,
        false => Version::V2,
    };
    let (h, notes) = IndicationHeader::decode(header, announced).unwrap();
    assert_eq!(notes.skipped(), 0, "{}", line.name);
    assert_eq!(h.collect_start_time.version(), announced, "{}", line.name);
    assert_eq!(h.encode().unwrap(), header, "{}", line.name);

    let dialect = line.dialect();
    let (m, notes) = IndicationMessage::decode(message, dialect).unwrap();
    assert_eq!(notes.skipped(), 0, "{}", line.name);
    assert_eq!(Dialect::of_message(message), Some(dialect), "{}", line.name);
    let IndicationMessage::Format3(ues) = &m else {
        panic!("{} is of format 3", line.name)
    };

    if line.set == "flexric" {
        let time = match h.collect_start_time {
            TimeStamp::Short(octets) => hex::encode(octets),
            TimeStamp::Long(octets) => hex::encode(octets),
        };
        assert_eq!(time, line.between("colletStartTime ", " "), "{}", line.name);
        assert_eq!(
            h.sender_name.as_deref(),
            Some(line.between("senderName ", ";")),
            "{}",
            line.name
        );
        assert_eq!(ues.len().to_string(), line.between("Format3, ", " UE"));
        let id = match line.text.contains("first: gNB-DU-UEID") {
            true => ues[0].ue.f1ap_id().unwrap().to_string(),
            false => ues[0].ue.amf_ue_ngap_id().unwrap().to_string(),
        };
        assert_eq!(id, line.between("-ID ", " "), "{}", line.name);
        let names: Vec<String> = ues[0]
            .report
            .measurements(&[])
            .map(|m| format!("'{}'", m.measure.name().unwrap()))
            .collect();
        assert_eq!(
            names.join(", "),
            line.between("names [", "]"),
            "{}",
            line.name
        );
        let expected = line.between("values [", "]").split(", ");
        compare_values(
            line,
            expected,
            ues[0].report.measurements(&[]).map(|m| m.value),
        );
    } else if line.has_values() {
        assert_eq!(h.sender_name.as_deref(), Some("ngran_gNB"));
        assert_eq!(hex::encode(header), line.between("(header ", ")"));
        let text = line.text.split(" (header").next().unwrap();
        let texts: Vec<&str> = text.split("; ").collect();
        assert_eq!(texts.len(), ues.len(), "{}", line.name);
        for (text, ue) in texts.iter().zip(ues) {
            let (id, values) = text.split_once(": ").unwrap();
            let ran = ue.ue.ran_ue_id().unwrap();
            let found = format!(
                "gNB-UEID amf {} ran-UEID {}",
                ue.ue.amf_ue_ngap_id().unwrap(),
                hex::encode(ran.0)
            );
            assert_eq!(found, id, "{}", line.name);
            assert_eq!(ran.to_u64_flexric(), ue.ue.amf_ue_ngap_id().unwrap());
            let pairs: Vec<(&str, &str)> = values
                .split(", ")
                .map(|p| p.split_once('=').unwrap())
                .collect();
            let found: Vec<_> = ue.report.measurements(&[]).collect();
            assert_eq!(found.len(), pairs.len());
            for (m, (name, _)) in found.iter().zip(&pairs) {
                assert_eq!(m.measure.name(), Some(*name), "{}", line.name);
            }
            let expected = pairs.iter().map(|(_, value)| *value);
            compare_values(line, expected, found.iter().map(|m| m.value));
        }
    }
    let encoded = m.encode(dialect).unwrap();
    assert_eq!(IndicationMessage::decode(&encoded, dialect).unwrap().0, m);
    encoded == message
}

/// Whole numbers are INTEGER, others REAL rounded to at most four decimals.
fn compare_values<'a>(
    line: &Line,
    expected: impl IntoIterator<Item = &'a str>,
    found: impl IntoIterator<Item = MeasValue>,
) {
    let mut found = found.into_iter();
    for text in expected {
        match found.next() {
            Some(MeasValue::Integer(value)) => assert_eq!(value.to_string(), text, "{}", line.name),
            Some(MeasValue::Real(value)) => {
                let expected: f64 = text.parse().unwrap();
                assert!(
                    (value - expected).abs() < 1e-3,
                    "{}: {value} {text}",
                    line.name
                );
            }
            other => panic!("{}: {other:?} should be {text}", line.name),
        }
    }
    assert_eq!(found.next(), None, "{}", line.name);
}

#[test]
fn indications_have_the_values_of_the_index() {
    let mut table: BTreeMap<(&str, &str, bool), usize> = BTreeMap::new();
    for line in lines() {
        let Some(indication) = line.indication() else {
            continue;
        };
        let (function, header) = (indication.ran_function, indication.header.as_slice());
        assert!(
            function == KPM || header == INDICATION_HEADER,
            "{}",
            line.name
        );
        let (model, same) = match Model::from_ran_function_id(function) {
            None => ("KPM", compare_kpm(&line)),
            Some(Model::Mac) => ("MAC", compare_stats!(&line, MacUe, 14)),
            Some(Model::Rlc) => ("RLC", compare_stats!(&line, RlcBearer, 10)),
            Some(Model::Pdcp) => ("PDCP", compare_stats!(&line, PdcpBearer, 7)),
            Some(Model::Gtp) => ("GTP", compare_stats!(&line, GtpTunnel, 4)),
            Some(Model::Slice) => ("SLICE", compare_slice(&line)),
            Some(Model::Tc) => continue,
        };
        *table.entry((line.set, model, same)).or_default() += 1;
    }
    let _ = writeln!(
        std::io::stderr(),
        "indications of captures: values as in INDEX, and encoded again"
    );
    for ((folder, model, same), count) in &table {
        let octets = match same {
            true => "same octets",
            false => "other octets: REAL mantissas with leading zero octets",
        };
        let _ = writeln!(
            std::io::stderr(),
            "{count:5}  {folder:8} {model:6} {octets}"
        );
    }
    let expected = [
        (("flexric", "GTP", true), 3),
        (("flexric", "KPM", false), 8),
        (("flexric", "KPM", true), 1),
        (("flexric", "MAC", true), 5),
        (("flexric", "PDCP", true), 3),
        (("flexric", "RLC", true), 3),
        (("flexric", "SLICE", true), 1),
        (("oai", "GTP", true), 5),
        (("oai", "KPM", true), 9),
        (("oai", "MAC", true), 8),
        (("oai", "PDCP", true), 6),
        (("oai", "RLC", true), 9),
    ];
    assert_eq!(table, expected.into_iter().collect());
}

fn compare_slice(line: &Line) -> bool {
    let message = &line.indication().unwrap().message;
    let slices = SliceIndication::decode(message).unwrap();
    assert_eq!(slices.dl.scheduler, "MY SLICE");
    assert_eq!(slices.dl.slices.len(), 2);
    assert!(matches!(slices.dl.slices[0].params, SliceParams::Edf(_)));
    assert!(matches!(slices.dl.slices[1].params, SliceParams::Static(_)));
    assert!(matches!(slices.ul.slices[0].params, SliceParams::Nvs(_)));
    slices.encode() == *message
}

#[test]
fn subscriptions_ask_for_what_the_index_says() {
    let (mut plain, mut kpm) = (0, 0);
    for line in lines() {
        let Some((function, details)) = line.subscription() else {
            continue;
        };
        if function != KPM {
            let trigger = e2sm::flexric::EventTrigger::decode(&details.event_trigger).unwrap();
            if line.set == "flexric" {
                let period = line.between("; period ", " ms");
                assert_eq!(trigger.period_ms.to_string(), period, "{}", line.name);
            }
            assert!(details.actions.iter().all(|a| a.definition.is_none()));
            plain += 1;
            continue;
        }
        let (trigger, _) = EventTrigger::decode(&details.event_trigger).unwrap();
        let [action] = details.actions.as_slice() else {
            panic!("{} has one action", line.name)
        };
        let octets = action.definition.as_deref().unwrap();
        let (action, notes) = ActionDefinition::decode(octets, line.dialect()).unwrap();
        assert_eq!(notes.skipped(), 0, "{}", line.name);
        assert_eq!(
            action.encode(line.dialect()).unwrap(),
            octets,
            "{}",
            line.name
        );
        let asked = match &action.format {
            ActionFormat::Format1(asked) => asked,
            ActionFormat::Format4 { conditions, action } => {
                let [condition] = conditions.as_slice() else {
                    panic!("{} has one condition", line.name)
                };
                assert_eq!(condition.test.test, TestType::SNssai);
                let value = match &condition.test.value {
                    Some(TestValue::Int(value)) => format!("('valueInt', {value})"),
                    Some(TestValue::Octets(o)) => format!("('valueOctS', '{}')", hex::encode(o)),
                    other => panic!("{}: {other:?}", line.name),
                };
                assert!(
                    line.set == "oai" || line.text.contains(&value),
                    "{}",
                    line.name
                );
                action
            }
            other => panic!("{}: {other:?}", line.name),
        };
        assert_eq!(asked.granularity_ms, trigger.period_ms, "{}", line.name);
        if line.set == "flexric" {
            let names: Vec<String> = asked
                .info
                .iter()
                .map(|info| format!("'{}'", info.measure.name().unwrap()))
                .collect();
            assert_eq!(names.join(", "), line.between("names [", "]"));
            let style = line.between("style ", " ");
            assert_eq!(action.style.to_string(), style, "{}", line.name);
            let period = line.between("KPM period ", " ms");
            assert_eq!(trigger.period_ms.to_string(), period, "{}", line.name);
        } else {
            assert_eq!((action.style, asked.info.len()), (4, 7), "{}", line.name);
        }
        kpm += 1;
    }
    assert_eq!((plain, kpm), (24, 13));
}

#[test]
fn setup_requests_describe_the_service_models() {
    let mut kpm = 0;
    for line in lines() {
        for function in line.functions() {
            let (id, definition) = (&function.id, &function.definition);
            if let Some(model) = Model::from_ran_function_id(*id) {
                assert_eq!(definition, model.definition().as_bytes(), "{}", line.name);
                assert_eq!(Model::from_oid(model.oid()), Some(model));
            }
            // FlexRIC's xApps list functions with definitions of their own in their E42 setup.
            if *id == KPM && line.name.contains("_e2_setup") {
                let (description, notes) = RanFunctionDescription::decode(definition).unwrap();
                assert_eq!(notes.skipped(), 0, "{}", line.name);
                assert_eq!(description.encode().unwrap(), *definition, "{}", line.name);
                let name = &description.name;
                assert_eq!(Dialect::from_short_name(&name.short_name), line.dialect());
                let version = match line.name.starts_with("v3_") {
                    true => Version::V3,
                    false => Version::V2,
                };
                assert_eq!(
                    Version::from_oid(&name.e2sm_oid),
                    Some(version),
                    "{}",
                    line.name
                );
                let style = description.report_style(4).unwrap();
                assert_eq!((style.action_format, style.message_format), (4, 3));
                assert!(!style.measurements.is_empty(), "{}", line.name);
                kpm += 1;
            }
        }
    }
    assert_eq!(kpm, 6);
}

#[test]
fn whole_pdus_of_pycrate_carry_kpm() {
    for version in e2ap::Version::ALL {
        let set = format!("e2ap{}", version.as_str().replace('.', ""));
        let pdu = octets("pycrate", &format!("{set}-ind-kpm-f3"));
        let Pdu::RicIndication(indication) = e2ap::decode(&pdu, version).unwrap().value else {
            panic!("{set} is an indication")
        };
        let alone = octets("pycrate", "kpm300-msg-f3-20ue-8meas");
        assert_eq!(indication.message, alone, "{set}");
        IndicationHeader::decode(&indication.header, Version::V3).unwrap();

        let pdu = octets("pycrate", &format!("{set}-subreq-kpm"));
        let Pdu::RicSubscriptionRequest(request) = e2ap::decode(&pdu, version).unwrap().value
        else {
            panic!("{set} is a subscription")
        };
        let (trigger, _) = EventTrigger::decode(&request.details.event_trigger).unwrap();
        assert_eq!(trigger.period_ms, 1000, "{set}");
        let octets = request.details.actions[0].definition.as_deref().unwrap();
        let (action, notes) = ActionDefinition::decode(octets, Dialect::Standard).unwrap();
        assert_eq!(notes.skipped(), 0, "{set}");
        assert_eq!(action.encode(Dialect::Standard).unwrap(), octets, "{set}");
    }
}
