//! Other decoders, each called in the cheapest way of its public API.
//!
//! Adaptors for futures are polled directly with a stream that is always ready, so that no executor is measured. For a
//! decoder that rejects its input, only the events before the error count, which fails the check.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use benches::event_stream::Input;
use bytes::Bytes;
use eventsource_stream::Eventsource as _;
use futures_util::Stream;
use futures_util::stream;
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, Request, Response, ResponseFuture};

use crate::tally::Tally;

/// Returns the chunks of an input as a stream that is always ready.
pub fn ready_stream(
    input: &Input,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + Sync + Unpin + use<> {
    stream::iter(input.chunks().map(Ok))
}

/// Polls a stream to its end, its first error or the end of the row. `data` returns the data of an event, `None` for an
/// item that is not an event.
pub fn drain<T, E>(
    events: impl Stream<Item = Result<T, E>>,
    mut tally: Tally,
    data: impl Fn(&T) -> Option<&str>,
) -> u64 {
    let mut events = pin!(events);
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(Ok(event))) = events.as_mut().poll_next(&mut context) {
        let event = black_box(event);
        if data(&event).is_some_and(|data| tally.add(data).is_break()) {
            break;
        }
    }
    tally.value()
}

/// eventsource-stream, the most common adaptor.
pub fn eventsource_stream(input: &Input) -> u64 {
    drain(ready_stream(input).eventsource(), Tally::new(input.stop), |event| Some(&event.data))
}

/// Decoder of sse-core without I/O.
pub fn sse_core(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = sse_core::SseDecoder::new();
    for mut chunk in input.slices() {
        while let Some(Ok(event)) = decoder.next(&mut chunk) {
            if let sse_core::SseEvent::Message(message) = black_box(event)
                && tally.add(&message.data).is_break()
            {
                return tally.value();
            }
        }
    }
    tally.value()
}

/// Futures adaptor of sse-core.
pub fn sse_core_stream(input: &Input) -> u64 {
    drain(sse_core::SseStream::new(ready_stream(input)), Tally::new(input.stop), |event| match event {
        sse_core::SseEvent::Message(message) => Some(message.data.as_str()),
        sse_core::SseEvent::Retry(_) => None,
    })
}

/// sse-stream. It also returns blocks without data, which are not counted.
pub fn sse_stream(input: &Input) -> u64 {
    drain(sse_stream::SseByteStream::new(ready_stream(input)), Tally::new(input.stop), |block| {
        block.data.as_deref()
    })
}

/// sseer, whose events are reference-counted slices of the chunks.
pub fn sseer(input: &Input) -> u64 {
    drain(sseer::EventStream::new(ready_stream(input)), Tally::new(input.stop), |event| Some(&event.data))
}

/// Parser of sse-parse without I/O.
pub fn sse_parse(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut parser = sse_parse::SseParser::new();
    for chunk in input.slices() {
        parser.feed(chunk);
        while let Some(event) = parser.next_event() {
            let event = black_box(event);
            if tally.add(&event.data).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}

/// eventsource-client. Its parser is private, so that the input is the body of a response of an in-memory transport.
/// Building the request and the response is part of the operation.
pub struct EventsourceClient {
    client: Box<dyn eventsource_client::Client>,
    input: Input,
}

impl EventsourceClient {
    /// Returns a client that does not reconnect.
    pub fn new(input: &Input) -> Self {
        let client = eventsource_client::ClientBuilder::for_url("http://example.org/")
            .expect("the address is valid")
            .reconnect(eventsource_client::ReconnectOptions::reconnect(false).build())
            .build_with_transport(InMemory(Arc::new(input.clone())));
        Self { client: Box::new(client), input: input.clone() }
    }

    /// Connects and decodes.
    pub fn decode(&self) -> u64 {
        drain(self.client.stream(), Tally::new(self.input.stop), |item| match item {
            eventsource_client::SSE::Event(event) => Some(event.data.as_str()),
            _ => None,
        })
    }
}

impl std::fmt::Debug for EventsourceClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventsourceClient").field("input", &self.input).finish_non_exhaustive()
    }
}

/// Responds to every request with the same input.
#[derive(Debug, Clone)]
struct InMemory(Arc<Input>);

impl HttpTransport for InMemory {
    fn request(&self, _: Request<Option<Bytes>>) -> ResponseFuture {
        let body: ByteStream = Box::pin(stream::iter(self.0.chunks().map(Ok)));
        Box::pin(std::future::ready(Ok(Response::new(body))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::seed_rows;

    #[test]
    fn peers_agree_on_the_seed_rows() {
        for row in seed_rows() {
            let expected = Tally::expected(row.events, row.data);
            let found = [
                eventsource_stream(&row.input),
                sse_core(&row.input),
                sse_core_stream(&row.input),
                sse_stream(&row.input),
                sseer(&row.input),
                sse_parse(&row.input),
                EventsourceClient::new(&row.input).decode(),
            ];
            assert_eq!(found, [expected; 7], "{}", row.row);
        }
    }
}
