//! Decoding of event data as JSON.

use serde::Deserialize;
#[cfg(any(feature = "std", feature = "futures"))]
use serde::de::DeserializeOwned;

#[cfg(any(feature = "std", feature = "futures"))]
use crate::Ending;
use crate::{Error, Event, EventRef, Result, error::Kind};

/// Start of the data of the last event in the streams of many LLM APIs.
const DONE: &str = "[DONE]";

/// Maximum size of [`Error::data`] in bytes.
const MAX_ERROR_DATA: usize = 4 << 10;

fn from_str<'de, T: Deserialize<'de>>(data: &'de str) -> Result<T> {
    serde_json::from_str(data).map_err(|error| json_error(data, error))
}

fn json_error(data: &str, error: serde_json::Error) -> Error {
    let end = (0..=MAX_ERROR_DATA.min(data.len())).rev().find(|&end| data.is_char_boundary(end));
    Error::with_source(Kind::Json(data[..end.unwrap_or_default()].into()), error)
}

#[cfg(any(feature = "std", feature = "futures"))]
fn is_blank(data: &str) -> bool {
    data.bytes().all(|byte| byte.is_ascii_whitespace())
}

impl<'a> EventRef<'a> {
    /// Decodes the data as JSON. The value may borrow from the data.
    ///
    /// # Errors
    ///
    /// [`Error::is_json`] if the data is not JSON or not a `T`, with the start of the data as [`Error::data`]. Its source
    /// is the error of `serde_json`, which contains the position and may contain a value.
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
        serde_json::from_slice(self.data_bytes()).map_err(|error| json_error(self.data(), error))
    }

    /// Returns whether the data starts with `[DONE]`; see [`EventRef::is_done`].
    pub fn is_done(&self) -> bool {
        self.data_bytes().starts_with(DONE.as_bytes())
    }
}

/// State of a sequence of decoded values.
#[cfg(any(feature = "std", feature = "futures"))]
#[derive(Debug)]
struct Values {
    /// Whether `[DONE]` ends the sequence. Otherwise it is decoded like other data, which fails because it is not
    /// JSON.
    until_done: bool,
    /// Whether the end of the events without `[DONE]` is an error.
    ending: Ending,
    ended: bool,
    /// Whether an error was returned. A missing `[DONE]` is then not reported as a second error.
    failed: bool,
}

#[cfg(any(feature = "std", feature = "futures"))]
impl Values {
    fn new(until_done: bool) -> Self {
        Self { until_done, ending: Ending::Lenient, ended: false, failed: false }
    }

    /// Returns the value of the next event, or the end of the sequence; `None` if the event has no data. Without an
    /// event, the events have ended.
    fn value<T: DeserializeOwned>(&mut self, event: Option<EventRef<'_>>) -> Option<Option<Result<T>>> {
        match event {
            Some(event) if is_blank(event.data) => None,
            Some(event) if !self.until_done || !event.is_done() => Some(Some(event.json())),
            last => {
                self.ended = true;
                let requires_done = self.until_done && self.ending == Ending::Strict;
                let is_truncated = requires_done && last.is_none() && !self.failed;
                Some(is_truncated.then(|| Err(Error::new(Kind::Ended))))
            }
        }
    }

    fn error<T>(&mut self, error: Error) -> Option<Result<T>> {
        self.failed = true;
        Some(Err(error))
    }
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

    use super::{DeserializeOwned, Values};
    use crate::{Ending, Reader, Result};

    impl<R: BufRead> Reader<R> {
        /// Decodes the data of every event as JSON.
        ///
        /// Events without data, which servers send to keep the connection alive, are skipped. Data that is not a `T` is
        /// reported as [`Error::is_json`](crate::Error::is_json) with the [data](crate::Error::data), and decoding
        /// continues. The event type is ignored: for an API that reports errors with `event: error`, iterate over the events and call
        /// [`Event::json`](crate::Event::json).
        pub fn json<T: DeserializeOwned>(self) -> JsonReader<R, T> {
            JsonReader::new(self, false)
        }

