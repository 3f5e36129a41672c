//! The server's pool and what its application can tell it to do.

use std::collections::HashMap;
use std::fmt;

use uuid::Uuid;

use super::pipeline::{Entry, Pipeline};
use super::{Config, Event};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::{HostCall, HostRequest};
use crate::link::{Events, HostCalls, Link, Sender, not_now};
use crate::message::{
    ApplicationPrivateData, Availability, Destination, InitRunspacePool, MessageType, Payload, PipelineState,
    RunspaceAvailability, RunspacePoolState, SessionCapability, UserEvent,
};
use crate::outofproc::Packet;
use crate::value::{Value, Version};

/// A runspace pool as its server sees it (MS-PSRP 3.2).
///
/// Every method that the state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct RunspacePool {
    pub(super) link: Link,
    pub(super) state: RunspacePoolState,
    pub(super) capability: SessionCapability,
    pub(super) private_data: ApplicationPrivateData,
    pub(super) init: InitRunspacePool,
    pub(super) peer: Option<SessionCapability>,
    pub(super) pipelines: HashMap<Uuid, Entry>,
    pub(super) requests: HashMap<i64, Request>,
    next_call_id: i64,
    pub(super) host_calls: HostCalls,
    pub(super) events: Events<Event>,
    /// The client before the one that connects.
    pub(super) former_peer: Option<SessionCapability>,
    pub(super) max_pipelines: usize,
    pub(super) max_requests: usize,
    pub(super) max_data_per_command: usize,
}

/// A request that waits for the application, and what its answer changes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    SetMin(i32),
    SetMax(i32),
    GetAvailable,
    Reset,
}

impl RunspacePool {
    /// A pool that waits for a client.
    pub fn new(config: Config) -> Self {
        let sizes = config.sizes();
        Self {
            link: Link::new(Destination::Client, Uuid::nil(), sizes, config.key),
            state: RunspacePoolState::BeforeOpen,
            capability: config.capability,
            private_data: config.private_data,
            init: InitRunspacePool::default(),
            peer: None,
            pipelines: HashMap::new(),
            requests: HashMap::new(),
            next_call_id: 1,
            host_calls: HostCalls::new(config.max_host_calls),
            events: Events::new(config.max_event_bytes),
            former_peer: None,
            max_pipelines: config.max_pipelines,
            max_requests: config.max_requests,
            max_data_per_command: config.max_data_per_command,
        }
    }

    /// The identifier of the pool, which the client gives; nil before.
    pub fn id(&self) -> Uuid {
        self.link.pool_id
    }

    /// The state of the pool.
    pub fn state(&self) -> RunspacePoolState {
        self.state
    }

    /// The least number of runspaces.
    pub fn min_runspaces(&self) -> i32 {
        self.init.min_runspaces
    }

    /// The largest number of runspaces.
    pub fn max_runspaces(&self) -> i32 {
        self.init.max_runspaces
    }

    /// What the client has told about itself, if it has.
    pub fn peer(&self) -> Option<&SessionCapability> {
        self.peer.as_ref()
    }

    /// Whether secure strings can be sent: there is a session key, or the protocol is 2.4 or later and needs none.
    pub fn has_key(&self) -> bool {
        self.link.has_key()
    }

    /// Bytes of messages that wait to be sent, those that wait for the key included. The limit is
    /// [`Config::max_pending_bytes`].
    pub fn pending_bytes(&self) -> usize {
        self.link.outbox.pending_bytes()
    }

    /// The same of the messages for one pipeline, or with `None` for the pool alone: who writes much looks at this and
    /// waits.
    pub fn pending_bytes_of(&self, pipeline: Option<Uuid>) -> usize {
        self.link.outbox.pending_bytes_of(pipeline)
    }

    /// What a pool does goes on without a client.
    pub(super) fn require_running(&self, action: &str) -> Result<(), Error> {
        use RunspacePoolState::{Connecting, Disconnected, Opened};

        if matches!(self.state, Opened | Disconnected | Connecting) {
            return Ok(());
        }
        Err(not_now(action, "pool", self.state))
    }

    pub(super) fn require_opened(&self, action: &str) -> Result<(), Error> {
        if self.state == RunspacePoolState::Opened {
            return Ok(());
        }
        Err(not_now(action, "pool", self.state))
    }

    pub(super) fn protocol(&self) -> Version {
        let own = self.capability.protocol_version;
        self.peer.as_ref().map_or(own, |peer| own.min(peer.protocol_version))
    }

    /// Decrypts the secure strings of a value by hand. Those that came after the key are decrypted already, those before it
    /// since the client got it; a client that connected to the pool and has not asked for the key yet can send none.
    ///
    /// # Errors
    ///
    /// Fails if there is no key yet ([`Error::is_no_key`]) and if a string is not encrypted with it
    /// ([`Error::is_crypto`]).
    pub fn decrypt(&self, value: &Value) -> Result<(), Error> {
        self.link.decrypt(value)
    }

