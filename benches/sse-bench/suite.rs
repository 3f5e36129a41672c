//! Suite `sse`: the decoder table in the report of perplexity-go, large and pathological streams, encoding, and
//! asynchronous streams, each compared with other crates.

use std::convert::Infallible;
use std::process::ExitCode;

use benches::event_stream::{Input, Stop, chat_stream};
use benches::{Impl, Row, Suite, memory};
use bytes::Bytes;
use futures_util::{FutureExt as _, Stream, stream};

use crate::http::{Loopback, bytes_only};
use crate::payload::{many_lines, one_line, seed_rows, short_events};
use crate::tally::Tally;

mod encode;
mod http;
mod ours;
mod payload;
mod peers;
#[path = "../client-bench/server.rs"]
mod server;
mod tally;

benches::counting_allocator!();

/// Owned events from chunks that the caller passes to the decoder.
const OWNED: &str = "owned";
/// Owned events from a blocking reader.
const READER: &str = "owned, from a reader";
/// Events that borrow from the chunk or the decoder, passed to a callback.
const BORROWED: &str = "borrowed";
/// Owned events from an asynchronous stream of chunks.
const STREAM: &str = "async stream";
/// Events from an asynchronous stream of chunks, with which they share memory.
const SHARED: &str = "async stream, shared";
/// All events in one buffer.
const ONE_BUFFER: &str = "one buffer";
/// A new buffer for each event.
const BUFFERS: &str = "buffer per event";
/// The frames of an HTTP response.
const BODY: &str = "response body";

/// Names and versions of peers.
const EVENTSOURCE_STREAM: (&str, &str) = ("eventsource-stream", "0.2.3");
const SSE_CORE: (&str, &str) = ("sse-core", "0.2.3");
const SSE_STREAM: (&str, &str) = ("sse-stream", "0.3.0");
const SSEER: (&str, &str) = ("sseer", "0.3.1");

fn peer((name, version): (&str, &str), class: &str) -> Impl {
    Impl::peer(name, version).class(class)
}

