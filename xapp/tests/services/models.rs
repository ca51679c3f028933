//! Models of a running xApp under load: bundles that must be refused are, while every tick goes on, and a good one is
//! taken over without a restart.

use crate::bundle::{self, card, network, spread};
use crate::rig::{Rig, config, registration};
use policies::GainPolicy;
use policies::model::Bundle;
use proto::guidance::guide_request::Message as Request;
use proto::operations::model_service_client::ModelServiceClient;
use proto::operations::{
    Decision, ListModelsRequest, Model, ReloadModelsRequest, WatchDecisionsRequest,
    WatchDecisionsResponse,
};
use std::collections::BTreeMap;
use std::path::Path;
use tonic::Streaming;
use tonic::transport::Channel;
use xapp::config::Config;
use xapp::models::Backend;

const FLOWS: u16 = 50;

fn with_model(folder: &Path) -> Config {
    let mut config = config();
    config.control.interval_ms = 200;
    config.ran.report_period_ms = 10;
    config.control.policies = vec![GainPolicy::Prism, GainPolicy::Rapid];
    config.models.prism = folder.to_owned();
    config.models.backend = Backend::Native;
    // Looked at when the test says so.
    config.models.look_every_ms = 3_600_000;
    config
}

async fn reload(client: &mut ModelServiceClient<Channel>) -> (String, Model) {
    let answer = client.reload_models(ReloadModelsRequest {}).await.unwrap();
    let answer = answer.into_inner();
    (answer.outcome, answer.model.unwrap())
}

/// The decisions of the next ticks, by sequence of the tick: flows of one tick share its time.
async fn ticks(
    watched: &mut Streaming<WatchDecisionsResponse>,
    count: usize,
) -> BTreeMap<i64, Vec<Decision>> {
    let mut ticks: BTreeMap<i64, Vec<Decision>> = BTreeMap::new();
    loop {
        let response = watched.message().await.unwrap().unwrap();
        assert_eq!(response.skipped, 0);
        let decision = response.decision.unwrap();
        ticks.entry(decision.time_us).or_default().push(decision);
        let whole = ticks.values().filter(|t| t.len() == usize::from(FLOWS));
        if whole.count() == count {
            return ticks;
        }
    }
}

/// Value of a counter on the metrics page.
fn counter(page: &str, name: &str) -> u64 {
    let line = page.lines().find(|line| line.starts_with(name));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spoilt_bundles_are_refused_under_load_and_no_tick_is_missed() {
    let path = tempfile::tempdir().unwrap();
    bundle::folder().write(path.path()).unwrap();
    let rig = Rig::start(with_model(path.path())).await;
    rig.node_up().await;
    let rntis: Vec<u16> = (0x4601..0x4601 + FLOWS).collect();
    let _reports = rig.report(rntis.clone());
    let mut client = ModelServiceClient::new(rig.channel().await);
    let listed = client.list_models(ListModelsRequest {}).await.unwrap();
    assert_eq!(listed.into_inner().models[0].name, "stand-in");
    let mut operations = rig.operations().await;
    let watched = operations.watch_decisions(WatchDecisionsRequest {}).await;
    let mut watched = watched.unwrap().into_inner();
    let edge = rig.edge("edge-1").await;
    for rnti in &rntis {
        let flow = registration(&format!("flow-{rnti}"), u32::from(*rnti));
        edge.send(Request::RegisterFlow(flow)).await;
    }
    // Until all flows are bound and ruled by the model.
    loop {
        let tick = ticks(&mut watched, 1).await;
        let (_, decisions) = tick.last_key_value().unwrap();
        if decisions.len() == usize::from(FLOWS)
            && decisions.iter().all(|d| d.controller == "prism")
        {
            break;
        }
    }
    let (_, before) = rig.get("/ric/v1/metrics").await;

    // Bundles come and are refused, one after the other, as fast as they can be checked.
    let loading = tokio::spawn({
        let (path, mut client) = (path.path().to_owned(), client.clone());
        async move {
            for _ in 0..4 {
                for (kind, files, reason) in bundle::spoilt() {
                    files.write(&path).unwrap();
                    let (outcome, model) = reload(&mut client).await;
                    assert_eq!(outcome, "refused", "{kind}");
                    assert!(model.refusal.contains(reason), "{kind}: {}", model.refusal);
                    assert_eq!(model.name, "stand-in", "{kind}: the old one stays");
                }
            }
        }
    });
    let during = ticks(&mut watched, 5).await;
    loading.await.unwrap();
    for decisions in during.values() {
        for decision in decisions {
            assert_eq!(decision.controller, "prism");
            assert!(decision.chosen_gain.is_some(), "{decision:?}");
            assert_ne!(decision.note, "no report in the interval");
        }
    }
    let (_, after) = rig.get("/ric/v1/metrics").await;
    let grown = |name| counter(&after, name) - counter(&before, name);
    assert_eq!(grown("cantor_model_loads_total{result=\"refused\"}"), 20);
    let ticks_run = grown("cantor_ticks_total");
    assert!(ticks_run >= 5, "{ticks_run}");
    assert_eq!(
        grown("cantor_model_observations_total"),
        ticks_run * u64::from(FLOWS),
        "every tick asked the model about every flow"
    );
    for none in [
        "cantor_ticks_missed_total",
        "cantor_model_failures_total",
        "cantor_indications_dropped_total",
        "cantor_policy_demotions_total",
    ] {
        assert_eq!(grown(none), 0, "{none}");
    }

    // And a good one is taken over.
    let mut next = card();
    next.name = "next".into();
    let candidates: Vec<f32> = spread(7).take(64 * 512).collect();
    let next = Bundle::make(next, &network(), &candidates).unwrap();
    next.write(path.path()).unwrap();
    let (outcome, model) = reload(&mut client).await;
    assert_eq!((outcome.as_str(), model.name.as_str()), ("loaded", "next"));
    assert_eq!(model.refusal, "");
    let after = ticks(&mut watched, 3).await;
    assert!(after.values().flatten().all(|d| d.controller == "prism"));
    assert_eq!(reload(&mut client).await.0, "unchanged");
}
