//! rkyv, whose bytes are read in place.

use rkyv::rancor::Error;
use rkyv::util::AlignedVec;

use super::codec::{Codec, View};
use super::message::{ArchivedMessage, Check, Message, combined};

/// rkyv to an aligned buffer, with validation.
#[derive(Debug, Default)]
pub struct Rkyv(AlignedVec);

impl Codec for Rkyv {
    const NAME: &'static str = "rkyv";
    const VERSION: Option<&'static str> = Some("0.8.18");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        let mut buffer = std::mem::take(&mut self.0);
        buffer.clear();
        self.0 = rkyv::api::high::to_bytes_in::<_, Error>(message, buffer).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        rkyv::from_bytes::<Message, Error>(bytes).ok()
    }
}

impl View for Rkyv {
    type View<'b> = &'b ArchivedMessage;

    fn view(bytes: &[u8]) -> Option<&ArchivedMessage> {
        rkyv::access::<ArchivedMessage, Error>(bytes).ok()
    }

    fn copied(view: &&ArchivedMessage) -> Option<Message> {
        rkyv::deserialize::<Message, Error>(*view).ok()
    }
}

impl Check for &ArchivedMessage {
    fn check(&self) -> u64 {
        let last = self.values.last().map_or(0, |value| u64::from(value.to_native()));
        let numbers = [u64::from(self.number.to_native()), last];
        let lengths = [self.name.len(), self.text.len(), self.values.len(), self.map.len()];
        combined(lengths, numbers, self.flag, self.float32.to_native(), self.float64.to_native())
    }
}
