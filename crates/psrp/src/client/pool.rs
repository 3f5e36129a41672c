//! Runspace pool of the client.

use std::collections::HashMap;
use std::ops::Deref;

use uuid::Uuid;

use super::Config;
use super::pipeline::{ClientPipeline, PipelineEntry, PipelineEvent, PipelineRequest};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::guid;
use crate::host::{HostCall, HostOutcome, HostResponse};
use crate::link::{Core, EventQueue, OutgoingMessage, PoolRequest, Quota};
use crate::message::{
    ApplicationPrivateData, Availability, Destination, Payload, PipelineState, RunspaceLimits,
    RunspacePoolState, RunspacePoolStateInfo, SessionCapability, UserEvent,
};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::Version;

/// Event of a runspace pool.
///
/// A secure string received before the session key is encrypted at first; the pool requests the key itself. After
/// [`KeyExchanged`](Self::KeyExchanged) the string is decrypted, including all clones and those in earlier events.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Capabilities of the server.
    SessionCapability(SessionCapability),
    /// Private data of the server's application.
    ApplicationPrivateData(ApplicationPrivateData),
    /// Number of runspaces of the pool connected to.
    RunspaceLimits(RunspaceLimits),
    /// The state of the pool has changed: by a message of the server, after a close, or because the pool broke.
    State(RunspacePoolStateInfo),
    /// The session key is available.
    KeyExchanged,
    /// Response to a request of the pool.
    RequestCompleted {
        /// Identifier returned by the request.
        call_id: i64,
        /// Result of the request.
        availability: Availability,
    },
    /// A pending request was cancelled: the client has [connected](ClientPool::connect) again, and the server
    /// drops the requests of the previous connection.
    RequestCancelled {
        /// Identifier returned by the request.
        call_id: i64,
    },
    /// Event of the remote session.
    UserEvent(Box<UserEvent>),
    /// Host call. Respond with [`ClientPool::respond`] unless the call is
    /// [void](HostCall::is_void).
    HostCall {
        /// Calling pipeline, `None` for the pool.
        pipeline: Option<Uuid>,
        /// Called method with its parameters.
        call: HostCall,
    },
    /// A response to a host call was deferred until the session key was available, and could not be written then. The
    /// server was told that the call failed.
    ResponseFailed {
        /// Calling pipeline, `None` for the pool.
        pipeline: Option<Uuid>,
        /// Identifier of the call.
        call_id: i64,
        /// Cause of the failure.
        reason: Box<ErrorRecord>,
    },
    /// Record, output object or state of a pipeline without an identifier. Servers send them while they open a pool, for
    /// example warnings of a startup script.
    PoolRecord(PipelineEvent),
    /// Event of a pipeline.
    Pipeline {
        /// Identifier of the pipeline.
        id: Uuid,
        /// Output, record, state or other event.
        event: PipelineEvent,
    },
}

/// Client side of a runspace pool (MS-PSRP 3.1). It dereferences to [`Core`], which has the methods of both sides.
///
/// A method that the current state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct ClientPool {
    pub(super) core: Core,
    pub(super) private_data: Option<ApplicationPrivateData>,
    pub(super) pipelines: HashMap<Uuid, PipelineEntry>,
    pub(crate) events: EventQueue<Event>,
    /// Whether a key was needed before the pool was open.
    pub(super) is_key_exchange_pending: bool,
}

impl Deref for ClientPool {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl_debug! {
    /// Shows states, but no message content.
    ClientPool |this| core = this.core, pipelines = this.pipelines.len()
}

impl ClientPool {
    /// Creates a pool that is not opened yet.
    pub fn new(config: Config) -> Self {
        let Config { pool_id, capability, init, fragment_size, limits, key } = config;
        Self {
            core: Core::new(Destination::Server, pool_id, capability, init, fragment_size, limits, key),
            private_data: None,
            pipelines: HashMap::new(),
            events: EventQueue::new(limits.max_event_bytes),
            is_key_exchange_pending: false,
        }
    }

