//! Streamed responses.
//!
//! | method | result |
//! | --- | --- |
//! | [`EventStream::next`] | the chunks or events of the response |
//! | [`EventStream::text`] | its text, in pieces |
//! | [`EventStream::accumulate`] | the whole response |
//! | [`EventStream::accumulating`] | the chunks, tool arguments and structured output while they arrive, then the response |
//! | [`EventStream::resuming`] | the events of the Agent API, over several connections |

mod accumulating;
mod interpret;
mod items;
mod resume;
mod text_stream;

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

pub use self::accumulating::AccumulatingStream;
use self::interpret::{Interpreter, Step};
pub use self::resume::ResumingStream;
pub use self::text_stream::TextStream;
pub use crate::client::TokenUsage;
use crate::client::{
    BodyMode, Call, CallSpan, Client, Deadline, EVENTS, Exchange, Options, ResponseHead, StreamingBody,
};
use crate::error::{Error, Kind, Result};

/// Maximum chunks read per poll without finding an event. A server that sends nothing but comments would
/// otherwise block the executor's thread.
const CHUNKS_PER_POLL: usize = 64;

/// Maximum size in bytes of a response that is a document instead of a stream.
const MAX_DOCUMENT: usize = 64 << 20;

/// Type that the data of an event is decoded as. The methods describe the item's role in the stream.
pub trait StreamItem: DeserializeOwned + Send + 'static {
    /// Whether `[DONE]` completes the response. Otherwise it requires a last item.
    const ENDS_WITH_DONE: bool = true;

    /// Returns whether the response is complete with this item.
    fn is_last(&self) -> bool {
        false
    }

    /// Returns whether no other item follows a last item. The rest of the response is then discarded.
    fn ends_stream(&self) -> bool {
        false
    }

    /// Returns whether the data was another object than expected, which may report an error.
    fn is_unexpected(&self) -> bool {
        false
    }

    /// Returns the error of a response that failed with this item, as JSON.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Decodes a response that is a single JSON document, from a server that does not stream.
    fn from_document(_document: &[u8]) -> Option<Self> {
        None
    }

    /// Returns the sequence number, after which a stream can be resumed.
    fn sequence_number(&self) -> Option<u64> {
        None
    }

    /// Returns the identifier of the response, for resuming the stream.
    fn response_id(&self) -> Option<&str> {
        None
    }

    /// Returns the text that this item adds to the response.
    fn into_text(self) -> Option<String> {
        None
    }

    /// Names the part of the response that [`into_text`](Self::into_text) adds to: by an identifier, 0 without one, and by
    /// its position.
    fn text_part(&self) -> [u64; 2] {
        [0, 0]
    }

    /// Calls `visit` with the parts of the response, named as by [`text_part`](Self::text_part), whose text the item
    /// repeats from its beginning.
    fn whole_texts(&self, _visit: &mut dyn FnMut([u64; 2], &str)) {}

    /// Returns the tokens used so far.
    fn usage(&self) -> Option<TokenUsage> {
        None
    }
}

impl StreamItem for tightwire_json::Value {}

/// Items that can be combined into a response; see [`EventStream::accumulate`] and [`AccumulatingStream`].
pub trait Accumulate: StreamItem {
    /// Collects the items.
    type Accumulator: Default + Send;
    /// Type of the combined response.
    type Whole;

    /// Adds this item.
    fn add_to(&self, accumulator: &mut Self::Accumulator);

    /// Adds this item, which is not used any more. Default: same as [`add_to`](Self::add_to).
    fn move_to(self, accumulator: &mut Self::Accumulator) {
        self.add_to(accumulator);
    }

    /// Returns the combined response.
    fn finish(accumulator: Self::Accumulator) -> Self::Whole;
}

/// Behavior on an event that cannot be decoded. The stream returns the error in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Malformed {
    /// End the stream.
    #[default]
    End,
    /// Continue with the next event.
    Skip,
}

