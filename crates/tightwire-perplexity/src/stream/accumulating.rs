//! Streams that combine their items into a response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::{Accumulate, EventStream};
use crate::error::{Error, Kind, Result};

impl<T: Accumulate> EventStream<T> {
    /// Reads the stream to its end and returns the combined response, with citations, search results, images
    /// and usage.
    ///
    /// An incomplete stream is an error, unless [`allow_partial`](Self::allow_partial) is set.
    ///
    /// # Errors
    ///
    /// Same as [`next`](Self::next), and [`Error::is_stream`] for a response that failed. Items received before an error are lost.
    pub async fn accumulate(&mut self) -> Result<T::Whole> {
        let mut accumulator = T::Accumulator::default();
        while let Some(item) = self.next().await {
            item?.move_to(&mut accumulator);
        }
        if let Some(error) = self.state.failure.take() {
            return Err(error);
        }
        Ok(T::finish(accumulator))
    }

    /// Returns a stream of the same items that also combines them into a response. Items read before are not part of it.
    pub fn accumulating(self) -> AccumulatingStream<T> {
        AccumulatingStream { items: self, accumulator: T::Accumulator::default() }
    }
}

/// Items of a response, and the response that they add up to; see [`EventStream::accumulating`].
///
/// # Examples
///
/// Prints text while it arrives, and the sources afterwards:
///
/// ```no_run
/// # use tightwire_perplexity::types::responses::Request;
/// # async fn example(client: tightwire_perplexity::Client, request: Request) -> tightwire_perplexity::Result<()> {
/// let mut stream = client.responses().stream(&request).await?.accumulating();
/// while let Some(event) = stream.next().await {
///     print!("{}", event?.delta_text().unwrap_or_default());
/// }
/// let response = stream.finish().await?;
/// println!("{:?}", response.sources());
/// # Ok(())
/// # }
/// ```
///
/// Shows structured output while it arrives. [`incomplete`](tightwire_json::partial::Parser::incomplete) tells which part
/// may still change, [`is_final`](tightwire_json::partial::Parser::is_final) whether a value may. The arguments of a
/// function arrive as a whole; those of chat completions in parts
/// ([`partial_arguments`](crate::types::chat::Accumulator::partial_arguments)).
///
/// ```no_run
/// # use tightwire_perplexity::types::responses::Request;
/// # async fn example(client: tightwire_perplexity::Client, request: Request) -> tightwire_perplexity::Result<()> {
/// let mut stream = client.responses().stream(&request).await?.accumulating();
/// while let Some(event) = stream.next().await {
///     event?;
///     match stream.accumulator().partial_output() {
///         Ok(Some(output)) if output.is_final("/city") => println!("{:?}", output.value()),
///         Ok(Some(output)) => println!("{:?} {:?}", output.value(), output.incomplete()),
///         Ok(None) => {}
///         Err(error) => println!("the model wrote malformed JSON: {error}"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct AccumulatingStream<T: Accumulate> {
    items: EventStream<T>,
    accumulator: T::Accumulator,
}

impl<T: Accumulate> AccumulatingStream<T> {
    /// Returns the next item, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Same as [`EventStream::next`].
    pub async fn next(&mut self) -> Option<Result<T>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Returns the items received so far, combined. Mutable, because partial JSON is parsed on demand.
    pub fn accumulator(&mut self) -> &mut T::Accumulator {
        &mut self.accumulator
    }

    /// Returns the items received so far, combined, and drops the stream. Use it to keep a response whose stream failed.
    pub fn into_accumulator(self) -> T::Accumulator {
        self.accumulator
    }

    /// Returns the underlying stream.
    pub fn get_ref(&self) -> &EventStream<T> {
        &self.items
    }

    /// Reads the remaining items and returns the combined response. Sends no request.
    ///
    /// # Errors
    ///
    /// Same as [`EventStream::next`], [`Error::is_stream`] for a response that failed, and [`Error::is_incomplete`] if the stream has already failed before the response
    /// was complete, unless [`EventStream::allow_partial`] is set. Items received before an error are lost.
    pub async fn finish(mut self) -> Result<T::Whole> {
        while let Some(item) = self.next().await {
            item?;
        }
        if !self.items.finished_cleanly() && !self.items.state.partial {
            return Err(Error::new(Kind::Incomplete).with_origin(self.items.state.head.origin()));
        }
        if let Some(error) = self.items.state.failure.take() {
            return Err(error);
        }
        Ok(T::finish(self.accumulator))
    }
}

// The accumulator is never pinned.
impl<T: Accumulate> Unpin for AccumulatingStream<T> {}

impl<T: Accumulate> Stream for AccumulatingStream<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let item = ready!(this.items.poll_item(cx));
        if let Some(Ok(item)) = &item {
            item.add_to(&mut this.accumulator);
        }
        Poll::Ready(item)
    }
}

impl<T: Accumulate> fmt::Debug for AccumulatingStream<T> {
    /// Omits the items.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccumulatingStream").field("items", &self.items).finish_non_exhaustive()
    }
}
