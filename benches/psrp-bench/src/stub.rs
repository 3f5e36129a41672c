//! As much of a server as a client needs, made like the one that the Go client is measured with.
//!
//! It reads packets and the headers of fragments and messages, and no document: the number of objects is found in the
//! bytes of the script, and the capabilities go back as they came. What it writes are fixed documents, and numbers that
//! go through our serializer, each a message, a fragment and a packet of its own.
//!
//! It does more than that of Go where our client does: the real servers acknowledge a new pipeline before it gets its
//! data, and the ends of a pipeline and of the pool, and ours waits for each of these, as the client of PowerShell does.

use std::io;

use memchr::memmem;
use psrp::Error;
use psrp::clixml::Writer;
use psrp::fragment::{Fragment, Fragmenter, Priority};
use psrp::message::{Destination, Message, MessageHeader, MessageType};
use psrp::outofproc::{Packet, PacketReader, ReaderEvent, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Bytes that a read asks for.
const READ: usize = 32 * 1024;
/// What waits is written when it is more than this.
const WRITE: usize = 32 * 1024;

/// The state of an open pool.
const OPENED: i32 = 2;
/// The state of a pipeline that is done.
const COMPLETED: i32 = 4;

/// Serves one session until the pool is closed.
///
/// # Errors
///
/// Fails if the pipe does, and for what the stub does not know.
pub async fn serve(stream: DuplexStream) -> Result<(), Error> {
    let mut packets = PacketReader::new(Role::Server);
    let mut input = Vec::with_capacity(READ);
    let mut output = Output {
        stream,
        fragmenter: Fragmenter::new(),
        message: Vec::new(),
        fragments: Vec::new(),
        packets: Vec::new(),
    };
    loop {
        input.clear();
        let count = output.stream.read_buf(&mut input).await?;
        let mut rest = &input[..];
        while let Some(received) = packets.next(&mut rest)? {
            let ReaderEvent::Packet(packet) = received else { return Ok(()) };
            take(packet, &mut output).await?;
        }
        output.write().await?;
        if count == 0 {
            return Ok(());
        }
    }
}

async fn take(packet: Packet<'_>, output: &mut Output) -> Result<(), Error> {
    match packet {
        Packet::Command(id) => Packet::CommandAck(id).encode(&mut output.packets),
        Packet::Close(id) => Packet::CloseAck(id).encode(&mut output.packets),
        Packet::Data { target, mut data, .. } => {
            Packet::DataAck(target).encode(&mut output.packets)?;
            // Our client sends its first two messages in one packet.
            while !data.is_empty() {
                let (fragment, rest) = Fragment::decode(data)?;
                if !fragment.start || !fragment.end {
                    return Err(unknown("a message in parts"));
                }
                answer(Message::decode(&fragment.blob)?, output).await?;
                data = rest;
            }
            Ok(())
        }
        _ => Err(unknown("packet")),
    }
}

async fn answer(message: Message<'_>, output: &mut Output) -> Result<(), Error> {
    let MessageHeader { message_type, pool_id, pipeline_id, .. } = message.header;
    let header =
        |message_type| MessageHeader { destination: Destination::Client, message_type, pool_id, pipeline_id };
    match message_type {
        MessageType::SessionCapability => output.send(header(message_type), message.data),
        MessageType::InitRunspacePool => {
            output.send(header(MessageType::RunspacePoolState), member("RunspaceState", OPENED).as_bytes())
        }
        MessageType::CreatePipeline => {
            // The serializers of Go come out of a pool and go back.
            let mut writer = Writer::new();
            for number in 0..script(message.data).ok_or_else(|| unknown("script"))? {
                let document = writer.write(&number.into())?;
                output.send(header(MessageType::PipelineOutput), document)?;
                if output.packets.len() > WRITE {
                    output.write().await?;
                }
            }
            output.send(header(MessageType::PipelineState), member("PipelineState", COMPLETED).as_bytes())
        }
        _ => Err(unknown("message")),
    }
}

struct Output {
    stream: DuplexStream,
    fragmenter: Fragmenter,
    message: Vec<u8>,
    fragments: Vec<u8>,
    /// Packets that wait to be written.
    packets: Vec<u8>,
}

impl Output {
    fn send(&mut self, header: MessageHeader, data: &[u8]) -> Result<(), Error> {
        self.message.clear();
        Message { header, data }.encode(&mut self.message);
        self.fragments.clear();
        self.fragmenter.encode(&self.message, &mut self.fragments);
        let target = header.pipeline_id;
        Packet::Data { target, priority: Priority::Default, data: &self.fragments }.encode(&mut self.packets)
    }

    async fn write(&mut self) -> Result<(), Error> {
        self.stream.write_all(&self.packets).await?;
        self.packets.clear();
        Ok(())
    }
}

fn unknown(what: &'static str) -> Error {
    io::Error::new(io::ErrorKind::Unsupported, what).into()
}

/// An object with one number.
fn member(name: &str, number: i32) -> String {
    format!(r#"<Obj RefId="0"><MS><I32 N="{name}">{number}</I32></MS></Obj>"#)
}

/// The number that the script consists of.
fn script(document: &[u8]) -> Option<i32> {
    const START: &[u8] = br#"<S N="Cmd">"#;
    let rest = &document[memmem::find(document, START)? + START.len()..];
    let digits = &rest[..memchr::memchr(b'<', rest)?];
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_found_in_the_script() {
        let document = br#"<Obj RefId="0"><MS><B N="IsScript">true</B><S N="Cmd">10000</S></MS></Obj>"#;
        assert_eq!(script(document), Some(10_000));
        assert_eq!(script(br#"<S N="Cmd">Get-Date</S>"#), None);
        assert_eq!(script(b"<I32>5</I32>"), None);
    }
}
