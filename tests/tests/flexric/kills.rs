//! What kills what: each way in which an xApp was seen to end a FlexRIC RIC, or the gNB behind it; that the fakes end by
//! it, too; and that Cantor never goes it, whatever happens around it.

use e2sm::e2ap::{
    GlobalE2NodeId, Pdu, RicControlAckRequest, RicControlRequest, RicRequestId,
    RicSubscriptionRequest, Version, decode, encode,
};
use e2sm::e42::E42SubscriptionRequest;
use e2sm::kpm::{ActionDefinition, ActionFormat, Dialect, MeasInfo, TestValue};

use crate::agent::{self, State};
use crate::core::Core;
use crate::life::mono;

/// A row of the table: what an xApp does, who ends by it and why, and the tests in which Cantor comes near it.
struct Row {
    does: &'static str,
    ends: fn() -> Result<(), String>,
    why: &'static str,
    tests: &'static [&'static str],
}

/// Every row has [`cantor_never_does_what_kills`](super::harmless) in addition, as has what does not kill, but delays for ever: requests
/// that come together.
const ROWS: [Row; 20] = [
    Row {
        does: "E42 setup with no E2 node connected",
        ends: || ric(|core| core.node_shut_down(NODE), setup()),
        why: "E42 setup without",
        tests: &[
            "cantor_comes_first_then_the_ric_then_the_agent",
            "without_its_guard_nothing_is_said_to_a_ric",
            "only_a_report_of_this_moment_spares_the_guard",
        ],
    },
    Row {
        does: "an E2 association that shuts down before its setup (a guard)",
        ends: || ric(|core| core.node_shut_down(5), setup()),
        why: "shutdown of a node that never set up",
        tests: &["cantor_comes_first_then_the_ric_then_the_agent"],
    },
    Row {
        does: "an E2 node that is there already (a guard)",
        ends: || ric(|core| core.hear_node(5, &mono().setup), setup()),
        why: "E2 node gnb:505-01:00000001/32 is already there",
        tests: &["two_cantors_do_not_disturb_each_other"],
    },
    Row {
        does: "subscription, unknown node id",
        ends: || ric(|core| core.node_shut_down(NODE), subscription(|_| {})),
        why: "E2 node gnb:505-01:00000001/32 not found",
        tests: &[
            "an_agent_that_goes_is_missed_and_never_asked_for_anything",
            "only_a_proof_of_this_moment_allows_a_request_at_a_node",
        ],
    },
    Row {
        does: "subscription, xApp id never assigned",
        ends: || ric(|_| {}, subscription(|asked| asked.xapp_id = 99)),
        why: "xApp id 99 was never assigned",
        tests: &[],
    },
    Row {
        does: "bytes that are not a PDU",
        ends: || ric(|core| core.hear_xapp(XAPP, &[0xff; 9]), setup()),
        why: "undecodable",
        tests: &[],
    },
    Row {
        does: "another E2AP version's PDU",
        ends: || {
            ric(
                |core| core.hear_xapp(XAPP, &crate::vector("v1_e42_setup_req")),
                setup(),
            )
        },
        why: "",
        tests: &[
            "agents_of_every_version_and_dialect_are_subscribed_to_in_their_own",
            "a_ric_that_keeps_ending_is_left_alone_ever_longer",
        ],
    },
    Row {
        does: "subscription with action id 1",
        ends: || {
            let asked = subscription(|asked| asked.details.actions[0].id = 1);
            both(asked)
        },
        why: "an action id that is not 0",
        tests: &["a_subscription_has_one_report_action_with_id_0"],
    },
    Row {
        does: "delete of an unknown request",
        ends: || ric(|_| {}, deletion()),
        why: "deletion of an unknown request",
        tests: &["a_request_is_deleted_once_whether_it_was_answered_or_not"],
    },
    Row {
        does: "delete when the node has gone",
        ends: || {
            let gone = |core: &mut Core| {
                core.hear_xapp(XAPP, &octets(&subscription(|_| {})));
                core.node_shut_down(NODE);
            };
            ric(gone, deletion())
        },
        why: "E2 node gnb:505-01:00000001/32 not found",
        tests: &["stopping_while_the_agent_is_gone_deletes_nothing"],
    },
    Row {
        does: "subscription to RAN function 200",
        ends: || both(subscription(|asked| asked.ran_function = 200)),
        why: "unknown RAN function",
        tests: &["only_what_is_offered_is_asked_for"],
    },
    Row {
        does: "2 actions",
        ends: || {
            both(subscription(|asked| {
                let action = asked.details.actions[0].clone();
                asked.details.actions.push(action);
            }))
        },
        why: "not one action",
        tests: &["a_subscription_has_one_report_action_with_id_0"],
    },
    Row {
        does: "period 11000 ms",
        ends: || {
            both(subscription(|asked| {
                asked.details.event_trigger = 11_000_u32.to_le_bytes().to_vec();
            }))
        },
        why: "period of 11000 ms",
        tests: &["errors_name_source_and_key_and_say_what_to_write"],
    },
    Row {
        does: "control, noAck or otherwise",
        ends: control,
        why: "RICcontrolRequest is not implemented",
        tests: &[],
    },
    Row {
        does: "KPM: old dialect to a new agent",
        ends: || {
            let old = kpm(
                "v1_e42_sub_req_kpm",
                Version::V1_01,
                Dialect::FlexRic2023,
                |_| {},
            );
            agent_hears(old)
        },
        why: "",
        tests: &["agents_of_every_version_and_dialect_are_subscribed_to_in_their_own"],
    },
    Row {
        does: "KPM: wrong S-NSSAI value type, or SST with SD",
        ends: || {
            let with_sd = |action: &mut ActionDefinition| {
                if let ActionFormat::Format4 { conditions, .. } = &mut action.format {
                    conditions[0].test.value = Some(TestValue::Octets(vec![1, 0, 0, 1]));
                }
            };
            agent_hears(kpm(
                "v2_e42_sub_req_kpm",
                Version::V2_03,
                Dialect::Standard,
                with_sd,
            ))
        },
        why: "condition",
        tests: &["a_flexric_agent_is_asked_for_style_4_by_sst_alone"],
    },
    Row {
        does: "KPM: unknown name",
        ends: || {
            let unknown = |action: &mut ActionDefinition| {
                if let ActionFormat::Format4 { action, .. } = &mut action.format {
                    action.info.push(MeasInfo::named("DRB.Nonsense"));
                }
            };
            agent_hears(kpm(
                "v2_e42_sub_req_kpm",
                Version::V2_03,
                Dialect::Standard,
                unknown,
            ))
        },
        why: "unknown name",
        tests: &["only_what_is_offered_is_asked_for"],
    },
    Row {
        does: "KPM: another style than 4",
        ends: || agent_hears_vector("v2_e42_sub_req_kpm_fmt1"),
        why: "not action format 4",
        tests: &["a_flexric_agent_is_asked_for_style_4_by_sst_alone"],
    },
    Row {
        does: "event trigger of 1 octet for MAC",
        ends: || both(subscription(|asked| asked.details.event_trigger = vec![1])),
        why: "trigger of another length",
        tests: &["a_subscription_has_one_report_action_with_id_0"],
    },
    Row {
        does: "RIC restarted while an agent runs: a request id of another RAN function",
        ends: clash,
        why: "request 1021 is of another RAN function",
        tests: &[
            "the_ric_restarts_while_the_agent_goes_on_with_its_subscriptions",
            "an_agent_restarted_within_its_silence_is_subscribed_to_again",
        ],
    },
];

