//! Other xApps on the same RIC, and the ends that the RIC does not see coming.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use e2sm::e2ap::{GlobalE2NodeId, Pdu, RicRequestId, Version, decode, encode};
use e2sm::e42::{E42SubscriptionDeleteRequest, E42SubscriptionRequest};
use transport::{Address, Connection, Receiver, Sender};
use xapp::ran::{RanEvent, ServiceModel, SubscriptionState};

use crate::agent::{Agent, Kind};
use crate::cantor::{Cantor, config};
use crate::life::{MODELS, bounded, mono, until};
use crate::ric::Ric;

/// An xApp made with FlexRIC's SDK, more or less.
struct Foreign {
    sender: Sender,
    receiver: Receiver,
    xapp_id: u16,
    node: GlobalE2NodeId,
}

impl Foreign {
    async fn set_up(e42: &Address) -> Foreign {
        let connection = Connection::connect(e42, Duration::from_secs(5))
            .await
            .unwrap();
        let (mut sender, mut receiver) = connection.split();
        sender
            .send(&crate::vector("v2_e42_setup_req"))
            .await
            .unwrap();
        let answer = receiver.receive().await.unwrap().unwrap();
        let Pdu::E42SetupResponse(response) = decode(&answer.bytes, Version::V2_03).unwrap().value
        else {
            panic!("no setup response")
        };
        let (xapp_id, node) = (response.xapp_id, response.nodes[0].node.clone());
        Foreign {
            sender,
            receiver,
            xapp_id,
            node,
        }
    }

    async fn send(&mut self, pdu: Pdu) {
        self.sender
            .send(&encode(&pdu, Version::V2_03).unwrap())
            .await
            .unwrap();
    }

    /// Subscribes to MAC under an id of its choice, and waits for the answer.
    async fn subscribe(&mut self, request: RicRequestId) {
        let octets = crate::vector("v2_e42_sub_req_mac");
        let Pdu::E42SubscriptionRequest(like_it) = decode(&octets, Version::V2_03).unwrap().value
        else {
            panic!("no subscription")
        };
        let (xapp_id, node) = (self.xapp_id, self.node.clone());
        let pdu = Pdu::E42SubscriptionRequest(E42SubscriptionRequest {
            xapp_id,
            node,
            request,
            ..like_it
        });
        self.send(pdu).await;
        loop {
            let message = self.receiver.receive().await.unwrap().unwrap();
            let pdu = decode(&message.bytes, Version::V2_03).unwrap().value;
            if matches!(pdu, Pdu::RicSubscriptionResponse(_)) {
                return;
            }
        }
    }

    async fn delete(&mut self, request: RicRequestId) {
        let (xapp_id, ran_function) = (self.xapp_id, 142);
        self.send(Pdu::E42SubscriptionDeleteRequest(
            E42SubscriptionDeleteRequest {
                xapp_id,
                request,
                ran_function,
            },
        ))
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_cantors_do_not_disturb_each_other() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, mono());
        let mut first = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        let mut second = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        first.until_reporting(MODELS).await;
        second.until_reporting(MODELS).await;
        assert_eq!(agent.subscriptions(), 2 * MODELS);
        first.stop().await;
        until(|| agent.subscriptions() == MODELS).await;
        for _ in 0..20 {
            second
                .until(|event| matches!(event, RanEvent::Indication { .. }))
                .await;
        }
        assert_eq!(second.foreign(), 0, "indications of the other");
        second.stop().await;
        until(|| agent.subscriptions() == 0).await;
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loss_of_a_subscription_to_a_foreign_xapp_with_the_same_ids_is_survived() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, mono());
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        let of_mac = |event: &RanEvent, state| {
            matches!(event, RanEvent::Subscription { status, .. }
                if status.model == ServiceModel::Mac && status.state == state)
        };
        let request = |event| match event {
            RanEvent::Subscription { status, .. } => RicRequestId {
                requestor: status.requestor,
                instance: status.instance,
            },
            other => panic!("{other:?}"),
        };
        let first = request(
            cantor
                .until(|event| of_mac(event, SubscriptionState::Active))
                .await,
        );
        let reading = tokio::spawn(async move {
            cantor
                .until(|event| of_mac(event, SubscriptionState::Ended))
                .await;
            let second = cantor
                .until(|event| of_mac(event, SubscriptionState::Active))
                .await;
            (cantor, second)
        });
        let mut foreign = Foreign::set_up(&ric.e42).await;
        foreign.subscribe(first).await;
        // The RIC deletes the older one: Cantor's.
        foreign.delete(first).await;
        let (cantor, second) = reading.await.unwrap();
        assert_ne!(request(second), first);
        cantor.stop().await;
        // The foreign one is left.
        until(|| agent.subscriptions() == 1).await;
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}

/// Reports that can no longer be forwarded to a dead xApp lie before everything that its successor says.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_cantor_that_was_killed_the_next_one_gets_through() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, mono());
        for _ in 0..3 {
            let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
            cantor.until_reporting(MODELS).await;
            cantor.kill();
            ric.assert_alive();
        }
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        cantor.until_reporting(MODELS).await;
        cantor.stop().await;
        until(|| agent.subscriptions() == 0).await;
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}

/// An agent reads one message per wake-up: of the deletions that the RIC sends for a dead xApp, all but the first lie
/// before everything that comes later.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_behind_is_subscribed_to_all_the_same() {
    bounded(async {
        for behind in [1, MODELS - 1] {
            let ric = Ric::start(Version::V2_03).await;
            let agent = Agent::start(&ric.e2, mono());
            until(|| agent.state.lock().unwrap().set_up).await;
            agent.state.lock().unwrap().behind = behind;
            let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
            cantor.until_reporting(MODELS).await;
            cantor.stop().await;
            ric.assert_alive();
            agent.assert_alive();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_guard_nothing_is_said_to_a_ric() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let (nowhere, _) = Ric::start(Version::V2_03).await.kill().await;
        let mut cantor = Cantor::start(config(Version::V2_03, &nowhere, &ric.e42));
        until(|| cantor.counters.associations.load(Relaxed) > 0).await;
        // Some attempts, and then nodes that only an E42 setup would show.
        let quiet = tokio::time::timeout(Duration::from_secs(1), cantor.events.recv()).await;
        assert!(quiet.is_err(), "{quiet:?}");
        assert_eq!(cantor.counters.pdus_sent.load(Relaxed), 0);
        cantor.stop().await;
        ric.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_may_vouch_for_the_nodes_instead() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, Kind::of("v2_e2_setup_req"));
        until(|| ric.known().0 == 1).await;
        let mut config = config(Version::V2_03, &ric.e2, &ric.e42);
        config.guard = None;
        let mut cantor = Cantor::start(config);
        cantor.until_reporting(MODELS).await;
        cantor.stop().await;
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}
