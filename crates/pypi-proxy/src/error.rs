//! The [`Error`] type of the crate.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// Defines the kinds of errors: for each its text, and the method of [`Error`] that tests for it. Some methods include
/// another kind.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $text:literal, $is:ident $(or $other:ident)*;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($kind,)*
        }

        impl Kind {
            fn text(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }

        impl Error {
            $($(#[$doc])*
            pub fn $is(&self) -> bool {
                self.0.kind == Kind::$kind $(|| self.$other())*
            })*
        }
    };
}

kinds! {
    /// Returns whether the name of a project or file is invalid.
    Name = "invalid name", is_name;
    /// Returns whether an index page is malformed.
    Page = "malformed index page", is_page;
    /// Returns whether a limit of the configuration was exceeded.
    Limit = "limit exceeded", is_limit;
    /// Returns whether a setting is unknown or invalid.
    Config = "invalid configuration", is_config;
    /// Returns whether an upstream is unreachable, refused access, sent an unexpected response, or was not contacted
    /// because of offline mode. Timeouts are separate: [`is_timeout`](Self::is_timeout).
    Upstream = "upstream request failed", is_upstream or is_offline or is_refused;
    /// Returns whether an upstream refused access (status 401, 403 or 407).
    Refused = "the index refused access", is_refused;
    /// Returns whether a request to an upstream timed out.
    Timeout = "upstream timed out", is_timeout;
    /// Returns whether offline mode prevented a request.
    Offline = "not cached, and the proxy is offline", is_offline;
    /// Returns whether the project or file does not exist.
    NotFound = "not found", is_not_found;
    /// Returns whether a rule of the configuration forbids the request.
    Forbidden = "forbidden by a rule", is_forbidden;
    /// Returns whether a file has a wrong hash or size.
    Corrupt = "file has a wrong hash or size", is_corrupt;
    /// Returns whether the cache directory is unusable, or in use by another proxy.
    Storage = "cache directory is unusable", is_storage or is_busy;
    /// Returns whether another proxy uses the cache directory.
    Busy = "another proxy uses the cache directory", is_busy;
    /// Returns whether the provenance of a file is malformed, or does not verify.
    Provenance = "provenance does not verify", is_provenance;
    /// Returns whether an operation of the bucket failed, or its layout is not supported.
    Bucket = "bucket operation failed", is_bucket or is_bucket_layout;
    /// Returns whether the layout of the bucket is newer than this program, or unknown.
    BucketLayout = "bucket is unusable", is_bucket_layout;
    /// Returns whether a lock file is malformed.
    LockFile = "malformed lock file", is_lock_file;
    /// Returns whether an archive of a cache is damaged, or does not fit this proxy.
    Archive = "archive error", is_archive;
}

/// Error of the proxy.
///
/// Neither `Display` nor `Debug` output contains credentials.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
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

    /// Copies the error for another waiter of the same result. The source of the copy is the text of all causes.
    #[cfg(feature = "proxy")]
    pub(crate) fn repeat(&self) -> Self {
        let source = self.0.source.as_deref().map(|source| Chain(source).to_string().into());
        Self(Box::new(Inner { detail: self.0.detail.clone(), source, ..*self.0 }))
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn retried_after(mut self, time: Option<Duration>) -> Self {
        self.0.retry_after = time;
        self
    }

    /// Marks the error as the cached result of an earlier request.
    #[cfg(feature = "proxy")]
    pub(crate) fn remembered(mut self) -> Self {
        self.0.is_remembered = true;
        self
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn is_remembered(&self) -> bool {
        self.0.is_remembered
    }

    /// Returns the text about this error in particular.
    #[cfg(feature = "proxy")]
    pub(crate) fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
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
