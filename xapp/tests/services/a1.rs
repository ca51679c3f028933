//! A1-P as published: the paths, answers and callbacks of O-RAN.WG2.A1AP v2, problem details of RFC 9457.

use crate::rig::{Rig, config, registration};
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use proto::guidance::{SNssai, guide_request::Message as Request};
use proto::operations::WatchDecisionsRequest;
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use xapp::config::Config;

const SLA: &str = "/A1-P/v2/policytypes/ORAN_SliceSLATarget_4.0.1/policies";
const OWN: &str = "/A1-P/v2/policytypes/Cantor_SlicePolicy_1.0.0/policies";
const TYPES: [&str; 3] = [
    "Cantor_SlicePolicy_1.0.0",
    "ORAN_SliceSLATarget_4.0.1",
    "ORAN_QoSTarget_6.0.0",
];

fn with_a1() -> Config {
    let mut config = config();
    config.a1.listen = "127.0.0.1:0".into();
    config
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        assert!(self.has("content-type: application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }

    fn has(&self, header: &str) -> bool {
        self.head.to_lowercase().contains(header)
    }

    /// Its problem details: status, title and detail.
    fn problem(&self) -> (u16, String) {
        assert!(
            self.has("content-type: application/problem+json"),
            "{self:?}"
        );
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["status"], self.status);
        assert_eq!(problem["type"], "about:blank");
        assert!(problem["title"].is_string());
        (self.status, problem["detail"].as_str().unwrap().to_owned())
    }
}

struct A1(SocketAddr);

impl A1 {
    fn of(rig: &Rig) -> Self {
        Self(rig.running.a1.unwrap())
    }

    async fn ask(&self, method: &str, path: &str, content: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.0).await.unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: a1\r\nConnection: close\r\nContent-Type: {content}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        // A refused body may be answered and closed before it was read.
        let _ = stream.read_to_string(&mut text).await;
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Answer {
            status: head[9..12].parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "application/json", "").await
    }

    async fn put(&self, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        self.ask("PUT", path, "application/json", &body).await
    }
}

fn sla(objectives: Value) -> Value {
    json!({
        "scope": { "sliceId": { "sst": 1, "sd": "00000a", "plmnId": { "mcc": "001", "mnc": "01" } } },
        "sliceSlaObjectives": objectives
    })
}

#[tokio::test]
async fn types_are_listed_with_their_schemas() {
    let rig = Rig::start(with_a1()).await;
    let a1 = A1::of(&rig);
    let types = a1.get("/A1-P/v2/policytypes").await;
    assert_eq!((types.status, types.json()), (200, json!(TYPES)));
    for id in TYPES {
        let answer = a1.get(&format!("/A1-P/v2/policytypes/{id}")).await;
        let object = answer.json();
        assert_eq!(answer.status, 200);
        assert!(object["policySchema"]["properties"].is_object(), "{id}");
        let status = &object["statusSchema"]["properties"]["enforceStatus"]["enum"];
        assert_eq!(*status, json!(["ENFORCED", "NOT_ENFORCED"]));
    }
}

#[tokio::test]
async fn a_policy_is_created_read_changed_and_deleted() {
    let rig = Rig::start(with_a1()).await;
    let a1 = A1::of(&rig);
    let path = format!("{SLA}/slice-a");
    let body = sla(json!({ "maxDlThptPerSlice": 100_000 }));
    let created = a1.put(&path, &body).await;
    assert_eq!((created.status, created.json()), (201, body.clone()));
    assert!(
        created.has(&format!("location: {}", path.to_lowercase())),
        "{created:?}"
    );
    assert_eq!(a1.get(SLA).await.json(), json!(["slice-a"]));
    assert_eq!(a1.get(OWN).await.json(), json!([]));
    assert_eq!(a1.get(&path).await.json(), body);

    let changed = sla(json!({ "maxDlThptPerSlice": 50_000 }));
    let answer = a1.put(&path, &changed).await;
    assert_eq!((answer.status, answer.json()), (200, changed.clone()));
    assert_eq!(a1.get(&path).await.json(), changed);

    let deleted = a1.ask("DELETE", &path, "application/json", "").await;
    assert_eq!((deleted.status, deleted.body.as_str()), (204, ""));
    assert_eq!(a1.get(&path).await.problem().0, 404);
    let again = a1.ask("DELETE", &path, "application/json", "").await;
    assert_eq!(again.problem().0, 404);
    assert_eq!(a1.get(SLA).await.json(), json!([]));
}

