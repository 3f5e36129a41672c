//! What the client's pool makes of what the server sends.

use uuid::Uuid;

use super::pool::Request;
use super::{Event, PipelineEvent, RunspacePool};
use crate::error::Error;
use crate::fragment::Priority;
use crate::host::HostCall;
use crate::link::{Awaited, Decoded, Intake, Link, Receiver, give_up, not_now, receive, violation};
use crate::message::{
    Availability, Message, MessageType, Payload, PipelineState, PipelineStateInfo, RunspaceAvailability,
    RunspacePoolState, RunspacePoolStateInfo, SessionCapability,
};
use crate::outofproc::Packet;
use crate::record::ErrorRecord;

impl Receiver for RunspacePool {
    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn intake(&mut self, id: Uuid) -> Option<&mut Intake> {
        self.pipelines.get_mut(&id).map(|entry| &mut entry.intake)
    }

    fn max_data_per_command(&self) -> usize {
        self.max_data_per_command
    }

    fn has_ended(&self) -> bool {
        matches!(self.state, RunspacePoolState::Closed | RunspacePoolState::Broken)
    }

    fn deliver(&mut self, message: Option<&Message<'_>>) -> Result<(), Error> {
        message.map_or(Ok(()), |message| self.take(message))
    }

    fn fail_unread(&mut self, id: Uuid, reason: ErrorRecord) {
        self.fail_pipeline(id, reason);
    }

    fn fail_pool(&mut self, error: Error) -> Error {
        self.break_down(error)
    }
}

