//! What a caller gets besides the value that was asked for.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::rate_limit::RateLimits;
use crate::error::{self, Origin};

/// Status and headers of an answer, and how it was obtained.
#[derive(Clone)]
pub struct ResponseHead {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) attempts: u32,
    pub(super) elapsed: Duration,
}

impl ResponseHead {
    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The id that the server gave the request, for its support.
    pub fn request_id(&self) -> Option<&str> {
        error::request_id(&self.headers)
    }

    /// How often the request was sent again.
    pub fn retries(&self) -> u32 {
        self.attempts - 1
    }

    /// How long the call took, with all attempts and the waits between them; for a stream or a download, until the
    /// headers arrived.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// What the server tells about its limits.
    pub fn rate_limits(&self) -> RateLimits {
        RateLimits::from_headers(&self.headers)
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin::of(self.status, &self.headers, self.attempts)
    }
}

/// A decoded answer together with what it was decoded from; see [`Call::raw`](crate::Call::raw).
#[derive(Clone)]
pub struct Response<T> {
    pub(super) head: ResponseHead,
    pub(super) body: Bytes,
    pub(super) value: T,
}

impl<T> Response<T> {
    /// Status, headers, and how the answer was obtained.
    pub fn head(&self) -> &ResponseHead {
        &self.head
    }

    /// The body as it came, after decompression.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The decoded body.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Takes the decoded body.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Takes the parts.
    pub fn into_parts(self) -> (ResponseHead, Bytes, T) {
        (self.head, self.body, self.value)
    }
}

impl fmt::Debug for ResponseHead {
    /// Leaves out the headers but for the request id: cookies are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHead")
            .field("status", &self.status)
            .field("request_id", &self.request_id())
            .field("attempts", &self.attempts)
            .field("elapsed", &self.elapsed)
            .finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Response<T> {
    /// Tells how long the body is, and the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("head", &self.head)
            .field("body_len", &self.body.len())
            .field("value", &self.value)
            .finish()
    }
}
