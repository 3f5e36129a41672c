//! Round trip of an object to the bytes of fragments and back.
//!
//! Each variant creates two identifiers per message, for which `uuid` calls the system, as go-psrpcore does.

use psrp::clixml::{Writer, from_slice};
use psrp::fragment::{Assembler, Fragmenter};
use psrp::message::{Destination, Message, MessageHeader, MessageType};
use psrp::{Error, Value};
use uuid::Uuid;

const FRAGMENT_SIZE: usize = 4096;

/// Returns the header of a message to the server, with new identifiers.
pub fn header() -> MessageHeader {
    MessageHeader {
        destination: Destination::Server,
        message_type: MessageType::CreatePipeline,
        pool_id: Uuid::new_v4(),
        pipeline_id: Some(Uuid::new_v4()),
    }
}

/// Runs the steps as go-psrpcore does: each step allocates a new buffer, and the final decoding uses the message and
/// document from before the fragmentation. The assembler gets bytes because ours takes nothing else.
pub fn like_go_psrpcore(value: &Value) -> Result<Option<Value>, Error> {
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

/// Buffers reused between messages.
#[derive(Debug, Default)]
pub struct RoundTripBuffers {
    writer: Writer,
    message: Vec<u8>,
    wire: Vec<u8>,
    assembler: Assembler,
}

impl RoundTripBuffers {
    /// Runs all steps, each on the result of the previous one, with reused buffers.
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
