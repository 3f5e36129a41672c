//! What a server learns.

use uuid::Uuid;

use crate::Value;
use crate::client::PipelineRequest;
use crate::host::HostResponse;
use crate::message::{ConnectRunspacePool, InitRunspacePool, SessionCapability};

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
    /// The answer to a call of the host.
    HostResponse {
        /// The pipeline that called, `None` for the pool.
        pipeline: Option<Uuid>,
        /// The answer.
        response: HostResponse,
    },
    /// The client has closed the pool; all that is left to do is to send what there is.
    Closed,
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
    /// The client has closed the pipeline. It is gone, whatever it did is to be given up.
    Closed,
}
