//! All entry points and adaptors: the decoder cases in every chunking, and equal results for any chunks at any limit.
#![cfg(all(feature = "body", feature = "codec", feature = "compat-eventsource-stream"))]

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use test_support::{in_pieces, limits};
use tightwire_sse::compat::eventsource_stream as compat;
use tightwire_sse::{
    BytesDecoder, Config, Decoder, Ending, Error, Event, EventStream, EventStreamExt as _, Overflow,
    OwnedItem, Reader, SseBody, SseCodec, SseEvent,
};
use tokio_util::codec::{Decoder as _, FramedRead};

use crate::cases;
use crate::cases::{Expected, millis};
use crate::chunked::{Chunked, block_on};

/// Events, and the offset of each oversized block.
type Events = Vec<Result<Expected, Option<u64>>>;

/// Result of an entry point.
#[derive(Debug, PartialEq)]
struct Outcome {
    events: Events,
    last_event_id: String,
    retry: Option<u64>,
}

impl Outcome {
    fn new(events: Events, last_event_id: &str, retry: Option<Duration>) -> Self {
        Self { events, last_event_id: last_event_id.to_owned(), retry: retry.map(millis) }
    }
}

fn checked<T: Into<Expected>>(result: Result<T, Error>) -> Result<Expected, Option<u64>> {
    result.map(Into::into).map_err(|error| {
        assert!(error.is_limit(), "{error:?}");
        error.offset()
    })
}

fn owned(result: Result<Event, Error>) -> Result<Expected, Option<u64>> {
    checked(result.map(|event| Expected::from(event.as_ref())))
}

/// Runs a method of the decoder on each chunk.
fn decode(
    mut decoder: Decoder,
    chunks: &[&[u8]],
    ending: Ending,
    mut method: impl FnMut(&mut Decoder, &[u8], &mut Events),
) -> Outcome {
    let mut events = Vec::new();
    for chunk in chunks {
        method(&mut decoder, chunk, &mut events);
    }
    match ending {
        Ending::Lenient => events.extend(decoder.finish_lenient().transpose().map(checked)),
        _ => decoder.finish(),
    }
    Outcome::new(events, decoder.last_event_id(), decoder.reconnection_time())
}

fn next(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    decode(decoder, chunks, ending, |decoder, mut chunk, events| {
        while let Some(event) = decoder.next(&mut chunk).transpose() {
            events.push(checked(event));
        }
        assert!(chunk.is_empty());
    })
}

fn next_owned(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    decode(decoder, chunks, ending, |decoder, mut chunk, events| {
        while let Some(event) = decoder.next_owned(&mut chunk).transpose() {
            events.push(owned(event));
        }
    })
}

fn feed(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    decode(decoder, chunks, ending, |decoder, chunk, events| {
        let consumed = decoder.feed(chunk, |event| {
            events.push(checked(event));
            ControlFlow::Continue(())
        });
        assert_eq!(consumed, chunk.len());
    })
}

fn feed_that_breaks_after_every_event(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    decode(decoder, chunks, ending, |decoder, mut chunk, events| {
        while !chunk.is_empty() {
            let consumed = decoder.feed(chunk, |event| {
                events.push(checked(event));
                ControlFlow::Break(())
            });
            chunk = &chunk[consumed..];
        }
    })
}

fn reader_owned(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut reader = Reader::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
    let events = reader.by_ref().map(owned).collect();
    Outcome::new(events, reader.last_event_id(), reader.reconnection_time())
}

fn reader_next_ref(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut reader = Reader::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
    let mut events = Vec::new();
    while let Some(event) = reader.next_ref().transpose() {
        events.push(checked(event));
    }
    Outcome::new(events, reader.last_event_id(), reader.reconnection_time())
}

fn event_stream(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut stream = EventStream::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
    let events = block_on(stream.by_ref().map(owned).collect());
    Outcome::new(events, stream.last_event_id(), stream.reconnection_time())
}

fn event_bytes_stream(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let chunks = Chunked::new(chunks).map(|chunk| chunk.map(Bytes::copy_from_slice));
    let mut stream = chunks.sse_bytes().with_decoder(decoder).with_ending(ending);
    let events = block_on(stream.by_ref().map(|event| owned(event.map(|event| event.to_event()))).collect());
    Outcome::new(events, stream.last_event_id(), stream.reconnection_time())
}

