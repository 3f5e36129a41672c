//! What a pool is asked for besides pipelines.

use tokio::sync::oneshot;

use super::RunspacePool;
use super::shared::{Detour, State, within};
use crate::client::RunspacePool as Machine;
use crate::error::{Error, Kind};
use crate::message::{Availability, RunspacePoolState};
use crate::value::Value;

impl RunspacePool {
    /// The least number of runspaces.
    pub fn min_runspaces(&self) -> i32 {
        self.shared().lock().machine.min_runspaces()
    }

    /// The largest number of runspaces.
    pub fn max_runspaces(&self) -> i32 {
        self.shared().lock().machine.max_runspaces()
    }

    /// Changes the least number of runspaces. Whether the server agrees.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, and for a number below 1 or above the largest ([`Error::is_state`]); and if the
    /// connection ends.
    pub async fn set_min_runspaces(&self, count: i32) -> Result<bool, Error> {
        let answer = self.ask(|machine| machine.set_min_runspaces(count)).await?;
        Ok(answer.is_none_or(|answer| answer == Availability::Accepted(true)))
    }

    /// Changes the largest number of runspaces. Whether the server agrees.
    ///
    /// # Errors
    ///
    /// As [`set_min_runspaces`](Self::set_min_runspaces), for a number below the least one.
    pub async fn set_max_runspaces(&self, count: i32) -> Result<bool, Error> {
        let answer = self.ask(|machine| machine.set_max_runspaces(count)).await?;
        Ok(answer.is_none_or(|answer| answer == Availability::Accepted(true)))
    }

    /// How many runspaces are free.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]) and if the connection ends.
    pub async fn get_available_runspaces(&self) -> Result<i64, Error> {
        match self.ask(|machine| machine.get_available_runspaces().map(Some)).await? {
            Some(Availability::Count(count)) => Ok(count),
            _ => Err(crate::link::protocol_violation("an answer of another kind than its question")),
        }
    }

    /// Resets the variables of the runspace. Whether the server has done it.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open or the server's protocol older than 2.3 ([`Error::is_state`]), and if the
    /// connection ends.
    pub async fn reset_runspace_state(&self) -> Result<bool, Error> {
        let answer = self.ask(|machine| machine.reset_runspace_state().map(Some)).await?;
        Ok(answer == Some(Availability::Accepted(true)))
    }

    /// Sends a request and waits for its answer, `None` if there is nothing to ask.
    async fn ask(
        &self,
        request: impl FnOnce(&mut Machine) -> Result<Option<i64>, Error>,
    ) -> Result<Option<Availability>, Error> {
        let answer = {
            let mut state = self.shared().lock();
            state.usable("ask for something")?;
            let Some(call_id) = request(&mut state.machine)? else { return Ok(None) };
            let (sender, answer) = oneshot::channel();
            state.answers.insert(call_id, sender);
            state.wake_driver();
            answer
        };
        match answer.await {
            Ok(answer) => Ok(Some(answer)),
            Err(_) => Err(self.closed().await),
        }
    }

    /// Exchanges the session key, which else happens when the first secure string is sent or received.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), without the feature `crypto` ([`Error::is_no_key`]), and if
    /// the connection ends.
    pub async fn exchange_key(&self) -> Result<(), Error> {
        {
            let mut state = self.shared().lock();
            state.usable("exchange the key")?;
            state.machine.exchange_key()?;
            state.wake_driver();
        }
        let exchanged = |state: &mut State| match state.alive() {
            Ok(()) => state.machine.has_key().then_some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        self.shared().wait_until(exchanged).await
    }

    /// Decrypts the secure strings of a value that came before the key did; later ones are decrypted already. The first
    /// of them starts the exchange of the key, which this waits for.
    ///
    /// # Errors
    ///
    /// As [`exchange_key`](Self::exchange_key), and if a string is not encrypted with the key ([`Error::is_crypto`]).
    pub async fn decrypt(&self, value: &Value) -> Result<(), Error> {
        self.exchange_key().await?;
        self.shared().lock().machine.decrypt(value)
    }

    /// Leaves the pool: the server goes on with it and its pipelines without a client.
    ///
    /// # Errors
    ///
    /// Fails if the transport has no means for that ([`Error::is_unsupported`]), if the pool is not open
    /// ([`Error::is_state`]), and if the connection ends.
    pub async fn disconnect(&self) -> Result<(), Error> {
        self.detour(Detour::Disconnect, RunspacePoolState::Opened).await
    }

    /// Takes the pool up again after [`disconnect`](Self::disconnect); pipelines go on where they were.
    ///
    /// # Errors
    ///
    /// As [`disconnect`](Self::disconnect), if the pool is not disconnected.
    pub async fn reconnect(&self) -> Result<(), Error> {
        let time = self.shared().limits.open_timeout;
        within(time, "to connect", self.detour(Detour::Reconnect, RunspacePoolState::Disconnected)).await
    }

    async fn detour(&self, detour: Detour, from: RunspacePoolState) -> Result<(), Error> {
        let action = match detour {
            Detour::Disconnect => "disconnect",
            Detour::Reconnect => "reconnect",
        };
        let done = {
            let mut state = self.shared().lock();
            state.usable(action)?;
            if state.detour.is_some() {
                return Err(Error::with(Kind::State, "can't connect and disconnect at once"));
            }
            if state.machine.state() != from {
                return Err(crate::link::invalid_state(action, "pool", state.machine.state()));
            }
            let (sender, done) = oneshot::channel();
            state.detour = Some((detour, sender));
            state.wake_driver();
            done
        };
        match done.await {
            Ok(result) => result,
            Err(_) => Err(self.closed().await),
        }
    }
}
