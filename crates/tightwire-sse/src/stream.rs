//! Event decoders for asynchronous streams of chunks.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use futures_core::stream::{FusedStream, Stream, TryStream};
use pin_project_lite::pin_project;

use crate::{Decoder, Ending, Error, Event, Item, Result, error::Kind};

/// Adds methods to streams of byte chunks that decode them into events.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
///
/// use futures_util::{StreamExt as _, stream};
/// use tightwire_sse::EventStreamExt as _;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let chunks = stream::iter([Ok::<_, Infallible>("data: hel"), Ok("lo\n\n")]);
/// let mut events = chunks.sse();
/// let event = events.next().await.expect("one event")?;
/// assert_eq!(event.data(), "hello");
/// # Ok::<(), tightwire_sse::Error>(()) }).unwrap();
/// ```
pub trait EventStreamExt: TryStream + Sized {
    /// Decodes the events of this stream.
    fn sse(self) -> EventStream<Self>
    where
        Self::Ok: AsRef<[u8]>,
        Self::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    {
        EventStream::new(self)
    }

    /// Decodes the events, comments and reconnection times of this stream, in stream order.
    fn sse_items(self) -> ItemStream<Self>
    where
        Self::Ok: AsRef<[u8]>,
        Self::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    {
        EventStream::build(self)
    }

    /// Decodes this stream of [`Bytes`](::bytes::Bytes) into events that share the memory of the chunks.
    #[cfg(feature = "bytes")]
    fn sse_bytes(self) -> EventBytesStream<Self>
    where
        Self: TryStream<Ok = ::bytes::Bytes>,
        Self::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    {
        EventStream::build(self)
    }
}

impl<S: TryStream> EventStreamExt for S {}

/// Owned [`Item`], yielded by [`ItemStream`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedItem {
    /// Event.
    Event(Event),
    /// Text of a comment line after the colon, including a leading space.
    Comment(String),
    /// Value of a valid `retry` line. It takes effect immediately, even if no event follows.
    Retry(Duration),
}

impl From<Item<'_>> for OwnedItem {
    fn from(item: Item<'_>) -> Self {
        match item {
            Item::Event(event) => Self::Event(event.to_owned()),
            Item::Comment(text) => Self::Comment(text.into()),
            Item::Retry(time) => Self::Retry(time),
        }
    }
}

impl From<Event> for OwnedItem {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

/// Item of an [`EventStream`] over chunks of type `C`.
pub trait Decode<C>: From<Event> {
    /// Decodes the next item from `rest`, a suffix of `chunk`, and advances `rest`. The decoder has tried to append the chunk to
    /// an incomplete line.
    fn decode(decoder: &mut Decoder, chunk: &C, rest: &mut &[u8]) -> Result<Option<Self>>;
}

impl<C> Decode<C> for Event {
    fn decode(decoder: &mut Decoder, _: &C, rest: &mut &[u8]) -> Result<Option<Self>> {
        decoder.next_owned_after_append(rest)
    }
}

impl<C> Decode<C> for OwnedItem {
    fn decode(decoder: &mut Decoder, _: &C, rest: &mut &[u8]) -> Result<Option<Self>> {
        Ok(decoder.next_item(rest)?.map(Self::from))
    }
}

#[cfg(feature = "bytes")]
impl Decode<::bytes::Bytes> for crate::EventBytes {
    fn decode(decoder: &mut Decoder, chunk: &::bytes::Bytes, rest: &mut &[u8]) -> Result<Option<Self>> {
        Self::pull(decoder, chunk, rest)
    }
}

pin_project! {
    /// Stream of events, decoded from a stream of byte chunks such as the body of an HTTP response.
    ///
    /// # Buffering and cancellation
    ///
    /// Buffers one chunk, and the incomplete block up to [`Config::max_event_size`](crate::Config::max_event_size).
    /// Chunks are not copied. Cancel safe: dropping the future of `next()`, as in `select!`, loses no event.
    ///
    /// # Errors and the end
    ///
    /// An error of the underlying stream is returned as [`Error::is_transport`] with the error as its source. It does
    /// not end this stream: the next poll polls the underlying stream again, which usually ends then. A block that
    /// exceeds the limit is reported once as [`Error::is_limit`], and decoding continues. After the end, and after an
    /// oversized block with [`Overflow::Terminate`](crate::Overflow::Terminate), the stream yields `None` and does not
    /// poll the underlying stream.
    #[must_use = "streams do nothing unless polled"]
    pub struct EventStream<S: TryStream, T = Event> {
        #[pin]
        inner: S,
        decoder: Decoder,
        ending: Ending,
        chunk: Option<S::Ok>,
        // Number of consumed bytes of `chunk`.
        used: usize,
        // The previous poll failed. An incomplete block at the end is then truncated.
        failed: bool,
        ended: bool,
        items: PhantomData<fn() -> T>,
    }
}

/// Stream of events, comments and reconnection times; see [`EventStreamExt::sse_items`].
///
/// Includes comments, for example to observe keep-alive. A comment that is longer than
/// [`Config::max_event_size`](crate::Config::max_event_size) is skipped.
pub type ItemStream<S> = EventStream<S, OwnedItem>;

/// Stream of events that share the memory of their chunks; see [`EventStreamExt::sse_bytes`], and
/// [`EventBytes`](crate::EventBytes) for the effect on memory.
#[cfg(feature = "bytes")]
pub type EventBytesStream<S> = EventStream<S, crate::EventBytes>;

impl<S: TryStream> EventStream<S> {
    /// Returns a stream that decodes the chunks of `stream`.
    pub fn new(stream: S) -> Self {
        Self::build(stream)
    }
}

impl<S: TryStream, T> EventStream<S, T> {
    fn build(inner: S) -> Self {
        Self {
            inner,
            decoder: Decoder::new(),
            ending: Ending::default(),
            chunk: None,
            used: 0,
            failed: false,
            ended: false,
            items: PhantomData,
        }
    }

