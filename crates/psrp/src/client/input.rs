//! Processing of packets and messages received by the client.

use uuid::Uuid;

use super::{ClientPool, Event, PipelineEvent};
use crate::error::Error;
use crate::fragment::Priority;
use crate::host::HostCall;
use crate::link::{
    Ack, Core, Decoded, Receive, Received, invalid_state, peer_error_record, protocol_violation,
};
use crate::message::{
    Availability, Message, MessageType, Payload, PipelineState, PipelineStateInfo, RunspaceAvailability,
    RunspacePoolState, RunspacePoolStateInfo, SessionCapability,
};
use crate::outofproc::Packet;
use crate::record::ErrorRecord;

impl ClientPool {
    /// Processes a packet of the server.
    ///
    /// # Errors
    ///
    /// Fails if the packet violates the protocol or exceeds a limit of the pool. The pool is then broken, its pipelines
    /// have failed, and every further packet fails with [`Error::is_state`].
    ///
    /// A message of a pipeline that is malformed or exceeds a limit fails only this pipeline: an event reports it, and
    /// the rest of its messages is dropped. Unexpected acknowledgements and packets for closed pipelines are ignored.
    pub fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        match packet {
            Packet::Data { target, priority, data } => self.handle_input(priority, target, data),
            Packet::DataAck(target) => {
                let entry = target.and_then(|id| self.pipelines.get_mut(&id));
                if let Some(entry) = entry.filter(|entry| entry.is_created) {
                    entry.is_acknowledged = true;
                }
                self.core.outbox.acknowledge(target, Ack::Data);
                Ok(())
            }
            Packet::CommandAck(target) => {
                self.core.outbox.acknowledge(target, Ack::Command);
                Ok(())
            }
            Packet::SignalAck(_) => Ok(()),
            Packet::CloseAck(Some(id)) => {
                if self.pipelines.get(&id).is_some_and(|entry| entry.is_closing) {
                    self.pipelines.remove(&id);
                    self.core.remove_target(Some(id));
                    self.events.push(Event::Pipeline { id, event: PipelineEvent::Closed }, 0);
                }
                Ok(())
            }
            Packet::CloseAck(None) => {
                if self.core.state == RunspacePoolState::Closing {
                    self.end(RunspacePoolStateInfo::new(RunspacePoolState::Closed), 0);
                }
                Ok(())
            }
            Packet::Command(_) | Packet::Close(_) | Packet::Signal(_) => match self.core.state {
                RunspacePoolState::Closed => Ok(()),
                RunspacePoolState::BeforeOpen | RunspacePoolState::Broken => {
                    Err(invalid_state("process packets", "pool", self.core.state))
                }
                _ => Err(self.break_pool(protocol_violation("a packet that only clients send"))),
            },
        }
    }

    /// Processes fragments, whole or partial, sent to the pool or a pipeline, like
    /// [`handle_packet`](Self::handle_packet) with a data packet.
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
        use RunspacePoolState::{BeforeOpen, Broken, Closed};

        match self.core.state {
            // Packets in flight are ignored.
            Closed => return Ok(()),
            BeforeOpen | Broken => return Err(invalid_state("process input", "pool", self.core.state)),
            _ => {}
        }
        self.receive(priority, target, bytes)
    }
}

impl Receive for ClientPool {
    fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    fn received(&mut self, pipeline: Uuid) -> Option<&mut Received> {
        self.pipelines.get_mut(&pipeline).map(|entry| &mut entry.received)
    }

    fn handle_message(&mut self, message: Option<&Message<'_>>) -> Result<(), Error> {
        let Some(message) = message else { return Ok(()) };
        self.events.reserve(0)?;
        let id = message.header.pipeline_id;
        match message.header.message_type {
            MessageType::Other(_) => Ok(()),
            MessageType::PipelineOutput
            | MessageType::ErrorRecord
            | MessageType::PipelineState
            | MessageType::DebugRecord
            | MessageType::VerboseRecord
            | MessageType::WarningRecord
            | MessageType::ProgressRecord
            | MessageType::InformationRecord
            | MessageType::PipelineHostCall => match id {
                Some(id) => self.handle_pipeline_message(id, message),
                None => self.handle_message_without_pipeline(message),
            },
            _ => {
                let Decoded { payload, size, needs_key } = self.core.decode(message)?;
                self.events.reserve(size)?;
                self.exchange_key_if_needed(needs_key)?;
                self.handle_pool_payload(payload, size)
            }
        }
    }

    fn fail_pipeline_input(&mut self, id: Uuid, error: &Error) {
        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        entry.received.has_failed = true;
        self.core.inbox.remove(Some(id));
        self.fail_pipeline(id, peer_error_record(error));
    }

