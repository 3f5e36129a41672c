//! Replacement for the crate reqwest-eventsource 0.6 with the same names and types.
//!
//! Change `use reqwest_eventsource::` to `use tightwire_sse::compat::reqwest_eventsource::`; no other change is needed:
//!
//! ```no_run
//! use futures_util::StreamExt as _;
//! use tightwire_sse::compat::reqwest_eventsource::{Event, EventSource};
//!
//! # async fn run() {
//! let mut source = EventSource::get("https://example.org/prices");
//! while let Some(event) = source.next().await {
//!     match event {
//!         Ok(Event::Open) => println!("open"),
//!         Ok(Event::Message(message)) => println!("{}: {}", message.event, message.data),
//!         Err(error) => {
//!             println!("{error}");
//!             source.close();
//!         }
//!     }
//! }
//! # }
//! ```
//!
//! A message is an [`Event`](super::eventsource_stream::Event) of [`compat::eventsource_stream`](super::eventsource_stream),
//! with the differences listed there. New code uses [`EventSource`](crate::EventSource), which also has timeouts, jitter
//! and `Retry-After`.
//!
//! # Differences
//!
//! | | this module | reqwest-eventsource |
//! | --- | --- | --- |
//! | version of reqwest | 0.13 | 0.12 |
//! | URL in errors, response in `Debug` of [`Error`] | omitted | included |
//! | [`Error::Transport`] for a body that is cut off | `request or response body error` (`is_body`) | `error decoding response body` (`is_decode`) |
//! | text of [`Error::Parser`] | that of [`Error`](crate::Error) | that of nom |
//! | `Accept` header of the request | replaces the default | sent together with the default |
//! | `Last-Event-ID` header of the request | replaced by that of an event | sent together with it after a reconnection |
//! | `max_retries` | number of attempts in a row | 0 allows one attempt, any other value has no effect |
//! | delay of [`ExponentialBackoff`](retry::ExponentialBackoff) | saturates | panics on overflow |
//! | empty last event id | no header | empty `Last-Event-ID` |
//! | last event id that is not ASCII | sent as UTF-8; not sent if it has control characters. [`Error::InvalidLastEventId`] is never returned | error |
//! | [`Error::Utf8`] | never returned: invalid UTF-8 is replaced | error, reconnects |
//! | [`Error::Parser`] | [`Error`](crate::Error) for an oversized event; decoding continues | error of the parser library nom, reconnects |
//! | id of a block without data | in [`EventSource::last_event_id`] | lost |
//! | id of an event without `id` field after a reconnection | that of the last connection, as the standard requires | empty, and the next request has no `Last-Event-ID` |
//! | parameters of the content type | ignored | an invalid parameter is an error |
//! | [`EventSource::get`] with an invalid URL | the first item is [`Error::Transport`], then the stream ends | panic |
//! | [`EventSource::close`] | closes the connection | keeps the connection until the stream is dropped |
//! | runtime | tokio with time driver | tokio |

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::string::FromUtf8Error;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http_body::Body as _;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Body, Client, IntoUrl, RequestBuilder, Response, StatusCode};
use tokio::time::{Sleep, sleep};

use self::retry::{DEFAULT_RETRY, RetryPolicy};
use super::eventsource_stream::{Event as MessageEvent, EventStream, EventStreamError};
pub use crate::ReadyState;
use crate::client::{RequestTemplate, check_response, has_nested_url, is_event_stream};

pub mod retry;

/// Item of an [`EventSource`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The response was accepted. Once per connection.
    Open,
    /// Event of the stream.
    Message(MessageEvent),
}

impl From<MessageEvent> for Event {
    fn from(event: MessageEvent) -> Self {
        Self::Message(event)
    }
}

/// The request cannot be sent repeatedly: its body is a stream, or it is invalid.
#[derive(Debug, Clone, Copy)]
pub struct CannotCloneRequestError;

impl fmt::Display for CannotCloneRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a cloneable request")
    }
}

impl StdError for CannotCloneRequestError {}

