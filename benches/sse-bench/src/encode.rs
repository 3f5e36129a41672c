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

/// Data of the events to encode.
#[derive(Debug)]
pub struct Texts(Vec<String>);

impl Texts {
    /// Returns 100 events with one line of 200 bytes.
    pub fn lines() -> Self {
        Self((0..100).map(|i| format!("{i:0200}")).collect())
    }

    /// Returns one event with 500 lines of 80 bytes.
    pub fn block() -> Self {
        let lines: Vec<String> = (0..500).map(|i| format!("{i:080}")).collect();
        Self(vec![lines.join("\n")])
    }

    /// Returns the encoded length: `data: ` before every line and an empty line after every event.
    pub fn encoded_len(&self) -> u64 {
        self.0
            .iter()
            .map(|text| (text.lines().map(|line| 6 + line.len() + 1).sum::<usize>() + 1) as u64)
            .sum()
    }

    /// Returns the total length of the data.
    pub fn payload(&self) -> u64 {
        self.0.iter().map(|text| text.len() as u64).sum()
    }

    /// Returns the number of events.
    pub fn events(&self) -> u64 {
        self.0.len() as u64
    }

    /// Encodes with tightwire-sse, which appends to one buffer.
    pub fn ours(&self) -> u64 {
        let mut out = Vec::new();
        for text in &self.0 {
            encode(text, &mut out);
        }
        black_box(&out).len() as u64
    }

    /// Encodes with tightwire-sse to a new buffer per event.
    pub fn ours_buffers(&self) -> u64 {
        let mut len = 0;
        for text in &self.0 {
            let mut out = Vec::new();
            encode(text, &mut out);
            len += black_box(&out).len() as u64;
        }
        len
    }

    /// Encodes with sse-stream, which takes owned fields and returns one buffer per event.
    pub fn sse_stream(&self) -> u64 {
        let encode = |text: &String| sse_stream::Sse::default().data(text.as_str()).encode();
        self.0
            .iter()
            .map(|text| black_box(encode(text).expect("data can always be encoded")).len() as u64)
            .sum()
    }

    /// Encodes with the response body of tightwire-sse.
    pub fn ours_body(&self) -> u64 {
        let blocks = self.0.iter().map(|text| SseEvent::new().data(text.as_str()).into_owned());
        frames(SseBody::new(ready(blocks)).without_keep_alive().into_response().into_body())
    }

    /// Encodes with the response body of axum.
    pub fn axum(&self) -> u64 {
        let events = self.0.iter().map(|text| axum::response::sse::Event::default().data(text.as_str()));
        frames(axum::response::Sse::new(ready(events)).into_response().into_body())
    }
}

/// Returns a stream that owns its events, as responses require.
fn ready<T>(events: impl Iterator<Item = T>) -> stream::Iter<vec::IntoIter<Result<T, Infallible>>> {
    stream::iter(events.map(Ok).collect::<Vec<_>>())
}

fn encode(text: &str, out: &mut Vec<u8>) {
    SseEvent::new().data(text).encode(out).expect("data can always be encoded");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoders_agree_on_the_length() {
        for texts in [Texts::lines(), Texts::block()] {
            let expected = texts.encoded_len();
            let ours = [texts.ours(), texts.ours_buffers(), texts.ours_body()];
            assert_eq!((ours, texts.sse_stream(), texts.axum()), ([expected; 3], expected, expected));
        }
    }
}
