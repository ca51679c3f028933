//! E2 Setup, subscriptions, reset and everything that goes wrong.

use super::{Rig, TODAY_US, greedy, vector};
use e2sm::e2ap::{
    Cause, E2SetupFailure, ErrorIndication, MiscCause, Pdu, ProtocolCause, RicRequestCause,
    RicRequestId, TimeToWait, Version, decode,
};
use e2sm::flexric::{MacUe, RlcBearer, Stats};
use e2sm::kpm;
use sim::cell::UeConfig;
use sim::node::{KpmDialect, Node, NodeConfig, NodeError};
use std::time::Duration;

const MILLISECOND: Duration = Duration::from_millis(1);

#[test]
fn setup_is_repeated_until_it_is_answered() {
    let mut rig = Rig::new(KpmDialect::Standard, vec![]);
    assert!(rig.poll().is_empty(), "not connected");
    rig.node.connected(rig.now);
    let Pdu::E2SetupRequest(request) = rig.answer() else {
        panic!()
    };
    let functions: Vec<_> = request
        .functions
        .iter()
        .map(|f| (f.id, f.oid.as_str()))
        .collect();
    assert_eq!(
        functions,
        [
            (2, "1.3.6.1.4.1.53148.1.3.2.2"),
            (142, "0.0.0.0.0.0.0.0.1.142.0"),
            (143, "0.0.0.0.0.0.0.0.1.143.0")
        ]
    );
    assert_eq!(request.functions[1].definition, b"MAC_STATS_V0");
    assert_eq!(request.node.to_string(), "gnb:001-01:00000e00/32");
    let (description, _) =
        kpm::RanFunctionDescription::decode(&request.functions[0].definition).unwrap();
    assert!(description.report_style(4).is_some());

    rig.now += Duration::from_millis(2999);
    assert!(rig.poll().is_empty());
    rig.now += MILLISECOND;
    assert!(matches!(rig.answer(), Pdu::E2SetupRequest(_)));
    rig.receive("flexric/v2_e2_setup_resp.hex");
    assert!(rig.node.is_up());
    rig.now += Duration::from_secs(10);
    assert!(rig.poll().is_empty());
}

#[test]
fn refused_setup_waits_as_long_as_the_ric_says() {
    let mut rig = Rig::new(KpmDialect::Standard, vec![]);
    rig.node.connected(rig.now);
    rig.poll();
    rig.receive_pdu(&Pdu::E2SetupFailure(E2SetupFailure {
        transaction: 1,
        cause: Cause::Misc(MiscCause::ControlProcessingOverload),
        time_to_wait: Some(TimeToWait::S10),
        diagnostics: None,
        tnl: None,
    }));
    rig.now += Duration::from_millis(9999);
    assert!(rig.poll().is_empty());
    rig.now += MILLISECOND;
    assert!(matches!(rig.answer(), Pdu::E2SetupRequest(_)));
}

#[test]
fn mac_and_rlc_report_on_their_periods() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![UeConfig::default(), greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    let Pdu::RicSubscriptionResponse(response) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        (response.request.requestor, response.ran_function),
        (1021, 142)
    );
    assert_eq!(response.admitted.len(), 1);
    rig.receive("flexric/v2_e2_sub_req_rlc.hex");
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
    assert_eq!(rig.node.subscriptions(), 2);

    let indications = rig.run(Duration::from_secs(1));
    let of = |function| {
        indications
            .iter()
            .filter(move |i| i.ran_function == function)
    };
    assert_eq!((of(142).count(), of(143).count()), (4, 4), "every 250 ms");
    let mac = Stats::<MacUe>::decode(&of(142).next_back().unwrap().message).unwrap();
    assert_eq!(mac.tstamp_us, TODAY_US + 1_000_000);
    assert_eq!(mac.records.len(), 2);
    let truth = rig.cell.ue(1).unwrap();
    assert_eq!(mac.records[1].dl_aggr_tbs, truth.mac.tbs_octets);
    assert_eq!(mac.records[1].dl_aggr_prb as u64, truth.mac.prbs);
    let rlc = Stats::<RlcBearer>::decode(&of(143).next_back().unwrap().message).unwrap();
    assert_eq!(rlc.records[1].txsdu_bytes, truth.rlc.sent_sdu_octets);
    assert_eq!(
        u64::from(rlc.records[1].txbuf_occ_bytes),
        truth.queue_octets
    );
}

