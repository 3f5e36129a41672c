//! Session of a server, and the results of sessions and requests.

use std::sync::Arc;

use uuid::Uuid;

use super::shared::SharedServerState;
use crate::error::{Error, Kind};
use crate::host::{HostRequest, HostResult};
use crate::message::{InitRunspacePool, SessionCapability, UserEvent};
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::DateTime;

/// How a session ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The client has closed the pool.
    Closed,
    /// The connection ended, or the client sent an empty line.
    Disconnected,
    /// The handler broke the pool.
    Broken,
}

/// Result of a client's request. The error record is sent to the client.
///
/// The operator `?` and `into` convert an [`Error`] or [`ErrorRecord`] to the boxed record.
pub type Outcome<T = ()> = Result<T, Box<ErrorRecord>>;

/// Pool of a session on the server, valid until the session ends.
#[derive(Clone)]
pub struct Session {
    pub(super) shared: Arc<SharedServerState>,
    pub(super) id: Uuid,
    pub(super) init: Arc<InitRunspacePool>,
    pub(super) peer: Arc<SessionCapability>,
}

impl Session {
    /// Returns the identifier of the pool, chosen by the client.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Returns the client's request to open the pool, with its host and application arguments. The numbers of runspaces
    /// can have changed since.
    pub fn init(&self) -> &InitRunspacePool {
        &self.init
    }

    /// Returns the client's protocol versions.
    pub fn peer(&self) -> &SessionCapability {
        &self.peer
    }

    /// Calls a method of the client's host on behalf of the pool. See [`Pipeline::host`](super::Pipeline::host).
    ///
    /// # Errors
    ///
    /// Same as [`Pipeline::host`](super::Pipeline::host).
    pub async fn host(&self, request: HostRequest) -> Outcome<HostResult> {
        self.shared.call(None, request).await
    }

    /// Sends an event to the client. If it has no time, the current time is set.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_closed`] if the session has ended, and if the event cannot be encoded.
    pub async fn send_event(&self, mut event: UserEvent) -> Result<(), Error> {
        event.time_generated = event.time_generated.or_else(now);
        let event = Box::new(event);
        self.shared.write(None, |state| state.pool.send_event(*event)).await
    }

    /// Breaks the pool: sends the client the reason and ends the session.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the session has ended, and if the record cannot be encoded.
    pub fn break_pool(&self, reason: ErrorRecord) -> Result<(), Error> {
        self.shared.with(|state| state.pool.set_broken(reason))
    }
}

impl_debug!(Session | this | id = this.id);

/// Converts an error to a record for the client. Error texts never contain input.
impl From<Error> for Box<ErrorRecord> {
    fn from(error: Error) -> Self {
        let category = match error.kind() {
            Kind::Closed | Kind::Io => ErrorCategory::ConnectionError,
            Kind::Limit => ErrorCategory::LimitsExceeded,
            Kind::Timeout => ErrorCategory::OperationTimeout,
            Kind::Protocol | Kind::Syntax | Kind::Structure | Kind::InvalidHeader => {
                ErrorCategory::ProtocolError
            }
            _ => ErrorCategory::InvalidOperation,
        };
        Self::new(ErrorRecord::new(error.to_string(), category).with_id("PsrpError"))
    }
}

/// Returns the current time; the state machine has no clock.
pub(super) fn now() -> Option<DateTime> {
    std::time::SystemTime::now().try_into().ok()
}
