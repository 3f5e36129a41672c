//! Entry points of tightwire-sse.

use std::hint::black_box;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use benches::event_stream::Input;
use futures_util::Stream as _;
use tightwire_sse::{BytesDecoder, Decoder, EventStreamExt as _, Reader};

use crate::peers::{drain, ready_stream};
use crate::tally::Tally;

/// [`Decoder::feed`]: borrowed events, passed to a callback.
pub fn borrowed(input: &Input) -> u64 {
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
pub fn owned(input: &Input) -> u64 {
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
pub fn reader(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    for event in Reader::new(Chunks { rest: &input.bytes, chunk: input.chunk }) {
        if event.map_or(ControlFlow::Break(()), |event| tally.add(black_box(event).data())).is_break() {
            break;
        }
    }
    tally.value()
}

/// [`tightwire_sse::EventStream`]: owned events from a stream of chunks.
pub fn stream(input: &Input) -> u64 {
    drain(ready_stream(input).sse(), Tally::new(input.stop), |event| Some(event.data()))
}

/// [`BytesDecoder`] with a stream of chunks: events that are slices of the chunks.
pub fn stream_shared(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = BytesDecoder::new();
    let mut chunks = pin!(ready_stream(input));
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(Ok(chunk))) = chunks.as_mut().poll_next(&mut context) {
        decoder.push(chunk);
        while let Ok(Some(event)) = decoder.next() {
            if tally.add(black_box(event).data()).is_break() {
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
    fn all_entry_points_agree_on_the_seed_rows() {
        for row in seed_rows() {
            for chunk in [row.input.bytes.len(), 7] {
                let input = row.input.in_chunks(chunk);
                let expected = Tally::expected(row.events, row.data);
                let found =
                    [borrowed(&input), owned(&input), reader(&input), stream(&input), stream_shared(&input)];
                assert_eq!(found, [expected; 5], "{} in chunks of {chunk}", row.row);
            }
        }
    }
}
