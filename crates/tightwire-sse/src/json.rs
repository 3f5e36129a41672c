//! Decoding of event data as JSON.

use serde::Deserialize;
#[cfg(any(feature = "std", feature = "futures"))]
use serde::de::DeserializeOwned;

use crate::{Error, Event, EventRef, Result, error::Kind};

/// Start of the data of the last event in the streams of many LLM APIs.
const DONE: &str = "[DONE]";

fn from_str<'de, T: Deserialize<'de>>(data: &'de str) -> Result<T> {
    serde_json::from_str(data).map_err(|error| Error::with_source(Kind::Json, error))
}

impl<'a> EventRef<'a> {
    /// Decodes the data as JSON. The value may borrow from the data.
    ///
    /// # Errors
    ///
    /// [`Error::is_json`] if the data is not JSON or not a `T`. Its source is the error of `serde_json`, which contains
    /// the position and may contain a value.
    ///
    /// # Examples
    ///
    /// ```
    /// #[derive(serde::Deserialize)]
    /// struct Delta<'a> {
    ///     text: &'a str,
    /// }
    ///
    /// let mut chunk = &b"data: {\"text\": \"hello\"}\n\n"[..];
    /// let mut decoder = tightwire_sse::Decoder::new();
    /// let event = decoder.next(&mut chunk)?.expect("the chunk has one event");
    /// assert_eq!(event.json::<Delta<'_>>()?.text, "hello");
    /// # Ok::<(), tightwire_sse::Error>(())
    /// ```
    pub fn json<T: Deserialize<'a>>(&self) -> Result<T> {
        from_str(self.data)
    }

    /// Returns whether the data starts with `[DONE]`, which ends the streams of many LLM APIs.
    ///
    /// As in the official clients of these APIs, the data after `[DONE]` is ignored.
    pub fn is_done(&self) -> bool {
        self.data.starts_with(DONE)
    }
}

impl Event {
    /// Decodes the data as JSON. The value may borrow from the event.
    ///
    /// # Errors
    ///
    /// [`Error::is_json`]; see [`EventRef::json`].
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T> {
        from_str(&self.data)
    }

    /// Returns whether the data starts with `[DONE]`; see [`EventRef::is_done`].
    pub fn is_done(&self) -> bool {
        self.data.starts_with(DONE)
    }
}

#[cfg(feature = "bytes")]
impl crate::EventBytes {
    /// Decodes the data as JSON. The value may borrow from the event.
    ///
    /// # Errors
    ///
    /// [`Error::is_json`]; see [`EventRef::json`].
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T> {
        serde_json::from_slice(self.data_bytes()).map_err(|error| Error::with_source(Kind::Json, error))
    }

    /// Returns whether the data starts with `[DONE]`; see [`EventRef::is_done`].
    pub fn is_done(&self) -> bool {
        self.data_bytes().starts_with(DONE.as_bytes())
    }
}

/// Meaning of `[DONE]`.
#[cfg(any(feature = "std", feature = "futures"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// Ordinary data, which is not JSON.
    Data,
    /// End of the stream.
    End,
}

#[cfg(feature = "std")]
pub use self::blocking::JsonReader;
#[cfg(feature = "futures")]
pub use self::stream::{JsonStream, JsonStreamExt};

#[cfg(feature = "std")]
mod blocking {
    use core::iter::FusedIterator;
    use core::marker::PhantomData;
    use std::io::BufRead;

    use super::{DeserializeOwned, Done};
    use crate::error::{Error, Kind};
    use crate::{Reader, Result};

    impl<R: BufRead> Reader<R> {
        /// Decodes the data of every event as JSON.
        ///
        /// Data that is not a `T` is reported as [`Error::is_json`](crate::Error::is_json), and decoding continues. The
        /// event type is ignored: for an API that reports errors with `event: error`, iterate over the events and call
        /// [`Event::json`](crate::Event::json).
        pub fn json<T: DeserializeOwned>(self) -> JsonReader<R, T> {
            JsonReader::new(self, Done::Data)
        }

        /// Like [`json`](Self::json), but ends at the event whose data starts with `[DONE]`.
        ///
        /// If the input ends without it, the last item is [`Error::is_ended`](crate::Error::is_ended).
        ///
        /// # Examples
        ///
        /// ```
        /// let input = "data: 1\n\ndata: 2\n\ndata: [DONE]\n\n";
        /// let numbers = tightwire_sse::Reader::new(input.as_bytes()).json_until_done::<u32>();
        /// assert_eq!(numbers.collect::<Result<Vec<_>, _>>()?, [1, 2]);
        /// # Ok::<(), tightwire_sse::Error>(())
        /// ```
        pub fn json_until_done<T: DeserializeOwned>(self) -> JsonReader<R, T> {
            JsonReader::new(self, Done::End)
        }
    }

    /// Iterator over the decoded data of a [`Reader`]; see [`Reader::json`] and [`Reader::json_until_done`].
    ///
    /// Does not allocate an event per value. After the end, the iterator returns `None` and does not read, even if the
    /// connection is still open after `[DONE]`.
    #[derive(Debug)]
    pub struct JsonReader<R, T> {
        reader: Reader<R>,
        done: Done,
        ended: bool,
        /// An error was returned, so that a missing `[DONE]` is not an error again.
        failed: bool,
        value: PhantomData<fn() -> T>,
    }

