//! What an index answers.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use http::header::{AGE, CACHE_CONTROL, ETAG, LAST_MODIFIED};

use crate::Error;

/// The answer to a request for a page.
#[derive(Debug)]
pub enum Answer {
    /// The page.
    Page(PageBody),
    /// The page has not changed since the one with these validators.
    NotModified(Freshness),
    /// There is none.
    NotFound,
}

/// A page as it came.
#[derive(Debug)]
pub struct PageBody {
    /// Its bytes, decompressed.
    pub bytes: Vec<u8>,
    /// Whether it is in one of the JSON forms; else it is HTML.
    pub is_json: bool,
    /// What to ask with for a newer one.
    pub validators: Validators,
    /// How long it may be served.
    pub freshness: Freshness,
    /// The serial of a header, which pages in HTML have no other place for.
    pub serial: Option<u64>,
}

/// What a page is known by when a newer one is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// The value of `ETag`.
    pub etag: Option<String>,
    /// The value of `Last-Modified`.
    pub last_modified: Option<String>,
}

impl Validators {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self { etag: text(ETAG), last_modified: text(LAST_MODIFIED) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// How long an index says that its answer is fresh (RFC 9111, 5.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// What is left of `max-age`; nothing if the index does not say.
    pub max_age: Option<Duration>,
}

impl Freshness {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut max_age = None;
        for value in headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok()) {
            for directive in value.split(',') {
                let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
                let is = |text: &str| name.trim().eq_ignore_ascii_case(text);
                if is("no-store") || is("no-cache") {
                    return Self { max_age: Some(Duration::ZERO) };
                }
                if is("max-age") {
                    max_age = value.trim().trim_matches('"').parse().ok().map(Duration::from_secs);
                }
            }
        }
        let age = headers.get(AGE).and_then(|value| value.to_str().ok()?.trim().parse().ok()).unwrap_or(0);
        Self { max_age: max_age.map(|max_age| max_age.saturating_sub(Duration::from_secs(age))) }
    }
}

/// A file, or part of it, on its way.
pub struct Body {
    /// The first byte that comes.
    pub start: u64,
    /// The length of the whole file, if the host tells.
    pub len: Option<u64>,
    /// What the file is known by: a part of another version does not fit.
    pub validators: Validators,
    pub(super) stream: Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>,
}

impl Stream for Body {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.stream.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("start", &self.start).field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freshness_is_what_is_left() {
        let of = |control: &str, age: &str| {
            let headers = [(CACHE_CONTROL, control), (AGE, age)];
            let headers = headers.into_iter().filter(|(_, value)| !value.is_empty());
            Freshness::of(&headers.map(|(name, value)| (name, value.parse().unwrap())).collect()).max_age
        };
        assert_eq!(of("max-age=600, public", ""), Some(Duration::from_secs(600)));
        assert_eq!(of("public, Max-Age=600", "100"), Some(Duration::from_secs(500)));
        assert_eq!(of("max-age=600", "1000"), Some(Duration::ZERO));
        assert_eq!(of("max-age=600, no-cache", ""), Some(Duration::ZERO));
        assert_eq!(of("public", ""), None);
        assert_eq!(of("max-age=x", ""), None);
    }
}
