//! The reconnecting client (HTML standard, section 9.2 "Server-sent events").
//!
//! `retry` is the arithmetic of waiting, `request` and `response` are the rules of HTTP, `connection` decodes
//! one response, `source` drives them in turn, and `transport` is where reqwest comes in.

mod builder;
mod connection;
mod events;
mod request;
mod response;
mod retry;
mod silence;
mod source;
#[cfg(test)]
mod tests;
mod transport;

use std::time::Duration;

pub use self::builder::EventSourceBuilder;
pub use self::events::Events;
pub use self::retry::{Backoff, Jitter};
pub use self::silence::Silence;
pub use self::source::EventSource;
pub use self::transport::without_urls;
use crate::Event;
use crate::error::Error;

const MIME_TYPE: &str = "text/event-stream";

/// What an [`EventSource`] reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum Message {
    /// The server accepted the request and the stream begins. Reported once per connection.
    Open,
    /// An event arrived.
    Event(Event),
    /// A comment line arrived, if [`report_comments`](EventSourceBuilder::report_comments) asks for them. The
    /// text is what follows the colon, unchanged.
    Comment(String),
    /// The connection was lost, or could not be made, and the client is about to wait and try again. Reported
    /// once per attempt; the state is [`ReadyState::Connecting`].
    Reconnecting {
        /// Why there is no connection: [`Error::is_ended`], [`is_transport`](Error::is_transport),
        /// [`is_timeout`](Error::is_timeout), or, if server errors are retried,
        /// [`is_status`](Error::is_status).
        error: Error,
        /// How long the client waits from this message on.
        delay: Duration,
    },
}

/// Where an [`EventSource`] is in its life; the `readyState` of the HTML standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadyState {
    /// There is no connection yet, or none at the moment.
    Connecting,
    /// Events can arrive.
    Open,
    /// The client has failed or was closed, and does not connect again.
    Closed,
}
