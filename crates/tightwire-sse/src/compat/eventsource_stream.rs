//! Replacement for the crate eventsource-stream 0.2.3 with the same names and types.
//!
//! Change `use eventsource_stream::` to `use tightwire_sse::compat::eventsource_stream::`; no other change is needed:
//!
//! ```
//! use std::convert::Infallible;
//!
//! use futures_util::{StreamExt as _, stream};
//! use tightwire_sse::compat::eventsource_stream::Eventsource as _;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let mut stream = stream::iter([Ok::<_, Infallible>("id: 1\ndata: hel"), Ok("lo\n\n")]).eventsource();
//! let event = stream.next().await.expect("one event")?;
//! assert_eq!((event.event.as_str(), event.data.as_str(), event.id.as_str()), ("message", "hello", "1"));
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # Differences
//!
//! This module follows the standard, and so differs from eventsource-stream:
//!
//! | | this module | eventsource-stream |
//! | --- | --- | --- |
//! | byte order mark at the start | skipped | panic |
//! | time | linear in the length of the input | quadratic in the length of a chunk and of a line |
//! | line that ends with CR | complete immediately | complete with the next byte; the last event of a CR-only stream is lost |
//! | invalid UTF-8 | U+FFFD; [`EventStreamError::Utf8`] is never returned | error |
//! | size of an event | [`DEFAULT_MAX_EVENT_SIZE`](crate::DEFAULT_MAX_EVENT_SIZE), see [`EventStream::with_decoder`] | unlimited |
//! | [`EventStreamError::Parser`] | [`Error`] for an oversized event; decoding continues | error of the parser library nom |
//! | [`EventStream::set_last_event_id`] | also sets the id of following events | only changes [`EventStream::last_event_id`] |
//! | id of a block without data | in [`EventStream::last_event_id`] immediately | with the next event |
//! | `retry` of a block without data | with the next event | lost |
//! | `retry` with a sign | ignored | accepted |
//! | after the end | `None`, the underlying stream is not polled | polls the underlying stream |

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use alloc::string::FromUtf8Error;
use futures_core::stream::Stream;
use pin_project_lite::pin_project;

use crate::{Decoder, Error};

/// Event with public fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Event type, `message` by default.
    pub event: String,
    /// Data lines, joined by LF.
    pub data: String,
    /// Last event id: that of this event or the nearest one before it. Empty if there is none.
    pub id: String,
    /// Latest valid `retry` value since the previous event.
    pub retry: Option<Duration>,
}

impl From<crate::Event> for Event {
    fn from(event: crate::Event) -> Self {
        Self {
            event: event.event_type().into(),
            id: event.last_event_id().into(),
            retry: event.retry(),
            data: event.into_data(),
        }
    }
}

/// Adds a method to streams of byte chunks that decodes them into events.
pub trait Eventsource: Sized {
    /// Decodes the events of this stream.
    fn eventsource(self) -> EventStream<Self>;
}

impl<S, B, E> Eventsource for S
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn eventsource(self) -> EventStream<Self> {
        EventStream::new(self)
    }
}

/// Error of an [`EventStream`].
#[derive(Debug)]
pub enum EventStreamError<E> {
    /// Never returned: invalid UTF-8 is replaced.
    Utf8(FromUtf8Error),
    /// A block exceeds the limit.
    Parser(Error),
    /// The underlying stream failed.
    Transport(E),
}

impl<E: PartialEq> PartialEq for EventStreamError<E> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Utf8(this), Self::Utf8(other)) => this == other,
            (Self::Parser(this), Self::Parser(other)) => {
                (this.limit(), this.offset()) == (other.limit(), other.offset())
            }
            (Self::Transport(this), Self::Transport(other)) => this == other,
            _ => false,
        }
    }
}

impl<E: fmt::Display> fmt::Display for EventStreamError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(error) => write!(f, "UTF8 error: {error}"),
            Self::Parser(error) => write!(f, "Parse error: {error}"),
            Self::Transport(error) => write!(f, "Transport error: {error}"),
        }
    }
}

// `Display` includes the cause, because `E` need not implement `Error` and so cannot be the source.
impl<E: fmt::Display + fmt::Debug + Send + Sync> core::error::Error for EventStreamError<E> {}

pin_project! {
    /// Stream of events.
    ///
    /// Buffers a copy of the unconsumed part of a chunk, and the incomplete block up to the limit of the decoder.
    /// Cancel safe.
    #[must_use = "streams do nothing unless polled"]
    pub struct EventStream<S> {
        #[pin]
        stream: S,
        decoder: Decoder,
        // Unconsumed part of the chunk of the last event. The chunk cannot be stored: the struct has no bound on `S`
        // that names its type.
        rest: Vec<u8>,
        used: usize,
        ended: bool,
    }
}

impl<S> EventStream<S> {
    /// Returns a stream that decodes the chunks of `stream`.
    pub fn new(stream: S) -> Self {
        Self::with_decoder(stream, Decoder::new())
    }

    /// Returns a stream that decodes the chunks of `stream` with the limits of `decoder`.
    pub fn with_decoder(stream: S, decoder: Decoder) -> Self {
        Self { stream, decoder, rest: Vec::new(), used: 0, ended: false }
    }

    /// Sets the last event id, for example that of an earlier connection to the same source.
    pub fn set_last_event_id(&mut self, id: impl Into<String>) {
        self.decoder = core::mem::take(&mut self.decoder).with_last_event_id(&id.into());
    }

    /// Returns the last event id. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }
}

impl<S, B, E> Stream for EventStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Event, EventStreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if *this.used < this.rest.len() {
            let mut rest = &this.rest[*this.used..];
            let event = this.decoder.next_owned(&mut rest);
            *this.used = this.rest.len() - rest.len();
            if let Some(event) = event.transpose() {
                return Poll::Ready(Some(event.map(Event::from).map_err(EventStreamError::Parser)));
            }
        }
        while !*this.ended {
            match ready!(this.stream.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => {
                    let mut rest = chunk.as_ref();
                    if let Some(event) = this.decoder.next_owned(&mut rest).transpose() {
                        this.rest.clear();
                        this.rest.extend_from_slice(rest);
                        *this.used = 0;
                        return Poll::Ready(Some(event.map(Event::from).map_err(EventStreamError::Parser)));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(EventStreamError::Transport(error)))),
                None => {
                    *this.ended = true;
                    this.decoder.finish();
                }
            }
        }
        Poll::Ready(None)
    }
}

impl<S> fmt::Debug for EventStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("decoder", &self.decoder)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
