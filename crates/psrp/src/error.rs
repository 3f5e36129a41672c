//! The [`Error`] type of the crate.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub(crate) use ErrorKind as Kind;

/// The kind of an [`Error`], as returned by [`Error::kind`]. Each kind also has a predicate on [`Error`], such as
/// [`Error::is_limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is not well-formed XML, or contains a document type or an entity, which CLIXML forbids.
    Syntax,
    /// The input is XML but not CLIXML: an element, attribute or text is in the wrong place.
    Structure,
    /// The text of an element is not a valid value of its type.
    InvalidText,
    /// A reference to an object or a list of type names that the document has not defined yet.
    UnknownReference,
    /// A configured limit is exceeded.
    Limit,
    /// A header, packet or key blob contains a field that the protocol does not allow.
    InvalidHeader,
    /// The input ends inside a header, packet or value.
    UnexpectedEnd,
    /// A fragment does not continue the fragments received before it.
    OutOfOrder,
    /// A value does not have the structure that a message or type requires: a member is missing or of another type.
    Mismatch,
    /// A value can't be written, for example a reference to an object that was dropped.
    Unwritable,
    /// Encryption, decryption or the key exchange failed. Deliberately without details.
    Crypto,
    /// An encrypted value is used before the session key was exchanged.
    NoKey,
    /// The action is not allowed in the current state of the pool or pipeline.
    State,
    /// The peer violates the protocol.
    Protocol,
    /// Reading or writing failed. [`source`](std::error::Error::source) is the I/O error.
    Io,
    /// The connection has ended.
    Closed,
    /// The peer did not answer in time.
    Timeout,
    /// The peer could not prove its identity: its key is unknown, changed or revoked.
    Untrusted,
    /// The peer rejected the user or the credentials.
    Denied,
    /// The pipeline failed or was stopped.
    Pipeline,
    /// The transport, host or build does not support this.
    Unsupported,
    /// The peer rejected the request. [`source`](std::error::Error::source) is its reason, if it sent one.
    Refused,
    /// A copied file differs from its source.
    Corrupt,
}

impl ErrorKind {
    fn text(self) -> &'static str {
        match self {
            Self::Syntax => "malformed or forbidden XML",
            Self::Structure => "not CLIXML",
            Self::InvalidText => "the text is not a value of its type",
            Self::UnknownReference => "unknown reference",
            Self::Limit => "a limit is exceeded",
            Self::InvalidHeader => "invalid header",
            Self::UnexpectedEnd => "unexpected end of input",
            Self::OutOfOrder => "a fragment is out of order",
            Self::Mismatch => "the value is not of the expected shape",
            Self::Unwritable => "the value can't be written",
            Self::Crypto => "a cryptographic operation failed",
            Self::NoKey => "no session key",
            Self::State => "the state does not allow this",
            Self::Protocol => "the peer violates the protocol",
            Self::Io => "reading or writing failed",
            Self::Closed => "the connection has ended",
            Self::Timeout => "the peer took too long",
            Self::Untrusted => "the peer is not trusted",
            Self::Denied => "access is denied",
            Self::Pipeline => "the pipeline has not completed",
            Self::Unsupported => "not supported",
            Self::Refused => "the peer refused the request",
            Self::Corrupt => "the copy differs from its source",
        }
    }
}

