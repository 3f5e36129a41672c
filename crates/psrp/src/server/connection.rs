//! Opening, connecting, disconnecting and closing the server's pool.

use super::{Event, ServerPool};
use crate::error::Error;
use crate::link::{Quota, invalid_state, protocol_violation};
use crate::message::{
    ConnectRunspacePool, InitRunspacePool, Payload, RunspaceLimits, RunspacePoolState, RunspacePoolStateInfo,
};
use crate::record::ErrorRecord;

impl ServerPool {
    /// Records that the client has disconnected, or that its connection is lost and another one may follow. Pipelines
    /// keep running; their output is queued, and nothing is sent.
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor connecting ([`Error::is_state`]).
    pub fn disconnect(&mut self) -> Result<(), Error> {
        match self.core.state {
            RunspacePoolState::Opened => {
                self.core.state = RunspacePoolState::Disconnected;
                self.core.prepare_reconnect();
                self.core.outbox.set_all_paused(true);
                Ok(())
            }
            RunspacePoolState::Connecting => {
                self.cancel_connecting();
                Ok(())
            }
            state => Err(invalid_state("disconnect", "pool", state)),
        }
    }

    /// Records that the same client has reconnected. Not needed for a client that sends
    /// [`Payload::ConnectRunspacePool`]: pass its input in while the pool is disconnected, then call
    /// [`ServerPipeline::connect`](super::ServerPipeline::connect) for each pipeline it connects to.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not disconnected ([`Error::is_state`]).
    pub fn reconnect(&mut self) -> Result<(), Error> {
        if self.core.state != RunspacePoolState::Disconnected {
            return Err(invalid_state("reconnect", "pool", self.core.state));
        }
        self.core.state = RunspacePoolState::Opened;
        self.core.outbox.set_all_paused(false);
        Ok(())
    }

    /// Accepts input of a connecting client. Output of pipelines stays queued until the client connects to them.
    pub(super) fn begin_connecting(&mut self) {
        self.core.state = RunspacePoolState::Connecting;
        self.previous_peer = self.core.peer.take();
        self.core.inbox.remove(None);
        for id in self.pipelines.keys() {
            self.core.outbox.set_paused(Some(*id), true);
        }
        self.core.outbox.set_all_paused(false);
    }

    pub(super) fn cancel_connecting(&mut self) {
        self.core.state = RunspacePoolState::Disconnected;
        self.core.peer = self.previous_peer.take();
        self.core.outbox.set_all_paused(true);
        for (id, entry) in &self.pipelines {
            self.core.outbox.set_paused(Some(*id), !entry.is_connected);
        }
    }

    pub(super) fn connected(&mut self, connect: ConnectRunspacePool, len: usize) -> Result<(), Error> {
        if let Some(limits) = connect.limits {
            check_limits(limits.min_runspaces, limits.max_runspaces)?;
            self.core.init.min_runspaces = limits.min_runspaces;
            self.core.init.max_runspaces = limits.max_runspaces;
        }
        let limits = RunspaceLimits {
            min_runspaces: self.core.init.min_runspaces,
            max_runspaces: self.core.init.max_runspaces,
        };
        self.core.send_payload(Quota::Protocol, &Payload::RunspacePoolInitData(limits))?;
        self.send_opened()?;
        self.previous_peer = None;
        // Request identifiers are those of the previous client.
        self.core.requests.clear();
        for entry in self.pipelines.values_mut() {
            entry.is_connected = false;
        }
        self.events.push(Event::Connected(connect), len);
        if self.core.reset_key_request() { self.request_key() } else { Ok(()) }
    }

    pub(super) fn open(&mut self, init: InitRunspacePool, len: usize) -> Result<(), Error> {
        if self.core.state == RunspacePoolState::Opened {
            return Err(protocol_violation("the pool is opened twice"));
        }
        check_limits(init.min_runspaces, init.max_runspaces)?;
        self.core.init = init.clone();
        self.send_opened()?;
        self.events.push(Event::Opened(Box::new(init)), len);
        Ok(())
    }

