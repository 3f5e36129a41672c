//! Entry points of tightwire-sse.

use std::hint::black_box;
use std::io::BufRead;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use benches::event_stream::Input;
use futures_util::Stream as _;
use tightwire_sse::compat::eventsource_stream as compat;
use tightwire_sse::{BytesDecoder, Decoder, Event, EventRef, EventStreamExt as _, Reader};

use crate::peers::{drain, ready_stream};
use crate::tally::Tally;

/// [`Decoder::feed`]: borrowed events, passed to a callback.
pub fn push_borrowed(input: &Input) -> u64 {
    push(input, |tally, event| tally.add(event.data()))
}

/// [`Decoder::feed`]: owned events, copied in the callback.
pub fn push_owned(input: &Input) -> u64 {
    push(input, |tally, event| tally.add(black_box(Event::from(event)).data()))
}

#[inline]
fn push(input: &Input, add: impl Fn(&mut Tally, EventRef<'_>) -> ControlFlow<()>) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = Decoder::new();
    for chunk in input.slices() {
        let consumed = decoder.feed(chunk, |event| match event {
            Ok(event) => add(&mut tally, event),
            Err(_) => ControlFlow::Break(()),
        });
        if consumed < chunk.len() {
            break;
        }
    }
    tally.value()
}

/// [`Decoder::next`]: borrowed events, one at a time.
pub fn pull_borrowed(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = Decoder::new();
    for mut chunk in input.slices() {
        while let Ok(Some(event)) = decoder.next(&mut chunk) {
            if tally.add(event.data()).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}

/// [`Decoder::next_owned`]: owned events, one at a time.
pub fn pull_owned(input: &Input) -> u64 {
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

/// [`BytesDecoder`]: events that are slices of the reference-counted chunks.
pub fn push_shared(input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    let mut decoder = BytesDecoder::new();
    for chunk in input.chunks() {
        decoder.push(chunk);
        while let Ok(Some(event)) = decoder.next() {
            if tally.add(black_box(event).data()).is_break() {
                return tally.value();
            }
        }
    }
    tally.value()
}

/// [`Reader`]: owned events from a blocking reader, through an additional buffer.
pub fn reader_owned(input: &Input) -> u64 {
    read(Reader::new(&input.bytes[..]), input)
}

/// [`Reader::from_buffered`]: owned events from the buffer of the reader.
pub fn reader_in_place(input: &Input) -> u64 {
    read(Reader::from_buffered(&input.bytes[..]), input)
}

fn read<R: BufRead>(reader: Reader<R>, input: &Input) -> u64 {
    let mut tally = Tally::new(input.stop);
    for event in reader {
        if event.map_or(ControlFlow::Break(()), |event| tally.add(black_box(event).data())).is_break() {
            break;
        }
    }
    tally.value()
}

/// [`tightwire_sse::EventStream`]: owned events from a stream of chunks.
pub fn stream_owned(input: &Input) -> u64 {
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

/// [`compat::EventStream`]: events with the types of eventsource-stream.
pub fn stream_compat(input: &Input) -> u64 {
    drain(compat::EventStream::new(ready_stream(input)), Tally::new(input.stop), |event| Some(&event.data))
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
                let found = [
                    push_borrowed(&input),
                    pull_borrowed(&input),
                    push_owned(&input),
                    pull_owned(&input),
                    push_shared(&input),
                    reader_owned(&input),
                    reader_in_place(&input),
                    stream_owned(&input),
                    stream_shared(&input),
                    stream_compat(&input),
                ];
                assert_eq!(found, [expected; 10], "{} in chunks of {chunk}", row.row);
            }
        }
    }
}
