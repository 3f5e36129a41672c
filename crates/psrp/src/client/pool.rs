//! Runspace pool of the client.

use std::collections::HashMap;

use uuid::Uuid;

use super::pipeline::{Pipeline, PipelineEntry, PipelineRequest};
use super::{Config, Event};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::link::{
    EventQueue, HostCalls, Link, PoolRequest, Quota, SessionLimits, invalid_state, peer_error_record,
    pool_methods,
};
use crate::message::{
    ApplicationPrivateData, Destination, InitRunspacePool, MessageType, PipelineState, RunspacePoolState,
    SessionCapability,
};
use crate::outofproc::Packet;
use crate::value::{Value, Version};

/// Client side of a runspace pool (MS-PSRP 3.1).
///
/// A method that the current state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct RunspacePool {
    pub(super) link: Link,
    pub(super) state: RunspacePoolState,
    pub(super) capability: SessionCapability,
    pub(super) init: InitRunspacePool,
    pub(super) peer: Option<SessionCapability>,
    pub(super) private_data: Option<ApplicationPrivateData>,
    pub(super) pipelines: HashMap<Uuid, PipelineEntry>,
    pub(super) requests: HashMap<i64, PoolRequest>,
    pub(super) next_call_id: i64,
    pub(super) host_calls: HostCalls,
    pub(super) events: EventQueue<Event>,
    /// True if a key was needed before the pool was open.
    pub(super) is_key_exchange_pending: bool,
    pub(super) limits: SessionLimits,
}

impl RunspacePool {
    /// Creates a pool that is not opened yet.
    pub fn new(config: Config) -> Self {
        let limits = config.limits;
        Self {
            link: Link::new(Destination::Server, config.pool_id, config.fragment_size, limits, config.key),
            state: RunspacePoolState::BeforeOpen,
            capability: config.capability,
            init: config.init,
            peer: None,
            private_data: None,
            pipelines: HashMap::new(),
            requests: HashMap::new(),
            next_call_id: 1,
            host_calls: HostCalls::new(limits.max_host_calls),
            events: EventQueue::new(limits.max_event_bytes),
            is_key_exchange_pending: false,
            limits,
        }
    }

    /// Returns the private data of the server's application once it is received.
    pub fn application_private_data(&self) -> Option<&ApplicationPrivateData> {
        self.private_data.as_ref()
    }

    pub(super) fn require(&self, action: &str, states: &[RunspacePoolState]) -> Result<(), Error> {
        if states.contains(&self.state) { Ok(()) } else { Err(invalid_state(action, "pool", self.state)) }
    }

    /// Starts the exchange of the session key, which otherwise starts when a secure string is sent or received. Does
    /// nothing if it has started, and with protocol 2.4 or later, which has no key.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), without the feature `crypto` ([`Error::is_no_key`]), and if
    /// the system's random number generator fails ([`Error::is_crypto`]).
    pub fn exchange_key(&mut self) -> Result<(), Error> {
        self.require_opened("exchange the key")?;
        if self.has_key() || self.link.key.is_requested { Ok(()) } else { self.link.send_public_key() }
    }

    /// Queues a message, or defers it if it needs a key that is not available.
    pub(super) fn send(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<Value>,
    ) -> Result<(), Error> {
        const QUOTA: Quota = Quota::Application;

        if self.link.has_deferred(target, priority) {
            return self.link.defer(QUOTA, target, priority, message_type, value);
        }
        match self.link.send(QUOTA, target, priority, message_type, value.as_ref()) {
            Err(error) if error.is_no_key() && self.state == RunspacePoolState::Opened => {
                self.exchange_key()?;
                self.link.defer(QUOTA, target, priority, message_type, value)
            }
            result => result,
        }
    }

    /// Creates a pipeline on the server. [Start](Pipeline::start) it to run it.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]) and if the maximum number of pipelines exists
    /// ([`Error::is_limit`]).
    pub fn create_pipeline(&mut self, request: impl Into<PipelineRequest>) -> Result<Uuid, Error> {
        let id = Uuid::new_v4();
        self.create_pipeline_with_id(id, request)?;
        Ok(id)
    }

    /// Creates a pipeline with an identifier chosen by the caller.
    ///
    /// # Errors
    ///
    /// See [`create_pipeline`](Self::create_pipeline). Also fails if the identifier is in use or nil
    /// ([`Error::is_state`]).
    pub fn create_pipeline_with_id(
        &mut self,
        id: Uuid,
        request: impl Into<PipelineRequest>,
    ) -> Result<(), Error> {
        self.require_opened("create a pipeline")?;
        self.insert(id, PipelineEntry::new(Some(request.into()), PipelineState::NotStarted))?;
        self.link.outbox.queue_packet(Packet::Command(Some(id)));
        Ok(())
    }

    /// Attaches to a pipeline that runs on the server, for example after connecting to an existing pool.
    ///
    /// # Errors
    ///
    /// See [`create_pipeline_with_id`](Self::create_pipeline_with_id).
    pub fn connect_pipeline(&mut self, id: Uuid) -> Result<(), Error> {
        self.require_opened("connect to a pipeline")?;
        self.insert(id, PipelineEntry::new(None, PipelineState::Running))
    }

    fn insert(&mut self, id: Uuid, entry: PipelineEntry) -> Result<(), Error> {
        if id.is_nil() || self.pipelines.contains_key(&id) {
            return Err(Error::with(Kind::State, "the pipeline identifier is nil or in use"));
        }
        if self.pipelines.len() >= self.limits.max_pipelines {
            return Err(Error::with(Kind::Limit, "number of pipelines"));
        }
        self.pipelines.insert(id, entry);
        Ok(())
    }

    /// Creates and starts a pipeline.
    ///
    /// # Errors
    ///
    /// See [`create_pipeline`](Self::create_pipeline) and [`Pipeline::start`]. On an error the pipeline is removed.
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

    /// Returns whether the server has acknowledged the message that creates the pipeline.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_acknowledged(&self, id: Uuid) -> bool {
        self.pipelines.get(&id).is_some_and(|entry| entry.is_acknowledged)
    }

    /// Returns the next packet for the server. The payload of a data packet is written to `buffer`, replacing its
    /// content, and has at most `max` bytes before any encoding.
    ///
    /// After a data or command packet, nothing more is returned for its target until the acknowledgement is passed in.
    /// A transport without acknowledgements passes in [`Packet::DataAck`] or [`Packet::CommandAck`] itself after
    /// sending. Returns `None` while the pool is disconnected.
    pub fn poll_transmit<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        let packet = self.link.outbox.poll(max, buffer)?;
        if let Packet::Data { target: Some(id), .. } = packet
            && let Some(entry) = self.pipelines.get_mut(&id)
            && !entry.is_created
        {
            entry.is_created = !self.link.outbox.has_unsent_start(id);
        }
        Some(packet)
    }
}

pool_methods!();
