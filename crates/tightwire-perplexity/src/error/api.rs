//! What the server said when it refused.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::body::Parsed;
use crate::client::RateLimits;
use crate::retry::retry_after;

/// An answer with a status that is not a success.
///
/// Error bodies of this API come in several shapes, some of them not JSON; [`message`](Self::message) is the text that
/// says most in each of them.
pub struct ApiError {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    parsed: Parsed,
    retry_after: Option<Duration>,
}

impl ApiError {
    /// Reads the answer. `secret` is taken out of the message, should the server repeat it.
    pub(crate) fn new(
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
        secret: &str,
        now: std::time::SystemTime,
    ) -> Self {
        let mut parsed = Parsed::new(status, &body);
        parsed.redact(secret);
        let retry_after = retry_after(&headers, now);
        Self { status, headers, body, parsed, retry_after }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// What the server said: a member of the body, the body itself if that is a short text, or else the standard
    /// name of the status.
    pub fn message(&self) -> &str {
        &self.parsed.message
    }

    /// The `type` of the error, such as `invalid_model`.
    pub fn error_type(&self) -> Option<&str> {
        self.parsed.error_type.as_deref()
    }

    /// The `code` of the error as text; this API sends numbers as well as names.
    pub fn code(&self) -> Option<&str> {
        self.parsed.code.as_deref()
    }

    /// How long the server asks to wait before the next request, from `retry-after-ms` or `Retry-After`.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The headers of the answer.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// What the server tells about its limits.
    pub fn rate_limits(&self) -> RateLimits {
        RateLimits::from_headers(&self.headers)
    }

    /// The body of the answer as it came: at most 1 MiB of it, and no more than came within 5 s.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body of the answer, if it is JSON.
    pub fn body_json(&self) -> Option<tightwire_json::Value> {
        tightwire_json::from_slice(&self.body).ok()
    }

    pub(super) fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// The digits of the status.
    #[cfg(feature = "tracing")]
    pub(super) fn status_text(&self) -> &str {
        self.status.as_str()
    }

    /// The name of the class that the status belongs to, as it is printed.
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
    /// Tells how long the body is and nothing of what it contains, apart from the message.
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