    fn send_opened(&mut self) -> Result<(), Error> {
        let data = Payload::ApplicationPrivateData(self.private_data.clone());
        self.core.send_payload(Quota::Protocol, &data)?;
        self.send_state(RunspacePoolStateInfo::new(RunspacePoolState::Opened))
    }

    /// Sends a state to the client and changes to it.
    fn send_state(&mut self, info: RunspacePoolStateInfo) -> Result<(), Error> {
        let state = info.state;
        self.core.send_payload(Quota::Protocol, &Payload::RunspacePoolState(info))?;
        self.core.state = state;
        Ok(())
    }

    /// Closes the pool and notifies the client. Its pipelines are removed. Does nothing if it is closed.
    ///
    /// # Errors
    ///
    /// Fails if the pool is broken or was never open ([`Error::is_state`]).
    pub fn close(&mut self) -> Result<(), Error> {
        if self.core.state != RunspacePoolState::Closed {
            self.require_running("close")?;
            self.finish_close();
        }
        Ok(())
    }

    pub(super) fn finish_close(&mut self) {
        self.remove_all_pipelines();
        for state in [RunspacePoolState::Closing, RunspacePoolState::Closed] {
            // The pool closes even if there is no room to send the state.
            let _ = self.send_state(RunspacePoolStateInfo::new(state));
            self.core.state = state;
        }
        self.events.push(Event::Closed, 0);
    }

    /// Breaks the pool and sends the cause to the client. Does nothing if it is broken.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), and if the record cannot be written.
    pub fn set_broken(&mut self, error: ErrorRecord) -> Result<(), Error> {
        if self.core.state == RunspacePoolState::Broken {
            return Ok(());
        }
        self.require_running("break the pool")?;
        let reason = Box::new(error);
        self.send_state(RunspacePoolStateInfo {
            state: RunspacePoolState::Broken,
            error: Some(reason.clone()),
        })?;
        self.core.outbox.discard_all_deferred();
        self.remove_all_pipelines();
        self.events.push(Event::Broken(reason), 0);
        Ok(())
    }

    /// Records that the connection has ended: nothing more can be sent or received. An active pool becomes broken, and
    /// its pipelines are removed. To allow another client to connect, call [`disconnect`](Self::disconnect) instead.
    pub fn handle_end(&mut self) {
        use RunspacePoolState::{BeforeOpen, Broken, Closed, Disconnected};

        match self.core.state {
            Disconnected => {}
            Closed | Broken => self.core.remove_all(),
            BeforeOpen => {
                self.core.state = Closed;
                self.events.push(Event::Closed, 0);
            }
            _ => {
                self.break_with(self.core.end_record());
                self.core.remove_all();
            }
        }
        self.core.outbox.discard_packets();
    }

    /// Breaks the pool and sends the cause to the client if possible.
    pub(super) fn break_with(&mut self, reason: ErrorRecord) {
        self.remove_all_pipelines();
        self.core.remove_all();
        let error = Box::new(reason);
        let state = RunspacePoolState::Broken;
        let _ = self.send_state(RunspacePoolStateInfo { state, error: Some(error.clone()) });
        self.core.state = state;
        self.events.push(Event::Broken(error), 0);
    }

    /// Removes all pipelines and pending requests and calls.
    fn remove_all_pipelines(&mut self) {
        let mut ids: Vec<_> = self.pipelines.keys().copied().collect();
        // Simulations repeat the order.
        ids.sort_unstable();
        for id in ids {
            self.remove(id);
        }
        self.core.requests.clear();
        self.core.host_calls.clear();
    }
}

fn check_limits(min: i32, max: i32) -> Result<(), Error> {
    if min < 1 || max < min {
        return Err(protocol_violation("an invalid number of runspaces"));
    }
    Ok(())
}
