//! Error type of this crate.

use alloc::boxed::Box;
use core::fmt;

/// Result type of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Error of decoding, encoding or receiving events.
///
/// The `is_*` predicates tell its kind. `Display` does not print the source, and no parts of the stream or of a URL.
/// `Debug` prints the data of [`is_json`](Self::is_json). Neither prints the headers and the body of a refused response,
/// which may be secret. The wording is not part of the API.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    source: Option<Box<dyn core::error::Error + Send + Sync>>,
}

#[derive(Debug)]
#[allow(dead_code, reason = "some kinds are only used with features")]
pub(crate) enum Kind {
    /// A block exceeds the limit, in bytes. `offset` counts from the start of the stream.
    TooLarge { limit: usize, offset: u64 },
    /// The format cannot represent a field value.
    Unencodable { field: &'static str, byte: u8, offset: usize },
    /// The underlying reader, stream or connection failed.
    Transport,
    /// The stream ended, or ended before `[DONE]`.
    Ended,
    /// The response has a status other than 200.
    Status(Box<Refused>),
    /// An MCP server ended the session, or no longer accepts its client.
    SessionEnded(Box<Refused>),
    /// The content type of the response is missing or not `text/event-stream`.
    ContentType(Box<Refused>),
    /// The read timeout elapsed.
    Timeout,
    /// The event timeout elapsed.
    EventTimeout,
    /// The request cannot be built or sent.
    Request,
    /// The data of an event, of which this is the start, is not JSON of the requested type.
    Json(Box<str>),
    /// An encoded event is larger than the replay buffer, in bytes.
    ReplayLimit(usize),
    /// The event to continue after is not in the replay buffer.
    TooOld,
    /// The replay buffer has an event with the same id.
    DuplicateId,
}

/// Response that is not an event stream.
#[allow(dead_code, reason = "only created by the client")]
pub(crate) struct Refused {
    pub(crate) status: u16,
    #[cfg(feature = "reqwest")]
    pub(crate) headers: http::HeaderMap,
    #[cfg(feature = "reqwest")]
    pub(crate) body: ::bytes::Bytes,
    #[cfg(feature = "reqwest")]
    pub(crate) is_truncated: bool,
}

/// Omits the headers and the body, which may be secret.
impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, source: None }
    }

    #[allow(dead_code, reason = "used by the adaptors, each behind a feature")]
    pub(crate) fn with_source(
        kind: Kind,
        source: impl Into<Box<dyn core::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// Returns whether a block exceeds [`Config::max_event_size`](crate::Config::max_event_size), or the size of a
    /// replay buffer.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, Kind::TooLarge { .. } | Kind::ReplayLimit(_))
    }

    /// Returns whether a field value cannot be encoded: a line break in `event` or `id`, or NUL in `id`, or an id
    /// that clients of a replay buffer cannot send as a header.
    pub fn is_unencodable(&self) -> bool {
        matches!(self.kind, Kind::Unencodable { .. })
    }

    /// Returns whether the underlying reader, stream or connection failed. Its error is the source.
    pub fn is_transport(&self) -> bool {
        matches!(self.kind, Kind::Transport)
    }

    /// Returns whether the stream ended without an error, but unexpectedly: in a client that reconnects, or before
    /// `[DONE]` in `json_until_done` with `Ending::Strict`; or an event was published on a closed channel.
    pub fn is_ended(&self) -> bool {
        matches!(self.kind, Kind::Ended)
    }

    /// Returns whether the read timeout or the event timeout of the client elapsed.
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind, Kind::Timeout | Kind::EventTimeout)
    }

    /// Returns whether the status of the response is not 200.
    pub fn is_status(&self) -> bool {
        matches!(self.kind, Kind::Status(_) | Kind::SessionEnded(_))
    }

    /// Returns whether an MCP server ended the session: status 404 or 410, or 401 when a stream is resumed. The
    /// client has to initialize a new session. [`is_status`](Self::is_status) is `true`, too.
    pub fn is_session_ended(&self) -> bool {
        matches!(self.kind, Kind::SessionEnded(_))
    }

    /// Returns whether the content type of the response is missing or not `text/event-stream`.
    pub fn is_content_type(&self) -> bool {
        matches!(self.kind, Kind::ContentType(_))
    }

    /// Returns whether the request of the client cannot be built or sent again.
    pub fn is_request(&self) -> bool {
        matches!(self.kind, Kind::Request)
    }

    /// Returns whether the data of an event is not JSON of the requested type.
    pub fn is_json(&self) -> bool {
        matches!(self.kind, Kind::Json(_))
    }

    /// Returns the data of the event, at most its first 4 KiB, if [`is_json`](Self::is_json). A provider's error message
    /// in the middle of a stream is such data.
    pub fn data(&self) -> Option<&str> {
        match &self.kind {
            Kind::Json(data) => Some(data),
            _ => None,
        }
    }

    /// Returns whether the events after an id or a position are no longer in a replay buffer, or never were.
    pub fn is_too_old(&self) -> bool {
        matches!(self.kind, Kind::TooOld)
    }

    /// Returns whether a replay buffer already has an event with the same id.
    pub fn is_duplicate_id(&self) -> bool {
        matches!(self.kind, Kind::DuplicateId)
    }

    /// Returns the HTTP status of the refused response, if [`is_status`](Self::is_status) or
    /// [`is_content_type`](Self::is_content_type).
    pub fn status(&self) -> Option<u16> {
        self.refused().map(|response| response.status)
    }

    /// Returns the headers of the refused response, if [`is_status`](Self::is_status) or
    /// [`is_content_type`](Self::is_content_type).
    #[cfg(feature = "reqwest")]
    pub fn headers(&self) -> Option<&http::HeaderMap> {
        self.refused().map(|response| &response.headers)
    }

    /// Returns the body of the refused response, if [`is_status`](Self::is_status) or
    /// [`is_content_type`](Self::is_content_type).
    ///
    /// It may be truncated, see [`is_body_truncated`](Self::is_body_truncated).
    #[cfg(feature = "reqwest")]
    pub fn body(&self) -> Option<&::bytes::Bytes> {
        self.refused().map(|response| &response.body)
    }

    /// Returns whether [`body`](Self::body) is only the first part of the body of the response: the body is larger
    /// than the limit, 64 KiB by default, or it was not received completely, by default within 5 s.
    ///
    /// [`EventSourceBuilder::max_error_body`](crate::EventSourceBuilder::max_error_body) and
    /// [`error_body_timeout`](crate::EventSourceBuilder::error_body_timeout) set the limits.
    #[cfg(feature = "reqwest")]
    pub fn is_body_truncated(&self) -> bool {
        self.refused().is_some_and(|response| response.is_truncated)
    }

    fn refused(&self) -> Option<&Refused> {
        match &self.kind {
            Kind::Status(response) | Kind::SessionEnded(response) | Kind::ContentType(response) => {
                Some(response)
            }
            _ => None,
        }
    }

    /// Returns the byte offset of the error: in the stream for [`is_limit`](Self::is_limit) of a decoder, in the field
    /// value for [`is_unencodable`](Self::is_unencodable).
    pub fn offset(&self) -> Option<u64> {
        match self.kind {
            Kind::TooLarge { offset, .. } => Some(offset),
            Kind::Unencodable { offset, .. } => Some(offset as u64),
            _ => None,
        }
    }

    /// Returns the exceeded limit in bytes, if [`is_limit`](Self::is_limit).
    pub fn limit(&self) -> Option<usize> {
        match self.kind {
            Kind::TooLarge { limit, .. } | Kind::ReplayLimit(limit) => Some(limit),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::TooLarge { limit, offset } => {
                write!(f, "event is larger than {limit} bytes at offset {offset} of the stream")
            }
            Kind::Unencodable { field, byte, offset } => {
                write!(f, "field `{field}` cannot contain byte 0x{byte:02x} (at offset {offset})")
            }
            Kind::Transport => f.write_str("transport of the event stream failed"),
            Kind::Ended => f.write_str("server ended the event stream"),
            Kind::Status(response) => write!(f, "response has status {}, expected 200", response.status),
            Kind::SessionEnded(response) => {
                write!(
                    f,
                    "MCP session has ended: response has status {} (initialize a new one)",
                    response.status
                )
            }
            Kind::ContentType(_) => f.write_str("response does not have content type text/event-stream"),
            Kind::Timeout => f.write_str("no data received within the read timeout"),
            Kind::EventTimeout => f.write_str("no event received within the event timeout"),
            Kind::Request => f.write_str("request for the event stream cannot be sent"),
            Kind::Json(_) => f.write_str("event data is not JSON of the expected type"),
            Kind::ReplayLimit(limit) => {
                write!(f, "event is larger than the replay buffer of {limit} bytes (set with_max_bytes)")
            }
            Kind::TooOld => f.write_str("events to replay are no longer buffered"),
            Kind::DuplicateId => f.write_str("replay buffer has an event with the same id"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
