//! FlexRIC's captures: the INDEX's own wording is made from the decoded PDU and compared.

use std::fmt::Write;

use e2sm::aper::DecodeErrorKind;
use e2sm::common::GnbId;
use e2sm::e2ap::{
    Cause, GlobalE2NodeId, Pdu, RanFunction, RicRequestId, RicSubscriptionDetails, decode,
};
use e2sm::kpm::EventTrigger;

use crate::{Tally, decode_all, index};

#[test]
fn captures_of_flexric_have_the_stated_values() {
    let mut tally = Tally::default();
    for vector in index::table("flexric") {
        tally.vectors += 1;
        let [_, _, message, version, length, stated, ..] = vector.cells.as_slice() else {
            panic!("{}", vector.name)
        };
        assert_eq!(vector.octets.len().to_string(), *length, "{}", vector.name);
        assert_eq!(vector.version.as_str(), version, "{}", vector.name);
        if vector.name == "err_malformed" {
            let error = decode(&vector.octets, vector.version).unwrap_err();
            assert!(
                matches!(error.kind(), DecodeErrorKind::BadFragment(0xff)),
                "{error}"
            );
            tally.exceptions += 1;
            continue;
        }
        let pdu = decode_all(&vector);
        assert_eq!(pdu.name(), message, "{}", vector.name);
        let stated = stated
            .trim_start_matches("SYNTHETIC (encoded by pycrate)")
            .trim();
        let text = wording(&pdu);
        // Behind this, the payload of the service model is described.
        let payload_follows = matches!(
            pdu,
            Pdu::RicIndication(_) | Pdu::RicSubscriptionRequest(_) | Pdu::E42SubscriptionRequest(_)
        );
        if payload_follows {
            assert!(
                stated.starts_with(&text),
                "{}: {text}\nbut stated: {stated}",
                vector.name
            );
        } else {
            assert_eq!(text, stated, "{}", vector.name);
        }
        tally.decoded += 1;
        tally.reencode(&vector, &pdu);
    }
    tally.print("flexric");
    assert_eq!(
        tally,
        Tally {
            vectors: 138,
            decoded: 137,
            identical: 111,
            item_criticality: 26,
            exceptions: 1
        }
    );
}

