//! The [`Error`] type of the crate.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::sync::Arc;

pub(crate) use ErrorKind as Kind;

/// Defines [`ErrorKind`] and the predicates of [`Error`] from rows of documentation, kind, predicate and text.
macro_rules! error_kinds {
    ($($(#[$doc:meta])* $kind:ident = $predicate:ident $text:literal,)*) => {
        /// The kind of an [`Error`], as returned by [`Error::kind`]. Each kind also has a predicate on [`Error`], such
        /// as [`Error::is_limit`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* $kind,)*
        }

        impl ErrorKind {
            fn text(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }

        impl Error {
            $(
                #[doc = concat!("Returns whether the kind is [`ErrorKind::", stringify!($kind), "`].")]
                ///
                $(#[$doc])*
                pub fn $predicate(&self) -> bool {
                    self.0.kind == Kind::$kind
                }
            )*
        }
    };
}

error_kinds! {
    /// The input is not well-formed XML, or contains a document type or an entity, which CLIXML forbids.
    Syntax = is_syntax "malformed or forbidden XML",
    /// The input is XML but not CLIXML: an element, attribute or text is in the wrong place.
    Structure = is_structure "not CLIXML",
    /// The text of an element is not a valid value of its type.
    InvalidText = is_invalid_text "the text is not a value of its type",
    /// A reference to an object or a list of type names that the document has not defined yet.
    UnknownReference = is_unknown_reference "unknown reference",
    /// A configured limit is exceeded.
    Limit = is_limit "a limit is exceeded",
    /// A header, packet or key blob contains a field that the protocol does not allow.
    InvalidHeader = is_invalid_header "invalid header",
    /// The input ends inside a header, packet or value.
    UnexpectedEnd = is_unexpected_end "unexpected end of input",
    /// A fragment does not continue the fragments received before it.
    OutOfOrder = is_out_of_order "a fragment is out of order",
    /// A value does not have the structure that a message or type requires: a member is missing or of another type.
    Mismatch = is_mismatch "the value is not of the expected shape",
    /// A value can't be written, for example a reference to an object that was dropped.
    Unwritable = is_unwritable "the value can't be written",
    /// Encryption, decryption or the key exchange failed. Deliberately without details.
    Crypto = is_crypto "a cryptographic operation failed",
    /// An encrypted value is used before the session key was exchanged.
    NoKey = is_no_key "no session key",
    /// The action is not allowed in the current state of the pool or pipeline.
    State = is_state "the state does not allow this",
    /// The peer violates the protocol.
    Protocol = is_protocol "the peer violates the protocol",
    /// Reading or writing failed. [`source`](std::error::Error::source) is the I/O error.
    Io = is_io "reading or writing failed",
    /// The connection has ended.
    Closed = is_closed "the connection has ended",
    /// The peer did not answer in time.
    Timeout = is_timeout "the peer took too long",
    /// The peer could not prove its identity: its key is unknown, changed or revoked.
    Untrusted = is_untrusted "the peer is not trusted",
    /// The peer rejected the user or the credentials.
    Denied = is_denied "access is denied",
    /// The pipeline failed or was stopped.
    Pipeline = is_pipeline "the pipeline has not completed",
    /// The transport, host or build does not support this.
    Unsupported = is_unsupported "not supported",
    /// The peer rejected the request. [`source`](std::error::Error::source) is its reason, if it sent one.
    Refused = is_refused "the peer refused the request",
    /// A copied file differs from its source.
    Corrupt = is_corrupt "the copy differs from its source",
}

/// The error of all operations of this crate: a [kind](ErrorKind), the path inside a converted value, a detail, and the
/// byte offset in the input.
///
/// The message names elements, members and limits of the protocol. It never contains values of the input, because these
/// may be secret. The one exception is the peer's reason for ending a connection or pipeline, which is made safe for a
/// terminal ([`terminal_safe`](crate::terminal_safe)) and truncated to 4 KiB.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: Kind,
    /// Path inside a converted value, innermost segment first.
    path: Vec<PathSegment>,
    /// Details that the kind does not contain.
    detail: Option<Box<str>>,
    offset: Option<u64>,
    /// Shared because the end of a connection is reported to all pending operations.
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// A segment of a path. Contains only names of the protocol or of a Rust type, because names in a document may be secret.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathSegment {
    /// Member of an object, field of a struct, or variant of an enum.
    Member(&'static str),
    /// Item of a list.
    Item(usize),
    /// Key of a dictionary entry, or name of a member.
    #[cfg(feature = "serde")]
    Key(usize),
    /// Value of a dictionary entry, or of a member that the type does not name.
    #[cfg(feature = "serde")]
    Value(usize),
}

impl From<&'static str> for PathSegment {
    fn from(name: &'static str) -> Self {
        Self::Member(name)
    }
}

impl From<usize> for PathSegment {
    fn from(index: usize) -> Self {
        Self::Item(index)
    }
}

impl Inner {
    /// Returns the path and the detail.
    fn description(&self) -> String {
        let mut text = String::new();
        for segment in self.path.iter().rev() {
            let _ = match segment {
                PathSegment::Member(name) if text.is_empty() => write!(text, "{name}"),
                PathSegment::Member(name) => write!(text, ".{name}"),
                PathSegment::Item(index) => write!(text, "[{index}]"),
                #[cfg(feature = "serde")]
                PathSegment::Key(index) => write!(text, "[key {index}]"),
                #[cfg(feature = "serde")]
                PathSegment::Value(index) => write!(text, "[value {index}]"),
            };
        }
        if let Some(detail) = &self.detail {
            let separator = if text.is_empty() { "" } else { ": " };
            let _ = write!(text, "{separator}{detail}");
        }
        text
    }
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner { kind, path: Vec::new(), detail: None, offset: None, source: None }))
    }

    /// Creates an error with a detail, which must not contain values of the input.
    #[cold]
    pub(crate) fn with(kind: Kind, detail: impl Into<Box<str>>) -> Self {
        let mut error = Self::new(kind);
        error.0.detail = Some(detail.into());
        error
    }

    /// Sets the byte offset unless it is already set, so that the offset closest to the cause wins.
    pub(crate) fn or_offset(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Creates an error for a value that does not have the required structure.
    #[cold]
    pub(crate) fn mismatch(what: &'static str) -> Self {
        Self::with(Kind::Mismatch, what)
    }

    /// Adds an outer segment to the path inside the value.
    #[cold]
    pub(crate) fn at(mut self, segment: impl Into<PathSegment>) -> Self {
        // The depth of values is limited, but the user may raise the limit.
        if self.0.path.len() < 256 {
            self.0.path.push(segment.into());
        }
        self
    }

    /// Prepends the name of a member to path and detail.
    #[cfg(feature = "serde")]
    pub(crate) fn within(mut self, name: &str) -> Self {
        self.0.detail = Some(format!("{name}: {}", self.0.description()).into());
        self.0.path.clear();
        self
    }

    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into().into());
        self
    }

    /// Clones the error; it shares its source.
    #[cfg(feature = "tokio")]
    pub(crate) fn duplicate(&self) -> Self {
        Self(self.0.clone())
    }

    /// Returns the kind, to distinguish many errors in one `match`.
    ///
    /// ```
    /// use psrp::{Error, ErrorKind};
    ///
    /// fn advice(error: &Error) -> &'static str {
    ///     match error.kind() {
    ///         ErrorKind::Timeout | ErrorKind::Closed => "try again",
    ///         ErrorKind::Denied => "check user and password",
    ///         _ => "report it",
    ///     }
    /// }
    ///
    /// let error = psrp::clixml::from_slice(b"<Obj>").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::UnexpectedEnd);
    /// assert_eq!(advice(&error), "report it");
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the position in bytes from the start of the input, if the error is about input bytes.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.kind.text())?;
        let description = self.0.description();
        if !description.is_empty() {
            write!(f, ": {description}")?;
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

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self::new(Kind::Io).caused_by(source)
    }
}