#[test]
fn late_polls_give_one_report_and_keep_the_rhythm() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.poll();
    rig.now += Duration::from_millis(900);
    assert_eq!(rig.poll().len(), 1);
    rig.now += Duration::from_millis(99);
    assert!(rig.poll().is_empty());
    rig.now += MILLISECOND;
    assert_eq!(
        rig.poll().len(),
        1,
        "due at 1000 ms, not 250 ms after the late one"
    );
}

#[test]
fn deleted_subscriptions_are_silent_and_unknown_ones_are_refused() {
    let mut rig = Rig::up(KpmDialect::Oai2024, vec![greedy()]);
    rig.receive("oai/oai_e2_sub_req_kpm.hex");
    let Pdu::RicSubscriptionResponse(response) = rig.answer() else {
        panic!()
    };
    let mut delete = vector("oai/oai_e2_subdel_req_kpm.hex");
    rig.node.received(rig.now, &rig.cell, &delete);
    let Pdu::RicSubscriptionDeleteResponse(deleted) = rig.answer() else {
        panic!()
    };
    assert_eq!(deleted.request, response.request);
    assert!(rig.run(Duration::from_secs(2)).is_empty());

    // The same once more, and as if the function were MAC.
    rig.node.received(rig.now, &rig.cell, &delete);
    let Pdu::RicSubscriptionDeleteFailure(failure) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        failure.cause,
        Cause::RicRequest(RicRequestCause::RequestIdUnknown)
    );
    *delete.last_mut().unwrap() = 142;
    rig.node.received(rig.now, &rig.cell, &delete);
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionDeleteFailure(_)));
}

#[test]
fn what_kills_other_agents_is_refused() {
    let mut rig = Rig::up(KpmDialect::Oai2024, vec![greedy()]);
    rig.receive("flexric/err_e2_sub_req_ranfunc200.hex");
    let Pdu::RicSubscriptionFailure(failure) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        failure.cause,
        Cause::RicRequest(RicRequestCause::RanFunctionIdInvalid)
    );

    for period in [0_u32, 10_001, u32::MAX] {
        let request = decode(&vector("flexric/v2_e2_sub_req_mac.hex"), Version::V2_03).unwrap();
        let Pdu::RicSubscriptionRequest(mut request) = request.value else {
            panic!()
        };
        request.details.event_trigger = period.to_le_bytes().to_vec();
        rig.receive_pdu(&Pdu::RicSubscriptionRequest(request));
        assert!(
            matches!(rig.answer(), Pdu::RicSubscriptionFailure(_)),
            "{period} ms"
        );
    }

    rig.receive("flexric/v2_e2_ctrl_req_mac.hex");
    let Pdu::RicControlFailure(failure) = rig.answer() else {
        panic!()
    };
    assert_eq!(
        failure.cause,
        Cause::RicRequest(RicRequestCause::ActionNotSupported)
    );

    rig.receive("flexric/err_malformed.hex");
    let Pdu::ErrorIndication(error) = rig.answer() else {
        panic!()
    };
    assert!(matches!(error.cause, Some(Cause::Protocol(_))), "{error:?}");
    assert!(rig.node.is_up());
}

#[test]
fn two_actions_run_side_by_side() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    let request = decode(&vector("flexric/v2_e2_sub_req_mac.hex"), Version::V2_03).unwrap();
    let Pdu::RicSubscriptionRequest(mut request) = request.value else {
        panic!()
    };
    let first = request.details.actions[0].clone();
    for id in [7, 0] {
        let mut action = first.clone();
        action.id = id;
        request.details.actions.push(action);
    }
    rig.receive_pdu(&Pdu::RicSubscriptionRequest(request));
    let Pdu::RicSubscriptionResponse(response) = rig.answer() else {
        panic!()
    };
    let admitted: Vec<u8> = response.admitted.iter().map(|a| a.id).collect();
    assert_eq!(admitted, [0, 7]);
    let refused = response.not_admitted.unwrap();
    assert_eq!(
        refused[0].cause,
        Cause::RicRequest(RicRequestCause::DuplicateAction)
    );
    let actions: Vec<u8> = rig
        .run(Duration::from_millis(250))
        .iter()
        .map(|i| i.action)
        .collect();
    assert_eq!(actions, [0, 7]);
}

