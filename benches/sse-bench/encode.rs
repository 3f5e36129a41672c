//! Encoding rows. The check value is the number of encoded bytes.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::vec;

use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures_util::stream;
use http_body::Body;
use tightwire_sse::{SseBody, SseEvent};

/// Returns the data of 100 events with one line of 200 bytes.
pub(crate) fn lines() -> Vec<String> {
    (0..100).map(|i| format!("{i:0200}")).collect()
}

/// Returns the data of one event with 500 lines of 80 bytes.
pub(crate) fn block() -> Vec<String> {
    let lines: Vec<String> = (0..500).map(|i| format!("{i:080}")).collect();
    vec![lines.join("\n")]
}

/// Returns the encoded length: `data: ` before every line and an empty line after every event.
pub(crate) fn encoded_len(texts: &[String]) -> u64 {
    let lines = texts.iter().flat_map(|text| text.lines());
    (lines.map(|line| 6 + line.len() + 1).sum::<usize>() + texts.len()) as u64
}

fn encode(text: &str, out: &mut Vec<u8>) {
    SseEvent::new().data(text).encode(out).expect("data can always be encoded");
}

/// Encodes with tightwire-sse, which appends to one buffer.
pub(crate) fn ours(texts: &[String]) -> u64 {
    let mut out = Vec::new();
    texts.iter().for_each(|text| encode(text, &mut out));
    black_box(&out).len() as u64
}

/// Encodes with tightwire-sse to a new buffer per event.
pub(crate) fn ours_buffers(texts: &[String]) -> u64 {
    let encoded = texts.iter().map(|text| {
        let mut out = Vec::new();
        encode(text, &mut out);
        black_box(&out).len() as u64
    });
    encoded.sum()
}

/// Encodes with sse-stream, which takes owned fields and returns one buffer per event.
pub(crate) fn sse_stream(texts: &[String]) -> u64 {
    let encode = |text: &String| sse_stream::Sse::default().data(text.as_str()).encode();
    let encoded = texts.iter().map(|text| encode(text).expect("data can always be encoded"));
    encoded.map(|out| black_box(out).len() as u64).sum()
}

/// Encodes with the response body of tightwire-sse.
pub(crate) fn ours_body(texts: &[String]) -> u64 {
    let blocks = texts.iter().map(|text| SseEvent::new().data(text.as_str()).into_owned());
    frames(SseBody::new(ready(blocks)).without_keep_alive().into_response().into_body())
}

/// Encodes with the response body of axum.
pub(crate) fn axum(texts: &[String]) -> u64 {
    let events = texts.iter().map(|text| axum::response::sse::Event::default().data(text.as_str()));
    frames(axum::response::Sse::new(ready(events)).into_response().into_body())
}

/// Returns a stream that owns its events, as responses require.
fn ready<T>(events: impl Iterator<Item = T>) -> stream::Iter<vec::IntoIter<Result<T, Infallible>>> {
    stream::iter(events.map(Ok).collect::<Vec<_>>())
}

/// Returns the total length of the data frames of a body.
fn frames(body: impl Body<Data = Bytes>) -> u64 {
    let mut body = pin!(body);
    let mut context = Context::from_waker(Waker::noop());
    let mut len = 0;
    while let Poll::Ready(Some(Ok(frame))) = body.as_mut().poll_frame(&mut context) {
        len += frame.into_data().map_or(0, |data| black_box(data).len() as u64);
    }
    len
}
