//! An object to the bytes of fragments, and from them.
//!
//! Every way takes two new identifiers per message, for which `uuid` asks the system each time, as the original does.

use psrp::clixml::{Writer, from_slice};
use psrp::fragment::{Assembler, Fragmenter};
use psrp::message::{Destination, Message, MessageHeader, MessageType};
use psrp::{Error, Value};
use uuid::Uuid;

/// The size of a fragment.
const FRAGMENT_SIZE: usize = 4096;

fn header() -> MessageHeader {
    MessageHeader {
        destination: Destination::Server,
        message_type: MessageType::CreatePipeline,
        pool_id: Uuid::new_v4(),
        pipeline_id: Some(Uuid::new_v4()),
    }
}

/// All steps with what the step before made, and everything made anew.
///
/// # Errors
///
/// Fails where a step does.
pub fn through(value: &Value) -> Result<Option<Value>, Error> {
    Kept::default().through(value)
}

/// The steps as the original has them: each makes a new buffer, and what is decoded in the end is the message and the
/// document that were there before the fragments. The assembler is given bytes, for ours takes nothing else.
///
/// # Errors
///
/// Fails where a step does.
pub fn beside(value: &Value) -> Result<Option<Value>, Error> {
    let mut writer = Writer::new();
    writer.write(value)?;
    let document = writer.take();
    let mut message = Vec::new();
    Message { header: header(), data: &document }.encode(&mut message);
    let mut fragments = Vec::new();
    for fragment in Fragmenter::new().fragment_size(FRAGMENT_SIZE).split(&message) {
        let mut encoded = Vec::new();
        fragment.encode(&mut encoded)?;
        fragments.push(encoded);
    }
    let mut assembler = Assembler::new();
    let mut assembled = None;
    for fragment in &fragments {
        assembled = assembler.next(&mut &fragment[..])?.map(<[u8]>::to_vec);
    }
    let data = Message::decode(&message)?.data.to_vec();
    let value = from_slice(&document)?;
    Ok((assembled.is_some() && data.len() == document.len()).then_some(value))
}

/// What can be kept from one message to the next.
#[derive(Debug, Default)]
pub struct Kept {
    writer: Writer,
    message: Vec<u8>,
    wire: Vec<u8>,
    assembler: Assembler,
}

impl Kept {
    /// All steps with what the step before made, in buffers that are kept.
    ///
    /// # Errors
    ///
    /// Fails where a step does.
    pub fn through(&mut self, value: &Value) -> Result<Option<Value>, Error> {
        let Self { writer, message, wire, assembler } = self;
        message.clear();
        wire.clear();
        Message { header: header(), data: writer.write(value)? }.encode(message);
        Fragmenter::new().fragment_size(FRAGMENT_SIZE).encode(message, wire);
        let Some(received) = assembler.next(&mut &wire[..])? else { return Ok(None) };
        from_slice(Message::decode(received)?.data).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::payload;
    use super::*;

    #[test]
    fn values_come_back() {
        let mut kept = Kept::default();
        for value in [payload::small(), payload::numbered("Prop", 20), payload::numbered("Long", 500)] {
            assert_eq!(through(&value).unwrap().as_ref(), Some(&value));
            assert_eq!(beside(&value).unwrap().as_ref(), Some(&value));
            for _ in 0..2 {
                assert_eq!(kept.through(&value).unwrap().as_ref(), Some(&value));
            }
        }
    }
}
