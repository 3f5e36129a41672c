//! All decoder cases with every adaptor, in every chunking.
#![cfg(all(
    feature = "std",
    feature = "bytes",
    feature = "futures",
    feature = "codec",
    feature = "compat-eventsource-stream"
))]

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use proptest::prelude::*;
use tightwire_sse::compat::eventsource_stream as compat;
use tightwire_sse::{
    BytesDecoder, Decoder, Ending, EventStream, EventStreamExt as _, OwnedItem, Reader, SseCodec,
};
use tokio_util::codec::{Decoder as _, FramedRead};

use crate::cases;
use crate::cases::{Expected, millis};
use crate::chunked::{Chunked, block_on};

/// Result of an adaptor.
#[derive(Debug, PartialEq)]
struct Outcome {
    events: Vec<Expected>,
    last_event_id: String,
    retry: Option<u64>,
}

/// Runs all cases with an adaptor and these endings.
fn check(endings: &[Ending], adaptor: impl Fn(Decoder, &[&[u8]], Ending) -> Outcome) {
    let cases = cases::load();
    assert!(cases.len() >= 183, "only {} cases", cases.len());
    for case in &cases {
        for chunks in case.chunkings() {
            for ending in endings {
                let events = match (ending, &case.lenient) {
                    (Ending::Lenient, Some(events)) => events,
                    // The case has no expectation for a lenient ending.
                    (Ending::Lenient, None) => continue,
                    _ => &case.events,
                };
                let outcome = adaptor(case.decoder(), &chunks, *ending);
                assert_eq!(&outcome.events, events, "{} in {} chunks, {ending:?}", case.id, chunks.len());
                if *ending == Ending::Strict {
                    assert_eq!(outcome.last_event_id, case.last_event_id, "{}", case.id);
                    assert_eq!(outcome.retry, case.retry_updates.last().copied(), "{}", case.id);
                }
            }
        }
    }
}

const BOTH: &[Ending] = &[Ending::Strict, Ending::Lenient];

type Adaptor = fn(Decoder, &[&[u8]], Ending) -> Outcome;

const ADAPTORS: &[(&str, Adaptor)] = &[
    ("reader_owned", reader_owned),
    ("reader_next_ref", reader_next_ref),
    ("event_stream", event_stream),
    ("event_bytes_stream", event_bytes_stream),
    ("bytes_decoder_one_chunk_at_a_time", bytes_decoder_one_chunk_at_a_time),
    ("bytes_decoder_all_chunks_queued", bytes_decoder_all_chunks_queued),
    ("codec_in_a_growing_buffer", codec_in_a_growing_buffer),
    ("codec_in_framed_read", codec_in_framed_read),
    ("compat_eventsource_stream", compat_eventsource_stream),
];

#[test]
fn cases_through_reader_owned() {
    check(BOTH, reader_owned);
}

#[test]
fn cases_through_reader_next_ref() {
    check(BOTH, reader_next_ref);
}

#[test]
fn cases_through_event_stream() {
    check(BOTH, event_stream);
}

#[test]
fn cases_through_event_bytes_stream() {
    check(BOTH, event_bytes_stream);
}

#[test]
fn cases_through_bytes_decoder_one_chunk_at_a_time() {
    check(BOTH, bytes_decoder_one_chunk_at_a_time);
}

#[test]
fn cases_through_bytes_decoder_all_chunks_queued() {
    check(BOTH, bytes_decoder_all_chunks_queued);
}

#[test]
fn cases_through_codec_in_a_growing_buffer() {
    check(BOTH, codec_in_a_growing_buffer);
}

#[test]
fn cases_through_codec_in_framed_read() {
    check(BOTH, codec_in_framed_read);
}

#[test]
fn cases_through_compat_eventsource_stream() {
    check(&[Ending::Strict], compat_eventsource_stream);
}

fn reader_owned(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut reader = Reader::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
    Outcome {
        events: reader.by_ref().map(|event| Expected::from(event.unwrap().as_ref())).collect(),
        last_event_id: reader.last_event_id().to_owned(),
        retry: reader.reconnection_time().map(millis),
    }
}

fn reader_next_ref(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut reader = Reader::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
    let mut events = Vec::new();
    while let Some(event) = reader.next_ref().unwrap() {
        events.push(Expected::from(event));
    }
    Outcome {
        events,
        last_event_id: reader.last_event_id().to_owned(),
        retry: reader.reconnection_time().map(millis),
    }
}

