//! Every entry point gives the same in pieces of any size and at every limit, and never panics.
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

/// Events, and the offset of each block that was too large.
type Items = Vec<Result<Event, Option<u64>>>;

fn item(result: Result<Event, Error>) -> Result<Event, Option<u64>> {
    result.map_err(|error| {
        assert!(error.is_limit(), "{error:?}");
        error.offset()
    })
}

fn feed(decoder: Decoder, pieces: &[&[u8]]) -> Items {
    let (mut decoder, mut items) = (decoder, Items::new());
    for piece in pieces {
        let consumed = decoder.feed(piece, |event| {
            items.push(item(event.map(|event| event.to_owned())));
            ControlFlow::Continue(())
        });
        assert_eq!(consumed, piece.len());
    }
    items
}

fn next(decoder: Decoder, pieces: &[&[u8]]) -> Items {
    let (mut decoder, mut items) = (decoder, Items::new());
    for mut piece in pieces.iter().copied() {
        while let Some(event) = decoder.next_owned(&mut piece).transpose() {
            items.push(item(event));
        }
    }
    items
}

fn bytes(decoder: Decoder, pieces: &[&[u8]]) -> Items {
    let (mut decoder, mut items) = (BytesDecoder::with_decoder(decoder), Items::new());
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        while let Some(event) = decoder.next().transpose() {
            items.push(item(event.map(|event| event.to_event())));
        }
    }
    items
}

fn reader(decoder: Decoder, pieces: &[&[u8]]) -> Items {
    Reader::new(Chunked::new(pieces)).with_decoder(decoder).map(item).collect()
}

fn event_stream(decoder: Decoder, pieces: &[&[u8]]) -> Items {
    block_on(Chunked::new(pieces).sse().with_decoder(decoder).map(item).collect())
}

fn codec(decoder: Decoder, pieces: &[&[u8]]) -> Items {
    let events = FramedRead::new(Chunked::new(pieces), SseCodec::new().with_decoder(decoder));
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

/// Lines around the size of a block of the scan, and long lines that fill many of them.
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
fn pieces_and_limits_change_nothing() {
    for input in inputs() {
        for limit in [input.len(), 70].into_iter().flat_map(limits) {
            for overflow in [Overflow::Resync, Overflow::Terminate] {
                let config = Config::new().max_event_size(limit).overflow(overflow);
                let decode = |run: EntryPoint, pieces: &[&[u8]]| run(Decoder::with_config(config), pieces);
                let expected = in_pieces(&input, |pieces| decode(feed, pieces));
                // `FramedRead` ends after the first error.
                let until_error =
                    expected.iter().position(Result::is_err).map_or(expected.len(), |at| at + 1);
                for (name, run) in ENTRY_POINTS {
                    let found = in_pieces(&input, |pieces| decode(run, pieces));
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
