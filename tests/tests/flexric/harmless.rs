//! Everything that Cantor says through an eventful hour, held against the table of [what kills](super::kills).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use e2sm::e2ap::{GlobalE2NodeId, Pdu, RicSubscriptionRequest, Version, decode};

use crate::agent::{self, Agent, Kind};
use crate::cantor::{Cantor, config};
use crate::life::{MODELS, bounded, mono, until};
use crate::ric::Ric;

/// Agents and RIC end and come back in every order, one is behind with reading, one without UEs: everything that
/// Cantor says meanwhile is held against the table.
#[tokio::test(flavor = "multi_thread")]
async fn cantor_never_does_what_kills() {
    bounded(async {
        let mut ric = Ric::start(Version::V2_03).await;
        let mut lives = vec![Arc::clone(&ric.core)];
        let mut agent = Agent::start(&ric.e2, mono());
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        cantor.until_reporting(MODELS).await;
        agent.fall_silent_and_die().await;
        cantor.until_down().await;
        agent = Agent::start(&ric.e2, mono());
        cantor.until_reporting(MODELS).await;
        let (e2, e42) = ric.kill().await;
        cantor.until_down().await;
        ric = Ric::start_at(Version::V2_03, e2, e42).await;
        lives.push(Arc::clone(&ric.core));
        cantor.until_reporting(MODELS).await;
        agent.fall_silent_and_die().await;
        cantor.until_down().await;
        agent = Agent::start(&ric.e2, mono());
        {
            let mut state = agent.state.lock().unwrap();
            (state.behind, state.idle) = (2, true);
        }
        until(|| agent.subscriptions() >= MODELS).await;
        agent.state.lock().unwrap().idle = false;
        cantor.until_reporting(MODELS).await;
        cantor.stop().await;
        ric.assert_alive();
        agent.assert_alive();
        assert_eq!(*ric.pipelined.lock().unwrap(), 0, "requests came together");
        let mut used = BTreeSet::new();
        let said: Vec<usize> = lives
            .iter()
            .map(|core| harmless(&core.lock().unwrap().talk, &mono(), &mut used))
            .collect();
        println!("subscriptions asked for in each life of the RIC: {said:?}");
        assert!(said.iter().all(|count| *count >= MODELS), "{said:?}");
    })
    .await;
}

/// Checks everything that was said to one life of a RIC; the number of subscriptions asked for.
fn harmless(talk: &[(u64, Pdu)], kind: &Kind, used: &mut BTreeSet<(u16, u16)>) -> usize {
    let Pdu::E2SetupRequest(offered) = decode(&kind.setup, kind.version).unwrap().value else {
        panic!("no setup")
    };
    let mut ids: BTreeMap<u64, BTreeSet<u16>> = BTreeMap::new();
    let mut nodes: BTreeMap<u64, Vec<GlobalE2NodeId>> = BTreeMap::new();
    let mut known = BTreeSet::new();
    let mut functions = Vec::new();
    for (association, pdu) in talk {
        match pdu {
            Pdu::E42SetupRequest(setup) => assert!(!setup.functions.is_empty()),
            Pdu::E42SetupResponse(response) => {
                ids.entry(*association)
                    .or_default()
                    .insert(response.xapp_id);
                let listed = response.nodes.iter().map(|node| node.node.clone());
                nodes.insert(*association, listed.collect());
            }
            Pdu::E42SubscriptionRequest(asked) => {
                assert!(ids[association].contains(&asked.xapp_id), "xApp id");
                assert!(nodes[association].contains(&asked.node), "node");
                assert_eq!(asked.node, offered.node, "a guard is asked for nothing");
                let request = (asked.request.requestor, asked.request.instance);
                assert!(used.insert(request), "request ids are never used twice");
                assert_eq!(asked.request.instance, asked.xapp_id, "no other xApp's");
                known.insert((request, asked.ran_function));
                functions.push(asked.ran_function);
                let [action] = asked.details.actions.as_slice() else {
                    panic!("not one action")
                };
                assert_eq!(action.id, 0);
                let forwarded = RicSubscriptionRequest {
                    request: asked.request,
                    ran_function: asked.ran_function,
                    details: asked.details.clone(),
                };
                // RAN function, period, trigger and, for KPM, everything else.
                agent::subscribed(&forwarded, kind).unwrap();
            }
            Pdu::E42SubscriptionDeleteRequest(deleted) => {
                let request = (deleted.request.requestor, deleted.request.instance);
                assert!(
                    known.remove(&(request, deleted.ran_function)),
                    "deleted twice, or never subscribed"
                );
            }
            other => panic!("{} is never sent", other.name()),
        }
    }
    // So that after a restart of the RIC its numbers mean the same functions again.
    assert_eq!(functions[..MODELS], [2, 142, 143, 144, 148]);
    functions.len()
}
