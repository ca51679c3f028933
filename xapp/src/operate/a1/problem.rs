//! Problem details (RFC 9457).

use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// What is wrong with a request, or with this server.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    status: StatusCode,
    detail: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // "about:blank": the status says all that there is to the type (clause 4.2.1).
        let body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or_default(),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let content = [(CONTENT_TYPE, "application/problem+json")];
        (self.status, content, body.to_string()).into_response()
    }
}
