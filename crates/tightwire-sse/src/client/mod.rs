//! Reconnecting client (HTML standard, section 9.2 "Server-sent events").
//!
//! `retry` computes delays, `request` has the rules for HTTP, `connection` decodes a response, `refused` receives a
//! response that is not an event stream, `source` is the state machine, `transport` wraps reqwest, `extension` adds
//! methods to its types, and `mcp` is for the Model Context Protocol.

mod builder;
mod connection;
mod event_source;
mod extension;
mod idle_timer;
mod mcp;
mod refused;
mod request;
mod retry;
mod retry_after;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
mod transport;

use std::fmt;
use std::time::Duration;

use http::HeaderMap;

pub use self::builder::EventSourceBuilder;
pub use self::event_source::{EventSource, Events};
pub use self::extension::{RequestBuilderExt, ResponseEvents, ResponseExt};
pub use self::idle_timer::IdleTimer;
pub use self::mcp::{McpReply, McpSession};
#[cfg(feature = "compat-reqwest-eventsource")]
pub(crate) use self::request::{RequestTemplate, check_response, is_event_stream};
pub use self::retry::{Backoff, Jitter};
pub use self::retry_after::retry_after;
#[cfg(feature = "compat-reqwest-eventsource")]
pub(crate) use self::transport::has_nested_url;
pub use self::transport::without_urls;
use crate::Event;
use crate::error::Error;

const MIME_TYPE: &str = "text/event-stream";

/// Message of an [`EventSource`].
#[non_exhaustive]
pub enum Message {
    /// The response was accepted: its status is 200. Once per connection.
    Open {
        /// Headers of the response.
        headers: HeaderMap,
    },
    /// Event.
    Event(Event),
    /// Text of a comment line after the colon, unchanged. Only with
    /// [`report_comments`](EventSourceBuilder::report_comments).
    Comment(String),
    /// The connection failed or ended, and the client reconnects after a delay. Once per attempt; the state is
    /// [`ReadyState::Connecting`].
    Reconnecting {
        /// Reason: [`Error::is_ended`], [`is_transport`](Error::is_transport), [`is_timeout`](Error::is_timeout), or
        /// [`is_status`](Error::is_status) for a status after which the client
        /// [reconnects](EventSourceBuilder::retry_server_errors).
        error: Error,
        /// Delay from this message to the next request.
        delay: Duration,
    },
}

/// Omits the headers of the response, which may be secret.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { .. } => f.debug_struct("Open").finish_non_exhaustive(),
            Self::Event(event) => f.debug_tuple("Event").field(event).finish(),
            Self::Comment(text) => f.debug_tuple("Comment").field(text).finish(),
            Self::Reconnecting { error, delay } => {
                f.debug_struct("Reconnecting").field("error", error).field("delay", delay).finish()
            }
        }
    }
}

/// State of an [`EventSource`]: the `readyState` of the HTML standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadyState {
    /// Connecting, or waiting to reconnect.
    Connecting,
    /// Receiving events.
    Open,
    /// Failed or closed; the client does not reconnect.
    Closed,
}
