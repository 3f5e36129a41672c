//! Pipelines of the client.

use uuid::Uuid;

use super::ClientPool;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::link::{OutgoingMessage, Quota, Received, invalid_state};
use crate::message::{
    CreatePipeline, GetCommandMetadata, MessageType, Payload, PipelineState, PipelineStateInfo, PowerShell,
};
use crate::outofproc::Packet;
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::{Progress, Value, Version};

/// Task of a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PipelineRequest {
    /// Run commands or scripts.
    Run(Box<CreatePipeline>),
    /// List commands. The output is a count followed by that many [`CommandMetadata`](crate::message::CommandMetadata)
    /// objects.
    GetCommandMetadata(Box<GetCommandMetadata>),
}

impl PipelineRequest {
    fn has_input(&self) -> bool {
        matches!(self, Self::Run(create) if !create.no_input)
    }

    /// Fails if a server with this protocol version does not support the request.
    pub(super) fn check(&self, peer: Version) -> Result<(), Error> {
        match self {
            Self::Run(create) => create.check_for(peer),
            Self::GetCommandMetadata(_) if peer < Version::new(2, 1) => {
                Err(Error::with(Kind::Unwritable, "listing commands requires protocol 2.1"))
            }
            Self::GetCommandMetadata(_) => Ok(()),
        }
    }
}

impl From<CreatePipeline> for PipelineRequest {
    fn from(create: CreatePipeline) -> Self {
        Self::Run(Box::new(create))
    }
}

/// Creates a pipeline without input that uses the host of its pool.
impl From<PowerShell> for PipelineRequest {
    fn from(shell: PowerShell) -> Self {
        CreatePipeline::new(shell).into()
    }
}

impl From<GetCommandMetadata> for PipelineRequest {
    fn from(get: GetCommandMetadata) -> Self {
        Self::GetCommandMetadata(Box::new(get))
    }
}

/// Event of a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PipelineEvent {
    /// Output object.
    Output(Value),
    /// Error record.
    Error(Box<ErrorRecord>),
    /// Debug message.
    Debug(Box<InformationalRecord>),
    /// Verbose message.
    Verbose(Box<InformationalRecord>),
    /// Warning.
    Warning(Box<InformationalRecord>),
    /// Progress record.
    Progress(Box<Progress>),
    /// Information record.
    Information(Box<InformationRecord>),
    /// The state of the pipeline has changed.
    State(PipelineStateInfo),
    /// The server has confirmed the close. The pipeline no longer exists.
    Closed,
}

/// State of a pipeline.
#[derive(Debug, Default)]
pub(super) struct PipelineEntry {
    /// `None` for a pipeline started by another client.
    request: Option<PipelineRequest>,
    pub(super) state: PipelineState,
    pub(super) before_disconnect: Option<PipelineState>,
    is_input_open: bool,
    /// Whether the message that creates the pipeline was completely sent.
    pub(super) is_created: bool,
    /// Whether the server has acknowledged the creation.
    pub(super) is_acknowledged: bool,
    pub(super) is_closing: bool,
    pub(super) received: Received,
}

impl PipelineEntry {
    pub(super) fn new(request: Option<PipelineRequest>, state: PipelineState) -> Self {
        let is_created = request.is_none();
        Self {
            request,
            state,
            is_input_open: is_created,
            is_created,
            is_acknowledged: is_created,
            ..Self::default()
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        use PipelineState::{Completed, Failed, Stopped};
        matches!(self.state, Stopped | Completed | Failed)
    }
}

/// A pipeline of a [`ClientPool`].
///
/// A method that the current state does not allow fails with [`Error::is_state`] and changes nothing. After
/// [`close`](Self::close) no method is allowed.
#[derive(Debug)]
pub struct ClientPipeline<'a> {
    pub(super) pool: &'a mut ClientPool,
    pub(super) id: Uuid,
}

