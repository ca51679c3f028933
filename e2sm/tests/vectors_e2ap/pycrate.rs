//! Vectors of pycrate, an independent encoder: the values in its INDEX, leaf by leaf in the order of the encoding.

use e2sm::aper::{Criticality, DecodeErrorKind, UnknownIe};
use e2sm::common::Plmn;
use e2sm::e2ap::{
    Cause, Pdu, ProtocolCause, RicIndicationType, Version, decode, diagnose_error, diagnose_notes,
    encode,
};
use serde_json::Value;
use std::io::Write as _;

use crate::index::Vector;
use crate::{Tally, decode_all, index};

#[test]
fn vectors_of_pycrate_have_the_stated_values() {
    let mut tally = Tally::default();
    let mut leaves = 0;
    for vector in index::sections("pycrate") {
        tally.vectors += 1;
        let length: Option<usize> = vector.cells[1]
            .split(" / ")
            .nth(2)
            .and_then(|cell| cell.split(' ').next()?.parse().ok());
        assert_eq!(Some(vector.octets.len()), length, "{}", vector.name);
        if exception(&vector) {
            tally.exceptions += 1;
            continue;
        }
        let pdu = decode_all(&vector);
        assert!(
            vector.cells[3].contains(&format!("\"{}\"", pdu.name())),
            "{} is a {}",
            vector.name,
            pdu.name()
        );
        leaves += compare(&vector, &pdu);
        tally.decoded += 1;
        tally.reencode(&vector, &pdu);
    }
    tally.print("pycrate");
    let _ = writeln!(std::io::stderr(), "{leaves} values compared with pycrate's");
    assert!(leaves >= 630, "{leaves}");
    assert_eq!(
        tally,
        Tally {
            vectors: 92,
            decoded: 78,
            identical: 78,
            item_criticality: 0,
            exceptions: 14
        }
    );
}

