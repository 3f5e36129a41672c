//! Other decoders, each called in the cheapest way of its public API.

use std::future::ready;
use std::hint::black_box;

use benches::event_stream::{Input, Stop};
use bytes::Bytes;
use eventsource_client::{Client as _, ClientBuilder, ReconnectOptions, SSE};
use eventsource_stream::Eventsource as _;
use futures_util::stream;
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, ResponseFuture};

use crate::tally::{Chunks, Tally, drain};

/// eventsource-stream, the most common adaptor.
pub(crate) async fn eventsource_stream(chunks: impl Chunks, stop: Stop) -> u64 {
    drain(chunks.eventsource(), stop, |event| Some(&event.data)).await
}

/// Decoder of sse-core without I/O.
pub(crate) fn sse_core(input: &Input) -> u64 {
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
pub(crate) async fn sse_core_stream(chunks: impl Chunks, stop: Stop) -> u64 {
    drain(sse_core::SseStream::new(chunks), stop, |event| match event {
        sse_core::SseEvent::Message(message) => Some(message.data.as_str()),
        sse_core::SseEvent::Retry(_) => None,
    })
    .await
}

/// sse-stream. It also returns blocks without data, which are not counted.
pub(crate) async fn sse_stream(chunks: impl Chunks, stop: Stop) -> u64 {
    drain(sse_stream::SseByteStream::new(chunks), stop, |block| block.data.as_deref()).await
}

/// sseer, whose events are reference-counted slices of the chunks.
pub(crate) async fn sseer(chunks: impl Chunks, stop: Stop) -> u64 {
    drain(sseer::EventStream::new(chunks), stop, |event| Some(&event.data)).await
}

/// eventsource-client with a transport that has the response already. The operation includes the request, because the
/// crate has no decoder apart from its client.
pub(crate) async fn eventsource_client(input: &Input) -> u64 {
    let once = ReconnectOptions::reconnect(false).build();
    let client = ClientBuilder::for_url("http://localhost/").expect("the URL is valid");
    let client = client.reconnect(once).build_with_transport(Responses(input.clone()));
    drain(client.stream(), input.stop, |event| match event {
        SSE::Event(event) => Some(event.data.as_str()),
        SSE::Comment(_) | SSE::Connected(_) => None,
    })
    .await
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
pub(crate) fn sse_parse(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut parser = sse_parse::SseParser::new();
    for chunk in input.slices() {
        parser.feed(chunk);
        while let Some(event) = parser.next_event() {
            if tally.add(&black_box(event).data).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}