impl RunspacePool {
    /// Takes a packet of the server.
    ///
    /// # Errors
    ///
    /// Fails if it violates the protocol or exceeds a limit of the pool. The pool is broken then, its pipelines have
    /// failed, and each further packet is refused ([`Error::is_state`]).
    ///
    /// A message of a pipeline that is malformed or exceeds a limit fails that pipeline alone, which is an event, and the
    /// rest of its messages is dropped. Acknowledgements that nobody waits for and packets for pipelines that are gone are
    /// dropped too.
    pub fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        match packet {
            Packet::Data { target, priority, data } => self.handle_input(priority, target, data),
            Packet::DataAck(target) => {
                let entry = target.and_then(|id| self.pipelines.get_mut(&id));
                if let Some(entry) = entry.filter(|entry| entry.is_created) {
                    entry.is_acknowledged = true;
                }
                self.link.outbox.acknowledged(target, Awaited::Data);
                Ok(())
            }
            Packet::CommandAck(target) => {
                self.link.outbox.acknowledged(target, Awaited::Command);
                Ok(())
            }
            Packet::SignalAck(_) => Ok(()),
            Packet::CloseAck(Some(id)) => {
                if self.pipelines.get(&id).is_some_and(|entry| entry.is_closing) {
                    self.pipelines.remove(&id);
                    self.link.forget(Some(id));
                    self.events.push(Event::Pipeline { id, event: PipelineEvent::Closed }, 0);
                }
                Ok(())
            }
            Packet::CloseAck(None) => {
                if self.state == RunspacePoolState::Closing {
                    self.end(RunspacePoolStateInfo::new(RunspacePoolState::Closed), 0);
                }
                Ok(())
            }
            Packet::Command(_) | Packet::Close(_) | Packet::Signal(_) => match self.state {
                RunspacePoolState::Closed => Ok(()),
                RunspacePoolState::BeforeOpen | RunspacePoolState::Broken => {
                    Err(not_now("take packets", "pool", self.state))
                }
                _ => Err(self.break_down(violation("a packet that only clients send"))),
            },
        }
    }

    /// Takes fragments, or any part of them, that the server has sent to the pool or to a pipeline: what
    /// [`handle_packet`](Self::handle_packet) does with data.
    ///
    /// # Errors
    ///
    /// As [`handle_packet`](Self::handle_packet).
    pub fn handle_input(
        &mut self,
        priority: Priority,
        target: Option<Uuid>,
        bytes: &[u8],
    ) -> Result<(), Error> {
        use RunspacePoolState::{BeforeOpen, Broken, Closed};

        match self.state {
            // Nothing that is on its way matters any more.
            Closed => return Ok(()),
            BeforeOpen | Broken => return Err(not_now("take input", "pool", self.state)),
            _ => {}
        }
        receive(self, priority, target, bytes)
    }

    fn take(&mut self, message: &Message<'_>) -> Result<(), Error> {
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
                Some(id) => self.take_of_pipeline(id, message),
                None => self.take_of_no_pipeline(message),
            },
            _ => {
                let Decoded { payload, size, needs_key } = self.link.decode(message)?;
                self.events.reserve(size)?;
                self.need_key(needs_key)?;
                self.take_of_pool(payload, size)
            }
        }
    }

    /// The first secure string without a key starts the exchange.
    fn need_key(&mut self, is_needed: bool) -> Result<(), Error> {
        if is_needed && cfg!(feature = "crypto") { self.want_key() } else { Ok(()) }
    }

    /// Starts the exchange of the key now, or when the pool is open.
    fn want_key(&mut self) -> Result<(), Error> {
        self.is_key_wanted = self.state != RunspacePoolState::Opened;
        if self.is_key_wanted { Ok(()) } else { self.exchange_key() }
    }

    fn take_of_pool(&mut self, payload: Payload, len: usize) -> Result<(), Error> {
        use RunspacePoolState::{Connecting, Opened, Opening};

        match payload {
            Payload::SessionCapability(capability) => {
                if !matches!(self.state, Opening | Connecting) {
                    return Err(violation("capabilities of an open session"));
                }
                // The least version is 2.0.
                if capability.protocol_version.major() != SessionCapability::PROTOCOL.major() {
                    return Err(violation("the server has another major version of the protocol"));
                }
                self.link.negotiate(self.capability.protocol_version.min(capability.protocol_version))?;
                self.peer = Some(capability.clone());
                self.events.push(Event::SessionCapability(capability), len);
            }
            Payload::RunspacePoolInitData(limits) => {
                self.init.min_runspaces = limits.min_runspaces;
                self.init.max_runspaces = limits.max_runspaces;
                self.events.push(Event::RunspaceLimits(limits), len);
            }
            Payload::ApplicationPrivateData(data) => {
                if !matches!(self.state, Opening | Opened | Connecting) {
                    return Err(violation("application data of a pool that is not open"));
                }
                self.private_data = Some(data.clone());
                self.events.push(Event::ApplicationPrivateData(data), len);
                if self.state == Connecting {
                    self.opened(RunspacePoolStateInfo::new(Opened), 0)?;
                }
            }
            Payload::RunspacePoolState(info) => self.take_state(info, len)?,
            Payload::EncryptedSessionKey(key) => {
                self.link.take_session_key(&key)?;
                self.events.push(Event::KeyExchanged, len);
                self.send_parked();
            }
            // Old servers ask before they say that the pool is open.
            Payload::PublicKeyRequest => self.want_key()?,
            Payload::RunspaceAvailability(RunspaceAvailability { availability, call_id }) => {
                let Some(request) = self.requests.remove(&call_id) else { return Ok(()) };
                match (request, availability) {
                    (Request::SetMin(count), Availability::Accepted(true)) => self.init.min_runspaces = count,
                    (Request::SetMax(count), Availability::Accepted(true)) => self.init.max_runspaces = count,
                    (Request::GetAvailable, Availability::Accepted(_))
                    | (Request::SetMin(_) | Request::SetMax(_) | Request::Reset, Availability::Count(_)) => {
                        return Err(violation("an answer of another kind than its question"));
                    }
                    _ => {}
                }
                self.events.push(Event::Answer { call_id, availability }, len);
            }
            Payload::UserEvent(event) => self.events.push(Event::UserEvent(event), len),
            Payload::RunspacePoolHostCall(call) => self.take_host_call(None, call, len)?,
            other => {
                let number = other.message_type().id();
                return Err(violation(format!("a message that only clients send (type {number:#x})")));
            }
        }
        Ok(())
    }

    fn take_state(&mut self, info: RunspacePoolStateInfo, len: usize) -> Result<(), Error> {
        use RunspacePoolState::{Broken, Closed, Closing, Opened, Other};

        match info.state {
            Closed | Broken => self.end(info, len),
            Opened => return self.opened(info, len),
            Other(_) => return Err(violation("an unknown state of the pool")),
            // Closing goes on until the server is done, whatever else it says.
            _ if self.state == Closing => {}
            state => {
                self.state = state;
                self.events.push(Event::State(info), len);
            }
        }
        Ok(())
    }

    fn opened(&mut self, info: RunspacePoolStateInfo, len: usize) -> Result<(), Error> {
        use RunspacePoolState::{Closing, Opened};

        if self.peer.is_none() {
            return Err(violation("the pool is open before the capabilities are known"));
        }
        if self.state != Closing && self.state != Opened {
            self.state = Opened;
            self.resume_pipelines();
            self.events.push(Event::State(info), len);
            if std::mem::take(&mut self.is_key_wanted) {
                self.exchange_key()?;
            }
        }
        Ok(())
    }

    fn take_host_call(&mut self, pipeline: Option<Uuid>, call: HostCall, len: usize) -> Result<(), Error> {
        if !call.is_void()
            && let Err(error) = self.host_calls.insert(pipeline, call.call_id, call.method)
        {
            let Some(id) = pipeline else { return Err(error) };
            give_up(self, id, &error);
            return Ok(());
        }
        self.events.push(Event::HostCall { pipeline, call }, len);
        Ok(())
    }

    /// Takes a message of a pipeline that does not name it. With the state of one PowerShell tells that the script failed
    /// that it runs first.
    fn take_of_no_pipeline(&mut self, message: &Message<'_>) -> Result<(), Error> {
        use RunspacePoolState::{Broken, Connecting, Opening};

        if message.header.message_type == MessageType::PipelineState
            && matches!(self.state, Opening | Connecting)
        {
            let Decoded { payload, size, .. } = self.link.decode(message)?;
            self.events.reserve(size)?;
            if let Payload::PipelineState(PipelineStateInfo { error, .. }) = payload {
                self.end(RunspacePoolStateInfo { state: Broken, error }, size);
                return Ok(());
            }
        }
        Err(violation("a message of a pipeline without its identifier"))
    }

    fn take_of_pipeline(&mut self, id: Uuid, message: &Message<'_>) -> Result<(), Error> {
        let Some(entry) = self.pipelines.get_mut(&id) else { return Ok(()) };
        (entry.is_created, entry.is_acknowledged) = (true, true);
        if entry.is_closing || entry.is_terminal() || entry.state == PipelineState::NotStarted {
            return Ok(());
        }
        let Decoded { payload, size: len, needs_key } = match self.link.decode(message) {
            Ok(decoded) => decoded,
            Err(error) => {
                give_up(self, id, &error);
                return Ok(());
            }
        };
        self.events.reserve(len)?;
        self.need_key(needs_key)?;
        let event = match payload {
            Payload::PipelineOutput(value) => PipelineEvent::Output(value),
            Payload::ErrorRecord(record) => PipelineEvent::Error(record),
            Payload::DebugRecord(record) => PipelineEvent::Debug(record),
            Payload::VerboseRecord(record) => PipelineEvent::Verbose(record),
            Payload::WarningRecord(record) => PipelineEvent::Warning(record),
            Payload::ProgressRecord(record) => PipelineEvent::Progress(record),
            Payload::InformationRecord(record) => PipelineEvent::Information(record),
            Payload::PipelineHostCall(call) => return self.take_host_call(Some(id), call, len),
            Payload::PipelineState(info) => {
                self.take_pipeline_state(id, info, len);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.events.push(Event::Pipeline { id, event }, len);
        Ok(())
    }

    pub(super) fn take_pipeline_state(&mut self, id: Uuid, info: PipelineStateInfo, len: usize) {
        use PipelineState::{Disconnected, Other, Running, Stopping};

        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        match info.state {
            Other(_) => return give_up(self, id, &violation("an unknown state of a pipeline")),
            // That it runs was sent before the server knew that it is to stop.
            Running if entry.state == Stopping => return,
            Disconnected if entry.state == Disconnected => {}
            Disconnected => entry.before_disconnect = Some(entry.state),
            _ => entry.before_disconnect = None,
        }
        entry.state = info.state;
        if entry.is_terminal() {
            self.host_calls.forget(id);
        }
        self.events.push(Event::Pipeline { id, event: PipelineEvent::State(info) }, len);
    }
}