#[tokio::test]
async fn what_is_wrong_gets_problem_details_and_changes_nothing() {
    let rig = Rig::start(with_a1()).await;
    let a1 = A1::of(&rig);
    let path = format!("{SLA}/a");
    let good = sla(json!({ "maxDlThptPerSlice": 1000 }));
    a1.put(&path, &good).await;
    let json_type = "application/json";
    for (method, at, content, body, status, detail) in [
        (
            "PUT",
            path.as_str(),
            json_type,
            "{",
            400,
            "the body is no JSON: ",
        ),
        (
            "PUT",
            &path,
            json_type,
            "[]",
            400,
            "the body is no JSON object",
        ),
        (
            "PUT",
            &path,
            json_type,
            "{}",
            400,
            "policy object: missing field `scope`",
        ),
        (
            "PUT",
            &path,
            json_type,
            &sla(json!({ "maxDlThptPerSlice": "fast" })).to_string(),
            400,
            "policy object: sliceSlaObjectives.maxDlThptPerSlice: invalid type: string",
        ),
        (
            "PUT",
            &path,
            "text/plain",
            "{}",
            415,
            "content type \"text/plain\": give application/json",
        ),
        (
            "PUT",
            &path,
            json_type,
            &format!("{{\"x\":\"{}\"}}", "y".repeat(300_000)),
            413,
            "",
        ),
        (
            "POST",
            &path,
            json_type,
            "{}",
            405,
            "POST is not possible at ",
        ),
        ("PUT", SLA, json_type, "{}", 405, "PUT is not possible at "),
        (
            "GET",
            "/A1-P/v2/policytypes/X_1.0.0",
            json_type,
            "",
            404,
            "no policy type \"X_1.0.0\"; there are ",
        ),
        (
            "PUT",
            "/A1-P/v2/policytypes/X_1.0.0/policies/a",
            json_type,
            "{}",
            404,
            "no policy type",
        ),
        (
            "GET",
            "/A1-P/v2/policytypes/X_1.0.0/policies",
            json_type,
            "",
            404,
            "no policy type",
        ),
        (
            "GET",
            &format!("{SLA}/b"),
            json_type,
            "",
            404,
            "no policy \"b\" of type ORAN_SliceSLATarget_4.0.1",
        ),
        (
            "GET",
            &format!("{SLA}/b/status"),
            json_type,
            "",
            404,
            "no policy \"b\"",
        ),
        (
            "GET",
            "/A1-P/v1/policies",
            json_type,
            "",
            404,
            "nothing is at /A1-P/v1/policies",
        ),
        (
            "PUT",
            &format!("{path}?notificationDestination=ftp%3A%2F%2Fx"),
            json_type,
            "{}",
            400,
            "notificationDestination: give an http:// URI",
        ),
        (
            "PUT",
            &format!("{SLA}/{}", "i".repeat(200)),
            json_type,
            "{}",
            400,
            "policy identifier: give 1 to 128 octets",
        ),
    ] {
        let answer = a1.ask(method, at, content, body).await;
        let (told, text) = answer.problem();
        assert_eq!(told, status, "{method} {at}: {text}");
        assert!(text.starts_with(detail), "{method} {at}: {text}");
        if status == 405 {
            assert!(answer.has("allow: "), "{answer:?}");
        }
    }
    assert_eq!(a1.get(&path).await.json(), good);
    assert_eq!(a1.get(SLA).await.json(), json!(["a"]));
}

#[tokio::test]
async fn what_does_not_apply_here_is_taken_and_not_enforced() {
    let rig = Rig::start(with_a1()).await;
    let a1 = A1::of(&rig);
    let status = async |policy: &str, body: Value| {
        let path = format!("{SLA}/{policy}");
        assert_eq!(a1.put(&path, &body).await.status, 201);
        a1.get(&format!("{path}/status")).await.json()
    };
    let not = |reason: &str| json!({ "enforceStatus": "NOT_ENFORCED", "enforceReason": reason });
    let uplink = status("uplink", sla(json!({ "maxUlThptPerSlice": 1 }))).await;
    assert_eq!(uplink, not("STATEMENT_NOT_APPLICABLE"));
    let nobody = status("nobody", sla(json!({ "maxDlThptPerSlice": 1000 }))).await;
    assert_eq!(nobody, not("SCOPE_NOT_APPLICABLE"));
}

/// Bodies that come to a receiver of notifications, and its address.
async fn receiver() -> (mpsc::UnboundedReceiver<Value>, String) {
    let (told, received) = mpsc::unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let take = async |State(told): State<mpsc::UnboundedSender<Value>>, Json(body): Json<Value>| {
        told.send(body).unwrap();
        StatusCode::NO_CONTENT
    };
    let router = Router::new().route("/status", post(take)).with_state(told);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (received, format!("http%3A%2F%2F{address}%2Fstatus"))
}

#[tokio::test]
async fn a_policy_goes_before_the_operators_and_changes_of_its_status_are_told() {
    let rig = Rig::start(with_a1()).await;
    let a1 = A1::of(&rig);
    let (mut received, destination) = receiver().await;
    let path = format!("{SLA}/a?notificationDestination={destination}");
    let body = sla(json!({ "maxDlThptPerUe": 3_000 }));
    assert_eq!(a1.put(&path, &body).await.status, 201);
    let first = received.recv().await.unwrap();
    assert_eq!(
        first,
        json!({ "enforceStatus": "NOT_ENFORCED", "enforceReason": "SCOPE_NOT_APPLICABLE" })
    );

    rig.node_up().await;
    let _reports = rig.report(vec![0x4601]);
    let edge = rig.edge("edge-1").await;
    let mut flow = registration("video", 0x4601);
    flow.slice = Some(SNssai {
        sst: 1,
        sd: Some(10),
    });
    edge.send(Request::RegisterFlow(flow)).await;
    assert_eq!(
        received.recv().await.unwrap(),
        json!({ "enforceStatus": "ENFORCED" })
    );
    let status = a1.get(&format!("{SLA}/a/status")).await.json();
    assert_eq!(status, json!({ "enforceStatus": "ENFORCED" }));
    let mut operations = rig.operations().await;
    let watched = operations.watch_decisions(WatchDecisionsRequest {}).await;
    let mut watched = watched.unwrap().into_inner();
    let decision = watched.message().await.unwrap().unwrap().decision.unwrap();
    assert_eq!(decision.slice_policy, "ORAN_SliceSLATarget_4.0.1/a");
    assert!(decision.rate_bps <= 3_000_000);

    // A policy of Cantor's own type with the more specific scope takes its flow away.
    let own = json!({ "scope": { "ue": { "cRnti": 0x4601 } }, "prb": { "targetFactor": 0.5 } });
    assert_eq!(a1.put(&format!("{OWN}/ue"), &own).await.status, 201);
    assert_eq!(
        received.recv().await.unwrap()["enforceStatus"],
        "NOT_ENFORCED"
    );
}
