//! Pipelines of the server.

use uuid::Uuid;

use super::{Event, ServerPool};
use crate::client::PipelineRequest;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::HostRequest;
use crate::link::{OutgoingMessage, Quota, Received, invalid_state};
use crate::message::{Payload, PipelineState, PipelineStateInfo};
use crate::outofproc::Packet;
use crate::record::ErrorRecord;
use crate::value::{Value, Version};

/// Event of a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PipelineEvent {
    /// The client has sent the task of the pipeline. Call [`ServerPipeline::start`], then run it.
    Start(PipelineRequest),
    /// Input object.
    Input(Value),
    /// The input has ended.
    EndOfInput,
    /// The client asks to stop the pipeline. Call [`ServerPipeline::stop`] when it has stopped.
    Stop,
    /// The pipeline failed without the application: a message of the client was malformed or exceeded a limit, or a
    /// deferred message could not be written. The client was notified. Nothing more can be written.
    Failed(Box<ErrorRecord>),
    /// The client has closed the pipeline, or the pool has ended. The pipeline no longer exists; cancel its work.
    Closed,
}

/// State of a pipeline.
#[derive(Debug, Default)]
pub(super) struct PipelineEntry {
    pub(super) state: PipelineState,
    /// Whether the client has sent a task that was not started yet.
    pub(super) is_requested: bool,
    pub(super) is_input_open: bool,
    /// Whether the client waits for the acknowledgement of a signal.
    pub(super) is_signalled: bool,
    /// Whether the client of the pool is connected to this pipeline, so that its output may be sent.
    pub(super) is_connected: bool,
    pub(super) received: Received,
}

impl PipelineEntry {
    pub(super) fn new() -> Self {
        Self { is_connected: true, ..Self::default() }
    }
}

/// A pipeline of a [`ServerPool`].
///
/// A method that the current state does not allow fails with [`Error::is_state`] and changes nothing.
#[derive(Debug)]
pub struct ServerPipeline<'a> {
    pub(super) pool: &'a mut ServerPool,
    pub(super) id: Uuid,
}

