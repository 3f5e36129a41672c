//! Event decoders for asynchronous streams of chunks.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
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
        ItemStream::new(self)
    }

    /// Decodes the events of this stream of [`Bytes`](::bytes::Bytes) into events that share their memory.
    #[cfg(feature = "bytes")]
    fn sse_bytes(self) -> EventBytesStream<Self>
    where
        Self: TryStream<Ok = ::bytes::Bytes>,
        Self::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    {
        EventBytesStream::new(self)
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

pin_project! {
    /// Common part of the streams below: polls for a chunk and buffers it until the decoder has consumed it.
    struct Chunks<S: TryStream> {
        #[pin]
        inner: S,
        decoder: Decoder,
        ending: Ending,
        chunk: Option<S::Ok>,
        // Number of consumed bytes of `chunk`.
        used: usize,
        ended: bool,
    }
}

impl<S: TryStream> Chunks<S> {
    fn new(inner: S) -> Self {
        Self { inner, decoder: Decoder::new(), ending: Ending::Strict, chunk: None, used: 0, ended: false }
    }
}

impl<S> Chunks<S>
where
    S: TryStream,
    S::Ok: AsRef<[u8]>,
    S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
{
    /// Polls for the next item that `pull` decodes.
    fn poll<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pull: impl Fn(&mut Decoder, &S::Ok, &mut &[u8]) -> Result<Option<T>>,
    ) -> Poll<Option<Result<T>>>
    where
        T: From<Event>,
    {
        let mut this = self.project();
        while !*this.ended {
            if let Some(chunk) = this.chunk {
                let bytes = chunk.as_ref();
                // `get`, because `AsRef` may return other bytes on every call.
                let mut rest = bytes.get(*this.used..).unwrap_or_default();
                let result = pull(this.decoder, chunk, &mut rest);
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
                    *this.chunk = Some(chunk);
                    *this.used = 0;
                }
                Some(Err(error)) => {
                    return Poll::Ready(Some(Err(Error::with_source(Kind::Transport, error))));
                }
                None => {
                    *this.ended = true;
                    match this.ending {
                        Ending::Strict => this.decoder.finish(),
                        Ending::Lenient => {
                            let last = this.decoder.finish_lenient().transpose();
                            return Poll::Ready(last.map(|event| event.map(|event| event.to_owned().into())));
                        }
                    }
                }
            }
        }
        Poll::Ready(None)
    }
}

impl<S: TryStream> fmt::Debug for Chunks<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks")
            .field("decoder", &self.decoder)
            .field("ending", &self.ending)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl From<Event> for OwnedItem {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

macro_rules! adaptor {
    ($(#[$doc:meta])* $name:ident yields $item:ty, by $pull:expr, where { $($bounds:tt)* }) => {
        pin_project! {
            $(#[$doc])*
            #[derive(Debug)]
            #[must_use = "streams do nothing unless polled"]
            pub struct $name<S: TryStream> {
                #[pin]
                chunks: Chunks<S>,
            }
        }

        impl<S: TryStream> $name<S> {
            /// Returns a stream that decodes the chunks of `stream`.
            pub fn new(stream: S) -> Self {
                Self { chunks: Chunks::new(stream) }
            }

            /// Sets the decoder, which has the limits and the initial last event id. Default: [`Decoder::new`].
            pub fn with_decoder(mut self, decoder: Decoder) -> Self {
                self.chunks.decoder = decoder;
                self
            }

            /// Sets the handling of an incomplete block at the end of the stream. Default: [`Ending::Strict`].
            pub fn with_ending(mut self, ending: Ending) -> Self {
                self.chunks.ending = ending;
                self
            }

            /// Returns the last event id. Empty if there is none.
            pub fn last_event_id(&self) -> &str {
                self.chunks.decoder.last_event_id()
            }

            /// Returns the latest valid `retry` value of the stream.
            pub fn reconnection_time(&self) -> Option<Duration> {
                self.chunks.decoder.reconnection_time()
            }

            /// Returns the underlying stream. The unconsumed part of its last chunk is lost.
            pub fn into_inner(self) -> S {
                self.chunks.inner
            }
        }

        impl<S> Stream for $name<S>
        where
            $($bounds)*,
            S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
        {
            type Item = Result<$item>;

            fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                self.project().chunks.poll(cx, $pull)
            }
        }

        impl<S> FusedStream for $name<S>
        where
            $($bounds)*,
            S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
        {
            fn is_terminated(&self) -> bool {
                self.chunks.ended
            }
        }
    };
}

adaptor! {
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
    EventStream yields Event, by |decoder, _, rest| decoder.next_owned(rest),
    where { S: TryStream, S::Ok: AsRef<[u8]> }
}

adaptor! {
    /// Stream of events, comments and reconnection times, decoded from a stream of byte chunks.
    ///
    /// Like [`EventStream`], which documents buffering, cancellation, errors and the end, but includes comments, for
    /// example to observe keep-alive. A comment that is longer than
    /// [`Config::max_event_size`](crate::Config::max_event_size) is skipped.
    ItemStream yields OwnedItem, by |decoder, _, rest| Ok(decoder.next_item(rest)?.map(OwnedItem::from)),
    where { S: TryStream, S::Ok: AsRef<[u8]> }
}

#[cfg(feature = "bytes")]
adaptor! {
    /// Stream of events that share the memory of their chunks.
    ///
    /// Like [`EventStream`], which documents buffering, cancellation, errors and the end, but without copying the data;
    /// see [`EventBytes`](crate::EventBytes) for the effect on memory.
    EventBytesStream yields crate::EventBytes, by crate::EventBytes::pull,
    where { S: TryStream<Ok = ::bytes::Bytes> }
}