/// Checks the vectors that are made to be odd; `false` for all others.
fn exception(vector: &Vector) -> bool {
    let decoded = decode(&vector.octets, vector.version);
    let name = vector.name.as_str();
    let error_kind = || decoded.as_ref().unwrap_err().kind();
    match name {
        "neg-e2ap203-ind-truncated" | "neg-e2ap203-hugelen" => {
            assert!(
                matches!(error_kind(), DecodeErrorKind::Truncated { .. }),
                "{name}"
            );
        }
        "e2ap203-ind-missing" => {
            assert_eq!(*error_kind(), DecodeErrorKind::MissingIes(vec![29]));
            let error = decoded.as_ref().unwrap_err();
            assert_eq!(error.path(), "RICindication");
            let (cause, diagnostics) = diagnose_error(&vector.octets, error);
            assert_eq!(
                cause,
                Cause::Protocol(ProtocolCause::AbstractSyntaxErrorReject)
            );
            assert_eq!(
                (diagnostics.procedure_code, diagnostics.ies[0].id),
                (Some(5), 29)
            );
        }
        "neg-e2ap203-ind-trailing" => assert_eq!(decoded.unwrap().notes.trailing_octets, 1),
        "e2ap203-ind-wrongorder" => {
            let in_order = encode(&decode_all(vector), vector.version).unwrap();
            assert_eq!(in_order.len(), vector.octets.len());
            assert_eq!(
                indication(vector),
                (123, 7, "68".to_owned(), "6d".to_owned(), Some(1))
            );
        }
        "e2ap203-ind-dup" => {
            assert_eq!(decoded.unwrap().notes.duplicate_ies, 1);
            assert_eq!(
                indication(vector),
                (123, 7, "68".to_owned(), "6d".to_owned(), Some(1)),
                "the first one counts"
            );
        }
        "e2ap203-ind-unkIE-ignore" => unknown_ie(vector, 999, Criticality::Ignore, None),
        "e2ap203-ind-unkIE-reject" => {
            unknown_ie(
                vector,
                65535,
                Criticality::Reject,
                Some(ProtocolCause::AbstractSyntaxErrorReject),
            );
        }
        "e2ap203-ind-unkIE-notify-20000" => {
            unknown_ie(
                vector,
                1000,
                Criticality::Notify,
                Some(ProtocolCause::AbstractSyntaxErrorIgnoreAndNotify),
            );
        }
        "e2apfut-ind-reqid-ext" | "e2apfut-ind-top-ext" => {
            assert_eq!(decoded.unwrap().notes.extension_additions, 1, "{name}");
            assert_eq!(
                indication(vector),
                (123, 7, "68".to_owned(), "6d".to_owned(), Some(1)),
                "{name}"
            );
        }
        "e2apfut-subreq-item-ext" => {
            let decoded = decoded.unwrap();
            assert_eq!(decoded.notes.extension_additions, 1);
            let Pdu::RicSubscriptionRequest(request) = decoded.value else {
                panic!("{name}")
            };
            assert_eq!(
                request
                    .details
                    .actions
                    .iter()
                    .map(|action| action.id)
                    .collect::<Vec<_>>(),
                [1, 2]
            );
        }
        "e2apfut-ind-type-ext" => {
            let decoded = decoded.unwrap();
            assert_eq!(decoded.notes.enumerated_values, 1);
            assert_eq!(
                encode(&decoded.value, vector.version).unwrap(),
                vector.octets
            );
            let Pdu::RicIndication(indication) = decoded.value else {
                panic!("{name}")
            };
            assert_eq!(indication.kind, RicIndicationType::Unknown(0));
        }
        "e2apfut-subfail-cause-ext" => {
            let decoded = decoded.unwrap();
            assert_eq!(decoded.notes.choice_alternatives, 1);
            assert_eq!(
                encode(&decoded.value, vector.version).unwrap(),
                vector.octets
            );
            let Pdu::RicSubscriptionFailure(failure) = decoded.value else {
                panic!("{name}")
            };
            assert!(matches!(failure.cause, Cause::Unknown(_)));
        }
        _ => return false,
    }
    true
}

fn unknown_ie(vector: &Vector, id: u16, criticality: Criticality, cause: Option<ProtocolCause>) {
    let decoded = decode(&vector.octets, vector.version).unwrap();
    assert_eq!(
        decoded.notes.unknown_ies,
        [UnknownIe { id, criticality }],
        "{}",
        vector.name
    );
    assert_eq!(
        indication(vector),
        (123, 7, "01".to_owned(), "02".to_owned(), Some(5)),
        "{}",
        vector.name
    );
    let answer = diagnose_notes(&decoded.value, vector.version, &decoded.notes);
    assert_eq!(
        answer.as_ref().map(|(cause, _)| cause.clone()),
        cause.map(Cause::Protocol),
        "{}",
        vector.name
    );
    if let Some((_, diagnostics)) = answer {
        assert_eq!(
            (diagnostics.procedure_code, diagnostics.ies[0].id),
            (Some(5), id),
            "{}",
            vector.name
        );
        assert_eq!(
            diagnostics.request.map(|request| request.requestor),
            Some(123),
            "{}",
            vector.name
        );
    }
}

fn indication(vector: &Vector) -> (u16, u16, String, String, Option<u16>) {
    let Pdu::RicIndication(m) = decode(&vector.octets, vector.version).unwrap().value else {
        panic!("{}", vector.name)
    };
    assert_eq!(
        (m.ran_function, m.action, m.kind),
        (2, 1, RicIndicationType::Report),
        "{}",
        vector.name
    );
    (
        m.request.requestor,
        m.request.instance,
        hex::encode(m.header),
        hex::encode(m.message),
        m.sequence_number,
    )
}