    fn break_pool(&mut self, error: Error) -> Error {
        if !self.core.has_ended() {
            let state = RunspacePoolState::Broken;
            self.end(RunspacePoolStateInfo { state, error: Some(Box::new(peer_error_record(&error))) }, 0);
        }
        error
    }
}

impl ClientPool {
    /// Requests the session key when the first secure string arrives without one.
    fn exchange_key_if_needed(&mut self, is_needed: bool) -> Result<(), Error> {
        if is_needed && cfg!(feature = "crypto") { self.start_key_exchange() } else { Ok(()) }
    }

    /// Starts the key exchange now, or when the pool is open.
    fn start_key_exchange(&mut self) -> Result<(), Error> {
        self.is_key_exchange_pending = self.core.state != RunspacePoolState::Opened;
        if self.is_key_exchange_pending { Ok(()) } else { self.exchange_key() }
    }

    fn handle_pool_payload(&mut self, payload: Payload, len: usize) -> Result<(), Error> {
        use RunspacePoolState::{Connecting, Opened, Opening};

        match payload {
            Payload::SessionCapability(capability) => {
                if !matches!(self.core.state, Opening | Connecting) {
                    return Err(protocol_violation("session capabilities in an open session"));
                }
                // The minimum is 2.0.
                if capability.protocol_version.major() != SessionCapability::PROTOCOL.major() {
                    return Err(protocol_violation("the server uses another major protocol version"));
                }
                self.core
                    .negotiate(self.core.capability.protocol_version.min(capability.protocol_version))?;
                self.core.peer = Some(capability.clone());
                self.events.push(Event::SessionCapability(capability), len);
            }
            Payload::RunspacePoolInitData(limits) => {
                self.core.init.min_runspaces = limits.min_runspaces;
                self.core.init.max_runspaces = limits.max_runspaces;
                self.events.push(Event::RunspaceLimits(limits), len);
            }
            Payload::ApplicationPrivateData(data) => {
                if !matches!(self.core.state, Opening | Opened | Connecting) {
                    return Err(protocol_violation("application data of a pool that is not open"));
                }
                self.private_data = Some(data.clone());
                self.events.push(Event::ApplicationPrivateData(data), len);
                if self.core.state == Connecting {
                    self.opened(RunspacePoolStateInfo::new(Opened), 0)?;
                }
            }
            Payload::RunspacePoolState(info) => self.handle_pool_state(info, len)?,
            Payload::EncryptedSessionKey(key) => {
                self.core.accept_session_key(&key)?;
                self.events.push(Event::KeyExchanged, len);
                self.send_deferred();
            }
            // Old servers request the key before they report that the pool is open.
            Payload::PublicKeyRequest => self.start_key_exchange()?,
            Payload::RunspaceAvailability(RunspaceAvailability { availability, call_id }) => {
                let Some(request) = self.core.requests.remove(&call_id) else { return Ok(()) };
                if !request.fits(availability) {
                    return Err(protocol_violation("a response that does not fit its request"));
                }
                if availability == Availability::Accepted(true) {
                    request.apply(&mut self.core.init);
                }
                self.events.push(Event::RequestCompleted { call_id, availability }, len);
            }
            Payload::UserEvent(event) => self.events.push(Event::UserEvent(event), len),
            Payload::RunspacePoolHostCall(call) => self.handle_host_call(None, call, len)?,
            other => {
                let number = other.message_type().id();
                return Err(protocol_violation(format!(
                    "a message that only clients send (type {number:#x})"
                )));
            }
        }
        Ok(())
    }

    fn handle_pool_state(&mut self, info: RunspacePoolStateInfo, len: usize) -> Result<(), Error> {
        use RunspacePoolState::{Broken, Closed, Closing, Opened, Other};

        match info.state {
            Closed | Broken => self.end(info, len),
            Opened => return self.opened(info, len),
            Other(_) => return Err(protocol_violation("an unknown state of the pool")),
            // A pool being closed stays in this state until the server confirms.
            _ if self.core.state == Closing => {}
            state => {
                self.core.state = state;
                self.events.push(Event::State(info), len);
            }
        }
        Ok(())
    }

    fn opened(&mut self, info: RunspacePoolStateInfo, len: usize) -> Result<(), Error> {
        use RunspacePoolState::{Closing, Opened};

        if self.core.peer.is_none() {
            return Err(protocol_violation("the pool was opened before the capabilities were sent"));
        }
        if self.core.state != Closing && self.core.state != Opened {
            self.core.state = Opened;
            self.resume_pipelines();
            self.events.push(Event::State(info), len);
            if std::mem::take(&mut self.is_key_exchange_pending) {
                self.exchange_key()?;
            }
        }
        Ok(())
    }

