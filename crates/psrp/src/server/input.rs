//! What the server's pool makes of what the client sends.

use uuid::Uuid;

use super::pipeline::Entry;
use super::pool::Request;
use super::{Event, PipelineEvent, RunspacePool};
use crate::client::PipelineRequest;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::HostResponse;
use crate::link::{Decoded, Intake, Link, Receiver, give_up, not_now, receive, violation};
use crate::message::{Message, MessageType, Payload, PipelineState, RunspacePoolState, SessionCapability};
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
        // No message ends it: a packet does, or an error.
        false
    }

    fn deliver(&mut self, message: Option<&Message<'_>>) -> Result<(), Error> {
        match message {
            Some(message) => self.take(message),
            None if self.state == RunspacePoolState::Connecting => Err(violation("a client of another pool")),
            None => Ok(()),
        }
    }

    fn fail_unread(&mut self, id: Uuid, reason: ErrorRecord) {
        // A client that starts a pipeline again learns that it is not heard.
        if self.pipelines.get(&id).is_some_and(|entry| entry.state != PipelineState::Failed) {
            self.fail_pipeline(id, reason);
        }
    }

    fn fail_pool(&mut self, error: Error) -> Error {
        self.break_down(error)
    }
}

impl RunspacePool {
    /// Takes a packet of the client.
    ///
    /// # Errors
    ///
    /// Fails if it violates the protocol or exceeds a limit of the pool. The pool is broken then, its pipelines are gone,
    /// each further packet is refused ([`Error::is_state`]), and [`poll_transmit`](Self::poll_transmit) has what tells the
    /// client why. If a client was about to connect, the pool is only disconnected again.
    ///
    /// A message of a pipeline that is malformed or exceeds a limit fails that pipeline alone, which the client is told. The
    /// rest of its data, and data for pipelines that are gone, are acknowledged and dropped.
    pub fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        use RunspacePoolState::{Broken, Closed, Connecting, Disconnected};

