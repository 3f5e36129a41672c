//! Questions about errors of calls.

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;

use super::{ApiError, BoxError, Error, Kind, Origin, body};

/// What was under way when the time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutPhase {
    /// The connection was being made.
    Connect,
    /// The request was sent and no answer had begun.
    Headers,
    /// One attempt, its answer included.
    Attempt,
    /// All attempts together.
    Total,
    /// A stream or a download had begun and then fell silent.
    Idle,
    /// A job did not end while [`Wait`](crate::Wait) asked for it.
    Job,
}

impl fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "while connecting",
            Self::Headers => "before the answer began",
            Self::Attempt => "before the answer ended",
            Self::Total => "over all attempts",
            Self::Idle => "because the stream fell silent",
            Self::Job => "waiting for the job to end",
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.request_id, self.attempts) {
            (Some(id), 0 | 1) => write!(f, " (request id {id})"),
            (Some(id), attempts) => write!(f, " (request id {id}, attempts {attempts})"),
            (None, 0 | 1) => Ok(()),
            (None, attempts) => write!(f, " (attempts {attempts})"),
        }
    }
}

impl Error {
    pub(crate) fn api(error: ApiError) -> Self {
        Self::new(Kind::Api(error))
    }

    pub(crate) fn connection(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Connection).with_source(source)
    }

    pub(crate) fn timeout(phase: TimeoutPhase) -> Self {
        Self::new(Kind::Timeout(phase))
    }

    pub(crate) fn incomplete() -> Self {
        Self::new(Kind::Incomplete)
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(Kind::TooLarge(limit))
    }

    /// The server reported a failure in an event with this data.
    pub(crate) fn stream(data: &str) -> Self {
        let parsed = body::Parsed::of_event(data.as_bytes());
        Self::new(Kind::Stream { parsed, body: Bytes::copy_from_slice(data.as_bytes()) })
    }

    /// `body` is not a `T`. It is decoded a second time, by a decoder that keeps track of where it is.
    pub(crate) fn decode<T: DeserializeOwned>(body: Bytes, source: tightwire_json::Error) -> Self {
        let mut decoder = serde_json::Deserializer::from_slice(&body);
        let path = match serde_path_to_error::deserialize::<_, T>(&mut decoder) {
            Err(error) => Some(error.path().to_string()).filter(|path| path != "."),
            // Both decoders agree except in corners; then the offset in the source has to do.
            Ok(_) => None,
        };
        Self::new(Kind::Decode { path: path.map(Into::into), body }).with_source(source)
    }

    /// The answer to a call for a stream is none.
    pub(crate) fn not_events() -> Self {
        Self::new(Kind::Decode { path: None, body: Bytes::new() })
            .with_source("answer is not an event stream")
    }

    /// Takes the secret out of what the server reported within a stream.
    pub(crate) fn without_secret(mut self, secret: &str) -> Self {
        if let Kind::Stream { parsed, .. } = &mut self.inner.kind {
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

    /// The class of the error in traces: the status, or a name.
    #[cfg(feature = "tracing")]
    pub(crate) fn class(&self) -> &str {
        match &self.inner.kind {
            Kind::Api(error) => error.status_text(),
            Kind::Config(_) => "config",
            Kind::Invalid { .. } => "invalid_request",
            Kind::Connection => "connection",
            Kind::Timeout(_) => "timeout",
            Kind::Decode { .. } => "decode",
            Kind::Stream { .. } => "stream",
            Kind::Incomplete => "incomplete",
            Kind::TooLarge(_) => "too_large",
        }
    }

    /// What the server said, if it answered with a status that is not a success.
    pub fn as_api(&self) -> Option<&ApiError> {
        match &self.inner.kind {
            Kind::Api(error) => Some(error),
            _ => None,
        }
    }

    fn has_status(&self, status: StatusCode) -> bool {
        self.as_api().is_some_and(|error| error.status() == status)
    }

    /// Whether the server answered with a status that is not a success.
    pub fn is_api(&self) -> bool {
        self.as_api().is_some()
    }

    /// Whether the status is 400.
    pub fn is_bad_request(&self) -> bool {
        self.has_status(StatusCode::BAD_REQUEST)
    }

    /// Whether the status is 401: the key is missing or wrong.
    pub fn is_authentication(&self) -> bool {
        self.has_status(StatusCode::UNAUTHORIZED)
    }

    /// Whether the status is 403.
    pub fn is_permission_denied(&self) -> bool {
        self.has_status(StatusCode::FORBIDDEN)
    }

    /// Whether the status is 404.
    pub fn is_not_found(&self) -> bool {
        self.has_status(StatusCode::NOT_FOUND)
    }

    /// Whether the status is 409.
    pub fn is_conflict(&self) -> bool {
        self.has_status(StatusCode::CONFLICT)
    }

    /// Whether the status is 422: the request does not fit the schema of the server.
    pub fn is_unprocessable(&self) -> bool {
        self.has_status(StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// Whether the status is 429.
    pub fn is_rate_limit(&self) -> bool {
        self.has_status(StatusCode::TOO_MANY_REQUESTS)
    }

    /// Whether the status is 500 or above.
    pub fn is_server_error(&self) -> bool {
        self.as_api().is_some_and(|error| error.status().as_u16() >= 500)
    }

    /// Whether there was no answer, or it broke off. A timeout is not counted here.
    pub fn is_connection(&self) -> bool {
        matches!(self.inner.kind, Kind::Connection)
    }

    /// Whether a time limit ran out; [`timeout_phase`](Self::timeout_phase) tells which one.
    pub fn is_timeout(&self) -> bool {
        matches!(self.inner.kind, Kind::Timeout(_))
    }

    /// Which time limit ran out, if [`is_timeout`](Self::is_timeout).
    pub fn timeout_phase(&self) -> Option<TimeoutPhase> {
        match self.inner.kind {
            Kind::Timeout(phase) => Some(phase),
            _ => None,
        }
    }

    /// Whether the server answered with something else than the type that was asked for, in an answer or an event.
    pub fn is_decode(&self) -> bool {
        matches!(self.inner.kind, Kind::Decode { .. })
    }

    /// Where in the document it was, as members and indices with dots between them, if
    /// [`is_decode`](Self::is_decode) and known. The offset in bytes is in the source.
    pub fn path(&self) -> Option<&str> {
        match &self.inner.kind {
            Kind::Decode { path, .. } => path.as_deref(),
            _ => None,
        }
    }

    /// Whether the server reported a failure within a stream.
    pub fn is_stream(&self) -> bool {
        matches!(self.inner.kind, Kind::Stream { .. })
    }

    /// Whether the body of a stream ended before the server said that the answer is complete; see
    /// [`EventStream::allow_partial`](crate::EventStream::allow_partial).
    pub fn is_incomplete(&self) -> bool {
        matches!(self.inner.kind, Kind::Incomplete)
    }

    /// Whether an answer or an event exceeds its limit in bytes; see
    /// [`ClientBuilder::max_body_size`](crate::ClientBuilder::max_body_size).
    pub fn is_limit(&self) -> bool {
        matches!(self.inner.kind, Kind::TooLarge(_))
    }

    /// Whether the same request may succeed later: rate limits, conflicts, failures of the server, timeouts and broken
    /// connections; of failures within a stream those whose code is such a status. The client has then already tried as
    /// often as its [`RetryPolicy`](crate::RetryPolicy) allows, and streams that have begun never again.
    pub fn is_retryable(&self) -> bool {
        match &self.inner.kind {
            Kind::Api(error) => crate::retry::is_transient(error.status()),
            Kind::Stream { parsed, .. } => {
                let status = parsed.code.as_deref().and_then(|code| code.parse().ok());
                status.is_some_and(crate::retry::is_transient)
            }
            Kind::Connection | Kind::Timeout(_) | Kind::Incomplete => true,
            _ => false,
        }
    }

    /// What the server said, in its refusal or within a stream. [`ApiError::message`] tells where it is taken from.
    pub fn message(&self) -> Option<&str> {
        self.parsed().map(|parsed| &*parsed.message)
    }

    /// The `type` that the server gave, such as `invalid_model`, in its refusal or within a stream.
    pub fn error_type(&self) -> Option<&str> {
        self.parsed()?.error_type.as_deref()
    }

    /// The `code` that the server gave, as text, in its refusal or within a stream.
    pub fn code(&self) -> Option<&str> {
        self.parsed()?.code.as_deref()
    }

    fn parsed(&self) -> Option<&body::Parsed> {
        match &self.inner.kind {
            Kind::Api(error) => Some(error.parsed()),
            Kind::Stream { parsed, .. } => Some(parsed),
            _ => None,
        }
    }

    /// The HTTP status, if there was an answer.
    pub fn status(&self) -> Option<StatusCode> {
        self.inner.origin.status
    }

    /// The id that the server gave the request, for its support.
    pub fn request_id(&self) -> Option<&str> {
        self.inner.origin.request_id.as_deref()
    }

    /// How often the request was sent; 0 if it never was.
    pub fn attempts(&self) -> u32 {
        self.inner.origin.attempts
    }

    /// How long the server asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.as_api().and_then(ApiError::retry_after)
    }

    /// The headers of an answer with a status that is not a success.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.as_api().map(ApiError::headers)
    }

    /// What the server sent: the body of an answer that is an error or not what was expected, the data of an event.
    pub fn body(&self) -> Option<&Bytes> {
        match &self.inner.kind {
            Kind::Api(error) => Some(error.body()),
            Kind::Decode { body, .. } | Kind::Stream { body, .. } => Some(body),
            _ => None,
        }
    }
}

impl Origin {
    /// The call that an answer with these headers belongs to.
    pub(crate) fn of(status: StatusCode, headers: &HeaderMap, attempts: u32) -> Self {
        Self { status: Some(status), request_id: request_id(headers).map(Into::into), attempts }
    }
}

/// The `X-Request-Id` header.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("x-request-id")?.to_str().ok()
}