fn bytes_decoder(decoder: Decoder, chunks: &[&[u8]], ending: Ending, queued: bool) -> Outcome {
    let mut decoder = BytesDecoder::with_decoder(decoder);
    let mut events = Vec::new();
    for (index, chunk) in chunks.iter().enumerate() {
        decoder.push(Bytes::copy_from_slice(chunk));
        if queued && index + 1 < chunks.len() {
            continue;
        }
        while let Some(event) = decoder.next().transpose() {
            events.push(owned(event.map(|event| event.to_event())));
        }
    }
    match ending {
        Ending::Lenient => {
            let last = decoder.finish_lenient().transpose();
            events.extend(last.map(|event| owned(event.map(|event| event.to_event()))));
        }
        _ => decoder.finish(),
    }
    Outcome::new(events, decoder.last_event_id(), decoder.reconnection_time())
}

fn codec_in_a_growing_buffer(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut codec = SseCodec::new().with_decoder(decoder).with_ending(ending);
    let mut buffer = BytesMut::new();
    let mut events = Vec::new();
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(event) = codec.decode(&mut buffer).transpose() {
            events.push(owned(event));
        }
        assert!(buffer.is_empty(), "nothing is left to be scanned again");
    }
    while let Some(event) = codec.decode_eof(&mut buffer).transpose() {
        events.push(owned(event));
    }
    Outcome::new(events, codec.decoder().last_event_id(), codec.decoder().reconnection_time())
}

fn codec_in_framed_read(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let codec = SseCodec::new().with_decoder(decoder).with_ending(ending);
    let mut framed = FramedRead::new(Chunked::new(chunks), codec);
    let events = block_on(framed.by_ref().map(owned).collect());
    let decoder = framed.decoder().decoder();
    Outcome::new(events, decoder.last_event_id(), decoder.reconnection_time())
}

fn compat_eventsource_stream(decoder: Decoder, chunks: &[&[u8]], _: Ending) -> Outcome {
    let mut events = compat::EventStream::with_decoder(Chunked::new(chunks), decoder.clone());
    let found = block_on(
        events
            .by_ref()
            .map(|event| match event {
                Ok(compat::Event { event: event_type, data, id, retry }) => {
                    Ok(Expected { event_type, data, id, retry: retry.map(millis) })
                }
                Err(compat::EventStreamError::Parser(error)) => checked::<Expected>(Err(error)),
                Err(error) => panic!("{error:?}"),
            })
            .collect(),
    );
    // There is no accessor for the reconnection time.
    let retry = feed(decoder, chunks, Ending::Strict).retry;
    Outcome { retry, ..Outcome::new(found, events.last_event_id(), None) }
}

type EntryPoint = fn(Decoder, &[&[u8]], Ending) -> Outcome;

const ENTRY_POINTS: [(&str, EntryPoint); 13] = [
    ("feed", feed),
    ("feed that breaks", feed_that_breaks_after_every_event),
    ("next", next),
    ("next_owned", next_owned),
    ("reader", reader_owned),
    ("reader next_ref", reader_next_ref),
    ("stream", event_stream),
    ("bytes stream", event_bytes_stream),
    ("bytes", |decoder, chunks, ending| bytes_decoder(decoder, chunks, ending, false)),
    ("bytes queued", |decoder, chunks, ending| bytes_decoder(decoder, chunks, ending, true)),
    ("codec", codec_in_a_growing_buffer),
    (FRAMED, codec_in_framed_read),
    (COMPAT, compat_eventsource_stream),
];

/// Ends after the first error.
const FRAMED: &str = "framed";
/// Has no lenient ending.
const COMPAT: &str = "compat";

fn check(case: &cases::Case, name: &str, run: EntryPoint) {
    for chunks in case.chunkings() {
        let context = || format!("{name} {} in {} chunks", case.id, chunks.len());
        let strict = run(case.decoder(), &chunks, Ending::Strict);
        let events = |events: &[Expected]| events.iter().cloned().map(Ok).collect::<Events>();
        assert_eq!(strict.events, events(&case.events), "{}", context());
        assert_eq!(strict.last_event_id, case.last_event_id, "{}", context());
        assert_eq!(strict.retry, case.retry_updates.last().copied(), "{}", context());
        if let Some(expected) = &case.lenient
            && name != COMPAT
        {
            let lenient = run(case.decoder(), &chunks, Ending::Lenient);
            assert_eq!(lenient.events, events(expected), "{}, lenient", context());
        }
    }
}

#[test]
fn cases_through_every_entry_point() {
    let cases = cases::load();
    assert!(cases.len() >= 183, "only {} cases", cases.len());
    assert!(cases.iter().filter(|case| case.lenient.is_some()).count() >= 10);
    std::thread::scope(|scope| {
        for (name, run) in ENTRY_POINTS {
            let cases = &cases;
            scope.spawn(move || cases.iter().for_each(|case| check(case, name, run)));
        }
    });
}

