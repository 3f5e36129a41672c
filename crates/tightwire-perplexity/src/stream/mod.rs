//! Answers that arrive as events.

mod interpret;
mod items;
mod resume;
mod text;

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use futures_core::stream::FusedStream;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use self::interpret::{Interpreter, Step};
pub use self::resume::ResumingStream;
pub use self::text::TextStream;
use crate::client::{CallSpan, Client, Exchange, LiveBody, ResponseHead};
use crate::error::{Error, Result};

/// How many chunks one poll may read without finding an event. A server that sends comments faster than they are
/// skipped would otherwise keep the executor's thread for itself.
const CHUNKS_PER_POLL: usize = 64;

/// How many tokens an answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Of the request.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
}

/// What the data of an event can be decoded as. The methods tell what an item means for its stream.
pub trait StreamItem: DeserializeOwned + Send + 'static {
    /// Whether the answer is complete with this item.
    fn is_last(&self) -> bool {
        false
    }

    /// The number by which a stream can be resumed after this item.
    fn sequence_number(&self) -> Option<u64> {
        None
    }

    /// The id of the answer, by which a stream can be resumed.
    fn response_id(&self) -> Option<&str> {
        None
    }

    /// The piece of the answer's text that this item adds.
    fn into_text(self) -> Option<String> {
        None
    }

    /// All of the answer's text so far, where the item repeats it.
    fn whole_text(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// How many tokens the answer has taken so far.
    fn usage(&self) -> Option<TokenUsage> {
        None
    }
}

impl StreamItem for tightwire_json::Value {}

/// Items that can be put together to an answer; see [`EventStream::accumulate`].
pub trait Accumulate: StreamItem {
    /// What collects them.
    type Accumulator: Default + Send;
    /// What they are put together to.
    type Whole;

    /// Adds this item.
    fn add_to(self, accumulator: &mut Self::Accumulator);

    /// The answer.
    fn finish(accumulator: Self::Accumulator) -> Self::Whole;
}

/// What becomes of a stream with an event that cannot be decoded. The error is an item in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Malformed {
    /// The stream ends.
    #[default]
    End,
    /// The stream goes on behind the event.
    Skip,
}

/// The items of an answer that arrives as events.
///
/// # The end
/// The stream ends with `[DONE]`, or where the body ends after the last item of an answer. A body that ends earlier is
/// an error ([`Error::is_incomplete`]), unless [`allow_partial`](Self::allow_partial) is chosen. The last event needs no
/// empty line. After an error the stream is over, unless [`Malformed::Skip`] is chosen. Signs of life, comments and
/// events without data are not reported.
///
/// # Buffering and cancellation
/// The stream reads from the connection only when it is polled, has no task and no queue, and holds one chunk and at
/// most one unfinished event. A future of [`next`](Self::next) may be dropped at any time without losing an item.
/// Dropping the stream closes the connection, under HTTP/2 its part of it, and the server stops; after `[DONE]` the
/// connection is kept for other calls.
#[must_use = "streams do nothing unless polled"]
pub struct EventStream<T> {
    head: ResponseHead,
    /// `None` after the end.
    body: Option<LiveBody>,
    /// `[DONE]` was seen: what is left of the body is of no interest.
    done: bool,
    /// The body has ended.
    exhausted: bool,
    /// An answer that is not complete is no error.
    partial: bool,
    chunk: Bytes,
    interpreter: Interpreter,
    span: CallSpan,
    opened: Instant,
    has_items: bool,
    client: Client,
    items: PhantomData<fn() -> T>,
}

impl<T: StreamItem> EventStream<T> {
    pub(crate) fn new(exchange: Exchange) -> Self {
        let (span, client) = (exchange.span.clone(), exchange.client.clone());
        let (head, body) = exchange.into_live();
        Self {
            head,
            body,
            done: false,
            exhausted: false,
            partial: false,
            chunk: Bytes::new(),
            interpreter: Interpreter::new(),
            span,
            opened: Instant::now(),
            has_items: false,
            client,
            items: PhantomData,
        }
    }

    /// Chooses what becomes of the stream if an event cannot be decoded. Default: [`Malformed::End`].
    pub fn with_malformed(mut self, malformed: Malformed) -> Self {
        self.interpreter.set_malformed(malformed);
        self
    }

    /// Accepts partial answers: where the body ends before the answer is complete, the stream ends without an error.
    /// [`finished_cleanly`](Self::finished_cleanly) then tells whether the answer is complete.
    ///
    /// It is also for servers that send neither `[DONE]` nor a last item.
    pub fn allow_partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// Limits the size of an event, in bytes. To be called before the first item is taken. Default: 64 MiB.
    pub fn with_max_event_size(mut self, bytes: usize) -> Self {
        self.interpreter.set_max_event_size(bytes);
        self
    }