/// Stream of the events of a response.
///
/// # End of the stream
/// The stream ends after `[DONE]`, or at the end of the body if a last item was received. A body that ends
/// earlier is an error ([`Error::is_incomplete`]), unless [`allow_partial`](Self::allow_partial) is set. The
/// last event needs no trailing empty line. An error ends the stream, except for malformed events under
/// [`Malformed::Skip`]. Keep-alives, comments and events without data are skipped.
///
/// # Buffering and cancellation
/// The stream reads from the connection only when polled. It spawns no task and has no queue; it buffers one
/// chunk and at most one partial event. [`next`](Self::next) is cancel-safe: dropping its future loses no item.
///
/// Dropping the stream cancels the request: the connection is closed (HTTP/2: the stream is reset), which the server
/// sees at once. A server may stop generating then, and may still charge for the response. A background response of the
/// Agent API continues; cancel it with [`Responses::cancel`](crate::resources::Responses::cancel). After `[DONE]` the
/// connection is reused.
///
/// # Final response
/// [`accumulate`](Self::accumulate) returns the combined response without the items, [`text`](Self::text) only the text.
/// [`accumulating`](Self::accumulating) returns the items and then the response. While they arrive, it has the text, tool
/// arguments and structured output so far.
#[must_use = "streams do nothing unless polled"]
pub struct EventStream<T> {
    state: StreamState,
    items: PhantomData<fn() -> T>,
}

/// The part of a stream that does not depend on the type of its items.
struct StreamState {
    head: ResponseHead,
    /// `None` after the end.
    body: Option<StreamingBody>,
    /// `[DONE]` was received: the rest of the body is discarded.
    done: bool,
    /// The body has ended.
    exhausted: bool,
    /// Accept an incomplete response.
    partial: bool,
    chunk: Bytes,
    interpreter: Interpreter,
    span: CallSpan,
    opened: Instant,
    has_items: bool,
    /// Error of the response that the last item has.
    failure: Option<Error>,
    /// Beginning of a body that may be no event stream; `None` once it is one.
    document: Option<Vec<u8>>,
    client: Client,
    total: Option<Deadline>,
    /// Options of the call, for a call that resumes the stream.
    options: Options,
}

impl<T, C> Call<T, C> {
    /// Requests a stream. `stream_field` is the field `stream` of the body.
    pub(crate) fn streaming<U: StreamItem>(self, stream_field: Option<bool>) -> Call<EventStream<U>, C> {
        self.edit(|plan| plan.set_stream(stream_field)).events()
    }

    /// Reads the response as a stream of events.
    pub fn events<U: StreamItem>(self) -> Call<EventStream<U>, C> {
        let call = self.accept(EVENTS);
        call.receive_as(BodyMode::Streaming, |exchange| Ok(EventStream::new(exchange)))
    }
}

impl<T: StreamItem> EventStream<T> {
    fn new(exchange: Exchange) -> Self {
        let Exchange { head, body, span, client, total, options } = exchange;
        let state = StreamState {
            head,
            body: body.into_streaming(),
            done: false,
            exhausted: false,
            partial: false,
            chunk: Bytes::new(),
            interpreter: Interpreter::new(),
            span,
            opened: Instant::now(),
            has_items: false,
            failure: None,
            document: Some(Vec::new()),
            client,
            total,
            options,
        };
        Self { state, items: PhantomData }
    }

    /// Sets the behavior on an event that cannot be decoded. Default: [`Malformed::End`].
    pub fn with_malformed(mut self, malformed: Malformed) -> Self {
        self.state.interpreter.malformed = malformed;
        self
    }

    /// Accepts incomplete responses: the stream ends without an error if the body ends early. Check
    /// [`finished_cleanly`](Self::finished_cleanly) afterwards.
    ///
    /// Also use it for servers that send neither `[DONE]` nor a last item.
    pub fn allow_partial(mut self) -> Self {
        self.state.partial = true;
        self
    }

    /// Sets the maximum size of an event, in bytes. Call it before reading items. Default: 64 MiB.
    pub fn with_max_event_size(mut self, bytes: usize) -> Self {
        self.state.interpreter.set_max_event_size(bytes);
        self
    }

    /// Decodes the remaining events as `U`.
    pub fn decode_as<U: StreamItem>(self) -> EventStream<U> {
        EventStream { state: self.state, items: PhantomData }
    }

    /// Returns status, headers and metadata of the call.
    pub fn head(&self) -> &ResponseHead {
        &self.state.head
    }

    /// Returns whether the server marked the response as complete, by `[DONE]` or a last item.
    pub fn finished_cleanly(&self) -> bool {
        self.state.interpreter.complete
    }

    /// Returns the highest sequence number so far.
    pub fn last_sequence_number(&self) -> Option<u64> {
        self.state.interpreter.sequence
    }

    /// Returns the last event ID; empty if there was none.
    pub fn last_event_id(&self) -> &str {
        self.state.interpreter.last_event_id()
    }

