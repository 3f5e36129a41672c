//! Entry points of tightwire-sse.

use std::hint::black_box;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::pin::pin;

use benches::event_stream::{Input, Stop};
use futures_util::StreamExt as _;
use tightwire_sse::{BytesDecoder, Decoder, EventStreamExt as _, Reader};

use crate::tally::{Chunks as ChunkStream, Tally, drain};

/// [`Decoder::feed`]: borrowed events, passed to a callback.
pub(crate) fn borrowed(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = Decoder::new();
    for chunk in input.slices() {
        let consumed = decoder.feed(chunk, |event| match event {
            Ok(event) => tally.add(event.data()),
            Err(_) => ControlFlow::Break(()),
        });
        if consumed < chunk.len() {
            break;
        }
    }
    tally.value()
}

/// [`Decoder::next_owned`]: owned events, one at a time.
pub(crate) fn owned(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = Decoder::new();
    for mut chunk in input.slices() {
        while let Ok(Some(event)) = decoder.next_owned(&mut chunk) {
            if tally.add(black_box(event).data()).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}

/// A reader that returns at most one chunk per call.
struct Chunks<'a> {
    rest: &'a [u8],
    chunk: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.chunk);
        self.rest.read(&mut buffer[..len])
    }
}

/// [`Reader`]: owned events from a blocking reader.
pub(crate) fn reader(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    for event in Reader::new(Chunks { rest: &input.bytes, chunk: input.chunk }) {
        if event.map_or(ControlFlow::Break(()), |event| tally.add(black_box(event).data())).is_break() {
            break;
        }
    }
    tally.value()
}

/// [`tightwire_sse::EventStream`]: owned events from a stream of chunks.
pub(crate) async fn stream(chunks: impl ChunkStream, stop: Stop) -> u64 {
    drain(chunks.sse(), stop, |event| Some(event.data())).await
}

/// [`BytesDecoder`] with a stream of chunks: events that are slices of the chunks.
pub(crate) async fn stream_shared(chunks: impl ChunkStream, stop: Stop) -> u64 {
    let mut tally = Tally::new(stop);
    let mut decoder = BytesDecoder::new();
    let mut chunks = pin!(chunks);
    while let Some(Ok(chunk)) = chunks.next().await {
        decoder.push(chunk);
        while let Ok(Some(event)) = decoder.next() {
            if tally.add(black_box(event).data()).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}