/// Error of an [`EventSource`].
///
/// `Display` is that of reqwest-eventsource. `Debug` and `Display` contain no URL, and of the headers only an invalid
/// content type.
pub enum Error {
    /// Never returned: invalid UTF-8 is replaced.
    Utf8(FromUtf8Error),
    /// An event exceeds the limit. Decoding continues with the next event.
    Parser(crate::Error),
    /// The request cannot be sent, or the connection failed.
    Transport(reqwest::Error),
    /// The content type of the response is not `text/event-stream`. Its value, empty if it is missing.
    InvalidContentType(HeaderValue, Response),
    /// The status of the response is not 200.
    InvalidStatusCode(StatusCode, Response),
    /// Never returned: a last event id that is not a valid header value is not sent.
    InvalidLastEventId(String),
    /// The response ended.
    StreamEnded,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(error) => f.debug_tuple("Utf8").field(error).finish(),
            Self::Parser(error) => f.debug_tuple("Parser").field(error).finish(),
            Self::Transport(error) => f.debug_tuple("Transport").field(&format_args!("{error}")).finish(),
            Self::InvalidContentType(value, _) => {
                f.debug_tuple("InvalidContentType").field(value).finish_non_exhaustive()
            }
            Self::InvalidStatusCode(status, _) => {
                f.debug_tuple("InvalidStatusCode").field(status).finish_non_exhaustive()
            }
            Self::InvalidLastEventId(id) => f.debug_tuple("InvalidLastEventId").field(id).finish(),
            Self::StreamEnded => f.write_str("StreamEnded"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(error) => error.fmt(f),
            Self::Parser(error) => error.fmt(f),
            Self::Transport(error) => error.fmt(f),
            Self::InvalidContentType(value, _) => write!(f, "Invalid header value: {value:?}"),
            Self::InvalidStatusCode(status, _) => write!(f, "Invalid status code: {status}"),
            Self::InvalidLastEventId(id) => write!(f, "Invalid `Last-Event-ID`: {id}"),
            Self::StreamEnded => f.write_str("Stream ended"),
        }
    }
}

// `Display` is that of the cause, so that the source is the cause of the cause.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Utf8(error) => error.source(),
            Self::Parser(error) => error.source(),
            Self::Transport(error) if !has_nested_url(error) => error.source(),
            _ => None,
        }
    }
}

impl From<EventStreamError<reqwest::Error>> for Error {
    fn from(error: EventStreamError<reqwest::Error>) -> Self {
        match error {
            EventStreamError::Utf8(error) => Self::Utf8(error),
            EventStreamError::Parser(error) => Self::Parser(error),
            EventStreamError::Transport(error) => Self::Transport(error),
        }
    }
}

/// Adds a method to [`RequestBuilder`] that receives events and reconnects.
pub trait RequestBuilderExt {
    /// Returns a client for this request.
    ///
    /// # Errors
    ///
    /// See [`EventSource::new`].
    fn eventsource(self) -> Result<EventSource, CannotCloneRequestError>;
}

impl RequestBuilderExt for RequestBuilder {
    fn eventsource(self) -> Result<EventSource, CannotCloneRequestError> {
        EventSource::new(self)
    }
}

/// Client that receives the events of a URL and reconnects when the connection is lost.
///
/// An [`Error`] is final if the state is then [`ReadyState::Closed`]. After any other error, the next poll continues with
/// the delay of the [retry policy](RetryPolicy) and the next request. There is no background task: the first poll sends
/// the first request. Cancel safe.
///
/// # Panics
///
/// Polling panics outside of a tokio runtime with I/O and time drivers.
#[must_use = "streams do nothing unless polled"]
pub struct EventSource {
    phase: Phase,
    client: Client,
    policy: Box<dyn RetryPolicy + Send + Unpin + 'static>,
    /// Number of attempts since the last response, and the last delay.
    last_retry: Option<(usize, Duration)>,
    /// `None` if the request is invalid.
    request: Option<RequestTemplate>,
    last_event_id: String,
}

enum Phase {
    /// The next poll reports this error.
    Failed(reqwest::Error),
    Start,
    Connecting(Pin<Box<dyn Future<Output = reqwest::Result<Response>> + Send>>),
    Open(Box<EventStream<Chunks>>),
    Waiting(Pin<Box<Sleep>>),
    Closed,
}

impl EventSource {
    /// Returns a client for this request. Adds `Accept: text/event-stream` unless another is set.
    ///
    /// # Errors
    ///
    /// [`CannotCloneRequestError`] if the request is invalid, or its body is a stream.
    pub fn new(builder: RequestBuilder) -> Result<Self, CannotCloneRequestError> {
        let (client, request) = builder.build_split();
        let request = request.map_err(|_| CannotCloneRequestError)?;
        let request = RequestTemplate::without_cache_control(request).map_err(|_| CannotCloneRequestError)?;
        Ok(Self::build(client, Some(request), Phase::Start))
    }

    /// Returns a client for GET requests to this URL.
    ///
    /// An invalid URL is the first item of the stream.
    pub fn get<T: IntoUrl>(url: T) -> Self {
        let (client, request) = Client::new().get(url).build_split();
        match request {
            Ok(request) => {
                Self::build(client, RequestTemplate::without_cache_control(request).ok(), Phase::Start)
            }
            Err(error) => Self::build(client, None, Phase::Failed(error.without_url())),
        }
    }

    fn build(client: Client, request: Option<RequestTemplate>, phase: Phase) -> Self {
        let policy = Box::new(DEFAULT_RETRY);
        Self { phase, client, policy, last_retry: None, request, last_event_id: String::new() }
    }

