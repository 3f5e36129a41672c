//! The one [`Error`] of the crate.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub(crate) use ErrorKind as Kind;

/// What went wrong, as [`Error::kind`] returns it. Each kind has a method of [`Error`] too, such as [`Error::is_limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is not well-formed XML, or has what the format forbids: a document type, an entity.
    Syntax,
    /// The input is XML but not CLIXML: an element, attribute or text is where it may not be.
    Structure,
    /// The text of an element is not a value of its type.
    InvalidText,
    /// A reference names an object or list of type names that was not read before.
    UnknownReference,
    /// A configured limit is exceeded.
    Limit,
    /// A header, packet or key blob has a field that the protocol does not allow.
    InvalidHeader,
    /// The input ends inside a header, packet or value.
    UnexpectedEnd,
    /// A fragment does not continue what was received before it.
    OutOfOrder,
    /// A value is not of the shape that a message or type needs: a missing member, another type.
    Mismatch,
    /// A value can't be written, such as a reference to an object that is gone.
    Unwritable,
    /// Encryption, decryption or the key exchange failed, deliberately without any detail.
    Crypto,
    /// An encrypted value is used before there is a session key.
    NoKey,
    /// The state of a pool or pipeline does not allow the action.
    State,
    /// The peer violates the protocol.
    Protocol,
    /// Reading or writing failed; the cause is the source.
    Io,
    /// The connection has ended.
    Closed,
    /// The peer took too long.
    Timeout,
    /// The peer can't prove its identity: its key is unknown, changed or revoked.
    Untrusted,
    /// The peer refuses the user or the credentials.
    Denied,
    /// A pipeline has failed or was stopped.
    Pipeline,
    /// The transport, host or build does not support this.
    Unsupported,
    /// The peer refuses the request; its reason is the source, if it gives one.
    Refused,
    /// A copied file differs from its source.
    Corrupt,
}

impl ErrorKind {
    fn text(self) -> &'static str {
        match self {
            Self::Syntax => "not well-formed XML, or XML that is forbidden here",
            Self::Structure => "no CLIXML",
            Self::InvalidText => "the text is no value of its type",
            Self::UnknownReference => "a reference to nothing",
            Self::Limit => "a limit is exceeded",
            Self::InvalidHeader => "a header is invalid",
            Self::UnexpectedEnd => "the input ends too early",
            Self::OutOfOrder => "a fragment is out of order",
            Self::Mismatch => "the value is not of the expected shape",
            Self::Unwritable => "the value can't be written",
            Self::Crypto => "a cryptographic operation failed",
            Self::NoKey => "there is no session key",
            Self::State => "the state does not allow this",
            Self::Protocol => "the peer violates the protocol",
            Self::Io => "reading or writing failed",
            Self::Closed => "the connection has ended",
            Self::Timeout => "the other side took too long",
            Self::Untrusted => "the other side is not to be trusted",
            Self::Denied => "access is denied",
            Self::Pipeline => "the pipeline has not completed",
            Self::Unsupported => "this is not supported here",
            Self::Refused => "the other side refuses the request",
            Self::Corrupt => "the copy differs from its source",
        }
    }
}

