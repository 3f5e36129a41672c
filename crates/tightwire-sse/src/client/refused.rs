//! Response of a refused request: its body, and whether the request is sent again.

use std::mem;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use http::response::Parts;
use http::status::StatusCode;

use super::idle_timer::IdleTimer;
use super::request::Refusal;
use super::source::Options;
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

    pub(super) const fn set_max_size(&mut self, size: usize) {
        self.max_size = size;
    }

    pub(super) fn set_timeout(&mut self, timeout: Duration) {
        self.timer = IdleTimer::new(Some(timeout));
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

/// Parses `Retry-After` in seconds or as an HTTP date (RFC 9110, section 10.2.3). Returns `None` if it is missing or
/// invalid.
///
/// A date is relative to the `Date` header of the same response, so that the local clock does not matter, or else to
/// `now`. The delay of a date in the past is 0.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let value = text(&RETRY_AFTER)?;
    // The float parser also accepts a sign, `inf` and `nan`.
    if value.starts_with(|first: char| first.is_ascii_digit())
        && let Ok(seconds) = value.parse()
    {
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let sent = text(&DATE).and_then(date).unwrap_or(now);
    Some(date(value)?.duration_since(sent).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (value, sent, millis) in [
            ("2", None, Some(2000)),
            (" 0.25 ", None, Some(250)),
            ("0", None, Some(0)),
            (date, None, Some(7000)),
            (date, Some("Sun, 06 Nov 1994 08:49:35 GMT"), Some(2000)),
            (date, Some("yesterday"), Some(7000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None, Some(7000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", None, Some(0)),
            ("", None, None),
            ("-1", None, None),
            ("+5", None, None),
            ("inf", None, None),
            ("NaN", None, None),
            ("1 s", None, None),
            ("soon", None, None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            if let Some(sent) = sent {
                headers.insert(DATE, HeaderValue::from_static(sent));
            }
            let expected = millis.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{value:?}, sent {sent:?}");
        }
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("1e400"))]);
        assert_eq!(retry_after(&headers, now), Some(Duration::MAX));
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