    /// Asks the client for its public key, which happens by itself when a secure string is to be sent. Nothing happens
    /// if it was asked or if there is a key.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn request_key(&mut self) -> Result<(), Error> {
        self.require_running("ask for the key")?;
        if !self.link.has_key() && !self.link.is_key_requested() {
            self.link.tell(None, &Payload::PublicKeyRequest)?;
            self.link.set_key_requested();
        }
        Ok(())
    }

    /// Answers a request of the client. If it was to change a number of runspaces and the answer is yes, it is changed.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, if no such request waits for an answer, and if the answer is of another kind
    /// ([`Error::is_state`]).
    pub fn answer(&mut self, call_id: i64, availability: Availability) -> Result<(), Error> {
        self.require_opened("answer a request")?;
        let request = self.requests.get(&call_id).copied();
        let request = request.ok_or_else(|| Error::with(Kind::State, "there is no such request"))?;
        if matches!(request, Request::GetAvailable) != matches!(availability, Availability::Count(_)) {
            return Err(Error::with(Kind::State, "can't answer with another kind than was asked for"));
        }
        let answer = RunspaceAvailability { availability, call_id };
        self.link.send_payload(None, &Payload::RunspaceAvailability(answer))?;
        self.requests.remove(&call_id);
        match (request, availability) {
            (Request::SetMin(count), Availability::Accepted(true)) => self.init.min_runspaces = count,
            (Request::SetMax(count), Availability::Accepted(true)) => self.init.max_runspaces = count,
            _ => {}
        }
        Ok(())
    }

    /// Calls a method of the client's host for the pool. The number of the call, `None` if nothing is answered.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]) and if too many calls wait ([`Error::is_limit`]).
    pub fn host_call(&mut self, request: &HostRequest) -> Result<Option<i64>, Error> {
        self.call(None, request)
    }

    pub(super) fn call(
        &mut self,
        pipeline: Option<Uuid>,
        request: &HostRequest,
    ) -> Result<Option<i64>, Error> {
        self.require_running("call the host")?;
        let call = HostCall::new(self.next_call_id, request);
        let (call_id, method) = (call.call_id, call.method);
        let answered = !call.is_void();
        if answered {
            self.host_calls.reserve()?;
        }
        let payload = match pipeline {
            None => Payload::RunspacePoolHostCall(call),
            Some(_) => Payload::PipelineHostCall(call),
        };
        self.send(Sender::Application, pipeline, payload.message_type(), payload.to_value())?;
        if !answered {
            return Ok(None);
        }
        self.next_call_id += 1;
        self.host_calls.insert(pipeline, call_id, method)?;
        Ok(Some(call_id))
    }

    /// Forwards an event of the session.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), if the event can't be written, and if too much waits to be sent
    /// ([`Error::is_limit`]), to be tried again later.
    pub fn send_event(&mut self, event: UserEvent) -> Result<(), Error> {
        self.require_running("forward an event")?;
        let payload = Payload::UserEvent(Box::new(event));
        self.send(Sender::Application, None, payload.message_type(), payload.to_value())
    }

    /// Sends a message now, or when there is a key if it needs one.
    pub(super) fn send(
        &mut self,
        sender: Sender,
        target: Option<Uuid>,
        message_type: MessageType,
        value: Option<Value>,
    ) -> Result<(), Error> {
        const PRIORITY: Priority = Priority::Default;

        if self.link.is_parked(target, PRIORITY) {
            return self.link.park(sender, target, PRIORITY, message_type, value);
        }
        match self.link.send(sender, target, PRIORITY, message_type, value.as_ref()) {
            Err(error) if error.is_no_key() && cfg!(feature = "crypto") => {
                self.request_key()?;
                self.link.park(sender, target, PRIORITY, message_type, value)
            }
            result => result,
        }
    }

    /// A pipeline, to do something with it.
    ///
    /// # Errors
    ///
    /// Fails if there is none with this identifier ([`Error::is_state`]).
    pub fn pipeline(&mut self, id: Uuid) -> Result<Pipeline<'_>, Error> {
        if !self.pipelines.contains_key(&id) {
            return Err(Error::with(Kind::State, "there is no such pipeline"));
        }
        Ok(Pipeline { pool: self, id })
    }

    /// The pipelines and their states, in no order. One is there until the client closes it.
    pub fn pipelines(&self) -> impl ExactSizeIterator<Item = (Uuid, PipelineState)> {
        self.pipelines.iter().map(|(id, entry)| (*id, entry.state))
    }

    /// The next packet for the client. Data, which take at most `max` bytes before any encoding, are put into the
    /// buffer, whose content is lost. There is nothing to send while the pool is disconnected. A pool that broke has still
    /// to send why.
    pub fn poll_transmit<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        self.link.poll_transmit(max, buffer)
    }

    /// The next event, `None` if there are no more.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// The next event with the bytes that it counts in [`Config::max_event_bytes`].
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_sized_event(&mut self) -> Option<(Event, usize)> {
        self.events.pop_sized()
    }
}

/// Shows states, not what is sent.
impl fmt::Debug for RunspacePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunspacePool")
            .field("id", &self.id())
            .field("state", &self.state)
            .field("pipelines", &self.pipelines.len())
            .field("has_key", &self.has_key())
            .field("pending_bytes", &self.pending_bytes())
            .finish_non_exhaustive()
    }
}
