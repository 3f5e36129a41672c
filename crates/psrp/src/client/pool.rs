//! Runspace pool of the client.

use std::collections::HashMap;

use uuid::Uuid;

use super::pipeline::{ClientPipeline, PipelineEntry, PipelineRequest};
use super::{Config, Event};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::guid;
use crate::host::{HostOutcome, HostResponse};
use crate::link::{
    DeferredMessage, EventQueue, HostCalls, Link, PoolRequest, Quota, SessionLimits, invalid_state,
    peer_error_record, pool_methods,
};
use crate::message::{
    ApplicationPrivateData, Destination, InitRunspacePool, MessageType, Payload, PipelineState,
    RunspacePoolState, SessionCapability,
};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::{Value, Version};

/// Client side of a runspace pool (MS-PSRP 3.1).
///
/// A method that the current state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct ClientPool {
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

impl ClientPool {
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

        if self.link.outbox.has_deferred(target, priority) {
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

    /// Creates a pipeline on the server. [Start](ClientPipeline::start) it to run it.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]) and if the maximum number of pipelines exists
    /// ([`Error::is_limit`]).
    pub fn create_pipeline(&mut self, request: impl Into<PipelineRequest>) -> Result<Uuid, Error> {
        let id = guid::random();
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
    /// Fails like [`create_pipeline_with_id`](Self::create_pipeline_with_id).
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
    /// See [`create_pipeline`](Self::create_pipeline) and [`ClientPipeline::start`]. On an error the pipeline is
    /// removed.
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

pool_methods!(ClientPool, ClientPipeline);

impl ClientPool {
    /// Sets the minimum number of runspaces. Before opening it takes effect immediately, otherwise when the server
    /// accepts. Returns the identifier of the request, `None` if none was sent.
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and if `count` is below 1 or above the maximum
    /// ([`Error::is_state`]). Every request fails while the maximum number of requests is pending
    /// ([`Error::is_limit`]).
    pub fn set_min_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        let is_valid = count >= 1 && count <= self.init.max_runspaces;
        let is_set = count == self.init.min_runspaces;
        self.set_runspaces("minimum", PoolRequest::SetMinRunspaces(count), is_valid, is_set)
    }

    /// Sets the maximum number of runspaces, see [`set_min_runspaces`](Self::set_min_runspaces).
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and if `count` is below the minimum ([`Error::is_state`]).
    pub fn set_max_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        let is_valid = count >= self.init.min_runspaces.max(1);
        let is_set = count == self.init.max_runspaces;
        self.set_runspaces("maximum", PoolRequest::SetMaxRunspaces(count), is_valid, is_set)
    }

    fn set_runspaces(
        &mut self,
        limit: &str,
        request: PoolRequest,
        is_valid: bool,
        is_set: bool,
    ) -> Result<Option<i64>, Error> {
        let action = format!("set the {limit} number of runspaces");
        self.require(&action, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if !is_valid {
            return Err(Error::with(Kind::State, "the number of runspaces is out of range"));
        }
        if is_set {
            return Ok(None);
        }
        if self.state == RunspacePoolState::BeforeOpen {
            request.apply(&mut self.init);
            return Ok(None);
        }
        self.request(request).map(Some)
    }

    /// Requests the number of free runspaces. Returns the identifier of the request, which
    /// [`Event::RequestCompleted`](super::Event::RequestCompleted) repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn get_available_runspaces(&mut self) -> Result<i64, Error> {
        self.require_opened("request the number of free runspaces")?;
        self.request(PoolRequest::GetAvailableRunspaces)
    }

    /// Resets the variables of the runspace. Returns the identifier of the request, which
    /// [`Event::RequestCompleted`](super::Event::RequestCompleted) repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, or if the server's protocol is older than 2.3 ([`Error::is_state`]).
    pub fn reset_runspace_state(&mut self) -> Result<i64, Error> {
        self.require_opened("reset the runspace")?;
        if self.protocol() < Version::new(2, 3) {
            return Err(Error::with(Kind::State, "resetting a runspace requires protocol 2.3"));
        }
        self.request(PoolRequest::ResetRunspaceState)
    }

    fn request(&mut self, request: PoolRequest) -> Result<i64, Error> {
        if self.requests.len() >= self.limits.max_requests {
            return Err(Error::with(Kind::Limit, "number of pending requests"));
        }
        let call_id = self.next_call_id;
        self.link.send_application_payload(None, &request.payload(call_id))?;
        self.next_call_id += 1;
        self.requests.insert(call_id, request);
        Ok(call_id)
    }

    /// Responds to a host call of a pipeline, or of the pool with `None`.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open or if no such call is pending ([`Error::is_state`]), and if the response cannot be
    /// written; the call stays pending then.
    pub fn respond(&mut self, pipeline: Option<Uuid>, response: HostResponse) -> Result<(), Error> {
        self.require_opened("respond to a host call")?;
        let call_id = response.call_id;
        if self.host_calls.method(pipeline, call_id) != Some(response.method) {
            return Err(Error::with(Kind::State, "no such host call is pending"));
        }
        let payload = match pipeline {
            None => Payload::RunspacePoolHostResponse(response),
            Some(_) => Payload::PipelineHostResponse(response),
        };
        self.send(pipeline, Priority::PromptResponse, payload.message_type(), payload.to_value())?;
        self.host_calls.remove(pipeline, call_id);
        Ok(())
    }

    /// Sends the deferred messages. A message that cannot be written fails its pipeline or host call, not the pool.
    pub(super) fn send_deferred(&mut self) {
        while let Some((deferred, error)) = self.link.send_deferred() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            match (deferred.priority, deferred.target) {
                (Priority::PromptResponse, _) => self.respond_with_error(&deferred, record),
                (_, Some(id)) => self.fail_pipeline(id, record),
                // The pool defers no other messages.
                (_, None) => {}
            }
        }
    }

    /// Responds to a host call with an error if the actual response cannot be written, so that the server does not
    /// wait.
    fn respond_with_error(&mut self, deferred: &DeferredMessage, record: ErrorRecord) {
        let Some(answer) = deferred.value.as_ref().and_then(|value| HostResponse::from_value(value).ok())
        else {
            return;
        };
        let reason = Box::new(record);
        let response = HostResponse { outcome: HostOutcome::Error(reason.clone()), ..answer };
        let (call_id, value) = (response.call_id, response.to_value());
        // This record can always be written. Room was reserved for the deferred response.
        let _ = self.link.send(
            Quota::Reserved,
            deferred.target,
            deferred.priority,
            deferred.message_type,
            Some(&value),
        );
        self.events.push(Event::ResponseFailed { pipeline: deferred.target, call_id, reason }, 0);
    }
}
