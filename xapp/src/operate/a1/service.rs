//! The resources of A1-P (O-RAN.WG2.A1AP v2, clause 6.2).

use super::instances::{Error, Instances, Key};
use super::problem::Problem;
use crate::cell::CellHandle;
use crate::cell::view::SliceView;
use crate::guidance::hub::HubHandle;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing::get};
use futures_util::future;
use percent_encoding::percent_decode_str;
use policies::a1::PolicyType;
use serde_json::{Value, json};

/// Largest policy object, octets.
const MAX_BODY: usize = 256 << 10;
/// Longest PolicyId, octets.
const MAX_ID: usize = 128;
/// Longest address for notifications, octets.
const MAX_DESTINATION: usize = 1024;

#[derive(Clone, Debug)]
struct Shared {
    instances: Instances,
    hub: HubHandle,
}

/// The routes.
pub fn router(instances: Instances, hub: HubHandle) -> Router {
    let policy = get(read).put(write).delete(delete);
    let path = |rest: &str| format!("/A1-P/v2/policytypes{rest}");
    Router::new()
        .route(&path(""), get(types))
        .route(&path("/{type}"), get(policy_type))
        .route(&path("/{type}/policies"), get(policy_ids))
        .route(&path("/{type}/policies/{policy}"), policy)
        .route(&path("/{type}/policies/{policy}/status"), get(status))
        .method_not_allowed_fallback(not_allowed)
        .fallback(nothing_there)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Shared { instances, hub })
}

async fn nothing_there(uri: Uri) -> Problem {
    let detail = format!("nothing is at {}", uri.path());
    Problem::new(StatusCode::NOT_FOUND, detail)
}

async fn not_allowed(method: Method, uri: Uri) -> Problem {
    let detail = format!("{method} is not possible at {}", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}

async fn types() -> Json<Vec<&'static str>> {
    Json(PolicyType::ALL.map(PolicyType::id).to_vec())
}

async fn policy_type(Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let kind = known(&id)?;
    Ok(Json(json!({
        "policySchema": kind.policy_schema(),
        "statusSchema": kind.status_schema(),
    })))
}

async fn policy_ids(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Vec<String>>, Problem> {
    Ok(Json(shared.instances.of_type(known(&id)?)))
}

async fn read(
    State(shared): State<Shared>,
    Path((kind, id)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let key = key(&kind, id)?;
    let body = shared.instances.get(&key);
    body.map(Json).ok_or_else(|| no_policy(&key))
}

async fn write(
    State(shared): State<Shared>,
    Path((kind, id)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let key = key(&kind, id)?;
    let destination = destination(&uri)?;
    let body = object(&headers, body)?;
    let new = shared.instances.put(key, body.clone(), destination);
    let new = new.map_err(|error| {
        let status = match error {
            Error::Wrong(_) => StatusCode::BAD_REQUEST,
            Error::Full | Error::Store(_) | Error::Policies(_) => StatusCode::INSUFFICIENT_STORAGE,
        };
        Problem::new(status, error.to_string())
    })?;
    if !new {
        return Ok(Json(body).into_response());
    }
    let location = HeaderValue::from_str(uri.path())
        .map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "the path cannot be a Location"))?;
    let created = (StatusCode::CREATED, [(LOCATION, location)], Json(body));
    Ok(created.into_response())
}

async fn delete(
    State(shared): State<Shared>,
    Path((kind, id)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let key = key(&kind, id)?;
    if shared.instances.delete(&key) {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(no_policy(&key))
    }
}

async fn status(
    State(shared): State<Shared>,
    Path((kind, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let key = key(&kind, id)?;
    let views = views(&shared.hub).await;
    let status = shared.instances.status(&key, &views);
    let status = status.ok_or_else(|| no_policy(&key))?;
    Ok(Json(status).into_response())
}

/// How the slice policies stand in all cells.
pub(super) async fn views(hub: &HubHandle) -> Vec<SliceView> {
    let cells = hub.cells().await.unwrap_or_default();
    let views = future::join_all(cells.iter().map(CellHandle::slices)).await;
    views.into_iter().flatten().collect()
}

fn known(id: &str) -> Result<PolicyType, Problem> {
    PolicyType::of_id(id).ok_or_else(|| {
        let types = PolicyType::ALL.map(PolicyType::id).join(", ");
        let detail = format!("no policy type {id:?}; there are {types}");
        Problem::new(StatusCode::NOT_FOUND, detail)
    })
}

fn key(kind: &str, id: String) -> Result<Key, Problem> {
    let kind = known(kind)?;
    if id.is_empty() || id.len() > MAX_ID || id.chars().any(char::is_control) {
        let detail =
            format!("policy identifier: give 1 to {MAX_ID} octets without control characters");
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    Ok((kind, id))
}

fn no_policy((kind, id): &Key) -> Problem {
    let detail = format!("no policy {id:?} of type {}", kind.id());
    Problem::new(StatusCode::NOT_FOUND, detail)
}

/// The query parameter `notificationDestination`.
fn destination(uri: &Uri) -> Result<Option<String>, Problem> {
    let mut parameters = uri.query().unwrap_or_default().split('&');
    let encoded = parameters.find_map(|p| p.strip_prefix("notificationDestination="));
    let Some(encoded) = encoded else {
        return Ok(None);
    };
    let destination = percent_decode_str(encoded).decode_utf8_lossy().into_owned();
    let uri = destination.parse::<Uri>().ok();
    let usable = uri.is_some_and(|uri| uri.scheme_str() == Some("http") && uri.host().is_some());
    if usable && destination.len() <= MAX_DESTINATION {
        return Ok(Some(destination));
    }
    let detail = "notificationDestination: give an http:// URI of at most 1024 octets";
    Err(Problem::new(StatusCode::BAD_REQUEST, detail))
}

/// The JSON object of a body.
fn object(headers: &HeaderMap, body: Result<Bytes, BytesRejection>) -> Result<Value, Problem> {
    let content = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let content = content.unwrap_or_default();
    let json = content.split(';').next().unwrap_or_default().trim();
    if !json.eq_ignore_ascii_case("application/json") {
        let detail = format!("content type {content:?}: give application/json");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let body = body.map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))?;
    let value: Value = serde_json::from_slice(&body).map_err(|error| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            format!("the body is no JSON: {error}"),
        )
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        let detail = "the body is no JSON object";
        Err(Problem::new(StatusCode::BAD_REQUEST, detail))
    }
}