/// The error of an answer with a status that is not a success.
pub(crate) fn refusal(
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    attempts: u32,
    secret: &str,
    now: SystemTime,
) -> Error {
    let origin = Origin::of(status, &headers, attempts);
    Error::api(ApiError::new(status, headers, body, secret, now)).with_origin(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, body: &'static str, attempts: u32) -> Error {
        let headers = HeaderMap::from_iter([
            (http::HeaderName::from_static("x-request-id"), http::HeaderValue::from_static("rid-1")),
            (http::header::RETRY_AFTER, http::HeaderValue::from_static("2")),
        ]);
        let status = StatusCode::from_u16(status).unwrap();
        refusal(
            status,
            headers,
            Bytes::from_static(body.as_bytes()),
            attempts,
            "s3cret",
            SystemTime::UNIX_EPOCH,
        )
    }

    #[test]
    fn display_tells_status_class_message_and_origin() {
        let error = refused(429, r#"{"error":{"message":"slow down","code":429}}"#, 3);
        assert_eq!(error.to_string(), "429 rate_limit: slow down (request id rid-1, attempts 3)");
        assert_eq!(
            refused(401, "<html>", 1).to_string(),
            "401 authentication: Unauthorized (request id rid-1)"
        );
        let error = Error::connection("reset").with_attempts(2);
        assert_eq!(error.to_string(), "connection failed (attempts 2)");
    }

    #[test]
    fn predicates_follow_the_status() {
        type Predicate = fn(&Error) -> bool;
        let predicates: [(u16, Predicate); 8] = [
            (400, Error::is_bad_request),
            (401, Error::is_authentication),
            (403, Error::is_permission_denied),
            (404, Error::is_not_found),
            (409, Error::is_conflict),
            (422, Error::is_unprocessable),
            (429, Error::is_rate_limit),
            (503, Error::is_server_error),
        ];
        for (status, _) in predicates {
            let error = refused(status, "", 1);
            for (other, predicate) in predicates {
                assert_eq!(predicate(&error), other == status, "{status} {other}");
            }
            assert!(error.is_api());
            assert_eq!(error.is_retryable(), [409, 429, 503].contains(&status), "{status}");
        }
        assert!(refused(408, "", 1).is_retryable());
        assert!(!refused(418, "", 1).is_retryable());
    }

    #[test]
    fn parts_of_a_refusal() {
        let error = refused(429, r#"{"error":{"message":"key s3cret","code":429,"type":"t"}}"#, 3);
        assert_eq!(error.request_id(), Some("rid-1"));
        assert_eq!(error.attempts(), 3);
        assert_eq!(error.retry_after(), Some(Duration::from_secs(2)));
        let api = error.as_api().expect("there was an answer");
        assert_eq!((api.code(), api.error_type()), (Some("429"), Some("t")));
        assert_eq!((error.code(), error.error_type()), (api.code(), api.error_type()));
        assert_eq!(error.message(), Some("key [redacted]"));
        assert_eq!(api.body_json().expect("the body is JSON")["error"]["code"], 429);
        assert!(!format!("{error} {error:?} {api:?}").contains("s3cret"));
    }

    #[test]
    fn parts_of_a_failure_within_a_stream() {
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
    fn decoding_errors_tell_where() {
        let body = Bytes::from_static(br#"{"list":[1,"x"]}"#);
        type Target = std::collections::BTreeMap<String, Vec<u8>>;
        let source = tightwire_json::from_slice::<Target>(&body).unwrap_err();
        let error = Error::decode::<Target>(body.clone(), source);
        assert!(error.is_decode());
        assert_eq!(error.path(), Some("list[1]"));
        assert_eq!(error.body(), Some(&body));
    }
}