    /// Sets the decoder, which has the limits and the initial last event id. Default: [`Decoder::new`].
    pub fn with_decoder(mut self, decoder: Decoder) -> Self {
        self.decoder = decoder;
        self
    }

    /// Sets the handling of an incomplete block at the end of the stream. Default: [`Ending::Lenient`].
    pub fn with_ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Returns the last event id. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// Returns the latest valid `retry` value of the stream.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.decoder.reconnection_time()
    }

    /// Returns the underlying stream. The unconsumed part of its last chunk is lost.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, T> Stream for EventStream<S, T>
where
    S: TryStream,
    S::Ok: AsRef<[u8]>,
    S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    T: Decode<S::Ok>,
{
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        while !*this.ended {
            if let Some(chunk) = this.chunk {
                let bytes = chunk.as_ref();
                // `get`, because `AsRef` may return other bytes on every call.
                let mut rest = bytes.get(*this.used..).unwrap_or_default();
                let result = T::decode(this.decoder, chunk, &mut rest);
                *this.used = bytes.len() - rest.len();
                if let Some(result) = result.transpose() {
                    *this.ended = this.decoder.is_terminated();
                    return Poll::Ready(Some(result));
                }
                // Releases the chunk before waiting for the next one.
                *this.chunk = None;
            }
            match ready!(this.inner.as_mut().try_poll_next(cx)) {
                Some(Ok(chunk)) => {
                    *this.failed = false;
                    if !this.decoder.append_partial(chunk.as_ref()) {
                        *this.chunk = Some(chunk);
                        *this.used = 0;
                    }
                }
                Some(Err(error)) => {
                    *this.failed = true;
                    return Poll::Ready(Some(Err(Error::with_source(Kind::Transport, error))));
                }
                None => {
                    *this.ended = true;
                    match this.ending {
                        Ending::Lenient if !*this.failed => {
                            let last = this.decoder.finish_lenient().transpose();
                            return Poll::Ready(last.map(|event| event.map(|event| event.to_owned().into())));
                        }
                        _ => this.decoder.finish(),
                    }
                }
            }
        }
        Poll::Ready(None)
    }
}

impl<S, T> FusedStream for EventStream<S, T>
where
    Self: Stream,
    S: TryStream,
{
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<S: TryStream, T> fmt::Debug for EventStream<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("decoder", &self.decoder)
            .field("ending", &self.ending)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