    /// Returns the next item, or `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::is_connection`] or [`Error::is_timeout`] if the connection is lost or idle,
    /// [`Error::is_incomplete`] if the body ends before the response is complete, [`Error::is_stream`] if the
    /// server sends an error event, [`Error::is_decode`] or [`Error::is_limit`] if an event cannot be decoded
    /// or is too large.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| self.poll_item(cx)).await
    }

    /// Returns a stream of the response's text, as it arrives. Of several choices, it contains the first.
    pub fn text(self) -> TextStream<T> {
        TextStream::new(self)
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        for _ in 0..CHUNKS_PER_POLL {
            let Some(body) = &mut self.state.body else { return Poll::Ready(None) };
            if self.state.exhausted {
                return Poll::Ready(self.end_of_body());
            }
            if self.state.done {
                ready!(body.poll_drain(cx));
                return Poll::Ready(self.end_of_body());
            }
            let step = if self.state.chunk.is_empty() {
                match ready!(body.poll_chunk(cx)) {
                    Some(Ok(chunk)) => {
                        self.state.keep_document(&chunk);
                        self.state.chunk = chunk;
                        continue;
                    }
                    Some(Err(error)) => Step::<T>::Failed(error),
                    None => {
                        self.state.exhausted = true;
                        self.state.interpreter.finish()
                    }
                }
            } else {
                self.state.interpreter.step(&mut self.state.chunk)
            };
            match step {
                Step::Item(item) => {
                    self.state.done |= item.ends_stream();
                    return Poll::Ready(Some(Ok(self.record_item(item))));
                }
                Step::Skipped(error) => {
                    return Poll::Ready(Some(Err(error.with_origin(self.state.head.origin()))));
                }
                Step::Failed(error) => return Poll::Ready(Some(Err(self.fail(error)))),
                Step::Done => self.state.done = true,
                // Free the memory before waiting for the next chunk.
                Step::More => self.state.chunk = Bytes::new(),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Handles the end of the body: end of the stream, or an error.
    fn end_of_body(&mut self) -> Option<Result<T>> {
        self.state.body = None;
        if self.finished_cleanly() {
            return None;
        }
        let document = self.state.document.take();
        if let Some(document) = document.filter(|document| !document.is_empty()) {
            return Some(match T::from_document(&document) {
                Some(item) => {
                    self.state.interpreter.complete = true;
                    Ok(self.record_item(item))
                }
                None => {
                    let head = &self.state.head;
                    let error = Error::unexpected(document.into(), head.headers(), None);
                    let error = error.with_origin(head.origin());
                    Err(self.fail(error))
                }
            });
        }
        (!self.state.partial).then(|| Err(self.fail(Error::new(Kind::Incomplete))))
    }

    fn record_item(&mut self, item: T) -> T {
        self.state.failure = item.failure().map(|error| {
            let error = Error::stream(&error).redacted(self.state.client.key());
            error.with_origin(self.state.head.origin())
        });
        if !self.state.has_items {
            self.state.has_items = true;
            self.state.document = None;
            self.state.span.record_first_item(self.state.opened.elapsed());
        }
        self.state.span.record_usage(item.usage());
        item
    }

    fn fail(&mut self, error: Error) -> Error {
        self.state.body = None;
        let error = error.with_origin(self.state.head.origin()).redacted(self.state.client.key());
        self.state.span.record_error(&error);
        error
    }
}

impl StreamState {
    /// Keeps the body until the first item, unless its beginning is that of an event stream: a document, such as an
    /// error or the page of a proxy, must not be lost.
    fn keep_document(&mut self, mut chunk: &[u8]) {
        let Some(mut document) = self.document.take() else { return };
        if document.is_empty() {
            chunk = chunk.trim_ascii_start();
            if chunk.first().is_some_and(|&first| !self.may_start_document(first)) {
                return;
            }
        }
        let free = MAX_DOCUMENT.saturating_sub(document.len());
        document.extend_from_slice(&chunk[..chunk.len().min(free)]);
        self.document = Some(document);
    }

    fn may_start_document(&self, first: u8) -> bool {
        let kind = self.head.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        let is_declared = kind.to_ascii_lowercase().starts_with(b"text/event-stream");
        // The first bytes of lines of an event stream: fields, comments, and a byte order mark.
        !matches!(first, b'd' | b'e' | b'i' | b'r' | b':' | 0xef) || !is_declared
    }
}

impl<T: StreamItem> Stream for EventStream<T> {
    type Item = Result<T>;

    /// # Errors
    ///
    /// Same as [`next`](EventStream::next).
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_item(cx)
    }
}

impl<T> fmt::Debug for EventStream<T> {
    /// Omits all received data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("status", &self.state.head.status())
            .field("request_id", &self.state.head.request_id())
            .field("ended", &self.state.body.is_none())
            .finish_non_exhaustive()
    }
}
