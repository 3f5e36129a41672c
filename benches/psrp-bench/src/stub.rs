//! Minimal server, equivalent to the one used to measure the Go client.
//!
//! It decodes packets and the headers of fragments and messages, but no documents: it finds the number of objects in
//! the bytes of the script and sends the capabilities back unchanged. It writes fixed documents, and numbers with our
//! serializer, each as a separate message, fragment and packet.
//!
//! It does more than the Go stub where our client needs it: like real servers, it acknowledges a new pipeline before it
//! gets data, and the end of a pipeline and of the pool. Our client waits for each of these, as PowerShell's does.

use std::io;

use memchr::memmem;
use psrp::Error;
use psrp::clixml::Writer;
use psrp::fragment::{Fragment, Fragmenter, Priority};
use psrp::message::{Destination, Message, MessageHeader, MessageType};
use psrp::outofproc::{Packet, PacketReader, ReaderEvent, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Bytes requested per read.
const READ: usize = 32 * 1024;
/// Pending output is written when it exceeds this size.
const WRITE: usize = 32 * 1024;

/// State code of an open pool.
const OPENED: i32 = 2;
/// State code of a completed pipeline.
const COMPLETED: i32 = 4;

/// Serves one session until the pool is closed. Fails for messages that the stub does not support.
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
            handle_packet(packet, &mut output).await?;
        }
        output.write().await?;
        if count == 0 {
            return Ok(());
        }
    }
}

async fn handle_packet(packet: Packet<'_>, output: &mut Output) -> Result<(), Error> {
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
                handle_message(Message::decode(&fragment.blob)?, output).await?;
                data = rest;
            }
            Ok(())
        }
        _ => Err(unknown("packet")),
    }
}

async fn handle_message(message: Message<'_>, output: &mut Output) -> Result<(), Error> {
    let MessageHeader { message_type, pool_id, pipeline_id, .. } = message.header;
    let header =
        |message_type| MessageHeader { destination: Destination::Client, message_type, pool_id, pipeline_id };
    match message_type {
        MessageType::SessionCapability => output.send(header(message_type), message.data),
        MessageType::InitRunspacePool => {
            output.send(header(MessageType::RunspacePoolState), member("RunspaceState", OPENED).as_bytes())
        }
        MessageType::CreatePipeline => {
            // Go serializers are taken from a pool and returned.
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
    /// Packets to be written.
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

/// Returns an object with one number.
fn member(name: &str, number: i32) -> String {
    format!(r#"<Obj RefId="0"><MS><I32 N="{name}">{number}</I32></MS></Obj>"#)
}

/// Returns the number that is the whole script.
fn script(document: &[u8]) -> Option<i32> {
    const START: &[u8] = br#"<S N="Cmd">"#;
    let rest = &document[memmem::find(document, START)? + START.len()..];
    let digits = &rest[..memchr::memchr(b'<', rest)?];
    std::str::from_utf8(digits).ok()?.parse().ok()
}
