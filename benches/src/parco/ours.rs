//! This workspace's crates as the rows call them.

use super::codec::{Borrow, Codec, Fresh};
use super::message::{Message, MessageRef};

/// The `json` crate, in the rows of JSON.
#[derive(Debug, Default)]
pub struct Json(Vec<u8>);

impl Codec for Json {
    const NAME: &'static str = "json";
    const VERSION: Option<&'static str> = None;
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        json::to_buf(&mut self.0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        json::from_slice(bytes).ok()
    }
}

impl Fresh for Json {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        json::to_vec(message).ok()
    }
}

impl Borrow for Json {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        json::from_slice_borrowed(bytes).ok()
    }
}