    fn handle_host_call(&mut self, pipeline: Option<Uuid>, call: HostCall, len: usize) -> Result<(), Error> {
        if !call.is_void()
            && let Err(error) = self.core.host_calls.insert(pipeline, call.call_id, call.method)
        {
            let Some(id) = pipeline else { return Err(error) };
            self.fail_pipeline_input(id, &error);
            return Ok(());
        }
        self.events.push(Event::HostCall { pipeline, call }, len);
        Ok(())
    }

    /// Processes a pipeline message without a pipeline identifier, which servers send while they open the pool: records
    /// of startup scripts, and the failed state of one, which ends the pool.
    fn handle_message_without_pipeline(&mut self, message: &Message<'_>) -> Result<(), Error> {
        // A malformed one concerns no pipeline and does not end the pool.
        let Ok(Decoded { payload, size, needs_key }) = self.core.decode(message) else { return Ok(()) };
        self.events.reserve(size)?;
        self.exchange_key_if_needed(needs_key)?;
        match payload {
            Payload::PipelineState(PipelineStateInfo { state: PipelineState::Failed, error }) => {
                self.end(RunspacePoolStateInfo { state: RunspacePoolState::Broken, error }, size);
            }
            Payload::PipelineState(info) => {
                self.events.push(Event::PoolRecord(PipelineEvent::State(info)), size);
            }
            Payload::PipelineHostCall(call) => return self.handle_host_call(None, call, size),
            payload => {
                if let Some(event) = record(payload) {
                    self.events.push(Event::PoolRecord(event), size);
                }
            }
        }
        Ok(())
    }

    fn handle_pipeline_message(&mut self, id: Uuid, message: &Message<'_>) -> Result<(), Error> {
        let Some(entry) = self.pipelines.get_mut(&id) else { return Ok(()) };
        (entry.is_created, entry.is_acknowledged) = (true, true);
        if entry.is_closing || entry.is_terminal() || entry.state == PipelineState::NotStarted {
            return Ok(());
        }
        let Decoded { payload, size: len, needs_key } = match self.core.decode(message) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.fail_pipeline_input(id, &error);
                return Ok(());
            }
        };
        self.events.reserve(len)?;
        self.exchange_key_if_needed(needs_key)?;
        match payload {
            Payload::PipelineHostCall(call) => return self.handle_host_call(Some(id), call, len),
            Payload::PipelineState(info) => self.handle_pipeline_state(id, info, len),
            payload => {
                if let Some(event) = record(payload) {
                    self.events.push(Event::Pipeline { id, event }, len);
                }
            }
        }
        Ok(())
    }

    pub(super) fn handle_pipeline_state(&mut self, id: Uuid, info: PipelineStateInfo, len: usize) {
        use PipelineState::{Disconnected, Other, Running, Stopping};

        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        match info.state {
            Other(_) => {
                return self.fail_pipeline_input(id, &protocol_violation("an unknown state of a pipeline"));
            }
            // The server sent this state before it received the stop signal.
            Running if entry.state == Stopping => return,
            Disconnected if entry.state == Disconnected => {}
            Disconnected => entry.before_disconnect = Some(entry.state),
            _ => entry.before_disconnect = None,
        }
        entry.state = info.state;
        if entry.is_terminal() {
            self.core.host_calls.remove_pipeline(id);
        }
        self.events.push(Event::Pipeline { id, event: PipelineEvent::State(info) }, len);
    }

    /// Fails a pipeline because of a local error that the server does not know about.
    pub(super) fn fail_pipeline(&mut self, id: Uuid, record: ErrorRecord) {
        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        if entry.is_terminal() || entry.is_closing {
            return;
        }
        entry.state = PipelineState::Failed;
        self.core.host_calls.remove_pipeline(id);
        self.core.outbox.discard(Some(id));
        let error = Some(Box::new(record));
        let event = PipelineEvent::State(PipelineStateInfo { state: PipelineState::Failed, error });
        self.events.push(Event::Pipeline { id, event }, 0);
    }
}

/// Returns the event of an output object or record.
fn record(payload: Payload) -> Option<PipelineEvent> {
    Some(match payload {
        Payload::PipelineOutput(value) => PipelineEvent::Output(value),
        Payload::ErrorRecord(record) => PipelineEvent::Error(record),
        Payload::DebugRecord(record) => PipelineEvent::Debug(record),
        Payload::VerboseRecord(record) => PipelineEvent::Verbose(record),
        Payload::WarningRecord(record) => PipelineEvent::Warning(record),
        Payload::ProgressRecord(record) => PipelineEvent::Progress(record),
        Payload::InformationRecord(record) => PipelineEvent::Information(record),
        _ => return None,
    })
}
