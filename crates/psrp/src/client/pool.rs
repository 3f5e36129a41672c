//! The client's pool and what it can be told to do.

use std::collections::HashMap;
use std::fmt;

use uuid::Uuid;

use super::pipeline::{Entry, Pipeline, PipelineRequest};
use super::{Config, Event};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::link::{Events, HostCalls, Link, Sender, not_now};
use crate::message::{
    ApplicationPrivateData, Destination, InitRunspacePool, MessageType, PipelineState, RunspacePoolState,
    SessionCapability,
};
use crate::outofproc::Packet;
use crate::value::{Value, Version};

/// A runspace pool as its client sees it (MS-PSRP 3.1).
///
/// Every method that the state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct RunspacePool {
    pub(super) link: Link,
    pub(super) state: RunspacePoolState,
    pub(super) capability: SessionCapability,
    pub(super) init: InitRunspacePool,
    pub(super) peer: Option<SessionCapability>,
    pub(super) private_data: Option<ApplicationPrivateData>,
    pub(super) pipelines: HashMap<Uuid, Entry>,
    pub(super) requests: HashMap<i64, Request>,
    pub(super) next_call_id: i64,
    pub(super) host_calls: HostCalls,
    pub(super) events: Events<Event>,
    /// Whether a key was needed before it could be asked for.
    pub(super) is_key_wanted: bool,
    max_pipelines: usize,
    pub(super) max_requests: usize,
    pub(super) max_data_per_command: usize,
}

/// A request that waits for its answer, and what the answer allows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    SetMin(i32),
    SetMax(i32),
    GetAvailable,
    Reset,
}

impl RunspacePool {
    /// A pool that is not opened yet.
    pub fn new(config: Config) -> Self {
        let sizes = config.sizes();
        Self {
            link: Link::new(Destination::Server, config.pool_id, sizes, config.key),
            state: RunspacePoolState::BeforeOpen,
            capability: config.capability,
            init: config.init,
            peer: None,
            private_data: None,
            pipelines: HashMap::new(),
            requests: HashMap::new(),
            next_call_id: 1,
            host_calls: HostCalls::new(config.max_host_calls),
            events: Events::new(config.max_event_bytes),
            is_key_wanted: false,
            max_pipelines: config.max_pipelines,
            max_requests: config.max_requests,
            max_data_per_command: config.max_data_per_command,
        }
    }

    /// The identifier of the pool.
    pub fn id(&self) -> Uuid {
        self.link.pool_id
    }

    /// The state of the pool.
    pub fn state(&self) -> RunspacePoolState {
        self.state
    }

    /// The least number of runspaces, as far as the server has agreed to it.
    pub fn min_runspaces(&self) -> i32 {
        self.init.min_runspaces
    }

    /// The largest number of runspaces, as far as the server has agreed to it.
    pub fn max_runspaces(&self) -> i32 {
        self.init.max_runspaces
    }

    /// What the server has told about itself, if it has.
    pub fn peer(&self) -> Option<&SessionCapability> {
        self.peer.as_ref()
    }

