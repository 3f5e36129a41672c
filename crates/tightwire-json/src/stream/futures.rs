//! Asynchronous streams and sinks.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use pin_project_lite::pin_project;
use serde::Serialize;

use super::ChunkDecoder;
use crate::codec::Codec;
use crate::error::{Error, Result};

pin_project! {
    /// Stream of the documents that a [`ChunkDecoder`] finds in a stream of byte chunks, such as an HTTP body.
    ///
    /// An error of the underlying stream is returned as [`Error::is_io`] and ends the stream; a partial document is
    /// dropped. At most one document and one chunk are buffered.
    ///
    /// Cancel safe: dropping the future of `next()` loses no document.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use futures_util::{StreamExt, stream};
    /// use tightwire_json::{DocumentStream, LineDecoder};
    ///
    /// # futures_executor::block_on(async {
    /// let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from("1\n2")), Ok(Bytes::from("3\n"))]);
    /// let mut numbers = DocumentStream::new(body, LineDecoder::<u32>::new());
    /// assert_eq!(numbers.next().await.unwrap()?, 1);
    /// assert_eq!(numbers.next().await.unwrap()?, 23);
    /// assert!(numbers.next().await.is_none());
    /// # Ok::<(), tightwire_json::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use = "streams do nothing unless polled"]
    pub struct DocumentStream<S, D> {
        #[pin]
        chunks: S,
        decoder: D,
        chunk: Bytes,
        ended: bool,
    }
}

impl<S, D: ChunkDecoder> DocumentStream<S, D> {
    /// Returns a stream of the documents that `decoder` finds in `chunks`.
    pub fn new(chunks: S, decoder: D) -> Self {
        Self { chunks, decoder, chunk: Bytes::new(), ended: false }
    }
}

impl<S: fmt::Debug, D: fmt::Debug> fmt::Debug for DocumentStream<S, D> {
    /// Omits the buffered input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentStream")
            .field("chunks", &self.chunks)
            .field("decoder", &self.decoder)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<S, D, B, E> Stream for DocumentStream<S, D>
where
    S: Stream<Item = Result<B, E>>,
    D: ChunkDecoder,
    B: Into<Bytes>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Item = Result<D::Document>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        while !*this.ended && !this.decoder.is_failed() {
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
                    return Poll::Ready(Some(Err(Error::io(error))));
                }
                None => {
                    *this.ended = true;
                    return Poll::Ready(this.decoder.finish());
                }
            }
        }
        Poll::Ready(None)
    }
}

fn line<T: Serialize>(codec: &Codec, value: &T) -> Result<Bytes> {
    let mut line = codec.to_vec(value)?;
    line.push(b'\n');
    Ok(line.into())
}

pin_project! {
    /// Sink that encodes values and sends each as one chunk, including the line feed, to a sink of byte chunks.
    ///
    /// For a value that cannot be encoded, [`Sink::start_send`] returns an error and sends nothing; the sink stays
    /// usable.
    #[derive(Debug)]
    #[must_use = "sinks do nothing unless polled"]
    pub struct NdjsonSink<K, T> {
        #[pin]
        chunks: K,
        codec: Codec,
        documents: PhantomData<fn(T)>,
    }
}

impl<K, T> NdjsonSink<K, T> {
    /// Returns a sink with [`Codec::standard`].
    pub fn new(chunks: K) -> Self {
        Self::with_codec(chunks, Codec::standard())
    }

    /// Returns a sink with this codec.
    pub fn with_codec(chunks: K, codec: Codec) -> Self {
        Self { chunks, codec, documents: PhantomData }
    }

    /// Returns the underlying sink.
    pub fn into_inner(self) -> K {
        self.chunks
    }
}

impl<K, T> Sink<T> for NdjsonSink<K, T>
where
    K: Sink<Bytes>,
    K::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    T: Serialize,
{
    type Error = Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.project().chunks.poll_ready(context).map_err(Error::io)
    }

    fn start_send(self: Pin<&mut Self>, value: T) -> Result<()> {
        let this = self.project();
        let line = line(this.codec, &value)?;
        this.chunks.start_send(line).map_err(Error::io)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.project().chunks.poll_flush(context).map_err(Error::io)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.project().chunks.poll_close(context).map_err(Error::io)
    }
}

pin_project! {
    /// Stream that encodes values as byte chunks for an HTTP body, one chunk per value including the line feed.
    ///
    /// A value that cannot be encoded is an error and ends the stream, so that the peer receives a truncated message
    /// instead of one with a missing line.
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct NdjsonBody<S> {
        #[pin]
        values: S,
        codec: Codec,
        ended: bool,
    }
}

impl<S> NdjsonBody<S> {
    /// Returns a stream with [`Codec::standard`].
    pub fn new(values: S) -> Self {
        Self::with_codec(values, Codec::standard())
    }

    /// Returns a stream with this codec.
    pub fn with_codec(values: S, codec: Codec) -> Self {
        Self { values, codec, ended: false }
    }
}

impl<S> Stream for NdjsonBody<S>
where
    S: Stream,
    S::Item: Serialize,
{
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        let line = ready!(this.values.poll_next(context)).map(|value| line(this.codec, &value));
        *this.ended = !matches!(line, Some(Ok(_)));
        Poll::Ready(line)
    }
}
