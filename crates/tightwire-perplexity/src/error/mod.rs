//! The one error type of this crate.

mod api;
mod body;
mod predicates;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

pub use self::api::ApiError;
pub use self::predicates::TimeoutPhase;
pub(crate) use self::predicates::{refusal, request_id};

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// What went wrong: before a request was sent, on the way, at the server, or with its answer.
///
/// The kind is private; ask the `is_*` predicates, which look through every layer of the client. `Display` prints this
/// level only, never the source; the message of the server is part of it, the API key, URLs and bodies never are. The
/// wording is not part of the API.
///
/// The type is one word wide.
pub struct Error {
    inner: Box<Inner>,
}

const _: () = assert!(size_of::<Error>() <= 24);

struct Inner {
    kind: Kind,
    source: Option<BoxError>,
    origin: Origin,
}

/// Which call an error belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    pub(crate) status: Option<http::StatusCode>,
    pub(crate) request_id: Option<Box<str>>,
    pub(crate) attempts: u32,
}

pub(crate) enum Kind {
    /// The client cannot be built from these settings.
    Config(Cow<'static, str>),
    /// The request violates a rule that the client checks itself.
    Invalid {
        field: Cow<'static, str>,
        problem: Cow<'static, str>,
    },
    /// The server answered with a status that is not a success.
    Api(ApiError),
    /// There was no answer.
    Connection,
    Timeout(TimeoutPhase),
    /// The answer, or an event, is not what the caller asked for.
    Decode {
        path: Option<Box<str>>,
        body: bytes::Bytes,
    },
    /// The server reported a failure within a stream.
    Stream {
        parsed: body::Parsed,
        body: bytes::Bytes,
    },
    /// A stream ended before the server said that the answer is complete.
    Incomplete,
    /// An answer or an event exceeds a limit in bytes.
    TooLarge(usize),
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, source: None, origin: Origin::default() }) }
    }

    /// The client cannot be built.
    pub(crate) fn config(problem: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Config(problem.into()))
    }

    /// The request cannot be sent. `problem` completes the sentence that begins with the name of the field.
    pub(crate) fn invalid(
        field: impl Into<Cow<'static, str>>,
        problem: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(Kind::Invalid { field: field.into(), problem: problem.into() })
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Whether the client cannot be built: no key, or a malformed key, URL, proxy or certificate. A malformed header is
    /// an [`is_invalid_request`](Self::is_invalid_request).
    pub fn is_config(&self) -> bool {
        matches!(self.inner.kind, Kind::Config(_))
    }

    /// Whether the request, or a header of the client, was refused by this crate, before anything was sent.
    pub fn is_invalid_request(&self) -> bool {
        matches!(self.inner.kind, Kind::Invalid { .. })
    }

    /// The member of the request, or the option, that is wrong, if [`is_invalid_request`](Self::is_invalid_request).
    pub fn field(&self) -> Option<&str> {
        match &self.inner.kind {
            Kind::Invalid { field, .. } => Some(field),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.kind {
            Kind::Config(problem) => return write!(f, "client cannot be built: {problem}"),
            Kind::Invalid { field, problem } => return write!(f, "request is invalid: `{field}` {problem}"),
            Kind::Api(error) => write!(f, "{error}")?,
            Kind::Connection => f.write_str("connection failed")?,
            Kind::Timeout(phase) => write!(f, "request timed out {phase}")?,
            Kind::Decode { path: None, .. } => f.write_str("answer is not what was expected")?,
            Kind::Decode { path: Some(path), .. } => {
                write!(f, "answer is not what was expected at `{path}`")?
            }
            Kind::Stream { parsed, .. } => write!(f, "server reported in the stream: {}", parsed.message)?,
            Kind::Incomplete => f.write_str("stream ended before the answer was complete")?,
            Kind::TooLarge(limit) => write!(f, "answer exceeds the limit of {limit} bytes")?,
        }
        write!(f, "{}", self.inner.origin)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("message", &format_args!("{self}"))
            .field("source", &self.inner.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}
