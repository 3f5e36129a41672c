//! Common part of the pools of client and server: state, and encoding, queueing and decoding of messages.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use super::key::Key;
use super::lane::{Inbox, OutgoingMessage, PlaceholderCipher};
use super::limits::SessionLimits;
use super::outbox::{Outbox, Quota};
use super::pending::{HostCalls, PoolRequest, Received};
use super::{invalid_state, protocol_violation};
use crate::clixml::{Limits, ReadOptions, WriteOptions, Writer};
use crate::error::Error;
use crate::fragment::{Assembler, Fragmenter, Priority};
use crate::message::{
    Destination, InitRunspacePool, Message, MessageHeader, Payload, RunspacePoolState, SessionCapability,
};
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::{Value, Version};

/// Encoded size of a request with a small script. Most of it are properties that every request has.
const REQUEST_CAPACITY: usize = 2048;

/// A decoded message.
pub(crate) struct Decoded {
    pub(crate) payload: Payload,
    /// Decoded size in bytes of memory.
    pub(crate) size: usize,
    /// Whether it contains secure strings and the key is missing.
    pub(crate) needs_key: bool,
}

/// Common part of a [`ClientPool`](crate::client::ClientPool) and a [`ServerPool`](crate::server::ServerPool): the
/// negotiated state, the queue of outgoing messages, partial messages, and pending calls and requests. Both pools
/// dereference to it.
pub struct Core {
    /// Recipient of all messages that are sent.
    pub(super) recipient: Destination,
    pub(crate) pool_id: Uuid,
    pub(crate) state: RunspacePoolState,
    pub(crate) capability: SessionCapability,
    /// Capabilities of the peer.
    pub(crate) peer: Option<SessionCapability>,
    pub(crate) init: InitRunspacePool,
    pub(crate) limits: SessionLimits,
    pub(crate) requests: HashMap<i64, PoolRequest>,
    /// Identifier of the next request of the client, or of the next host call of the server.
    pub(crate) next_call_id: i64,
    pub(crate) host_calls: HostCalls,
    pub(super) writer: Writer,
    pub(super) read_options: ReadOptions,
    pub(crate) outbox: Outbox,
    pub(crate) inbox: Inbox,
    pub(crate) key: Key,
}

