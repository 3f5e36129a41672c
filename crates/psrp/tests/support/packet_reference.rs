//! Reads packets line by line, and checks that the result does not depend on chunk sizes. Also used by a fuzz target.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::fragment::Priority;
use psrp::outofproc::{Packet, PacketReader, ReaderEvent, ReaderOptions, Role};
use uuid::Uuid;

/// An owned result of the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadResult {
    Data(Option<Uuid>, Priority, Vec<u8>),
    Other(String),
    End,
    Failure(String),
    Error(String),
}

impl From<Packet<'_>> for ReadResult {
    fn from(packet: Packet<'_>) -> Self {
        match packet {
            Packet::Data { target, priority, data } => Self::Data(target, priority, data.to_vec()),
            other => Self::Other(format!("{other:?}")),
        }
    }
}

/// Returns all results for chunks; the last may be an error.
pub fn read(role: Role, options: ReaderOptions, chunks: &[&[u8]]) -> Vec<ReadResult> {
    let mut reader = PacketReader::with_options(role, options);
    let mut found = Vec::new();
    let mut take = |received: ReaderEvent<'_>| match received {
        ReaderEvent::Packet(packet) => found.push(packet.into()),
        ReaderEvent::End => found.push(ReadResult::End),
        ReaderEvent::Failure(text) => found.push(ReadResult::Failure(text)),
        other => panic!("{other:?}"),
    };
    let error = 'read: {
        for mut chunk in chunks.iter().copied() {
            loop {
                match reader.next(&mut chunk) {
                    Ok(Some(received)) => take(received),
                    Ok(None) => break,
                    Err(error) => break 'read Some(error),
                }
            }
            assert!(chunk.is_empty());
        }
        loop {
            match reader.finish() {
                Ok(Some(received)) => take(received),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        }
    };
    if let Some(error) = error {
        assert!(reader.next(&mut &[][..]).unwrap_err().is_state());
        found.push(ReadResult::Error(error.to_string()));
    }
    found
}

/// Compares the results for chunks with those for whole lines, and these with the parser of single lines.
pub fn check(bytes: &[u8], chunks: &[&[u8]], max_line: usize) {
    let options = ReaderOptions::new().max_line(max_line);
    for role in [Role::Client, Role::Server] {
        let whole = read(role, options, &[bytes]);
        assert_eq!(read(role, options, chunks), whole);
        let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(read(role, options, &lines), whole);
    }
    let mut buffer = Vec::new();
    if !bytes.contains(&b'\n')
        && let Ok(packet) = Packet::parse(bytes, &mut buffer)
    {
        let packet = ReadResult::from(packet);
        assert_eq!(read(Role::Server, ReaderOptions::new().max_line(usize::MAX), &[bytes]), [packet]);
        round_trip(bytes);
    }
}

/// Checks that a decoded packet is encoded in the canonical form, and decodes to the same packet.
fn round_trip(line: &[u8]) {
    let (mut buffer, mut again, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let packet = Packet::parse(line, &mut buffer).unwrap();
    packet.encode(&mut written).unwrap();
    assert_eq!(Packet::parse(&written, &mut again).unwrap(), packet);
    assert_eq!(line_feeds(&written), 1);
}

fn line_feeds(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}
