//! How a pool begins and ends, and what becomes of it between two clients.

use super::{Event, RunspacePool};
use crate::error::Error;
use crate::link::{not_now, record_of, violation};
use crate::message::{
    ConnectRunspacePool, InitRunspacePool, Payload, RunspaceLimits, RunspacePoolState, RunspacePoolStateInfo,
};
use crate::record::{ErrorCategory, ErrorRecord};

impl RunspacePool {
    /// Tells the pool that its client has disconnected, or that its connection is lost and another one may come. Pipelines go
    /// on and may write: nothing is sent, what they write waits.
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor being connected to ([`Error::is_state`]).
    pub fn disconnect(&mut self) -> Result<(), Error> {
        match self.state {
            RunspacePoolState::Opened => {
                self.state = RunspacePoolState::Disconnected;
                self.link.tolerate_lost_packets();
                self.link.outbox.hold_all(true);
                Ok(())
            }
            RunspacePoolState::Connecting => {
                self.give_up_connecting();
                Ok(())
            }
            state => Err(not_now("disconnect", "pool", state)),
        }
    }

    /// Tells the pool that the same client has connected again. One that comes with
    /// [`Payload::ConnectRunspacePool`], another or the same, is noticed by that: its input is handed in while the pool is
    /// disconnected, and then it says to which pipelines it connects, see [`Pipeline::connect`](super::Pipeline::connect).
    ///
    /// # Errors
    ///
    /// Fails if the pool is not disconnected ([`Error::is_state`]).
    pub fn reconnect(&mut self) -> Result<(), Error> {
        if self.state != RunspacePoolState::Disconnected {
            return Err(not_now("reconnect", "pool", self.state));
        }
        self.state = RunspacePoolState::Opened;
        self.link.outbox.hold_all(false);
        Ok(())
    }

    /// The pool hears a client again. What pipelines have written waits until it connects to them.
    pub(super) fn begin_connecting(&mut self) {
        self.state = RunspacePoolState::Connecting;
        self.former_peer = self.peer.take();
        self.link.inbox.forget(None);
        for id in self.pipelines.keys() {
            self.link.outbox.hold(Some(*id), true);
        }
        self.link.outbox.hold_all(false);
    }

    fn give_up_connecting(&mut self) {
        self.state = RunspacePoolState::Disconnected;
        self.peer = self.former_peer.take();
        self.link.outbox.hold_all(true);
        for (id, entry) in &self.pipelines {
            self.link.outbox.hold(Some(*id), !entry.is_connected);
        }
    }

    pub(super) fn connected(&mut self, connect: ConnectRunspacePool, len: usize) -> Result<(), Error> {
        if let Some(limits) = connect.limits {
            check_limits(limits.min_runspaces, limits.max_runspaces)?;
            self.init.min_runspaces = limits.min_runspaces;
            self.init.max_runspaces = limits.max_runspaces;
        }
        let limits =
            RunspaceLimits { min_runspaces: self.init.min_runspaces, max_runspaces: self.init.max_runspaces };
        self.link.tell(None, &Payload::RunspacePoolInitData(limits))?;
        self.tell_opened()?;
        self.former_peer = None;
        // Their numbers are those of the client before.
        self.requests.clear();
        for entry in self.pipelines.values_mut() {
            entry.is_connected = false;
        }
        self.events.push(Event::Connected(connect), len);
        if self.link.forget_key_request() { self.request_key() } else { Ok(()) }
    }

    pub(super) fn open(&mut self, init: InitRunspacePool, len: usize) -> Result<(), Error> {
        if self.state == RunspacePoolState::Opened {
            return Err(violation("the pool is opened twice"));
        }
        check_limits(init.min_runspaces, init.max_runspaces)?;
        self.init = init.clone();
        self.tell_opened()?;
        self.events.push(Event::Opened(Box::new(init)), len);
        Ok(())
    }

    fn tell_opened(&mut self) -> Result<(), Error> {
        let data = Payload::ApplicationPrivateData(self.private_data.clone());
        self.link.tell(None, &data)?;
        self.tell_state(RunspacePoolStateInfo::new(RunspacePoolState::Opened))
    }

