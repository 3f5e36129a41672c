//! Encoding, queueing and decoding of the messages of one side of a session.

use std::sync::Arc;

use uuid::Uuid;

use super::key::Key;
use super::lane::{DeferredMessage, Inbox, PlaceholderCipher};
use super::limits::SessionLimits;
use super::outbox::{Outbox, Quota};
use super::protocol_violation;
use crate::clixml::{Limits, ReadOptions, WriteOptions, Writer};
use crate::error::Error;
use crate::fragment::{Fragmenter, Priority};
use crate::message::{Destination, Message, MessageHeader, MessageType, Payload};
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::Value;

/// Encoded size of a request with a small script. Most of it are properties that every request has.
const REQUEST_CAPACITY: usize = 2048;

/// A decoded message.
pub(crate) struct Decoded {
    pub(crate) payload: Payload,
    /// Decoded size in bytes of memory.
    pub(crate) size: usize,
    /// True if it contains secure strings and the key is missing.
    pub(crate) needs_key: bool,
}

pub(crate) struct Link {
    peer: Destination,
    pub(crate) pool_id: Uuid,
    pub(super) writer: Writer,
    pub(super) read_options: ReadOptions,
    pub(crate) outbox: Outbox,
    pub(crate) inbox: Inbox,
    pub(crate) key: Key,
}

impl Link {
    pub(crate) fn new(
        peer: Destination,
        pool_id: Uuid,
        fragment_size: usize,
        limits: SessionLimits,
        key: Key,
    ) -> Self {
        let fragmenter = Fragmenter::new().fragment_size(fragment_size);
        // The client sends more to a target only after an acknowledgement; the server does not wait.
        let requires_ack = peer == Destination::Server;
        let mut writer = Writer::new();
        if requires_ack {
            writer.reserve(REQUEST_CAPACITY);
        }
        Self {
            peer,
            pool_id,
            writer,
            // A document is smaller than the message that contains it.
            read_options: ReadOptions::new().limits(
                Limits::new()
                    .max_size(limits.max_object_size)
                    .max_decoded_size(limits.max_decoded_size)
                    .max_nodes(Limits::DEFAULT_MAX_NODES.max(limits.max_decoded_size / size_of::<Value>())),
            ),
            outbox: Outbox::new(fragmenter, requires_ack, limits.max_pending_bytes),
            inbox: Inbox::new(limits.max_object_size, limits.max_partial_bytes),
            key: key.with_max_deferred_bytes(limits.max_event_bytes),
        }
    }

    /// Queues a message. Fails with [`Error::is_no_key`] if it contains a secure string and there is no key yet, and
    /// with [`Error::is_limit`] if the queue is full. Nothing is queued then.
    pub(crate) fn send(
        &mut self,
        quota: Quota,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<&Value>,
    ) -> Result<(), Error> {
        let data = match value {
            Some(value) => self.writer.write(value)?,
            None => &[],
        };
        self.outbox.admit(MessageHeader::LEN + data.len(), quota)?;
        let header = MessageHeader {
            destination: self.peer,
            message_type,
            pool_id: self.pool_id,
            pipeline_id: target,
        };
        self.outbox.push(target, priority, |buffer| Message { header, data }.encode(buffer));
        // PowerShell's server deadlocks if input arrives in the packet that creates its pipeline.
        if matches!(message_type, MessageType::CreatePipeline | MessageType::GetCommandMetadata) {
            self.outbox.end_packet(target, priority);
        }
        Ok(())
    }

    /// Queues a message of the application with default priority.
    pub(crate) fn send_application_payload(
        &mut self,
        target: Option<Uuid>,
        payload: &Payload,
    ) -> Result<(), Error> {
        let value = payload.to_value();
        self.send(Quota::Application, target, Priority::Default, payload.message_type(), value.as_ref())
    }

    /// Queues a message required by the protocol itself.
    pub(crate) fn send_protocol_payload(
        &mut self,
        target: Option<Uuid>,
        payload: &Payload,
    ) -> Result<(), Error> {
        let value = payload.to_value();
        self.send(Quota::Protocol, target, Priority::Default, payload.message_type(), value.as_ref())
    }

    /// Defers a message until the key is available. Fails now for nearly everything that would fail when it is written.
    pub(crate) fn defer(
        &mut self,
        quota: Quota,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<Value>,
    ) -> Result<(), Error> {
        let mut len = MessageHeader::LEN;
        if let Some(value) = &value {
            let mut writer = Writer::with_options(WriteOptions::new().cipher(Arc::new(PlaceholderCipher)));
            len += writer.write(value)?.len();
        }
        self.outbox.admit(len, quota)?;
        self.outbox.push_deferred(DeferredMessage { target, priority, message_type, value }, len);
        Ok(())
    }

    /// Queues the deferred messages. Returns a message that cannot be written after all; call again until `None`.
    pub(crate) fn send_deferred(&mut self) -> Option<(DeferredMessage, Error)> {
        while let Some(deferred) = self.outbox.pop_deferred() {
            let DeferredMessage { target, priority, message_type, ref value } = deferred;
            let result = self.send(Quota::Reserved, target, priority, message_type, value.as_ref());
            self.outbox.update(target);
            if let Err(error) = result {
                return Some((deferred, error));
            }
        }
        None
    }

    /// Prepares for a new connection: packets in flight over the previous one are lost.
    pub(crate) fn prepare_reconnect(&mut self) {
        self.inbox.skip_out_of_order();
        self.outbox.clear_pending_acks();
    }

    /// Drops the pending output and the partial input of a target.
    pub(crate) fn remove_target(&mut self, target: Option<Uuid>) {
        self.outbox.remove(target);
        self.inbox.remove(target);
    }

    /// Drops all pending output and partial input, except packets without data.
    pub(crate) fn remove_all(&mut self) {
        self.outbox.remove_all();
        self.inbox.clear();
        self.key.clear_deferred_strings();
    }

    /// Returns the error of a connection that has ended.
    pub(crate) fn end_record(&self) -> ErrorRecord {
        let text = match self.inbox.is_pending() {
            true => "the connection has ended within a message",
            false => "the connection has ended",
        };
        ErrorRecord::new(text, ErrorCategory::ConnectionError)
    }

    /// Decodes a message header and checks the destination. Returns `None` if the message belongs to another pool.
    pub(crate) fn accept<'m>(&self, message: &'m [u8]) -> Result<Option<Message<'m>>, Error> {
        let message = Message::decode(message)?;
        if message.header.destination == self.peer {
            return Err(protocol_violation("a message addressed to its sender"));
        }
        let id = message.header.pool_id;
        let is_other = !id.is_nil() && !self.pool_id.is_nil() && id != self.pool_id;
        Ok((!is_other).then_some(message))
    }

    /// Decodes a message and decrypts its secure strings. If the key is missing, the strings and all their clones are
    /// decrypted when it arrives.
    pub(crate) fn decode(&mut self, message: &Message<'_>) -> Result<Decoded, Error> {
        let message_type = message.header.message_type;
        let (payload, size) = Payload::decode_sized(message_type, message.data, self.read_options.clone())?;
        // Text cannot contain this: `<` is escaped.
        let is_secret = memchr::memmem::find(message.data, b"<SS").is_some();
        if is_secret && let Some(value) = payload.to_value() {
            // The strings of the payload are clones of these and share the decrypted text.
            return Ok(Decoded { needs_key: self.key.decrypt_or_defer(&value), payload, size });
        }
        Ok(Decoded { payload, size, needs_key: false })
    }
}
