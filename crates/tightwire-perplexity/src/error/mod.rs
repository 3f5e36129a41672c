//! Error type of this crate.

mod body;
mod predicates;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

pub use self::predicates::TimeoutPhase;
pub(crate) use self::predicates::{error_response, request_id};

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Error of building a client, sending a request or decoding a response.
///
/// The kind is private; use the `is_*` methods. `Display` prints this error without its source. It includes
/// the server's message, but never the API key, URLs or bodies. The wording may change between versions.
///
/// The type is one pointer wide.
pub struct Error {
    inner: Box<Inner>,
}

const _: () = assert!(size_of::<Error>() <= 24);

struct Inner {
    kind: Kind,
    source: Option<BoxError>,
    origin: Origin,
}

/// Response that an error belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    pub(crate) status: Option<StatusCode>,
    pub(crate) request_id: Option<Box<str>>,
    pub(crate) attempts: u32,
}

pub(crate) enum Kind {
    /// Invalid client configuration.
    Config(Cow<'static, str>),
    /// The request failed local validation.
    Invalid {
        field: Cow<'static, str>,
        problem: Cow<'static, str>,
    },
    /// The server responded with a status other than 2xx.
    Api {
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
        parsed: body::ParsedBody,
        retry_after: Option<Duration>,
    },
    /// No response, or its body was truncated.
    Connection,
    Timeout(TimeoutPhase),
    /// The response or an event does not match the expected type.
    Decode {
        path: Option<Box<str>>,
        body: Bytes,
    },
    /// The server sent an error event in a stream.
    Stream {
        parsed: body::ParsedBody,
        body: Bytes,
    },
    /// A stream ended before the response was complete.
    Incomplete,
    /// A response or event exceeds its size limit, in bytes.
    TooLarge(usize),
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind) -> Self {
        Self { inner: Box::new(Inner { kind, source: None, origin: Origin::default() }) }
    }

    /// Creates an error of the client configuration.
    pub(crate) fn config(problem: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Config(problem.into()))
    }

    /// Creates an error of an invalid request. `problem` completes a sentence that begins with the field
    /// name.
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

    /// Returns `true` if the client configuration is invalid: a missing key, or a malformed key, URL, proxy
    /// or certificate. A malformed header is an [`is_invalid_request`](Self::is_invalid_request) error.
    pub fn is_config(&self) -> bool {
        matches!(self.inner.kind, Kind::Config(_))
    }

    /// Returns `true` if the request or a header was rejected locally, before anything was sent.
    pub fn is_invalid_request(&self) -> bool {
        matches!(self.inner.kind, Kind::Invalid { .. })
    }

    /// Returns the invalid field or option of an [`is_invalid_request`](Self::is_invalid_request) error.
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
            Kind::Config(problem) => return write!(f, "invalid client configuration: {problem}"),
            Kind::Invalid { field, problem } => return write!(f, "invalid request: `{field}` {problem}"),
            Kind::Api { status, parsed, .. } => {
                write!(f, "{} {}: {}", status.as_u16(), class(*status), parsed.message)?
            }
            Kind::Connection => f.write_str("connection failed")?,
            Kind::Timeout(phase) => write!(f, "request timed out {phase}")?,
            Kind::Decode { path: None, .. } => f.write_str("response has an unexpected format")?,
            Kind::Decode { path: Some(path), .. } => {
                write!(f, "response has an unexpected format at `{path}`")?
            }
            Kind::Stream { parsed, .. } => {
                write!(f, "server sent an error in the stream: {}", parsed.message)?
            }
            Kind::Incomplete => f.write_str("stream ended before the response was complete")?,
            Kind::TooLarge(limit) => write!(f, "response exceeds the limit of {limit} bytes")?,
        }
        write!(f, "{}", self.inner.origin)
    }
}

/// Returns the name of an error status.
fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 => "bad_request",
        401 => "authentication",
        403 => "permission_denied",
        404 => "not_found",
        409 => "conflict",
        422 => "unprocessable_entity",
        429 => "rate_limit",
        500.. => "internal_server",
        _ => "error",
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
