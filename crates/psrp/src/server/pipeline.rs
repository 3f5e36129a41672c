//! The server's pipelines.

use uuid::Uuid;

use super::{Event, PipelineEvent, RunspacePool};
use crate::error::{Error, Kind};
use crate::host::HostRequest;
use crate::link::{Intake, Sender, not_now};
use crate::message::{Payload, PipelineState, PipelineStateInfo};
use crate::outofproc::Packet;
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::{Progress, Value, Version};

/// What the pool keeps of a pipeline.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) state: PipelineState,
    /// Whether the client has said what it is to do, and it was not started since.
    pub(super) is_requested: bool,
    pub(super) is_input_open: bool,
    /// Whether the client waits for a signal to be acknowledged.
    pub(super) is_signalled: bool,
    /// Whether the client of the pool takes what it writes.
    pub(super) is_connected: bool,
    pub(super) intake: Intake,
}

impl Entry {
    pub(super) fn new() -> Self {
        Self {
            state: PipelineState::NotStarted,
            is_requested: false,
            is_input_open: false,
            is_signalled: false,
            is_connected: true,
            intake: Intake::default(),
        }
    }
}

/// A pipeline of a [`RunspacePool`].
///
/// Every method that the state does not allow fails with [`Error::is_state`] and changes nothing.
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
        // The pool made this only for an entry that exists, and is borrowed as long as this lives.
        self.pool.pipelines[&self.id].state
    }

    /// Bytes of messages of the pipeline that wait to be sent: who writes much looks at this and waits.
    pub fn pending_bytes(&self) -> usize {
        self.pool.pending_bytes_of(Some(self.id))
    }

    /// Whether the client takes what the pipeline writes. One that has connected to the pool does not before it has
    /// connected to the pipeline; until then the messages wait.
    pub fn is_connected(&self) -> bool {
        self.pool.pipelines[&self.id].is_connected
    }

    /// Tells the pipeline that the client of the pool has connected to it.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn connect(&mut self) -> Result<(), Error> {
        self.pool.require_opened("connect to a pipeline")?;
        if let Some(entry) = self.pool.pipelines.get_mut(&self.id) {
            entry.is_connected = true;
        }
        self.pool.link.outbox.hold(Some(self.id), false);
        Ok(())
    }

    fn require(&self, action: &str, states: &[PipelineState]) -> Result<(), Error> {
        self.pool.require_running(action)?;
        let state = self.state();
        if states.contains(&state) { Ok(()) } else { Err(not_now(action, "pipeline", state)) }
    }

    /// Says that the pipeline runs.
    ///
    /// # Errors
    ///
    /// Fails if it runs, has failed, or the client has not said what it is to do ([`Error::is_state`]).
    pub fn start(&mut self) -> Result<(), Error> {
        use PipelineState::{Completed, NotStarted, Running, Stopped};

        const ACTION: &str = "start";
        self.require(ACTION, &[NotStarted, Stopped, Completed])?;
        if !self.pool.pipelines[&self.id].is_requested {
            return Err(not_now(ACTION, "pipeline", "without anything to do"));
        }
        self.tell(PipelineStateInfo::new(Running))?;
        if let Some(entry) = self.pool.pipelines.get_mut(&self.id) {
            entry.is_requested = false;
        }
        Ok(())
    }

    /// Takes on a state and sends it.
    fn tell(&mut self, info: PipelineStateInfo) -> Result<(), Error> {
        let state = info.state;
        let payload = Payload::PipelineState(info);
        self.pool.send(Sender::Protocol, Some(self.id), payload.message_type(), payload.to_value())?;
        if let Some(entry) = self.pool.pipelines.get_mut(&self.id) {
            entry.state = state;
        }
        Ok(())
    }

    fn write(&mut self, action: &str, payload: Payload) -> Result<(), Error> {
        self.require(action, &[PipelineState::Running])?;
        self.pool.send(Sender::Application, Some(self.id), payload.message_type(), payload.to_value())
    }

    /// Writes an object to the output.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]); if the value can't be written; and if too much waits to be
    /// sent ([`Error::is_limit`]), to be tried again later. So do all methods that write.
    pub fn write_output(&mut self, value: impl Into<Value>) -> Result<(), Error> {
        self.write("write output", Payload::PipelineOutput(value.into()))
    }

    /// Writes an error record.
    ///
    /// # Errors
    ///
    /// As [`write_output`](Self::write_output).
    pub fn write_error(&mut self, record: ErrorRecord) -> Result<(), Error> {
        self.write("write an error", Payload::ErrorRecord(Box::new(record)))
    }

    /// Writes a debug message.
    ///
    /// # Errors
    ///
    /// As [`write_output`](Self::write_output).
    pub fn write_debug(&mut self, record: InformationalRecord) -> Result<(), Error> {
        self.write("write a debug message", Payload::DebugRecord(Box::new(record)))
    }

    /// Writes a verbose message.
    ///
    /// # Errors
    ///
    /// As [`write_output`](Self::write_output).
    pub fn write_verbose(&mut self, record: InformationalRecord) -> Result<(), Error> {
        self.write("write a verbose message", Payload::VerboseRecord(Box::new(record)))
    }

    /// Writes a warning.
    ///
    /// # Errors
    ///
    /// As [`write_output`](Self::write_output).
    pub fn write_warning(&mut self, record: InformationalRecord) -> Result<(), Error> {
        self.write("write a warning", Payload::WarningRecord(Box::new(record)))
    }

    /// Writes progress.
    ///
    /// # Errors
    ///
    /// As [`write_output`](Self::write_output).
    pub fn write_progress(&mut self, record: Progress) -> Result<(), Error> {
        self.write("write progress", Payload::ProgressRecord(Box::new(record)))
    }

    /// Writes an information record.
    ///
    /// # Errors
    ///
    /// As [`write_output`](Self::write_output), and if the client's protocol is older than 2.3 ([`Error::is_state`]).
    pub fn write_information(&mut self, record: InformationRecord) -> Result<(), Error> {
        if self.pool.protocol() < Version::new(2, 3) {
            return Err(Error::with(Kind::State, "information records exist since protocol 2.3"));
        }
        self.write("write information", Payload::InformationRecord(Box::new(record)))
    }

    /// Calls a method of the client's host. The number of the call, `None` if nothing is answered.
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run ([`Error::is_state`]) and if too many calls wait ([`Error::is_limit`]).
    pub fn host_call(&mut self, request: &HostRequest) -> Result<Option<i64>, Error> {
        self.require("call the host", &[PipelineState::Running])?;
        self.pool.call(Some(self.id), request)
    }

    /// Ends the pipeline.
    ///
    /// # Errors
    ///
    /// Fails if it does not run ([`Error::is_state`]).
    pub fn complete(&mut self) -> Result<(), Error> {
        self.require("complete", &[PipelineState::Running])?;
        self.end(PipelineStateInfo::new(PipelineState::Completed))
    }

    /// Says that the pipeline is being stopped. It may not write any more.
    ///
    /// # Errors
    ///
    /// Fails if it does not run ([`Error::is_state`]).
    pub fn begin_stop(&mut self) -> Result<(), Error> {
        self.require("begin to stop", &[PipelineState::Running])?;
        self.tell(PipelineStateInfo::new(PipelineState::Stopping))
    }

    /// Says that the pipeline was stopped, with the error record that PowerShell has for it.
    ///
    /// # Errors
    ///
    /// Fails if it neither runs nor is being stopped ([`Error::is_state`]).
    pub fn stop(&mut self) -> Result<(), Error> {
        self.require("stop", &[PipelineState::Running, PipelineState::Stopping])?;
        self.end(PipelineStateInfo::stopped())
    }

    /// Ends the pipeline by an error.
    ///
    /// # Errors
    ///
    /// Fails if it neither runs nor is being stopped ([`Error::is_state`]), and if the record can't be written.
    pub fn fail(&mut self, error: ErrorRecord) -> Result<(), Error> {
        self.require("fail", &[PipelineState::Running, PipelineState::Stopping])?;
        self.end(PipelineStateInfo { state: PipelineState::Failed, error: Some(Box::new(error)) })
    }

    fn end(&mut self, info: PipelineStateInfo) -> Result<(), Error> {
        self.tell(info)?;
        self.pool.ended(self.id);
        Ok(())
    }
}

impl RunspacePool {
    /// What has to happen after a pipeline has told its last state.
    pub(super) fn ended(&mut self, id: Uuid) {
        self.host_calls.forget(id);
        if let Some(entry) = self.pipelines.get_mut(&id) {
            entry.is_input_open = false;
            if std::mem::take(&mut entry.is_signalled) {
                self.link.outbox.act_after_data(Packet::SignalAck(Some(id)));
            }
        }
    }

    /// Fails a pipeline because of something that the application has not done.
    pub(super) fn fail_pipeline(&mut self, id: Uuid, record: ErrorRecord) {
        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        entry.state = PipelineState::Failed;
        let error = Box::new(record);
        self.link.discard_parked(Some(id));
        let info = PipelineStateInfo { state: PipelineState::Failed, error: Some(error.clone()) };
        // An error of ours can be written, and if there is no room for it the client is lost anyway.
        let _ = self.link.tell(Some(id), &Payload::PipelineState(info));
        self.ended(id);
        self.events.push(Event::Pipeline { id, event: PipelineEvent::Failed(error) }, 0);
    }
}
