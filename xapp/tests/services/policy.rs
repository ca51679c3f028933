//! Slice policies over the operations API: applied, listed, explained, and what they do to a flow.

use crate::rig::{Edge, Rig, config, registration};
use proto::guidance::{SNssai, guide_request::Message as Request};
use proto::operations::policy_service_client::PolicyServiceClient;
use proto::operations::{
    ApplyPoliciesRequest, Decision, DeletePolicyRequest, ExplainFlowRequest, ListPoliciesRequest,
    SlicePolicy, WatchDecisionsRequest, WatchDecisionsResponse,
};
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

type Client = PolicyServiceClient<Channel>;

/// A policy of slice 1:00000a.
fn policy(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: cantor.io/v1\nkind: SlicePolicy\nmetadata: {{ name: {name} }}\nspec:\n  scope: {{ slice: {{ sst: 1, sd: \"00000a\" }} }}\n  {spec}\n"
    )
}

async fn apply(client: &mut Client, text: String) -> Result<Vec<(String, String)>, Status> {
    let request = ApplyPoliciesRequest {
        text,
        name: "test.yaml".into(),
        dry_run: false,
    };
    let answer = client.apply_policies(request).await?.into_inner();
    let outcomes = answer.policies.into_iter().map(|p| (p.name, p.outcome));
    Ok(outcomes.collect())
}

async fn list(client: &mut Client) -> Vec<SlicePolicy> {
    let answer = client.list_policies(ListPoliciesRequest::default()).await;
    answer.unwrap().into_inner().policies
}

/// The first decision that is as wanted.
async fn decision(
    watched: &mut Streaming<WatchDecisionsResponse>,
    wanted: impl Fn(&Decision) -> bool,
) -> Decision {
    loop {
        let decision = watched.message().await.unwrap().unwrap().decision.unwrap();
        if wanted(&decision) {
            return decision;
        }
    }
}

/// An xApp with one guided flow of slice 1:00000a.
async fn guided(rig: &Rig) -> (Edge, Streaming<WatchDecisionsResponse>) {
    rig.node_up().await;
    let mut operations = rig.operations().await;
    let watched = operations.watch_decisions(WatchDecisionsRequest {}).await;
    let edge = rig.edge("edge-1").await;
    let mut flow = registration("video", 0x4601);
    flow.slice = Some(SNssai {
        sst: 1,
        sd: Some(10),
    });
    edge.send(Request::RegisterFlow(flow)).await;
    (edge, watched.unwrap().into_inner())
}

#[tokio::test]
async fn an_applied_policy_rules_the_flow_until_it_is_deleted() {
    let rig = Rig::start(config()).await;
    let _reports = rig.report(vec![0x4601]);
    let (mut edge, mut watched) = guided(&rig).await;
    let mut client = Client::new(rig.channel().await);
    let before = decision(&mut watched, |_| true).await;
    assert_eq!(
        (before.slice_policy.as_str(), before.target_factor),
        ("", 0.9)
    );

    let text = policy(
        "half",
        "prb: { targetFactor: 0.5 }\n  flowRate: { maxBps: 3_000_000 }\n  gainPolicies: [rapid-peak]",
    );
    let outcome = |outcome: &str| vec![("half".to_owned(), outcome.to_owned())];
    assert_eq!(
        apply(&mut client, text.clone()).await.unwrap(),
        outcome("created")
    );
    let ruled = decision(&mut watched, |d| d.slice_policy == "half").await;
    assert_eq!(ruled.target_factor, 0.5);
    assert_eq!(ruled.rate_bps, 3_000_000);
    assert_eq!(ruled.controller, "rapid-peak");
    let guided = edge.batch().await;
    let reason = guided[0].reason.clone().unwrap();
    assert!(["", "half"].contains(&reason.slice_policy.as_str()));

    assert_eq!(
        apply(&mut client, text.clone()).await.unwrap(),
        outcome("unchanged")
    );
    let text = text.replace("0.5", "0.25");
    assert_eq!(apply(&mut client, text).await.unwrap(), outcome("changed"));
    decision(&mut watched, |d| d.target_factor == 0.25).await;
    let listed = list(&mut client).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].source.as_str(), listed[0].flows),
        ("operator", 1)
    );
    assert_eq!(listed[0].origin, "test.yaml:1");
    assert_eq!(listed[0].scope, "slice 1:00000a");

    let name = || DeletePolicyRequest {
        name: "half".into(),
    };
    client.delete_policy(name()).await.unwrap();
    let after = decision(&mut watched, |d| d.slice_policy.is_empty()).await;
    assert_eq!(after.target_factor, 0.9);
    let again = client.delete_policy(name()).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
}