        /// Like [`json`](Self::json), but ends at the event whose data starts with `[DONE]`.
        ///
        /// [`JsonReader::with_ending`] decides about an end without it.
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
            JsonReader::new(self, true)
        }
    }

    /// Iterator over the decoded data of a [`Reader`]; see [`Reader::json`] and [`Reader::json_until_done`].
    ///
    /// Does not allocate an event per value. After the end, the iterator returns `None` and does not read, even if the
    /// connection is still open after `[DONE]`.
    #[derive(Debug)]
    pub struct JsonReader<R, T> {
        reader: Reader<R>,
        values: Values,
        value: PhantomData<fn() -> T>,
    }

    impl<R, T> JsonReader<R, T> {
        fn new(reader: Reader<R>, until_done: bool) -> Self {
            Self { reader, values: Values::new(until_done), value: PhantomData }
        }

        /// Sets the handling of an end without `[DONE]`: with [`Ending::Strict`], the last item of `json_until_done` is
        /// [`Error::is_ended`](crate::Error::is_ended). Default: [`Ending::Lenient`].
        #[must_use]
        pub fn with_ending(mut self, ending: Ending) -> Self {
            self.values.ending = ending;
            self
        }

        /// Returns the reader, positioned after the last returned event or `[DONE]`.
        pub fn into_inner(self) -> Reader<R> {
            self.reader
        }
    }

    impl<R: BufRead, T: DeserializeOwned> Iterator for JsonReader<R, T> {
        type Item = Result<T>;

        fn next(&mut self) -> Option<Self::Item> {
            while !self.values.ended {
                match self.reader.next_ref() {
                    Ok(event) => {
                        if let Some(value) = self.values.value(event) {
                            return value;
                        }
                    }
                    Err(error) => return self.values.error(error),
                }
            }
            None
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

    use super::{DeserializeOwned, Values};
    use crate::{Ending, Event, Result};

    /// Decodes the data of event streams, such as [`EventStream`](crate::EventStream), as JSON.
    pub trait JsonStreamExt: Stream<Item = Result<Event>> + Sized {
        /// Decodes the data of every event as JSON.
        ///
        /// Events without data, which servers send to keep the connection alive, are skipped. Data that is not a `T` is
        /// reported as [`Error::is_json`](crate::Error::is_json) with the [data](crate::Error::data), and decoding
        /// continues. The event type is ignored: for an API that reports errors with `event: error`, iterate over the events and call
        /// [`Event::json`].
        fn json<T: DeserializeOwned>(self) -> JsonStream<Self, T> {
            JsonStream::new(self, false)
        }

        /// Like [`json`](Self::json), but ends at the event whose data starts with `[DONE]`.
        ///
        /// [`JsonStream::with_ending`] decides about an end without it.
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
            JsonStream::new(self, true)
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
            values: Values,
            value: PhantomData<fn() -> T>,
        }
    }

    impl<S, T> JsonStream<S, T> {
        fn new(events: S, until_done: bool) -> Self {
            Self { events, values: Values::new(until_done), value: PhantomData }
        }

        /// Sets the handling of an end without `[DONE]`: with [`Ending::Strict`], the last item of `json_until_done` is
        /// [`Error::is_ended`](crate::Error::is_ended). Default: [`Ending::Lenient`].
        pub fn with_ending(mut self, ending: Ending) -> Self {
            self.values.ending = ending;
            self
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
            let mut this = self.project();
            while !this.values.ended {
                match ready!(this.events.as_mut().poll_next(cx)).transpose() {
                    Ok(event) => {
                        if let Some(value) = this.values.value(event.as_ref().map(Event::as_ref)) {
                            return Poll::Ready(value);
                        }
                    }
                    Err(error) => return Poll::Ready(this.values.error(error)),
                }
            }
            Poll::Ready(None)
        }
    }

    impl<S: Stream<Item = Result<Event>>, T: DeserializeOwned> FusedStream for JsonStream<S, T> {
        fn is_terminated(&self) -> bool {
            self.values.ended
        }
    }
}
