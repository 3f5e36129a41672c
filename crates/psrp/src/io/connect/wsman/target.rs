//! What a transport knows of a shell or of one of its commands.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Error;
use crate::fragment::Priority;

/// Something that a packet asks for.
#[derive(Debug)]
pub(super) enum Request {
    Data(Priority, Vec<u8>),
    /// Take over a command that runs.
    Adopt,
    Interrupt,
    /// Terminate a command, or delete the shell.
    Close,
}

/// How far a shell or command is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// The server has not heard of it.
    #[default]
    New,
    /// The server has it.
    Open,
    /// It is to be closed: what the server says about it does not matter any more.
    Closing,
}

/// A shell, or a command of it.
///
/// Its requests are made one after the other, for one that overtakes another would change their meaning. Receiving goes
/// on beside them.
#[derive(Debug, Default)]
pub(super) struct Target {
    pub(super) stage: Stage,
    /// The identifier that the server has given it.
    pub(super) id: Option<Arc<str>>,
    pub(super) waiting: VecDeque<Request>,
    /// Whether a request is on its way.
    pub(super) is_busy: bool,
    /// Whether a request to receive is on its way.
    pub(super) is_receiving: bool,
    /// Whether data of it wait to be taken.
    pub(super) is_full: bool,
    /// Whether the server has nothing more to say.
    pub(super) is_done: bool,
    /// Why data were not taken, if that means something: not if the command has ended meanwhile.
    pub(super) doubt: Option<Error>,
}

impl Target {
    /// Whether it is time to receive.
    pub(super) fn wants_to_receive(&self) -> bool {
        self.stage == Stage::Open && !self.is_receiving && !self.is_full && !self.is_done
    }

    /// The request whose turn it is.
    pub(super) fn next_request(&mut self) -> Option<Request> {
        if self.is_busy {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Whether everything that was asked for is done.
    pub(super) fn is_settled(&self) -> bool {
        !self.is_busy && self.waiting.is_empty()
    }
}