/// The error of all operations of this crate: a [kind](ErrorKind), a detail, and the byte offset in the input.
///
/// The message names elements, members and limits of the protocol. It never contains values of the input, because these
/// may be secret. The one exception is the peer's reason for ending a connection or pipeline, which is made safe for a
/// terminal ([`terminal_safe`](crate::terminal_safe)) and truncated to 4 KiB.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: Kind,
    /// Adds to the kind, if it does not say everything.
    detail: Option<Box<str>>,
    offset: Option<u64>,
    /// Shared because the end of a connection is reported to all pending operations.
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner { kind, detail: None, offset: None, source: None }))
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

    /// Prepends a path inside the value, such as `Items[3].Name`, to the detail.
    #[cfg(feature = "serde")]
    pub(crate) fn within(mut self, place: &str) -> Self {
        let detail = match self.0.detail.take() {
            Some(detail) => format!("{place}: {detail}"),
            None => place.to_owned(),
        };
        self.0.detail = Some(detail.into());
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

    /// Returns whether the input is not well-formed XML, or contains a document type or an entity declaration.
    pub fn is_syntax(&self) -> bool {
        self.0.kind == Kind::Syntax
    }

    /// Returns whether the input is XML but not CLIXML.
    pub fn is_structure(&self) -> bool {
        self.0.kind == Kind::Structure
    }

    /// Returns whether the text of an element is not a valid value of its type.
    pub fn is_invalid_text(&self) -> bool {
        self.0.kind == Kind::InvalidText
    }

    /// Returns whether a reference names an object or a list of type names that was not defined before.
    pub fn is_unknown_reference(&self) -> bool {
        self.0.kind == Kind::UnknownReference
    }

    /// Returns whether a configured limit was exceeded.
    pub fn is_limit(&self) -> bool {
        self.0.kind == Kind::Limit
    }

    /// Returns whether a header, packet or key blob contains a field that the protocol does not allow.
    pub fn is_invalid_header(&self) -> bool {
        self.0.kind == Kind::InvalidHeader
    }

    /// Returns whether the input ended inside a header, packet or value.
    pub fn is_unexpected_end(&self) -> bool {
        self.0.kind == Kind::UnexpectedEnd
    }

    /// Returns whether a fragment does not continue the fragments received before it.
    pub fn is_out_of_order(&self) -> bool {
        self.0.kind == Kind::OutOfOrder
    }

    /// Returns whether a value does not have the structure that a message or type requires.
    pub fn is_mismatch(&self) -> bool {
        self.0.kind == Kind::Mismatch
    }

    /// Returns whether a value can't be written.
    pub fn is_unwritable(&self) -> bool {
        self.0.kind == Kind::Unwritable
    }

    /// Returns whether encryption, decryption or the key exchange failed. The failed step is deliberately not
    /// disclosed.
    pub fn is_crypto(&self) -> bool {
        self.0.kind == Kind::Crypto
    }

    /// Returns whether an encrypted value was used before the session key was exchanged.
    pub fn is_no_key(&self) -> bool {
        self.0.kind == Kind::NoKey
    }

    /// Returns whether the action is not allowed in the current state of the pool or pipeline.
    pub fn is_state(&self) -> bool {
        self.0.kind == Kind::State
    }

    /// Returns whether the peer violated the protocol.
    pub fn is_protocol(&self) -> bool {
        self.0.kind == Kind::Protocol
    }

    /// Returns whether reading or writing failed; the source is the I/O error.
    pub fn is_io(&self) -> bool {
        self.0.kind == Kind::Io
    }

    /// Returns whether the connection has ended. The message includes the peer's reason, if it sent one.
    pub fn is_closed(&self) -> bool {
        self.0.kind == Kind::Closed
    }

    /// Returns whether the peer did not answer in time.
    pub fn is_timeout(&self) -> bool {
        self.0.kind == Kind::Timeout
    }

    /// Returns whether the peer could not prove its identity: its key is unknown, changed or revoked.
    pub fn is_untrusted(&self) -> bool {
        self.0.kind == Kind::Untrusted
    }

    /// Returns whether the peer rejected the user or the credentials.
    pub fn is_denied(&self) -> bool {
        self.0.kind == Kind::Denied
    }

    /// Returns whether a pipeline failed or was stopped. The message includes the peer's reason, if it sent one.
    pub fn is_pipeline(&self) -> bool {
        self.0.kind == Kind::Pipeline
    }

    /// Returns whether the transport, the host or this build does not support the operation.
    pub fn is_unsupported(&self) -> bool {
        self.0.kind == Kind::Unsupported
    }

    /// Returns whether the peer rejected a request; the source is its reason, if it sent one.
    pub fn is_refused(&self) -> bool {
        self.0.kind == Kind::Refused
    }

    /// Returns whether a copied file differs from its source.
    pub fn is_corrupt(&self) -> bool {
        self.0.kind == Kind::Corrupt
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

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self::new(Kind::Io).caused_by(source)
    }
}
