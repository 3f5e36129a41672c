//! Runspace pool of the server.

use std::collections::HashMap;
use std::ops::Deref;

use uuid::Uuid;

use super::Config;
use super::pipeline::{PipelineEntry, PipelineEvent, ServerPipeline};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::{HostCall, HostOutcome, HostRequest, HostResponse};
use crate::link::{Core, EventQueue, OutgoingMessage, PoolRequest, Quota};
use crate::message::{
    ApplicationPrivateData, Availability, ConnectRunspacePool, Destination, InitRunspacePool, MessageType,
    Payload, PipelineState, RunspaceAvailability, RunspacePoolState, SessionCapability, UserEvent,
};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};

/// Event of a runspace pool: a request of its client, or a change of its state.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Capabilities of the client.
    SessionCapability(SessionCapability),
    /// The pool is open. The client was notified.
    Opened(Box<InitRunspacePool>),
    /// A client has connected to the pool and was notified.
    Connected(ConnectRunspacePool),
    /// The client has the session key.
    KeyExchanged,
    /// Request of the client. Respond with [`ServerPool::respond`].
    Request {
        /// Identifier of the request.
        call_id: i64,
        /// Requested operation with its parameters.
        request: PoolRequest,
    },
    /// Response to a host call. Also emitted, with an error, if the call was deferred until the session key was
    /// available and could not be written then.
    HostResponse {
        /// Calling pipeline, `None` for the pool.
        pipeline: Option<Uuid>,
        /// Result or error of the called method.
        response: HostResponse,
    },
    /// A message of the pool was deferred until the session key was available, and could not be written then.
    NotSent {
        /// Type of the message.
        message_type: MessageType,
        /// Cause of the failure.
        reason: Box<ErrorRecord>,
    },
    /// The pool is closed. Send the pending packets.
    Closed,
    /// The pool is broken: the client has violated the protocol or exceeded a limit, the connection has ended, or the
    /// application has broken the pool. Send the pending packets.
    Broken(Box<ErrorRecord>),
    /// Event of a pipeline.
    Pipeline {
        /// Identifier of the pipeline.
        id: Uuid,
        /// Input, state or other event.
        event: PipelineEvent,
    },
}

/// Server side of a runspace pool (MS-PSRP 3.2). It dereferences to [`Core`], which has the methods of both sides.
///
/// A method that the current state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct ServerPool {
    pub(super) core: Core,
    pub(super) private_data: ApplicationPrivateData,
    pub(super) pipelines: HashMap<Uuid, PipelineEntry>,
    pub(crate) events: EventQueue<Event>,
    /// Previous client while a new one is connecting.
    pub(super) previous_peer: Option<SessionCapability>,
}

impl Deref for ServerPool {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl_debug! {
    /// Shows states, but no message content.
    ServerPool |this| core = this.core, pipelines = this.pipelines.len()
}

impl ServerPool {
    /// Creates a pool without a client.
    pub fn new(config: Config) -> Self {
        let Config { capability, private_data, fragment_size, limits, key } = config;
        let init = InitRunspacePool::default();
        Self {
            core: Core::new(Destination::Client, Uuid::nil(), capability, init, fragment_size, limits, key),
            private_data,
            pipelines: HashMap::new(),
            events: EventQueue::new(limits.max_event_bytes),
            previous_peer: None,
        }
    }

    /// Fails if the pool is not open. A pool without a client counts as open.
    pub(super) fn require_running(&self, action: &str) -> Result<(), Error> {
        use RunspacePoolState::{Connecting, Disconnected, Opened};

        self.core.require(action, &[Opened, Disconnected, Connecting])
    }

    /// Requests the client's public key. This happens automatically when a secure string is sent. Does nothing if it
    /// was requested or if there is a key.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn request_key(&mut self) -> Result<(), Error> {
        self.require_running("request the key")?;
        self.core.request_key()
    }

    /// Responds to a request of the client. If the number of runspaces was to be changed and the response accepts, it
    /// is changed.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, if no such request is pending, and if the response does not fit the request
    /// ([`Error::is_state`]).
    pub fn respond(&mut self, call_id: i64, availability: Availability) -> Result<(), Error> {
        self.core.require_opened("respond to a request")?;
        let request = self.core.requests.get(&call_id).copied();
        let request = request.ok_or_else(|| Error::with(Kind::State, "no such request is pending"))?;
        if !request.fits(availability) {
            return Err(Error::with(Kind::State, "the response does not fit the request"));
        }
        let response = RunspaceAvailability { availability, call_id };
        self.core.send_payload(Quota::Application, &Payload::RunspaceAvailability(response))?;
        self.core.requests.remove(&call_id);
        if availability == Availability::Accepted(true) {
            request.apply(&mut self.core.init);
        }
        Ok(())
    }