/// Why something could not be read, written or done: what it was, and where in the input.
///
/// Its text names elements, members and limits of the protocol. It never contains values of the input, for these may be
/// secret. Only why the other side has ended a connection or a pipeline is told in its own words, made safe for a terminal
/// ([`terminal_safe`](crate::terminal_safe)) and cut off after 4 KiB.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    /// What exactly, where the kind alone does not tell.
    detail: Option<Box<str>>,
    offset: Option<u64>,
    /// Shared, for the end of a connection is told to all who wait for something from it.
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner { kind, detail: None, offset: None, source: None }))
    }

    /// With what exactly is wrong; the text must not contain values of the input.
    #[cold]
    pub(crate) fn with(kind: Kind, detail: impl Into<Box<str>>) -> Self {
        let mut error = Self::new(kind);
        error.0.detail = Some(detail.into());
        error
    }

    /// Sets the byte offset, unless a place closer to the cause has set it.
    pub(crate) fn or_offset(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Puts the place in a value, such as `Items[3].Name`, before the detail.
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

    /// The same error once more.
    #[cfg(feature = "tokio")]
    pub(crate) fn duplicate(&self) -> Self {
        let Inner { kind, detail, offset, source } = &*self.0;
        Self(Box::new(Inner { kind: *kind, detail: detail.clone(), offset: *offset, source: source.clone() }))
    }

    /// What went wrong, to tell many kinds apart in one place.
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

    /// The position in bytes from the start of the input that was handed in, if there is one.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Whether the input is not well-formed XML, or has a document type or an entity of its own.
    pub fn is_syntax(&self) -> bool {
        self.0.kind == Kind::Syntax
    }

    /// Whether the input is XML but not CLIXML.
    pub fn is_structure(&self) -> bool {
        self.0.kind == Kind::Structure
    }

    /// Whether the text of an element is no value of its type.
    pub fn is_invalid_text(&self) -> bool {
        self.0.kind == Kind::InvalidText
    }

    /// Whether a reference names an object or a list of type names that was not there before.
    pub fn is_unknown_reference(&self) -> bool {
        self.0.kind == Kind::UnknownReference
    }

    /// Whether a configured limit is exceeded.
    pub fn is_limit(&self) -> bool {
        self.0.kind == Kind::Limit
    }

    /// Whether a header, packet or key blob has a field that the protocol does not allow.
    pub fn is_invalid_header(&self) -> bool {
        self.0.kind == Kind::InvalidHeader
    }

    /// Whether the input ends inside a header, packet or value.
    pub fn is_unexpected_end(&self) -> bool {
        self.0.kind == Kind::UnexpectedEnd
    }

    /// Whether a fragment does not continue what was received before it.
    pub fn is_out_of_order(&self) -> bool {
        self.0.kind == Kind::OutOfOrder
    }

    /// Whether a value is not of the shape that a message or type needs.
    pub fn is_mismatch(&self) -> bool {
        self.0.kind == Kind::Mismatch
    }

    /// Whether a value can't be written.
    pub fn is_unwritable(&self) -> bool {
        self.0.kind == Kind::Unwritable
    }

    /// Whether encryption, decryption or the key exchange failed; which of their steps is not told.
    pub fn is_crypto(&self) -> bool {
        self.0.kind == Kind::Crypto
    }

    /// Whether an encrypted value was used before there is a session key.
    pub fn is_no_key(&self) -> bool {
        self.0.kind == Kind::NoKey
    }

    /// Whether the state of a pool or pipeline does not allow the action.
    pub fn is_state(&self) -> bool {
        self.0.kind == Kind::State
    }

    /// Whether the peer does what the protocol forbids.
    pub fn is_protocol(&self) -> bool {
        self.0.kind == Kind::Protocol
    }

    /// Whether reading or writing failed; the cause is the source.
    pub fn is_io(&self) -> bool {
        self.0.kind == Kind::Io
    }

    /// Whether the connection has ended, for which the other side may have told the reason.
    pub fn is_closed(&self) -> bool {
        self.0.kind == Kind::Closed
    }

    /// Whether the other side took too long.
    pub fn is_timeout(&self) -> bool {
        self.0.kind == Kind::Timeout
    }

    /// Whether the other side can't show that it is who it should be: its key is unknown, changed or revoked.
    pub fn is_untrusted(&self) -> bool {
        self.0.kind == Kind::Untrusted
    }

    /// Whether the other side refuses the user, or whatever the user has to log in with.
    pub fn is_denied(&self) -> bool {
        self.0.kind == Kind::Denied
    }

    /// Whether a pipeline has failed or was stopped, for which the other side may have told the reason.
    pub fn is_pipeline(&self) -> bool {
        self.0.kind == Kind::Pipeline
    }

    /// Whether there is no means for it: in the transport, in the host, or in this build.
    pub fn is_unsupported(&self) -> bool {
        self.0.kind == Kind::Unsupported
    }

    /// Whether the other side refuses what it was asked for; its reason is the source, if it gives one.
    pub fn is_refused(&self) -> bool {
        self.0.kind == Kind::Refused
    }

    /// Whether a copied file differs from its source.
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

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self::new(Kind::Io).caused_by(source)
    }
}
