//! Shared by client and server: message encoding and reassembly, the send queue, and the session key.

mod core;
mod key;
mod lane;
mod limits;
mod outbox;
mod pending;
mod queue;

pub use self::core::Core;
pub(crate) use self::core::{Decoded, Receive};
pub(crate) use key::Key;
pub(crate) use lane::OutgoingMessage;
pub use limits::SessionLimits;
pub(crate) use outbox::{Ack, Quota};
pub use pending::PoolRequest;
pub(crate) use pending::Received;
pub(crate) use queue::EventQueue;
#[cfg(feature = "tokio")]
pub(crate) use queue::SizedQueue;

use crate::error::{Error, Kind};
use crate::record::{ErrorCategory, ErrorRecord};

/// Error for an action that the current state does not allow.
#[cold]
pub(crate) fn invalid_state(action: &str, of: &str, state: impl std::fmt::Display) -> Error {
    Error::with(Kind::State, format!("can't {action}: the {of} is {state}"))
}

#[cold]
pub(crate) fn protocol_violation(what: impl Into<Box<str>>) -> Error {
    Error::with(Kind::Protocol, what)
}

/// Error record for an error caused by the peer: a limit exceeded or a protocol violation.
pub(crate) fn peer_error_record(error: &Error) -> ErrorRecord {
    let category =
        if error.is_limit() { ErrorCategory::LimitsExceeded } else { ErrorCategory::ProtocolError };
    ErrorRecord::new(error.to_string(), category)
}
