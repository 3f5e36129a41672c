//! Other decoders, each called in the cheapest way of its public API.
//!
//! Adaptors for futures are polled directly with a stream that is always ready, so that no executor is measured. For a
//! decoder that rejects its input, only the events before the error count, which fails the check.

use std::convert::Infallible;
use std::future::ready;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use benches::event_stream::Input;
use bytes::Bytes;
use eventsource_client::{Client as _, ClientBuilder, ReconnectOptions, SSE};
use eventsource_stream::Eventsource as _;
use futures_util::Stream;
use futures_util::stream;
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, ResponseFuture};

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

/// eventsource-client with a transport that has the response already. The operation includes the request, because the
/// crate has no decoder apart from its client.
pub fn eventsource_client(input: &Input) -> u64 {
    let once = ReconnectOptions::reconnect(false).build();
    let client = ClientBuilder::for_url("http://localhost/").expect("the URL is valid");
    let client = client.reconnect(once).build_with_transport(Responses(input.clone()));
    drain(client.stream(), Tally::new(input.stop), |event| match event {
        SSE::Event(event) => Some(event.data.as_str()),
        SSE::Comment(_) | SSE::Connected(_) => None,
    })
}

/// A transport that answers every request with the input.
#[derive(Clone)]
struct Responses(Input);

impl HttpTransport for Responses {
    fn request(&self, _: http::Request<Option<Bytes>>) -> ResponseFuture {
        let chunks: ByteStream = Box::pin(stream::iter(self.0.chunks().map(Ok)));
        Box::pin(ready(Ok(http::Response::new(chunks))))
    }
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
                eventsource_client(&row.input),
            ];
            assert_eq!(found, [expected; 7], "{}", row.row);
        }
    }
}
