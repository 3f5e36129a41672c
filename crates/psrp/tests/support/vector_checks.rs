//! Checks of the cases in `tests/data`, which `cargo xtask conformance psrp` runs on any file in one of their formats. They
//! panic if a check fails.
//!
//! Requires the sibling modules whose names it uses.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::sync::Arc;

use psrp::clixml::{ReadOptions, Reader, WriteOptions, Writer};
use psrp::crypto::SessionKey;
use psrp::fragment::{AssemblerOptions, Fragment, Fragmenter, Priority};
use psrp::message::{Destination, Message, MessageHeader};
use psrp::outofproc::{Packet, ReaderOptions, Role};
use psrp::{Error, Value};
use serde_json::Value as Json;
use uuid::Uuid;

use super::fragment_reference::{self, assemble};
use super::message_round_trip::{self, message_type};
use super::packet_reference::{self, ReadResult};
use super::vectors::{DecodeCase, ValueCase};
use super::vectors_wire::hex;

/// Check of one case.
pub type Check = fn(&Json);

/// Returns the check of the cases of a list, according to the fields of one.
pub fn of(case: &Json) -> Option<Check> {
    let formats: [(&str, Check); 5] = [
        ("reference", value),
        ("xml", document),
        ("message_hex", message),
        ("chunks", fragments),
        ("line", packet),
    ];
    formats.into_iter().find(|(member, _)| case.get(member).is_some()).map(|(_, check)| check)
}

/// Returns the key of all encrypted strings in the files.
pub fn cipher() -> Arc<SessionKey> {
    Arc::new(SessionKey::from_bytes(std::array::from_fn(|index| index as u8)).expect("32 bytes"))
}

fn read(xml: &str) -> Result<Vec<Value>, Error> {
    let options = ReadOptions::new().cipher(cipher());
    Reader::with_options(xml.as_bytes(), options).map(|item| item.map(|(_, value)| value)).collect()
}

/// The value is written as the reference, and the reference is read as the value.
fn value(case: &Json) {
    let case = ValueCase::new(case);
    let mut writer = Writer::with_options(WriteOptions::new().cipher(cipher()));
    let written = writer.write(&case.value).expect("the value is written");
    assert_eq!(str::from_utf8(written), Ok(&*case.written()));
    assert_eq!(read(&case.reference).expect("the reference is read"), [case.value]);
}

/// The document yields its values, or an error with a position.
fn document(tree: &Json) {
    let case = DecodeCase::new(tree);
    match (case.expect.as_str(), read(&case.xml)) {
        ("accept", Ok(values)) => match case.values {
            Some(expected) => assert_eq!(values, expected),
            None => assert!(!values.is_empty(), "read nothing"),
        },
        ("reject" | "accept_bounded", Err(error)) => assert!(error.offset().is_some(), "{error}"),
        ("accept_bounded", Ok(values)) => assert_eq!(values.len(), 1),
        // PowerShell accepts it, so a reader may as well.
        ("reject", Ok(_)) if tree["lenient_ok"] == true => {}
        (expect, outcome) => panic!("it is to be {expect} and was {outcome:?}"),
    }
}

/// Parses an identifier; `None` if it is missing or zero.
fn id(text: &Json) -> Option<Uuid> {
    let id = text.as_str().map(|text| Uuid::parse_str(text).expect("an identifier"));
    id.filter(|id| !id.is_nil())
}

fn hex_list(list: &Json) -> Vec<Vec<u8>> {
    list.as_array().into_iter().flatten().map(hex).collect()
}

fn chunks<'a>(bytes: &'a [u8], parts: &'a [Vec<u8>], sizes: &[usize]) -> Vec<&'a [u8]> {
    match sizes {
        [] => parts.iter().map(Vec::as_slice).collect(),
        _ => fragment_reference::chunks(bytes, sizes),
    }
}

/// Header and content of a message: whole, in one fragment and in several.
fn message(case: &Json) {
    let header = MessageHeader {
        destination: if case["destination"] == 1 { Destination::Client } else { Destination::Server },
        message_type: message_type(&case["type_id"]),
        pool_id: id(&case["runspace_pool_id"]).unwrap_or_default(),
        pipeline_id: id(&case["pipeline_id"]),
    };
    let data = case["data"].as_str().expect("data");
    let message = Message { header, data: data.as_bytes() };
    let (plain, with_bom) = (hex(&case["message_hex"]), hex(&case["message_with_bom_hex"]));
    assert_eq!(Message::decode(&plain).expect("a message"), message);
    assert_eq!(Message::decode(&with_bom).expect("a message"), message);
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    assert_eq!(bytes, plain);
    if !data.is_empty() {
        bytes.clear();
        message.encode_with_bom(&mut bytes);
        assert_eq!(bytes, with_bom);
    }
    message_round_trip::check(header.message_type, data);

    let mut fragmenter = Fragmenter::new();
    fragmenter.set_next_object_id(case["object_id"].as_u64().expect("an object id"));
    bytes.clear();
    fragmenter.clone().encode(&plain, &mut bytes);
    assert_eq!(bytes, hex(&case["fragment_hex"]));
    let encode = |fragment: Fragment<'_>| {
        let mut bytes = Vec::new();
        fragment.encode(&mut bytes).expect("a fragment");
        bytes
    };
    let expected = hex_list(&case["fragments_of_100_bytes_hex"]);
    assert_eq!(fragmenter.fragment_size(100).split(&plain).map(encode).collect::<Vec<_>>(), expected);
    let outcome = assemble(AssemblerOptions::new(), &chunks(&expected.concat(), &[], &[13]));
    assert_eq!((outcome.messages, outcome.failure), (vec![plain], None));
}

