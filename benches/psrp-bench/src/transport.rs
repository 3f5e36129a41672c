//! Sending and receiving of packets, with the same surrounding work as in go-psrpcore.

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::sync::Mutex;

use psrp::outofproc::{Packet, PacketReader, ReaderEvent, Role};

/// Bytes that go-psrpcore reads at once.
const CHUNK: usize = 4096;

/// Sender as in go-psrpcore: a lock, a buffer for the line, and one call of the writer.
#[derive(Debug)]
pub struct PacketSender<W> {
    state: Mutex<(Vec<u8>, W)>,
}

impl<W: Write> PacketSender<W> {
    /// Creates a sender.
    pub fn new(writer: W) -> Self {
        Self { state: Mutex::new((Vec::new(), writer)) }
    }

    /// Sends a packet. Returns the length of its line, 0 on failure.
    pub fn send(&self, packet: &Packet<'_>, reset: impl FnOnce(&mut W)) -> u64 {
        let Ok(mut state) = self.state.lock() else { return 0 };
        let (line, writer) = &mut *state;
        reset(writer);
        line.clear();
        match packet.encode(line) {
            Ok(()) if writer.write_all(line).is_ok() => line.len() as u64,
            _ => 0,
        }
    }
}

/// Sends a packet with a new sender to a new buffer, and returns the buffer.
pub fn sent(packet: &Packet<'_>) -> Vec<u8> {
    let sender = PacketSender::new(Vec::new());
    sender.send(packet, |_| {});
    sender.state.into_inner().map(|(_, writer)| writer).unwrap_or_default()
}

/// Encodes a packet to a reused buffer. Returns the length of its line, 0 on failure.
pub fn encode(packet: &Packet<'_>, buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    black_box(packet).encode(buffer).map_or(0, |()| black_box(&*buffer).len() as u64)
}

/// Receives the first packet of the input with a new buffer and a new packet reader. The data is copied because it
/// borrows from the reader.
pub fn receive(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; CHUNK];
    let mut reader = PacketReader::new(Role::Client);
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match reader.next(&mut &buffer[..count]) {
            Ok(None) => {}
            Ok(Some(ReaderEvent::Packet(packet))) => return Ok(data(&packet).to_vec()),
            Ok(Some(_)) | Err(_) => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Decodes the packet in the bytes with a reused reader, which owns its data.
pub fn receive_in_place<'r>(reader: &'r mut PacketReader, mut bytes: &[u8]) -> Option<Packet<'r>> {
    match reader.next(&mut bytes) {
        Ok(Some(ReaderEvent::Packet(packet))) => Some(packet),
        _ => None,
    }
}

/// Returns the data of a data packet, nothing for others.
pub fn data<'a>(packet: &Packet<'a>) -> &'a [u8] {
    match *packet {
        Packet::Data { data, .. } => data,
        _ => &[],
    }
}
