//! Faults of a response.

use std::time::Duration;

/// Where a fault is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Position {
    /// Before the status line.
    Head,
    /// After this many bytes of the body, not counting chunk framing. Positions beyond the end mean the end.
    /// A response with `Content-Length` is complete there, so faults at the end only apply to chunked ones.
    Body(usize),
}

/// Effect of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Waits, using tokio's clock.
    Wait(Duration),
    /// Sends nothing more until the client closes the connection.
    Stall,
    /// Resets the connection: the client gets `ECONNRESET`.
    Reset,
    /// Closes the connection gracefully: the client sees the end of the stream.
    Close,
}

/// A fault at a position of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: Position,
    pub(crate) effect: Effect,
}
