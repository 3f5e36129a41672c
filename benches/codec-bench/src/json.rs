//! JSON, for the rows that the report shows next to the Go library.

use std::io::Read;

use json_bench::library::{Borrowing, Library, Ours, SerdeJson};

use super::codec::{Borrow, Codec, Counter, Discard, Fresh, FromReader};
use super::message::{Message, MessageRef};

/// A JSON library with a reused buffer.
#[derive(Debug, Default)]
pub struct Json<L> {
    buffer: Vec<u8>,
    library: L,
}

impl<L: Library + 'static> Codec for Json<L> {
    const NAME: &'static str = if L::VERSION.is_none() { "json" } else { L::NAME };
    const VERSION: Option<&'static str> = L::VERSION;
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.buffer.clear();
        L::to_buf(&mut self.buffer, message)?;
        Some(&self.buffer)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        // The reused memory of simd-json lives as long as the borrowed values, of which there are none.
        self.library.read(bytes)
    }
}

impl<L: Library + 'static> Fresh for Json<L> {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        L::to_vec(message)
    }
}

impl<L: Borrowing + 'static> Borrow for Json<L> {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        L::from_borrowed(bytes)
    }
}

impl Discard for Json<SerdeJson> {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        serde_json::to_writer(counter, message).ok()
    }
}

impl FromReader for Json<SerdeJson> {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        serde_json::from_reader(reader).ok()
    }
}

/// `tightwire-json`.
pub type OurJson = Json<Ours>;
