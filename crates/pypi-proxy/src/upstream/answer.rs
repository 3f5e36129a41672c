//! What an index answers.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use http::header::{ETAG, LAST_MODIFIED};

use super::budget::Share;
use crate::Error;
use crate::store::Digest;

/// The answer to a request for a page.
#[derive(Debug)]
pub enum Answer {
    /// The page.
    Page(PageBody),
    /// The page has not changed since the one with these validators.
    NotModified,
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
    /// The serial of a header, which pages in HTML have no other place for.
    pub serial: Option<u64>,
    /// What its bytes use of the budget, until they are read.
    #[expect(dead_code, reason = "it is dropped with the page")]
    pub(crate) share: Share,
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

/// A file, or part of it, on its way.
pub struct Body {
    /// The first byte that comes.
    pub start: u64,
    /// The byte behind the last that comes, if it is part of a file.
    part_end: Option<u64>,
    /// The length of the whole file, if the host tells.
    pub len: Option<u64>,
    /// What the file is known by: a part of another version does not fit.
    pub validators: Validators,
    /// The hash of the whole file, if where it comes from tells.
    pub(crate) sha256: Option<Digest>,
    stream: Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>,
}

impl Body {
    /// A file, or part of it, from anywhere.
    pub fn new(
        start: u64,
        len: Option<u64>,
        validators: Validators,
        stream: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
    ) -> Self {
        Self { start, part_end: None, len, validators, sha256: None, stream: Box::pin(stream) }
    }

    /// It is the file with this hash, or is not to be used.
    #[must_use]
    pub(crate) fn verified_by(mut self, sha256: Digest) -> Self {
        self.sha256 = Some(sha256);
        self
    }

    /// It is part of a file, which ends before this byte.
    #[must_use]
    pub(crate) fn ending_at(mut self, end: u64) -> Self {
        self.part_end = Some(end);
        self
    }

    /// Whether it is part of a file, with a place of its own.
    pub(crate) fn is_part(&self) -> bool {
        self.part_end.is_some()
    }

    /// How many bytes come, if that is known.
    pub(crate) fn part_len(&self) -> Option<u64> {
        self.part_end.or(self.len)?.checked_sub(self.start)
    }
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