/// Items of the decoder and of the stream, in stream order.
#[test]
fn cases_through_items() {
    for case in &cases::load() {
        for chunks in case.chunkings() {
            let mut decoder = case.decoder();
            let stream = Chunked::new(&chunks).sse_items().with_decoder(case.decoder());
            let mut stream = stream.with_ending(Ending::Strict);
            let streamed: Vec<OwnedItem> = block_on(stream.by_ref().map(Result::unwrap).collect());
            let mut items: Vec<OwnedItem> = Vec::new();
            for mut chunk in chunks {
                while let Some(item) = decoder.next_item(&mut chunk).unwrap() {
                    items.push(item.into());
                }
            }
            assert_eq!(streamed, items, "{}", case.id);
            assert_eq!(stream.last_event_id(), case.last_event_id, "{}", case.id);
            let (mut events, mut comments, mut retries) = (Vec::new(), Vec::new(), Vec::new());
            for item in items {
                match item {
                    OwnedItem::Event(event) => events.push(Expected::from(event.as_ref())),
                    OwnedItem::Comment(text) => comments.push(text),
                    OwnedItem::Retry(time) => retries.push(millis(time)),
                    item => panic!("{}: {item:?}", case.id),
                }
            }
            assert_eq!((events, retries), (case.events.clone(), case.retry_updates.clone()), "{}", case.id);
            if let Some(expected) = &case.comments {
                assert_eq!(&comments, expected, "{}", case.id);
            }
        }
    }
}

#[test]
fn events_of_every_case_round_trip_through_a_body() {
    for case in &cases::load() {
        let blocks = case.events.iter().map(|event| {
            let block = SseEvent::new().event(&event.event_type).id(&event.id).data(&event.data);
            Ok::<_, Infallible>(match event.retry {
                Some(retry) => block.retry(Duration::from_millis(retry)).into_owned(),
                None => block.into_owned(),
            })
        });
        let body = SseBody::new(stream::iter(blocks.collect::<Vec<_>>())).without_keep_alive();
        let bytes = block_on(body.collect()).unwrap().to_bytes();
        let events: Vec<_> =
            Reader::new(&bytes[..]).map(|event| Expected::from(event.unwrap().as_ref())).collect();
        assert_eq!(events, case.events, "{}", case.id);
    }
}

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
                let decode = |run: EntryPoint| {
                    in_pieces(&input, |chunks| {
                        run(Decoder::with_config(config), chunks, Ending::Strict).events
                    })
                };
                let expected = decode(feed);
                let until_error =
                    expected.iter().position(Result::is_err).map_or(expected.len(), |at| at + 1);
                // The other entry points buffer like one of these.
                let names = ["feed", "next_owned", "reader", "stream", "bytes", FRAMED];
                for (name, run) in ENTRY_POINTS.into_iter().filter(|(name, _)| names.contains(name)) {
                    let expected = if name == FRAMED { &expected[..until_error] } else { &expected };
                    assert_eq!(decode(run), expected, "{name}, limit {limit}, {overflow:?}");
                }
            }
        }
    }
}

#[test]
fn a_line_that_exceeds_the_limit_at_the_end_of_a_chunk_is_an_error() {
    let input = format!("event: {}\ndata: {}", "a".repeat(56), "x".repeat(30));
    let decoder = Decoder::with_config(Config::new().max_event_size(70));
    assert_eq!(feed(decoder, &[input.as_bytes()], Ending::Strict).events, [Err(Some(64))]);
}

/// Streams with all syntactic elements, some of them not UTF-8.
fn input() -> impl Strategy<Value = Vec<u8>> {
    const TEXTS: &[&str] = &[
        "data",
        "data: ",
        "event: ",
        "id:",
        "retry: 12",
        ":",
        " ",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        "\u{feff}",
        "\0",
        "\u{20ac}",
        "x",
        "[DONE]",
    ];
    const BYTES: &[&[u8]] = &[b"\xef", b"\xe2\x82", b"\xff"];
    let piece = prop_oneof![
        5 => prop::sample::select(TEXTS).prop_map(str::as_bytes),
        1 => prop::sample::select(BYTES),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_entry_point_agrees_in_any_chunking(
        input in input(),
        sizes in prop::collection::vec(0u8..12, 0..40),
    ) {
        let chunks = crate::reference_decoder::split(&input, &sizes);
        for ending in [Ending::Strict, Ending::Lenient] {
            let expected = feed(Decoder::new(), &[&input], ending);
            for (name, run) in ENTRY_POINTS {
                if ending == Ending::Strict {
                    prop_assert_eq!(&run(Decoder::new(), &chunks, ending), &expected, "{}", name);
                } else if name != COMPAT {
                    prop_assert_eq!(&run(Decoder::new(), &chunks, ending).events, &expected.events, "{}", name);
                }
            }
        }
    }
}
