//! Starts, ends and restarts in every order.

use std::time::Duration;

use e2sm::e2ap::Version;

use crate::agent::{Agent, Kind};
use crate::cantor::{Cantor, config};
use crate::ric::Ric;

/// A test that waits for what never comes fails instead of hanging.
pub async fn bounded(body: impl Future<Output = ()>) {
    tokio::time::timeout(Duration::from_secs(120), body)
        .await
        .expect("what was awaited did not happen");
}

/// KPM, MAC, RLC, PDCP and GTP.
pub const MODELS: usize = 5;

pub fn mono() -> Kind {
    Kind::of("v2_e2_setup_req")
}

/// Waits until something is so that no event tells of.
pub async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cantor_comes_first_then_the_ric_then_the_agent() {
    bounded(async {
        // Addresses where nothing listens yet.
        let (e2, e42) = Ric::start(Version::V2_03).await.kill().await;
        let mut cantor = Cantor::start(config(Version::V2_03, &e2, &e42));
        let ric = Ric::start_at(Version::V2_03, e2, e42).await;
        // A RIC without nodes is asked for them again and again.
        until(|| {
            cantor
                .counters
                .pdus_received
                .load(std::sync::atomic::Ordering::Relaxed)
                > 3
        })
        .await;
        ric.assert_alive();
        let agent = Agent::start(&ric.e2, mono());
        cantor.until_reporting(MODELS).await;
        cantor.stop().await;
        until(|| agent.subscriptions() == 0).await;
        assert_eq!(ric.known(), (1, 0), "one node, and no requests are left");
        assert_eq!(*ric.pipelined.lock().unwrap(), 0, "requests came together");
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_of_every_version_and_dialect_are_subscribed_to_in_their_own() {
    bounded(async {
        for (setup, version, models) in [
            ("v1_e2_setup_req", Version::V1_01, MODELS),
            ("v2_e2_setup_req", Version::V2_03, MODELS),
            ("v3_e2_setup_req", Version::V3_01, MODELS),
            ("v2_cudu_e2_setup_req_du", Version::V2_03, 3),
            ("v2_cudu_e2_setup_req_cu", Version::V2_03, 1),
        ] {
            let ric = Ric::start(version).await;
            let agent = Agent::start(&ric.e2, Kind::of(setup));
            let mut cantor = Cantor::start(config(version, &ric.e2, &ric.e42));
            cantor.until_reporting(models).await;
            cantor.stop().await;
            ric.assert_alive();
            agent.assert_alive();
            assert_eq!(ric.known().1, 0, "{setup}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_goes_is_missed_and_never_asked_for_anything() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        for _ in 0..3 {
            let agent = Agent::start(&ric.e2, mono());
            cantor.until_reporting(MODELS).await;
            agent.fall_silent_and_die().await;
            cantor.until_down().await;
            ric.assert_alive();
        }
        cantor.stop().await;
        ric.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_while_the_agent_is_gone_deletes_nothing() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, mono());
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        cantor.until_reporting(MODELS).await;
        agent.fall_silent_and_die().await;
        until(|| ric.known().0 == 0).await;
        cantor.stop().await;
        ric.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_nodes_one_goes_and_the_other_goes_on() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let du = Agent::start(&ric.e2, Kind::of("v2_cudu_e2_setup_req_du"));
        let cu = Agent::start(&ric.e2, Kind::of("v2_cudu_e2_setup_req_cu"));
        until(|| ric.known().0 == 2).await;
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        cantor.until_reporting(4).await;
        cu.fall_silent_and_die().await;
        cantor.until_down().await;
        // Reports of the DU go on, and a kill of Cantor makes the RIC delete its subscriptions: not those at the CU.
        cantor
            .until(|event| matches!(event, xapp::ran::RanEvent::Indication { .. }))
            .await;
        cantor.stop().await;
        until(|| du.subscriptions() == 0).await;
        ric.assert_alive();
        du.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_restarted_within_its_silence_is_subscribed_to_again() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, mono());
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        cantor.until_reporting(MODELS).await;
        agent.fall_silent_and_die().await;
        let agent = Agent::start(&ric.e2, mono());
        cantor.until_reporting(MODELS).await;
        assert_eq!(agent.subscriptions(), MODELS);
        cantor.stop().await;
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ric_restarts_while_the_agent_goes_on_with_its_subscriptions() {
    bounded(async {
        let mut ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, mono());
        let mut cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        cantor.until_reporting(MODELS).await;
        for _ in 0..3 {
            let (e2, e42) = ric.kill().await;
            cantor.until_down().await;
            ric = Ric::start_at(Version::V2_03, e2, e42).await;
            cantor.until_reporting(MODELS).await;
        }
        cantor.stop().await;
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_without_ues_keeps_its_subscriptions() {
    bounded(async {
        let ric = Ric::start(Version::V2_03).await;
        let agent = Agent::start(&ric.e2, mono());
        agent.state.lock().unwrap().idle = true;
        let cantor = Cantor::start(config(Version::V2_03, &ric.e2, &ric.e42));
        until(|| agent.subscriptions() == MODELS).await;
        // Looked after and renewed: old subscriptions are deleted for the new ones.
        let requests = || agent.state.lock().unwrap().subscriptions.clone();
        let first = requests();
        until(|| agent.subscriptions() == MODELS && requests()[0].0 != first[0].0).await;
        until(|| agent.subscriptions() == MODELS).await;
        cantor.stop().await;
        until(|| agent.subscriptions() == 0).await;
        assert_eq!(ric.known(), (1, 0));
        ric.assert_alive();
        agent.assert_alive();
    })
    .await;
}
