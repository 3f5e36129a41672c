//! How a pool begins and ends, and what becomes of it between two connections.

use super::{Event, PipelineEvent, RunspacePool};
use crate::error::{Error, Kind};
use crate::link::record_of;
use crate::message::{
    ConnectRunspacePool, Payload, PipelineState, PipelineStateInfo, RunspacePoolState, RunspacePoolStateInfo,
};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};

impl RunspacePool {
    /// Opens the pool. Nothing happens if it is open.
    ///
    /// # Errors
    ///
    /// Fails in other states than before opening ([`Error::is_state`]), if no pool can have that number of runspaces, which
    /// is at least 1 (the same), and if the arguments of the application can't
    /// be written: a secure string among them ([`Error::is_no_key`]), for there is no key yet, or too many bytes
    /// ([`Error::is_limit`]).
    pub fn open(&mut self) -> Result<(), Error> {
        if self.state == RunspacePoolState::Opened {
            return Ok(());
        }
        self.require("open", &[RunspacePoolState::BeforeOpen])?;
        let (min, max) = (self.init.min_runspaces, self.init.max_runspaces);
        if min < 1 || max < min {
            let detail =
                format!("a pool can't have {min} to {max} runspaces (at least 1, in ascending order)");
            return Err(Error::with(Kind::State, detail));
        }
        let init = Payload::InitRunspacePool(Box::new(self.init.clone()));
        let capability = Payload::SessionCapability(self.capability.clone());
        self.link.tell(None, &capability)?;
        if let Err(error) = self.link.send_payload(None, &init) {
            self.link.forget_all();
            return Err(error);
        }
        self.state = RunspacePoolState::Opening;
        Ok(())
    }

    /// Connects to a pool that exists and has no client, the one with this identifier. Requests that wait for an answer
    /// get none any more, which events tell ([`Event::Unanswered`]).
    ///
    /// # Errors
    ///
    /// Fails in other states than before opening and disconnected ([`Error::is_state`]).
    pub fn connect(&mut self) -> Result<(), Error> {
        self.require("connect", &[RunspacePoolState::BeforeOpen, RunspacePoolState::Disconnected])?;
        self.link.tell(None, &Payload::SessionCapability(self.capability.clone()))?;
        self.link.tell(None, &Payload::ConnectRunspacePool(ConnectRunspacePool::default()))?;
        self.link.tolerate_lost_packets();
        self.link.outbox.hold_all(false);
        // The server has forgotten them: their numbers are those of a client, and there may have been another.
        let mut forgotten: Vec<_> = self.requests.drain().map(|(call_id, _)| call_id).collect();
        forgotten.sort_unstable();
        for call_id in forgotten {
            self.events.push(Event::Unanswered { call_id }, 0);
        }
        self.is_key_wanted |= self.link.forget_key_request();
        self.state = RunspacePoolState::Connecting;
        Ok(())
    }

    /// Tells the pool that the transport has disconnected from it. It goes on without a client, and so do its
    /// pipelines.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn disconnect(&mut self) -> Result<(), Error> {
        self.require_opened("disconnect")?;
        self.state = RunspacePoolState::Disconnected;
        self.link.outbox.hold_all(true);
        for entry in self.pipelines.values_mut() {
            if matches!(entry.state, PipelineState::Running | PipelineState::Stopping) {
                entry.before_disconnect = Some(entry.state);
                entry.state = PipelineState::Disconnected;
            }
        }
        Ok(())
    }

    /// Tells the pool that the transport has connected again, as the same client.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not disconnected ([`Error::is_state`]).
    pub fn reconnect(&mut self) -> Result<(), Error> {
        self.require("reconnect", &[RunspacePoolState::Disconnected])?;
        self.state = RunspacePoolState::Opened;
        self.link.tolerate_lost_packets();
        self.link.outbox.hold_all(false);
        self.resume_pipelines();
        Ok(())
    }

    /// Pipelines go on where they were when the pool was disconnected.
    pub(super) fn resume_pipelines(&mut self) {
        for entry in self.pipelines.values_mut() {
            if let Some(state) = entry.before_disconnect.take() {
                entry.state = state;
            }
        }
    }

    /// Closes the pool. Nothing happens if it is closed or being closed.
    ///
    /// # Errors
    ///
    /// Fails if it was never open, if it broke, and while there are pipelines ([`Error::is_state`]).
    pub fn close(&mut self) -> Result<(), Error> {
        use RunspacePoolState::{Closed, Closing, Opened};

        self.require("close", &[Opened, Closing, Closed])?;
        if !self.pipelines.is_empty() {
            return Err(Error::with(Kind::State, "can't close: the pool has pipelines"));
        }
        if self.state == Opened {
            self.state = Closing;
            self.link.outbox.act_after_data(Packet::Close(None));
        }
        Ok(())
    }

    /// Tells the pool that its connection is gone: nothing will be sent or received any more. A pool that is being closed
    /// is closed then, every other one that has begun and not ended is broken. To leave it to be connected to again, call
    /// [`disconnect`](Self::disconnect) instead.
    pub fn handle_end(&mut self) {
        use RunspacePoolState::{BeforeOpen, Broken, Closed, Closing, Disconnected};

        match self.state {
            BeforeOpen | Closed | Broken | Disconnected => {}
            Closing => self.end(RunspacePoolStateInfo::new(Closed), 0),
            _ => {
                let text = match self.link.inbox.is_pending() {
                    true => "the connection has ended within a message",
                    false => "the connection has ended",
                };
                let record = ErrorRecord::new(text, ErrorCategory::ConnectionError);
                self.end(RunspacePoolStateInfo { state: Broken, error: Some(Box::new(record)) }, 0);
            }
        }
    }

    /// Ends the pool in a terminal state; the pipelines fail with its reason.
    pub(super) fn end(&mut self, info: RunspacePoolStateInfo, len: usize) {
        self.state = info.state;
        self.link.forget_all();
        self.link.outbox.forget_packets();
        self.host_calls.clear();
        self.requests.clear();
        for (id, entry) in self.pipelines.drain() {
            let event = if entry.is_closing {
                PipelineEvent::Closed
            } else if entry.is_terminal() {
                continue;
            } else {
                PipelineEvent::State(PipelineStateInfo {
                    state: PipelineState::Failed,
                    error: info.error.clone(),
                })
            };
            self.events.push(Event::Pipeline { id, event }, 0);
        }
        self.events.push(Event::State(info), len);
    }

    /// Breaks the pool because of an error, which is given back.
    pub(super) fn break_down(&mut self, error: Error) -> Error {
        if !matches!(self.state, RunspacePoolState::Closed | RunspacePoolState::Broken) {
            let state = RunspacePoolState::Broken;
            self.end(RunspacePoolStateInfo { state, error: Some(Box::new(record_of(&error))) }, 0);
        }
        error
    }
}
