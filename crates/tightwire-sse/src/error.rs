//! The one error type of this crate.

use alloc::boxed::Box;
use core::fmt;

/// The result type of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// What went wrong while decoding, encoding or receiving events.
///
/// The kind is private; ask the `is_*` predicates. `Display` prints this level only, never the source, and
/// never any part of the stream or of a URL. The wording is not part of the API.
pub struct Error {
    kind: Kind,
    source: Option<Box<dyn core::error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A block grew past the limit; both in bytes, `offset` from the start of the stream.
    TooLarge { limit: usize, offset: u64 },
    /// The encoder was given a field value that the format cannot carry.
    Unencodable { field: &'static str, byte: u8, offset: usize },
    /// The transport under an adaptor failed.
    #[cfg_attr(
        not(any(feature = "std", feature = "futures")),
        allow(dead_code, reason = "only adaptors have transports")
    )]
    Transport,
    /// The stream ended, or ended before `[DONE]`.
    #[cfg_attr(
        not(any(feature = "reqwest", all(feature = "json", any(feature = "std", feature = "futures")))),
        allow(dead_code, reason = "elsewhere the end is not an error")
    )]
    Ended,
    /// The server answered, but not with an event stream.
    #[cfg_attr(not(feature = "reqwest"), allow(dead_code, reason = "only the client sees statuses"))]
    Status(u16),
    /// The server's Content-Type is missing or not `text/event-stream`.
    #[cfg_attr(not(feature = "reqwest"), allow(dead_code, reason = "only the client sees headers"))]
    ContentType,
    /// No byte arrived within the read timeout.
    #[cfg_attr(not(feature = "reqwest"), allow(dead_code, reason = "only the client has timers"))]
    Timeout,
    /// The request could not be built or sent again.
    #[cfg_attr(not(feature = "reqwest"), allow(dead_code, reason = "only the client sends requests"))]
    Request,
    /// The data of an event is not the JSON that the caller asked for.
    #[cfg_attr(not(feature = "json"), allow(dead_code, reason = "only `json` parses data"))]
    Json,
    /// The Go-compatible mode was asked for the JSON of an event whose data is empty.
    #[cfg_attr(not(feature = "compat-go"), allow(dead_code, reason = "only `compat::go` tells it apart"))]
    EmptyData,
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

    /// Whether a block exceeded [`Config::max_event_size`](crate::Config::max_event_size).
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, Kind::TooLarge { .. })
    }

    /// Whether the encoder refused a field value: a line break in `event` or `id`, or NUL in `id`.
    pub fn is_unencodable(&self) -> bool {
        matches!(self.kind, Kind::Unencodable { .. })
    }

    /// Whether the reader, stream or connection under an adaptor failed. The cause is the source.
    pub fn is_transport(&self) -> bool {
        matches!(self.kind, Kind::Transport)
    }

    /// Whether the stream ended in an orderly way where it should not: under a client that reconnects, because event
    /// streams are meant to last, and before `[DONE]` where JSON is read up to that.
    pub fn is_ended(&self) -> bool {
        matches!(self.kind, Kind::Ended)
    }

    /// Whether no byte arrived within the read timeout of the client.
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind, Kind::Timeout)
    }

    /// Whether the server answered with a status that is not 200.
    pub fn is_status(&self) -> bool {
        matches!(self.kind, Kind::Status(_))
    }

    /// Whether the server's Content-Type is missing or not `text/event-stream`.
    pub fn is_content_type(&self) -> bool {
        matches!(self.kind, Kind::ContentType)
    }

    /// Whether the client's request could not be built, or not be sent a second time.
    pub fn is_request(&self) -> bool {
        matches!(self.kind, Kind::Request)
    }

    /// Whether the data of an event was not the JSON that the caller asked for.
    pub fn is_json(&self) -> bool {
        matches!(self.kind, Kind::Json | Kind::EmptyData)
    }

    /// The HTTP status, if [`is_status`](Self::is_status).
    pub fn status(&self) -> Option<u16> {
        match self.kind {
            Kind::Status(status) => Some(status),
            _ => None,
        }
    }

    /// Where it happened: for a block past the limit, bytes from the start of the stream; for a value that
    /// cannot be encoded, bytes from the start of that value.
    pub fn offset(&self) -> Option<u64> {
        match self.kind {
            Kind::TooLarge { offset, .. } => Some(offset),
            Kind::Unencodable { offset, .. } => Some(offset as u64),
            _ => None,
        }
    }

    /// The limit in bytes that was exceeded, if [`is_limit`](Self::is_limit).
    pub fn limit(&self) -> Option<usize> {
        match self.kind {
            Kind::TooLarge { limit, .. } => Some(limit),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::TooLarge { limit, offset } => {
                write!(f, "event exceeds the limit of {limit} bytes at offset {offset} of the stream")
            }
            Kind::Unencodable { field, byte, offset } => {
                write!(f, "byte 0x{byte:02x} at offset {offset} cannot be part of the field `{field}`")
            }
            Kind::Transport => f.write_str("transport of the event stream failed"),
            Kind::Ended => f.write_str("server ended the event stream"),
            Kind::Status(status) => write!(f, "server answered with status {status}, expected 200"),
            Kind::ContentType => f.write_str("server did not answer with content type text/event-stream"),
            Kind::Timeout => f.write_str("no byte arrived within the read timeout"),
            Kind::Request => f.write_str("request for the event stream cannot be sent"),
            Kind::Json => f.write_str("event data is not the expected JSON"),
            Kind::EmptyData => f.write_str("event data is empty"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.kind).field("source", &self.source).finish()
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
