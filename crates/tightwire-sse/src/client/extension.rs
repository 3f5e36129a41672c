//! Extension traits for requests and responses of reqwest.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_core::stream::FusedStream;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Body, RequestBuilder, Response};

use super::connection::{Connection, MAX_SAMPLE, Step};
use super::idle_timer::Timeouts;
use super::refused::{ErrorBodyLimits, RefusedResponse};
use super::request::{ContentTypes, check_response, may_be_event_stream, mentions_event_stream};
use super::{EventSource, Message};
use crate::error::{Error, Kind, Refused, Result};
use crate::{Decoder, Ending, Event};

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
        ResponseEvents {
            source: Source::Start(Box::new(self.into())),
            decoder: Decoder::new(),
            ending: Ending::Lenient,
            content_types: may_be_event_stream,
            error_body: ErrorBodyLimits::default(),
            timeouts: Timeouts::new(None, None),
        }
    }
}

/// Stream of the events of one response; see [`ResponseExt::events`].
///
/// # Errors and the end
///
/// If the status is not 200, or the content type is not [accepted](Self::with_content_types), the only item is
/// [`Error::is_status`](crate::Error::is_status) or [`is_content_type`](crate::Error::is_content_type) with the
/// response. An oversized event is [`Error::is_limit`](crate::Error::is_limit), and decoding continues unless the
/// decoder [terminates](crate::Overflow::Terminate). A failed connection is
/// [`Error::is_transport`](crate::Error::is_transport), and the stream ends. At the end of the response, the stream ends
/// without an error, and [`with_ending`](Self::with_ending) decides about an incomplete event.
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
    source: Source,
    decoder: Decoder,
    ending: Ending,
    content_types: ContentTypes,
    error_body: ErrorBodyLimits,
    timeouts: Timeouts,
}

enum Source {
    Start(Box<http::Response<Body>>),
    /// The headers are those of a response with another content type, until its first event.
    Open(Box<Connection>, HeaderMap),
    Refused(Box<RefusedResponse>),
    /// The last event id.
    Ended(String),
}

impl ResponseEvents {
    /// Sets the decoder, which has the limits and the initial last event id. Default: [`Decoder::new`]. Set it before
    /// the first poll, as the other options.
    pub fn with_decoder(mut self, decoder: Decoder) -> Self {
        self.decoder = decoder;
        self
    }

    /// Sets the handling of an incomplete event at the end of the response. Default: [`Ending::Lenient`], because the
    /// response cannot be requested again: an event without its empty line or last line end is returned.
    pub const fn with_ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Sets which content types are accepted; `None` is a missing header.
    ///
    /// Default: `text/event-stream`, also as part of a list; `text/plain`; and a missing header. A response with one of
    /// the latter two that has no event is [`Error::is_content_type`](crate::Error::is_content_type) at its end.
    pub const fn with_content_types(mut self, accepts: fn(Option<&HeaderValue>) -> bool) -> Self {
        self.content_types = accepts;
        self
    }

    /// Sets the maximum size in bytes of [`Error::body`](crate::Error::body). Default: 64 KiB.
    pub const fn with_max_error_body(mut self, size: usize) -> Self {
        self.error_body.size = size;
        self
    }

    /// Sets the maximum time to receive [`Error::body`](crate::Error::body). Default: 5 s.
    pub const fn with_error_body_timeout(mut self, timeout: Duration) -> Self {
        self.error_body.timeout = timeout;
        self
    }

    /// Returns the last event id. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        match &self.source {
            Source::Start(_) | Source::Refused(_) => self.decoder.last_event_id(),
            Source::Open(connection, _) => connection.last_event_id(),
            Source::Ended(id) => id,
        }
    }

    fn start(&mut self, response: http::Response<Body>) -> Source {
        if let Err(refusal) = check_response(response.status(), response.headers(), self.content_types) {
            return Source::Refused(Box::new(RefusedResponse::new(refusal, response, self.error_body)));
        }
        let (mut head, body) = response.into_parts();
        let decoder = std::mem::take(&mut self.decoder);
        let mut connection = Connection::new(body, decoder, false, self.ending);
        let mentions = head.headers.get(CONTENT_TYPE).is_some_and(mentions_event_stream);
        connection.sample = (!mentions).then(Vec::new);
        Source::Open(Box::new(connection), std::mem::take(&mut head.headers))
    }
}

impl Stream for ResponseEvents {
    type Item = Result<Event>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let error = match &mut this.source {
                Source::Start(_) => {
                    if let Source::Start(response) =
                        std::mem::replace(&mut this.source, Source::Ended(String::new()))
                    {
                        this.source = this.start(*response);
                    }
                    continue;
                }
                Source::Open(connection, headers) => {
                    match ready!(connection.poll_step(&mut this.timeouts, cx)) {
                        Step::Message(Message::Event(event)) => {
                            connection.sample = None;
                            return Poll::Ready(Some(Ok(event)));
                        }
                        Step::Message(_) => continue,
                        Step::Skipped(error) => return Poll::Ready(Some(Err(error))),
                        Step::Lost(error) if error.is_ended() => {
                            connection.sample.take().map(|body| no_event(headers, body))
                        }
                        Step::Lost(error) | Step::Terminated(error) => Some(error),
                    }
                }
                Source::Refused(response) => Some(ready!(response.poll_error(cx))),
                Source::Ended(_) => return Poll::Ready(None),
            };
            this.source = Source::Ended(this.last_event_id().to_owned());
            return Poll::Ready(error.map(Err));
        }
    }
}

impl FusedStream for ResponseEvents {
    fn is_terminated(&self) -> bool {
        matches!(self.source, Source::Ended(_))
    }
}

/// Returns the error of a response that had no event, and no content type that promises any.
fn no_event(headers: &mut HeaderMap, body: Vec<u8>) -> Error {
    let headers = std::mem::take(headers);
    let is_truncated = body.len() >= MAX_SAMPLE;
    Error::new(Kind::ContentType(Box::new(Refused { status: 200, headers, body: body.into(), is_truncated })))
}

/// Omits the response, which may have secret headers and ids.
impl fmt::Debug for ResponseEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseEvents").field("ended", &self.is_terminated()).finish_non_exhaustive()
    }
}
