//! HTTP client for upstream indexes.

mod budget;
mod client;
mod config;
mod metrics;
mod netrc;
mod tls;
mod url_policy;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use http::header::{ETAG, LAST_MODIFIED};
use url::Url;

use crate::digest::Digest;
use crate::page::{Links, Page, ProjectFacts, ProjectList};
use crate::{Error, ProjectName};

pub use budget::Budget;
pub(crate) use budget::Reservation;
pub use client::Upstream;
pub(crate) use client::{BYTE_ORDER_MARK, PAUSED};
pub use config::Config;
pub(crate) use metrics::{Condition, RequestKind};
pub use netrc::Netrc;
pub(crate) use tls::TlsClient;

/// Response to a request for a page.
#[derive(Debug)]
pub enum PageResponse {
    /// The page, status 200.
    Page(PageBody),
    /// Status 304: unchanged since the page with the given validators.
    NotModified,
    /// Status 404 or 410, or another one that means this ([`Config::missing_statuses`]).
    NotFound,
}

/// Body of a page response.
#[derive(Debug)]
pub struct PageBody {
    /// Decompressed bytes.
    pub bytes: Vec<u8>,
    /// Whether the page is JSON; otherwise it is HTML.
    pub is_json: bool,
    /// Validators for revalidation.
    pub validators: Validators,
    /// Whether the content type is that of an index page, or missing.
    pub(crate) has_page_type: bool,
    /// Whether a redirect led to another origin. Such a page is not evidence that the index has the project.
    pub is_redirected: bool,
    /// URL without query that a redirect led to. Relative URLs on the page refer to it.
    pub(crate) base: Option<Box<Url>>,
    /// Serial from the header `X-PyPI-Last-Serial`, as HTML pages do not contain it.
    pub serial: Option<u64>,
    /// Memory reserved for the bytes until they are parsed.
    #[expect(dead_code, reason = "released when dropped")]
    pub(crate) reservation: Reservation,
}

impl PageBody {
    /// Checks that the body is an index page: the page of a project, or the project list for `None`. `path` is its path at
    /// the index.
    ///
    /// # Errors
    ///
    /// Fails if it is malformed or another page, such as a login page ([`Error::is_page`]), or too large
    /// ([`Error::is_limit`]).
    pub fn check(self, project: Option<&ProjectName>, path: &str) -> Result<(), Error> {
        let Some(project) = project else {
            return ProjectList::parse(self.bytes, self.is_json, path).map(drop);
        };
        self.into_page(project, path, &ProjectFacts::default()).map(drop)
    }

    /// Parses the page of a project, and adds facts that the index lacks. `path` is the path of the page at the index.
    pub(crate) fn into_page(
        self,
        project: &ProjectName,
        path: &str,
        facts: &ProjectFacts,
    ) -> Result<Page, Error> {
        let links = Links::Paths { project, page: path, base: self.base.as_deref() };
        let page = if self.is_json {
            Page::parse(self.bytes, links, facts)
        } else {
            Page::from_html_with_facts(&self.bytes, links, facts)
        };
        Ok(page?.with_serial(self.serial))
    }
}

/// Validators of a response, for conditional requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// The value of `ETag`.
    pub etag: Option<String>,
    /// The value of `Last-Modified`.
    pub last_modified: Option<String>,
}

impl Validators {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self { etag: text(ETAG), last_modified: text(LAST_MODIFIED) }
    }

    /// Returns whether there are no validators.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// Body of a file response: a stream of the whole file or of a range.
pub struct FileBody {
    /// Offset of the first byte in the file.
    pub start: u64,
    /// Offset after the last byte, if it is a range response.
    part_end: Option<u64>,
    /// Length of the whole file, if known.
    pub len: Option<u64>,
    /// Validators of the file. Ranges with different validators must not be combined.
    pub validators: Validators,
    /// SHA-256 of the whole file, if the source knows it.
    pub(crate) sha256: Option<Digest>,
    stream: Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>,
}

impl FileBody {
    /// Creates a body from any stream of bytes.
    pub fn new(
        start: u64,
        len: Option<u64>,
        validators: Validators,
        stream: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
    ) -> Self {
        Self { start, part_end: None, len, validators, sha256: None, stream: Box::pin(stream) }
    }

    /// Marks the body as a range that ends before this offset.
    #[must_use]
    pub(crate) fn with_end(mut self, end: u64) -> Self {
        self.part_end = Some(end);
        self
    }

    pub(crate) fn is_part(&self) -> bool {
        self.part_end.is_some()
    }

    /// Returns the number of bytes of the stream, if known.
    pub(crate) fn part_len(&self) -> Option<u64> {
        self.part_end.or(self.len)?.checked_sub(self.start)
    }
}

impl Stream for FileBody {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.stream.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for FileBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileBody").field("start", &self.start).field("len", &self.len).finish_non_exhaustive()
    }
}