#[tokio::test]
async fn what_is_wrong_changes_nothing_and_is_told_with_its_line() {
    let rig = Rig::start(config()).await;
    let mut client = Client::new(rig.channel().await);
    let right = policy("a", "priority: 1");
    apply(&mut client, right.clone()).await.unwrap();
    let before = list(&mut client).await;
    let wrong = format!(
        "{}---\n{}",
        policy("b", "priority: 2"),
        policy("c", "prb: { share: 2 }")
    );
    let error = apply(&mut client, wrong).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(
        error.message(),
        "test.yaml:13: spec.prb.share: 2 is not within 0 (exclusive) to 1"
    );
    let error = apply(&mut client, format!("{right}---\n{right}"))
        .await
        .unwrap_err();
    assert_eq!(
        error.message(),
        "test.yaml:8: metadata.name: a is there twice"
    );
    let dry = ApplyPoliciesRequest {
        text: policy("b", "priority: 2"),
        dry_run: true,
        ..ApplyPoliciesRequest::default()
    };
    let dry = client.apply_policies(dry).await.unwrap().into_inner();
    assert_eq!(dry.policies[0].outcome, "created");
    assert_eq!(list(&mut client).await, before);
}

#[tokio::test]
async fn a_flow_is_explained() {
    let rig = Rig::start(config()).await;
    let mut client = Client::new(rig.channel().await);
    let asked = || ExplainFlowRequest {
        flow_id: "video".into(),
        edge_id: String::new(),
    };
    let unknown = client.explain_flow(asked()).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
    let _reports = rig.report(vec![0x4601]);
    let (_edge, mut watched) = guided(&rig).await;
    apply(
        &mut client,
        policy("low", "latency: { statistic: p99, ms: 20 }"),
    )
    .await
    .unwrap();
    apply(&mut client, policy("lower", "priority: -1"))
        .await
        .unwrap();
    decision(&mut watched, |d| d.slice_policy == "low").await;
    let explained = client.explain_flow(asked()).await.unwrap().into_inner();
    assert_eq!(
        explained.facts,
        "slice 1:00000a, cell gnb:001-01:00000e00/32, UE rnti:4601"
    );
    assert_eq!(explained.policy, "low");
    let verdicts: Vec<_> = explained
        .verdicts
        .iter()
        .map(|v| (v.name.as_str(), v.verdict.as_str(), v.reason.as_str()))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("low", "rules", ""),
            ("lower", "outranked", "low has priority 0, this one -1"),
        ]
    );
    let value = |name: &str| {
        let found = explained.values.iter().find(|v| v.name == name);
        found.map(|v| (v.value.clone(), v.from.clone()))
    };
    let (factor, from) = value("PRB target factor").unwrap();
    assert!(factor.parse::<f64>().unwrap() <= 0.95, "{factor}");
    assert_eq!(from, "outer loop within 0.2 to 0.95, policy low");
    assert_eq!(
        value("delay objective").unwrap().0,
        "p99 of the queueing delay at most 20 ms"
    );
    assert_eq!(
        value("rate floor").unwrap(),
        ("0.1 Mbit/s".into(), "configuration".into())
    );
}

/// Runs `cantor policy` against the xApp. Its exit code and what it printed.
async fn cantor(rig: &Rig, arguments: &[&str]) -> (i32, String) {
    let url = format!("http://{}", rig.running.grpc);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cantor"));
    command.arg("policy").args(arguments).args(["--xapp", &url]);
    let run = tokio::task::spawn_blocking(move || command.output());
    let output = run.await.unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text + &errors)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_changes_the_flow_from_the_next_decision_on() {
    let rig = Rig::start(config()).await;
    let _reports = rig.report(vec![0x4601]);
    let (_edge, mut watched) = guided(&rig).await;
    decision(&mut watched, |_| true).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("half.yaml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, policy("half", "prb: { targetFactor: 0.5 }")).unwrap();

    let (code, text) = cantor(&rig, &["diff", "-f", path]).await;
    assert!(code == 0 && text.starts_with("half: new\n"), "{text}");
    let (code, text) = cantor(&rig, &["apply", "-f", path]).await;
    assert_eq!((code, text.as_str()), (0, "half created\n"));
    // From now on no decision is made without it.
    let applied = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let applied_us = applied.unwrap().as_micros() as i64;
    let next = decision(&mut watched, |d| d.time_us > applied_us).await;
    assert_eq!(
        (next.slice_policy.as_str(), next.target_factor),
        ("half", 0.5)
    );

    let (code, text) = cantor(&rig, &["list"]).await;
    assert!(
        code == 0 && text.contains("half  operator  slice 1:00000a  0         1"),
        "{text}"
    );
    let (code, text) = cantor(&rig, &["explain", "video"]).await;
    assert!(code == 0 && text.contains("policy half rules it"), "{text}");
    let (code, text) = cantor(&rig, &["get", "half"]).await;
    assert!(code == 0 && text.contains("targetFactor: 0.5"), "{text}");

    std::fs::write(&file, policy("half", "prb: { targetFactor: 7 }")).unwrap();
    let (code, text) = cantor(&rig, &["apply", "-f", path]).await;
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("half.yaml:6: spec.prb.targetFactor: "),
        "{text}"
    );
    let (code, text) = cantor(&rig, &["delete", "half"]).await;
    assert_eq!((code, text.as_str()), (0, "half deleted\n"));
    let (code, text) = cantor(&rig, &["get", "half"]).await;
    assert_eq!(code, 1, "{text}");
}
