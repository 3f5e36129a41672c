//! The client's pipelines.

use uuid::Uuid;

use super::RunspacePool;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::link::{Intake, not_now};
use crate::message::{
    CreatePipeline, GetCommandMetadata, MessageType, Payload, PipelineState, PipelineStateInfo, PowerShell,
};
use crate::outofproc::Packet;
use crate::value::{Value, Version};

/// What a pipeline does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PipelineRequest {
    /// It runs commands or scripts.
    Run(Box<CreatePipeline>),
    /// It lists commands. Its output is a count and that many
    /// [`CommandMetadata`](crate::message::CommandMetadata).
    GetCommandMetadata(Box<GetCommandMetadata>),
}

impl PipelineRequest {
    fn has_input(&self) -> bool {
        matches!(self, Self::Run(create) if !create.no_input)
    }

    /// Fails if a server of this protocol can't do it.
    pub(super) fn check(&self, peer: Version) -> Result<(), Error> {
        match self {
            Self::Run(create) => create.check_for(peer),
            Self::GetCommandMetadata(_) if peer < Version::new(2, 1) => {
                Err(Error::with(Kind::Unwritable, "commands are listed since protocol 2.1"))
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

/// A pipeline without input that has the host of its pool.
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

/// What the pool keeps of a pipeline.
#[derive(Debug)]
pub(super) struct Entry {
    /// `None` for one that was started by another client.
    request: Option<PipelineRequest>,
    pub(super) state: PipelineState,
    pub(super) before_disconnect: Option<PipelineState>,
    is_input_open: bool,
    /// Whether the message that starts it has left.
    pub(super) is_created: bool,
    /// Whether the server has acknowledged it.
    pub(super) is_acknowledged: bool,
    pub(super) is_closing: bool,
    pub(super) intake: Intake,
}

impl Entry {
    pub(super) fn new(request: Option<PipelineRequest>, state: PipelineState) -> Self {
        let is_created = request.is_none();
        Self {
            request,
            state,
            before_disconnect: None,
            is_input_open: is_created,
            is_created,
            is_acknowledged: is_created,
            is_closing: false,
            intake: Intake::default(),
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        use PipelineState::{Completed, Failed, Stopped};
        matches!(self.state, Stopped | Completed | Failed)
    }
}

/// A pipeline of a [`RunspacePool`].
///
/// Every method that the state does not allow fails with [`Error::is_state`] and changes nothing. Nothing is allowed any
/// more after [`close`](Self::close).
#[derive(Debug)]
pub struct Pipeline<'a> {
    pub(super) pool: &'a mut RunspacePool,
    pub(super) id: Uuid,
}

impl Pipeline<'_> {
    /// The identifier of the pipeline.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// The state of the pipeline.
    pub fn state(&self) -> PipelineState {
        self.entry().state
    }

    /// Bytes of messages to the pipeline that wait to be sent: who sends much input looks at this and waits.
    pub fn pending_bytes(&self) -> usize {
        self.pool.pending_bytes_of(Some(self.id))
    }

    fn entry(&self) -> &Entry {
        // The pool made this only for an entry that exists, and is borrowed as long as this lives.
        &self.pool.pipelines[&self.id]
    }

    fn update(&mut self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.pool.pipelines.get_mut(&self.id) {
            change(entry);
        }
    }

    fn require(&self, action: &str, states: &[PipelineState]) -> Result<(), Error> {
        self.pool.require_opened(action)?;
        let entry = self.entry();
        if entry.is_closing {
            return Err(not_now(action, "pipeline", "being closed"));
        }
        if states.contains(&entry.state) { Ok(()) } else { Err(not_now(action, "pipeline", entry.state)) }
    }

    /// Starts the pipeline, once: PowerShell does not run one again that has ended.
    ///
    /// # Errors
    ///
    /// Fails if it was started before ([`Error::is_state`]), if the server can't do what is asked for
    /// ([`Error::is_unwritable`]), and if an argument can't be written.
    pub fn start(&mut self) -> Result<(), Error> {
        const ACTION: &str = "start";
        self.require(ACTION, &[PipelineState::NotStarted])?;
        let peer = self.pool.protocol();
        let Some(request) = &self.entry().request else {
            return Err(not_now(ACTION, "pipeline", "another client's"));
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
        self.pool.send(Some(self.id), Priority::Default, message_type, value)?;
        self.update(|entry| {
            entry.state = PipelineState::Running;
            entry.is_input_open = has_input;
        });
        Ok(())
    }

    /// Sends an object to the input.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run, was created without input, or had its input ended ([`Error::is_state`]); if the
    /// value can't be written; and if too much waits to be sent ([`Error::is_limit`]), to be tried again later.
    pub fn send_input(&mut self, value: impl Into<Value>) -> Result<(), Error> {
        self.require_input("send input")?;
        self.pool.send(Some(self.id), Priority::Default, MessageType::PipelineInput, Some(value.into()))
    }

    /// Ends the input.
    ///
    /// # Errors
    ///
    /// As [`send_input`](Self::send_input).
    pub fn end_input(&mut self) -> Result<(), Error> {
        self.require_input("end the input")?;
        self.pool.send(Some(self.id), Priority::Default, MessageType::EndOfPipelineInput, None)?;
        self.update(|entry| entry.is_input_open = false);
        Ok(())
    }

    fn require_input(&self, action: &str) -> Result<(), Error> {
        self.require(action, &[PipelineState::Running])?;
        let entry = self.entry();
        match &entry.request {
            _ if entry.is_input_open => Ok(()),
            Some(request) if !request.has_input() => Err(not_now(
                action,
                "pipeline",
                "without input (set `CreatePipeline::no_input` to false to have one)",
            )),
            _ => Err(not_now(action, "pipeline", "at the end of its input")),
        }
    }

    /// Tells the pipeline that the transport has connected to it again, while the pool is connected: another client had it.
    /// After [`RunspacePool::reconnect`] and [`RunspacePool::connect`] pipelines go on by themselves.
    ///
    /// # Errors
    ///
    /// Fails if it is not disconnected ([`Error::is_state`]).
    pub fn reconnect(&mut self) -> Result<(), Error> {
        self.require("reconnect", &[PipelineState::Disconnected])?;
        self.update(|entry| entry.state = entry.before_disconnect.take().unwrap_or(PipelineState::Running));
        Ok(())
    }

    /// Queues a packet that a server loses if it does not know the pipeline yet.
    fn act_when_created(&mut self, packet: Packet<'static>) {
        match self.entry().is_acknowledged {
            true => self.pool.link.outbox.act_before_data(packet),
            false => self.pool.link.outbox.act_after_data(packet),
        }
    }

    /// Asks the server to stop the pipeline; it has the state Stopping until the server answers. Nothing happens if it
    /// was asked before. Pending input is dropped. The signal follows the acknowledgement of the creation: a server that
    /// does not know the pipeline yet loses it.
    ///
    /// PowerShell may acknowledge the signal without a state if the script has not begun to run:
    /// [`end_without_state`](Self::end_without_state). A stop within milliseconds of the creation is worse: the script may
    /// count as stopped and run all the same, and nothing stops it after that. `io` waits before it stops a pipeline.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]).
    pub fn stop(&mut self) -> Result<(), Error> {
        use PipelineState::{Running, Stopping};

        self.require("stop", &[Running, Stopping])?;
        if self.state() == Running {
            self.pool.link.discard_input(Some(self.id));
            self.act_when_created(Packet::Signal(Some(self.id)));
            self.update(|entry| entry.state = Stopping);
        }
        Ok(())
    }

    /// Ends a pipeline whose signal was acknowledged and whose state has not followed: it is stopped, as an event tells.
    ///
    /// # Errors
    ///
    /// Fails if it is not being stopped ([`Error::is_state`]).
    pub fn end_without_state(&mut self) -> Result<(), Error> {
        self.require("end without a state", &[PipelineState::Stopping])?;
        let (id, info) = (self.id, PipelineStateInfo::new(PipelineState::Stopped));
        self.pool.take_pipeline_state(id, info, 0);
        Ok(())
    }

    /// Closes the pipeline, which frees what the server has of it. It is gone when the server has acknowledged that;
    /// what the server sent before is dropped.
    ///
    /// # Errors
    ///
    /// Fails while it runs or is disconnected ([`Error::is_state`]).
    pub fn close(&mut self) -> Result<(), Error> {
        use PipelineState::{Completed, Failed, NotStarted, Stopped, Stopping};

        self.require("close", &[NotStarted, Stopped, Stopping, Completed, Failed])?;
        let id = self.id;
        self.pool.host_calls.forget(id);
        self.pool.link.discard_output(Some(id));
        self.act_when_created(Packet::Close(Some(id)));
        self.update(|entry| entry.is_closing = true);
        Ok(())
    }
}
