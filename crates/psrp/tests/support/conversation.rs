//! The recorded conversation, step by step.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::collections::BTreeMap;

use psrp::fragment::Assembler;
use psrp::message::{Message, MessageHeader, MessageType, Payload};
use psrp::outofproc::Packet;
use serde_json::Value as Json;
use uuid::Uuid;

/// A packet, and the states after it.
pub struct Step<'a> {
    pub number: u64,
    pub from_client: bool,
    pub line: &'a str,
    pub json: &'a Json,
}

pub fn steps(conversation: &Json) -> impl Iterator<Item = Step<'_>> {
    conversation["steps"].as_array().expect("steps").iter().map(|json| Step {
        number: json["n"].as_u64().unwrap(),
        from_client: json["direction"] == "client->server",
        line: json["line"].as_str().unwrap(),
        json,
    })
}

/// Formats the states of pipelines as in the file.
pub fn states<S: ToString>(pipelines: impl Iterator<Item = (Uuid, S)>) -> BTreeMap<String, String> {
    pipelines.map(|(id, state)| (id.to_string(), state.to_string())).collect()
}

pub fn expected_states(json: &Json) -> BTreeMap<String, String> {
    let states = json.as_object().expect("states").iter();
    states.map(|(id, state)| (id.clone(), state.as_str().unwrap().to_owned())).collect()
}

/// Compares packets with those of the file: all bytes, except for messages with nested objects or object texts. The
/// recorded implementation writes `RefId` before `N` and the text last, PowerShell does not; the values of these
/// messages must be equal.
#[derive(Default)]
pub struct Comparison {
    ours: Assembler,
    theirs: Assembler,
    pub compared: usize,
}

impl Comparison {
    pub fn check(&mut self, number: u64, packet: Packet<'_>, line: &str) {
        let mut buffer = Vec::new();
        let expected = Packet::parse(line.as_bytes(), &mut buffer).expect("a packet");
        let (Packet::Data { data: ours, .. }, Packet::Data { data: theirs, .. }) = (packet, expected) else {
            assert_eq!(packet, expected, "step {number}");
            return;
        };
        assert_eq!(packet.target(), expected.target(), "step {number}");
        // The recorded server marks host calls as prompt responses, PowerShell's server marks nothing.
        if line_is_answer(theirs) {
            assert_eq!(priority(&packet), priority(&expected), "step {number}");
        }
        assert_eq!(fragments(ours), fragments(theirs), "fragments of step {number}");
        let (ours, theirs) = (assemble(&mut self.ours, ours), assemble(&mut self.theirs, theirs));
        assert_eq!(ours.len(), theirs.len(), "messages of step {number}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let [ours, theirs] = [ours, theirs].map(|bytes| Message::decode(bytes).unwrap());
            let pool_free = |header: MessageHeader| MessageHeader { pool_id: Uuid::nil(), ..header };
            assert_eq!(pool_free(ours.header), pool_free(theirs.header), "step {number}");
            let text = str::from_utf8(theirs.data).unwrap();
            self.compared += 1;
            match theirs.header.message_type {
                // The padding is random.
                MessageType::EncryptedSessionKey => continue,
                // The recorded server uses 32-bit identifiers.
                MessageType::RunspaceAvailability => {
                    let text = str::from_utf8(ours.data).unwrap().replace("I64 N=\"S", "I32 N=\"S");
                    let text = text.replace("3</I64><I64", "3</I32><I64");
                    assert_eq!(text, str::from_utf8(theirs.data).unwrap(), "step {number}");
                    continue;
                }
                _ => {}
            }
            if text.contains("<Obj RefId=\"1\"") || text.contains("</ToString>") {
                let [ours, theirs] = [ours, theirs]
                    .map(|message| Payload::decode(message.header.message_type, message.data).unwrap());
                assert_eq!(ours, theirs, "step {number}");
            } else {
                let [ours, theirs] = [ours, theirs].map(|message| str::from_utf8(message.data).unwrap());
                assert_eq!(ours, theirs, "step {number}");
            }
        }
    }
}

/// Returns whether the first message in these fragments is for the server.
fn line_is_answer(fragments: &[u8]) -> bool {
    fragments[21] == 2
}

fn priority(packet: &Packet<'_>) -> Option<psrp::fragment::Priority> {
    match packet {
        Packet::Data { priority, .. } => Some(*priority),
        _ => None,
    }
}

/// Returns identifiers and flags of the fragments.
fn fragments(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut headers = Vec::new();
    while !bytes.is_empty() {
        headers.push(bytes[..17].to_vec());
        let len = u32::from_be_bytes(bytes[17..21].try_into().unwrap()) as usize;
        bytes = &bytes[21 + len..];
    }
    headers
}

fn assemble(assembler: &mut Assembler, mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some(message) = assembler.next(&mut bytes).unwrap() {
        messages.push(message.to_vec());
    }
    messages
}
