//! Captures of a real OAI gNB, whose INDEX states the values in prose.

use e2sm::e2ap::{GlobalE2NodeId, Pdu, RicSubscriptionDetails};
use e2sm::flexric::Model;

use crate::index::{Vector, number_after, number_before};
use crate::{Tally, decode_all, index};

#[test]
fn captures_of_oai_have_the_stated_values() {
    let mut tally = Tally::default();
    for vector in index::table("oai") {
        tally.vectors += 1;
        let [_, length, stated, source] = vector.cells.as_slice() else {
            panic!("{}", vector.name)
        };
        assert_eq!(vector.octets.len().to_string(), *length, "{}", vector.name);
        let pdu = decode_all(&vector);
        check(&vector, &pdu, stated, source);
        tally.decoded += 1;
        tally.reencode(&vector, &pdu);
    }
    tally.print("oai");
    assert_eq!(
        tally,
        Tally {
            vectors: 64,
            decoded: 64,
            identical: 57,
            item_criticality: 7,
            exceptions: 0
        }
    );
}

fn check(vector: &Vector, pdu: &Pdu, stated: &str, source: &str) {
    let name = &vector.name;
    let model = Model::ALL
        .into_iter()
        .find(|m| name.contains(&format!("_{m:?}").to_lowercase()));
    let ran_function = model.map_or(2, Model::ran_function_id);
    match pdu {
        Pdu::E2SetupRequest(m) => {
            assert_eq!(m.node.to_string(), "gnb:001-01:00000e00/32");
            assert_eq!(
                number_after(stated, "trans "),
                Some(u64::from(m.transaction))
            );
            for (function, definition_length) in m.functions.iter().zip([250, 311]) {
                assert_eq!(function.definition.len(), definition_length);
                assert!(stated.contains(&function.oid), "{}", function.oid);
            }
            let ids: Vec<u16> = m.functions.iter().map(|f| f.id).collect();
            assert_eq!(ids, [2, 3, 142, 143, 144, 145, 146, 148]);
            let revisions: Vec<u16> = m.functions.iter().map(|f| f.revision).collect();
            assert_eq!(revisions, [2, 1, 1, 1, 1, 1, 1, 1]);
            let interfaces: Vec<String> = m
                .components
                .iter()
                .map(|c| c.interface.to_string())
                .collect();
            assert_eq!(interfaces, ["ng"]);
        }
        Pdu::E2SetupResponse(m) => assert_eq!(m.accepted.len(), 8),
        Pdu::E42SetupResponse(m) => {
            assert_eq!(number_after(stated, "xApp id "), Some(u64::from(m.xapp_id)));
            let nodes: Vec<String> = m
                .nodes
                .iter()
                .map(|connected| connected.node.to_string())
                .collect();
            assert_eq!(nodes, ["gnb:001-01:00000e00/32"]);
            assert_eq!(m.nodes[0].functions.len(), 8);
        }
        Pdu::RicSubscriptionRequest(m) => {
            assert_eq!(
                number_after(stated, "req "),
                Some(u64::from(m.request.requestor)),
                "{name}"
            );
            check_details(name, stated, m.ran_function, &m.details);
        }
        Pdu::E42SubscriptionRequest(m) => {
            assert_eq!(m.xapp_id, 7, "{name}");
            assert!(matches!(m.node, GlobalE2NodeId::Gnb { .. }), "{name}");
            assert_eq!(
                number_after(stated, "req "),
                Some(u64::from(m.request.requestor)),
                "{name}"
            );
            assert_eq!(
                number_after(stated, "inst "),
                Some(u64::from(m.request.instance)),
                "{name}"
            );
            check_details(name, stated, m.ran_function, &m.details);
        }
        Pdu::RicSubscriptionResponse(m) => {
            assert_eq!(m.ran_function, ran_function, "{name}");
            assert_eq!(
                m.admitted
                    .iter()
                    .map(|action| action.id)
                    .collect::<Vec<_>>(),
                [0],
                "{name}"
            );
            assert_eq!(m.not_admitted, Some(Vec::new()), "{name}: IE 18 empty list");
        }
        Pdu::RicSubscriptionDeleteRequest(m) => assert_eq!(m.ran_function, ran_function, "{name}"),
        Pdu::RicSubscriptionDeleteResponse(m) => assert_eq!(m.ran_function, ran_function, "{name}"),
        Pdu::RicIndication(m) => {
            assert_eq!(m.ran_function, ran_function, "{name}");
            if let Some(requestor) = number_after(source, " req ") {
                assert_eq!(u64::from(m.request.requestor), requestor, "{name}");
            }
            if let Some((_, header)) = stated.split_once("(header ") {
                assert_eq!(format!("{})", hex::encode(&m.header)), header, "{name}");
            }
        }
        other => panic!("{name} is a {}", other.name()),
    }
    // The name says which message it is as well: `oai_e2_sub_resp_mac`.
    let kind = match pdu {
        Pdu::E2SetupRequest(_) => "_setup_req",
        Pdu::E2SetupResponse(_) | Pdu::E42SetupResponse(_) => "_setup_resp",
        Pdu::RicSubscriptionRequest(_) | Pdu::E42SubscriptionRequest(_) => "_sub_req_",
        Pdu::RicSubscriptionResponse(_) => "_sub_resp_",
        Pdu::RicSubscriptionDeleteRequest(_) => "_subdel_req_",
        Pdu::RicSubscriptionDeleteResponse(_) => "_subdel_resp_",
        _ => "_ind_",
    };
    assert!(name.contains(kind), "{name} is a {}", pdu.name());
}

fn check_details(name: &str, stated: &str, ran_function: u16, details: &RicSubscriptionDetails) {
    assert_eq!(
        number_after(stated, "rf "),
        Some(u64::from(ran_function)),
        "{name}"
    );
    if let Ok(plain) = <[u8; 4]>::try_from(details.event_trigger.as_slice()) {
        // Rows of the same kind leave out the period of the first one.
        let period = number_before(stated, " ms").unwrap_or(100);
        assert_eq!(u64::from(u32::from_le_bytes(plain)), period, "{name}");
    }
}
