//! What both ends of a session share: messages out of and into fragments, transport actions, and the key.

mod calls;
mod events;
mod inbox;
mod intake;
mod key;
mod outbox;
mod parked;

use std::sync::Arc;

use uuid::Uuid;

use crate::clixml::{Limits, ReadOptions, WriteOptions, Writer};
use crate::error::{Error, Kind};
use crate::fragment::{Fragmenter, Priority};
use crate::message::{Destination, Message, MessageHeader, MessageType, Payload};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::Value;

pub(crate) use calls::HostCalls;
pub(crate) use events::Events;
use inbox::Inbox;
pub(crate) use intake::{Intake, Receiver, give_up, receive};
pub(crate) use key::Key;
use outbox::Outbox;
pub(crate) use outbox::{Awaited, Sender};
pub(crate) use parked::Parked;
use parked::{StandIn, Waiting};

/// What the document of a small script takes; most of it are members that every request has.
const REQUEST: usize = 2048;

/// The error of an action that a state does not allow.
#[cold]
pub(crate) fn not_now(action: &str, of: &str, state: impl std::fmt::Display) -> Error {
    Error::with(Kind::State, format!("can't {action}: the {of} is {state}"))
}

#[cold]
pub(crate) fn violation(what: impl Into<Box<str>>) -> Error {
    Error::with(Kind::Protocol, what)
}

/// The record of an error of the peer: a limit that it has exceeded, or a violation of the protocol.
pub(crate) fn record_of(error: &Error) -> ErrorRecord {
    let category =
        if error.is_limit() { ErrorCategory::LimitsExceeded } else { ErrorCategory::ProtocolError };
    ErrorRecord::new(error.to_string(), category)
}

/// How much one end of a session takes and keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) fragment_size: usize,
    pub(crate) max_object_size: usize,
    pub(crate) max_decoded_size: usize,
    pub(crate) max_partial_bytes: usize,
    pub(crate) max_pending_bytes: usize,
    pub(crate) max_event_bytes: usize,
}

/// What a message carries.
pub(crate) struct Decoded {
    pub(crate) payload: Payload,
    /// Bytes that it takes in memory.
    pub(crate) size: usize,
    /// Whether it has secure strings that a key is missing for.
    pub(crate) needs_key: bool,
}

pub(crate) struct Link {
    peer: Destination,
    pub(crate) pool_id: Uuid,
    writer: Writer,
    reading: ReadOptions,
    pub(crate) outbox: Outbox,
    waiting: Waiting,
    pub(crate) inbox: Inbox,
    key: Key,
}

impl Link {
    pub(crate) fn new(peer: Destination, pool_id: Uuid, sizes: Sizes, key: Key) -> Self {
        let fragmenter = Fragmenter::new().fragment_size(sizes.fragment_size);
        // The client waits for an acknowledgement before it sends more to a target, the server does not.
        let waits = peer == Destination::Server;
        let mut writer = Writer::new();
        if waits {
            writer.reserve(REQUEST);
        }
        Self {
            peer,
            pool_id,
            writer,
            // A document is smaller than the message that it comes in.
            reading: ReadOptions::new().limits(
                Limits::new()
                    .max_size(sizes.max_object_size)
                    .max_decoded_size(sizes.max_decoded_size)
                    .max_nodes(Limits::DEFAULT_MAX_NODES.max(sizes.max_decoded_size / size_of::<Value>())),
            ),
            outbox: Outbox::new(fragmenter, waits, sizes.max_pending_bytes),
            waiting: Waiting::default(),
            inbox: Inbox::new(sizes.max_object_size, sizes.max_partial_bytes),
            key: key.remembering(sizes.max_event_bytes),
        }
    }

    /// Queues a message. If it holds a secure string and there is no key yet, it fails with [`Error::is_no_key`]; if
    /// there is no room, with [`Error::is_limit`]. Nothing is queued then.
    pub(crate) fn send(
        &mut self,
        sender: Sender,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<&Value>,
    ) -> Result<(), Error> {
        let data = match value {
            Some(value) => self.writer.write(value)?,
            None => &[],
        };
        self.outbox.admit(MessageHeader::LEN + data.len(), sender)?;
        let header = MessageHeader {
            destination: self.peer,
            message_type,
            pool_id: self.pool_id,
            pipeline_id: target,
        };
        self.outbox.push(target, priority, |buffer| Message { header, data }.encode(buffer));
        // PowerShell's server deadlocks if input comes in the packet that creates its pipeline.
        if matches!(message_type, MessageType::CreatePipeline | MessageType::GetCommandMetadata) {
            self.outbox.end_payload(target, priority);
        }
        Ok(())
    }

    /// Queues a message of the application on the stream that most of them have.
    pub(crate) fn send_payload(&mut self, target: Option<Uuid>, payload: &Payload) -> Result<(), Error> {
        let value = payload.to_value();
        self.send(Sender::Application, target, Priority::Default, payload.message_type(), value.as_ref())
    }

