//! The [`Error`] type of the crate.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Invalid name of a project or file.
    Name,
    /// Malformed index page.
    Page,
    /// Exceeded limit of the configuration.
    Limit,
    /// Unknown or invalid setting.
    Config,
    /// Unreachable upstream, or an unexpected response.
    Upstream,
    /// Timeout of an upstream.
    Timeout,
    /// Request that offline mode prevents.
    Offline,
    /// Missing project or file.
    NotFound,
    /// Forbidden by a rule of the configuration.
    Forbidden,
    /// File with a wrong hash or size.
    Corrupt,
    /// Unusable cache directory.
    #[cfg_attr(not(feature = "proxy"), expect(dead_code, reason = "used by the store only"))]
    Storage,
    /// Cache directory in use by another proxy.
    Busy,
    /// Failed operation of the bucket.
    Bucket,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::Name => "invalid name",
            Self::Page => "malformed index page",
            Self::Limit => "limit exceeded",
            Self::Config => "invalid configuration",
            Self::Upstream => "upstream request failed",
            Self::Timeout => "upstream timed out",
            Self::Offline => "not cached, and the proxy is offline",
            Self::NotFound => "not found",
            Self::Forbidden => "forbidden by a rule",
            Self::Corrupt => "file has a wrong hash or size",
            Self::Storage => "cache directory is unusable",
            Self::Busy => "another proxy uses the cache directory",
            Self::Bucket => "bucket operation failed",
        }
    }
}

/// Error of the proxy.
///
/// Neither `Display` nor `Debug` output contains credentials.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    detail: Option<Box<str>>,
    offset: Option<u64>,
    retry_after: Option<Duration>,
    source: Option<Box<dyn StdError + Send + Sync>>,
    /// Whether the result of an earlier request was reused.
    #[cfg_attr(not(feature = "proxy"), expect(dead_code, reason = "used by the page cache only"))]
    is_remembered: bool,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner {
            kind,
            detail: None,
            offset: None,
            retry_after: None,
            source: None,
            is_remembered: false,
        }))
    }

    #[cold]
    pub(crate) fn with(kind: Kind, detail: impl Into<Box<str>>) -> Self {
        let mut error = Self::new(kind);
        error.0.detail = Some(detail.into());
        error
    }

    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    #[cfg(feature = "proxy")]
    #[cold]
    pub(crate) fn storage(source: std::io::Error) -> Self {
        Self::new(Kind::Storage).caused_by(source)
    }

    /// Copies the error for another waiter of the same result. The copy has no source.
    #[cfg(feature = "proxy")]
    pub(crate) fn repeat(&self) -> Self {
        let Inner { kind, detail, offset, retry_after, is_remembered, .. } = &*self.0;
        Self(Box::new(Inner {
            kind: *kind,
            detail: detail.clone(),
            offset: *offset,
            retry_after: *retry_after,
            source: None,
            is_remembered: *is_remembered,
        }))
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn retried_after(mut self, time: Option<Duration>) -> Self {
        self.0.retry_after = time;
        self
    }

    /// Marks the error as the result of an earlier request.
    #[cfg(feature = "proxy")]
    pub(crate) fn remembered(mut self) -> Self {
        self.0.is_remembered = true;
        self
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn is_remembered(&self) -> bool {
        self.0.is_remembered
    }

    /// Returns the byte offset in the page, if known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Returns the time to wait before a retry, if known: from a `Retry-After` header (at most five minutes), or until
    /// the proxy contacts the upstream again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns whether the name of a project or file is invalid.
    pub fn is_name(&self) -> bool {
        self.0.kind == Kind::Name
    }

    /// Returns whether an index page is malformed.
    pub fn is_page(&self) -> bool {
        self.0.kind == Kind::Page
    }

    /// Returns whether a limit of the configuration was exceeded.
    pub fn is_limit(&self) -> bool {
        self.0.kind == Kind::Limit
    }

    /// Returns whether a setting is unknown or invalid.
    pub fn is_config(&self) -> bool {
        self.0.kind == Kind::Config
    }

    /// Returns whether an upstream is unreachable, sent an unexpected response, or was not contacted because of offline
    /// mode. Timeouts are separate: [`is_timeout`](Self::is_timeout).
    pub fn is_upstream(&self) -> bool {
        self.0.kind == Kind::Upstream || self.is_offline()
    }

    /// Returns whether offline mode prevented a request.
    pub fn is_offline(&self) -> bool {
        self.0.kind == Kind::Offline
    }

    /// Returns whether a request to an upstream timed out.
    pub fn is_timeout(&self) -> bool {
        self.0.kind == Kind::Timeout
    }

    /// Returns whether the project or file does not exist.
    pub fn is_not_found(&self) -> bool {
        self.0.kind == Kind::NotFound
    }

    /// Returns whether a file has a wrong hash or size.
    pub fn is_corrupt(&self) -> bool {
        self.0.kind == Kind::Corrupt
    }

    /// Returns whether the cache directory is unusable, or in use by another proxy.
    pub fn is_storage(&self) -> bool {
        matches!(self.0.kind, Kind::Storage | Kind::Busy)
    }

    /// Returns whether another proxy uses the cache directory.
    pub fn is_busy(&self) -> bool {
        self.0.kind == Kind::Busy
    }

    /// Returns whether an operation of the bucket failed.
    pub fn is_bucket(&self) -> bool {
        self.0.kind == Kind::Bucket
    }

    /// Returns whether a rule of the configuration forbids the request.
    pub fn is_forbidden(&self) -> bool {
        self.0.kind == Kind::Forbidden
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.kind.text())?;
        if let Some(detail) = &self.0.detail {
            write!(f, ": {detail}")?;
        }
        if let Some(offset) = self.0.offset {
            write!(f, " (at byte {offset})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("detail", &self.0.detail)
            .field("offset", &self.0.offset)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Formats an error with all its causes in one line.
#[cfg(feature = "proxy")]
pub(crate) struct Chain<'e>(pub(crate) &'e dyn StdError);

#[cfg(feature = "proxy")]
impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}
