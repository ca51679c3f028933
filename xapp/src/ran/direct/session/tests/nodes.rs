//! Nodes that come back, change, reset, refuse, and stop answering.

use std::time::Duration;

use super::*;

const GNB: &str = "oai/oai_e2_setup_req";
const MAC: u16 = 142;

/// A node without FlexRIC's models: one KPM function that OAI's agent described.
fn plain_node() -> E2SetupRequest {
    let Pdu::E2SetupRequest(mut request) = decode(&vector(GNB), Version::V2_03).unwrap().value
    else {
        panic!()
    };
    request.functions.truncate(1);
    request
}

fn only(models: &[ServiceModel]) -> Config {
    Config {
        wishes: Wishes {
            models: models.to_vec(),
            ..Wishes::default()
        },
        ..Config::default()
    }
}

/// A node without FlexRIC's models, subscribed to KPM.
fn plain_bench() -> (Bench, RicRequestId) {
    let mut bench = Bench::new();
    bench.receive(Pdu::E2SetupRequest(plain_node()));
    let requests = bench.admit_all();
    bench.events();
    let [request] = requests.as_slice() else {
        panic!("not one subscription")
    };
    (bench, request.request)
}

#[test]
fn a_retransmitted_setup_is_answered_alike_and_changes_nothing() {
    let mut bench = Bench::new();
    bench.receive_octets(&vector(GNB));
    let first = bench.sent().remove(0);
    let told = bench.told();
    assert_eq!(told, ["up", "kpm requested"]);
    for _ in 0..3 {
        bench.now += Duration::from_millis(500);
        bench.receive_octets(&vector(GNB));
        assert_eq!(bench.sent(), std::slice::from_ref(&first));
        assert!(bench.told().is_empty());
    }
}

#[test]
fn a_setup_long_after_the_first_begins_anew() {
    let mut bench = Bench::subscribed(GNB);
    bench.told();
    bench.now += Duration::from_secs(60);
    bench.receive_octets(&vector(GNB));
    assert_eq!(
        bench.told()[..4],
        ["kpm ended", "mac ended", "rlc ended", "up"]
    );
    assert_eq!(bench.admit_all().len(), 3);
}

#[test]
fn another_node_on_the_same_association_replaces_the_first() {
    let mut bench = Bench::subscribed(GNB);
    bench.told();
    bench.receive_octets(&vector("flexric/v2_e2_setup_req"));
    assert_eq!(
        bench.told(),
        [
            "kpm ended",
            "mac ended",
            "rlc ended",
            "down",
            "up",
            "kpm requested"
        ]
    );
}

#[test]
fn foreign_indications_are_counted_and_their_subscription_deleted() {
    let (mut bench, ours) = plain_bench();
    let stale = RicRequestId {
        requestor: 7,
        instance: 3,
    };
    for _ in 0..3 {
        bench.receive(indication(stale, 2));
    }
    bench.receive(indication(ours, 3));
    assert!(bench.told().is_empty());
    assert_eq!(bench.count(|c| &c.indications_foreign), 4);
    let delete = Pdu::RicSubscriptionDeleteRequest(RicSubscriptionDeleteRequest {
        request: stale,
        ran_function: 2,
    });
    assert_eq!(bench.sent(), [delete]);
    bench.receive(indication(ours, 2));
    assert_eq!(bench.told(), ["kpm indication"]);
}

