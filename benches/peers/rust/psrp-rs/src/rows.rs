//! The rows that the crate can do, with its own values.

use std::hint::black_box;

use psrp_rs::clixml::{PsObject, PsValue, parse_clixml, to_clixml};
use psrp_rs::fragment::{Fragment, Reassembler, encode_message};
use psrp_rs::message::{MessageType, PsrpMessage};
use uuid::Uuid;

/// All rows.
pub(crate) const NAMES: [&str; 16] = [
    "serialize_small_object",
    "serialize_medium_object",
    "serialize_large_object",
    "serialize_string",
    "serialize_int32",
    "serialize_hashtable",
    "deserialize_small_object",
    "deserialize_ps_object",
    "fragment_encode_1kb",
    "fragment_encode_large_32kb",
    "fragment_decode_1kb",
    "fragment_assemble_4",
    "message_encode",
    "message_decode",
    "round_trip_small",
    "round_trip_medium",
];

/// One row: what is timed, and what must hold before.
pub(crate) struct Operation {
    pub(crate) payload: usize,
    is_right: bool,
    pub(crate) run: Box<dyn FnMut()>,
}

impl Operation {
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.is_right { Ok(()) } else { Err("another result") }
    }
}

/// The row of this name, if there is one.
pub(crate) fn operation(row: &str) -> Option<Operation> {
    Some(match row {
        "serialize_small_object" => serialize(small()),
        "serialize_medium_object" => serialize(numbered("Property", 10)),
        "serialize_large_object" => serialize(numbered("Property", 50)),
        "serialize_string" => serialize(PsValue::String("test string value".into())),
        "serialize_int32" => serialize(PsValue::I32(12345)),
        "serialize_hashtable" => serialize(hashtable()),
        "deserialize_small_object" => deserialize(small()),
        "deserialize_ps_object" => deserialize(described()),
        "fragment_encode_1kb" => fragment_encode(1024),
        "fragment_encode_large_32kb" => fragment_encode(32768),
        "fragment_decode_1kb" => reassemble(vec![fragment(0, 1, 1024).encode()], 1024),
        "fragment_assemble_4" => {
            let sizes = [1003, 1003, 1003, 1003, 84];
            let parts = sizes.iter().enumerate().map(|(id, &size)| fragment(id, sizes.len(), size).encode());
            reassemble(parts.collect(), 4096)
        }
        "message_encode" => {
            let message = message("\0".repeat(1024));
            Operation {
                payload: 1064,
                is_right: message.encode().len() == 1064,
                run: Box::new(move || drop(black_box(black_box(&message).encode()))),
            }
        }
        "message_decode" => {
            let encoded = message("\0".repeat(1024)).encode();
            Operation {
                payload: encoded.len(),
                is_right: PsrpMessage::decode(&encoded).is_ok_and(|read| read.data == "\0".repeat(1024)),
                run: Box::new(move || drop(black_box(PsrpMessage::decode(black_box(&encoded))))),
            }
        }
        "round_trip_small" => round_trip(small()),
        "round_trip_medium" => round_trip(numbered("Prop", 20)),
        _ => return None,
    })
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

/// Whether a value is what the crate makes of the document of another: text forms are lost, and a dictionary is the only
/// property of an object.
fn is_same(read: &PsValue, written: &PsValue) -> bool {
    match (read, written) {
        (PsValue::Object(read), PsValue::Object(written)) => {
            read.properties == written.properties && read.type_names == written.type_names
        }
        (PsValue::Object(read), PsValue::Dict(_)) => read.get("_value") == Some(written),
        _ => read == written,
    }
}

fn serialize(value: PsValue) -> Operation {
    let document = to_clixml(&value);
    Operation {
        payload: document.len(),
        is_right: reads(&document, &value),
        run: Box::new(move || drop(black_box(to_clixml(black_box(&value))))),
    }
}

/// A document without the wrapper: the crate reads nothing where there is one.
fn deserialize(value: PsValue) -> Operation {
    let document = to_clixml(&value);
    Operation {
        payload: document.len(),
        is_right: reads(&document, &value),
        run: Box::new(move || drop(black_box(parse_clixml(black_box(&document))))),
    }
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

fn fragment_encode(size: usize) -> Operation {
    let fragment = fragment(0, 1, size);
    Operation {
        payload: size + 21,
        is_right: fragment.encode().len() == size + 21,
        run: Box::new(move || drop(black_box(black_box(&fragment).encode()))),
    }
}

/// A new assembler is fed fragment by fragment: the crate has no other way to decode one.
fn reassemble(parts: Vec<Vec<u8>>, length: usize) -> Operation {
    let run = |parts: &[Vec<u8>]| {
        let mut assembler = Reassembler::new();
        let mut message = None;
        for part in parts {
            message = assembler.feed(part).ok()?.pop();
        }
        message
    };
    Operation {
        payload: parts.iter().map(Vec::len).sum(),
        is_right: run(&parts).is_some_and(|message| message == vec![0; length]),
        run: Box::new(move || drop(black_box(run(black_box(&parts))))),
    }
}

fn message(data: String) -> PsrpMessage {
    PsrpMessage::to_server(MessageType::CreatePipeline, Uuid::new_v4(), Uuid::new_v4(), data)
}

/// All steps with what the step before made.
fn round_trip(value: PsValue) -> Operation {
    let run = |value: &PsValue| {
        let wire = encode_message(1, &message(to_clixml(value)).encode());
        let received = Reassembler::new().feed(&wire).ok()?.pop()?;
        parse_clixml(&PsrpMessage::decode(&received).ok()?.data).ok()
    };
    Operation {
        payload: to_clixml(&value).len(),
        is_right: run(&value) == Some(vec![value.clone()]),
        run: Box::new(move || drop(black_box(run(black_box(&value))))),
    }
}
