//! A recorded session. Each line has a packet, its fragments and its messages.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use psrp::clixml::{ReadOptions, WriteOptions, Writer};
use psrp::crypto::SessionKey;
use psrp::fragment::{Assembler, Fragment, Priority};
use psrp::message::{Destination, Message, Payload};
use psrp::outofproc::{Packet, PacketReader, ReaderEvent, Role};
use serde_json::Value as Json;
use uuid::Uuid;

use super::message_round_trip::message_type;
use super::wire::id;
use super::{Report, crypto};

/// The messages that one role receives.
struct Side {
    reader: PacketReader,
    is_for: Destination,
    assemblers: HashMap<(Option<Uuid>, Priority), Assembler>,
    /// The last object id. All targets of a session share one counter.
    last_object: u64,
}

impl Side {
    fn new(role: Role, is_for: Destination) -> Self {
        Self { reader: PacketReader::new(role), is_for, assemblers: HashMap::new(), last_object: 0 }
    }

    fn is_pending(&self) -> bool {
        self.assemblers.values().any(Assembler::is_pending)
    }
}

pub(super) fn run(file: &Json, report: &mut Report) {
    let mut to_server = Side::new(Role::Server, Destination::Server);
    let mut to_client = Side::new(Role::Client, Destination::Client);
    let mut key = None;
    report.case("session_key_hex", || {
        key = Some(Arc::new(crypto::session_key(&file["session_key_hex"])?));
        Ok(())
    });
    let Some(key) = key else { return };
    for step in file["steps"].as_array().into_iter().flatten() {
        let side = if step["direction"] == "client->server" { &mut to_server } else { &mut to_client };
        report.case(&format!("step {}", step["n"]), || examine(step, side, &key));
    }
    report.case("end", || {
        ensure!(!to_server.is_pending() && !to_client.is_pending(), "a message is not complete");
        Ok(())
    });
}

fn examine(step: &Json, side: &mut Side, key: &Arc<SessionKey>) -> anyhow::Result<()> {
    let line = format!("{}\n", step["line"].as_str().context("no line")?);
    let mut bytes = line.as_bytes();
    let Some(ReaderEvent::Packet(packet)) = side.reader.next(&mut bytes)? else { bail!("no packet") };
    let mut written = Vec::new();
    packet.encode(&mut written)?;
    ensure!(written == line.as_bytes(), "the packet is written as {}", String::from_utf8_lossy(&written));
    let Packet::Data { target, priority, mut data } = packet else {
        ensure!(step.get("fragments").is_none(), "a packet without data");
        return Ok(());
    };

    let fragments = step["fragments"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut rest = data;
    for told in fragments {
        let (fragment, after) = Fragment::decode(rest)?;
        ensure!(told["object_id"] == fragment.object_id, "object {}", fragment.object_id);
        ensure!(told["fragment_id"] == fragment.fragment_id, "fragment {}", fragment.fragment_id);
        ensure!(told["start"] == fragment.start && told["end"] == fragment.end, "other marks");
        ensure!(told["blob_length"] == fragment.blob.len(), "{} bytes", fragment.blob.len());
        let expected = side.last_object + u64::from(fragment.start);
        ensure!(fragment.object_id == expected, "object {} after {expected}", fragment.object_id);
        side.last_object = expected;
        rest = after;
    }
    ensure!(rest.is_empty(), "more fragments than {}", fragments.len());

    let mut told = fragments.iter().map(|fragment| &fragment["message"]).filter(|message| !message.is_null());
    let mut events = step["events_at_receiver"].as_array().into_iter().flatten();
    let assembler = side.assemblers.entry((target, priority)).or_default();
    while let Some(bytes) = assembler.next(&mut data)? {
        let message = Message::decode(bytes)?;
        ensure!(message.header.pipeline_id == target, "a message for another target");
        ensure!(message.header.destination == side.is_for, "a message for the other side");
        let event = events.next().and_then(Json::as_str).context("a message without an event")?;
        examine_message(&message, told.next(), event, key)?;
    }
    ensure!(told.next().is_none() && events.next().is_none(), "too few messages");
    Ok(())
}

/// Checks that the message equals the recorded one, matches its event, and survives a round trip.
fn examine_message(
    message: &Message<'_>,
    told: Option<&Json>,
    event: &str,
    key: &Arc<SessionKey>,
) -> anyhow::Result<()> {
    let header = message.header;
    if let Some(told) = told {
        ensure!(header.message_type == message_type(&told["type"]), "a {:?}", header.message_type);
        ensure!(Some(header.pool_id).filter(|id| !id.is_nil()) == id(&told["rpid"])?, "another pool");
        ensure!(header.pipeline_id == id(&told["pid"])?, "another pipeline");
        ensure!(told["data"] == str::from_utf8(message.data)?, "other data");
    }
    // The event of an availability also names the request that it belongs to.
    let expected = format!("{:?}Event", header.message_type);
    ensure!(event.ends_with(&expected), "the event {event} for {expected}");

    let options = ReadOptions::new().cipher(key.clone());
    let payload = Payload::decode_with(header.message_type, message.data, options.clone())?;
    ensure!(!matches!(payload, Payload::Other(..)), "an unknown type");
    let mut writer = Writer::with_options(WriteOptions::new().cipher(key.clone()));
    let written = payload.encode(&mut writer)?;
    ensure!(Payload::decode_with(header.message_type, written, options)? == payload, "another payload");
    Ok(())
}
