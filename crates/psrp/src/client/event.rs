//! Events of the client's pool.

use uuid::Uuid;

use crate::Value;
use crate::host::HostCall;
use crate::message::{
    ApplicationPrivateData, Availability, PipelineStateInfo, RunspaceLimits, RunspacePoolStateInfo,
    SessionCapability, UserEvent,
};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::Progress;

/// Event of a runspace pool.
///
/// A secure string received before the session key is encrypted at first; the pool requests the key itself. After
/// [`KeyExchanged`](Self::KeyExchanged) the string is decrypted, including all clones and those in earlier events.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Capabilities of the server.
    SessionCapability(SessionCapability),
    /// Private data of the server's application.
    ApplicationPrivateData(ApplicationPrivateData),
    /// Number of runspaces of the pool connected to.
    RunspaceLimits(RunspaceLimits),
    /// The state of the pool has changed: by a message of the server, after a close, or because the pool broke.
    State(RunspacePoolStateInfo),
    /// The session key is available.
    KeyExchanged,
    /// Response to a request of the pool.
    RequestCompleted {
        /// Identifier returned by the request.
        call_id: i64,
        /// Result of the request.
        availability: Availability,
    },
    /// A pending request was cancelled: the client has [connected](super::ClientPool::connect) again, and the server
    /// drops the requests of the previous connection.
    RequestCancelled {
        /// Identifier returned by the request.
        call_id: i64,
    },
    /// Event of the remote session.
    UserEvent(Box<UserEvent>),
    /// Host call. Respond with [`ClientPool::respond`](super::ClientPool::respond) unless the call is
    /// [void](HostCall::is_void).
    HostCall {
        /// Calling pipeline, `None` for the pool.
        pipeline: Option<Uuid>,
        /// The call.
        call: HostCall,
    },
    /// A response to a host call was deferred until the session key was available, and could not be written then. The
    /// server was told that the call failed.
    ResponseFailed {
        /// Calling pipeline, `None` for the pool.
        pipeline: Option<Uuid>,
        /// Identifier of the call.
        call_id: i64,
        /// Cause of the failure.
        reason: Box<ErrorRecord>,
    },
    /// Record, output object or state of a pipeline without an identifier. Servers send them while they open a pool, for
    /// example warnings of a startup script.
    PoolRecord(PipelineEvent),
    /// Event of a pipeline.
    Pipeline {
        /// Identifier of the pipeline.
        id: Uuid,
        /// The event.
        event: PipelineEvent,
    },
}

/// Event of a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PipelineEvent {
    /// Output object.
    Output(Value),
    /// Error record.
    Error(Box<ErrorRecord>),
    /// Debug message.
    Debug(Box<InformationalRecord>),
    /// Verbose message.
    Verbose(Box<InformationalRecord>),
    /// Warning.
    Warning(Box<InformationalRecord>),
    /// Progress record.
    Progress(Box<Progress>),
    /// Information record.
    Information(Box<InformationRecord>),
    /// The state of the pipeline has changed.
    State(PipelineStateInfo),
    /// The server has confirmed the close. The pipeline no longer exists.
    Closed,
}
