//! Events from an asynchronous stream of chunks.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use futures_core::stream::{FusedStream, Stream, TryStream};
use pin_project_lite::pin_project;

use crate::{Decoder, Ending, Error, Event, Item, Result, error::Kind};

/// Turns streams of byte chunks into streams of events.
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

/// What an [`ItemStream`] yields: [`Item`] with text of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedItem {
    /// A block with data ended.
    Event(Event),
    /// A comment line ended. The text is what follows the colon, unchanged: a leading space stays.
    Comment(String),
    /// A valid `retry` line ended. It takes effect at once, whether or not an event follows.
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
    /// What the streams below share: hold a chunk until the decoder has used it up, then poll for the next one.
    struct Chunks<S: TryStream> {
        #[pin]
        inner: S,
        decoder: Decoder,
        ending: Ending,
        chunk: Option<S::Ok>,
        // Bytes of `chunk` that the decoder has taken.
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
    /// Polls for what `pull` takes out of the chunks.
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
                // `AsRef` does not promise the same bytes on every call.
                let mut rest = bytes.get(*this.used..).unwrap_or_default();
                let result = pull(this.decoder, chunk, &mut rest);
                *this.used = bytes.len() - rest.len();
                if let Some(result) = result.transpose() {
                    *this.ended = this.decoder.is_terminated();
                    return Poll::Ready(Some(result));
                }
                // The memory of a chunk is given back before the wait for the next one.
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
            /// Decodes the chunks that `stream` yields.
            pub fn new(stream: S) -> Self {
                Self { chunks: Chunks::new(stream) }
            }

            /// Replaces the decoder, which carries the limits and a seeded last event id.
            /// Default: [`Decoder::new`].
            pub fn with_decoder(mut self, decoder: Decoder) -> Self {
                self.chunks.decoder = decoder;
                self
            }

            /// Chooses what happens to a block that the end of the stream cuts short.
            /// Default: [`Ending::Strict`].
            pub fn with_ending(mut self, ending: Ending) -> Self {
                self.chunks.ending = ending;
                self
            }

            /// The last event id at this point of the stream; empty if none was set.
            pub fn last_event_id(&self) -> &str {
                self.chunks.decoder.last_event_id()
            }

            /// The latest reconnection time that the stream asked for.
            pub fn reconnection_time(&self) -> Option<Duration> {
                self.chunks.decoder.reconnection_time()
            }

            /// Returns the underlying stream. What is left of its latest chunk is lost.
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
    /// Decodes events from a stream of byte chunks, such as the body of an HTTP response.
    ///
    /// # Buffering and cancellation
    ///
    /// The stream holds one chunk until its events are taken, and the decoder what it needs of an unfinished
    /// block, within [`Config::max_event_size`](crate::Config::max_event_size). No chunk is copied. All state
    /// lies in the stream: a future of `next()` may be dropped at any time, as in `select!`, and no event is
    /// lost.
    ///
    /// # Errors and the end
    ///
    /// An error of the underlying stream is reported as [`Error::is_transport`] with the error as its source.
    /// It does not end this stream by itself: the next poll polls the underlying stream again, which usually
    /// ends then. A block past the limit is reported once, as [`Error::is_limit`], and the events after
    /// it follow. After the end, and after an oversized block under
    /// [`Overflow::Terminate`](crate::Overflow::Terminate), the stream stays at `None` and polls no more.
    EventStream yields Event, by |decoder, _, rest| decoder.next_owned(rest),
    where { S: TryStream, S::Ok: AsRef<[u8]> }
}

adaptor! {
    /// Decodes events, comments and reconnection times from a stream of byte chunks.
    ///
    /// The same as [`EventStream`], which documents buffering, cancellation, errors and the end, for a caller
    /// who wants to see keep-alive comments. A comment is collected until its line ends; one that is longer than
    /// [`Config::max_event_size`](crate::Config::max_event_size) is skipped.
    ItemStream yields OwnedItem, by |decoder, _, rest| Ok(decoder.next_item(rest)?.map(OwnedItem::from)),
    where { S: TryStream, S::Ok: AsRef<[u8]> }
}

#[cfg(feature = "bytes")]
adaptor! {
    /// Decodes events that share the memory of the chunks they came in.
    ///
    /// The same as [`EventStream`], which documents buffering, cancellation, errors and the end, without the
    /// copy of the data; [`EventBytes`](crate::EventBytes) tells what that means for memory.
    EventBytesStream yields crate::EventBytes, by crate::EventBytes::pull,
    where { S: TryStream<Ok = ::bytes::Bytes> }
}
