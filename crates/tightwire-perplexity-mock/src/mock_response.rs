//! Scripted responses of a rule, and their faults.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use tightwire_json::json;

use crate::event::Event;

/// Where a fault is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Position {
    /// Before the status line.
    Head,
    /// After this many bytes of the body, not counting chunk framing. Positions beyond the end mean the end.
    /// A response with `Content-Length` is complete there, so faults at the end only apply to chunked ones.
    Body(usize),
}

/// Effect of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Waits, using tokio's clock.
    Wait(Duration),
    /// Sends nothing more until the client closes the connection.
    Stall,
    /// Resets the connection: the client gets `ECONNRESET`.
    Reset,
    /// Closes the connection gracefully: the client sees the end of the stream.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: Position,
    pub(crate) effect: Effect,
}

/// A response of a [`Rule`](crate::Rule), with the faults to inject while it is sent.
///
/// ```
/// use tightwire_perplexity_mock::MockResponse;
/// use std::time::Duration;
///
/// // Two rate-limit errors, as a client receives them when it sends too many requests.
/// let rate_limited = MockResponse::rate_limited(Duration::from_millis(20)).times(2);
/// // A response of the built-in API whose connection is reset after 10 bytes of the body.
/// let interrupted = MockResponse::api().reset_at(10);
/// ```
#[derive(Debug, Clone)]
pub struct MockResponse {
    pub(crate) content: Content,
    pub(crate) status: Option<StatusCode>,
    pub(crate) headers: HeaderMap,
    pub(crate) times: Option<NonZeroU32>,
    pub(crate) steps: Vec<Step>,
    pub(crate) framing: Framing,
    pub(crate) chunk: Option<NonZeroUsize>,
    pub(crate) pause: Duration,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// Response of the built-in API.
    Api,
    /// Body parts that are written one by one.
    Pieces(Vec<Bytes>),
}

/// How the end of the body is signalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `Content-Length`, or chunked transfer coding for event streams.
    Natural,
    Chunked,
    /// This `Content-Length`, whatever the actual length is.
    Length(u64),
}

impl MockResponse {
    pub(crate) fn with(content: Content) -> Self {
        Self {
            content,
            status: None,
            headers: HeaderMap::new(),
            times: None,
            steps: Vec::new(),
            framing: Framing::Natural,
            chunk: None,
            pause: Duration::ZERO,
        }
    }

    /// Returns the built-in API's response to the request.
    pub fn api() -> Self {
        Self::with(Content::Api)
    }

    /// Creates a response with this status and an empty body.
    ///
    /// # Panics
    ///
    /// Panics if the status is not from 200 to 999.
    pub fn status(status: u16) -> Self {
        Self::with(Content::Pieces(Vec::new())).with_status(status)
    }

    /// Creates a JSON response with status 200.
    ///
    /// # Panics
    ///
    /// Panics if the body cannot be encoded, for example if it contains NaN.
    pub fn json<T: Serialize + ?Sized>(body: &T) -> Self {
        Self::bytes("application/json", tightwire_json::to_vec(body).expect("a body that can be encoded"))
    }

    /// Creates a response with status 200 and this body, for example malformed JSON.
    ///
    /// # Panics
    ///
    /// Panics if the content type is not a valid header value.
    pub fn bytes(content_type: &str, body: impl Into<Bytes>) -> Self {
        Self::with(Content::Pieces(vec![body.into()])).header("content-type", content_type)
    }

    /// Creates an event stream with status 200. Each event is written separately.
    pub fn events(events: impl IntoIterator<Item = Event>) -> Self {
        let mut response = Self::with(Content::Pieces(events.into_iter().map(Event::into_bytes).collect()));
        response.framing = Framing::Chunked;
        response.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    /// Creates an error response of the API: a status, and a body with message, type and the status as code.
    ///
    /// # Panics
    ///
    /// Panics if the status is not from 200 to 999.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": kind, "code": status}});
        Self::json(&body).with_status(status)
    }

    /// Creates a 429 response with the delay in `retry-after-ms` and, rounded up to seconds, in
    /// `retry-after`.
    pub fn rate_limited(retry_after: Duration) -> Self {
        let mut response = Self::error(429, "rate_limit", "Rate limit exceeded");
        let seconds = retry_after.as_millis().div_ceil(1000);
        for (name, value) in
            [(HeaderName::from_static("retry-after-ms"), retry_after.as_millis()), (RETRY_AFTER, seconds)]
        {
            let value = HeaderValue::from_str(&value.to_string()).expect("digits are a valid value");
            response.headers.insert(name, value);
        }
        response
    }

    /// Sets the status.
    ///
    /// # Panics
    ///
    /// Panics if the status is not from 200 to 999.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        let status = final_status(status).expect("a status from 200 to 999");
        self.status = Some(status);
        self
    }

    /// Sets a header, replacing the response's own value.
    ///
    /// # Panics
    ///
    /// Panics if the name or the value is invalid.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().expect("a valid header name");
        let value = HeaderValue::from_str(value).expect("a valid header value");
        self.headers.insert(name, value);
        self
    }

    /// Sets the number of requests that get this response before the rule moves on. Default: 1, or unlimited
    /// for the last response of a rule.
    ///
    /// # Panics
    ///
    /// Panics if `times` is 0.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(NonZeroU32::new(times).expect("at least once"));
        self
    }

    /// Adds a fault. Faults at the same position run in the order in which they were added.
    #[must_use]
    pub fn step(mut self, at: Position, effect: Effect) -> Self {
        self.steps.push(Step { at, effect });
        self
    }

    /// Resets the connection instead of sending a response.
    #[must_use]
    pub fn reset_before_head(self) -> Self {
        self.step(Position::Head, Effect::Reset)
    }

    /// Resets the connection after this many bytes of the body. As with any reset, the client may lose bytes
    /// that it has not read yet.
    #[must_use]
    pub fn reset_at(self, byte: usize) -> Self {
        self.step(Position::Body(byte), Effect::Reset)
    }

    /// Closes the connection gracefully after this many bytes of the body.
    #[must_use]
    pub fn close_at(self, byte: usize) -> Self {
        self.step(Position::Body(byte), Effect::Close)
    }

    /// Stops sending after this many bytes of the body, until the client closes the connection.
    #[must_use]
    pub fn stall_at(self, byte: usize) -> Self {
        self.step(Position::Body(byte), Effect::Stall)
    }

    /// Sends this `Content-Length`. If the body is shorter, the connection is closed at its end; excess bytes
    /// are not sent.
    #[must_use]
    pub fn content_length(mut self, length: u64) -> Self {
        self.framing = Framing::Length(length);
        self
    }

    /// Sends the body with `Transfer-Encoding: chunked`.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.framing = Framing::Chunked;
        self
    }

    /// Writes the body in pieces of at most `bytes` bytes with a pause between them. Each piece is written to
    /// the socket before the next one.
    ///
    /// # Panics
    ///
    /// Panics if `bytes` is 0.
    #[must_use]
    pub fn cut(mut self, bytes: usize, pause: Duration) -> Self {
        self.chunk = Some(NonZeroUsize::new(bytes).expect("at least one byte"));
        self.pause = pause;
        self
    }
}

/// Returns the status unless it is informational or out of range.
pub(crate) fn final_status(status: u16) -> Option<StatusCode> {
    StatusCode::from_u16(status).ok().filter(|status| !status.is_informational())
}