fn event_stream(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut stream = EventStream::new(Chunked::new(chunks)).with_decoder(decoder).with_ending(ending);
    let mut events = Vec::new();
    block_on(async {
        while let Some(event) = stream.next().await {
            events.push(Expected::from(event.unwrap().as_ref()));
        }
    });
    Outcome {
        events,
        last_event_id: stream.last_event_id().to_owned(),
        retry: stream.reconnection_time().map(millis),
    }
}

fn event_bytes_stream(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let chunks = Chunked::new(chunks).map(|chunk| chunk.map(Bytes::copy_from_slice));
    let mut stream = chunks.sse_bytes().with_decoder(decoder).with_ending(ending);
    let mut events = Vec::new();
    block_on(async {
        while let Some(event) = stream.next().await {
            events.push(Expected::from(event.unwrap().to_event().as_ref()));
        }
    });
    Outcome {
        events,
        last_event_id: stream.last_event_id().to_owned(),
        retry: stream.reconnection_time().map(millis),
    }
}

#[test]
fn item_stream() {
    for case in &cases::load() {
        for chunks in case.chunkings() {
            let mut stream = Chunked::new(&chunks).sse_items().with_decoder(case.decoder());
            let (mut events, mut comments, mut retries) = (Vec::new(), Vec::new(), Vec::new());
            block_on(async {
                while let Some(item) = stream.next().await {
                    match item.unwrap() {
                        OwnedItem::Event(event) => events.push(Expected::from(event.as_ref())),
                        OwnedItem::Comment(text) => comments.push(text),
                        OwnedItem::Retry(time) => retries.push(millis(time)),
                        item => panic!("{}: {item:?}", case.id),
                    }
                }
            });
            assert_eq!(events, case.events, "{}", case.id);
            assert_eq!(retries, case.retry_updates, "{}", case.id);
            if let Some(expected) = &case.comments {
                assert_eq!(&comments, expected, "{}", case.id);
            }
            assert_eq!(stream.last_event_id(), case.last_event_id, "{}", case.id);
        }
    }
}

fn drain(decoder: &mut BytesDecoder, events: &mut Vec<Expected>) {
    while let Some(event) = decoder.next().unwrap() {
        assert_eq!(event.data().as_bytes(), event.data_bytes());
        events.push(Expected::from(event.to_event().as_ref()));
    }
}

fn bytes_outcome(mut decoder: BytesDecoder, mut events: Vec<Expected>, ending: Ending) -> Outcome {
    match ending {
        Ending::Lenient => {
            let last = decoder.finish_lenient().unwrap();
            events.extend(last.map(|event| Expected::from(event.to_event().as_ref())));
        }
        _ => decoder.finish(),
    }
    Outcome {
        events,
        last_event_id: decoder.last_event_id().to_owned(),
        retry: decoder.reconnection_time().map(millis),
    }
}

fn bytes_decoder_one_chunk_at_a_time(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut decoder = BytesDecoder::with_decoder(decoder);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        drain(&mut decoder, &mut events);
    }
    bytes_outcome(decoder, events, ending)
}

fn bytes_decoder_all_chunks_queued(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut decoder = BytesDecoder::with_decoder(decoder);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
    }
    drain(&mut decoder, &mut events);
    bytes_outcome(decoder, events, ending)
}

fn codec_in_a_growing_buffer(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let mut codec = SseCodec::new().with_decoder(decoder).with_ending(ending);
    let mut buffer = BytesMut::new();
    let mut events = Vec::new();
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(event) = codec.decode(&mut buffer).unwrap() {
            events.push(Expected::from(event.as_ref()));
        }
        assert!(buffer.is_empty(), "nothing is left to be scanned again");
    }
    while let Some(event) = codec.decode_eof(&mut buffer).unwrap() {
        events.push(Expected::from(event.as_ref()));
    }
    Outcome {
        events,
        last_event_id: codec.decoder().last_event_id().to_owned(),
        retry: codec.decoder().reconnection_time().map(millis),
    }
}

