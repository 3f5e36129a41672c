//! JSON, for the rows that the report shows next to the Go library.

use std::io::Read;

use super::codec::{Borrow, Codec, Counter, Discard, Fresh, FromReader};
use super::message::{Message, MessageRef};
use json_bench::peers::{SERDE_JSON, SIMD_JSON, SONIC_RS};

/// serde_json.
#[derive(Debug, Default)]
pub struct SerdeJson(Vec<u8>);

impl Codec for SerdeJson {
    const NAME: &'static str = "serde_json";
    const VERSION: Option<&'static str> = Some(SERDE_JSON);
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        serde_json::to_writer(&mut self.0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        serde_json::from_slice(bytes).ok()
    }
}

impl Fresh for SerdeJson {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        serde_json::to_vec(message).ok()
    }
}

impl Borrow for SerdeJson {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        serde_json::from_slice(bytes).ok()
    }
}

impl Discard for SerdeJson {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        serde_json::to_writer(counter, message).ok()
    }
}

impl FromReader for SerdeJson {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        serde_json::from_reader(reader).ok()
    }
}

/// sonic-rs.
#[derive(Debug, Default)]
pub struct SonicRs(Vec<u8>);

impl Codec for SonicRs {
    const NAME: &'static str = "sonic-rs";
    const VERSION: Option<&'static str> = Some(SONIC_RS);
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        sonic_rs::to_writer(&mut self.0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        sonic_rs::from_slice(bytes).ok()
    }
}

impl Fresh for SonicRs {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        sonic_rs::to_vec(message).ok()
    }
}

impl Borrow for SonicRs {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        sonic_rs::from_slice(bytes).ok()
    }
}

/// simd-json. It modifies its input, so the bytes are copied to a reused buffer first.
#[derive(Default)]
pub struct SimdJson {
    copy: Vec<u8>,
    buffers: simd_json::Buffers,
}

impl std::fmt::Debug for SimdJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimdJson").field("capacity", &self.copy.capacity()).finish_non_exhaustive()
    }
}

impl Codec for SimdJson {
    const NAME: &'static str = "simd-json";
    const VERSION: Option<&'static str> = Some(SIMD_JSON);
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.copy.clear();
        simd_json::serde::to_writer(&mut self.copy, message).ok()?;
        Some(&self.copy)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        self.copy.clear();
        self.copy.extend_from_slice(bytes);
        simd_json::serde::from_slice_with_buffers(&mut self.copy, &mut self.buffers).ok()
    }
}

impl Fresh for SimdJson {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        simd_json::serde::to_vec(message).ok()
    }
}
