//! Processing of packets and messages received by the server.

use uuid::Uuid;

use super::pipeline::PipelineEntry;
use super::{Event, PipelineEvent, ServerPool};
use crate::client::PipelineRequest;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::HostResponse;
use crate::link::{
    Core, Decoded, PoolRequest, Quota, Receive, Received, invalid_state, peer_error_record,
    protocol_violation,
};
use crate::message::{Message, MessageType, Payload, PipelineState, RunspacePoolState, SessionCapability};
use crate::outofproc::Packet;

impl ServerPool {
    /// Processes a packet of the client.
    ///
    /// # Errors
    ///
    /// Fails if the packet violates the protocol or exceeds a limit of the pool. The pool is then broken, its pipelines
    /// are removed, every further packet fails with [`Error::is_state`], and [`poll_transmit`](Self::poll_transmit)
    /// returns the packets that tell the client the cause. If a client was connecting, the pool returns to the
    /// disconnected state instead.
    ///
    /// A message of a pipeline that is malformed or exceeds a limit fails only this pipeline, and the client is
    /// notified. The rest of its data, and data for removed pipelines, is acknowledged and dropped.
    pub fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        use RunspacePoolState::{Broken, Closed, Connecting, Disconnected};

        if let Err(error) = self.core.outbox.admit_packet() {
            return Err(self.break_pool(error));
        }
        match (packet, self.core.state) {
            (Packet::Data { target, priority, data }, _) => {
                self.handle_input(priority, target, data)?;
                self.core.outbox.queue_packet(Packet::DataAck(target));
            }
            (_, Broken | Closed) => return Err(invalid_state("process packets", "pool", self.core.state)),
            (Packet::Close(None), _) => {
                self.core.outbox.set_all_paused(false);
                self.finish_close();
                self.core.outbox.queue_packet_after_data(Packet::CloseAck(None));
            }
            (_, Disconnected | Connecting) => {
                return Err(invalid_state("process pipeline packets", "pool", self.core.state));
            }
            (Packet::Command(Some(id)), _) => {
                self.create(id).map_err(|error| self.break_pool(error))?;
                self.core.outbox.queue_packet(Packet::CommandAck(Some(id)));
            }
            (Packet::Signal(Some(id)), _) => self.signal(id),
            (Packet::Close(Some(id)), _) => {
                self.remove(id);
                self.core.outbox.queue_packet(Packet::CloseAck(Some(id)));
            }
            (Packet::Command(None) | Packet::Signal(None), _) => {
                return Err(self.break_pool(protocol_violation("a pipeline packet without an identifier")));
            }
            (Packet::DataAck(_) | Packet::CommandAck(_) | Packet::CloseAck(_) | Packet::SignalAck(_), _) => {
                return Err(self.break_pool(protocol_violation("a packet that only servers send")));
            }
        }
        Ok(())
    }

    /// Processes fragments, whole or partial, sent to the pool or a pipeline, like
    /// [`handle_packet`](Self::handle_packet) with a data packet but without the acknowledgement.
    ///
    /// # Errors
    ///
    /// Fails like [`handle_packet`](Self::handle_packet).
    pub fn handle_input(
        &mut self,
        priority: Priority,
        target: Option<Uuid>,
        bytes: &[u8],
    ) -> Result<(), Error> {
        use RunspacePoolState::{BeforeOpen, Broken, Closed, Connecting, Disconnected, Opening};

        match self.core.state {
            Broken | Closed => return Err(invalid_state("process input", "pool", self.core.state)),
            Disconnected | Connecting if target.is_some() => {
                return Err(invalid_state("process pipeline input", "pool", self.core.state));
            }
            BeforeOpen => self.core.state = Opening,
            Disconnected => self.begin_connecting(),
            _ => {}
        }
        self.receive(priority, target, bytes)
    }

    fn create(&mut self, id: Uuid) -> Result<(), Error> {
        if self.core.state != RunspacePoolState::Opened {
            return Err(protocol_violation("a pipeline of a pool that is not open"));
        }
        if self.pipelines.contains_key(&id) {
            return Err(protocol_violation("two pipelines with the same identifier"));
        }
        if self.pipelines.len() >= self.core.limits.max_pipelines {
            return Err(Error::with(Kind::Limit, "number of pipelines"));
        }
        self.pipelines.insert(id, PipelineEntry::new());
        Ok(())
    }

    fn signal(&mut self, id: Uuid) {
        if let Some(entry) = self.pipelines.get_mut(&id)
            && (entry.is_requested || matches!(entry.state, PipelineState::Running | PipelineState::Stopping))
        {
            if !entry.is_signalled {
                entry.is_signalled = true;
                self.events.push(Event::Pipeline { id, event: PipelineEvent::Stop }, 0);
            }
            return;
        }
        self.core.outbox.queue_packet_after_data(Packet::SignalAck(Some(id)));
    }

    pub(super) fn remove(&mut self, id: Uuid) {
        if self.pipelines.remove(&id).is_some() {
            self.core.remove_target(Some(id));
            self.core.host_calls.remove_pipeline(id);
            self.events.push(Event::Pipeline { id, event: PipelineEvent::Closed }, 0);
        }
    }

    /// Returns the existing pipeline that a message belongs to, if the pool's state allows pipeline messages.
    fn pipeline_of(&self, message: &Message<'_>) -> Option<Uuid> {
        let is_of_pipeline = matches!(
            message.header.message_type,
            MessageType::CreatePipeline
                | MessageType::GetCommandMetadata
                | MessageType::PipelineInput
                | MessageType::EndOfPipelineInput
                | MessageType::PipelineHostResponse
        );
        let id = message
            .header
            .pipeline_id
            .filter(|_| is_of_pipeline && self.core.state == RunspacePoolState::Opened);
        id.filter(|id| self.pipelines.contains_key(id))
    }
}

