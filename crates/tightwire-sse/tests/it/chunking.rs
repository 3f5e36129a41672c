//! All entry points return the same for any chunks at any limit, and do not panic.
#![cfg(all(feature = "body", feature = "codec"))]

use std::ops::ControlFlow;

use bytes::Bytes;
use futures_util::StreamExt as _;
use test_support::{in_pieces, limits};
use tightwire_sse::{
    BytesDecoder, Config, Decoder, Error, Event, EventStreamExt as _, Overflow, Reader, SseCodec,
};
use tokio_util::codec::FramedRead;

use crate::chunked::{Chunked, block_on};

/// Events, and the offset of each oversized block.
type Items = Vec<Result<Event, Option<u64>>>;

fn item(result: Result<Event, Error>) -> Result<Event, Option<u64>> {
    result.map_err(|error| {
        assert!(error.is_limit(), "{error:?}");
        error.offset()
    })
}

fn feed(decoder: Decoder, chunks: &[&[u8]]) -> Items {
    let (mut decoder, mut items) = (decoder, Items::new());
    for chunk in chunks {
        let consumed = decoder.feed(chunk, |event| {
            items.push(item(event.map(|event| event.to_owned())));
            ControlFlow::Continue(())
        });
        assert_eq!(consumed, chunk.len());
    }
    items
}

fn next(decoder: Decoder, chunks: &[&[u8]]) -> Items {
    let (mut decoder, mut items) = (decoder, Items::new());
    for mut chunk in chunks.iter().copied() {
        while let Some(event) = decoder.next_owned(&mut chunk).transpose() {
            items.push(item(event));
        }
    }
    items
}

fn bytes(decoder: Decoder, chunks: &[&[u8]]) -> Items {
    let (mut decoder, mut items) = (BytesDecoder::with_decoder(decoder), Items::new());
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(event) = decoder.next().transpose() {
            items.push(item(event.map(|event| event.to_event())));
        }
    }
    items
}

fn reader(decoder: Decoder, chunks: &[&[u8]]) -> Items {
    Reader::new(Chunked::new(chunks)).with_decoder(decoder).map(item).collect()
}

fn event_stream(decoder: Decoder, chunks: &[&[u8]]) -> Items {
    block_on(Chunked::new(chunks).sse().with_decoder(decoder).map(item).collect())
}

fn codec(decoder: Decoder, chunks: &[&[u8]]) -> Items {
    let events = FramedRead::new(Chunked::new(chunks), SseCodec::new().with_decoder(decoder));
    block_on(events.map(item).collect())
}

type EntryPoint = fn(Decoder, &[&[u8]]) -> Items;

const ENTRY_POINTS: [(&str, EntryPoint); 6] = [
    ("feed", feed),
    ("next", next),
    ("bytes", bytes),
    ("reader", reader),
    ("stream", event_stream),
    ("codec", codec),
];

/// Returns inputs with lines around the block size of the scan, and with long lines.
fn inputs() -> Vec<Vec<u8>> {
    let line = |name: &str, length: usize| format!("{name}: {}\n", "a".repeat(length));
    let mut inputs = Vec::new();
    for length in [0, 1, 30, 56, 57, 58, 63, 64, 65, 127, 128, 129, 200, 3000] {
        let terminated = line("event", length) + &line("data", 30) + "\n" + &line("data", length) + "\n";
        let unterminated = line("event", length) + line("data", 30).trim_end();
        let comment =
            format!(":{}\r\ndata: é{}\r\n\r\nid: 1\rdata: x\r\r", "c".repeat(length), "é".repeat(length));
        inputs.extend([terminated, unterminated, comment].map(String::into_bytes));
    }
    inputs.push(line("data", 70_000).into_bytes());
    inputs
}

#[test]
fn results_do_not_depend_on_the_chunks_at_any_limit() {
    for input in inputs() {
        for limit in [input.len(), 70].into_iter().flat_map(limits) {
            for overflow in [Overflow::Resync, Overflow::Terminate] {
                let config = Config::new().max_event_size(limit).overflow(overflow);
                let decode = |run: EntryPoint, chunks: &[&[u8]]| run(Decoder::with_config(config), chunks);
                let expected = in_pieces(&input, |chunks| decode(feed, chunks));
                // `FramedRead` ends after the first error.
                let until_error =
                    expected.iter().position(Result::is_err).map_or(expected.len(), |at| at + 1);
                for (name, run) in ENTRY_POINTS {
                    let found = in_pieces(&input, |chunks| decode(run, chunks));
                    let expected = if name == "codec" { &expected[..until_error] } else { &expected };
                    assert_eq!(found, expected, "{name}, limit {limit}, {overflow:?}");
                }
            }
        }
    }
}

#[test]
fn a_line_that_exceeds_the_limit_at_the_end_of_a_chunk_is_an_error() {
    let input = format!("event: {}\ndata: {}", "a".repeat(56), "x".repeat(30));
    let items = feed(Decoder::with_config(Config::new().max_event_size(70)), &[input.as_bytes()]);
    assert_eq!(items, [Err(Some(64))]);
}
