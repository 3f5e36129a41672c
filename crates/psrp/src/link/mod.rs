//! Shared by client and server: message encoding and reassembly, the send queue, and the session key.

mod calls;
mod deferred;
mod error;
mod events;
mod inbox;
mod key;
mod lane;
mod limits;
mod messages;
mod outbox;
mod pool;
mod receive;

pub(crate) use calls::HostCalls;
pub(crate) use deferred::DeferredMessage;
pub(crate) use error::{invalid_state, peer_error_record, protocol_violation};
pub(crate) use events::EventQueue;
pub(crate) use key::Key;
pub use limits::SessionLimits;
pub(crate) use messages::{Decoded, Link};
pub(crate) use outbox::{Ack, Quota};
pub(crate) use pool::{Request, pool_methods};
pub(crate) use receive::{PoolReceiver, ReceiveState, fail_pipeline_input, receive};
