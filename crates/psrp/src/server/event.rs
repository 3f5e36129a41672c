//! What a server learns.

use uuid::Uuid;

use crate::Value;
use crate::client::PipelineRequest;
use crate::host::HostResponse;
use crate::message::{ConnectRunspacePool, InitRunspacePool, MessageType, SessionCapability};
use crate::record::ErrorRecord;

/// What the client of a pool wants.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// What the client tells about itself.
    SessionCapability(SessionCapability),
    /// The pool is open, and the client knows it.
    Opened(Box<InitRunspacePool>),
    /// A client has connected to the pool, and knows it.
    Connected(ConnectRunspacePool),
    /// The client has the session key.
    KeyExchanged,
    /// To be answered by [`RunspacePool::answer`](super::RunspacePool::answer) with whether the largest number of
    /// runspaces is changed.
    SetMaxRunspaces {
        /// Number of the request.
        call_id: i64,
        /// The number of runspaces.
        count: i32,
    },
    /// To be answered with whether the least number of runspaces is changed.
    SetMinRunspaces {
        /// Number of the request.
        call_id: i64,
        /// The number of runspaces.
        count: i32,
    },
    /// To be answered with how many runspaces are free.
    GetAvailableRunspaces {
        /// Number of the request.
        call_id: i64,
    },
    /// To be answered with whether the variables of the runspace were reset.
    ResetRunspaceState {
        /// Number of the request.
        call_id: i64,
    },
    /// The answer to a call of the host. It is an error also if the call waited for the key and turned out not to be
    /// writable then.
    HostResponse {
        /// The pipeline that called, `None` for the pool.
        pipeline: Option<Uuid>,
        /// The answer.
        response: HostResponse,
    },
    /// A message of the pool waited for the key, and turned out not to be writable then.
    NotSent {
        /// What it was.
        message_type: MessageType,
        /// Why.
        reason: Box<ErrorRecord>,
    },
    /// The pool is closed; all that is left to do is to send what there is.
    Closed,
    /// The pool is broken: the client has violated the protocol or exceeded a limit, the connection has ended, or the
    /// application has said so. All that is left to do is to send what there is.
    Broken(Box<ErrorRecord>),
    /// Something about a pipeline.
    Pipeline {
        /// The pipeline.
        id: Uuid,
        /// What it is.
        event: PipelineEvent,
    },
}

/// What the client wants of a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PipelineEvent {
    /// To do this, after [`Pipeline::start`](super::Pipeline::start).
    Start(PipelineRequest),
    /// An object for its input.
    Input(Value),
    /// The input has ended.
    EndOfInput,
    /// To stop; [`Pipeline::stop`](super::Pipeline::stop) says that it has.
    Stop,
    /// It failed by something that the application has not done: a message of the client was malformed or exceeded a
    /// limit, or a message that waited for the key could not be written. The client was told. Nothing can be written any
    /// more.
    Failed(Box<ErrorRecord>),
    /// The client has closed the pipeline, or the pool has ended. It is gone, whatever it did is to be given up.
    Closed,
}