    /// Queues a message that the protocol itself demands.
    pub(crate) fn tell(&mut self, target: Option<Uuid>, payload: &Payload) -> Result<(), Error> {
        let value = payload.to_value();
        self.send(Sender::Protocol, target, Priority::Default, payload.message_type(), value.as_ref())
    }

    /// Whether a message to this target would overtake one that waits for the key.
    pub(crate) fn is_parked(&self, target: Option<Uuid>, priority: Priority) -> bool {
        self.waiting.has((target, priority))
    }

    /// Keeps a message until there is a key. It fails for what fails without that too, so that nearly nothing is left
    /// that can go wrong later.
    pub(crate) fn park(
        &mut self,
        sender: Sender,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<Value>,
    ) -> Result<(), Error> {
        let mut len = MessageHeader::LEN;
        if let Some(value) = &value {
            let mut writer = Writer::with_options(WriteOptions::new().cipher(Arc::new(StandIn)));
            len += writer.write(value)?.len();
        }
        self.outbox.admit(len, sender)?;
        self.outbox.park(target, len);
        self.waiting.push(Parked { target, priority, message_type, value, len });
        Ok(())
    }

    /// Queues what waited for the key. Gives a message that can't be written after all; to be called again until there
    /// is none.
    pub(crate) fn send_parked(&mut self) -> Option<(Parked, Error)> {
        while let Some(parked) = self.waiting.pop() {
            let Parked { target, priority, message_type, ref value, len } = parked;
            let result = self.send(Sender::Admitted, target, priority, message_type, value.as_ref());
            self.outbox.unpark(target, len);
            if let Err(error) = result {
                return Some((parked, error));
            }
        }
        None
    }

    pub(crate) fn poll_transmit<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        self.outbox.poll(max, buffer)
    }

    /// What is on its way over one connection is lost with it.
    pub(crate) fn tolerate_lost_packets(&mut self) {
        self.inbox.tolerate_lost_fragments();
        self.outbox.forget_awaited();
    }

    /// Drops what waits for a target, and what was received from it in part.
    pub(crate) fn forget(&mut self, target: Option<Uuid>) {
        self.discard_parked(target);
        self.outbox.forget(target);
        self.inbox.forget(target);
    }

    /// Drops what waits for a target.
    pub(crate) fn discard_output(&mut self, target: Option<Uuid>) {
        self.discard_parked(target);
        self.outbox.discard(target);
    }

    /// Drops the pending input of a pipeline, but not answers to calls of the host.
    pub(crate) fn discard_input(&mut self, target: Option<Uuid>) {
        for parked in self.waiting.take_input(target) {
            self.outbox.unpark(target, parked.len);
        }
        self.outbox.discard_input(target);
    }

    /// Drops the messages of a target that wait for the key.
    pub(crate) fn discard_parked(&mut self, target: Option<Uuid>) {
        for parked in self.waiting.take(target) {
            self.outbox.unpark(target, parked.len);
        }
    }

    /// Drops all messages that wait for the key.
    pub(crate) fn discard_all_parked(&mut self) {
        for parked in self.waiting.take_all() {
            self.outbox.unpark(parked.target, parked.len);
        }
    }

    /// Drops everything that waits or was received in part, packets without data aside.
    pub(crate) fn forget_all(&mut self) {
        self.discard_all_parked();
        self.outbox.forget_all();
        self.inbox.clear();
        self.key.forget_strings();
    }

    /// Splits a message and checks that it is for this side of this pool. `None` if it is for another pool.
    pub(crate) fn accept<'m>(&self, message: &'m [u8]) -> Result<Option<Message<'m>>, Error> {
        let message = Message::decode(message)?;
        if message.header.destination == self.peer {
            return Err(violation("a message that is for the side that sent it"));
        }
        let id = message.header.pool_id;
        let is_other = !id.is_nil() && !self.pool_id.is_nil() && id != self.pool_id;
        Ok((!is_other).then_some(message))
    }

    /// Decodes a message, and decrypts its secure strings if there is a key. Strings that a key is missing for are
    /// decrypted when it comes, wherever their clones are by then.
    pub(crate) fn decode(&mut self, message: &Message<'_>) -> Result<Decoded, Error> {
        let message_type = message.header.message_type;
        let (payload, size) = Payload::decode_sized(message_type, message.data, self.reading.clone())?;
        // Text can't contain this: it is escaped.
        let is_secret = memchr::memmem::find(message.data, b"<SS").is_some();
        if is_secret && let Some(value) = payload.to_value() {
            // The strings of the payload are clones of these, which share what was decrypted.
            return Ok(Decoded { needs_key: self.key.decrypt_or_remember(&value), payload, size });
        }
        Ok(Decoded { payload, size, needs_key: false })
    }
}