impl Receive for ServerPool {
    fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    fn received(&mut self, pipeline: Uuid) -> Option<&mut Received> {
        self.pipelines.get_mut(&pipeline).map(|entry| &mut entry.received)
    }

    fn handle_message(&mut self, message: Option<&Message<'_>>) -> Result<(), Error> {
        use RunspacePoolState::{Connecting, Opened, Opening};

        let Some(message) = message else {
            return match self.core.state {
                Connecting => Err(protocol_violation("a client of another pool")),
                _ => Ok(()),
            };
        };
        self.events.reserve(0)?;
        let Decoded { payload, size: len, .. } = match (self.core.decode(message), self.pipeline_of(message))
        {
            (Ok(decoded), _) => decoded,
            (Err(error), Some(id)) => {
                self.fail_pipeline_input(id, &error);
                return Ok(());
            }
            (Err(error), None) => return Err(error),
        };
        self.events.reserve(len)?;
        if let Payload::SessionCapability(capability) = payload {
            if !matches!(self.core.state, Opening | Connecting) || self.core.peer.is_some() {
                return Err(protocol_violation("session capabilities in an open session"));
            }
            if capability.protocol_version.major() != SessionCapability::PROTOCOL.major() {
                return Err(protocol_violation("the client uses another major protocol version"));
            }
            // This message still has a nil identifier: the server learns the identifier from the client's first
            // message.
            let common = self.core.capability.protocol_version.min(capability.protocol_version);
            let protocol_version = self.core.negotiate(common)?;
            // PowerShell's client rejects a later version than its own.
            let response = SessionCapability { protocol_version, ..self.core.capability.clone() };
            self.core.send_payload(Quota::Protocol, &Payload::SessionCapability(response))?;
            self.core.pool_id = message.header.pool_id;
            self.core.peer = Some(capability.clone());
            self.events.push(Event::SessionCapability(capability), len);
            return Ok(());
        }
        if matches!(payload, Payload::Other(..)) {
            return Ok(());
        }
        match (self.core.state, &self.core.peer, &payload) {
            (Opened, _, Payload::ConnectRunspacePool(_)) => Err(protocol_violation("the pool has a client")),
            (Opening, Some(_), Payload::InitRunspacePool(_))
            | (Opening | Connecting, Some(_), Payload::ConnectRunspacePool(_))
            | (Opened, ..) => self.handle_payload(message, payload, len),
            _ => Err(protocol_violation("a message before the pool is open")),
        }
    }

    fn fail_pipeline_input(&mut self, id: Uuid, error: &Error) {
        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        entry.received.has_failed = true;
        let is_reported = entry.state == PipelineState::Failed;
        self.core.inbox.remove(Some(id));
        if !is_reported {
            self.fail_pipeline(id, peer_error_record(error));
        }
    }

