//! Handling of an incomplete block at the end of the input.

/// Handling of an incomplete block at the end of the input.
///
/// Some servers, among them LLM APIs, omit the last empty line or even the last line end; use
/// [`Lenient`](Self::Lenient) for them. An aborted connection cannot be distinguished from such a server, so that the
/// last event may be truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ending {
    /// Drops the block, as the standard requires.
    #[default]
    Strict,
    /// Treats the end of the input as the end of the line and of the block, and returns its event.
    Lenient,
}