    /// Returns the private data of the server's application once it is received.
    pub fn application_private_data(&self) -> Option<&ApplicationPrivateData> {
        self.private_data.as_ref()
    }

    /// Starts the exchange of the session key, which otherwise starts when a secure string is sent or received. Does
    /// nothing if it has started, and with protocol 2.4 or later, which has no key.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), without the feature `crypto` ([`Error::is_no_key`]), and if
    /// the system's random number generator fails ([`Error::is_crypto`]).
    pub fn exchange_key(&mut self) -> Result<(), Error> {
        self.core.require_opened("exchange the key")?;
        self.core.request_key()
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
        self.core.require_opened("create a pipeline")?;
        self.insert(id, PipelineEntry::new(Some(request.into()), PipelineState::NotStarted))?;
        self.core.outbox.queue_packet(Packet::Command(Some(id)));
        Ok(())
    }

    /// Attaches to a pipeline that runs on the server, for example after connecting to an existing pool.
    ///
    /// # Errors
    ///
    /// Fails like [`create_pipeline_with_id`](Self::create_pipeline_with_id).
    pub fn connect_pipeline(&mut self, id: Uuid) -> Result<(), Error> {
        self.core.require_opened("connect to a pipeline")?;
        self.insert(id, PipelineEntry::new(None, PipelineState::Running))
    }

    fn insert(&mut self, id: Uuid, entry: PipelineEntry) -> Result<(), Error> {
        if id.is_nil() || self.pipelines.contains_key(&id) {
            return Err(Error::with(Kind::State, "the pipeline identifier is nil or in use"));
        }
        if self.pipelines.len() >= self.core.limits.max_pipelines {
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

    /// Returns a handle to a pipeline.
    ///
    /// # Errors
    ///
    /// Fails if it does not exist ([`Error::is_state`]).
    pub fn pipeline(&mut self, id: Uuid) -> Result<ClientPipeline<'_>, Error> {
        if !self.pipelines.contains_key(&id) {
            return Err(Error::with(Kind::State, "no such pipeline"));
        }
        Ok(ClientPipeline { pool: self, id })
    }

    /// Returns all pipelines and their states in arbitrary order. A pipeline exists until it was closed and the server
    /// has confirmed.
    pub fn pipelines(&self) -> impl ExactSizeIterator<Item = (Uuid, PipelineState)> {
        self.pipelines.iter().map(|(id, entry)| (*id, entry.state))
    }

    /// Returns the next event, `None` if there are no more.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_with_size().map(|(event, _)| event)
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
        let packet = self.core.outbox.poll(max, buffer)?;
        if let Packet::Data { target: Some(id), .. } = packet
            && let Some(entry) = self.pipelines.get_mut(&id)
            && !entry.is_created
        {
            entry.is_created = !self.core.outbox.has_unsent_start(id);
        }
        Some(packet)
    }

    /// Sets the minimum number of runspaces. Before opening it takes effect immediately, otherwise when the server
    /// accepts. Returns the identifier of the request, `None` if none was sent.
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and if `count` is below 1 or above the maximum
    /// ([`Error::is_state`]). Every request fails while the maximum number of requests is pending
    /// ([`Error::is_limit`]).
    pub fn set_min_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        let is_valid = count >= 1 && count <= self.core.init.max_runspaces;
        let is_set = count == self.core.init.min_runspaces;
        self.set_runspaces("minimum", PoolRequest::SetMinRunspaces(count), is_valid, is_set)
    }

    /// Sets the maximum number of runspaces, see [`set_min_runspaces`](Self::set_min_runspaces).
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and if `count` is below the minimum ([`Error::is_state`]).
    pub fn set_max_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        let is_valid = count >= self.core.init.min_runspaces.max(1);
        let is_set = count == self.core.init.max_runspaces;
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
        self.core.require(&action, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if !is_valid {
            return Err(Error::with(Kind::State, "the number of runspaces is out of range"));
        }
        if is_set {
            return Ok(None);
        }
        if self.core.state == RunspacePoolState::BeforeOpen {
            request.apply(&mut self.core.init);
            return Ok(None);
        }
        self.request(request).map(Some)
    }

