//! What captured setups are answered, and what is subscribed to.

use e2sm::kpm;

use super::*;

const SETUPS: [(&str, Version); 6] = [
    ("flexric/v1_e2_setup_req", Version::V1_01),
    ("flexric/v2_e2_setup_req", Version::V2_03),
    // E2 setup reads alike in both.
    ("flexric/v3_e2_setup_req", Version::V2_03),
    ("flexric/v2_cudu_e2_setup_req_cu", Version::V2_03),
    ("flexric/v2_cudu_e2_setup_req_du", Version::V2_03),
    ("oai/oai_e2_setup_req", Version::V2_03),
];

#[test]
fn every_captured_setup_is_accepted_as_it_came() {
    for (name, version) in SETUPS {
        let octets = vector(name);
        let Pdu::E2SetupRequest(request) = decode(&octets, version).unwrap().value else {
            panic!("{name}")
        };
        let mut bench = Bench::new();
        bench.version = version;
        bench.receive_octets(&octets);
        let Pdu::E2SetupResponse(response) = bench.sent().remove(0) else {
            panic!("{name}: no response")
        };
        assert_eq!(response.transaction, request.transaction);
        let offered: Vec<_> = request
            .functions
            .iter()
            .map(|f| RanFunctionId {
                id: f.id,
                revision: f.revision,
            })
            .collect();
        assert_eq!(response.accepted, offered, "{name}");
        assert_eq!(
            response.components.len(),
            request.components.len(),
            "{name}"
        );
        for (ack, component) in response.components.iter().zip(&request.components) {
            assert_eq!(
                (&ack.id, ack.interface, ack.outcome),
                (&component.id, component.interface, UpdateOutcome::Success),
                "{name}"
            );
        }
        let Some(RanEvent::NodeUp {
            node,
            e2ap_version,
            functions,
            ..
        }) = bench.session.next_event()
        else {
            panic!("{name}")
        };
        assert_eq!(node.to_string(), request.node.to_string());
        assert_eq!(
            (e2ap_version, functions.len()),
            (version.as_str(), request.functions.len())
        );
    }
}

/// The response differs from FlexRIC's own only in the RIC id and in the revisions, where FlexRIC always writes 0.
#[test]
fn the_answer_to_a_real_gnb_is_that_of_flexric_s_ric() {
    let mut bench = Bench::new();
    bench.receive_octets(&vector("oai/oai_e2_setup_req"));
    let Pdu::E2SetupResponse(mut ours) = bench.sent().remove(0) else {
        panic!("no response")
    };
    let Pdu::E2SetupResponse(theirs) = decode(&vector("oai/oai_e2_setup_resp"), Version::V2_03)
        .unwrap()
        .value
    else {
        panic!()
    };
    ours.ric.ric_id = theirs.ric.ric_id;
    for (ours, theirs) in ours.accepted.iter_mut().zip(&theirs.accepted) {
        ours.revision = theirs.revision;
    }
    assert_eq!(ours, theirs);
}

fn kpm_action(
    request: &RicSubscriptionRequest,
    dialect: kpm::Dialect,
) -> (kpm::ActionDefinition, Vec<String>) {
    let action = kpm::ActionDefinition::decode(asked(request).2.unwrap(), dialect)
        .unwrap()
        .0;
    let kpm::ActionFormat::Format4 { action: cell, .. } = &action.format else {
        panic!("not format 4: {action:?}")
    };
    let names = cell
        .info
        .iter()
        .map(|info| info.measure.name().unwrap().to_owned())
        .collect();
    (action, names)
}

#[test]
fn a_real_gnb_is_subscribed_to_as_it_survives_it() {
    let mut bench = Bench::with(Config::default());
    bench.receive_octets(&vector("oai/oai_e2_setup_req"));
    let requests = bench.admit_all();
    assert_eq!(
        requests.iter().map(|r| r.ran_function).collect::<Vec<_>>(),
        [2, 142, 143, 144, 148]
    );
    for (plain, period_ms) in requests[1..].iter().zip([100_u32, 100, 500, 500]) {
        assert_eq!(
            asked(plain),
            (plain.ran_function, &period_ms.to_le_bytes()[..], None)
        );
    }
    let (_, trigger, _) = asked(&requests[0]);
    assert_eq!(
        kpm::EventTrigger::decode(trigger).unwrap().0,
        kpm::EventTrigger { period_ms: 100 }
    );
    let (action, names) = kpm_action(&requests[0], kpm::Dialect::Standard);
    assert_eq!(action.style, 4);
    assert_eq!(
        names,
        [
            "RRU.PrbTotDl",
            "DRB.UEThpDl",
            "DRB.RlcSduDelayDl",
            "DRB.PdcpSduVolumeDL"
        ]
    );
    let kpm::ActionFormat::Format4 { conditions, action } = action.format else {
        panic!()
    };
    assert_eq!(action.granularity_ms, 100);
    let [condition] = conditions.as_slice() else {
        panic!("not one condition")
    };
    assert_eq!(condition.test.test, kpm::TestType::SNssai);
    assert_eq!(condition.test.value, Some(kpm::TestValue::Octets(vec![1])));
    assert_eq!(
        bench.told(),
        [
            "up",
            "kpm requested",
            "kpm active",
            "mac requested",
            "mac active",
            "rlc requested",
            "rlc active",
            "pdcp requested",
            "pdcp active",
            "gtp requested",
            "gtp active"
        ]
    );
}