/// Associations at the fake RIC.
const NODE: u64 = 1;
const XAPP: u64 = 2;

fn octets(pdu: &Pdu) -> Vec<u8> {
    encode(pdu, Version::V2_03).unwrap()
}

fn setup() -> Pdu {
    decode(&crate::vector("v2_e42_setup_req"), Version::V2_03)
        .unwrap()
        .value
}

/// A subscription that is sound but for `change`.
fn subscription(change: impl Fn(&mut E42SubscriptionRequest)) -> Pdu {
    let octets = crate::vector("v2_e42_sub_req_mac");
    let Pdu::E42SubscriptionRequest(mut asked) = decode(&octets, Version::V2_03).unwrap().value
    else {
        panic!("no subscription")
    };
    (asked.xapp_id, asked.node) = (7, node());
    change(&mut asked);
    Pdu::E42SubscriptionRequest(asked)
}

fn deletion() -> Pdu {
    let Pdu::E42SubscriptionRequest(asked) = subscription(|_| {}) else {
        panic!("no subscription")
    };
    Pdu::E42SubscriptionDeleteRequest(e2sm::e42::E42SubscriptionDeleteRequest {
        xapp_id: 7,
        request: asked.request,
        ran_function: asked.ran_function,
    })
}

fn node() -> GlobalE2NodeId {
    match decode(&mono().setup, Version::V2_03).unwrap().value {
        Pdu::E2SetupRequest(setup) => setup.node,
        other => panic!("{}", other.name()),
    }
}

/// A RIC with one node and one xApp.
fn core() -> Core {
    let mut core = Core::new(Version::V2_03);
    core.hear_node(NODE, &mono().setup);
    core.hear_xapp(XAPP, &crate::vector("v2_e42_setup_req"));
    assert_eq!(core.aborted(), None);
    core.take_out();
    core
}

fn outcome(core: &Core) -> Result<(), String> {
    core.aborted().map_or(Ok(()), |why| Err(why.to_owned()))
}

