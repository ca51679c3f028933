//! A strategy for each message.

use e2sm::e2ap::*;
use e2sm::e42::{
    E42ControlRequest, E42Node, E42SetupRequest, E42SetupResponse, E42SubscriptionDeleteRequest,
    E42SubscriptionRequest,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::types::*;

/// Every message that the version has.
pub fn every(v: Version) -> Vec<BoxedStrategy<Pdu>> {
    let mut all = [functional(v), global(v), setup(v), e42(v)].concat();
    if v != Version::V1_01 {
        all.extend(not_in_v1(v));
    }
    all
}

fn functional(v: Version) -> Vec<BoxedStrategy<Pdu>> {
    let head = || (request(), number12());
    let admitted = vec(any::<u8>().prop_map(|id| AdmittedAction { id }), 1..=16);
    let not_admitted = vec(
        (any::<u8>(), cause(v)).prop_map(|(id, cause)| NotAdmittedAction { id, cause }),
        0..=16,
    );
    let status = if v == Version::V1_01 {
        of(control_status()).boxed()
    } else {
        Just(None).boxed()
    };
    vec![
        (head(), details(v))
            .prop_map(|((request, ran_function), details)| {
                Pdu::RicSubscriptionRequest(RicSubscriptionRequest {
                    request,
                    ran_function,
                    details,
                })
            })
            .boxed(),
        (head(), admitted, of(not_admitted))
            .prop_map(|((request, ran_function), admitted, not_admitted)| {
                Pdu::RicSubscriptionResponse(RicSubscriptionResponse {
                    request,
                    ran_function,
                    admitted,
                    not_admitted,
                })
            })
            .boxed(),
        (head(), cause(v), of(diagnostics()))
            .prop_map(|((request, ran_function), cause, diagnostics)| {
                Pdu::RicSubscriptionFailure(RicSubscriptionFailure {
                    request,
                    ran_function,
                    cause,
                    diagnostics,
                })
            })
            .boxed(),
        head()
            .prop_map(|(request, ran_function)| {
                Pdu::RicSubscriptionDeleteRequest(RicSubscriptionDeleteRequest {
                    request,
                    ran_function,
                })
            })
            .boxed(),
        head()
            .prop_map(|(request, ran_function)| {
                Pdu::RicSubscriptionDeleteResponse(RicSubscriptionDeleteResponse {
                    request,
                    ran_function,
                })
            })
            .boxed(),
        (head(), cause(v), of(diagnostics()))
            .prop_map(|((request, ran_function), cause, diagnostics)| {
                Pdu::RicSubscriptionDeleteFailure(RicSubscriptionDeleteFailure {
                    request,
                    ran_function,
                    cause,
                    diagnostics,
                })
            })
            .boxed(),
        (
            (head(), any::<u8>(), of(any::<u16>())),
            (indication_type(), octets(), octets(), of(octets())),
        )
            .prop_map(
                |(
                    ((request, ran_function), action, sequence_number),
                    (kind, header, message, call_process),
                )| {
                    Pdu::RicIndication(RicIndication {
                        request,
                        ran_function,
                        action,
                        sequence_number,
                        kind,
                        header,
                        message,
                        call_process,
                    })
                },
            )
            .boxed(),
        (head(), of(octets()), octets(), octets(), of(ack_request(v)))
            .prop_map(
                |((request, ran_function), call_process, header, message, ack_request)| {
                    Pdu::RicControlRequest(RicControlRequest {
                        request,
                        ran_function,
                        call_process,
                        header,
                        message,
                        ack_request,
                    })
                },
            )
            .boxed(),
        (head(), of(octets()), status, of(octets()))
            .prop_map(|((request, ran_function), call_process, status, outcome)| {
                Pdu::RicControlAcknowledge(RicControlAcknowledge {
                    request,
                    ran_function,
                    call_process,
                    status,
                    outcome,
                })
            })
            .boxed(),
        (
            head(),
            of(octets()),
            cause(v),
            of(octets()),
            of(diagnostics()),
        )
            .prop_map(
                |((request, ran_function), call_process, cause, outcome, diagnostics)| {
                    Pdu::RicControlFailure(RicControlFailure {
                        request,
                        ran_function,
                        call_process,
                        cause,
                        outcome,
                        diagnostics,
                    })
                },
            )
            .boxed(),
    ]
}

fn global(v: Version) -> Vec<BoxedStrategy<Pdu>> {
    let tnl_removals = vec(
        (tnl(), tnl()).prop_map(|(node, ric)| TnlAssociationRemoval { node, ric }),
        0..4,
    );
    let tnl_removals = if v == Version::V1_01 {
        Just(Vec::new()).boxed()
    } else {
        tnl_removals.boxed()
    };
    let failures = vec(
        (tnl(), cause(v)).prop_map(|(tnl, cause)| E2ConnectionFailure { tnl, cause }),
        0..4,
    );
    let failure = || {
        (
            transaction(v),
            cause(v),
            of(time_to_wait()),
            of(diagnostics()),
        )
    };
    vec![
        (
            transaction(v),
            functions(v, 0),
            functions(v, 0),
            function_ids(),
        )
            .prop_map(|(transaction, added, modified, deleted)| {
                Pdu::RicServiceUpdate(RicServiceUpdate {
                    transaction,
                    added,
                    modified,
                    deleted,
                })
            })
            .boxed(),
        (transaction(v), function_ids(), rejected_functions(v))
            .prop_map(|(transaction, accepted, rejected)| {
                Pdu::RicServiceUpdateAcknowledge(RicServiceUpdateAcknowledge {
                    transaction,
                    accepted,
                    rejected,
                })
            })
            .boxed(),
        failure()
            .prop_map(|(transaction, cause, time_to_wait, diagnostics)| {
                Pdu::RicServiceUpdateFailure(RicServiceUpdateFailure {
                    transaction,
                    cause,
                    time_to_wait,
                    diagnostics,
                })
            })
            .boxed(),
        (transaction(v), function_ids())
            .prop_map(|(transaction, accepted)| {
                Pdu::RicServiceQuery(RicServiceQuery {
                    transaction,
                    accepted,
                })
            })
            .boxed(),
        (
            transaction(v),
            of(node(v)),
            components(v, 0),
            components(v, 0),
            component_removals(v),
            tnl_removals,
        )
            .prop_map(
                |(transaction, node, added, updated, removed, tnl_removed)| {
                    Pdu::E2NodeConfigurationUpdate(E2NodeConfigurationUpdate {
                        transaction,
                        node,
                        added,
                        updated,
                        removed,
                        tnl_removed,
                    })
                },
            )
            .boxed(),
        (
            transaction(v),
            component_acks(v, 0),
            component_acks(v, 0),
            component_acks(v, 0),
        )
            .prop_map(|(transaction, added, updated, removed)| {
                Pdu::E2NodeConfigurationUpdateAcknowledge(E2NodeConfigurationUpdateAcknowledge {
                    transaction,
                    added,
                    updated,
                    removed,
                })
            })
            .boxed(),
        failure()
            .prop_map(|(transaction, cause, time_to_wait, diagnostics)| {
                Pdu::E2NodeConfigurationUpdateFailure(E2NodeConfigurationUpdateFailure {
                    transaction,
                    cause,
                    time_to_wait,
                    diagnostics,
                })
            })
            .boxed(),
        (
            transaction(v),
            connections(),
            vec(tnl().prop_map(|tnl| E2ConnectionRemoval { tnl }), 0..4),
            connections(),
        )
            .prop_map(|(transaction, added, removed, modified)| {
                Pdu::E2ConnectionUpdate(E2ConnectionUpdate {
                    transaction,
                    added,
                    removed,
                    modified,
                })
            })
            .boxed(),
        (transaction(v), connections(), failures)
            .prop_map(|(transaction, setup, failed)| {
                Pdu::E2ConnectionUpdateAcknowledge(E2ConnectionUpdateAcknowledge {
                    transaction,
                    setup,
                    failed,
                })
            })
            .boxed(),
        (
            transaction(v),
            of(cause(v)),
            of(time_to_wait()),
            of(diagnostics()),
        )
            .prop_map(|(transaction, cause, time_to_wait, diagnostics)| {
                Pdu::E2ConnectionUpdateFailure(E2ConnectionUpdateFailure {
                    transaction,
                    cause,
                    time_to_wait,
                    diagnostics,
                })
            })
            .boxed(),
    ]
}

fn setup_failure(v: Version) -> BoxedStrategy<E2SetupFailure> {
    (
        transaction(v),
        cause(v),
        of(time_to_wait()),
        of(diagnostics()),
        of(tnl()),
    )
        .prop_map(
            |(transaction, cause, time_to_wait, diagnostics, tnl)| E2SetupFailure {
                transaction,
                cause,
                time_to_wait,
                diagnostics,
                tnl,
            },
        )
        .boxed()
}

fn setup(v: Version) -> Vec<BoxedStrategy<Pdu>> {
    let v1 = v == Version::V1_01;
    let some_transaction = if v1 {
        Just(None).boxed()
    } else {
        of(transaction(v)).boxed()
    };
    vec![
        (
            transaction(v),
            node(v),
            functions(v, if v1 { 0 } else { 1 }),
            components(v, 1),
        )
            .prop_map(|(transaction, node, functions, components)| {
                Pdu::E2SetupRequest(E2SetupRequest {
                    transaction,
                    node,
                    functions,
                    components,
                })
            })
            .boxed(),
        (
            transaction(v),
            ric(),
            function_ids(),
            rejected_functions(v),
            component_acks(v, 1),
        )
            .prop_map(|(transaction, ric, accepted, rejected, components)| {
                Pdu::E2SetupResponse(E2SetupResponse {
                    transaction,
                    ric,
                    accepted,
                    rejected,
                    components,
                })
            })
            .boxed(),
        setup_failure(v).prop_map(Pdu::E2SetupFailure).boxed(),
        (
            some_transaction,
            of(request()),
            of(number12()),
            of(cause(v)),
            of(diagnostics()),
        )
            .prop_map(|(transaction, request, ran_function, cause, diagnostics)| {
                Pdu::ErrorIndication(ErrorIndication {
                    transaction,
                    request,
                    ran_function,
                    cause,
                    diagnostics,
                })
            })
            .boxed(),
        (transaction(v), cause(v))
            .prop_map(|(transaction, cause)| Pdu::ResetRequest(ResetRequest { transaction, cause }))
            .boxed(),
        (transaction(v), of(diagnostics()))
            .prop_map(|(transaction, diagnostics)| {
                Pdu::ResetResponse(ResetResponse {
                    transaction,
                    diagnostics,
                })
            })
            .boxed(),
    ]
}

fn not_in_v1(v: Version) -> Vec<BoxedStrategy<Pdu>> {
    let subscription =
        (request(), number12(), cause(v)).prop_map(|(request, ran_function, cause)| {
            SubscriptionToBeRemoved {
                request,
                ran_function,
                cause,
            }
        });
    vec![
        prop_oneof![9 => vec(subscription.clone(), 1..5), 1 => vec(subscription, 1024)]
            .prop_map(|subscriptions| {
                Pdu::RicSubscriptionDeleteRequired(RicSubscriptionDeleteRequired { subscriptions })
            })
            .boxed(),
        transaction(v)
            .prop_map(|transaction| Pdu::E2RemovalRequest(E2RemovalRequest { transaction }))
            .boxed(),
        (transaction(v), of(diagnostics()))
            .prop_map(|(transaction, diagnostics)| {
                Pdu::E2RemovalResponse(E2RemovalResponse {
                    transaction,
                    diagnostics,
                })
            })
            .boxed(),
        (transaction(v), cause(v), of(diagnostics()))
            .prop_map(|(transaction, cause, diagnostics)| {
                Pdu::E2RemovalFailure(E2RemovalFailure {
                    transaction,
                    cause,
                    diagnostics,
                })
            })
            .boxed(),
    ]
}

fn e42(v: Version) -> Vec<BoxedStrategy<Pdu>> {
    let least = if v == Version::V1_01 { 0 } else { 1 };
    let connected = (node(v), components(v, 1), functions(v, least)).prop_map(
        |(node, components, functions)| E42Node {
            node,
            components,
            functions,
        },
    );
    vec![
        functions(v, 1)
            .prop_map(|functions| Pdu::E42SetupRequest(E42SetupRequest { functions }))
            .boxed(),
        (any::<u16>(), vec(connected, 0..4))
            .prop_map(|(xapp_id, nodes)| Pdu::E42SetupResponse(E42SetupResponse { xapp_id, nodes }))
            .boxed(),
        setup_failure(v).prop_map(Pdu::E42SetupFailure).boxed(),
        (any::<u16>(), node(v), request(), number12(), details(v))
            .prop_map(|(xapp_id, node, request, ran_function, details)| {
                Pdu::E42SubscriptionRequest(E42SubscriptionRequest {
                    xapp_id,
                    node,
                    request,
                    ran_function,
                    details,
                })
            })
            .boxed(),
        (any::<u16>(), request(), number12())
            .prop_map(|(xapp_id, request, ran_function)| {
                Pdu::E42SubscriptionDeleteRequest(E42SubscriptionDeleteRequest {
                    xapp_id,
                    request,
                    ran_function,
                })
            })
            .boxed(),
        (
            (any::<u16>(), node(v), request(), number12()),
            (of(octets()), octets(), octets(), of(ack_request(v))),
        )
            .prop_map(
                |(
                    (xapp_id, node, request, ran_function),
                    (call_process, header, message, ack_request),
                )| {
                    Pdu::E42ControlRequest(E42ControlRequest {
                        xapp_id,
                        node,
                        request,
                        ran_function,
                        call_process,
                        header,
                        message,
                        ack_request,
                    })
                },
            )
            .boxed(),
    ]
}
