//! Allocations of the CLIXML writer and of the layers below it.

use psrp::clixml::{Stream, Writer};
use psrp::fragment::{Assembler, Fragment, Fragmenter, Priority};
use psrp::message::{Destination, Message, MessageHeader, MessageType};
use psrp::outofproc::{Packet, PacketReader, Role};
use psrp::value::{SecureString, TimeSpan};
use psrp::{Object, Value};
use test_support::counting::{allocations, usage};
use uuid::Uuid;

/// A value that uses everything a writer remembers.
fn rich() -> Value {
    let shared = Object::custom([("Name", "value"), ("Text", "a\r\n<b>&\u{1F600}")]);
    let cyclic = Object::new_cyclic(|me| Object::builder().extended("me", Value::Cycle(me)));
    let mut object = Object::builder()
        .type_names(["A", "System.Object"])
        .to_string("text")
        .adapted("shared", shared.clone())
        .adapted("again", shared)
        .adapted("bytes", vec![1; 1000])
        .adapted("double", 1.5e300)
        .adapted("decimal", Value::Decimal("1.50".parse().unwrap()))
        .adapted("date", Value::DateTime("2024-02-29T23:59:59.1234567+02:00".parse().unwrap()))
        .adapted("span", TimeSpan::from_ticks(-8_143_331_234_567))
        .adapted("secret", SecureString::from_encrypted([7; 16]))
        .extended("cyclic", cyclic)
        .extended("dictionary", Object::dictionary([("k", 1)]));
    for number in 0..20 {
        object = object.extended("typed", Object::builder().type_names([format!("T{number}")]).build());
    }
    object.build().into()
}

#[test]
fn a_reused_writer_allocates_nothing() {
    let mut writer = Writer::new();
    let value = rich();
    let length = writer.write(&value).unwrap().len();
    let (count, again) = allocations(|| writer.write(&value).unwrap().len());
    assert_eq!((count, again), (0, length));

    let items = [(Some(Stream::Output), &value), (None, &value)];
    let length = writer.write_document(items).unwrap().len();
    let (count, again) = allocations(|| writer.write_document(items).unwrap().len());
    assert_eq!((count, again), (0, length));
}

#[test]
fn a_continued_document_allocates_nothing_for_known_parts() {
    let mut writer = Writer::new();
    let value = rich();
    writer.continue_document([(None, &value)]).unwrap();
    let (count, length) = allocations(|| writer.continue_document([(None, &value)]).unwrap().len());
    assert!(length < 120);
    assert_eq!(count, 0);
}

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