impl ClientPipeline<'_> {
    /// Returns the state of the pipeline.
    pub fn state(&self) -> PipelineState {
        self.entry().state
    }

    /// Returns the bytes of pending output of this pipeline. Check it before sending more (backpressure).
    pub fn pending_bytes(&self) -> usize {
        self.pool.pending_bytes_of(Some(self.id))
    }

    fn entry(&self) -> &PipelineEntry {
        // `ClientPool::pipeline` creates this only for an existing entry, and the pool stays borrowed.
        &self.pool.pipelines[&self.id]
    }

    fn update(&mut self, change: impl FnOnce(&mut PipelineEntry)) {
        if let Some(entry) = self.pool.pipelines.get_mut(&self.id) {
            change(entry);
        }
    }

    fn send(&mut self, message_type: MessageType, value: Option<Value>) -> Result<(), Error> {
        let message =
            OutgoingMessage { target: Some(self.id), priority: Priority::Default, message_type, value };
        self.pool.core.send_or_defer(Quota::Application, message)
    }

    fn require(&self, action: &str, states: &[PipelineState]) -> Result<(), Error> {
        self.pool.core.require_opened(action)?;
        let entry = self.entry();
        if entry.is_closing {
            return Err(invalid_state(action, "pipeline", "being closed"));
        }
        if states.contains(&entry.state) {
            Ok(())
        } else {
            Err(invalid_state(action, "pipeline", entry.state))
        }
    }

    /// Starts the pipeline. A pipeline can be started only once, because PowerShell does not rerun one that has ended.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline was started before ([`Error::is_state`]), if the server does not support the request
    /// ([`Error::is_unwritable`]), and if an argument cannot be written.
    pub fn start(&mut self) -> Result<(), Error> {
        const ACTION: &str = "start";
        self.require(ACTION, &[PipelineState::NotStarted])?;
        let peer = self.pool.protocol();
        let Some(request) = &self.entry().request else {
            return Err(invalid_state(ACTION, "pipeline", "another client's"));
        };
        request.check(peer)?;
        let has_input = request.has_input();
        let (message_type, value) = match request {
            PipelineRequest::Run(create) => (MessageType::CreatePipeline, Some(create.to_value_for(peer)?)),
            PipelineRequest::GetCommandMetadata(get) => {
                let payload = Payload::GetCommandMetadata(get.clone());
                (payload.message_type(), payload.to_value())
            }
        };
        self.send(message_type, value)?;
        self.update(|entry| {
            entry.state = PipelineState::Running;
            entry.is_input_open = has_input;
        });
        Ok(())
    }

    /// Sends an object to the pipeline's input.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run, was created without input, or its input has ended ([`Error::is_state`]); if
    /// the value cannot be written; and if the limit of pending output is reached ([`Error::is_limit`]): retry later.
    pub fn send_input(&mut self, value: impl Into<Value>) -> Result<(), Error> {
        self.require_input("send input")?;
        self.send(MessageType::PipelineInput, Some(value.into()))
    }

    /// Ends the pipeline's input.
    ///
    /// # Errors
    ///
    /// Fails like [`send_input`](Self::send_input).
    pub fn end_input(&mut self) -> Result<(), Error> {
        self.require_input("end the input")?;
        self.send(MessageType::EndOfPipelineInput, None)?;
        self.update(|entry| entry.is_input_open = false);
        Ok(())
    }

    fn require_input(&self, action: &str) -> Result<(), Error> {
        self.require(action, &[PipelineState::Running])?;
        let entry = self.entry();
        match &entry.request {
            _ if entry.is_input_open => Ok(()),
            Some(request) if !request.has_input() => Err(invalid_state(
                action,
                "pipeline",
                "without input (set `CreatePipeline::no_input` to false to have one)",
            )),
            _ => Err(invalid_state(action, "pipeline", "at the end of its input")),
        }
    }

    /// Records that the transport has reconnected to this pipeline while the pool is connected, after another client
    /// was connected to it. After [`ClientPool::reconnect`] and [`ClientPool::connect`] pipelines resume
    /// automatically.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline is not disconnected ([`Error::is_state`]).
    pub fn reconnect(&mut self) -> Result<(), Error> {
        self.require("reconnect", &[PipelineState::Disconnected])?;
        self.update(|entry| entry.state = entry.before_disconnect.take().unwrap_or(PipelineState::Running));
        Ok(())
    }

    /// Queues a packet that the server would lose if the pipeline did not exist there yet.
    fn queue_packet_when_created(&mut self, packet: Packet<'static>) {
        match self.entry().is_acknowledged {
            true => self.pool.core.outbox.queue_packet_before_data(packet),
            false => self.pool.core.outbox.queue_packet_after_data(packet),
        }
    }

    /// Asks the server to stop the pipeline. Its state is Stopping until the server responds. Pending input is
    /// dropped. Does nothing if the stop was already requested. The signal is sent after the creation was
    /// acknowledged, because a server drops signals for pipelines it does not know yet.
    ///
    /// PowerShell may acknowledge the signal without sending a state if the script has not begun to run; see
    /// [`end_without_state`](Self::end_without_state). If a pipeline is stopped within milliseconds of its creation,
    /// PowerShell may report the script as stopped and still run it, and it cannot be stopped any more. `io` therefore
    /// delays the stop of a new pipeline.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]).
    pub fn stop(&mut self) -> Result<(), Error> {
        use PipelineState::{Running, Stopping};

        self.require("stop", &[Running, Stopping])?;
        if self.state() == Running {
            self.pool.core.outbox.discard_input(Some(self.id));
            self.queue_packet_when_created(Packet::Signal(Some(self.id)));
            self.update(|entry| entry.state = Stopping);
        }
        Ok(())
    }

    /// Marks a pipeline as stopped whose signal was acknowledged but whose final state did not arrive. Emits a state
    /// event.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline is not being stopped ([`Error::is_state`]).
    pub fn end_without_state(&mut self) -> Result<(), Error> {
        self.require("end without a state", &[PipelineState::Stopping])?;
        let (id, info) = (self.id, PipelineStateInfo::new(PipelineState::Stopped));
        self.pool.handle_pipeline_state(id, info, 0);
        Ok(())
    }

    /// Closes the pipeline, which frees its resources on the server. It exists until the server has confirmed; messages
    /// that arrive before are dropped.
    ///
    /// # Errors
    ///
    /// Fails while the pipeline runs or is disconnected ([`Error::is_state`]).
    pub fn close(&mut self) -> Result<(), Error> {
        use PipelineState::{Completed, Failed, NotStarted, Stopped, Stopping};

        self.require("close", &[NotStarted, Stopped, Stopping, Completed, Failed])?;
        let id = self.id;
        self.pool.core.host_calls.remove_pipeline(id);
        self.pool.core.outbox.discard(Some(id));
        self.queue_packet_when_created(Packet::Close(Some(id)));
        self.update(|entry| entry.is_closing = true);
        Ok(())
    }
}
