//! What an adaptor does with an unfinished block at the end of its input.

/// What happens to a block that the end of the input cuts short.
///
/// The standard discards it. Some servers, among them LLM APIs, omit the last empty line or even the last line
/// end; [`Lenient`](Self::Lenient) delivers what they sent. A connection that broke looks the same as such a
/// server, so choose it only where a truncated last event does no harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ending {
    /// The unfinished block is dropped, as the standard demands.
    #[default]
    Strict,
    /// The end of the input counts as the end of the line and of the block.
    Lenient,
}
