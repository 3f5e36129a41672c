//! Error type of this crate.

mod body;
mod predicates;
mod retry_after;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

pub(crate) use self::body::{is_failure, reports_error};
pub use self::predicates::TimeoutPhase;
pub(crate) use self::predicates::{error_response, is_transient, request_id};
pub(crate) use self::retry_after::retry_after;

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Error of building a client, sending a request or decoding a response.
///
/// The kind is private; use the `is_*` methods. `Display` prints this error without its source, and never the API key,
/// URLs or bodies. For an error response or error event it begins with the server's message, followed by the status,
/// request ID and number of attempts: `Invalid model 'x'. (400 bad_request, request id 7f3)`. The wording may change
/// between versions.
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
    details: Details,
}

/// Response that an error belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    pub(crate) status: Option<StatusCode>,
    pub(crate) request_id: Option<Box<str>>,
    pub(crate) attempts: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Invalid client configuration.
    Config,
    /// The request failed local validation.
    Invalid,
    /// The server responded with a status other than 2xx.
    Api,
    /// No response, or its body was truncated.
    Connection,
    Timeout(TimeoutPhase),
    /// The response or an event does not match the expected type.
    Decode,
    /// The server sent an error event in a stream, or a response that failed.
    Stream,
    /// A stream ended before the response was complete.
    Incomplete,
    /// A response or event exceeds its size limit, in bytes.
    TooLarge(usize),
}

/// Fields that only errors of some kinds have.
#[derive(Default)]
struct Details {
    /// Configuration or request error: the problem.
    problem: Cow<'static, str>,
    /// Request error: the field or option.
    field: Option<Cow<'static, str>>,
    /// Decoding error: the path of the unexpected value.
    path: Option<Box<str>>,
    /// Error response or error event.
    parsed: Option<body::ParsedBody>,
    /// Error response.
    headers: Option<HeaderMap>,
    retry_after: Option<Duration>,
    /// Error response, or undecodable body or event.
    body: Option<Bytes>,
}

impl Error {
    #[cold]
    fn with_details(kind: Kind, details: Details) -> Self {
        Self { inner: Box::new(Inner { kind, source: None, origin: Origin::default(), details }) }
    }

    pub(crate) fn new(kind: Kind) -> Self {
        Self::with_details(kind, Details::default())
    }

    /// Creates an error of the client configuration.
    pub(crate) fn config(problem: impl Into<Cow<'static, str>>) -> Self {
        Self::with_details(Kind::Config, Details { problem: problem.into(), ..Details::default() })
    }

    /// Creates an error of an invalid request. `problem` completes a sentence that begins with the field
    /// name.
    pub(crate) fn invalid(
        field: impl Into<Cow<'static, str>>,
        problem: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (problem, field) = (problem.into(), Some(field.into()));
        Self::with_details(Kind::Invalid, Details { problem, field, ..Details::default() })
    }

    /// Creates an error of a field or option that is not valid JSON data.
    pub(crate) fn unencodable(field: &'static str, source: impl Into<BoxError>) -> Self {
        Self::invalid(field, "cannot be encoded as JSON").with_source(source)
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { problem, field, path, .. } = &self.inner.details;
        let message = self.message().unwrap_or_default();
        let mut kind = None;
        match self.inner.kind {
            Kind::Config => write!(f, "invalid client configuration: {problem}")?,
            Kind::Invalid => {
                write!(f, "invalid request: `{}` {problem}", field.as_deref().unwrap_or_default())?
            }
            Kind::Api => {
                let status = self.status().unwrap_or_default();
                kind = Some(format!("{} {}", status.as_u16(), class(status)));
                f.write_str(message)?
            }
            Kind::Connection => f.write_str("connection failed")?,
            Kind::Timeout(phase) => write!(f, "request timed out {phase}")?,
            Kind::Decode => match path {
                None => f.write_str("response has an unexpected format")?,
                Some(path) => write!(f, "response has an unexpected format at `{path}`")?,
            },
            Kind::Stream => {
                kind = Some("error event".to_owned());
                f.write_str(message)?
            }
            Kind::Incomplete => f.write_str("stream ended before the response was complete")?,
            Kind::TooLarge(limit) => write!(f, "response exceeds the limit of {limit} bytes")?,
        }
        let id = self.request_id().map(|id| format!("request id {id}"));
        let attempts = (self.attempts() > 1).then(|| format!("attempts {}", self.attempts()));
        let hint = self.is_retired().then(|| "use the Agent API: Client::responses".to_owned());
        let notes: Vec<String> = [kind, hint, id, attempts].into_iter().flatten().collect();
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
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