    impl<R, T> JsonReader<R, T> {
        fn new(reader: Reader<R>, done: Done) -> Self {
            Self { reader, done, ended: false, failed: false, value: PhantomData }
        }

        /// Returns the reader, positioned after the last returned event or `[DONE]`.
        pub fn into_inner(self) -> Reader<R> {
            self.reader
        }
    }

    impl<R: BufRead, T: DeserializeOwned> Iterator for JsonReader<R, T> {
        type Item = Result<T>;

        fn next(&mut self) -> Option<Self::Item> {
            if self.ended {
                return None;
            }
            match self.reader.next_ref() {
                Ok(Some(event)) if self.done == Done::Data || !event.is_done() => Some(event.json()),
                Ok(last) => {
                    self.ended = true;
                    let is_truncated = self.done == Done::End && last.is_none() && !self.failed;
                    is_truncated.then(|| Err(Error::new(Kind::Ended)))
                }
                Err(error) => {
                    self.failed = true;
                    Some(Err(error))
                }
            }
        }
    }

    impl<R: BufRead, T: DeserializeOwned> FusedIterator for JsonReader<R, T> {}
}

#[cfg(feature = "futures")]
mod stream {
    use core::marker::PhantomData;
    use core::pin::Pin;
    use core::task::{Context, Poll, ready};

    use futures_core::stream::{FusedStream, Stream};
    use pin_project_lite::pin_project;

    use super::{DeserializeOwned, Done};
    use crate::error::{Error, Kind};
    use crate::{Event, Result};

    /// Decodes the data of event streams, such as [`EventStream`](crate::EventStream), as JSON.
    pub trait JsonStreamExt: Stream<Item = Result<Event>> + Sized {
        /// Decodes the data of every event as JSON.
        ///
        /// Data that is not a `T` is reported as [`Error::is_json`](crate::Error::is_json), and decoding continues. The
        /// event type is ignored: for an API that reports errors with `event: error`, iterate over the events and call
        /// [`Event::json`].
        fn json<T: DeserializeOwned>(self) -> JsonStream<Self, T> {
            JsonStream::new(self, Done::Data)
        }

        /// Like [`json`](Self::json), but ends at the event whose data starts with `[DONE]`.
        ///
        /// If the stream ends without it, the last item is [`Error::is_ended`](crate::Error::is_ended).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::convert::Infallible;
        ///
        /// use futures_util::{TryStreamExt as _, stream};
        /// use tightwire_sse::{EventStreamExt as _, JsonStreamExt as _};
        ///
        /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        /// let chunks = stream::iter([Ok::<_, Infallible>("data: 1\n\nda"), Ok("ta: 2\n\ndata: [DONE]\n\n")]);
        /// let numbers: Vec<_> = chunks.sse().json_until_done::<u32>().try_collect().await?;
        /// assert_eq!(numbers, [1, 2]);
        /// # Ok::<(), tightwire_sse::Error>(()) }).unwrap();
        /// ```
        fn json_until_done<T: DeserializeOwned>(self) -> JsonStream<Self, T> {
            JsonStream::new(self, Done::End)
        }
    }

    impl<S: Stream<Item = Result<Event>>> JsonStreamExt for S {}

    pin_project! {
        /// Stream of the decoded data of an event stream; see [`JsonStreamExt`].
        ///
        /// Cancel safe. After the end, the stream yields `None` and does not poll the underlying stream, even if the
        /// connection is still open after `[DONE]`: drop the stream to close it.
        #[derive(Debug)]
        #[must_use = "streams do nothing unless polled"]
        pub struct JsonStream<S, T> {
            #[pin]
            events: S,
            done: Done,
            ended: bool,
            // An error was returned, so that a missing `[DONE]` is not an error again.
            failed: bool,
            value: PhantomData<fn() -> T>,
        }
    }

    impl<S, T> JsonStream<S, T> {
        fn new(events: S, done: Done) -> Self {
            Self { events, done, ended: false, failed: false, value: PhantomData }
        }

        /// Returns a reference to the event stream, which has the last event id.
        pub fn get_ref(&self) -> &S {
            &self.events
        }

        /// Returns the event stream, positioned after the last returned event or `[DONE]`.
        pub fn into_inner(self) -> S {
            self.events
        }
    }

    impl<S: Stream<Item = Result<Event>>, T: DeserializeOwned> Stream for JsonStream<S, T> {
        type Item = Result<T>;

        fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            let this = self.project();
            if *this.ended {
                return Poll::Ready(None);
            }
            Poll::Ready(match ready!(this.events.poll_next(cx)) {
                Some(Ok(event)) if *this.done == Done::Data || !event.is_done() => Some(event.json()),
                Some(Err(error)) => {
                    *this.failed = true;
                    Some(Err(error))
                }
                last => {
                    *this.ended = true;
                    let is_truncated = *this.done == Done::End && last.is_none() && !*this.failed;
                    is_truncated.then(|| Err(Error::new(Kind::Ended)))
                }
            })
        }
    }

    impl<S: Stream<Item = Result<Event>>, T: DeserializeOwned> FusedStream for JsonStream<S, T> {
        fn is_terminated(&self) -> bool {
            self.ended
        }
    }
}