    /// What the server's application has told, if it has.
    pub fn application_private_data(&self) -> Option<&ApplicationPrivateData> {
        self.private_data.as_ref()
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

    /// The same of the messages for one pipeline, or with `None` for the pool alone: who sends much looks at this and
    /// waits.
    pub fn pending_bytes_of(&self, pipeline: Option<Uuid>) -> usize {
        self.link.outbox.pending_bytes_of(pipeline)
    }

    /// The version of the protocol that both ends have: the own one while that of the server is not known.
    pub(super) fn protocol(&self) -> Version {
        let own = self.capability.protocol_version;
        self.peer.as_ref().map_or(own, |peer| own.min(peer.protocol_version))
    }

    pub(super) fn require(&self, action: &str, states: &[RunspacePoolState]) -> Result<(), Error> {
        if states.contains(&self.state) { Ok(()) } else { Err(not_now(action, "pool", self.state)) }
    }

    pub(super) fn require_opened(&self, action: &str) -> Result<(), Error> {
        self.require(action, &[RunspacePoolState::Opened])
    }

    /// Starts the exchange of the session key, which else happens when a secure string is sent or received. Nothing
    /// happens if it has started, or with protocol 2.4 or later, which has no key.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), without the feature `crypto` ([`Error::is_no_key`]), or if
    /// the system has no randomness ([`Error::is_crypto`]).
    pub fn exchange_key(&mut self) -> Result<(), Error> {
        self.require_opened("exchange the key")?;
        if self.has_key() || self.link.is_key_requested() { Ok(()) } else { self.link.send_public_key() }
    }

    /// Decrypts the secure strings of a value by hand.
    ///
    /// This is for those that came before the key in such a number that they exceeded [`Config::max_event_bytes`]. All
    /// others, wherever they are, have their text from [`Event::KeyExchanged`] on.
    ///
    /// # Errors
    ///
    /// Fails if there is no key yet ([`Error::is_no_key`]) and if a string is not encrypted with it
    /// ([`Error::is_crypto`]).
    pub fn decrypt(&self, value: &Value) -> Result<(), Error> {
        self.link.decrypt(value)
    }

    /// Sends a message now, or when there is a key if it needs one.
    pub(super) fn send(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<Value>,
    ) -> Result<(), Error> {
        const SENDER: Sender = Sender::Application;

        if self.link.is_parked(target, priority) {
            return self.link.park(SENDER, target, priority, message_type, value);
        }
        match self.link.send(SENDER, target, priority, message_type, value.as_ref()) {
            Err(error) if error.is_no_key() && self.state == RunspacePoolState::Opened => {
                self.exchange_key()?;
                self.link.park(SENDER, target, priority, message_type, value)
            }
            result => result,
        }
    }

    /// Creates a pipeline: the server is told that there is one. It runs when it is [started](Pipeline::start).
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]) and if there are too many pipelines ([`Error::is_limit`]).
    pub fn create_pipeline(&mut self, request: impl Into<PipelineRequest>) -> Result<Uuid, Error> {
        let id = Uuid::new_v4();
        self.create_pipeline_with_id(id, request)?;
        Ok(id)
    }

    /// The same with an identifier of the caller's.
    ///
    /// # Errors
    ///
    /// As [`create_pipeline`](Self::create_pipeline), and if there is a pipeline with this identifier or if it is nil
    /// ([`Error::is_state`]).
    pub fn create_pipeline_with_id(
        &mut self,
        id: Uuid,
        request: impl Into<PipelineRequest>,
    ) -> Result<(), Error> {
        self.require_opened("create a pipeline")?;
        self.insert(id, Entry::new(Some(request.into()), PipelineState::NotStarted))?;
        self.link.outbox.act(Packet::Command(Some(id)));
        Ok(())
    }

    /// Takes over a pipeline that runs at the server, such as one of a pool that was connected to.
    ///
    /// # Errors
    ///
    /// As [`create_pipeline_with_id`](Self::create_pipeline_with_id).
    pub fn connect_pipeline(&mut self, id: Uuid) -> Result<(), Error> {
        self.require_opened("connect to a pipeline")?;
        self.insert(id, Entry::new(None, PipelineState::Running))
    }

    fn insert(&mut self, id: Uuid, entry: Entry) -> Result<(), Error> {
        if id.is_nil() || self.pipelines.contains_key(&id) {
            return Err(Error::with(
                Kind::State,
                "can't use the identifier of a pipeline twice, or a nil one",
            ));
        }
        if self.pipelines.len() >= self.max_pipelines {
            return Err(Error::with(Kind::Limit, "number of pipelines"));
        }
        self.pipelines.insert(id, entry);
        Ok(())
    }

    /// Creates and starts a pipeline.
    ///
    /// # Errors
    ///
    /// As [`create_pipeline`](Self::create_pipeline) and [`Pipeline::start`]; there is no pipeline then.
    pub fn invoke(&mut self, request: impl Into<PipelineRequest>) -> Result<Uuid, Error> {
        let request = request.into();
        request.check(self.protocol())?;
        let id = self.create_pipeline(request)?;
        let mut pipeline = self.pipeline(id)?;
        match pipeline.start() {
            Ok(()) => Ok(id),
            Err(error) => {
                pipeline.close()?;
                Err(error)
            }
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

    /// Whether the server has acknowledged the message that creates a pipeline.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_acknowledged(&self, id: Uuid) -> bool {
        self.pipelines.get(&id).is_some_and(|entry| entry.is_acknowledged)
    }

    /// The pipelines and their states, in no order. One is there until the server has closed it.
    pub fn pipelines(&self) -> impl ExactSizeIterator<Item = (Uuid, PipelineState)> {
        self.pipelines.iter().map(|(id, entry)| (*id, entry.state))
    }

    /// The next packet for the server. Data, which take at most `max` bytes before any encoding, are put into the
    /// buffer, whose content is lost.
    ///
    /// Nothing more comes for a target until its last data or command were acknowledged, which a transport without
    /// acknowledgements does by itself: it hands in [`Packet::DataAck`] or [`Packet::CommandAck`] when it has sent. There
    /// is nothing to send while the pool is disconnected.
    pub fn poll_transmit<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        let packet = self.link.poll_transmit(max, buffer)?;
        if let Packet::Data { target: Some(id), .. } = packet
            && let Some(entry) = self.pipelines.get_mut(&id)
            && !entry.is_created
        {
            entry.is_created = !self.link.outbox.has_unsent_start(id);
        }
        Some(packet)
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
