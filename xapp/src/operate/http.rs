//! HTTP: `/ric/v1/health/alive`, `/ric/v1/health/ready`, `/ric/v1/metrics`.

use super::ReadinessWatch;
use super::metrics::Metrics;
use crate::store::Standing;
use axum::extract::State;
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing::get};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::watch;

/// OpenMetrics 1.0, as prometheus-client writes it.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug)]
struct Shared {
    readiness: ReadinessWatch,
    metrics: Arc<Metrics>,
    store: watch::Receiver<Standing>,
}

/// The routes.
pub fn router(
    readiness: ReadinessWatch,
    metrics: Arc<Metrics>,
    store: watch::Receiver<Standing>,
) -> Router {
    Router::new()
        .route("/ric/v1/health/alive", get(alive))
        .route("/ric/v1/health/ready", get(ready))
        .route("/ric/v1/metrics", get(page))
        .with_state(Shared {
            readiness,
            metrics,
            store,
        })
}

async fn alive() -> Json<serde_json::Value> {
    Json(json!({ "alive": true }))
}

/// A store that cannot be written makes nobody unready: control goes on without it. But it is told.
async fn ready(State(shared): State<Shared>) -> Response {
    let reason = shared.readiness.borrow().reason();
    let store = shared.store.borrow().clone();
    let store = json!({ "good": store.is_good(), "state": store.to_string() });
    match reason {
        None => Json(json!({ "ready": true, "store": store })).into_response(),
        Some(reason) => {
            let body = Json(json!({ "ready": false, "reason": reason, "store": store }));
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
