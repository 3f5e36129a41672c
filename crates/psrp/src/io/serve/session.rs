//! A session as its handler sees it.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use super::shared::Shared;
use super::{Outcome, now};
use crate::Error;
use crate::host::{HostRequest, HostResult};
use crate::message::{InitRunspacePool, SessionCapability, UserEvent};
use crate::record::ErrorRecord;

/// The pool of a session, for as long as it lasts.
#[derive(Clone)]
pub struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) id: Uuid,
    pub(super) init: Arc<InitRunspacePool>,
    pub(super) peer: Arc<SessionCapability>,
}

impl Session {
    /// The identifier of the pool, which the client gave it.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// What the client opened the pool with: its host, the arguments of the application. Numbers of runspaces may have
    /// changed since.
    pub fn init(&self) -> &InitRunspacePool {
        &self.init
    }

    /// What the client told about itself.
    pub fn peer(&self) -> &SessionCapability {
        &self.peer
    }

    /// Calls a method of the client's host for the pool, otherwise as [`Pipeline::host`](super::Pipeline::host).
    ///
    /// # Errors
    ///
    /// As [`Pipeline::host`](super::Pipeline::host).
    pub async fn host(&self, request: HostRequest) -> Outcome<HostResult> {
        self.shared.call(None, request).await
    }

    /// Forwards an event. One without a time gets the present.
    ///
    /// # Errors
    ///
    /// Fails if the session has ended ([`Error::is_closed`]) and if the event can't be written.
    pub async fn send_event(&self, mut event: UserEvent) -> Result<(), Error> {
        event.time_generated = event.time_generated.or_else(now);
        let event = Box::new(event);
        self.shared.write(None, |state| state.pool.send_event(*event)).await
    }

    /// Breaks the pool, tells the client why, and ends the session.
    ///
    /// # Errors
    ///
    /// Fails if the session has ended ([`Error::is_state`]) and if the record can't be written.
    pub fn break_pool(&self, reason: ErrorRecord) -> Result<(), Error> {
        self.shared.with(|state| state.pool.set_broken(reason))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id).finish_non_exhaustive()
    }
}
