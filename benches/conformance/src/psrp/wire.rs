//! Messages, fragments and packets.

use anyhow::{Context as _, bail, ensure};
use psrp::fragment::{AssemblerOptions, Fragment, Fragmenter, Priority};
use psrp::message::{Destination, Message, MessageHeader};
use psrp::outofproc::{Packet, ReaderOptions, Role};
use serde_json::Value as Json;
use uuid::Uuid;

use super::fragment_reference::{self, assemble, chunks};
use super::message_round_trip::{self, message_type};
use super::packet_reference::{self, ReadResult};
use super::vectors_wire::hex;

/// Parses an identifier; `None` if it is missing or zero.
fn id(text: &Json) -> anyhow::Result<Option<Uuid>> {
    let id = text.as_str().map(Uuid::parse_str).transpose()?;
    Ok(id.filter(|id| !id.is_nil()))
}

fn hex_list(list: &Json) -> Vec<Vec<u8>> {
    list.as_array().into_iter().flatten().map(hex).collect()
}

/// Checks the header and content of a message: whole, in one fragment and in several.
pub(super) fn message(case: &Json) -> anyhow::Result<()> {
    let header = MessageHeader {
        destination: if case["destination"] == 1 { Destination::Client } else { Destination::Server },
        message_type: message_type(&case["type_id"]),
        pool_id: id(&case["runspace_pool_id"])?.unwrap_or_default(),
        pipeline_id: id(&case["pipeline_id"])?,
    };
    let data = case["data"].as_str().context("no data")?;
    let message = Message { header, data: data.as_bytes() };
    let plain = hex(&case["message_hex"]);
    ensure!(Message::decode(&plain)? == message, "another header");
    ensure!(Message::decode(&hex(&case["message_with_bom_hex"]))? == message, "another header with a mark");
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    ensure!(bytes == plain, "written to other bytes");
    message_round_trip::check(header.message_type, data);

    let mut fragmenter = Fragmenter::new();
    fragmenter.set_next_object_id(case["object_id"].as_u64().context("no object id")?);
    bytes.clear();
    fragmenter.clone().encode(&plain, &mut bytes);
    ensure!(bytes == hex(&case["fragment_hex"]), "another fragment");
    let encode = |fragment: Fragment<'_>| {
        let mut bytes = Vec::new();
        fragment.encode(&mut bytes).map(|()| bytes)
    };
    let fragments: Vec<_> =
        fragmenter.fragment_size(100).split(&plain).map(encode).collect::<Result<_, _>>()?;
    let expected = hex_list(&case["fragments_of_100_bytes_hex"]);
    ensure!(fragments == expected, "other fragments of 100 bytes");
    let outcome = assemble(AssemblerOptions::new(), &chunks(&expected.concat(), &[13]));
    ensure!(outcome.failure.is_none() && outcome.messages == [plain], "put together to {outcome:?}");
    Ok(())
}

/// Checks the messages, or the error, of chunks, also with other chunk boundaries.
pub(super) fn fragments(case: &Json) -> anyhow::Result<()> {
    let parts = hex_list(&case["chunks"]);
    let all = parts.concat();
    let messages = hex_list(&case["messages"]);
    for sizes in [&[][..], &[1], &[20], &[21, 1], &[22], &[5, 50]] {
        let chunks =
            if sizes.is_empty() { parts.iter().map(|part| &part[..]).collect() } else { chunks(&all, sizes) };
        let outcome = assemble(AssemblerOptions::new(), &chunks);
        match case["expect"].as_str().context("no expectation")? {
            "accept" | "accept_empty" | "incomplete" => {
                ensure!(outcome.failure.is_none() && outcome.messages == messages, "{outcome:?}");
            }
            "reject" => {
                ensure!(outcome.failure.is_some() && outcome.messages.is_empty(), "{outcome:?}");
            }
            "reject_strict" => ensure!(outcome.failure.is_some(), "{outcome:?}"),
            // Both results are allowed; the rules below must hold.
            "lenient" => {}
            other => bail!("unknown expectation {other}"),
        }
    }
    fragment_reference::check(&all, &[7], 1000);
    Ok(())
}

/// Parses the packet in a line as a client and as a server.
pub(super) fn packet(case: &Json) -> anyhow::Result<()> {
    let line = case["line"].as_str().context("no line")?;
    let read = |role, end: &str| {
        let bytes = format!("{line}{end}").into_bytes();
        packet_reference::check(&bytes, &chunks(&bytes, &[7]), 10_000);
        packet_reference::read(role, ReaderOptions::new(), &[&bytes])
    };
    let (client, server) = (read(Role::Client, "\n"), read(Role::Server, "\r\n"));
    let refused = |found: &[ReadResult]| matches!(found, [ReadResult::Error(_)] | [ReadResult::Failure(_)]);
    let mut buffer = Vec::new();
    let parsed = Packet::parse(line.as_bytes(), &mut buffer).map(ReadResult::from);
    match case["expect"].as_str().context("no expectation")? {
        "accept" => {
            let expected = expected(&case["packet"])?;
            ensure!(parsed? == expected, "another packet");
            ensure!(client == server && client == [expected], "read {client:?} and {server:?}");
        }
        "reject" => {
            ensure!(parsed.is_err(), "accepted");
            ensure!(refused(&client) && refused(&server), "read {client:?} and {server:?}");
        }
        // Output of the shell, or an empty packet for a server.
        "reject_or_skip" => {
            ensure!(client.is_empty() || refused(&client), "a client read {client:?}");
            ensure!(server.is_empty() || refused(&server), "a server read {server:?}");
        }
        "reject_server" => {
            ensure!(refused(&server) || server == [ReadResult::End], "a server read {server:?}")
        }
        "lenient" => ensure!(client == server, "read {client:?} and {server:?}"),
        other => bail!("unknown expectation {other}"),
    }
    Ok(())
}

fn expected(packet: &Json) -> anyhow::Result<ReadResult> {
    let target = id(&packet["guid"])?;
    let bytes = packet.get("data_hex").map(hex).unwrap_or_default();
    let priority =
        if packet["stream"] == "PromptResponse" { Priority::PromptResponse } else { Priority::Default };
    let packet = match packet["type"].as_str() {
        Some("Data") => Packet::Data { target, priority, data: &bytes },
        Some("DataAck") => Packet::DataAck(target),
        Some("Command") => Packet::Command(target),
        Some("CommandAck") => Packet::CommandAck(target),
        Some("Close") => Packet::Close(target),
        Some("CloseAck") => Packet::CloseAck(target),
        Some("Signal") => Packet::Signal(target),
        Some("SignalAck") => Packet::SignalAck(target),
        other => bail!("a packet of the type {other:?}"),
    };
    Ok(packet.into())
}
