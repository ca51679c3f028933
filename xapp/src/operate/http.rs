//! HTTP: `/ric/v1/health/alive`, `/ric/v1/health/ready`, `/ric/v1/metrics`.

use super::ReadinessWatch;
use super::metrics::Metrics;
use axum::extract::State;
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing::get};
use serde_json::json;
use std::sync::Arc;

/// OpenMetrics 1.0, as prometheus-client writes it.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug)]
struct Shared {
    readiness: ReadinessWatch,
    metrics: Arc<Metrics>,
}

/// The routes.
pub fn router(readiness: ReadinessWatch, metrics: Arc<Metrics>) -> Router {
    Router::new()
        .route("/ric/v1/health/alive", get(alive))
        .route("/ric/v1/health/ready", get(ready))
        .route("/ric/v1/metrics", get(page))
        .with_state(Shared { readiness, metrics })
}

async fn alive() -> Json<serde_json::Value> {
    Json(json!({ "alive": true }))
}

async fn ready(State(shared): State<Shared>) -> Response {
    let reason = shared.readiness.borrow().reason();
    match reason {
        None => Json(json!({ "ready": true })).into_response(),
        Some(reason) => {
            let body = Json(json!({ "ready": false, "reason": reason }));
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}

async fn page(State(shared): State<Shared>) -> Response {
    match shared.metrics.page() {
        Ok(page) => ([(CONTENT_TYPE, OPENMETRICS)], page).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