/// Also where deletions do not help: E2AP's reset makes both sides forget, but FlexRIC's agent aborts on it.
#[test]
fn a_node_that_goes_on_reporting_is_reset_unless_it_runs_flexric_s_agent() {
    for (mut bench, resets) in [(plain_bench().0, 1), (Bench::subscribed(GNB), 0)] {
        for _ in 0..2500 {
            bench.receive(indication(
                RicRequestId {
                    requestor: 7,
                    instance: 3,
                },
                2,
            ));
        }
        let transactions: Vec<_> = bench
            .sent()
            .iter()
            .filter_map(|pdu| {
                if let Pdu::ResetRequest(reset) = pdu {
                    Some(reset.transaction)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(transactions.len(), resets);
        bench.told();
        for transaction in transactions {
            bench.receive(Pdu::ResetResponse(ResetResponse {
                transaction,
                diagnostics: None,
            }));
            assert_eq!(bench.told(), ["kpm ended", "kpm requested"]);
        }
    }
}

#[test]
fn a_reset_by_the_node_is_answered_and_everything_asked_for_again() {
    let mut bench = Bench::subscribed(GNB);
    bench.told();
    bench.receive_octets(&vector("flexric/syn_reset_req"));
    assert!(matches!(
        &bench.sent()[..],
        [
            Pdu::ResetResponse(ResetResponse { transaction: 3, .. }),
            Pdu::RicSubscriptionRequest(_)
        ]
    ));
    assert_eq!(
        bench.told(),
        ["kpm ended", "mac ended", "rlc ended", "kpm requested"]
    );
}

#[test]
fn a_required_deletion_is_carried_out_and_the_subscription_renewed() {
    let (mut bench, request) = plain_bench();
    let cause = Cause::RicRequest(RicRequestCause::FunctionResourceLimit);
    let subscriptions = vec![SubscriptionToBeRemoved {
        request,
        ran_function: 2,
        cause,
    }];
    bench.receive(Pdu::RicSubscriptionDeleteRequired(
        RicSubscriptionDeleteRequired { subscriptions },
    ));
    assert_eq!(
        bench.sent(),
        [Pdu::RicSubscriptionDeleteRequest(
            RicSubscriptionDeleteRequest {
                request,
                ran_function: 2
            }
        )]
    );
    bench.receive(Pdu::RicSubscriptionDeleteResponse(
        RicSubscriptionDeleteResponse {
            request,
            ran_function: 2,
        },
    ));
    assert_eq!(bench.told(), ["kpm ended"]);
    bench.wait();
    assert_eq!(bench.admit_all().len(), 1);
}

fn service_update(added: Vec<RanFunction>, deleted: Vec<RanFunctionId>) -> Pdu {
    Pdu::RicServiceUpdate(RicServiceUpdate {
        transaction: 9,
        added,
        modified: Vec::new(),
        deleted,
    })
}

#[test]
fn a_service_update_moves_the_subscriptions_along() {
    let mut bench = Bench::with(only(&[ServiceModel::Kpm, ServiceModel::Mac]));
    bench.receive(Pdu::E2SetupRequest(plain_node()));
    bench.admit_all();
    bench.told();
    let Pdu::E2SetupRequest(full) = decode(&vector(GNB), Version::V2_03).unwrap().value else {
        panic!()
    };
    let mac = full
        .functions
        .into_iter()
        .find(|function| function.id == MAC)
        .unwrap();
    bench.receive(service_update(
        vec![mac],
        vec![RanFunctionId { id: 2, revision: 2 }],
    ));
    let sent = bench.sent();
    let [
        Pdu::RicServiceUpdateAcknowledge(ack),
        Pdu::RicSubscriptionRequest(request),
    ] = sent.as_slice()
    else {
        panic!("{sent:?}")
    };
    assert_eq!(
        (ack.transaction, ack.accepted.as_slice()),
        (
            9,
            &[RanFunctionId {
                id: MAC,
                revision: 1
            }][..]
        )
    );
    assert_eq!(request.ran_function, MAC);
    assert_eq!(bench.told(), ["up", "kpm ended", "mac requested"]);
}

#[test]
fn services_are_bounded() {
    let (mut bench, _) = plain_bench();
    let function = |id| RanFunction {
        id,
        definition: vec![0; 200_000],
        revision: 1,
        oid: "1.2.3".into(),
    };
    for id in 10..40 {
        bench.receive(service_update(vec![function(id)], Vec::new()));
    }
    let failures = bench
        .sent()
        .iter()
        .filter(|pdu| matches!(pdu, Pdu::RicServiceUpdateFailure(_)))
        .count();
    assert!(failures >= 8, "{failures} of 30 updates were refused");
}

#[test]
fn a_refusal_for_an_unknown_function_makes_cantor_ask_for_the_functions() {
    let mut bench = Bench::new();
    bench.receive(Pdu::E2SetupRequest(plain_node()));
    let Pdu::RicSubscriptionRequest(request) = bench.sent().remove(1) else {
        panic!()
    };
    let cause = Cause::RicRequest(RicRequestCause::RanFunctionIdInvalid);
    bench.receive(Pdu::RicSubscriptionFailure(RicSubscriptionFailure {
        request: request.request,
        ran_function: 2,
        cause,
        diagnostics: None,
    }));
    let sent = bench.sent();
    assert!(
        matches!(sent.as_slice(), [Pdu::RicServiceQuery(query)] if query.accepted == [RanFunctionId { id: 2, revision: 2 }])
    );
    assert_eq!(bench.told(), ["up", "kpm requested", "kpm failed"]);
    assert_eq!(bench.count(|c| &c.subscriptions_refused), 1);
}

#[test]
fn configuration_updates_are_acknowledged_component_by_component() {
    let mut bench = Bench::subscribed(GNB);
    bench.receive_octets(&vector("flexric/syn_node_config_update"));
    let Pdu::E2NodeConfigurationUpdate(update) =
        decode(&vector("flexric/syn_node_config_update"), Version::V2_03)
            .unwrap()
            .value
    else {
        panic!()
    };
    let sent = bench.sent();
    let [Pdu::E2NodeConfigurationUpdateAcknowledge(ack)] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    assert_eq!(ack.transaction, update.transaction);
    let counts = (
        update.added.len(),
        update.updated.len(),
        update.removed.len(),
    );
    assert_eq!(
        (ack.added.len(), ack.updated.len(), ack.removed.len()),
        counts
    );
    assert!(counts.0 + counts.1 + counts.2 > 0);
}

#[test]
fn a_node_s_removal_is_answered_and_ends_the_association() {
    let mut bench = Bench::subscribed(GNB);
    bench.receive(Pdu::E2RemovalRequest(E2RemovalRequest { transaction: 5 }));
    assert!(matches!(
        &bench.sent()[..],
        [Pdu::E2RemovalResponse(E2RemovalResponse {
            transaction: 5,
            ..
        })]
    ));
    assert!(bench.session.finished().is_some());
}

#[test]
fn a_connection_update_from_a_node_is_refused_with_its_own_failure() {
    let mut bench = Bench::subscribed(GNB);
    bench.receive_octets(&vector("flexric/syn_connection_update"));
    assert!(matches!(
        &bench.sent()[..],
        [Pdu::E2ConnectionUpdateFailure(E2ConnectionUpdateFailure {
            transaction: 5,
            ..
        })]
    ));
}

#[test]
fn stopping_deletes_the_subscriptions_one_by_one() {
    let mut bench = Bench::subscribed(GNB);
    bench.told();
    bench.session.stop(bench.now);
    for _ in 0..3 {
        let sent = bench.sent();
        let [Pdu::RicSubscriptionDeleteRequest(delete)] = sent.as_slice() else {
            panic!("{sent:?}")
        };
        assert_eq!(bench.session.finished(), None);
        let RicSubscriptionDeleteRequest {
            request,
            ran_function,
        } = *delete;
        bench.receive(Pdu::RicSubscriptionDeleteResponse(
            RicSubscriptionDeleteResponse {
                request,
                ran_function,
            },
        ));
    }
    assert!(bench.session.finished().is_some());
    bench.session.lost("closed");
    assert_eq!(
        bench.told(),
        ["kpm ended", "mac ended", "rlc ended", "down"]
    );
}

#[test]
fn stopping_does_not_wait_for_a_silent_node() {
    let mut bench = Bench::subscribed(GNB);
    bench.session.stop(bench.now);
    let began = bench.now;
    while bench.session.finished().is_none() {
        bench.wait();
    }
    assert_eq!(bench.now - began, Limits::default().stop_wait);
}

#[test]
fn stopping_before_a_setup_ends_at_once() {
    let mut bench = Bench::new();
    bench.session.stop(bench.now);
    assert!(bench.session.finished().is_some());
}

#[test]
fn a_peer_that_does_not_set_up_is_closed() {
    let mut bench = Bench::new();
    bench.wait();
    assert_eq!(bench.session.finished(), Some("it does not set up"));
}

#[test]
fn a_node_that_answers_nothing_is_given_up() {
    let mut bench = Bench::new();
    bench.receive_octets(&vector(GNB));
    while bench.session.finished().is_none() {
        bench.wait();
    }
    assert_eq!(bench.count(|c| &c.requests_timed_out), 5);
    bench.session.lost("closed");
    assert_eq!(bench.told().last().map(String::as_str), Some("down"));
}

/// Whatever else arrives shows that the node lives: then it is asked again and again.
#[test]
fn a_node_that_says_something_else_is_not_given_up() {
    let mut bench = Bench::new();
    bench.receive_octets(&vector(GNB));
    for _ in 0..20 {
        bench.wait();
        bench.receive_octets(&vector("flexric/syn_error_indication"));
    }
    assert_eq!(bench.session.finished(), None);
}

#[test]
fn flexric_s_agent_gets_no_request_on_the_heels_of_an_answer() {
    let mut bench = Bench::new();
    bench
        .session
        .receive(&vector("oai/oai_e2_setup_req"), bench.now);
    assert!(matches!(bench.sent()[..], [Pdu::E2SetupResponse(_)]));
    bench.wait();
    assert!(matches!(bench.sent()[..], [Pdu::RicSubscriptionRequest(_)]));
}