    /// Calls a method of the client's host for the pool. Returns the identifier of the call, `None` if the method has
    /// no response.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]) and if the maximum number of calls is pending
    /// ([`Error::is_limit`]).
    pub fn host_call(&mut self, request: &HostRequest) -> Result<Option<i64>, Error> {
        self.call(None, request)
    }

    pub(super) fn call(
        &mut self,
        pipeline: Option<Uuid>,
        request: &HostRequest,
    ) -> Result<Option<i64>, Error> {
        self.require_running("call the host")?;
        let call = HostCall::new(self.core.next_call_id, request);
        let (call_id, method) = (call.call_id, call.method);
        let has_response = !call.is_void();
        if has_response {
            self.core.host_calls.reserve()?;
        }
        let payload = match pipeline {
            None => Payload::RunspacePoolHostCall(call),
            Some(_) => Payload::PipelineHostCall(call),
        };
        self.send(Quota::Application, pipeline, &payload)?;
        if !has_response {
            return Ok(None);
        }
        self.core.next_call_id += 1;
        self.core.host_calls.insert(pipeline, call_id, method)?;
        Ok(Some(call_id))
    }

    /// Forwards an event of the session.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), if the event cannot be written, and if the limit of pending
    /// output is reached ([`Error::is_limit`]): retry later.
    pub fn send_event(&mut self, event: UserEvent) -> Result<(), Error> {
        self.require_running("forward an event")?;
        let payload = Payload::UserEvent(Box::new(event));
        self.send(Quota::Application, None, &payload)
    }

    pub(super) fn send(
        &mut self,
        quota: Quota,
        target: Option<Uuid>,
        payload: &Payload,
    ) -> Result<(), Error> {
        self.core.send_or_defer(quota, OutgoingMessage::new(target, Priority::Default, payload))
    }

    /// Returns a handle to a pipeline.
    ///
    /// # Errors
    ///
    /// Fails if it does not exist ([`Error::is_state`]).
    pub fn pipeline(&mut self, id: Uuid) -> Result<ServerPipeline<'_>, Error> {
        if !self.pipelines.contains_key(&id) {
            return Err(Error::with(Kind::State, "no such pipeline"));
        }
        Ok(ServerPipeline { pool: self, id })
    }

    /// Returns all pipelines and their states in arbitrary order. A pipeline exists until the client has closed it.
    pub fn pipelines(&self) -> impl ExactSizeIterator<Item = (Uuid, PipelineState)> {
        self.pipelines.iter().map(|(id, entry)| (*id, entry.state))
    }

    /// Returns the next event, `None` if there are no more.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_with_size().map(|(event, _)| event)
    }

    /// Sends the deferred messages. A message that cannot be written fails its pipeline or host call, not the pool.
    pub(super) fn send_deferred(&mut self) {
        while let Some((deferred, error)) = self.core.send_deferred() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            let is_call = matches!(
                deferred.message_type,
                MessageType::PipelineHostCall | MessageType::RunspacePoolHostCall
            );
            let call = deferred.value.as_ref().filter(|_| is_call).map(HostCall::from_value);
            let event = match (call, deferred.target) {
                (Some(Ok(HostCall { call_id, method, .. })), pipeline) => {
                    self.core.host_calls.remove(pipeline, call_id);
                    let outcome = HostOutcome::Error(Box::new(record));
                    Event::HostResponse { pipeline, response: HostResponse { call_id, method, outcome } }
                }
                (_, Some(id)) => {
                    self.fail_pipeline(id, record);
                    continue;
                }
                (_, None) => Event::NotSent { message_type: deferred.message_type, reason: Box::new(record) },
            };
            self.events.push(event, 0);
        }
    }

    /// Returns the next packet for the client. The payload of a data packet is written to `buffer`, replacing its
    /// content, and has at most `max` bytes before any encoding. Returns `None` while the pool is disconnected. A
    /// broken pool still returns the packets that tell the client the cause.
    pub fn poll_transmit<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        self.core.outbox.poll(max, buffer)
    }
}