/// Compares all leaves of the stated value that the INDEX did not cut; gives their number.
fn compare(vector: &Vector, pdu: &Pdu) -> usize {
    let stated = stated_leaves(&vector.cells[3]);
    let mut ours = Vec::new();
    our_leaves(
        &serde_json::to_value(pdu).unwrap(),
        vector.version,
        &mut ours,
    );
    if !vector.cells[3].contains("...(cut)") && !vector.cells[3].contains("items in all") {
        assert_eq!(
            stated.len(),
            ours.len(),
            "{}:\n{stated:?}\n{ours:?}",
            vector.name
        );
    }
    for (stated, ours) in stated.iter().zip(&ours) {
        assert!(
            same(stated, ours),
            "{}: {ours} is not {stated}",
            vector.name
        );
    }
    stated.len()
}

/// Values in pycrate's text, in order, without those of the frame (IE ids, criticalities, procedure code); up to the
/// place where the INDEX cut it.
fn stated_leaves(text: &str) -> Vec<String> {
    let text = text.trim();
    let mut leaves = Vec::new();
    let mut key = String::new();
    let mut frame = true;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c == '"' || c.is_ascii_digit()) {
        let (token, behind) = match rest[start..].strip_prefix('"') {
            Some(inside) => match inside.split_once('"') {
                Some((token, behind)) => (token, behind),
                None => break,
            },
            None => {
                let end = rest[start..]
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len() - start);
                rest[start..].split_at(end)
            }
        };
        if token.contains("items in all") || behind.is_empty() || behind.starts_with("...(cut)") {
            break;
        }
        rest = behind;
        if behind.starts_with(':') {
            key = token.to_owned();
            continue;
        }
        let of_frame = key == "id" || key == "criticality" || (frame && key == "procedureCode");
        if key == "procedureCode" {
            frame = false;
        }
        if !of_frame {
            leaves.push(token.to_owned());
        }
    }
    leaves
}

/// Values of the serialized PDU in order, without what is absent. v1.01 has no transaction.
fn our_leaves(value: &Value, version: Version, leaves: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items
            .iter()
            .for_each(|item| our_leaves(item, version, leaves)),
        Value::Object(map) => match (map.get("value"), map.get("length")) {
            (Some(value), Some(length)) => leaves.push(format!("{value}/{length}")),
            _ => {
                let present = map
                    .iter()
                    .filter(|(key, _)| version != Version::V1_01 || *key != "transaction");
                present.for_each(|(_, value)| our_leaves(value, version, leaves));
            }
        },
        Value::String(text) => leaves.push(text.clone()),
        other => leaves.push(other.to_string()),
    }
}

fn same(stated: &str, ours: &str) -> bool {
    if let Some(octets) = stated.strip_prefix("h:") {
        // Long ones are shown by their beginning and their length: `0102..(len 200, sha256 ...)`.
        return match octets.split_once("..(len ") {
            Some((beginning, rest)) => {
                let length = rest
                    .split(',')
                    .next()
                    .and_then(|length| length.parse::<usize>().ok());
                ours.starts_with(beginning) && Some(ours.len() / 2) == length
            }
            None => {
                ours == octets
                    || ours
                        .parse::<Plmn>()
                        .is_ok_and(|plmn| hex::encode(plmn.0) == octets)
            }
        };
    }
    let Some((bits, length)) = stated
        .strip_prefix("b:")
        .and_then(|bits| bits.split_once('/'))
    else {
        return stated == ours;
    };
    let padded = format!("{bits:0<width$}", width = bits.len().next_multiple_of(8));
    let octets: String = padded
        .as_bytes()
        .chunks(8)
        .map(|bits| u8::from_str_radix(std::str::from_utf8(bits).unwrap(), 2).unwrap())
        .map(|octet| format!("{octet:02x}"))
        .collect();
    match u64::from_str_radix(bits, 2) {
        // Short ones are numbers for us, with their length where it matters.
        Ok(number) if ours == number.to_string() || ours == format!("{number}/{length}") => true,
        _ => ours == format!("{octets}/{length}"),
    }
}
