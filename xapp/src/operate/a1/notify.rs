//! Changes of the status of A1 policies are told to those who asked for it.

use super::instances::{Due, Instances};
use super::service::views;
use crate::guidance::hub::HubHandle;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{Request, Uri};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

/// How often the status is looked at.
const PERIOD: Duration = Duration::from_secs(1);
/// A receiver that takes longer is not there.
const PATIENCE: Duration = Duration::from_secs(5);
/// Notifications on their way at a time.
const AT_A_TIME: usize = 16;

/// Looks at the status of the policies, and tells changes, until `stop`.
pub async fn watch(instances: Instances, hub: HubHandle, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(AT_A_TIME));
    let mut look = tokio::time::interval(PERIOD);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = look.tick() => {}
        }
        if instances.is_empty() {
            continue;
        }
        let views = views(&hub).await;
        for due in instances.due(&views) {
            // Receivers that are slow must not keep others from being told: what has no place is told with its next change.
            let Ok(place) = places.clone().try_acquire_owned() else {
                warn!(
                    destination = due.destination,
                    "too many notifications are on their way"
                );
                continue;
            };
            tokio::spawn(async move {
                let destination = due.destination.clone();
                match tokio::time::timeout(PATIENCE, tell(due)).await {
                    Ok(Ok(())) => debug!(destination, "notified"),
                    Ok(Err(reason)) => warn!(destination, reason, "not notified"),
                    Err(_) => warn!(destination, reason = "no answer in time", "not notified"),
                }
                drop(place);
            });
        }
    }
}

/// POSTs the status (O-RAN.WG2.A1AP clause 6.2.3.1, policyStatusNotification).
async fn tell(due: Due) -> Result<(), String> {
    let uri: Uri = due.destination.parse().map_err(|_| "not a URI")?;
    let host = uri.host().ok_or("no host")?;
    let port = uri.port_u16().unwrap_or(80);
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port));
    let stream = stream.await.map_err(|e| text(&e))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| text(&e))?;
    let connection = tokio::spawn(connection);
    let body = serde_json::to_string(&due.status).map_err(|e| text(&e))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::post(path)
        .header(HOST, uri.authority().map_or(host, |a| a.as_str()))
        .header(CONTENT_TYPE, "application/json")
        .body(Body::from(body))
        .map_err(|e| text(&e))?;
    let response = sender.send_request(request).await.map_err(|e| text(&e));
    connection.abort();
    let status = response?.status();
    if status.is_success() {
        Ok(())
    } else {
        Err(format!("answered {status}"))
    }
}
