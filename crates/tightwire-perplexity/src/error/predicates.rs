//! Constructors and accessors of [`Error`].

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tightwire_json::ErrorDetails as _;

use super::{BoxError, Details, Error, Kind, Origin, body, retry_after};

/// Phase of a call in which a timeout elapsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutPhase {
    /// Establishing the connection.
    Connect,
    /// Waiting for the response headers.
    Headers,
    /// One attempt, including the response body.
    Attempt,
    /// The whole call; see [`Timeouts::total`](crate::Timeouts::total).
    Total,
    /// Waiting for more data of a stream or download.
    Idle,
    /// Waiting for a job to end; see [`Wait`](crate::Wait).
    Job,
}

impl fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "while connecting",
            Self::Headers => "waiting for the response headers",
            Self::Attempt => "waiting for the end of the response",
            Self::Total => "over the whole call",
            Self::Idle => "waiting for more data",
            Self::Job => "waiting for the job to end",
        })
    }
}

impl Error {
    pub(crate) fn connection(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Connection).with_source(source)
    }

    /// Creates the error for an error event with this data.
    pub(crate) fn stream(data: &str) -> Self {
        let parsed = Some(body::ParsedBody::new(None, data.as_bytes()));
        let body = Some(Bytes::copy_from_slice(data.as_bytes()));
        Self::with_details(Kind::Stream, Details { parsed, body, ..Details::default() })
    }

    /// Creates the error for a body that has another type than expected.
    pub(crate) fn decode(body: Bytes, source: tightwire_json::Error) -> Self {
        let path = source.path().map(|path| path.to_string().into());
        let details = Details { path, body: Some(body), ..Details::default() };
        Self::with_details(Kind::Decode, details).with_source(source)
    }

    /// Creates the error for a response with status 2xx that is not what was requested: the error that it reports, or
    /// an error of its format. `source` is the error of decoding, if there was one.
    pub(crate) fn unexpected(
        body: Bytes,
        headers: &HeaderMap,
        source: Option<tightwire_json::Error>,
    ) -> Self {
        if body::reports_error(&body) {
            let parsed = Some(body::ParsedBody::new(None, &body));
            let headers = Some(headers.clone());
            Self::with_details(Kind::Api, Details { parsed, headers, body: Some(body), ..Details::default() })
        } else if let Some(source) = source {
            Self::decode(body, source)
        } else {
            Self::with_details(Kind::Decode, Details { body: Some(body), ..Details::default() })
                .with_source("response is another document than expected")
        }
    }

    /// Redacts the secret in the server's message.
    pub(crate) fn redacted(mut self, secret: &str) -> Self {
        if let Some(parsed) = &mut self.inner.details.parsed {
            parsed.redact(secret);
        }
        self
    }

    pub(crate) fn with_origin(mut self, origin: Origin) -> Self {
        self.inner.origin = origin;
        self
    }

    pub(crate) fn with_attempts(mut self, attempts: u32) -> Self {
        self.inner.origin.attempts = attempts;
        self
    }

    /// Returns the `error.type` attribute for tracing: the status, or a name.
    pub(crate) fn class(&self) -> &str {
        match self.inner.kind {
            Kind::Api => self.inner.origin.status.as_ref().map_or("", StatusCode::as_str),
            Kind::Config => "config",
            Kind::Invalid => "invalid_request",
            Kind::Connection => "connection",
            Kind::Timeout(_) => "timeout",
            Kind::Decode => "decode",
            Kind::Stream => "stream",
            Kind::Incomplete => "incomplete",
            Kind::TooLarge(_) => "too_large",
        }
    }

    /// Returns the status of an error response. With status 2xx, it is the code of the error in the body.
    fn api_status(&self) -> Option<StatusCode> {
        match self.status().filter(|_| self.is_api())? {
            status if status.is_success() => self.code()?.parse().ok(),
            status => Some(status),
        }
    }

    /// Returns whether the client configuration is invalid: a missing key, or a malformed key, URL, proxy
    /// or certificate. A malformed header is an [`is_invalid_request`](Self::is_invalid_request) error.
    pub fn is_config(&self) -> bool {
        self.inner.kind == Kind::Config
    }

    /// Returns whether the request or a header was rejected locally, before anything was sent.
    pub fn is_invalid_request(&self) -> bool {
        self.inner.kind == Kind::Invalid
    }

    /// Returns the invalid field or option of an [`is_invalid_request`](Self::is_invalid_request) error.
    pub fn field(&self) -> Option<&str> {
        self.inner.details.field.as_deref()
    }

    /// Returns whether the server responded with a status other than 2xx, or with an error instead of a response.
    pub fn is_api(&self) -> bool {
        self.inner.kind == Kind::Api
    }

    /// Returns whether the status is 400.
    pub fn is_bad_request(&self) -> bool {
        self.api_status() == Some(StatusCode::BAD_REQUEST)
    }

    /// Returns whether the status is 401: the API key is missing or invalid.
    pub fn is_authentication(&self) -> bool {
        self.api_status() == Some(StatusCode::UNAUTHORIZED)
    }

    /// Returns whether the status is 403.
    pub fn is_permission_denied(&self) -> bool {
        self.api_status() == Some(StatusCode::FORBIDDEN)
    }

    /// Returns whether the server no longer has the endpoint: chat completions ended on 2026-09-27. Use the Agent API,
    /// `Client::responses`. The key is not the cause.
    pub fn is_retired(&self) -> bool {
        const RETIRED: Option<&str> = Some("chat_completions_not_available");
        self.is_permission_denied() && (self.error_type() == RETIRED || self.code() == RETIRED)
    }

    /// Returns whether the status is 404.
    pub fn is_not_found(&self) -> bool {
        self.api_status() == Some(StatusCode::NOT_FOUND)
    }

    /// Returns whether the status is 409.
    pub fn is_conflict(&self) -> bool {
        self.api_status() == Some(StatusCode::CONFLICT)
    }

    /// Returns whether the status is 422: the request does not match the server's schema.
    pub fn is_unprocessable(&self) -> bool {
        self.api_status() == Some(StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// Returns whether the status is 429.
    pub fn is_rate_limit(&self) -> bool {
        self.api_status() == Some(StatusCode::TOO_MANY_REQUESTS)
    }

    /// Returns whether the status is 500 or above.
    pub fn is_server_error(&self) -> bool {
        self.api_status().is_some_and(|status| status.as_u16() >= 500)
    }

    /// Returns whether there was no response or its body was truncated. Timeouts are separate.
    pub fn is_connection(&self) -> bool {
        self.inner.kind == Kind::Connection
    }

    /// Returns whether a timeout elapsed; see [`timeout_phase`](Self::timeout_phase).
    pub fn is_timeout(&self) -> bool {
        matches!(self.inner.kind, Kind::Timeout(_))
    }

    /// Returns the phase of an [`is_timeout`](Self::is_timeout) error.
    pub fn timeout_phase(&self) -> Option<TimeoutPhase> {
        match self.inner.kind {
            Kind::Timeout(phase) => Some(phase),
            _ => None,
        }
    }

    /// Returns whether a response or an event does not match the expected type.
    pub fn is_decode(&self) -> bool {
        self.inner.kind == Kind::Decode
    }

    /// Returns the path of the unexpected value, such as `choices[0].index`, for an [`is_decode`](Self::is_decode)
    /// error. `None` if it is the whole body. The source has the line, the column and the byte offset.
    pub fn path(&self) -> Option<&str> {
        self.inner.details.path.as_deref()
    }

    /// Returns whether the server sent an error event in a stream, or a response that failed.
    pub fn is_stream(&self) -> bool {
        self.inner.kind == Kind::Stream
    }

    /// Returns whether a stream ended before the response was complete; see
    /// [`EventStream::allow_partial`](crate::stream::EventStream::allow_partial).
    pub fn is_incomplete(&self) -> bool {
        self.inner.kind == Kind::Incomplete
    }

    /// Returns whether a response or an event exceeds its size limit; see
    /// [`ClientBuilder::max_body_size`](crate::ClientBuilder::max_body_size).
    pub fn is_limit(&self) -> bool {
        matches!(self.inner.kind, Kind::TooLarge(_))
    }

    /// Returns whether the same request may succeed later: rate limits, conflicts, server errors, timeouts,
    /// lost connections, and error events with such a status code. The client has already retried as often as
    /// its [`RetryPolicy`](crate::retry::RetryPolicy) allows; it never retries a stream that has begun.
    pub fn is_retryable(&self) -> bool {
        let status = match self.inner.kind {
            Kind::Api => self.api_status(),
            Kind::Stream => self.code().and_then(|code| code.parse().ok()),
            kind => return matches!(kind, Kind::Connection | Kind::Timeout(_) | Kind::Incomplete),
        };
        status.is_some_and(is_transient)
    }

    /// Returns the server's message, from an error response or error event.
    ///
    /// Error bodies of this API have several formats, some of them not JSON. This is the most specific text of
    /// any of them: a field of the body, the body itself if it is a short text, or else the standard reason
    /// phrase of the status.
    pub fn message(&self) -> Option<&str> {
        self.inner.details.parsed.as_ref().map(|parsed| &*parsed.message)
    }

    /// Returns the `type` of an error response or error event, such as `invalid_model`.
    pub fn error_type(&self) -> Option<&str> {
        self.inner.details.parsed.as_ref()?.error_type.as_deref()
    }

    /// Returns the `code` of an error response or error event as text; the API sends numbers and names.
    pub fn code(&self) -> Option<&str> {
        self.inner.details.parsed.as_ref()?.code.as_deref()
    }

    /// Returns the `param` of an error response or error event: the field of the request that the server rejects.
    pub fn param(&self) -> Option<&str> {
        self.inner.details.parsed.as_ref()?.param.as_deref()
    }

    /// Returns the HTTP status, if there was a response.
    pub fn status(&self) -> Option<StatusCode> {
        self.inner.origin.status
    }

    /// Returns the request ID assigned by the server, for support requests.
    pub fn request_id(&self) -> Option<&str> {
        self.inner.origin.request_id.as_deref()
    }

    /// Returns the number of attempts; 0 if nothing was sent.
    pub fn attempts(&self) -> u32 {
        self.inner.origin.attempts
    }

    /// Returns the delay that the server requested, from `retry-after-ms` or `Retry-After`.
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.details.retry_after
    }

    /// Returns the headers of an error response.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.inner.details.headers.as_ref()
    }

    /// Returns the body of an error response or of a response that could not be decoded, or the data of an
    /// event. The body of an error response is truncated to 1 MiB or to what arrived within 5 s.
    pub fn body(&self) -> Option<&Bytes> {
        self.inner.details.body.as_ref()
    }
}