    /// Decodes the events that are still to come as `U`.
    pub fn decode_as<U: StreamItem>(self) -> EventStream<U> {
        EventStream {
            head: self.head,
            body: self.body,
            done: self.done,
            exhausted: self.exhausted,
            partial: self.partial,
            chunk: self.chunk,
            interpreter: self.interpreter,
            span: self.span,
            opened: self.opened,
            has_items: self.has_items,
            client: self.client,
            items: PhantomData,
        }
    }

    /// Status, headers, and how the stream was opened.
    pub fn head(&self) -> &ResponseHead {
        &self.head
    }

    /// Whether the server has said that the answer is complete: by `[DONE]`, or by an item that is the last one.
    pub fn finished_cleanly(&self) -> bool {
        self.interpreter.is_complete()
    }

    /// The largest sequence number so far.
    pub fn last_sequence_number(&self) -> Option<u64> {
        self.interpreter.sequence()
    }

    /// The id of the latest event that had one; empty if there was none.
    pub fn last_event_id(&self) -> &str {
        self.interpreter.last_event_id()
    }

    /// The next item, `None` at the end.
    ///
    /// # Errors
    /// [`Error::is_connection`] and [`Error::is_timeout`] if the connection is lost or silent, [`Error::is_incomplete`]
    /// if the body ends before the answer is complete, [`Error::is_stream`] if the server reports a failure,
    /// [`Error::is_decode`] and [`Error::is_limit`] if an event cannot be decoded or is too large.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| self.poll_item(cx)).await
    }

    /// The text of the answer, in the pieces in which it arrives; of several choices, that of the first.
    pub fn text(self) -> TextStream<T> {
        TextStream::new(self)
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        for _ in 0..CHUNKS_PER_POLL {
            let Some(body) = &mut self.body else { return Poll::Ready(None) };
            if self.exhausted {
                return Poll::Ready(self.closed());
            }
            if self.done {
                ready!(body.poll_drain(cx));
                self.body = None;
                return Poll::Ready(None);
            }
            let step = if self.chunk.is_empty() {
                match ready!(body.poll_chunk(cx)) {
                    Some(Ok(chunk)) => {
                        self.chunk = chunk;
                        continue;
                    }
                    Some(Err(error)) => Step::Failed(error),
                    None => {
                        self.exhausted = true;
                        self.interpreter.finish()
                    }
                }
            } else {
                self.interpreter.step(&mut self.chunk)
            };
            match step {
                Step::Item(item) => return Poll::Ready(Some(Ok(self.observed(item)))),
                Step::Skipped(error) => {
                    return Poll::Ready(Some(Err(error.with_origin(self.head.origin()))));
                }
                Step::Failed(error) => return Poll::Ready(Some(Err(self.failed(error)))),
                Step::Done => self.done = true,
                // Gives the memory back before the wait for the next chunk.
                Step::More => self.chunk = Bytes::new(),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// What the end of the body is: the end of the answer, or an error.
    fn closed(&mut self) -> Option<Result<T>> {
        self.body = None;
        if self.finished_cleanly() {
            return None;
        }
        if self.is_something_else() {
            return Some(Err(self.failed(Error::not_events())));
        }
        (!self.partial).then(|| Err(self.failed(Error::incomplete())))
    }

    /// Whether the answer had no event and does not claim to be a stream: a page of a proxy, or a whole answer.
    fn is_something_else(&self) -> bool {
        let kind = self.head.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        !self.has_items && !kind.to_ascii_lowercase().starts_with(b"text/event-stream")
    }

    fn observed(&mut self, item: T) -> T {
        if !self.has_items {
            self.has_items = true;
            self.span.first_item(self.opened.elapsed());
        }
        self.span.used(item.usage());
        item
    }

    fn failed(&mut self, error: Error) -> Error {
        self.body = None;
        let error = error.with_origin(self.head.origin()).without_secret(self.client.key());
        self.span.failed(&error);
        error
    }
}

impl<T: StreamItem> Stream for EventStream<T> {
    type Item = Result<T>;

    /// # Errors
    /// As [`next`](EventStream::next).
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_item(cx)
    }
}

impl<T: StreamItem> FusedStream for EventStream<T> {
    fn is_terminated(&self) -> bool {
        self.body.is_none()
    }
}

impl<T> fmt::Debug for EventStream<T> {
    /// Tells the state and nothing that was received.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("status", &self.head.status())
            .field("request_id", &self.head.request_id())
            .field("ended", &self.body.is_none())
            .finish_non_exhaustive()
    }
}
