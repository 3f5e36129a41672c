//! Runspace pool of the server.

use std::collections::HashMap;

use uuid::Uuid;

use super::pipeline::{PipelineEntry, ServerPipeline};
use super::{Config, Event};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::{HostCall, HostOutcome, HostRequest, HostResponse};
use crate::link::{
    EventQueue, HostCalls, Link, PoolRequest, Quota, SessionLimits, invalid_state, peer_error_record,
    pool_methods,
};
use crate::message::{
    ApplicationPrivateData, Availability, Destination, InitRunspacePool, MessageType, Payload, PipelineState,
    RunspaceAvailability, RunspacePoolState, SessionCapability, UserEvent,
};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::{Value, Version};

/// Server side of a runspace pool (MS-PSRP 3.2).
///
/// A method that the current state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct ServerPool {
    pub(super) link: Link,
    pub(super) state: RunspacePoolState,
    pub(super) capability: SessionCapability,
    pub(super) private_data: ApplicationPrivateData,
    pub(super) init: InitRunspacePool,
    pub(super) peer: Option<SessionCapability>,
    pub(super) pipelines: HashMap<Uuid, PipelineEntry>,
    pub(super) requests: HashMap<i64, PoolRequest>,
    next_call_id: i64,
    pub(super) host_calls: HostCalls,
    pub(super) events: EventQueue<Event>,
    /// Previous client while a new one is connecting.
    pub(super) previous_peer: Option<SessionCapability>,
    pub(super) limits: SessionLimits,
}

impl ServerPool {
    /// Creates a pool without a client.
    pub fn new(config: Config) -> Self {
        let limits = config.limits;
        Self {
            link: Link::new(Destination::Client, Uuid::nil(), config.fragment_size, limits, config.key),
            state: RunspacePoolState::BeforeOpen,
            capability: config.capability,
            private_data: config.private_data,
            init: InitRunspacePool::default(),
            peer: None,
            pipelines: HashMap::new(),
            requests: HashMap::new(),
            next_call_id: 1,
            host_calls: HostCalls::new(limits.max_host_calls),
            events: EventQueue::new(limits.max_event_bytes),
            previous_peer: None,
            limits,
        }
    }

    /// Fails if the pool is not open. A pool without a client counts as open.
    pub(super) fn require_running(&self, action: &str) -> Result<(), Error> {
        use RunspacePoolState::{Connecting, Disconnected, Opened};

        if matches!(self.state, Opened | Disconnected | Connecting) {
            return Ok(());
        }
        Err(invalid_state(action, "pool", self.state))
    }

    /// Requests the client's public key. This happens automatically when a secure string is sent. Does nothing if it
    /// was requested or if there is a key.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn request_key(&mut self) -> Result<(), Error> {
        self.require_running("request the key")?;
        if !self.link.has_key() && !self.link.key.is_requested {
            self.link.send_protocol_payload(None, &Payload::PublicKeyRequest)?;
            self.link.key.is_requested = true;
        }
        Ok(())
    }

    /// Responds to a request of the client. If the number of runspaces was to be changed and the response accepts, it
    /// is changed.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, if no such request is pending, and if the response does not fit the request
    /// ([`Error::is_state`]).
    pub fn respond(&mut self, call_id: i64, availability: Availability) -> Result<(), Error> {
        self.require_opened("respond to a request")?;
        let request = self.requests.get(&call_id).copied();
        let request = request.ok_or_else(|| Error::with(Kind::State, "no such request is pending"))?;
        if !request.fits(availability) {
            return Err(Error::with(Kind::State, "the response does not fit the request"));
        }
        let response = RunspaceAvailability { availability, call_id };
        self.link.send_application_payload(None, &Payload::RunspaceAvailability(response))?;
        self.requests.remove(&call_id);
        if availability == Availability::Accepted(true) {
            request.apply(&mut self.init);
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
        let call = HostCall::new(self.next_call_id, request);
        let (call_id, method) = (call.call_id, call.method);
        let has_response = !call.is_void();
        if has_response {
            self.host_calls.reserve()?;
        }
        let payload = match pipeline {
            None => Payload::RunspacePoolHostCall(call),
            Some(_) => Payload::PipelineHostCall(call),
        };
        self.send(Quota::Application, pipeline, payload.message_type(), payload.to_value())?;
        if !has_response {
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
    /// Fails if the pool is not open ([`Error::is_state`]), if the event cannot be written, and if the limit of pending
    /// output is reached ([`Error::is_limit`]): retry later.
    pub fn send_event(&mut self, event: UserEvent) -> Result<(), Error> {
        self.require_running("forward an event")?;
        let payload = Payload::UserEvent(Box::new(event));
        self.send(Quota::Application, None, payload.message_type(), payload.to_value())
    }

    /// Queues a message, or defers it if it needs a key that is not available.
    pub(super) fn send(
        &mut self,
        quota: Quota,
        target: Option<Uuid>,
        message_type: MessageType,
        value: Option<Value>,
    ) -> Result<(), Error> {
        const PRIORITY: Priority = Priority::Default;

        if self.link.outbox.has_deferred(target, PRIORITY) {
            return self.link.defer(quota, target, PRIORITY, message_type, value);
        }
        match self.link.send(quota, target, PRIORITY, message_type, value.as_ref()) {
            Err(error) if error.is_no_key() && cfg!(feature = "crypto") => {
                self.request_key()?;
                self.link.defer(quota, target, PRIORITY, message_type, value)
            }
            result => result,
        }
    }

    /// Sends the deferred messages. A message that cannot be written fails its pipeline or host call, not the pool.
    pub(super) fn send_deferred(&mut self) {
        while let Some((deferred, error)) = self.link.send_deferred() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            let is_call = matches!(
                deferred.message_type,
                MessageType::PipelineHostCall | MessageType::RunspacePoolHostCall
            );
            let call = deferred.value.as_ref().filter(|_| is_call).map(HostCall::from_value);
            let event = match (call, deferred.target) {
                (Some(Ok(HostCall { call_id, method, .. })), pipeline) => {
                    self.host_calls.remove(pipeline, call_id);
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
        self.link.outbox.poll(max, buffer)
    }
}

pool_methods!(ServerPool, ServerPipeline);
