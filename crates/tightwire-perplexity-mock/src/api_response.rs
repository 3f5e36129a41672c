//! Complete responses, before faults are injected.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;

use crate::event::Event;

/// A complete response, before faults are injected.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) is_stream: bool,
}

impl ApiResponse {
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), pieces: Vec::new(), is_stream: false }
    }

    pub(crate) fn bytes(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let mut reply = Self::empty(StatusCode::OK);
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        reply.pieces.push(body.into());
        reply
    }

    pub(crate) fn json(body: &Value) -> Self {
        Self::bytes("application/json", body.to_string())
    }

    pub(crate) fn events(events: impl IntoIterator<Item = Event>) -> Self {
        let mut reply = Self::empty(StatusCode::OK);
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        reply.pieces.extend(events.into_iter().map(Event::into_bytes));
        reply.is_stream = true;
        reply
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Returns the gateway's HTML page for requests without a valid API key.
    pub(crate) fn unauthorized() -> Self {
        Self::bytes("text/html", "<html><head><title>401 Authorization Required</title></head></html>")
            .with_status(StatusCode::UNAUTHORIZED)
    }
}
