//! A recorded session and the message vectors through all layers below CLIXML.

use std::collections::{HashMap, HashSet};

use psrp::fragment::{Assembler, Fragment, Priority};
use psrp::message::{Destination, Message, MessageHeader, MessageType};
use psrp::outofproc::{Packet, PacketReader, ReaderEvent, Role};
use serde_json::Value;
use uuid::Uuid;

use crate::vectors_wire::{hex, load};

fn id(text: &Value) -> Option<Uuid> {
    let id = Uuid::parse_str(text.as_str()?).expect("an identifier");
    (!id.is_nil()).then_some(id)
}

fn message_type(text: &Value) -> MessageType {
    let digits = text.as_str().unwrap().strip_prefix("0x").unwrap();
    MessageType::from_id(u32::from_str_radix(digits, 16).unwrap())
}

fn destination(number: &Value) -> Destination {
    match number.as_u64() {
        Some(1) => Destination::Client,
        Some(2) => Destination::Server,
        other => panic!("{other:?}"),
    }
}

#[test]
fn vector_headers_are_decoded() {
    let cases = load("messages.json");
    let mut types = HashSet::new();
    for case in cases.as_array().unwrap() {
        let name = &case["name"];
        let header = MessageHeader {
            destination: destination(&case["destination"]),
            message_type: message_type(&case["type_id"]),
            pool_id: id(&case["runspace_pool_id"]).unwrap_or_default(),
            pipeline_id: id(&case["pipeline_id"]),
        };
        let message = Message { header, data: case["data"].as_str().unwrap().as_bytes() };
        let (plain, with_bom) = (hex(&case["message_hex"]), hex(&case["message_with_bom_hex"]));
        assert_eq!(Message::decode(&plain).unwrap(), message, "{name}");
        assert_eq!(Message::decode(&with_bom).unwrap(), message, "{name}");
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        assert_eq!(bytes, plain, "{name}");
        if !message.data.is_empty() {
            bytes.clear();
            message.encode_with_bom(&mut bytes);
            assert_eq!(bytes, with_bom, "{name}");
        }
        types.insert(header.message_type);
    }
    assert!(types.len() > 25, "{types:?}");
}

/// One direction of the recorded session.
struct Side {
    reader: PacketReader,
    assemblers: HashMap<(Option<Uuid>, Priority), Assembler>,
}

impl Side {
    fn new(role: Role) -> Self {
        Self { reader: PacketReader::new(role), assemblers: HashMap::new() }
    }
}

#[test]
fn a_recorded_session_is_decoded() {
    let session = load("conversation.json");
    let (mut to_server, mut to_client) = (Side::new(Role::Server), Side::new(Role::Client));
    let mut messages = 0;
    for step in session["steps"].as_array().unwrap() {
        let n = &step["n"];
        let from_client = step["direction"] == "client->server";
        let side = if from_client { &mut to_server } else { &mut to_client };
        let line = format!("{}\n", step["line"].as_str().unwrap());
        // In chunks, as delivered by a pipe.
        let (first, mut rest) = line.as_bytes().split_at(line.len() / 3);
        assert_eq!(side.reader.next(&mut &first[..]).unwrap(), None);
        let Some(ReaderEvent::Packet(packet)) = side.reader.next(&mut rest).unwrap() else {
            panic!("{n}: no packet")
        };
        let mut written = Vec::new();
        packet.encode(&mut written).unwrap();
        assert_eq!(written, line.as_bytes(), "{n}");
        let Packet::Data { target, priority, mut data } = packet else {
            assert!(step.get("fragments").is_none(), "{n}");
            continue;
        };

        let mut expected = step["fragments"].as_array().unwrap().iter();
        let mut fragments = data;
        while !fragments.is_empty() {
            let (fragment, after) = Fragment::decode(fragments).unwrap();
            let expected = expected.next().unwrap();
            assert_eq!(expected["object_id"], fragment.object_id, "{n}");
            assert_eq!(expected["fragment_id"], fragment.fragment_id, "{n}");
            assert_eq!(expected["start"], fragment.start, "{n}");
            assert_eq!(expected["end"], fragment.end, "{n}");
            assert_eq!(expected["blob_length"], fragment.blob.len(), "{n}");
            fragments = after;
        }
        assert!(expected.next().is_none());

        let told =
            step["fragments"].as_array().unwrap().iter().filter_map(|fragment| fragment.get("message"));
        let mut told = told.filter(|message| !message.is_null());
        let assembler = side.assemblers.entry((target, priority)).or_default();
        while let Some(bytes) = assembler.next(&mut data).unwrap() {
            let message = Message::decode(bytes).unwrap();
            assert_eq!(message.header.pipeline_id, target, "{n}");
            let is_for = if from_client { Destination::Server } else { Destination::Client };
            assert_eq!(message.header.destination, is_for);
            if let Some(told) = told.next() {
                assert_eq!(message.header.message_type, message_type(&told["type"]), "{n}");
                assert_eq!(Some(message.header.pool_id).filter(|id| !id.is_nil()), id(&told["rpid"]), "{n}");
                assert_eq!(message.header.pipeline_id, id(&told["pid"]), "{n}");
                assert_eq!(told["data"], std::str::from_utf8(message.data).unwrap(), "{n}");
            }
            messages += 1;
        }
    }
    assert!(messages > 30, "{messages}");
    assert!(to_server.assemblers.values().chain(to_client.assemblers.values()).all(|one| !one.is_pending()));
}
