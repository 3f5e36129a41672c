//! Event streams shared by several suites.

use std::fmt::Write as _;

use bytes::Bytes;

/// When a decoding row stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After one event.
    First,
    /// After the event whose data is `[DONE]`.
    Done,
    /// When the input ends.
    End,
}

/// Input of a decoding row.
#[derive(Debug, Clone)]
pub struct Input {
    /// The stream.
    pub bytes: Bytes,
    /// Bytes per chunk.
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

    /// Returns the chunks as reference-counted slices, as HTTP clients provide them.
    pub fn chunks(&self) -> impl Iterator<Item = Bytes> + Send + Sync + use<> {
        let (mut rest, chunk) = (self.bytes.clone(), self.chunk);
        std::iter::from_fn(move || (!rest.is_empty()).then(|| rest.split_to(chunk.min(rest.len()))))
    }
}

/// Text pieces of streamed answers, as they stand in JSON. Three of 24 are not ASCII.
pub const TOKENS: [&str; 24] = [
    " the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", ".", ",", " Rust",
    " stream", " of", " tokens", " that", " arrive", " one", " at", " time", " café", " naïve", "\\n\\n",
    " —",
];

/// Returns a chat stream of at least `bytes` bytes: chunks of about 207 bytes with one of [`TOKENS`] each, then `[DONE]`.
pub fn chat_stream(bytes: usize) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
