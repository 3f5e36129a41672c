//! State of a shell or one of its commands.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Error;
use crate::fragment::Priority;

/// Request queued by a packet.
#[derive(Debug)]
pub(super) enum TargetRequest {
    Data(Priority, Vec<u8>),
    /// Connects to a running command.
    Connect,
    Interrupt,
    /// Terminates a command or deletes the shell.
    Close,
}

/// Lifecycle of a shell or command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TargetState {
    /// Not created on the server yet.
    #[default]
    New,
    /// Exists on the server.
    Open,
    /// Being closed; its output is ignored.
    Closing,
}

/// Shell or command.
///
/// Its requests are sent one at a time, because their order matters. Receiving output runs in parallel.
#[derive(Debug, Default)]
pub(super) struct ShellTarget {
    pub(super) state: TargetState,
    /// Identifier assigned by the server.
    pub(super) id: Option<Arc<str>>,
    pub(super) pending: VecDeque<TargetRequest>,
    /// A request is in flight.
    pub(super) is_busy: bool,
    /// A receive request is in flight.
    pub(super) is_receiving: bool,
    /// Received data has not been taken yet.
    pub(super) is_full: bool,
    /// The server has no more output for it.
    pub(super) is_done: bool,
    /// Error of data that was not accepted. It is ignored if the command turns out to have ended.
    pub(super) send_error: Option<Error>,
}

impl ShellTarget {
    /// Returns whether to send a receive request.
    pub(super) fn can_receive(&self) -> bool {
        self.state == TargetState::Open && !self.is_receiving && !self.is_full && !self.is_done
    }

    /// Takes the next request unless one is in flight.
    pub(super) fn next_request(&mut self) -> Option<TargetRequest> {
        if self.is_busy {
            return None;
        }
        self.pending.pop_front()
    }

    /// Returns whether all requests are done.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_busy && self.pending.is_empty()
    }
}