impl Origin {
    /// Creates the origin of a response.
    pub(crate) fn of(status: StatusCode, headers: &HeaderMap, attempts: u32) -> Self {
        Self { status: Some(status), request_id: request_id(headers).map(Into::into), attempts }
    }
}

/// Returns whether a request that failed with this status may succeed when it is retried.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 429 | 500..)
}

/// Returns the `X-Request-Id` header.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("x-request-id")?.to_str().ok()
}

/// Creates the error for a response with a status other than 2xx. `secret` is redacted if the server repeats
/// it.
pub(crate) fn error_response(
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    attempts: u32,
    secret: &str,
) -> Error {
    let origin = Origin::of(status, &headers, attempts);
    let mut parsed = body::ParsedBody::new(Some(status), &body);
    parsed.redact(secret);
    let retry_after = retry_after(&headers, SystemTime::now());
    let details = Details {
        parsed: Some(parsed),
        headers: Some(headers),
        retry_after,
        body: Some(body),
        ..Details::default()
    };
    Error::with_details(Kind::Api, details).with_origin(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_with(status: u16, body: &'static str, attempts: u32) -> Error {
        let headers = HeaderMap::from_iter([
            (http::HeaderName::from_static("x-request-id"), http::HeaderValue::from_static("rid-1")),
            (http::header::RETRY_AFTER, http::HeaderValue::from_static("2")),
        ]);
        let status = StatusCode::from_u16(status).unwrap();
        error_response(status, headers, Bytes::from_static(body.as_bytes()), attempts, "s3cret")
    }

    #[test]
    fn display_starts_with_the_message() {
        let error = error_with(429, r#"{"error":{"message":"slow down","code":429}}"#, 3);
        assert_eq!(error.to_string(), "slow down (429 rate_limit, request id rid-1, attempts 3)");
        assert_eq!(
            error_with(401, "<html>", 1).to_string(),
            "Unauthorized (401 authentication, request id rid-1)"
        );
        assert_eq!(Error::stream(r#"{"error":"broken"}"#).to_string(), "broken (error event)");
        let error = Error::connection("reset").with_attempts(2);
        assert_eq!(error.to_string(), "connection failed (attempts 2)");
    }

    /// `client_replies.rs` checks the predicates of each status.
    #[test]
    fn temporary_errors_are_retryable() {
        for (status, expected) in
            [(400, false), (404, false), (408, true), (409, true), (418, false), (429, true), (503, true)]
        {
            assert_eq!(error_with(status, "", 1).is_retryable(), expected, "{status}");
        }
    }

    #[test]
    fn the_error_of_a_retired_endpoint_names_its_replacement() {
        for (field, retired) in [("type", true), ("code", true), ("param", false)] {
            let body =
                format!(r#"{{"error":{{"message":"gone","{field}":"chat_completions_not_available"}}}}"#);
            let error = error_with(403, body.leak(), 1);
            assert_eq!((error.is_retired(), error.is_retryable()), (retired, false));
            assert_eq!(error.to_string().contains("Client::responses"), retired);
        }
        let error = error_with(400, r#"{"error":{"message":"no","param":"tools[0].x"}}"#, 1);
        assert_eq!(error.param(), Some("tools[0].x"));
    }

    #[test]
    fn accessors_of_an_error_event() {
        let error = Error::stream(r#"{"error":{"message":"slow down","code":429,"type":"rate_limit"}}"#);
        assert_eq!(error.message(), Some("slow down"));
        assert_eq!((error.code(), error.error_type()), (Some("429"), Some("rate_limit")));
        assert!(error.is_stream() && error.is_retryable());
        for data in [r#"{"error":{"message":"no","code":400}}"#, r#"{"error":"no"}"#, r#"{"code":99999999}"#]
        {
            assert!(!Error::stream(data).is_retryable(), "{data}");
        }
        assert_eq!(Error::connection("reset").message(), None);
    }

    #[test]
    fn decoding_errors_have_a_path() {
        let body = Bytes::from_static(br#"{"list":[1,"x"]}"#);
        type Target = std::collections::BTreeMap<String, Vec<u8>>;
        let source = tightwire_json::from_slice::<Target>(&body).unwrap_err();
        let error = Error::decode(body.clone(), source);
        assert!(error.is_decode());
        assert_eq!(error.path(), Some("list[1]"));
        assert_eq!(error.body(), Some(&body));
    }
}