fn main() -> ExitCode {
    benches::main("sse", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    for (row, events, data, input) in seed_rows() {
        decode(suite, row, &input, events, data);
    }
    large(suite);
    tiny(suite);
    pathological(suite);
    encode(suite);
    async_stream(suite);
    http_loopback(suite)
}

/// Runs a decoding row.
fn decode(suite: &mut Suite, name: &str, input: &Input, events: u64, data: u64) {
    let len = input.bytes.len() as u64;
    let mut row = suite.row(name).payload(len).elements(events);
    if name == "decode_simple_event" {
        row = row.alias("decode_allocations");
    }
    with_decoders(row, input, Tally::expected(events, data));
}

fn with_decoders<'a>(row: Row<'a>, input: &'a Input, expected: u64) -> Row<'a> {
    let row = row
        .run(Impl::ours("owned").class(OWNED), expected, move || ours::owned(input))
        .run(peer(SSE_CORE, OWNED), expected, move || peers::sse_core(input))
        .run(Impl::peer("sse-parse", "0.1.0").class(OWNED), expected, move || peers::sse_parse(input))
        .run(Impl::ours("reader").class(READER), expected, move || ours::reader(input))
        .run(Impl::ours("borrowed").class(BORROWED), expected, move || ours::borrowed(input));
    with_streams(row, input, expected)
}

/// Returns the value of an operation on streams that are always ready. It is polled without an executor.
fn now(operation: impl Future<Output = u64>) -> u64 {
    operation.now_or_never().unwrap_or_default()
}

fn ready(input: &Input) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + Sync + Unpin + use<> {
    stream::iter(input.chunks().map(Ok))
}

fn with_streams<'a>(mut row: Row<'a>, input: &'a Input, expected: u64) -> Row<'a> {
    let stop = input.stop;
    // It sends a request, which takes longer than a few events.
    if input.bytes.len() > 10_000 {
        row = row.run(Impl::peer("eventsource-client", "0.18.0").class(STREAM), expected, move || {
            now(peers::eventsource_client(input))
        });
    }
    // It searches an incomplete line from its start for every chunk: minutes for 256 kB in chunks of 16 bytes.
    let first_line = input.bytes.iter().position(|&byte| byte == b'\n').unwrap_or_default();
    if first_line / input.chunk.max(1) < 10_000 {
        row = row.run(peer(EVENTSOURCE_STREAM, STREAM), expected, move || {
            now(peers::eventsource_stream(ready(input), stop))
        });
    }
    row.run(Impl::ours("stream").class(STREAM), expected, move || now(ours::stream(ready(input), stop)))
        .run(peer(SSE_STREAM, STREAM), expected, move || now(peers::sse_stream(ready(input), stop)))
        .run(Impl::ours("stream shared").class(SHARED), expected, move || {
            now(ours::stream_shared(ready(input), stop))
        })
        .run(peer(SSEER, SHARED), expected, move || now(peers::sseer(ready(input), stop)))
}

/// Chat stream of 50 MB in chunks of 8 and 64 KiB, limited by memory bandwidth.
fn large(suite: &mut Suite) {
    const LEN: u64 = 50_000_061;
    const EVENTS: u64 = 240_820;
    let chunks = [("large_8k", 8 << 10), ("large_64k", 64 << 10)];
    let selected = chunks.iter().any(|(row, _)| suite.selects(row));
    let stream = Input::whole(if selected { chat_stream(50_000_000) } else { Vec::new() }, Stop::End);
    for (row, chunk) in chunks {
        let input = &stream.in_chunks(chunk);
        let sum = memory::sum(&input.bytes, chunk);
        let mut buffer = vec![0; chunk];
        let row = suite.row(row).payload(LEN).elements(EVENTS);
        with_decoders(row, input, Tally::expected(EVENTS, LEN - EVENTS * 8))
            .run(Impl::limit("memory read"), sum, move || memory::sum(&input.bytes, chunk))
            .run(Impl::limit("memory copy"), LEN, || memory::copy(&input.bytes, &mut buffer));
    }
}

/// Chat stream of 2 MB in chunks much smaller than an event, so that no event can borrow.
fn tiny(suite: &mut Suite) {
    const EVENTS: u64 = 9634;
    const DATA: u64 = 2_000_066 - EVENTS * 8;
    let stream = Input::whole(chat_stream(2_000_000), Stop::End);
    for (row, chunk) in [("tiny_17", 17), ("tiny_1", 1)] {
        decode(suite, row, &stream.in_chunks(chunk), EVENTS, DATA);
    }
}

/// Inputs that cause quadratic time, large copies or errors in some decoders.
fn pathological(suite: &mut Suite) {
    // Shorter when testing, because a peer takes quadratic time.
    let shorter = if suite.is_testing() { 16 } else { 1 };
    let length = (256 << 10) / shorter;
    let line = Input::whole(one_line(length), Stop::End).in_chunks(16);
    decode(suite, "patho_line_256k_by_16", &line, 1, length as u64);

    let length = (1 << 20) / shorter;
    let line = Input::whole(one_line(length), Stop::End).in_chunks(1 << 10);
    decode(suite, "patho_line_1m_by_1k", &line, 1, length as u64);

    let stream = chat_stream(1 << 20);
    let (len, events) =
        (stream.len() as u64, stream.windows(2).filter(|pair| pair == b"\n\n").count() as u64);
    decode(suite, "patho_chat_1m_whole", &Input::whole(stream, Stop::End), events, len - events * 8);

    let stream = short_events(1 << 20);
    let events = stream.len() as u64 / 20;
    decode(suite, "patho_short_1m_whole", &Input::whole(stream, Stop::End), events, events * 12);

    let lines = Input::whole(many_lines(13_107), Stop::End).in_chunks(8 << 10);
    decode(suite, "patho_lines_13107", &lines, 1, 13_107 * 74 - 1);
}

fn encode(suite: &mut Suite) {
    for (row, texts) in [("encode_100x200", encode::lines()), ("encode_500_lines", encode::block())] {
        let texts = &*texts;
        let expected = encode::encoded_len(texts);
        suite
            .row(row)
            .payload(texts.iter().map(|text| text.len() as u64).sum())
            .elements(texts.len() as u64)
            .run(Impl::ours("one buffer").class(ONE_BUFFER), expected, || encode::ours(texts))
            .run(Impl::ours("buffers").class(BUFFERS), expected, || encode::ours_buffers(texts))
            .run(peer(SSE_STREAM, BUFFERS), expected, || encode::sse_stream(texts))
            .run(Impl::ours("body").class(BODY), expected, || encode::ours_body(texts))
            .run(Impl::peer("axum", "0.8.9").class(BODY), expected, || encode::axum(texts));
    }
}

/// Streams of reference-counted chunks, as HTTP clients provide them.
fn async_stream(suite: &mut Suite) {
    const EVENTS: u64 = 9634;
    const DATA: u64 = 2_000_066 - EVENTS * 8;
    let input = &Input::whole(chat_stream(2_000_000), Stop::End).in_chunks(8 << 10);
    let expected = Tally::expected(EVENTS, DATA);
    let row = suite.row("async_stream").payload(input.bytes.len() as u64).elements(EVENTS);
    with_streams(row, input, expected)
        .run(peer(SSE_CORE, STREAM), expected, move || now(peers::sse_core_stream(ready(input), input.stop)));
}

/// 100,000 events received with reqwest from a server on the same thread.
fn http_loopback(suite: &mut Suite) -> anyhow::Result<()> {
    const ROW: &str = "http_loopback";
    const LEN: u64 = 20_762_303;
    const EVENTS: u64 = 100_000;
    // 99,999 events of a chat and `[DONE]`.
    let stream = if suite.selects(ROW) { chat_stream(LEN as usize - 14) } else { Vec::new() };
    let input = Input::whole(stream, Stop::End).in_chunks(16 << 10);
    let expected = Tally::expected(EVENTS, LEN - EVENTS * 8);
    let loopback = Loopback::new(&input)?;
    suite
        .row(ROW)
        .payload(LEN)
        .elements(EVENTS)
        .run(Impl::ours("stream").class(STREAM), expected, || loopback.receive(ours::stream))
        .run(peer(SSE_CORE, STREAM), expected, || loopback.receive(peers::sse_core_stream))
        .run(peer(SSE_STREAM, STREAM), expected, || loopback.receive(peers::sse_stream))
        .run(peer(EVENTSOURCE_STREAM, STREAM), expected, || loopback.receive(peers::eventsource_stream))
        .run(Impl::ours("stream shared").class(SHARED), expected, || loopback.receive(ours::stream_shared))
        .run(peer(SSEER, SHARED), expected, || loopback.receive(peers::sseer))
        .run(Impl::limit("bytes only"), LEN, || loopback.receive(bytes_only));
    Ok(())
}
