//! Error responses of the server.

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::body::ParsedBody;
use crate::retry::retry_after;

/// A response with a status other than 2xx.
///
/// Error bodies of this API have several formats, some of them not JSON. [`message`](Self::message) returns
/// the most specific text of any of them.
pub struct ApiError {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    parsed: ParsedBody,
    retry_after: Option<Duration>,
}

impl ApiError {
    /// Parses the response. `secret` is redacted if the server repeats it.
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: Bytes, secret: &str) -> Self {
        let mut parsed = ParsedBody::new(status, &body);
        parsed.redact(secret);
        let retry_after = retry_after(&headers, SystemTime::now());
        Self { status, headers, body, parsed, retry_after }
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the server's message: a field of the body, the body itself if it is a short text, or else the
    /// standard reason phrase of the status.
    pub fn message(&self) -> &str {
        &self.parsed.message
    }

    /// Returns the `type` of the error, such as `invalid_model`.
    pub fn error_type(&self) -> Option<&str> {
        self.parsed.error_type.as_deref()
    }

    /// Returns the `code` of the error as text; the API sends numbers and names.
    pub fn code(&self) -> Option<&str> {
        self.parsed.code.as_deref()
    }

    /// Returns the requested delay before the next request, from `retry-after-ms` or `Retry-After`.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the response headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the raw body, truncated to 1 MiB or to what arrived within 5 s.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the body decoded as JSON, if it is valid.
    pub fn body_json(&self) -> Option<tightwire_json::Value> {
        tightwire_json::from_slice(&self.body).ok()
    }

    pub(super) fn parsed(&self) -> &ParsedBody {
        &self.parsed
    }

    /// Returns the status as digits.
    #[cfg(feature = "tracing")]
    pub(super) fn status_text(&self) -> &str {
        self.status.as_str()
    }

    /// Returns the name of the error class for `Display`.
    fn class(&self) -> &'static str {
        match self.status.as_u16() {
            400 => "bad_request",
            401 => "authentication",
            403 => "permission_denied",
            404 => "not_found",
            409 => "conflict",
            422 => "unprocessable_entity",
            429 => "rate_limit",
            500.. => "internal_server",
            _ => "error",
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status.as_u16(), self.class(), self.message())
    }
}

impl fmt::Debug for ApiError {
    /// Shows the length of the body instead of its content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiError")
            .field("status", &self.status)
            .field("message", &self.parsed.message)
            .field("error_type", &self.parsed.error_type)
            .field("code", &self.parsed.code)
            .field("retry_after", &self.retry_after)
            .field("body_len", &self.body.len())
            .finish_non_exhaustive()
    }
}
