//! Suite `sse`: the decoder table of the first report, large and pathological streams, encoding, and asynchronous
//! streams, each compared with other crates.

use benches::event_stream::{Input, Stop, chat_stream};
use benches::{Impl, Row, Suite, memory};
use sse_bench::encode::Texts;
use sse_bench::http::Loopback;
use sse_bench::payload::{SeedRow, many_lines, one_line, seed_rows, short_events};
use sse_bench::tally::Tally;
use sse_bench::{ours, peers};

benches::counting_allocator!();

/// Owned events.
const OWNED: &str = "owned";
/// Events that borrow from the chunk or the decoder.
const BORROWED: &str = "borrowed";
/// Events that share the memory of the chunk.
const SHARED: &str = "shared";
/// Encoded bytes.
const ENCODED: &str = "encoded";

fn main() -> anyhow::Result<()> {
    let mut suite = Suite::from_args("sse", env!("CARGO_TARGET_TMPDIR"));
    for SeedRow { row, events, data, input } in seed_rows() {
        let expected = Tally::expected(events, data);
        let row = suite.row(row).payload(input.bytes.len() as u64).elements(events);
        let row = row
            .run(Impl::ours("reader owned").class(OWNED), expected, || ours::reader_owned(&input))
            .run(Impl::ours("reader in place").class(OWNED), expected, || ours::reader_in_place(&input));
        with_decoders(row, &input, expected);
    }
    large(&mut suite);
    tiny(&mut suite);
    pathological(&mut suite);
    encode(&mut suite);
    async_stream(&mut suite);
    http_loopback(&mut suite)?;
    suite.finish();
    Ok(())
}

/// Runs a decoding row with all entry points of tightwire-sse and all peers.
fn decode(suite: &mut Suite, row: &str, input: &Input, events: u64, data: u64) {
    let len = input.bytes.len() as u64;
    with_decoders(suite.row(row).payload(len).elements(events), input, Tally::expected(events, data));
}

fn with_decoders<'a>(row: Row<'a>, input: &Input, expected: u64) -> Row<'a> {
    let client = peers::EventsourceClient::new(input);
    row.run(Impl::ours("push borrowed").class(BORROWED), expected, || ours::push_borrowed(input))
        .run(Impl::ours("pull borrowed").class(BORROWED), expected, || ours::pull_borrowed(input))
        .run(Impl::ours("push owned").class(OWNED), expected, || ours::push_owned(input))
        .run(Impl::ours("pull owned").class(OWNED), expected, || ours::pull_owned(input))
        .run(Impl::ours("push shared").class(SHARED), expected, || ours::push_shared(input))
        .run(Impl::peer("sse-core", "0.2.3").class(OWNED), expected, || peers::sse_core(input))
        .run(Impl::peer("sse-stream", "0.3.0").class(OWNED), expected, || peers::sse_stream(input))
        .run(Impl::peer("sseer", "0.3.1").class(SHARED), expected, || peers::sseer(input))
        .run(Impl::peer("sse-parse", "0.1.0").class(OWNED), expected, || peers::sse_parse(input))
        .run(Impl::peer("eventsource-client", "0.18.0").class(OWNED), expected, || client.decode())
        .run(Impl::peer("eventsource-stream", "0.2.3").class(OWNED), expected, || {
            peers::eventsource_stream(input)
        })
}

/// Chat stream of 50 MB in chunks of 8 and 64 KiB, limited by memory bandwidth.
fn large(suite: &mut Suite) {
    const LEN: u64 = 50_000_061;
    const EVENTS: u64 = 240_820;
    let chunks = [("large_8k", 8 << 10), ("large_64k", 64 << 10)];
    let selected = chunks.iter().any(|(row, _)| suite.selects(row));
    let stream = Input::whole(if selected { chat_stream(50_000_000) } else { Vec::new() }, Stop::End);
    for (row, chunk) in chunks {
        let input = stream.in_chunks(chunk);
        let sum = memory::sum(&input.bytes, chunk);
        let mut buffer = vec![0; chunk];
        let row = suite.row(row).payload(LEN).elements(EVENTS);
        with_decoders(row, &input, Tally::expected(EVENTS, LEN - EVENTS * 8))
            .run(Impl::limit("memory read"), sum, || memory::sum(&input.bytes, chunk))
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
    for (row, texts) in [("encode_100x200", Texts::lines()), ("encode_500_lines", Texts::block())] {
        let expected = texts.encoded_len();
        suite
            .row(row)
            .payload(texts.payload())
            .elements(texts.events())
            .run(Impl::ours("encode").class(ENCODED), expected, || texts.ours())
            .run(Impl::peer("sse-stream", "0.3.0").class(ENCODED), expected, || texts.sse_stream())
            .run(Impl::peer("axum", "0.8.9").class(ENCODED), expected, || texts.axum());
    }
}

/// Adaptors for a stream of reference-counted chunks, polled without an executor.
fn async_stream(suite: &mut Suite) {
    const EVENTS: u64 = 9634;
    const DATA: u64 = 2_000_066 - EVENTS * 8;
    let input = Input::whole(chat_stream(2_000_000), Stop::End).in_chunks(8 << 10);
    let expected = Tally::expected(EVENTS, DATA);
    suite
        .row("async_stream")
        .payload(input.bytes.len() as u64)
        .elements(EVENTS)
        .run(Impl::ours("stream owned").class(OWNED), expected, || ours::stream_owned(&input))
        .run(Impl::ours("stream shared").class(SHARED), expected, || ours::stream_shared(&input))
        .run(Impl::ours("eventsource-stream names").class(OWNED), expected, || ours::stream_compat(&input))
        .run(Impl::peer("sse-core", "0.2.3").class(OWNED), expected, || peers::sse_core_stream(&input))
        .run(Impl::peer("sse-stream", "0.3.0").class(OWNED), expected, || peers::sse_stream(&input))
        .run(Impl::peer("sseer", "0.3.1").class(SHARED), expected, || peers::sseer(&input))
        .run(Impl::peer("eventsource-stream", "0.2.3").class(OWNED), expected, || {
            peers::eventsource_stream(&input)
        });
}

/// 100,000 events received with reqwest from a server in the same process.
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
        .run(Impl::ours("stream owned").class(OWNED), expected, || loopback.ours())
        .run(Impl::ours("stream shared").class(SHARED), expected, || loopback.ours_shared())
        .run(Impl::peer("sse-core", "0.2.3").class(OWNED), expected, || loopback.sse_core())
        .run(Impl::peer("sse-stream", "0.3.0").class(OWNED), expected, || loopback.sse_stream())
        .run(Impl::peer("sseer", "0.3.1").class(SHARED), expected, || loopback.sseer())
        .run(Impl::peer("eventsource-stream", "0.2.3").class(OWNED), expected, || {
            loopback.eventsource_stream()
        })
        .run(Impl::limit("bytes only"), LEN, || loopback.bytes_only());
    Ok(())
}
