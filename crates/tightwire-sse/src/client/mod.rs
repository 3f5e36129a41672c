//! Reconnecting client (HTML standard, section 9.2 "Server-sent events").
//!
//! `retry` computes delays, `request` has the rules for HTTP, `connection` decodes a response, `source`
//! is the state machine, `transport` wraps reqwest, and `mcp` uses them for the Model Context Protocol.

mod builder;
mod connection;
mod idle_timer;
mod mcp;
mod request;
mod retry;
mod source;
#[cfg(test)]
mod tests;
mod transport;

use std::time::Duration;

pub use self::builder::EventSourceBuilder;
pub use self::idle_timer::IdleTimer;
pub use self::mcp::{McpReply, McpSession};
pub use self::retry::{Backoff, Jitter};
pub use self::source::{EventSource, Events};
pub use self::transport::without_urls;
use crate::Event;
use crate::error::Error;

const MIME_TYPE: &str = "text/event-stream";

/// Message of an [`EventSource`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Message {
    /// The response was accepted. Once per connection.
    Open,
    /// Event.
    Event(Event),
    /// Text of a comment line after the colon, unchanged. Only with
    /// [`report_comments`](EventSourceBuilder::report_comments).
    Comment(String),
    /// The connection failed or ended, and the client reconnects after a delay. Once per attempt; the state is
    /// [`ReadyState::Connecting`].
    Reconnecting {
        /// Reason: [`Error::is_ended`], [`is_transport`](Error::is_transport), [`is_timeout`](Error::is_timeout), or
        /// [`is_status`](Error::is_status) if server errors are retried.
        error: Error,
        /// Delay from this message to the next request.
        delay: Duration,
    },
}

/// State of an [`EventSource`]: the `readyState` of the HTML standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadyState {
    /// Connecting, or waiting to reconnect.
    Connecting,
    /// Receiving events.
    Open,
    /// Failed or closed; the client does not reconnect.
    Closed,
}
