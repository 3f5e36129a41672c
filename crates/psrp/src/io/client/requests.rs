//! Pool requests that are not about pipelines: runspaces, session key, disconnect.

use tokio::sync::oneshot;

use super::Session;
use super::session_state::{ConnectionChange, SessionState, within};
use crate::client::ClientPool;
use crate::error::{Error, Kind};
use crate::message::{Availability, RunspacePoolState};
use crate::value::Value;

impl Session {
    /// Returns the minimum number of runspaces.
    pub fn min_runspaces(&self) -> i32 {
        self.shared().lock().machine.min_runspaces()
    }

    /// Returns the maximum number of runspaces.
    pub fn max_runspaces(&self) -> i32 {
        self.shared().lock().machine.max_runspaces()
    }

    /// Sets the minimum number of runspaces. Returns whether the server accepted it.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pool is not open or the number is below 1 or above the maximum, and if the
    /// connection ends.
    pub async fn set_min_runspaces(&self, count: i32) -> Result<bool, Error> {
        let response = self.send_request(|machine| machine.set_min_runspaces(count)).await?;
        Ok(response.is_none_or(|response| response == Availability::Accepted(true)))
    }

    /// Sets the maximum number of runspaces. Returns whether the server accepted it.
    ///
    /// # Errors
    ///
    /// Same as [`set_min_runspaces`](Self::set_min_runspaces), for a number below the minimum.
    pub async fn set_max_runspaces(&self, count: i32) -> Result<bool, Error> {
        let response = self.send_request(|machine| machine.set_max_runspaces(count)).await?;
        Ok(response.is_none_or(|response| response == Availability::Accepted(true)))
    }

    /// Asks the server for the number of available runspaces.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pool is not open, and if the connection ends.
    pub async fn get_available_runspaces(&self) -> Result<i64, Error> {
        match self.send_request(|machine| machine.get_available_runspaces().map(Some)).await? {
            Some(Availability::Count(count)) => Ok(count),
            _ => Err(crate::link::protocol_violation("a response of the wrong type")),
        }
    }

    /// Resets the variables of the runspace. Returns whether the server has reset them.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pool is not open or the server's protocol is older than 2.3, and if the
    /// connection ends.
    pub async fn reset_runspace_state(&self) -> Result<bool, Error> {
        let response = self.send_request(|machine| machine.reset_runspace_state().map(Some)).await?;
        Ok(response == Some(Availability::Accepted(true)))
    }

    /// Sends a request and waits for its response. Returns `None` if no request was necessary.
    async fn send_request(
        &self,
        request: impl FnOnce(&mut ClientPool) -> Result<Option<i64>, Error>,
    ) -> Result<Option<Availability>, Error> {
        let response = {
            let mut state = self.shared().lock();
            state.check_usable("send a request")?;
            let Some(call_id) = request(&mut state.machine)? else { return Ok(None) };
            let (sender, response) = oneshot::channel();
            state.responses.insert(call_id, sender);
            state.wake_task();
            response
        };
        match response.await {
            Ok(response) => Ok(Some(response)),
            Err(_) => Err(self.closed().await),
        }
    }

    /// Exchanges the session key. Otherwise that happens when the first secure string is sent or received.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pool is not open, with [`Error::is_no_key`] without the feature `crypto`,
    /// and if the connection ends.
    pub async fn exchange_key(&self) -> Result<(), Error> {
        {
            let mut state = self.shared().lock();
            state.check_usable("exchange the key")?;
            state.machine.exchange_key()?;
            state.wake_task();
        }
        let exchanged = |state: &mut SessionState| match state.check_alive() {
            Ok(()) => state.machine.has_key().then_some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        self.shared().wait_until(exchanged).await
    }

    /// Decrypts the secure strings of a value that was received before the session key. Later values are decrypted on
    /// arrival. The first such string starts the key exchange; this method waits for it.
    ///
    /// # Errors
    ///
    /// Same as [`exchange_key`](Self::exchange_key). Also fails with [`Error::is_crypto`] if a string is not encrypted
    /// with the session key.
    pub async fn decrypt(&self, value: &Value) -> Result<(), Error> {
        self.exchange_key().await?;
        self.shared().lock().machine.decrypt(value)
    }

    /// Disconnects from the pool. The pool and its pipelines continue to run on the server, including those that have
    /// just been started. Output that has not arrived yet is left to the next client.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_unsupported`] if the transport cannot disconnect, with [`Error::is_state`] if the pool is
    /// not open, and if the connection ends.
    pub async fn disconnect(&self) -> Result<(), Error> {
        self.change_connection(ConnectionChange::Disconnect, RunspacePoolState::Opened).await
    }

    /// Reconnects after [`disconnect`](Self::disconnect). Pipelines continue where they were.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pool is not disconnected, with [`Error::is_timeout`] after
    /// [`ClientLimits::open_timeout`](super::ClientLimits::open_timeout), and otherwise like
    /// [`disconnect`](Self::disconnect).
    pub async fn reconnect(&self) -> Result<(), Error> {
        let time = self.shared().limits.open_timeout;
        within(
            time,
            "to connect",
            self.change_connection(ConnectionChange::Reconnect, RunspacePoolState::Disconnected),
        )
        .await
    }

    async fn change_connection(
        &self,
        change: ConnectionChange,
        from: RunspacePoolState,
    ) -> Result<(), Error> {
        let action = match change {
            ConnectionChange::Disconnect => "disconnect",
            ConnectionChange::Reconnect => "reconnect",
        };
        let done = {
            let mut state = self.shared().lock();
            state.check_usable(action)?;
            if state.connection_change.is_some() {
                return Err(Error::with(Kind::State, "another disconnect or reconnect is in progress"));
            }
            if state.machine.state() != from {
                return Err(crate::link::invalid_state(action, "pool", state.machine.state()));
            }
            let (sender, done) = oneshot::channel();
            state.connection_change = Some((change, sender));
            state.wake_task();
            done
        };
        match done.await {
            Ok(result) => result,
            Err(_) => Err(self.closed().await),
        }
    }
}
