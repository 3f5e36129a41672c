//! What goes wrong on the way of an answer, and where.

use std::time::Duration;

/// Where a step of the script happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Position {
    /// Before the status line is written.
    Head,
    /// After this many bytes of the body, framing not counted. A position past the end of the body counts as its
    /// end. A response with `Content-Length` is complete there, so that steps at the end run only in chunked ones.
    Body(usize),
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Waits, on tokio's clock.
    Wait(Duration),
    /// Sends nothing more, until the client closes the connection.
    Stall,
    /// Resets the connection: the client sees `ECONNRESET` or the like.
    Reset,
    /// Closes the connection in an orderly way: the client sees the end of the stream.
    Close,
}

/// A step of an answer's script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: Position,
    pub(crate) effect: Effect,
}