    /// Requests the number of free runspaces. Returns the identifier of the request, which
    /// [`Event::RequestCompleted`] repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn get_available_runspaces(&mut self) -> Result<i64, Error> {
        self.core.require_opened("request the number of free runspaces")?;
        self.request(PoolRequest::GetAvailableRunspaces)
    }

    /// Resets the variables of the runspace. Returns the identifier of the request, which
    /// [`Event::RequestCompleted`] repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, or if the server's protocol is older than 2.3 ([`Error::is_state`]).
    pub fn reset_runspace_state(&mut self) -> Result<i64, Error> {
        self.core.require_opened("reset the runspace")?;
        if self.protocol() < Version::new(2, 3) {
            return Err(Error::with(Kind::State, "resetting a runspace requires protocol 2.3"));
        }
        self.request(PoolRequest::ResetRunspaceState)
    }

    fn request(&mut self, request: PoolRequest) -> Result<i64, Error> {
        if self.core.requests.len() >= self.core.limits.max_requests {
            return Err(Error::with(Kind::Limit, "number of pending requests"));
        }
        let call_id = self.core.next_call_id;
        self.core.send_payload(Quota::Application, &request.payload(call_id))?;
        self.core.next_call_id += 1;
        self.core.requests.insert(call_id, request);
        Ok(call_id)
    }

    /// Responds to a host call of a pipeline, or of the pool with `None`.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open or if no such call is pending ([`Error::is_state`]), and if the response cannot be
    /// written; the call stays pending then.
    pub fn respond(&mut self, pipeline: Option<Uuid>, response: HostResponse) -> Result<(), Error> {
        self.core.require_opened("respond to a host call")?;
        let call_id = response.call_id;
        if self.core.host_calls.method(pipeline, call_id) != Some(response.method) {
            return Err(Error::with(Kind::State, "no such host call is pending"));
        }
        let payload = match pipeline {
            None => Payload::RunspacePoolHostResponse(response),
            Some(_) => Payload::PipelineHostResponse(response),
        };
        let message = OutgoingMessage::new(pipeline, Priority::PromptResponse, &payload);
        self.core.send_or_defer(Quota::Application, message)?;
        self.core.host_calls.remove(pipeline, call_id);
        Ok(())
    }

    /// Sends the deferred messages. A message that cannot be written fails its pipeline or host call, not the pool.
    pub(super) fn send_deferred(&mut self) {
        while let Some((deferred, error)) = self.core.send_deferred() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            match (deferred.priority, deferred.target) {
                (Priority::PromptResponse, _) => self.respond_with_error(deferred, record),
                (_, Some(id)) => self.fail_pipeline(id, record),
                // The pool defers no other messages.
                (_, None) => {}
            }
        }
    }

    /// Responds to a host call with an error if the actual response cannot be written, so that the server does not
    /// wait.
    fn respond_with_error(&mut self, deferred: OutgoingMessage, record: ErrorRecord) {
        let Some(answer) = deferred.value.as_ref().and_then(|value| HostResponse::from_value(value).ok())
        else {
            return;
        };
        let reason = Box::new(record);
        let response = HostResponse { outcome: HostOutcome::Error(reason.clone()), ..answer };
        let (call_id, pipeline) = (response.call_id, deferred.target);
        // This record can always be written. Room was reserved for the deferred response.
        let message = OutgoingMessage { value: Some(response.to_value()), ..deferred };
        let _ = self.core.send(Quota::Reserved, &message);
        self.events.push(Event::ResponseFailed { pipeline, call_id, reason }, 0);
    }
}
