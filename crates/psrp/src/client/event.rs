//! What a client learns.

use uuid::Uuid;

use crate::Value;
use crate::host::HostCall;
use crate::message::{
    ApplicationPrivateData, Availability, PipelineStateInfo, RunspaceLimits, RunspacePoolStateInfo,
    SessionCapability, UserEvent,
};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::Progress;

/// What happened in a pool.
///
/// A secure string that came before the key is encrypted at first, and the pool asks for the key by itself. From
/// [`KeyExchanged`](Self::KeyExchanged) on the string has its text, in events that were taken before too and in all of its
/// clones.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// What the server tells about itself.
    SessionCapability(SessionCapability),
    /// Data of the server's application.
    ApplicationPrivateData(ApplicationPrivateData),
    /// The size of the pool that was connected to.
    RunspaceLimits(RunspaceLimits),
    /// The pool has another state, by a message of the server, by its answer to a close, or because it broke.
    State(RunspacePoolStateInfo),
    /// There is a session key now.
    KeyExchanged,
    /// The answer to a request of the pool.
    Answer {
        /// The number that the request returned.
        call_id: i64,
        /// The answer.
        availability: Availability,
    },
    /// A request of the pool gets no answer any more: the pool was [connected to](super::RunspacePool::connect) once more,
    /// and the server has forgotten what the client before had asked for.
    Unanswered {
        /// The number that the request returned.
        call_id: i64,
    },
    /// An event of the remote session.
    UserEvent(Box<UserEvent>),
    /// A call of the client's host, to be answered by [`RunspacePool::respond`](super::RunspacePool::respond) unless
    /// it is [void](HostCall::is_void).
    HostCall {
        /// The pipeline that calls, `None` for the pool.
        pipeline: Option<Uuid>,
        /// The call.
        call: HostCall,
    },
    /// An answer to a call of the host waited for the key, and turned out not to be writable then. The server was told that
    /// the call failed.
    ResponseFailed {
        /// The pipeline that called, `None` for the pool.
        pipeline: Option<Uuid>,
        /// Number of the call.
        call_id: i64,
        /// Why.
        reason: Box<ErrorRecord>,
    },
    /// Something happened in a pipeline.
    Pipeline {
        /// The pipeline.
        id: Uuid,
        /// What happened.
        event: PipelineEvent,
    },
}

/// What happened in a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PipelineEvent {
    /// An object of the output.
    Output(Value),
    /// An error record.
    Error(Box<ErrorRecord>),
    /// A debug message.
    Debug(Box<InformationalRecord>),
    /// A verbose message.
    Verbose(Box<InformationalRecord>),
    /// A warning.
    Warning(Box<InformationalRecord>),
    /// Progress.
    Progress(Box<Progress>),
    /// An information record.
    Information(Box<InformationRecord>),
    /// The pipeline has another state.
    State(PipelineStateInfo),
    /// The server has closed the pipeline, as it was asked to. It is gone.
    Closed,
}