fn codec_in_framed_read(decoder: Decoder, chunks: &[&[u8]], ending: Ending) -> Outcome {
    let codec = SseCodec::new().with_decoder(decoder).with_ending(ending);
    let mut framed = FramedRead::new(Chunked::new(chunks), codec);
    let mut events = Vec::new();
    block_on(async {
        while let Some(event) = framed.next().await {
            events.push(Expected::from(event.unwrap().as_ref()));
        }
    });
    Outcome {
        events,
        last_event_id: framed.decoder().decoder().last_event_id().to_owned(),
        retry: framed.decoder().decoder().reconnection_time().map(millis),
    }
}

fn compat_eventsource_stream(decoder: Decoder, chunks: &[&[u8]], _: Ending) -> Outcome {
    let mut stream = compat::EventStream::with_decoder(Chunked::new(chunks), decoder);
    let mut events = Vec::new();
    block_on(async {
        while let Some(event) = stream.next().await {
            let event = event.unwrap();
            events.push(Expected {
                event_type: event.event,
                data: event.data,
                id: event.id,
                retry: event.retry.map(millis),
            });
        }
    });
    // There is no accessor for the reconnection time.
    let mut decoder = Decoder::new();
    for chunk in chunks {
        decoder.feed(chunk, |_| ControlFlow::Continue(()));
    }
    let retry = decoder.reconnection_time().map(millis);
    Outcome { events, last_event_id: stream.last_event_id().to_owned(), retry }
}

#[cfg(feature = "body")]
#[test]
fn events_of_every_case_round_trip_through_a_body() {
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body_util::BodyExt as _;
    use tightwire_sse::{Block, SseBody};

    for case in &cases::load() {
        let blocks: Vec<Result<Block<'static>, Infallible>> = case
            .events
            .iter()
            .map(|event| {
                let block = Block::new()
                    .event(event.event_type.clone())
                    .id(event.id.clone())
                    .data(event.data.clone());
                Ok(match event.retry {
                    Some(retry) => block.retry(Duration::from_millis(retry)),
                    None => block,
                })
            })
            .collect();
        let body = SseBody::new(stream::iter(blocks)).without_keep_alive();
        let bytes = block_on(body.collect()).unwrap().to_bytes();
        let events: Vec<_> =
            Reader::new(&bytes[..]).map(|event| Expected::from(event.unwrap().as_ref())).collect();
        assert_eq!(events, case.events, "{}", case.id);
    }
}

/// Result of the decoder for an input in one chunk.
fn reference(input: &[u8]) -> Outcome {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    decoder.feed(input, |event| {
        events.push(Expected::from(event.expect("the input is small")));
        ControlFlow::Continue(())
    });
    decoder.finish();
    Outcome {
        events,
        last_event_id: decoder.last_event_id().to_owned(),
        retry: decoder.reconnection_time().map(millis),
    }
}

/// Streams with all syntactic elements, some of them not UTF-8.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(
        [
            &b"data"[..],
            b"data: ",
            b"event: ",
            b"id:",
            b"retry: 12",
            b":",
            b" ",
            b"\n",
            b"\n\n",
            b"\r",
            b"\r\n",
            b"\xef\xbb\xbf",
            b"\xef",
            b"\xe2\x82",
            b"\xff",
            b"\0",
            "\u{20ac}".as_bytes(),
            b"x",
            b"[DONE]",
        ]
        .map(<[u8]>::to_vec)
        .to_vec(),
    );
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_adaptor_agrees_with_the_decoder_in_any_chunking(
        input in input(),
        lengths in prop::collection::vec(0usize..12, 0..40),
    ) {
        let expected = reference(&input);
        let mut rest = input.as_slice();
        let mut chunks = Vec::new();
        for length in lengths {
            let (chunk, after) = rest.split_at(length.min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        for (name, adaptor) in ADAPTORS {
            prop_assert_eq!(&adaptor(Decoder::new(), &chunks, Ending::Strict), &expected, "{}", name);
        }
    }

    #[test]
    fn every_adaptor_agrees_on_a_lenient_ending(input in input(), cut in 0usize..200) {
        let chunks = [input.as_slice()];
        let expected = reader_owned(Decoder::new(), &chunks, Ending::Lenient).events;
        let (head, tail) = input.split_at(cut.min(input.len()));
        for (name, adaptor) in ADAPTORS.iter().filter(|(name, _)| *name != "compat_eventsource_stream") {
            let found = adaptor(Decoder::new(), &[head, tail], Ending::Lenient).events;
            prop_assert_eq!(&found, &expected, "{}", name);
        }
    }
}