    /// Closes the connection. The stream ends.
    pub fn close(&mut self) {
        self.set_phase(Phase::Closed);
    }

    /// Sets the delays between connections. Default: [`DEFAULT_RETRY`].
    pub fn set_retry_policy(&mut self, policy: Box<dyn RetryPolicy + Send + Unpin + 'static>) {
        self.policy = policy;
    }

    /// Returns the last event id. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        match &self.phase {
            Phase::Open(events) => events.last_event_id(),
            _ => &self.last_event_id,
        }
    }

    /// Returns the state of the connection after the last item.
    pub const fn ready_state(&self) -> ReadyState {
        match self.phase {
            Phase::Failed(_) | Phase::Start | Phase::Connecting(_) | Phase::Waiting(_) => {
                ReadyState::Connecting
            }
            Phase::Open(_) => ReadyState::Open,
            Phase::Closed => ReadyState::Closed,
        }
    }

    /// Changes the phase. If a connection was open, stores its last event id.
    fn set_phase(&mut self, next: Phase) {
        if let Phase::Open(events) = &self.phase {
            events.last_event_id().clone_into(&mut self.last_event_id);
        }
        self.phase = next;
    }

    /// Waits for the delay of the policy, or closes the client.
    fn retry_after(&mut self, error: Error) -> Error {
        let attempts = self.last_retry.map_or(0, |(attempts, _)| attempts);
        let delay = self.policy.retry(&error, self.last_retry);
        self.last_retry = delay.map(|delay| (attempts.saturating_add(1), delay));
        self.set_phase(match delay {
            Some(delay) => Phase::Waiting(Box::pin(sleep(delay))),
            None => Phase::Closed,
        });
        error
    }

    #[allow(clippy::result_large_err, reason = "the error type is that of reqwest-eventsource")]
    fn handle_response(&mut self, response: Response) -> Result<Event, Error> {
        if check_response(response.status(), response.headers(), is_event_stream).is_err() {
            self.phase = Phase::Closed;
            return Err(match response.status() {
                StatusCode::OK => {
                    let value = response.headers().get(CONTENT_TYPE).cloned();
                    Error::InvalidContentType(value.unwrap_or(HeaderValue::from_static("")), response)
                }
                status => Error::InvalidStatusCode(status, response),
            });
        }
        self.last_retry = None;
        let mut events = EventStream::new(Chunks(http::Response::from(response).into_body()));
        events.set_last_event_id(self.last_event_id.as_str());
        self.phase = Phase::Open(Box::new(events));
        Ok(Event::Open)
    }
}

impl Stream for EventSource {
    type Item = Result<Event, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let item = match &mut this.phase {
                Phase::Failed(_) => match std::mem::replace(&mut this.phase, Phase::Closed) {
                    Phase::Failed(error) => Err(Error::Transport(error)),
                    _ => continue,
                },
                Phase::Start => {
                    let request =
                        this.request.as_ref().and_then(|request| request.resume(&this.last_event_id));
                    this.phase = match request {
                        Some(request) => Phase::Connecting(Box::pin(this.client.execute(request))),
                        None => Phase::Closed,
                    };
                    continue;
                }
                Phase::Connecting(response) => match ready!(response.as_mut().poll(cx)) {
                    Ok(response) => this.handle_response(response),
                    Err(error) => Err(this.retry_after(Error::Transport(error.without_url()))),
                },
                Phase::Open(events) => match ready!(Pin::new(&mut **events).poll_next(cx)) {
                    Some(Ok(event)) => {
                        if let Some(time) = event.retry {
                            this.policy.set_reconnection_time(time);
                        }
                        Ok(event.into())
                    }
                    // The stream continues after the event.
                    Some(Err(error @ EventStreamError::Parser(_))) => Err(error.into()),
                    Some(Err(error)) => Err(this.retry_after(error.into())),
                    None => Err(this.retry_after(Error::StreamEnded)),
                },
                Phase::Waiting(sleep) => {
                    ready!(sleep.as_mut().poll(cx));
                    this.phase = Phase::Start;
                    continue;
                }
                Phase::Closed => return Poll::Ready(None),
            };
            return Poll::Ready(Some(item));
        }
    }
}

/// Omits the URL, headers, body and ids, which may be secret.
impl fmt::Debug for EventSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSource").field("state", &self.ready_state()).finish_non_exhaustive()
    }
}

/// Data of a response body.
struct Chunks(Body);

impl Stream for Chunks {
    type Item = reqwest::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_frame(cx).map(|frame| {
            // Trailers contain no events.
            frame.map(|frame| match frame {
                Ok(frame) => Ok(frame.into_data().unwrap_or_default()),
                Err(error) => Err(error.without_url()),
            })
        })
    }
}
