//! An object as a document, and a message in fragments and packets.

use std::hint::black_box;

use psrp::clixml::{Writer, from_slice};
use psrp::fragment::{Assembler, Fragmenter, Priority};
use psrp::outofproc::Packet;
use psrp::{Object, Value};
use uuid::Uuid;

/// Bytes of a message, and of its fragments.
const MESSAGE: usize = 4096;
const FRAGMENT: usize = 1024;

fn object() -> Value {
    let object = Object::builder().type_names(["System.Management.Automation.PSCustomObject"]);
    (0..20)
        .fold(object, |object, number| {
            object.adapted(format!("Property{number}"), format!("Value <{number}>"))
        })
        .build()
        .into()
}

pub(crate) fn serialize() -> impl FnMut() -> u64 {
    let (object, mut writer) = (object(), Writer::new());
    move || {
        writer
            .write_document([(None, black_box(&object))])
            .map_or(0, |document| black_box(document).len() as u64)
    }
}

pub(crate) fn deserialize() -> impl FnMut() -> u64 {
    let document = Writer::new().write_document([(None, &object())]).map_or(Vec::new(), <[u8]>::to_vec);
    move || {
        from_slice(black_box(&document)).map_or(0, |value| {
            black_box(&value).as_object().map_or(0, |object| object.adapted().len() as u64)
        })
    }
}

pub(crate) fn fragment() -> impl FnMut() -> u64 {
    let mut buffer = Vec::new();
    move || {
        buffer.clear();
        Fragmenter::new().fragment_size(FRAGMENT).encode(black_box(&[7; MESSAGE]), &mut buffer);
        black_box(&buffer).len() as u64
    }
}

pub(crate) fn assemble() -> impl FnMut() -> u64 {
    let (mut bytes, mut assembler) = (Vec::new(), Assembler::new());
    Fragmenter::new().fragment_size(FRAGMENT).encode(&[7; MESSAGE], &mut bytes);
    move || {
        let mut rest = black_box(&bytes[..]);
        match assembler.next(&mut rest) {
            Ok(Some(message)) => black_box(message).len() as u64,
            _ => 0,
        }
    }
}

pub(crate) fn packet_parse() -> impl FnMut() -> u64 {
    let target = Some(Uuid::from_u128(7));
    let packet = Packet::Data { target, priority: Priority::Default, data: &[7; FRAGMENT] };
    let (mut line, mut data) = (Vec::new(), Vec::new());
    // Writing to a vector cannot fail.
    let _ = packet.encode(&mut line);
    let line = line.trim_ascii_end().to_vec();
    move || {
        Packet::parse(black_box(&line), &mut data).map_or(0, |packet| match black_box(packet) {
            Packet::Data { data, .. } => data.len() as u64,
            _ => 0,
        })
    }
}