/// The messages, or the error, of chunks, also with other chunk boundaries.
fn fragments(case: &Json) {
    let parts = hex_list(&case["chunks"]);
    let all = parts.concat();
    for sizes in [&[][..], &[1], &[20], &[21, 1], &[22], &[5, 50]] {
        let outcome = assemble(AssemblerOptions::new(), &chunks(&all, &parts, sizes));
        match (case["expect"].as_str().expect("an expectation"), case["id"].as_str()) {
            ("accept" | "accept_empty" | "incomplete", _) => {
                assert_eq!(outcome.failure, None);
                assert_eq!(outcome.messages, hex_list(&case["messages"]));
            }
            ("reject", _) => assert!(outcome.failure.is_some() && outcome.messages.is_empty(), "{outcome:?}"),
            // Of "object_id_high_bit", the top bit is ignored, and object 0 is invalid.
            ("reject_strict", _) | ("lenient", Some("object_id_high_bit")) => {
                assert!(outcome.failure.is_some(), "{outcome:?}");
            }
            // PowerShell restarts the message.
            ("lenient", Some("duplicate")) => assert_eq!(outcome.failure, None),
            // Both results are allowed; the rules below must hold.
            ("lenient", _) => {}
            (other, _) => panic!("unknown expectation {other}"),
        }
    }
    fragment_reference::check(&all, &[7], 1000);
}

/// The packet in a line, as a client and a server read it.
fn packet(case: &Json) {
    let line = case["line"].as_str().expect("a line");
    let read = |role, end: &str| {
        let bytes = format!("{line}{end}").into_bytes();
        for size in [1, 2, 7, 64] {
            packet_reference::check(&bytes, &chunks(&bytes, &[], &[size]), 10_000);
        }
        packet_reference::read(role, ReaderOptions::new(), &[&bytes])
    };
    let (client, server) = (read(Role::Client, "\n"), read(Role::Server, "\r\n"));
    let mut buffer = Vec::new();
    let parsed = Packet::parse(line.as_bytes(), &mut buffer).map(ReadResult::from);
    match case["expect"].as_str().expect("an expectation") {
        "accept" => {
            let expected = expected(&case["packet"]);
            assert_eq!(parsed.expect("a packet"), expected);
            assert_eq!(client, std::slice::from_ref(&expected));
            assert_eq!(server, [expected]);
        }
        "lenient" => assert_eq!(client, server),
        other => {
            assert!(parsed.is_err(), "accepted");
            match other {
                "reject" if case["id"] == "named_pipe_error" => {
                    assert_eq!(client, [ReadResult::Failure("something failed".into())]);
                }
                "reject" => {
                    assert!(
                        matches!(client[..], [ReadResult::Error(_) | ReadResult::Failure(_)]),
                        "{client:?}"
                    );
                }
                // Output of the shell, or an empty packet for a server.
                "reject_or_skip" | "reject_server" => assert_eq!(client, []),
                other => panic!("unknown expectation {other}"),
            }
            let is_end = other == "reject_server" && server == [ReadResult::End];
            assert!(is_end || matches!(server[..], [ReadResult::Error(_)]), "{server:?}");
        }
    }
}

fn expected(packet: &Json) -> ReadResult {
    let target = id(&packet["guid"]);
    let bytes = packet.get("data_hex").map(hex).unwrap_or_default();
    let is_prompt = packet["stream"] == "PromptResponse";
    let priority = if is_prompt { Priority::PromptResponse } else { Priority::Default };
    ReadResult::from(match packet["type"].as_str().expect("a type") {
        "Data" => Packet::Data { target, priority, data: &bytes },
        "DataAck" => Packet::DataAck(target),
        "Command" => Packet::Command(target),
        "CommandAck" => Packet::CommandAck(target),
        "Close" => Packet::Close(target),
        "CloseAck" => Packet::CloseAck(target),
        "Signal" => Packet::Signal(target),
        "SignalAck" => Packet::SignalAck(target),
        other => panic!("a packet of the type {other}"),
    })
}