        if let Err(error) = self.link.outbox.admit_packet() {
            return Err(self.break_down(error));
        }
        match (packet, self.state) {
            (Packet::Data { target, priority, data }, _) => {
                self.handle_input(priority, target, data)?;
                self.link.outbox.act(Packet::DataAck(target));
            }
            (_, Broken | Closed) => return Err(not_now("take packets", "pool", self.state)),
            (Packet::Close(None), _) => {
                self.link.outbox.hold_all(false);
                self.shut();
                self.link.outbox.act_after_data(Packet::CloseAck(None));
            }
            (_, Disconnected | Connecting) => {
                return Err(not_now("take packets of pipelines", "pool", self.state));
            }
            (Packet::Command(Some(id)), _) => {
                self.create(id).map_err(|error| self.break_down(error))?;
                self.link.outbox.act(Packet::CommandAck(Some(id)));
            }
            (Packet::Signal(Some(id)), _) => self.signal(id),
            (Packet::Close(Some(id)), _) => {
                self.remove(id);
                self.link.outbox.act(Packet::CloseAck(Some(id)));
            }
            (Packet::Command(None) | Packet::Signal(None), _) => {
                return Err(self.break_down(violation("a packet for a pipeline that names none")));
            }
            (Packet::DataAck(_) | Packet::CommandAck(_) | Packet::CloseAck(_) | Packet::SignalAck(_), _) => {
                return Err(self.break_down(violation("a packet that only servers send")));
            }
        }
        Ok(())
    }

    /// Takes fragments, or any part of them, that the client has sent to the pool or to a pipeline: what
    /// [`handle_packet`](Self::handle_packet) does with data, without the acknowledgement.
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
        use RunspacePoolState::{BeforeOpen, Broken, Closed, Connecting, Disconnected, Opening};

        match self.state {
            Broken | Closed => return Err(not_now("take input", "pool", self.state)),
            Disconnected | Connecting if target.is_some() => {
                return Err(not_now("take input of a pipeline", "pool", self.state));
            }
            BeforeOpen => self.state = Opening,
            Disconnected => self.begin_connecting(),
            _ => {}
        }
        receive(self, priority, target, bytes)
    }

    fn create(&mut self, id: Uuid) -> Result<(), Error> {
        if self.state != RunspacePoolState::Opened {
            return Err(violation("a pipeline of a pool that is not open"));
        }
        if self.pipelines.contains_key(&id) {
            return Err(violation("two pipelines with one identifier"));
        }
        if self.pipelines.len() >= self.max_pipelines {
            return Err(Error::with(Kind::Limit, "number of pipelines"));
        }
        self.pipelines.insert(id, Entry::new());
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
        self.link.outbox.act_after_data(Packet::SignalAck(Some(id)));
    }

    pub(super) fn remove(&mut self, id: Uuid) {
        if self.pipelines.remove(&id).is_some() {
            self.link.forget(Some(id));
            self.host_calls.forget(id);
            self.events.push(Event::Pipeline { id, event: PipelineEvent::Closed }, 0);
        }
    }

    /// The pipeline that a message is about, if it is there and the state of the pool allows messages of pipelines.
    fn pipeline_of(&self, message: &Message<'_>) -> Option<Uuid> {
        let is_of_pipeline = matches!(
            message.header.message_type,
            MessageType::CreatePipeline
                | MessageType::GetCommandMetadata
                | MessageType::PipelineInput
                | MessageType::EndOfPipelineInput
                | MessageType::PipelineHostResponse
        );
        let id =
            message.header.pipeline_id.filter(|_| is_of_pipeline && self.state == RunspacePoolState::Opened);
        id.filter(|id| self.pipelines.contains_key(id))
    }

    fn take(&mut self, message: &Message<'_>) -> Result<(), Error> {
        use RunspacePoolState::{Connecting, Opened, Opening};

        self.events.reserve(0)?;
        let Decoded { payload, size: len, .. } = match (self.link.decode(message), self.pipeline_of(message))
        {
            (Ok(decoded), _) => decoded,
            (Err(error), Some(id)) => {
                give_up(self, id, &error);
                return Ok(());
            }
            (Err(error), None) => return Err(error),
        };
        self.events.reserve(len)?;
        if let Payload::SessionCapability(capability) = payload {
            if !matches!(self.state, Opening | Connecting) || self.peer.is_some() {
                return Err(violation("capabilities of an open session"));
            }
            if capability.protocol_version.major() != SessionCapability::PROTOCOL.major() {
                return Err(violation("the client has another major version of the protocol"));
            }
            // The first answer still has no identifier: it is the first that the server learns of it.
            let common = self.capability.protocol_version.min(capability.protocol_version);
            let protocol_version = self.link.negotiate(common)?;
            // PowerShell's client refuses a later version than its own.
            let answer = SessionCapability { protocol_version, ..self.capability.clone() };
            self.link.tell(None, &Payload::SessionCapability(answer))?;
            self.link.pool_id = message.header.pool_id;
            self.peer = Some(capability.clone());
            self.events.push(Event::SessionCapability(capability), len);
            return Ok(());
        }
        if matches!(payload, Payload::Other(..)) {
            return Ok(());
        }
        match (self.state, &self.peer, &payload) {
            (Opened, _, Payload::ConnectRunspacePool(_)) => Err(violation("the pool has a client")),
            (Opening, Some(_), Payload::InitRunspacePool(_))
            | (Opening | Connecting, Some(_), Payload::ConnectRunspacePool(_))
            | (Opened, ..) => self.take_payload(message, payload, len),
            _ => Err(violation("a message before the pool is open")),
        }
    }

    fn take_payload(&mut self, message: &Message<'_>, payload: Payload, len: usize) -> Result<(), Error> {
        let pipeline = message.header.pipeline_id;
        match payload {
            Payload::InitRunspacePool(init) => self.open(*init, len)?,
            Payload::ConnectRunspacePool(connect) => self.connected(connect, len)?,
            Payload::PublicKey(key) => {
                self.link.answer_public_key(&key)?;
                self.events.push(Event::KeyExchanged, len);
                self.send_parked();
            }
            Payload::SetMaxRunspaces(set) => {
                let (call_id, count) = (set.call_id, set.max_runspaces);
                self.take_request(call_id, Request::SetMax(count))?;
                self.events.push(Event::SetMaxRunspaces { call_id, count }, len);
            }
            Payload::SetMinRunspaces(set) => {
                let (call_id, count) = (set.call_id, set.min_runspaces);
                self.take_request(call_id, Request::SetMin(count))?;
                self.events.push(Event::SetMinRunspaces { call_id, count }, len);
            }
            Payload::GetAvailableRunspaces(get) => {
                self.take_request(get.call_id, Request::GetAvailable)?;
                self.events.push(Event::GetAvailableRunspaces { call_id: get.call_id }, len);
            }
            Payload::ResetRunspaceState(reset) => {
                self.take_request(reset.call_id, Request::Reset)?;
                self.events.push(Event::ResetRunspaceState { call_id: reset.call_id }, len);
            }
            Payload::RunspacePoolHostResponse(response) => self.take_response(None, response, len),
            Payload::PipelineHostResponse(response) => self.take_response(pipeline, response, len),
            Payload::CreatePipeline(create) => {
                self.take_start(pipeline, PipelineRequest::Run(create), len)?;
            }
            Payload::GetCommandMetadata(get) => {
                self.take_start(pipeline, PipelineRequest::GetCommandMetadata(get), len)?;
            }
            Payload::PipelineInput(value) => self.take_input(pipeline, PipelineEvent::Input(value), len),
            Payload::EndOfPipelineInput => self.take_input(pipeline, PipelineEvent::EndOfInput, len),
            other => {
                let number = other.message_type().id();
                return Err(violation(format!("a message that only servers send (type {number:#x})")));
            }
        }
        Ok(())
    }

    fn take_request(&mut self, call_id: i64, request: Request) -> Result<(), Error> {
        if self.requests.len() >= self.max_requests {
            return Err(Error::with(Kind::Limit, "number of requests that wait"));
        }
        if self.requests.insert(call_id, request).is_some() {
            return Err(violation("two requests with one number"));
        }
        Ok(())
    }

    fn take_response(&mut self, pipeline: Option<Uuid>, response: HostResponse, len: usize) {
        if self.host_calls.remove(pipeline, response.call_id).is_some() {
            self.events.push(Event::HostResponse { pipeline, response }, len);
        }
    }

    fn take_start(&mut self, id: Option<Uuid>, request: PipelineRequest, len: usize) -> Result<(), Error> {
        use PipelineState::{Completed, NotStarted, Stopped};

        let entry = id.and_then(|id| Some((id, self.pipelines.get_mut(&id)?)));
        let (id, entry) = entry.ok_or_else(|| violation("a pipeline that the transport does not have"))?;
        if entry.is_requested || !matches!(entry.state, NotStarted | Stopped | Completed) {
            return Err(violation("a pipeline that runs is started"));
        }
        entry.is_requested = true;
        entry.is_input_open = matches!(&request, PipelineRequest::Run(create) if !create.no_input);
        self.events.push(Event::Pipeline { id, event: PipelineEvent::Start(request) }, len);
        Ok(())
    }

    /// Input that comes after the pipeline has ended is dropped: it was on its way.
    fn take_input(&mut self, id: Option<Uuid>, event: PipelineEvent, len: usize) {
        if let Some(id) = id
            && let Some(entry) = self.pipelines.get_mut(&id)
            && entry.is_input_open
        {
            entry.is_input_open = event != PipelineEvent::EndOfInput;
            self.events.push(Event::Pipeline { id, event }, len);
        }
    }
}