    /// An error of a client that is still connecting does not break the pool.
    fn break_pool(&mut self, error: Error) -> Error {
        use RunspacePoolState::{Broken, Closed, Connecting};

        match self.core.state {
            Broken | Closed => {}
            Connecting => self.cancel_connecting(),
            _ => self.break_with(peer_error_record(&error)),
        }
        error
    }
}

impl ServerPool {
    fn handle_payload(&mut self, message: &Message<'_>, payload: Payload, len: usize) -> Result<(), Error> {
        let pipeline = message.header.pipeline_id;
        match payload {
            Payload::InitRunspacePool(init) => self.open(*init, len)?,
            Payload::ConnectRunspacePool(connect) => self.connected(connect, len)?,
            Payload::PublicKey(key) => {
                self.core.respond_to_public_key(&key)?;
                self.events.push(Event::KeyExchanged, len);
                self.send_deferred();
            }
            Payload::SetMaxRunspaces(set) => {
                self.handle_request(set.call_id, PoolRequest::SetMaxRunspaces(set.max_runspaces), len)?;
            }
            Payload::SetMinRunspaces(set) => {
                self.handle_request(set.call_id, PoolRequest::SetMinRunspaces(set.min_runspaces), len)?;
            }
            Payload::GetAvailableRunspaces(get) => {
                self.handle_request(get.call_id, PoolRequest::GetAvailableRunspaces, len)?;
            }
            Payload::ResetRunspaceState(reset) => {
                self.handle_request(reset.call_id, PoolRequest::ResetRunspaceState, len)?;
            }
            Payload::RunspacePoolHostResponse(response) => self.handle_host_response(None, response, len),
            Payload::PipelineHostResponse(response) => self.handle_host_response(pipeline, response, len),
            Payload::CreatePipeline(create) => {
                self.handle_start(pipeline, PipelineRequest::Run(create), len)?;
            }
            Payload::GetCommandMetadata(get) => {
                self.handle_start(pipeline, PipelineRequest::GetCommandMetadata(get), len)?;
            }
            Payload::PipelineInput(value) => {
                self.handle_pipeline_input(pipeline, PipelineEvent::Input(value), len)
            }
            Payload::EndOfPipelineInput => {
                self.handle_pipeline_input(pipeline, PipelineEvent::EndOfInput, len)
            }
            other => {
                let number = other.message_type().id();
                return Err(protocol_violation(format!(
                    "a message that only servers send (type {number:#x})"
                )));
            }
        }
        Ok(())
    }

    fn handle_request(&mut self, call_id: i64, request: PoolRequest, len: usize) -> Result<(), Error> {
        if self.core.requests.len() >= self.core.limits.max_requests {
            return Err(Error::with(Kind::Limit, "number of pending requests"));
        }
        if self.core.requests.insert(call_id, request).is_some() {
            return Err(protocol_violation("two requests with the same identifier"));
        }
        self.events.push(Event::Request { call_id, request }, len);
        Ok(())
    }

    fn handle_host_response(&mut self, pipeline: Option<Uuid>, response: HostResponse, len: usize) {
        if self.core.host_calls.remove(pipeline, response.call_id).is_some() {
            self.events.push(Event::HostResponse { pipeline, response }, len);
        }
    }

    fn handle_start(&mut self, id: Option<Uuid>, request: PipelineRequest, len: usize) -> Result<(), Error> {
        use PipelineState::{Completed, NotStarted, Stopped};

        let entry = id.and_then(|id| Some((id, self.pipelines.get_mut(&id)?)));
        let (id, entry) =
            entry.ok_or_else(|| protocol_violation("a pipeline that the transport has not created"))?;
        if entry.is_requested || !matches!(entry.state, NotStarted | Stopped | Completed) {
            return Err(protocol_violation("a running pipeline is started again"));
        }
        entry.is_requested = true;
        entry.is_input_open = matches!(&request, PipelineRequest::Run(create) if !create.no_input);
        self.events.push(Event::Pipeline { id, event: PipelineEvent::Start(request) }, len);
        Ok(())
    }

    /// Input in flight after the end of the pipeline is dropped.
    fn handle_pipeline_input(&mut self, id: Option<Uuid>, event: PipelineEvent, len: usize) {
        if let Some(id) = id
            && let Some(entry) = self.pipelines.get_mut(&id)
            && entry.is_input_open
        {
            entry.is_input_open = event != PipelineEvent::EndOfInput;
            self.events.push(Event::Pipeline { id, event }, len);
        }
    }
}
