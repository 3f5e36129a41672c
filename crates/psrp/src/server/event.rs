//! Events of the server's pool.

use uuid::Uuid;

use crate::Value;
use crate::client::PipelineRequest;
use crate::host::HostResponse;
use crate::link::PoolRequest;
use crate::message::{ConnectRunspacePool, InitRunspacePool, MessageType, SessionCapability};
use crate::record::ErrorRecord;

/// Event of a runspace pool: a request of its client, or a change of its state.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Capabilities of the client.
    SessionCapability(SessionCapability),
    /// The pool is open. The client was notified.
    Opened(Box<InitRunspacePool>),
    /// A client has connected to the pool and was notified.
    Connected(ConnectRunspacePool),
    /// The client has the session key.
    KeyExchanged,
    /// Request of the client. Respond with [`ServerPool::respond`](super::ServerPool::respond).
    Request {
        /// Identifier of the request.
        call_id: i64,
        /// The request.
        request: PoolRequest,
    },
    /// Response to a host call. Also emitted, with an error, if the call was deferred until the session key was
    /// available and could not be written then.
    HostResponse {
        /// Calling pipeline, `None` for the pool.
        pipeline: Option<Uuid>,
        /// The response.
        response: HostResponse,
    },
    /// A message of the pool was deferred until the session key was available, and could not be written then.
    NotSent {
        /// Type of the message.
        message_type: MessageType,
        /// Cause of the failure.
        reason: Box<ErrorRecord>,
    },
    /// The pool is closed. Send the pending packets.
    Closed,
    /// The pool is broken: the client has violated the protocol or exceeded a limit, the connection has ended, or the
    /// application has broken the pool. Send the pending packets.
    Broken(Box<ErrorRecord>),
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
    /// The client has sent the task of the pipeline. Call [`ServerPipeline::start`](super::ServerPipeline::start), then
    /// run it.
    Start(PipelineRequest),
    /// Input object.
    Input(Value),
    /// The input has ended.
    EndOfInput,
    /// The client asks to stop the pipeline. Call [`ServerPipeline::stop`](super::ServerPipeline::stop) when it has
    /// stopped.
    Stop,
    /// The pipeline failed without the application: a message of the client was malformed or exceeded a limit, or a
    /// deferred message could not be written. The client was notified. Nothing more can be written.
    Failed(Box<ErrorRecord>),
    /// The client has closed the pipeline, or the pool has ended. The pipeline no longer exists; cancel its work.
    Closed,
}