/// FlexRIC's agents offer every model in every part of a gNB, and crash when a part is asked for another's.
#[test]
fn a_split_gnb_is_asked_for_what_each_part_has() {
    for (name, id, functions, names) in [
        (
            "flexric/v2_cudu_e2_setup_req_cu",
            "gnb:505-01:00000002/32",
            vec![2],
            vec!["DRB.PdcpSduVolumeDL"],
        ),
        (
            "flexric/v2_cudu_e2_setup_req_du",
            "gnb:505-01:00000002/32:du:22",
            vec![2, 142, 143],
            vec!["RRU.PrbTotDl", "DRB.UEThpDl", "DRB.RlcSduDelayDl"],
        ),
    ] {
        let mut bench = Bench::with(Config::default());
        bench.receive_octets(&vector(name));
        let requests = bench.admit_all();
        assert_eq!(
            requests.iter().map(|r| r.ran_function).collect::<Vec<_>>(),
            functions,
            "{name}"
        );
        assert_eq!(
            kpm_action(&requests[0], kpm::Dialect::Standard).1,
            names,
            "{name}"
        );
        assert!(
            bench
                .events()
                .iter()
                .all(|event| event.node().to_string() == id)
        );
    }
}

/// The agent of 2023 wants its own dialect, and the SST as a number.
#[test]
fn an_old_flexric_is_spoken_to_in_its_dialect() {
    let mut bench = Bench::with(Config {
        wishes: Wishes {
            models: vec![ServiceModel::Kpm],
            ..Wishes::default()
        },
        ..Config::default()
    });
    bench.version = Version::V1_01;
    bench.receive_octets(&vector("flexric/v1_e2_setup_req"));
    let requests = bench.admit_all();
    let (ours, _) = kpm_action(&requests[0], kpm::Dialect::FlexRic2023);
    let Pdu::RicSubscriptionRequest(theirs) =
        decode(&vector("flexric/v1_e2_sub_req_kpm"), Version::V1_01)
            .unwrap()
            .value
    else {
        panic!()
    };
    let (theirs, _) = kpm_action(&theirs, kpm::Dialect::FlexRic2023);
    let conditions = |action: &kpm::ActionDefinition| match &action.format {
        kpm::ActionFormat::Format4 { conditions, .. } => conditions.clone(),
        other => panic!("not format 4: {other:?}"),
    };
    assert_eq!(
        (ours.style, conditions(&ours)),
        (theirs.style, conditions(&theirs))
    );
}

/// Captured reports pass when they carry our request id.
#[test]
fn captured_indications_are_handed_on_unchanged() {
    let mut bench = Bench::new();
    bench.receive_octets(&vector("oai/oai_e2_setup_req"));
    let requests = bench.admit_all();
    bench.events();
    for (name, function, model) in [
        ("oai/oai_e2_ind_kpm_heavy", 2, ServiceModel::Kpm),
        ("oai/oai_e2_ind_mac_heavy", 142, ServiceModel::Mac),
        ("oai/oai_e2_ind_rlc_heavy", 143, ServiceModel::Rlc),
    ] {
        let Pdu::RicIndication(captured) = decode(&vector(name), Version::V2_03).unwrap().value
        else {
            panic!("{name}")
        };
        let request = requests
            .iter()
            .find(|r| r.ran_function == function)
            .unwrap()
            .request;
        let (header, message) = (captured.header.clone(), captured.message.clone());
        bench.receive(Pdu::RicIndication(RicIndication {
            request,
            ..captured
        }));
        let Some(RanEvent::Indication {
            model: told,
            header: h,
            message: m,
            ..
        }) = bench.session.next_event()
        else {
            panic!("{name}")
        };
        assert_eq!((told, h, m), (model, header, message), "{name}");
    }
    assert_eq!(bench.count(|c| &c.indications_foreign), 0);
}
