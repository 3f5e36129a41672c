//! Rows of the suite `psrp` for the crate `psrp-rs`, as a program that a suite runs.
//!
//! The documents have no root element and no references, and all properties are extended ones, because the crate
//! supports nothing else. Each operation returns the check value of our implementations if its result is right.

use std::hint::black_box;
use std::process::ExitCode;

use benches::{Impl, Suite};
use psrp_rs::clixml::{PsObject, PsValue, parse_clixml, to_clixml};
use psrp_rs::fragment::{Fragment, Reassembler, encode_message};
use psrp_rs::message::{MessageType, PsrpMessage};
use uuid::Uuid;

benches::counting_allocator!();

/// Output in a new buffer.
const FRESH: &str = "new buffer";
/// The decoded value owns its data.
const OWNED: &str = "owned";

fn main() -> ExitCode {
    benches::main("psrp", env!("CARGO_MANIFEST_DIR"), rows)
}

/// Adds all rows, with the check values of our implementations.
fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    serialize(suite, "small_object", &small(), 183);
    serialize(suite, "medium_object", &numbered("Property", 10), 462);
    serialize(suite, "large_object", &numbered("Property", 50), 1622);
    serialize(suite, "string", &PsValue::String("test string value".into()), 24);
    serialize(suite, "int32", &PsValue::I32(12345), 16);
    serialize(suite, "hashtable", &hashtable(), 313);
    deserialize(suite, "small_object", &small(), 1);
    deserialize(suite, "ps_object", &described(), 3);
    for (name, size) in [("fragment_encode_1kb", 1024), ("fragment_encode_large_32kb", 32768)] {
        let fragment = fragment(0, 1, size);
        row(suite, name, FRESH, size + 21, size as u64 + 21, || {
            black_box(black_box(&fragment).encode()).len() == size + 21
        });
    }
    reassemble(suite, "fragment_decode_1kb", &[1024]);
    reassemble(suite, "fragment_assemble_4", &[1003, 1003, 1003, 1003, 84]);
    let message = message("\0".repeat(1024));
    row(suite, "message_encode", FRESH, 1064, 1064, || black_box(black_box(&message).encode()).len() == 1064);
    let encoded = message.encode();
    row(suite, "message_decode", OWNED, encoded.len(), 1024, || {
        PsrpMessage::decode(black_box(&encoded)).is_ok_and(|read| black_box(read).data.len() == 1024)
    });
    round_trip(suite, "round_trip_small", &small(), 1);
    round_trip(suite, "round_trip_medium", &numbered("Prop", 20), 20);
    Ok(())
}

/// Adds a row. `operation` returns whether its result is right.
fn row(
    suite: &mut Suite,
    name: &str,
    class: &str,
    payload: usize,
    expected: u64,
    operation: impl Fn() -> bool,
) {
    let implementation = Impl::peer("psrp-rs", "1.0.0").class(class);
    suite
        .row(name)
        .payload(payload as u64)
        .run(implementation, expected, || if operation() { expected } else { u64::MAX });
}

fn small() -> PsValue {
    let object = PsObject::new().with_type_names(["System.String"]);
    PsValue::Object(object.with("Value", PsValue::String("test".into())))
}

fn numbered(prefix: &str, count: usize) -> PsValue {
    let object = PsObject::new().with_type_names(["System.Management.Automation.PSCustomObject"]);
    let mut numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    numbers.sort();
    PsValue::Object(numbers.iter().fold(object, |object, number| {
        object.with(format!("{prefix}{number}"), PsValue::String(format!("Value{number}")))
    }))
}

fn hashtable() -> PsValue {
    let key = |key: &str| PsValue::String(key.into());
    PsValue::Dict(vec![
        (key("Key1"), key("Value1")),
        (key("Key2"), PsValue::I32(123)),
        (key("Key3"), PsValue::Bool(true)),
        (key("Key4"), PsValue::Bytes(b"data".to_vec())),
    ])
}

fn described() -> PsValue {
    let mut object = PsObject::new()
        .with_type_names(["System.String", "System.Object"])
        .with("baz", PsValue::I32(123))
        .with("foo", PsValue::String("bar".into()))
        .with("qux", PsValue::Bool(true));
    object.to_string = Some("test object".into());
    PsValue::Object(object)
}

fn reads(document: &str, value: &PsValue) -> bool {
    parse_clixml(document).is_ok_and(|read| read.len() == 1 && is_same(&read[0], value))
}

/// Returns whether `read` is the value that the crate decodes from the document of `written`: text forms are lost,
/// and a dictionary becomes the only property of an object.
fn is_same(read: &PsValue, written: &PsValue) -> bool {
    match (read, written) {
        (PsValue::Object(read), PsValue::Object(written)) => {
            read.properties == written.properties && read.type_names == written.type_names
        }
        (PsValue::Object(read), PsValue::Dict(_)) => read.get("_value") == Some(written),
        _ => read == written,
    }
}

fn serialize(suite: &mut Suite, name: &str, value: &PsValue, expected: u64) {
    let document = to_clixml(value);
    let is_right = reads(&document, value);
    row(suite, &format!("serialize_{name}"), FRESH, document.len(), expected, || {
        black_box(to_clixml(black_box(value))).len() == document.len() && is_right
    });
}

/// Adds a row that decodes a document without the root element: the crate reads no values from a document that has
/// one.
fn deserialize(suite: &mut Suite, name: &str, value: &PsValue, expected: u64) {
    let document = to_clixml(value);
    let is_right = reads(&document, value);
    row(suite, &format!("deserialize_{name}"), OWNED, document.len(), expected, || {
        parse_clixml(black_box(&document)).is_ok_and(|read| black_box(read).len() == 1) && is_right
    });
}

fn fragment(id: usize, count: usize, size: usize) -> Fragment {
    Fragment {
        object_id: 1,
        fragment_id: id as u64,
        start: id == 0,
        end: id + 1 == count,
        blob: vec![0; size],
    }
}

/// A new assembler is fed fragment by fragment: the crate has no other way to decode one.
fn reassemble(suite: &mut Suite, name: &str, sizes: &[usize]) {
    let count = sizes.len();
    let parts: Vec<_> =
        sizes.iter().enumerate().map(|(id, &size)| fragment(id, count, size).encode()).collect();
    let length: usize = sizes.iter().sum();
    row(suite, name, OWNED, parts.iter().map(Vec::len).sum(), length as u64, || {
        let mut assembler = Reassembler::new();
        let mut message = None;
        for part in black_box(&parts) {
            message = assembler.feed(part).ok().and_then(|mut messages| messages.pop());
        }
        black_box(message).is_some_and(|message| message.len() == length)
    });
}

fn message(data: String) -> PsrpMessage {
    PsrpMessage::to_server(MessageType::CreatePipeline, Uuid::new_v4(), Uuid::new_v4(), data)
}

/// All steps with what the step before made.
fn round_trip(suite: &mut Suite, name: &str, value: &PsValue, expected: u64) {
    let run = |value: &PsValue| {
        let wire = encode_message(1, &message(to_clixml(value)).encode());
        let received = Reassembler::new().feed(&wire).ok()?.pop()?;
        parse_clixml(&PsrpMessage::decode(&received).ok()?.data).ok()
    };
    let is_right = run(value).is_some_and(|read| read == [value.clone()]);
    row(suite, name, OWNED, to_clixml(value).len(), expected, || {
        run(black_box(value)).is_some_and(|read| black_box(read).len() == 1) && is_right
    });
}
