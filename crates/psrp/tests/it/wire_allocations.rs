//! Allocations of the layers below CLIXML.

use psrp::fragment::{Assembler, Fragment, FragmentHeader, Fragmenter, Priority};
use psrp::message::{Destination, Message, MessageHeader, MessageType};
use psrp::outofproc::{Packet, PacketReader, Role};
use uuid::Uuid;

use test_support::counting::{allocations, usage};

const TARGET: Option<Uuid> = Some(Uuid::from_u128(7));

#[test]
fn reused_buffers_allocate_nothing() {
    let data = [7; 4096];
    let header = MessageHeader {
        destination: Destination::Server,
        message_type: MessageType::CreatePipeline,
        pool_id: Uuid::from_u128(1),
        pipeline_id: TARGET,
    };
    let mut fragmenter = Fragmenter::new().fragment_size(1024);
    let mut assembler = Assembler::new();
    let mut reader = PacketReader::new(Role::Server);
    let (mut message, mut wire, mut line) = (Vec::new(), Vec::new(), Vec::new());
    let mut round = || {
        for buffer in [&mut message, &mut wire, &mut line] {
            buffer.clear();
        }
        Message { header, data: &data }.encode(&mut message);
        fragmenter.encode(&message, &mut wire);
        Packet::Data { target: TARGET, priority: Priority::Default, data: &wire }.encode(&mut line).unwrap();
        Packet::Signal(TARGET).encode(&mut line).unwrap();
        let mut packets = 0;
        for mut chunk in line.chunks(1000) {
            while reader.next(&mut chunk).unwrap().is_some() {
                packets += 1;
            }
        }
        let mut length = 0;
        for mut chunk in wire.chunks(333) {
            while let Some(message) = assembler.next(&mut chunk).unwrap() {
                length += Message::decode(message).unwrap().data.len();
            }
        }
        (packets, length)
    };
    assert_eq!(round(), (2, 4096));
    round();
    assert_eq!(allocations(round), (0, (2, 4096)));
}

#[test]
fn complete_input_is_borrowed() {
    let mut wire = Vec::new();
    Fragmenter::new().encode(&[7; 10_000], &mut wire);
    let (count, len) = allocations(|| {
        let mut bytes = &wire[..];
        let mut assembler = Assembler::new();
        assembler.next(&mut bytes).unwrap().map(<[u8]>::len)
    });
    assert_eq!((count, len), (0, Some(10_000)));
    let mut line = Vec::new();
    Packet::Command(TARGET).encode(&mut line).unwrap();
    let (count, found) =
        allocations(|| PacketReader::new(Role::Server).next(&mut &line[..]).unwrap().is_some());
    assert_eq!((count, found), (0, true));
}

/// Announced sizes allocate nothing; received bytes at most a multiple of their size.
#[test]
fn announced_sizes_allocate_nothing() {
    let header = FragmentHeader { object_id: 1, fragment_id: 0, start: true, end: false, blob_len: 10 << 20 };
    let header = FragmentHeader { blob_len: header.blob_len - 21, ..header }.to_bytes();
    let (used, _) = usage(|| {
        let mut assembler = Assembler::new();
        for bytes in [&header[..], b"a few bytes"] {
            assert_eq!(assembler.next(&mut &bytes[..]).unwrap(), None);
        }
    });
    assert!(used.bytes < 4096, "{used:?}");
}

/// Empty start fragments without end use no memory: each replaces the one before.
#[test]
fn partial_messages_use_bounded_memory() {
    let mut wire = Vec::new();
    for object_id in 1..=1_000_000 {
        let fragment = Fragment { object_id, fragment_id: 0, start: true, end: false, blob: b""[..].into() };
        fragment.encode(&mut wire).unwrap();
    }
    let (used, done) = usage(|| Assembler::new().next(&mut &wire[..]).unwrap().is_none());
    assert!(done && used.bytes < 1024, "{used:?}");
}

#[test]
fn an_unterminated_line_is_limited() {
    let (used, error) = usage(|| {
        let mut reader = PacketReader::new(Role::Client);
        loop {
            if let Err(error) = reader.next(&mut &[b' '; 100][..]) {
                break error;
            }
        }
    });
    assert!(error.is_limit());
    assert!(used.largest < 100 * 1024, "{used:?}");
}