fn wording(pdu: &Pdu) -> String {
    match pdu {
        Pdu::E2SetupRequest(m) => {
            let mut parts = vec![node(&m.node)];
            if !m.components.is_empty() {
                parts.push(format!("trans {}", m.transaction));
            }
            parts.push(functions(&m.functions));
            if !m.components.is_empty() {
                parts.push(format!(
                    "components [{}]",
                    list(m.components.iter().map(|c| format!("'{}'", c.interface)))
                ));
            }
            parts.join("; ")
        }
        Pdu::E2SetupResponse(m) => {
            let plmn = hex::encode(m.ric.plmn.0);
            let accepted = list(m.accepted.iter().map(|f| f.id.to_string()));
            let mut text = format!("RIC plmn {plmn} id {}; accepted [{accepted}]", m.ric.ric_id);
            if !m.components.is_empty() {
                text.insert_str(0, &format!("trans {}; ", m.transaction));
                let components = list(m.components.iter().map(|c| format!("'{}'", c.interface)));
                write!(text, "; components [{components}]").unwrap();
            }
            text
        }
        Pdu::E2SetupFailure(m) => format!("trans {}; {}", m.transaction, cause(&m.cause)),
        Pdu::E42SetupRequest(m) => functions(&m.functions),
        Pdu::E42SetupResponse(m) => {
            let mut text = format!("xApp id {}", m.xapp_id);
            for connected in &m.nodes {
                let components = list(
                    connected
                        .components
                        .iter()
                        .map(|c| format!("'{}'", c.interface)),
                );
                let components = if components.is_empty() {
                    String::new()
                } else {
                    format!("comps [{components}]")
                };
                let functions = list(connected.functions.iter().map(|f| f.id.to_string()));
                write!(
                    text,
                    "; node {{{}; {components} funcs [{functions}]}}",
                    node(&connected.node)
                )
                .unwrap();
            }
            text
        }
        Pdu::RicSubscriptionRequest(m) => format!(
            "{}; {}",
            request(m.request, m.ran_function),
            details(&m.details)
        ),
        Pdu::E42SubscriptionRequest(m) => format!(
            "xApp id {}; {}; {}; {}",
            m.xapp_id,
            node(&m.node),
            request(m.request, m.ran_function),
            details(&m.details)
        ),
        Pdu::RicSubscriptionResponse(m) => {
            let mut text = request(m.request, m.ran_function);
            write!(
                text,
                "; admitted [{}]",
                list(m.admitted.iter().map(|a| a.id.to_string()))
            )
            .unwrap();
            if let Some(not_admitted) = &m.not_admitted {
                let items = list(
                    not_admitted
                        .iter()
                        .map(|a| format!("({}, {})", a.id, tuple(&a.cause))),
                );
                write!(text, "; notAdmitted [{items}]").unwrap();
            }
            text
        }
        Pdu::RicSubscriptionFailure(m) => format!(
            "{}; {}",
            request(m.request, m.ran_function),
            cause(&m.cause)
        ),
        Pdu::RicSubscriptionDeleteRequest(m) => request(m.request, m.ran_function),
        Pdu::E42SubscriptionDeleteRequest(m) => {
            format!(
                "xApp id {}; {}",
                m.xapp_id,
                request(m.request, m.ran_function)
            )
        }
        Pdu::RicSubscriptionDeleteResponse(m) => request(m.request, m.ran_function),
        Pdu::RicSubscriptionDeleteFailure(m) => format!(
            "{}; {}",
            request(m.request, m.ran_function),
            cause(&m.cause)
        ),
        Pdu::RicIndication(m) => {
            let number = m
                .sequence_number
                .map_or("absent".to_owned(), |number| number.to_string());
            let request = request(m.request, m.ran_function);
            let header = match m.ran_function {
                2 => "colletStartTime ".to_owned(),
                145 | 146 => format!("{} B msg {} B", m.header.len(), m.message.len()),
                _ => hex::encode(&m.header),
            };
            format!(
                "{request}; {} action {} SN {number}; hdr {header}",
                m.kind, m.action
            )
        }
        Pdu::RicControlRequest(m) => format!(
            "{}; {}",
            request(m.request, m.ran_function),
            control(&m.header, &m.message, &m.ack_request)
        ),
        Pdu::E42ControlRequest(m) => format!(
            "xApp id {}; {}; {}; {}",
            m.xapp_id,
            node(&m.node),
            request(m.request, m.ran_function),
            control(&m.header, &m.message, &m.ack_request)
        ),
        Pdu::RicControlAcknowledge(m) => {
            let mut text = request(m.request, m.ran_function);
            if let Some(status) = m.status {
                write!(text, "; status {status}").unwrap();
            }
            if let Some(outcome) = &m.outcome {
                write!(text, "; outcome {}", hex::encode(outcome)).unwrap();
            }
            text
        }
        Pdu::RicControlFailure(m) => format!(
            "{}; {}",
            request(m.request, m.ran_function),
            cause(&m.cause)
        ),
        Pdu::ErrorIndication(m) => format!(
            "{}; trans {}; {}",
            request(m.request.unwrap(), m.ran_function.unwrap()),
            m.transaction.unwrap(),
            cause(m.cause.as_ref().unwrap())
        ),
        Pdu::ResetRequest(m) => format!("trans {}; {}", m.transaction, cause(&m.cause)),
        Pdu::ResetResponse(m) => format!("trans {}", m.transaction),
        Pdu::RicServiceUpdate(m) => format!(
            "trans {}; {}",
            m.transaction,
            functions(&[&m.added[..], &m.modified[..]].concat())
        ),
        Pdu::RicServiceUpdateAcknowledge(m) => {
            let accepted = list(m.accepted.iter().map(|f| f.id.to_string()));
            let rejected = list(
                m.rejected
                    .iter()
                    .map(|f| format!("({}, {})", f.id, tuple(&f.cause))),
            );
            format!(
                "trans {}; accepted [{accepted}]; rejected [{rejected}]",
                m.transaction
            )
        }
        Pdu::RicServiceQuery(m) => {
            format!(
                "trans {}; accepted [{}]",
                m.transaction,
                list(m.accepted.iter().map(|f| f.id.to_string()))
            )
        }
        Pdu::E2NodeConfigurationUpdate(m) => format!("trans {}", m.transaction),
        Pdu::E2NodeConfigurationUpdateAcknowledge(m) => format!("trans {}", m.transaction),
        Pdu::E2ConnectionUpdate(m) => format!("trans {}", m.transaction),
        Pdu::E2ConnectionUpdateAcknowledge(m) => format!("trans {}", m.transaction),
        Pdu::RicSubscriptionDeleteRequired(_) => String::new(),
        other => panic!("no vector was known to hold {}", other.name()),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn node(node: &GlobalE2NodeId) -> String {
    let GlobalE2NodeId::Gnb { gnb, du, .. } = node else {
        panic!("{node}")
    };
    let GnbId::Bits { value, length } = &gnb.gnb else {
        panic!("{node}")
    };
    let du = du.map_or(String::new(), |du| format!(" gNB-DU-ID {du}"));
    format!(
        "gNB plmn {} gnb-id {value}/{length} bits{du}",
        hex::encode(gnb.plmn.0)
    )
}

fn functions(functions: &[RanFunction]) -> String {
    let items = functions.iter().map(|f| {
        format!(
            "{} rev {} oid {} def {} B",
            f.id,
            f.revision,
            f.oid,
            f.definition.len()
        )
    });
    format!("RAN functions {}", list(items))
}

fn request(request: RicRequestId, ran_function: u16) -> String {
    format!(
        "req {} inst {}; ranFunc {ran_function}",
        request.requestor, request.instance
    )
}

fn details(details: &RicSubscriptionDetails) -> String {
    let trigger = match <[u8; 4]>::try_from(details.event_trigger.as_slice()) {
        Ok(plain) => format!("period {} ms", u32::from_le_bytes(plain)),
        Err(_) => {
            let (trigger, _) = EventTrigger::decode(&details.event_trigger).unwrap();
            format!("KPM period {} ms", trigger.period_ms)
        }
    };
    let actions = details
        .actions
        .iter()
        .map(|action| format!("; action {} {}", action.id, action.kind));
    trigger + &actions.collect::<String>()
}

fn control(
    header: &[u8],
    message: &[u8],
    ack: &Option<e2sm::e2ap::RicControlAckRequest>,
) -> String {
    let ack = serde_json::to_value(ack).unwrap();
    // The INDEX shows the first 30 octets.
    let message = hex::encode(&message[..message.len().min(30)]);
    format!(
        "ctrlHdr {}; ctrlMsg {message}; ackReq {}",
        hex::encode(header),
        ack.as_str().unwrap()
    )
}

fn cause(cause: &Cause) -> String {
    format!("cause {}", tuple(cause))
}

fn tuple(cause: &Cause) -> String {
    let text = cause.to_string();
    let (family, value) = text.split_once(": ").unwrap();
    format!("('{family}', '{value}')")
}
