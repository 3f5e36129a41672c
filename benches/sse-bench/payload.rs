//! Inputs, built outside of the timed regions.

use benches::event_stream::{Input, Stop};

/// Returns the rows of the decoder table in the report of perplexity-go: name, events, bytes of their data, and stream. Inputs
/// and stop rules are those of the report, except that the large event has the 8 KB of its label; there it has 4,484 bytes.
/// A tenth row repeats the first.
pub(crate) fn seed_rows() -> Vec<(&'static str, u64, u64, Input)> {
    let simple = "data: {\"test\": \"value\"}\n\n";
    let complex = "event: message\nid: msg-123\ndata: {\"id\":\"test\",\"model\":\"sonar\",\"choices\":[{\"index\":0,\
                   \"delta\":{\"role\":\"assistant\",\"content\":\"Hello\"}}]}\n\n";
    let multiline =
        "data: {\"chunk\": \"line1\"}\ndata: {\"chunk\": \"line2\"}\ndata: {\"chunk\": \"line3\"}\n\n";
    let text = "This is a long response with lots of text. ".repeat(187);
    let large = format!(
        "data: {{\"id\":\"test-123\",\"model\":\"sonar-pro\",\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\
         \"assistant\",\"content\":\"{}\"}}}}],\"usage\":{{\"completion_tokens\":500,\"prompt_tokens\":100,\
         \"total_tokens\":600}}}}\n\n",
        &text[..8008]
    );
    let multiple = "data: {\"chunk\": 1}\n\ndata: {\"chunk\": 2}\n\ndata: {\"chunk\": 3}\n\ndata: [DONE]\n\n";
    let all_fields = "event: message\nid: msg-456\nretry: 1000\ndata: {\"status\": \"processing\"}\n\n";
    let comments = ": This is a comment\n: Another comment\ndata: {\"actual\": \"data\"}\n\n";
    let (simulation, buffered) = (stream_simulation(), buffered_stream());
    let rows = [
        ("decode_simple_event", 25, 1, 17, simple, Stop::First),
        ("decode_complex_event", 135, 1, 100, complex, Stop::First),
        ("decode_multiline_data", 76, 1, 56, multiline, Stop::First),
        ("decode_large_payload", 8192, 1, 8184, &*large, Stop::First),
        ("decode_multiple_events", 74, 4, 42, multiple, Stop::Done),
        ("decode_with_all_fields", 71, 1, 24, all_fields, Stop::First),
        ("decode_stream_simulation", 335, 6, 287, &*simulation, Stop::Done),
        ("decode_buffered_stream", 2000, 100, 1200, &*buffered, Stop::End),
        ("decode_comment_filtering", 64, 1, 18, comments, Stop::First),
    ];
    let row = |(row, size, events, data, input, stop): (_, _, _, _, &str, _)| {
        assert_eq!(input.len(), size, "{row} has another size than the published row");
        (row, events, data, Input::whole(input, stop))
    };
    rows.into_iter().map(row).collect()
}

fn stream_simulation() -> String {
    [
        r#"{"id":"1","choices":[{"delta":{"role":"assistant"}}]}"#,
        r#"{"id":"1","choices":[{"delta":{"content":"Hello"}}]}"#,
        r#"{"id":"1","choices":[{"delta":{"content":" world"}}]}"#,
        r#"{"id":"1","choices":[{"delta":{"content":"!"}}]}"#,
        r#"{"id":"1","choices":[{"finish_reason":"stop"}],"usage":{"total_tokens":10}}"#,
        "[DONE]",
    ]
    .map(|data| format!("data: {data}\n\n"))
    .concat()
}

fn buffered_stream() -> String {
    (0..100).map(|i| format!("data: {{\"chunk\": {}}}\n\n", i % 10)).collect()
}

/// Returns one data line of `bytes` characters.
pub(crate) fn one_line(bytes: usize) -> Vec<u8> {
    format!("data: {}\n\n", "a".repeat(bytes)).into_bytes()
}

/// Returns at least `bytes` bytes of events of 20 bytes each.
pub(crate) fn short_events(bytes: usize) -> Vec<u8> {
    buffered_stream().repeat(bytes.div_ceil(2000)).into_bytes()
}

/// Returns one event of `lines` data lines of 80 bytes each.
pub(crate) fn many_lines(lines: usize) -> Vec<u8> {
    let mut out = format!("data: {}\n", "x".repeat(73)).repeat(lines);
    out.push('\n');
    out.into_bytes()
}
