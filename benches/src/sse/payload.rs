//! The inputs, built once and outside every timed region.

use std::fmt::Write as _;

use bytes::Bytes;

/// When a decoding row stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After one event.
    First,
    /// After the event whose data is `[DONE]`.
    Done,
    /// When the input is used up.
    End,
}

/// What one decoding row reads, and how.
#[derive(Debug, Clone)]
pub struct Input {
    /// The stream.
    pub bytes: Bytes,
    /// The length of the chunks it arrives in.
    pub chunk: usize,
    /// When the row stops.
    pub stop: Stop,
}

impl Input {
    /// An input that arrives in one chunk.
    pub fn whole(bytes: impl Into<Vec<u8>>, stop: Stop) -> Self {
        let bytes = Bytes::from(bytes.into());
        Self { chunk: bytes.len(), bytes, stop }
    }

    /// The same input in chunks of this length.
    #[must_use]
    pub fn in_chunks(&self, chunk: usize) -> Self {
        Self { bytes: self.bytes.clone(), chunk, stop: self.stop }
    }

    /// The chunks as borrowed slices.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks(self.chunk)
    }

    /// The chunks as reference-counted slices, the form in which an HTTP client hands them out.
    pub fn chunks(&self) -> impl Iterator<Item = Bytes> + Send + Sync + use<> {
        let (mut rest, chunk) = (self.bytes.clone(), self.chunk);
        std::iter::from_fn(move || (!rest.is_empty()).then(|| rest.split_to(chunk.min(rest.len()))))
    }
}

/// One row of the first report's decoder table.
#[derive(Debug, Clone)]
pub struct SeedRow {
    /// The row, as in the seed rows' keys.
    pub row: &'static str,
    /// Events that one operation decodes.
    pub events: u64,
    /// Bytes of event data that one operation decodes.
    pub data: u64,
    /// The stream.
    pub input: Input,
}

/// The ten rows of the first report's decoder table, with its exact inputs and stop rules.
pub fn seed_rows() -> Vec<SeedRow> {
    let row = |row, events, data, input: String, stop| SeedRow {
        row,
        events,
        data,
        input: Input::whole(input, stop),
    };
    let simple = || String::from("data: {\"test\": \"value\"}\n\n");
    vec![
        row("decode_simple_event", 1, 17, simple(), Stop::First),
        row(
            "decode_complex_event",
            1,
            100,
            "event: message\nid: msg-123\ndata: {\"id\":\"test\",\"model\":\"sonar\",\"choices\":[{\"index\":0,\
             \"delta\":{\"role\":\"assistant\",\"content\":\"Hello\"}}]}\n\n"
                .into(),
            Stop::First,
        ),
        row(
            "decode_multiline_data",
            1,
            56,
            "data: {\"chunk\": \"line1\"}\ndata: {\"chunk\": \"line2\"}\ndata: {\"chunk\": \"line3\"}\n\n".into(),
            Stop::First,
        ),
        row(
            "decode_large_payload",
            1,
            4476,
            format!(
                "data: {{\"id\":\"test-123\",\"model\":\"sonar-pro\",\"choices\":[{{\"index\":0,\"delta\":\
                 {{\"role\":\"assistant\",\"content\":\"{}\"}}}}],\"usage\":{{\"completion_tokens\":500,\
                 \"prompt_tokens\":100,\"total_tokens\":600}}}}\n\n",
                "This is a long response with lots of text. ".repeat(100)
            ),
            Stop::First,
        ),
        row(
            "decode_multiple_events",
            4,
            42,
            "data: {\"chunk\": 1}\n\ndata: {\"chunk\": 2}\n\ndata: {\"chunk\": 3}\n\ndata: [DONE]\n\n".into(),
            Stop::Done,
        ),
        row(
            "decode_with_all_fields",
            1,
            24,
            "event: message\nid: msg-456\nretry: 1000\ndata: {\"status\": \"processing\"}\n\n".into(),
            Stop::First,
        ),
        row("decode_stream_simulation", 6, 287, stream_simulation(), Stop::Done),
        row("decode_allocations", 1, 17, simple(), Stop::First),
        row("decode_buffered_stream", 100, 1200, buffered_stream(), Stop::End),
        row(
            "decode_comment_filtering",
            1,
            18,
            ": This is a comment\n: Another comment\ndata: {\"actual\": \"data\"}\n\n".into(),
            Stop::First,
        ),
    ]
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

/// A stream as a chat model sends it: at least `bytes` bytes of chunks of about 207 bytes that carry one token
/// each, three of 24 not ASCII, then `[DONE]`.
pub fn chat_stream(bytes: usize) -> Vec<u8> {
    const TOKENS: [&str; 24] = [
        " the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", ".", ",", " Rust",
        " stream", " of", " tokens", " that", " arrive", " one", " at", " time", " café", " naïve", "\\n\\n",
        " —",
    ];
    let mut out = String::with_capacity(bytes + 256);
    for token in TOKENS.iter().cycle() {
        if out.len() >= bytes {
            break;
        }
        write!(
            out,
            "data: {{\"id\":\"chatcmpl-5d2a9c70e4b14f6c\",\"object\":\"chat.completion.chunk\",\"created\":1763424000,\
             \"model\":\"sonar-pro\",\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\
             \"{token}\"}},\"finish_reason\":null}}]}}\n\n"
        )
        .expect("a string accepts every write");
    }
    out.push_str("data: [DONE]\n\n");
    out.into_bytes()
}

/// One data line of `bytes` characters.
pub fn one_line(bytes: usize) -> Vec<u8> {
    format!("data: {}\n\n", "a".repeat(bytes)).into_bytes()
}

/// At least `bytes` bytes of 20-byte events.
pub fn short_events(bytes: usize) -> Vec<u8> {
    buffered_stream().repeat(bytes.div_ceil(2000)).into_bytes()
}

/// One event of `lines` data lines of 80 bytes each.
pub fn many_lines(lines: usize) -> Vec<u8> {
    let mut out = format!("data: {}\n", "x".repeat(73)).repeat(lines);
    out.push('\n');
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_inputs_have_the_published_sizes() {
        let sizes: Vec<_> = seed_rows().iter().map(|row| row.input.bytes.len()).collect();
        assert_eq!(sizes, [25, 135, 76, 4484, 74, 71, 335, 25, 2000, 64]);
    }

    #[test]
    fn chat_streams_have_the_published_sizes() {
        for (at_least, bytes, events) in
            [(262_144, 262_241, 1264), (2_000_000, 2_000_066, 9634), (50_000_000, 50_000_061, 240_820)]
        {
            let stream = chat_stream(at_least);
            assert_eq!(stream.len(), bytes);
            assert_eq!(memchr::memmem::find_iter(&stream, b"\n\n").count(), events);
        }
    }

    #[test]
    fn chunks_cover_the_input() {
        let input = Input::whole(*b"0123456789", Stop::End).in_chunks(4);
        let chunks: Vec<Bytes> = input.chunks().collect();
        assert_eq!(chunks, ["0123", "4567", "89"]);
        assert_eq!(input.slices().count(), 3);
    }
}
