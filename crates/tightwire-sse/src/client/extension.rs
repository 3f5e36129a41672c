//! Extension traits for requests and responses of reqwest.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_core::stream::FusedStream;
use reqwest::{RequestBuilder, Response};

use super::connection::{Connection, Step};
use super::idle_timer::Timeouts;
use super::refused::{ErrorBodyLimits, RefusedResponse};
use super::request::check_response;
use super::{EventSource, Message};
use crate::error::Result;
use crate::{Decoder, Event};

/// Adds a method to [`RequestBuilder`] that receives events and reconnects.
///
/// # Examples
///
/// ```no_run
/// use futures_util::TryStreamExt;
/// use tightwire_sse::{Message, RequestBuilderExt};
///
/// # async fn run() -> tightwire_sse::Result<()> {
/// let mut source = reqwest::Client::new().get("https://example.org/prices").event_source()?;
/// while let Some(message) = source.try_next().await? {
///     if let Message::Event(event) = message {
///         println!("{}: {}", event.event_type(), event.data());
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub trait RequestBuilderExt {
    /// Returns a client for this request with default options. The same as
    /// `EventSource::from_request(request).build()`.
    ///
    /// # Errors
    ///
    /// Those of [`EventSourceBuilder::build`](crate::EventSourceBuilder::build).
    fn event_source(self) -> Result<EventSource>;
}

impl RequestBuilderExt for RequestBuilder {
    fn event_source(self) -> Result<EventSource> {
        EventSource::from_request(self).build()
    }
}

/// Adds a method to [`Response`] that decodes its events.
///
/// # Examples
///
/// ```no_run
/// use futures_util::TryStreamExt;
/// use tightwire_sse::ResponseExt;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let request = reqwest::Client::new().post("https://example.org/v1/chat/completions");
/// let mut events = request.body(r#"{"stream": true, "messages": []}"#).send().await?.events();
/// while let Some(event) = events.try_next().await? {
///     println!("{}: {}", event.event_type(), event.data());
/// }
/// # Ok(())
/// # }
/// ```
pub trait ResponseExt {
    /// Decodes the events of this response, without reconnecting.
    fn events(self) -> ResponseEvents;
}

impl ResponseExt for Response {
    fn events(self) -> ResponseEvents {
        let source = match check_response(self.status(), self.headers()) {
            Ok(()) => Source::Open(Connection::new(self.into(), Decoder::new(), false)),
            Err(refusal) => {
                Source::Refused(RefusedResponse::new(refusal, self.into(), ErrorBodyLimits::default()))
            }
        };
        ResponseEvents { source: Box::new(source), timeouts: Timeouts::new(None, None), ended: false }
    }
}

/// Stream of the events of one response; see [`ResponseExt::events`].
///
/// # Errors and the end
///
/// If the status is not 200, or the content type is not `text/event-stream`, the only item is
/// [`Error::is_status`](crate::Error::is_status) or [`is_content_type`](crate::Error::is_content_type) with the
/// response. An oversized event is [`Error::is_limit`](crate::Error::is_limit), and decoding continues unless the
/// decoder [terminates](crate::Overflow::Terminate). A failed connection is
/// [`Error::is_transport`](crate::Error::is_transport), and the stream ends. At the end of the response, the stream ends
/// without an error, and an incomplete event is discarded.
///
/// Timeouts are those of the request and its `reqwest::Client`.
///
/// # Cancel safety
///
/// Dropping the future of `next()`, as in `select!`, loses no event. Dropping the stream closes the connection.
///
/// # Panics
///
/// Polling a response that is not an event stream panics outside of a tokio runtime with time driver.
#[must_use = "streams do nothing unless polled"]
pub struct ResponseEvents {
    source: Box<Source>,
    timeouts: Timeouts,
    ended: bool,
}

enum Source {
    Open(Connection),
    Refused(RefusedResponse),
}

impl ResponseEvents {
    /// Sets the decoder, which has the limits and the initial last event id. Default: [`Decoder::new`].
    pub fn with_decoder(mut self, decoder: Decoder) -> Self {
        if let Source::Open(connection) = &mut *self.source {
            connection.set_decoder(decoder);
        }
        self
    }

    /// Sets the maximum size in bytes of [`Error::body`](crate::Error::body). Default: 64 KiB.
    pub fn with_max_error_body(mut self, size: usize) -> Self {
        if let Source::Refused(response) = &mut *self.source {
            response.set_max_size(size);
        }
        self
    }

    /// Sets the maximum time to receive [`Error::body`](crate::Error::body). Default: 5 s.
    pub fn with_error_body_timeout(mut self, timeout: Duration) -> Self {
        if let Source::Refused(response) = &mut *self.source {
            response.set_timeout(timeout);
        }
        self
    }

    /// Returns the last event id. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        match &*self.source {
            Source::Open(connection) => connection.last_event_id(),
            Source::Refused(_) => "",
        }
    }
}

impl Stream for ResponseEvents {
    type Item = Result<Event>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        while !this.ended {
            let error = match &mut *this.source {
                Source::Open(connection) => match ready!(connection.poll_step(&mut this.timeouts, cx)) {
                    Step::Message(Message::Event(event)) => return Poll::Ready(Some(Ok(event))),
                    Step::Message(_) => continue,
                    Step::Skipped(error) => return Poll::Ready(Some(Err(error))),
                    Step::Lost(error) if error.is_ended() => None,
                    Step::Lost(error) | Step::Terminated(error) => Some(error),
                },
                Source::Refused(response) => Some(ready!(response.poll_error(cx))),
            };
            this.ended = true;
            return Poll::Ready(error.map(Err));
        }
        Poll::Ready(None)
    }
}

impl FusedStream for ResponseEvents {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

/// Omits the response, which may have secret headers and ids.
impl fmt::Debug for ResponseEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseEvents").field("ended", &self.ended).finish_non_exhaustive()
    }
}