    /// Takes on a state and announces it.
    fn tell_state(&mut self, info: RunspacePoolStateInfo) -> Result<(), Error> {
        let state = info.state;
        self.link.tell(None, &Payload::RunspacePoolState(info))?;
        self.state = state;
        Ok(())
    }

    /// Closes the pool, which the client hears of. Its pipelines are gone. Nothing happens if it is closed.
    ///
    /// # Errors
    ///
    /// Fails if the pool is broken or was never open ([`Error::is_state`]).
    pub fn close(&mut self) -> Result<(), Error> {
        if self.state != RunspacePoolState::Closed {
            self.require_running("close")?;
            self.shut();
        }
        Ok(())
    }

    pub(super) fn shut(&mut self) {
        self.end_all();
        for state in [RunspacePoolState::Closing, RunspacePoolState::Closed] {
            // A state can be written; that there is no room for it does not keep the pool open.
            let _ = self.tell_state(RunspacePoolStateInfo::new(state));
            self.state = state;
        }
        self.events.push(Event::Closed, 0);
    }

    /// Breaks the pool, and tells the client why. Nothing happens if it is broken: the client knows.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), and if the record can't be written.
    pub fn set_broken(&mut self, error: ErrorRecord) -> Result<(), Error> {
        if self.state == RunspacePoolState::Broken {
            return Ok(());
        }
        self.require_running("break the pool")?;
        let reason = Box::new(error);
        self.tell_state(RunspacePoolStateInfo {
            state: RunspacePoolState::Broken,
            error: Some(reason.clone()),
        })?;
        self.link.discard_all_parked();
        self.end_all();
        self.events.push(Event::Broken(reason), 0);
        Ok(())
    }

    /// Tells the pool that its connection is gone: nothing will be sent or received any more. A pool that has begun and not
    /// ended is broken then, and its pipelines are gone. To leave it to another client, call
    /// [`disconnect`](Self::disconnect) instead.
    pub fn handle_end(&mut self) {
        use RunspacePoolState::{BeforeOpen, Broken, Closed, Disconnected};

        match self.state {
            Disconnected => {}
            Closed | Broken => self.link.forget_all(),
            BeforeOpen => {
                self.state = Closed;
                self.events.push(Event::Closed, 0);
            }
            _ => {
                let text = match self.link.inbox.is_pending() {
                    true => "the connection has ended within a message",
                    false => "the connection has ended",
                };
                self.fall(ErrorRecord::new(text, ErrorCategory::ConnectionError));
                self.link.forget_all();
            }
        }
        self.link.outbox.forget_packets();
    }

    /// Breaks the pool because of an error, which is given back. A client that only wants to connect breaks nothing.
    pub(super) fn break_down(&mut self, error: Error) -> Error {
        use RunspacePoolState::{Broken, Closed, Connecting};

        match self.state {
            Broken | Closed => {}
            Connecting => self.give_up_connecting(),
            _ => self.fall(record_of(&error)),
        }
        error
    }

    /// Breaks the pool and tells the client the reason, if it can still hear it.
    fn fall(&mut self, reason: ErrorRecord) {
        self.end_all();
        self.link.forget_all();
        let error = Box::new(reason);
        let state = RunspacePoolState::Broken;
        let _ = self.tell_state(RunspacePoolStateInfo { state, error: Some(error.clone()) });
        self.state = state;
        self.events.push(Event::Broken(error), 0);
    }

    /// Ends all pipelines and everything that waits.
    fn end_all(&mut self) {
        let ids: Vec<_> = self.pipelines.keys().copied().collect();
        for id in ids {
            self.remove(id);
        }
        self.requests.clear();
        self.host_calls.clear();
    }
}

fn check_limits(min: i32, max: i32) -> Result<(), Error> {
    if min < 1 || max < min {
        return Err(violation("numbers of runspaces that no pool can have"));
    }
    Ok(())
}
