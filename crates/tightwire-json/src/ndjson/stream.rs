//! NDJSON decoder for streams.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;
use serde::de::DeserializeOwned;

use super::lines::LineDecoder;
use crate::error::{Error, Result};

pin_project! {
    /// Stream of documents decoded from a stream of byte chunks, such as an HTTP body.
    ///
    /// Errors of single lines are described at [`LineDecoder`]. An error of the underlying stream is returned as
    /// [`Error::is_io`] and ends the stream; a partial line is dropped. At most one line and one chunk are buffered.
    ///
    /// Cancel safe: dropping the future of `next()` loses no document.
    ///
    /// # Examples
    /// ```
    /// use bytes::Bytes;
    /// use futures_util::{StreamExt, stream};
    ///
    /// # futures_executor::block_on(async {
    /// let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from("1\n2")), Ok(Bytes::from("3\n"))]);
    /// let mut numbers = tightwire_json::NdjsonStream::<_, u32>::new(body);
    /// assert_eq!(numbers.next().await.unwrap()?, 1);
    /// assert_eq!(numbers.next().await.unwrap()?, 23);
    /// assert!(numbers.next().await.is_none());
    /// # Ok::<(), tightwire_json::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use = "streams do nothing unless polled"]
    pub struct NdjsonStream<S, T> {
        #[pin]
        chunks: S,
        decoder: LineDecoder<T>,
        chunk: Bytes,
        ended: bool,
    }
}

impl<S, T: DeserializeOwned> NdjsonStream<S, T> {
    /// Returns a stream with the defaults of [`LineDecoder::new`].
    pub fn new(chunks: S) -> Self {
        Self::with_decoder(chunks, LineDecoder::new())
    }

    /// Returns a stream with the codec and the limit of this decoder.
    pub fn with_decoder(chunks: S, decoder: LineDecoder<T>) -> Self {
        Self { chunks, decoder, chunk: Bytes::new(), ended: false }
    }
}

impl<S: fmt::Debug, T> fmt::Debug for NdjsonStream<S, T> {
    /// Omits the buffered input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NdjsonStream")
            .field("chunks", &self.chunks)
            .field("decoder", &self.decoder)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<S, T, B, E> Stream for NdjsonStream<S, T>
where
    S: Stream<Item = Result<B, E>>,
    T: DeserializeOwned,
    B: Into<Bytes>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        let mut this = self.project();
        loop {
            if *this.ended {
                return Poll::Ready(None);
            }
            let mut rest = &this.chunk[..];
            let document = this.decoder.next(&mut rest);
            let consumed = this.chunk.len() - rest.len();
            let _ = this.chunk.split_to(consumed);
            if document.is_some() {
                return Poll::Ready(document);
            }
            match ready!(this.chunks.as_mut().poll_next(context)) {
                Some(Ok(chunk)) => *this.chunk = chunk.into(),
                Some(Err(error)) => {
                    *this.ended = true;
                    return Poll::Ready(Some(Err(Error::transport(error))));
                }
                None => {
                    *this.ended = true;
                    return Poll::Ready(this.decoder.finish());
                }
            }
        }
    }
}
