//! The one [`Error`] of the crate.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name of a project or file that no index may use.
    Name,
    /// A page of an index that can't be read.
    Page,
    /// A limit of the configuration that something exceeds.
    Limit,
    /// A setting that is not known or has no such value.
    Config,
    /// An upstream that can't be reached, or does not do what is asked of it.
    Upstream,
    /// An upstream that takes too long.
    Timeout,
    /// An upstream that is not asked, because the proxy is offline.
    Offline,
    /// A project or file that there is none of.
    NotFound,
    /// Something that a rule of the configuration forbids.
    Forbidden,
    /// A file that is not what it should be.
    Corrupt,
    /// The folder of the cache can't be read or written.
    #[cfg_attr(not(feature = "proxy"), expect(dead_code, reason = "nothing is stored"))]
    Storage,
    /// The folder of the cache is in use.
    Busy,
    /// The bucket fails.
    Bucket,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::Name => "not a valid name",
            Self::Page => "not a page of a package index",
            Self::Limit => "a limit is exceeded",
            Self::Config => "a setting is wrong",
            Self::Upstream => "the upstream fails",
            Self::Timeout => "the upstream takes too long",
            Self::Offline => "not cached, and the proxy is offline",
            Self::NotFound => "there is no such thing",
            Self::Forbidden => "a rule forbids this",
            Self::Corrupt => "not the file that was expected",
            Self::Storage => "the cache folder can't be used",
            Self::Busy => "another proxy uses the cache folder",
            Self::Bucket => "the bucket fails",
        }
    }
}

/// Why something could not be read, fetched or stored.
///
/// Its text never contains credentials.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    detail: Option<Box<str>>,
    offset: Option<u64>,
    retry_after: Option<Duration>,
    source: Option<Box<dyn StdError + Send + Sync>>,
    /// Whether it was known before, so that nobody was asked.
    #[cfg_attr(not(feature = "proxy"), expect(dead_code, reason = "nothing is asked"))]
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

    /// The same error once more, for another who waits for the same thing. Its cause stays with the first.
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

    /// The same, known before.
    #[cfg(feature = "proxy")]
    pub(crate) fn remembered(mut self) -> Self {
        self.0.is_remembered = true;
        self
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn is_remembered(&self) -> bool {
        self.0.is_remembered
    }

    /// The position in bytes from the start of the page, if there is one.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// How long an upstream wants to be left alone, if it tells: at most five minutes, whatever it says.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Whether the name of a project or file is not valid.
    pub fn is_name(&self) -> bool {
        self.0.kind == Kind::Name
    }

    /// Whether a page of an index can't be read.
    pub fn is_page(&self) -> bool {
        self.0.kind == Kind::Page
    }

    /// Whether something exceeds a limit of the configuration.
    pub fn is_limit(&self) -> bool {
        self.0.kind == Kind::Limit
    }

    /// Whether a setting is not known or has no such value.
    pub fn is_config(&self) -> bool {
        self.0.kind == Kind::Config
    }

    /// Whether an upstream can't be reached or does not do what is asked of it. Taking too long is another thing:
    /// [`is_timeout`](Self::is_timeout).
    pub fn is_upstream(&self) -> bool {
        self.0.kind == Kind::Upstream || self.is_offline()
    }

    /// Whether an upstream is not asked because the proxy is offline.
    pub fn is_offline(&self) -> bool {
        self.0.kind == Kind::Offline
    }

    /// Whether an upstream takes too long.
    pub fn is_timeout(&self) -> bool {
        self.0.kind == Kind::Timeout
    }

    /// Whether there is no such project or file.
    pub fn is_not_found(&self) -> bool {
        self.0.kind == Kind::NotFound
    }

    /// Whether a file is not what it should be.
    pub fn is_corrupt(&self) -> bool {
        self.0.kind == Kind::Corrupt
    }

    /// Whether the folder of the cache can't be used, because it can't be read or written or because another proxy uses
    /// it.
    pub fn is_storage(&self) -> bool {
        matches!(self.0.kind, Kind::Storage | Kind::Busy)
    }

    /// Whether another proxy uses the folder of the cache.
    pub fn is_busy(&self) -> bool {
        self.0.kind == Kind::Busy
    }

    /// Whether the bucket that files and pages are shared in fails.
    pub fn is_bucket(&self) -> bool {
        self.0.kind == Kind::Bucket
    }

    /// Whether a rule of the configuration forbids it.
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

/// An error with its causes, in one line.
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