impl ServerPipeline<'_> {
    /// Returns the state of the pipeline.
    pub fn state(&self) -> PipelineState {
        // `ServerPool::pipeline` creates this only for an existing entry, and the pool stays borrowed.
        self.pool.pipelines[&self.id].state
    }

    /// Returns the bytes of pending output of this pipeline. Check it before writing more (backpressure).
    pub fn pending_bytes(&self) -> usize {
        self.pool.pending_bytes_of(Some(self.id))
    }

    fn update(&mut self, change: impl FnOnce(&mut PipelineEntry)) {
        if let Some(entry) = self.pool.pipelines.get_mut(&self.id) {
            change(entry);
        }
    }

    /// Returns whether the pipeline's output is sent to the client. A client that has connected to the pool must also
    /// connect to each pipeline; until then the messages of the pipeline stay queued.
    pub fn is_connected(&self) -> bool {
        self.pool.pipelines[&self.id].is_connected
    }

    /// Records that the client of the pool has connected to this pipeline.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn connect(&mut self) -> Result<(), Error> {
        self.pool.core.require_opened("connect to a pipeline")?;
        self.update(|entry| entry.is_connected = true);
        self.pool.core.outbox.set_paused(Some(self.id), false);
        Ok(())
    }

    fn require(&self, action: &str, states: &[PipelineState]) -> Result<(), Error> {
        self.pool.require_running(action)?;
        let state = self.state();
        if states.contains(&state) { Ok(()) } else { Err(invalid_state(action, "pipeline", state)) }
    }

    /// Starts the pipeline and notifies the client.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline runs or has failed, and if the client has not sent its task ([`Error::is_state`]).
    pub fn start(&mut self) -> Result<(), Error> {
        use PipelineState::{Completed, NotStarted, Running, Stopped};

        const ACTION: &str = "start";
        self.require(ACTION, &[NotStarted, Stopped, Completed])?;
        if !self.pool.pipelines[&self.id].is_requested {
            return Err(invalid_state(ACTION, "pipeline", "without a task"));
        }
        self.send_state(PipelineStateInfo::new(Running))?;
        self.update(|entry| entry.is_requested = false);
        Ok(())
    }

    /// Sends a state to the client and changes to it.
    fn send_state(&mut self, info: PipelineStateInfo) -> Result<(), Error> {
        let state = info.state;
        self.pool.send(Quota::Protocol, Some(self.id), &Payload::PipelineState(info))?;
        self.update(|entry| entry.state = state);
        Ok(())
    }

    /// Writes an object to the output.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]); if the value cannot be written; and if the limit of
    /// pending output is reached ([`Error::is_limit`]): retry later.
    pub fn write_output(&mut self, value: impl Into<Value>) -> Result<(), Error> {
        self.require("write output", &[PipelineState::Running])?;
        self.pool.send(Quota::Application, Some(self.id), &Payload::PipelineOutput(value.into()))
    }

    /// Writes a record: an error, a debug or verbose message, a warning, progress, or an information record.
    ///
    /// # Errors
    ///
    /// Fails like [`write_output`](Self::write_output). Also fails for other payloads, and for an information record if
    /// the client's protocol is older than 2.3 ([`Error::is_state`]).
    pub fn write_record(&mut self, record: &Payload) -> Result<(), Error> {
        self.require("write a record", &[PipelineState::Running])?;
        match record {
            Payload::ErrorRecord(_)
            | Payload::DebugRecord(_)
            | Payload::VerboseRecord(_)
            | Payload::WarningRecord(_)
            | Payload::ProgressRecord(_) => {}
            Payload::InformationRecord(_) if self.pool.protocol() >= Version::new(2, 3) => {}
            Payload::InformationRecord(_) => {
                return Err(Error::with(Kind::State, "information records require protocol 2.3"));
            }
            _ => return Err(Error::with(Kind::State, "the message is not a record")),
        }
        self.pool.send(Quota::Application, Some(self.id), record)
    }

    /// Calls a method of the client's host. Returns the identifier of the call, `None` if the method has no response.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]) and if the maximum number of calls is pending
    /// ([`Error::is_limit`]).
    pub fn host_call(&mut self, request: &HostRequest) -> Result<Option<i64>, Error> {
        self.require("call the host", &[PipelineState::Running])?;
        self.pool.call(Some(self.id), request)
    }

    /// Completes the pipeline.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]).
    pub fn complete(&mut self) -> Result<(), Error> {
        self.require("complete", &[PipelineState::Running])?;
        self.end(PipelineStateInfo::new(PipelineState::Completed))
    }

    /// Notifies the client that the pipeline is being stopped. Nothing more may be written.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]).
    pub fn begin_stop(&mut self) -> Result<(), Error> {
        self.require("begin to stop", &[PipelineState::Running])?;
        self.send_state(PipelineStateInfo::new(PipelineState::Stopping))
    }

    /// Marks the pipeline as stopped and notifies the client, with PowerShell's error record for it.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline neither runs nor is being stopped ([`Error::is_state`]).
    pub fn stop(&mut self) -> Result<(), Error> {
        self.require("stop", &[PipelineState::Running, PipelineState::Stopping])?;
        self.end(PipelineStateInfo::stopped())
    }

    /// Fails the pipeline with an error record.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline neither runs nor is being stopped ([`Error::is_state`]), and if the record cannot be
    /// written.
    pub fn fail(&mut self, error: ErrorRecord) -> Result<(), Error> {
        self.require("fail", &[PipelineState::Running, PipelineState::Stopping])?;
        self.end(PipelineStateInfo { state: PipelineState::Failed, error: Some(Box::new(error)) })
    }

    fn end(&mut self, info: PipelineStateInfo) -> Result<(), Error> {
        self.send_state(info)?;
        self.pool.finish(self.id);
        Ok(())
    }
}

impl ServerPool {
    /// Cleans up after the final state of a pipeline was sent.
    pub(super) fn finish(&mut self, id: Uuid) {
        self.core.host_calls.remove_pipeline(id);
        if let Some(entry) = self.pipelines.get_mut(&id) {
            entry.is_input_open = false;
            if std::mem::take(&mut entry.is_signalled) {
                self.core.outbox.queue_packet_after_data(Packet::SignalAck(Some(id)));
            }
        }
    }

    /// Fails a pipeline because of an error that the application did not cause. Also one that has ended, because the
    /// client may be starting it again.
    pub(super) fn fail_pipeline(&mut self, id: Uuid, record: ErrorRecord) {
        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        entry.state = PipelineState::Failed;
        let error = Box::new(record);
        self.core.outbox.discard_deferred(Some(id));
        let info = PipelineStateInfo { state: PipelineState::Failed, error: Some(error.clone()) };
        // This record can always be written. Without room for it the client is lost anyway.
        let message = OutgoingMessage::new(Some(id), Priority::Default, &Payload::PipelineState(info));
        let _ = self.core.send(Quota::Protocol, &message);
        self.finish(id);
        self.events.push(Event::Pipeline { id, event: PipelineEvent::Failed(error) }, 0);
    }
}