#[test]
fn reset_ends_subscriptions_but_not_the_session() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.poll();
    rig.receive("flexric/syn_reset_req.hex");
    let Pdu::ResetResponse(response) = rig.answer() else {
        panic!()
    };
    assert_eq!(response.transaction, 3);
    assert!(rig.node.is_up());
    assert!(rig.run(Duration::from_secs(1)).is_empty());
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
}

#[test]
fn a_lost_connection_loses_the_subscriptions_and_leads_to_a_new_setup() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.node.disconnected();
    rig.now += Duration::from_secs(1);
    assert!(
        rig.poll().is_empty(),
        "neither the answer nor a report goes anywhere"
    );
    rig.node.connected(rig.now);
    assert!(!rig.node.is_up());
    assert!(matches!(rig.answer(), Pdu::E2SetupRequest(_)));
    rig.receive("flexric/v2_e2_setup_resp.hex");
    assert!(rig.run(Duration::from_secs(1)).is_empty());
}

#[test]
fn queries_are_answered_with_all_functions() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![]);
    rig.receive("flexric/syn_service_query.hex");
    let Pdu::RicServiceUpdate(update) = rig.answer() else {
        panic!()
    };
    let ids =
        |functions: &[e2sm::e2ap::RanFunction]| functions.iter().map(|f| f.id).collect::<Vec<_>>();
    assert_eq!(
        (ids(&update.modified), ids(&update.added)),
        (vec![2], vec![142, 143])
    );
    rig.node.update_service();
    let Pdu::RicServiceUpdate(update) = rig.answer() else {
        panic!()
    };
    assert_eq!(ids(&update.modified), [2, 142, 143]);
}

#[test]
fn an_error_indication_about_a_subscription_ends_it() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    rig.receive("flexric/v2_e2_sub_req_mac.hex");
    rig.poll();
    let about = |function, cause| {
        Pdu::ErrorIndication(ErrorIndication {
            transaction: None,
            request: Some(RicRequestId {
                requestor: 1021,
                instance: 0,
            }),
            ran_function: Some(function),
            cause: Some(cause),
            diagnostics: None,
        })
    };
    let unknown = Cause::RicRequest(RicRequestCause::RequestIdUnknown);
    rig.receive_pdu(&about(143, unknown.clone()));
    rig.receive_pdu(&about(142, Cause::Protocol(ProtocolCause::SemanticError)));
    assert_eq!(
        rig.node.subscriptions(),
        1,
        "another subscription, another error"
    );
    rig.receive_pdu(&about(142, unknown));
    assert_eq!(rig.node.subscriptions(), 0);
}

#[test]
fn nothing_is_reported_without_ues() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![]);
    for name in [
        "flexric/v2_e2_sub_req_mac.hex",
        "flexric/v2_e2_sub_req_kpm.hex",
    ] {
        rig.receive(name);
        assert!(matches!(rig.answer(), Pdu::RicSubscriptionResponse(_)));
    }
    assert!(rig.run(Duration::from_secs(2)).is_empty());
}

#[test]
fn no_message_makes_the_node_panic_or_stop() {
    let mut rig = Rig::up(KpmDialect::Standard, vec![greedy()]);
    for name in [
        "v2_e2_sub_req_kpm",
        "v2_e2_sub_req_mac",
        "v2_e2_subdel_req_kpm",
        "syn_reset_req",
    ] {
        let original = vector(&format!("flexric/{name}.hex"));
        for index in 0..original.len() {
            for bit in 0..8 {
                let mut mutant = original.clone();
                mutant[index] ^= 1 << bit;
                rig.node.received(rig.now, &rig.cell, &mutant);
                rig.now += MILLISECOND;
                rig.poll();
            }
        }
        rig.receive(&format!("flexric/{name}.hex"));
        assert!(!rig.poll().is_empty(), "{name} is still answered");
    }
    assert!(rig.node.is_up());
}

#[test]
fn wrong_identities_are_named() {
    let node = |config| Node::new(&config).map(|_| ()).unwrap_err();
    let plmn = NodeConfig {
        plmn: "1x".to_owned(),
        ..NodeConfig::default()
    };
    assert_eq!(node(plmn), NodeError::Plmn("1x".to_owned()));
    let id = NodeConfig {
        gnb_id: 1 << 22,
        gnb_id_bits: 22,
        ..NodeConfig::default()
    };
    assert_eq!(
        node(id),
        NodeError::GnbId {
            id: 1 << 22,
            bits: 22
        }
    );
}
