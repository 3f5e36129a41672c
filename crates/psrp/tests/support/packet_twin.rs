//! What a reader of packets finds, line by line; and the check that it finds the same however the bytes are divided. The
//! fuzz target runs the same check.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::fragment::Priority;
use psrp::outofproc::{Packet, PacketReader, ReaderEvent, ReaderOptions, Role};
use uuid::Uuid;

/// What was found, with its own data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Data(Option<Uuid>, Priority, Vec<u8>),
    Other(String),
    End,
    Failure(String),
    Error(String),
}

impl From<Packet<'_>> for Found {
    fn from(packet: Packet<'_>) -> Self {
        match packet {
            Packet::Data { target, priority, data } => Self::Data(target, priority, data.to_vec()),
            other => Self::Other(format!("{other:?}")),
        }
    }
}

/// All that a reader finds in chunks; the last may be an error.
pub fn read(role: Role, options: ReaderOptions, chunks: &[&[u8]]) -> Vec<Found> {
    let mut reader = PacketReader::with_options(role, options);
    let mut found = Vec::new();
    let mut take = |received: ReaderEvent<'_>| match received {
        ReaderEvent::Packet(packet) => found.push(packet.into()),
        ReaderEvent::End => found.push(Found::End),
        ReaderEvent::Failure(text) => found.push(Found::Failure(text)),
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
        found.push(Found::Error(error.to_string()));
    }
    found
}

/// Compares what is found in chunks with what is found in whole lines, and these with the parser of one line.
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
        let packet = Found::from(packet);
        assert_eq!(read(Role::Server, ReaderOptions::new().max_line(usize::MAX), &[bytes]), [packet]);
        round_trip(bytes);
    }
}

/// What was read is written in the exact form, and read again.
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
