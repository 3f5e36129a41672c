//! Session of a server, its pipelines, and the results of sessions and requests.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use futures_core::Stream;
use uuid::Uuid;

use super::server_state::{PipelineRun, SharedServerState, StopRequest};
use crate::error::{Error, Kind};
use crate::host::{HostRequest, HostResult};
use crate::message::{InitRunspacePool, Payload, SessionCapability, UserEvent};
use crate::record::{ErrorCategory, ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::{DateTime, Progress, Value};

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

    /// Calls a method of the client's host on behalf of the pool, with the results and errors of [`Pipeline::host`].
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

/// Output streams of a pipeline on the server, and access to the client's host. The client's pipeline is
/// [`io::Command`](crate::io::Command).
///
/// Methods that write wait while too much is unsent ([`Options::max_unsent_bytes`](super::Options::max_unsent_bytes)),
/// including secure strings that wait for the session key. They fail with [`Error::is_closed`] if the pipeline has ended
/// or the client has disconnected, and if the value cannot be encoded.
#[derive(Clone)]
pub struct Pipeline {
    pub(super) run: PipelineRun,
    pub(super) stop: Arc<StopRequest>,
    pub(super) session: Session,
}

impl Pipeline {
    /// Returns the identifier of the pipeline.
    pub fn id(&self) -> Uuid {
        self.run.id
    }

    /// Returns the session of the pipeline.
    pub fn session(&self) -> &Session {
        &self.session
    }

    fn shared(&self) -> &SharedServerState {
        &self.session.shared
    }

    /// Writes an object to the output.
    pub async fn output(&self, value: impl Into<Value>) -> Result<(), Error> {
        let value = value.into();
        self.shared().write_to_pipeline(self.run, |pipeline| pipeline.write_output(value)).await
    }

    async fn write_record(&self, record: Payload) -> Result<(), Error> {
        self.shared().write_to_pipeline(self.run, |pipeline| pipeline.write_record(&record)).await
    }

    /// Writes a non-terminating error. The pipeline continues; an error returned by the handler ends it.
    pub async fn error(&self, record: ErrorRecord) -> Result<(), Error> {
        self.write_record(Payload::ErrorRecord(Box::new(record))).await
    }

    /// Writes a warning.
    pub async fn warning(&self, record: InformationalRecord) -> Result<(), Error> {
        self.write_record(Payload::WarningRecord(Box::new(record))).await
    }

    /// Writes a verbose message.
    pub async fn verbose(&self, record: InformationalRecord) -> Result<(), Error> {
        self.write_record(Payload::VerboseRecord(Box::new(record))).await
    }

    /// Writes a debug message.
    pub async fn debug(&self, record: InformationalRecord) -> Result<(), Error> {
        self.write_record(Payload::DebugRecord(Box::new(record))).await
    }

    /// Writes an information record. If it has no time, the current time is set.
    ///
    /// # Errors
    ///
    /// See the [type](Self). Also fails with [`Error::is_state`] if the client's protocol is older than 2.3.
    pub async fn information(&self, mut record: InformationRecord) -> Result<(), Error> {
        record.time_generated = record.time_generated.or_else(now);
        self.write_record(Payload::InformationRecord(Box::new(record))).await
    }

    /// Writes a progress record.
    pub async fn progress(&self, record: Progress) -> Result<(), Error> {
        self.write_record(Payload::ProgressRecord(Box::new(record))).await
    }

    /// Calls a method of the client's host and waits for the result. A method without a result returns
    /// [`HostResult::Nothing`] immediately.
    ///
    /// If this future is dropped, the response is discarded. The call counts towards
    /// [`SessionLimits::max_host_calls`](crate::SessionLimits::max_host_calls) until the response arrives or the
    /// pipeline ends.
    ///
    /// # Errors
    ///
    /// Returns the client's record if the method failed there. Also fails if nothing can be written (see the
    /// [type](Self)), if there are too many pending calls, and if the result has the wrong type.
    pub async fn host(&self, request: HostRequest) -> Outcome<HostResult> {
        self.shared().call(Some(self.run), request).await
    }

    /// Waits until the client requests to stop the pipeline.
    ///
    /// Calling this method (even without awaiting the future) disables the default behaviour that a stop drops the
    /// handler's future. The handler must then end by itself within
    /// [`Options::stop_timeout`](super::Options::stop_timeout). The client sees the pipeline as stopped, whatever the
    /// handler returns.
    pub fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        self.stop.is_handled.store(true, Ordering::Release);
        self.stop.token.clone().cancelled_owned()
    }
}

impl_debug!(Pipeline | this | id = this.run.id, is_stopping = this.stop.token.is_cancelled());

/// Stream of the input objects that a client sends to a pipeline.
///
/// Ends when the client ends the input or the pipeline ends. The stream of a pipeline without input is empty.
pub struct Input {
    pub(super) run: PipelineRun,
    pub(super) shared: Arc<SharedServerState>,
}

impl Input {
    /// Waits for the next object. Returns `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Input {
    type Item = Value;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Value>> {
        self.shared.next_input(self.run, cx.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl_debug!(Input | this | pipeline = this.run.id);
