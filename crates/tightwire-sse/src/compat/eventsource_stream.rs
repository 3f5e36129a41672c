//! The names and types of the crate eventsource-stream 0.2.3, on the decoder of this crate.
//!
//! Change `use eventsource_stream::` to `use tightwire_sse::compat::eventsource_stream::` and keep the rest:
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
//! The stream behaves as the standard says and as the rest of this crate does, which differs from that crate in
//! these points:
//!
//! - A byte order mark at the start is skipped; there it panics.
//! - Time is linear in the length of the input, however it is cut into chunks; there it is quadratic in the
//!   length of a chunk and of a line.
//! - A line that ends with CR is complete at once; there it waits for the byte after it, so that the last event
//!   of a CR-only stream never appears.
//! - Invalid UTF-8 becomes U+FFFD. [`EventStreamError::Utf8`] is never returned.
//! - A block is limited to [`DEFAULT_MAX_EVENT_SIZE`](crate::DEFAULT_MAX_EVENT_SIZE); there it is unlimited. A
//!   larger one is reported as [`EventStreamError::Parser`], the only such error, and decoding goes on after it.
//!   Its content is this crate's [`Error`] instead of one of the parser library nom.
//!   [`EventStream::with_decoder`] sets another limit.
//! - [`EventStream::set_last_event_id`] also sets the id of the events that follow, until the stream sets
//!   another one; there it only changes what [`EventStream::last_event_id`] returns.
//! - [`EventStream::last_event_id`] counts the id of a block without data at once; there it waits for the next
//!   event. The retry value of such a block goes with the next event; there it is lost. A retry value with a sign
//!   is ignored.
//! - After the end, the stream stays at `None` and does not poll the underlying stream again.

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

/// An event with public fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The event type; `message` unless the block named another one.
    pub event: String,
    /// The data lines of the block, joined by LF.
    pub data: String,
    /// The last event id at the time of dispatch; empty if none was set.
    pub id: String,
    /// The latest valid `retry` value that was received since the previous event was dispatched.
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

/// Turns streams of byte chunks into streams of events.
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

/// Why an [`EventStream`] yields no event.
#[derive(Debug)]
pub enum EventStreamError<E> {
    /// Never returned: invalid UTF-8 is replaced.
    Utf8(FromUtf8Error),
    /// A block exceeded the limit.
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
            Self::Utf8(error) => write!(f, "event stream is not UTF-8: {error}"),
            Self::Parser(error) => write!(f, "event stream cannot be parsed: {error}"),
            Self::Transport(error) => write!(f, "transport of the event stream failed: {error}"),
        }
    }
}

// `Display` includes the cause, because nothing is known of `E` that would make it a source.
impl<E: fmt::Display + fmt::Debug + Send + Sync> core::error::Error for EventStreamError<E> {}

pin_project! {
    /// A stream of events.
    ///
    /// What is left of a chunk after an event is copied and kept for the next polls, and an unfinished block is
    /// kept within the limit of the decoder. All state lies in the stream: a future of `next()` may be dropped
    /// at any time.
    #[must_use = "streams do nothing unless polled"]
    pub struct EventStream<S> {
        #[pin]
        stream: S,
        decoder: Decoder,
        // What follows the latest event in its chunk; the chunk itself has a type that `S` need not have.
        rest: Vec<u8>,
        used: usize,
        ended: bool,
    }
}

impl<S> EventStream<S> {
    /// Decodes the chunks that `stream` yields.
    pub fn new(stream: S) -> Self {
        Self::with_decoder(stream, Decoder::new())
    }

    /// Decodes the chunks that `stream` yields with the limits of `decoder`.
    pub fn with_decoder(stream: S, decoder: Decoder) -> Self {
        Self { stream, decoder, rest: Vec::new(), used: 0, ended: false }
    }

    /// Sets the last event id, as of an earlier stream of the same source.
    pub fn set_last_event_id(&mut self, id: impl Into<String>) {
        self.decoder = core::mem::take(&mut self.decoder).with_last_event_id(&id.into());
    }

    /// The last event id at this point of the stream; empty if none was set.
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
