//! Opening, connecting, disconnecting and closing the client's pool.

use super::{ClientPool, Event, PipelineEvent};
use crate::error::{Error, Kind};
use crate::link::Quota;
use crate::message::{
    ConnectRunspacePool, Payload, PipelineState, PipelineStateInfo, RunspacePoolState, RunspacePoolStateInfo,
};
use crate::outofproc::Packet;

impl ClientPool {
    /// Opens the pool. Does nothing if it is open.
    ///
    /// # Errors
    ///
    /// Fails if the pool was opened before or if the number of runspaces is invalid ([`Error::is_state`]), if the
    /// application arguments contain a secure string, because there is no key yet ([`Error::is_no_key`]), and if they
    /// exceed the limit of pending output ([`Error::is_limit`]).
    pub fn open(&mut self) -> Result<(), Error> {
        if self.core.state == RunspacePoolState::Opened {
            return Ok(());
        }
        self.core.require("open", &[RunspacePoolState::BeforeOpen])?;
        let (min, max) = (self.core.init.min_runspaces, self.core.init.max_runspaces);
        if min < 1 || max < min {
            let detail =
                format!("{min} to {max} is not a valid number of runspaces (at least 1, in ascending order)");
            return Err(Error::with(Kind::State, detail));
        }
        let init = Payload::InitRunspacePool(Box::new(self.core.init.clone()));
        let capability = Payload::SessionCapability(self.core.capability.clone());
        self.core.send_payload(Quota::Protocol, &capability)?;
        if let Err(error) = self.core.send_payload(Quota::Application, &init) {
            self.core.remove_all();
            return Err(error);
        }
        self.core.state = RunspacePoolState::Opening;
        Ok(())
    }

    /// Connects to an existing pool without a client, identified by [`Config::pool_id`](super::Config::pool_id).
    /// Pending requests are cancelled ([`Event::RequestCancelled`]).
    ///
    /// # Errors
    ///
    /// Fails unless the pool is not opened yet or disconnected ([`Error::is_state`]).
    pub fn connect(&mut self) -> Result<(), Error> {
        self.core.require("connect", &[RunspacePoolState::BeforeOpen, RunspacePoolState::Disconnected])?;
        self.core.send_payload(Quota::Protocol, &Payload::SessionCapability(self.core.capability.clone()))?;
        self.core
            .send_payload(Quota::Protocol, &Payload::ConnectRunspacePool(ConnectRunspacePool::default()))?;
        self.core.prepare_reconnect();
        self.core.outbox.set_all_paused(false);
        // The server drops the requests of a previous client, because their identifiers are unique per client only.
        let mut cancelled: Vec<_> = self.core.requests.drain().map(|(call_id, _)| call_id).collect();
        cancelled.sort_unstable();
        for call_id in cancelled {
            self.events.push(Event::RequestCancelled { call_id }, 0);
        }
        self.is_key_exchange_pending |= self.core.reset_key_request();
        self.core.state = RunspacePoolState::Connecting;
        Ok(())
    }

    /// Records that the transport has disconnected from the pool. The pool and its pipelines keep running on the
    /// server.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn disconnect(&mut self) -> Result<(), Error> {
        self.core.require_opened("disconnect")?;
        self.core.state = RunspacePoolState::Disconnected;
        self.core.outbox.set_all_paused(true);
        for entry in self.pipelines.values_mut() {
            if matches!(entry.state, PipelineState::Running | PipelineState::Stopping) {
                entry.before_disconnect = Some(entry.state);
                entry.state = PipelineState::Disconnected;
            }
        }
        Ok(())
    }

    /// Records that the transport has reconnected, as the same client.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not disconnected ([`Error::is_state`]).
    pub fn reconnect(&mut self) -> Result<(), Error> {
        self.core.require("reconnect", &[RunspacePoolState::Disconnected])?;
        self.core.state = RunspacePoolState::Opened;
        self.core.prepare_reconnect();
        self.core.outbox.set_all_paused(false);
        self.resume_pipelines();
        Ok(())
    }

    /// Restores the states that pipelines had before the disconnect.
    pub(super) fn resume_pipelines(&mut self) {
        for entry in self.pipelines.values_mut() {
            if let Some(state) = entry.before_disconnect.take() {
                entry.state = state;
            }
        }
    }

    /// Closes the pool. Does nothing if it is closed or being closed.
    ///
    /// # Errors
    ///
    /// Fails if the pool was never open or is broken, and while it has pipelines ([`Error::is_state`]).
    pub fn close(&mut self) -> Result<(), Error> {
        use RunspacePoolState::{Closed, Closing, Opened};

        self.core.require("close", &[Opened, Closing, Closed])?;
        if !self.pipelines.is_empty() {
            return Err(Error::with(Kind::State, "can't close: the pool has pipelines"));
        }
        if self.core.state == Opened {
            self.core.state = Closing;
            self.core.outbox.queue_packet_after_data(Packet::Close(None));
        }
        Ok(())
    }

    /// Records that the connection has ended: nothing more can be sent or received. A pool that is being closed becomes
    /// closed; any other active pool becomes broken. To allow a later reconnect, call [`disconnect`](Self::disconnect)
    /// instead.
    pub fn handle_end(&mut self) {
        use RunspacePoolState::{BeforeOpen, Broken, Closed, Closing, Disconnected};

        match self.core.state {
            BeforeOpen | Closed | Broken | Disconnected => {}
            Closing => self.end(RunspacePoolStateInfo::new(Closed), 0),
            _ => {
                let error = Some(Box::new(self.core.end_record()));
                self.end(RunspacePoolStateInfo { state: Broken, error }, 0);
            }
        }
    }

    /// Moves the pool to a terminal state. Its pipelines fail with the same error.
    pub(super) fn end(&mut self, info: RunspacePoolStateInfo, len: usize) {
        self.core.state = info.state;
        self.core.remove_all();
        self.core.outbox.discard_packets();
        self.core.host_calls.clear();
        self.core.requests.clear();
        let mut pipelines: Vec<_> = self.pipelines.drain().collect();
        // Simulations repeat the order.
        pipelines.sort_unstable_by_key(|(id, _)| *id);
        for (id, entry) in pipelines {
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
}
