//! Response of a refused request: its body, and whether the request is sent again.

use std::mem;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use http::response::Parts;
use http::status::StatusCode;

use super::event_source::Options;
use super::idle_timer::IdleTimer;
use super::request::Refusal;
use super::retry_after::retry_after;
use super::transport::{Response, poll_body};
use crate::error::{Error, Refused};

/// Limits for the body of a refused response.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrorBodyLimits {
    pub(super) size: usize,
    pub(super) timeout: Duration,
}

impl Default for ErrorBodyLimits {
    fn default() -> Self {
        Self { size: 64 << 10, timeout: Duration::from_secs(5) }
    }
}

/// Refused response whose body is being received.
pub(super) struct RefusedResponse {
    refusal: Refusal,
    head: Parts,
    body: reqwest::Body,
    received: Vec<u8>,
    max_size: usize,
    timer: IdleTimer,
}

impl RefusedResponse {
    pub(super) fn new(refusal: Refusal, response: Response, limits: ErrorBodyLimits) -> Self {
        let (head, body) = response.into_parts();
        let timer = IdleTimer::new(Some(limits.timeout));
        Self { refusal, head, body, received: Vec::new(), max_size: limits.size, timer }
    }

    /// Receives the body and returns the error with this response.
    pub(super) fn poll_error(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let is_truncated = match poll_body(&mut self.body, &mut self.received, self.max_size, cx) {
            Poll::Ready(result) => result.is_err(),
            Poll::Pending => ready!(self.timer.poll_elapsed(cx).map(|()| true)),
        };
        // Closes the connection of a truncated body.
        self.body = reqwest::Body::default();
        let response = Refused {
            status: self.head.status.as_u16(),
            headers: mem::take(&mut self.head.headers),
            body: mem::take(&mut self.received).into(),
            is_truncated,
        };
        Poll::Ready(Error::new((self.refusal)(Box::new(response))))
    }
}

/// Returns the minimum delay before the request is sent again, or `None` if the error is final.
pub(super) fn retry_delay(error: &Error, options: &Options, now: SystemTime) -> Option<Duration> {
    let status = StatusCode::from_u16(error.status()?).ok()?;
    let honors_header = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    let requested = error.headers().filter(|_| honors_header).and_then(|headers| retry_after(headers, now));
    let is_temporary = match requested {
        Some(delay) => delay <= options.max_retry_after,
        None => {
            let is_server_error = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            options.retry_server_errors && is_server_error
        }
    };
    is_temporary.then(|| requested.unwrap_or_default())
}