impl Core {
    pub(crate) fn new(
        recipient: Destination,
        pool_id: Uuid,
        capability: SessionCapability,
        init: InitRunspacePool,
        fragment_size: usize,
        limits: SessionLimits,
        key: Key,
    ) -> Self {
        let fragmenter = Fragmenter::new().fragment_size(fragment_size);
        // The client sends more to a target only after an acknowledgement; the server does not wait.
        let requires_ack = recipient == Destination::Server;
        let mut writer = Writer::new();
        if requires_ack {
            writer.reserve(REQUEST_CAPACITY);
        }
        Self {
            recipient,
            pool_id,
            state: RunspacePoolState::BeforeOpen,
            capability,
            peer: None,
            init,
            limits,
            requests: HashMap::new(),
            next_call_id: 1,
            host_calls: HostCalls::new(limits.max_host_calls),
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

    /// Returns the identifier of the pool, which the client chooses. At the server it is nil until the first message.
    pub fn id(&self) -> Uuid {
        self.pool_id
    }

    /// Returns the state of the pool.
    pub fn state(&self) -> RunspacePoolState {
        self.state
    }

    /// Returns the minimum number of runspaces agreed with the peer.
    pub fn min_runspaces(&self) -> i32 {
        self.init.min_runspaces
    }

    /// Returns the maximum number of runspaces agreed with the peer.
    pub fn max_runspaces(&self) -> i32 {
        self.init.max_runspaces
    }

    /// Returns the capabilities of the peer once they are received.
    pub fn peer(&self) -> Option<&SessionCapability> {
        self.peer.as_ref()
    }

    /// Returns the bytes of all pending output, including messages that wait for the session key. The limit is
    /// [`SessionLimits::max_pending_bytes`].
    pub fn pending_bytes(&self) -> usize {
        self.outbox.pending_bytes()
    }

    /// Returns the bytes of pending output of one pipeline, or of the pool alone with `None`. Check it before sending
    /// more (backpressure).
    pub fn pending_bytes_of(&self, pipeline: Option<Uuid>) -> usize {
        self.outbox.pending_bytes_of(pipeline)
    }

    /// Returns the lower of both sides' protocol versions, or the version of this side while the peer's is unknown.
    pub(crate) fn protocol(&self) -> Version {
        let own = self.capability.protocol_version;
        self.peer.as_ref().map_or(own, |peer| own.min(peer.protocol_version))
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, RunspacePoolState::Closed | RunspacePoolState::Broken)
    }

    pub(crate) fn require_opened(&self, action: &str) -> Result<(), Error> {
        self.require(action, &[RunspacePoolState::Opened])
    }

    pub(crate) fn require(&self, action: &str, states: &[RunspacePoolState]) -> Result<(), Error> {
        if states.contains(&self.state) { Ok(()) } else { Err(invalid_state(action, "pool", self.state)) }
    }

    /// Queues a message, or defers it and starts the key exchange if it needs a key that is not available. The pool must
    /// be open; at the server, with or without a client.
    pub(crate) fn send_or_defer(&mut self, quota: Quota, message: OutgoingMessage) -> Result<(), Error> {
        if self.outbox.has_deferred(message.target, message.priority) {
            return self.defer(quota, message);
        }
        match self.send(quota, &message) {
            Err(error) if error.is_no_key() && cfg!(feature = "crypto") => {
                self.request_key()?;
                self.defer(quota, message)
            }
            result => result,
        }
    }

    /// Queues a message. Fails with [`Error::is_no_key`] if it contains a secure string and there is no key yet, and
    /// with [`Error::is_limit`] if the queue is full. Nothing is queued then.
    pub(crate) fn send(&mut self, quota: Quota, message: &OutgoingMessage) -> Result<(), Error> {
        let OutgoingMessage { target, priority, message_type, ref value } = *message;
        let data = match value {
            Some(value) => self.writer.write(value)?,
            None => &[],
        };
        self.outbox.admit(MessageHeader::LEN + data.len(), quota)?;
        let header = MessageHeader {
            destination: self.recipient,
            message_type,
            pool_id: self.pool_id,
            pipeline_id: target,
        };
        self.outbox.push(target, priority, |buffer| Message { header, data }.encode(buffer));
        // PowerShell's server deadlocks if input arrives in the packet that creates its pipeline.
        if message_type.starts_pipeline() {
            self.outbox.end_packet(target, priority);
        }
        Ok(())
    }

    /// Queues a message of the pool with default priority.
    pub(crate) fn send_payload(&mut self, quota: Quota, payload: &Payload) -> Result<(), Error> {
        self.send(quota, &OutgoingMessage::new(None, Priority::Default, payload))
    }

    /// Defers a message until the key is available. Fails now for nearly everything that would fail when it is written.
    fn defer(&mut self, quota: Quota, message: OutgoingMessage) -> Result<(), Error> {
        let mut len = MessageHeader::LEN;
        if let Some(value) = &message.value {
            let mut writer = Writer::with_options(WriteOptions::new().cipher(Arc::new(PlaceholderCipher)));
            len += writer.write(value)?.len();
        }
        self.outbox.admit(len, quota)?;
        self.outbox.push_deferred(message, len);
        Ok(())
    }

    /// Queues the deferred messages. Returns a message that cannot be written after all; call again until `None`.
    pub(crate) fn send_deferred(&mut self) -> Option<(OutgoingMessage, Error)> {
        while let Some(message) = self.outbox.pop_deferred() {
            if let Err(error) = self.send(Quota::Reserved, &message) {
                self.outbox.update(message.target);
                return Some((message, error));
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
        let place = if self.inbox.is_pending() { " within a message" } else { "" };
        ErrorRecord::new(format!("the connection has ended{place}"), ErrorCategory::ConnectionError)
    }

    /// Returns the next complete message of received bytes, `None` if the rest is part of a message. The inner value is
    /// `None` for a message of another pool. Fails if the message is addressed to its sender.
    fn next_message<'m, 'i: 'm>(
        &self,
        assembler: &'m mut Assembler,
        bytes: &mut &'i [u8],
    ) -> Result<Option<Option<Message<'m>>>, Error> {
        let Some(message) = assembler.next(bytes)? else { return Ok(None) };
        let message = Message::decode(message)?;
        if message.header.destination == self.recipient {
            return Err(protocol_violation("a message addressed to its sender"));
        }
        let id = message.header.pool_id;
        let is_other = !id.is_nil() && !self.pool_id.is_nil() && id != self.pool_id;
        Ok(Some((!is_other).then_some(message)))
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

impl_debug! {
    /// Shows states, but no message content.
    Core |this|
        id = this.id(), state = this.state, has_key = this.has_key(), pending_bytes = this.pending_bytes()
}

/// A pool that receives messages.
pub(crate) trait Receive {
    fn core(&mut self) -> &mut Core;

    fn received(&mut self, pipeline: Uuid) -> Option<&mut Received>;

    /// Processes a message; `None` for one of another pool. Returns only errors that break the pool.
    fn handle_message(&mut self, message: Option<&Message<'_>>) -> Result<(), Error>;

    /// Fails a pipeline whose input cannot be decoded. Its further input is dropped.
    fn fail_pipeline_input(&mut self, id: Uuid, error: &Error);

    /// Breaks the pool because of an error and returns the error.
    fn break_pool(&mut self, error: Error) -> Error;

    /// Processes fragments for a pipeline, or for the pool with `None`.
    fn receive(&mut self, priority: Priority, target: Option<Uuid>, mut bytes: &[u8]) -> Result<(), Error> {
        if let Some(id) = target {
            let max_bytes = self.core().limits.max_data_per_command;
            let Some(received) = self.received(id) else { return Ok(()) };
            match received.count(bytes.len(), max_bytes) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => return self.fail_input(target, error),
            }
        }
        let mut assembler = self.core().inbox.take(target, priority);
        loop {
            let message = match self.core().next_message(&mut assembler, &mut bytes) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => return self.fail_input(target, error),
            };
            self.handle_message(message.as_ref()).map_err(|error| self.break_pool(error))?;
            let is_over = |id| self.received(id).is_none_or(|received| received.has_failed);
            if target.is_some_and(is_over) || self.core().has_ended() {
                return Ok(());
            }
        }
        self.core().inbox.put(target, priority, assembler).or_else(|error| self.fail_input(target, error))
    }

    /// Fails the pipeline with malformed fragments or message headers, or those that exceed a limit; or the pool.
    fn fail_input(&mut self, target: Option<Uuid>, error: Error) -> Result<(), Error> {
        let Some(id) = target else { return Err(self.break_pool(error)) };
        self.fail_pipeline_input(id, &error);
        Ok(())
    }
}