/// The RIC, after something happened and an xApp said something.
fn ric(happened: fn(&mut Core), said: Pdu) -> Result<(), String> {
    let mut core = core();
    happened(&mut core);
    core.hear_xapp(XAPP, &octets(&said));
    outcome(&core)
}

/// The RIC, or the agent to which it forwards what an xApp said.
fn both(said: Pdu) -> Result<(), String> {
    let mut core = core();
    core.hear_xapp(XAPP, &octets(&said));
    outcome(&core)?;
    for (to, forwarded) in core.take_out() {
        assert_eq!(to, NODE);
        let pdu = decode(&forwarded, Version::V2_03).unwrap().value;
        if let Some(answer) = agent::heard(pdu, &mono(), &mut State::default())? {
            core.hear_node(NODE, &octets(&answer));
            outcome(&core)?;
        }
    }
    Ok(())
}

/// The agent, told what an xApp asked for.
fn agent_hears(asked: E42SubscriptionRequest) -> Result<(), String> {
    let request = RicSubscriptionRequest {
        request: asked.request,
        ran_function: asked.ran_function,
        details: asked.details,
    };
    agent::subscribed(&request, &mono()).map(|_| ())
}

fn agent_hears_vector(vector: &str) -> Result<(), String> {
    match decode(&crate::vector(vector), Version::V2_03)
        .unwrap()
        .value
    {
        Pdu::E42SubscriptionRequest(asked) => agent_hears(asked),
        other => panic!("{}", other.name()),
    }
}

fn kpm(
    vector: &str,
    version: Version,
    dialect: Dialect,
    change: impl Fn(&mut ActionDefinition),
) -> E42SubscriptionRequest {
    let octets = crate::vector(vector);
    let Pdu::E42SubscriptionRequest(mut asked) = decode(&octets, version).unwrap().value else {
        panic!("no subscription")
    };
    let action = &mut asked.details.actions[0];
    let octets = action.definition.take().unwrap();
    let (mut definition, _) = ActionDefinition::decode(&octets, dialect).unwrap();
    change(&mut definition);
    action.definition = Some(definition.encode(dialect).unwrap());
    asked
}

fn control() -> Result<(), String> {
    let request = Pdu::RicControlRequest(RicControlRequest {
        request: RicRequestId {
            requestor: 1021,
            instance: 0,
        },
        ran_function: 142,
        call_process: None,
        header: vec![0; 4],
        message: vec![0; 4],
        ack_request: Some(RicControlAckRequest::NoAck),
    });
    agent::heard(request, &mono(), &mut State::default()).map(|_| ())
}

/// The agent still reports MAC under the first request id, which now is RLC's.
fn clash() -> Result<(), String> {
    let report = {
        let mut before = core();
        before.hear_xapp(XAPP, &octets(&subscription(|_| {})));
        let octets_of_old = crate::vector("v2_e42_ind_mac_1");
        let Pdu::RicIndication(mut report) = decode(&octets_of_old, Version::V2_03).unwrap().value
        else {
            panic!("no indication")
        };
        report.request.requestor = 1021;
        report.ran_function = 142;
        octets(&Pdu::RicIndication(report))
    };
    let mut after = core();
    after.hear_xapp(
        XAPP,
        &octets(&subscription(|asked| asked.ran_function = 143)),
    );
    after.hear_node(NODE, &report);
    outcome(&after)
}

#[test]
fn the_fakes_end_by_every_row_of_the_table() {
    for Row {
        does, ends, why, ..
    } in &ROWS
    {
        let reason = ends().expect_err(does);
        println!("{does}: {reason}");
        assert!(reason.starts_with(why), "{does}: {reason}");
    }
    // And only by these: what the table's rows change is sound without the change.
    assert_eq!(both(subscription(|_| {})), Ok(()));
    let sound = kpm(
        "v2_e42_sub_req_kpm",
        Version::V2_03,
        Dialect::Standard,
        |_| {},
    );
    assert_eq!(agent_hears(sound), Ok(()));
}

/// The tests that the rows name are there.
#[test]
fn every_row_has_its_tests() {
    const SOURCES: [&str; 8] = [
        include_str!("life.rs"),
        include_str!("neighbours.rs"),
        include_str!("kills.rs"),
        include_str!("../../../xapp/src/ran/flexric/rules.rs"),
        include_str!("../../../xapp/src/ran/flexric/ledger_tests.rs"),
        include_str!("../../../xapp/src/ran/plan/tests.rs"),
        include_str!("../../../xapp/src/ran/flexric/guard.rs"),
        include_str!("../../../xapp/tests/config.rs"),
    ];
    for row in &ROWS {
        for test in row.tests {
            let definition = format!("fn {test}(");
            assert!(
                SOURCES.iter().any(|source| source.contains(&definition)),
                "{}: no test {test}",
                row.does
            );
        }
    }
}
