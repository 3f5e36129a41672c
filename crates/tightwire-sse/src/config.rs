//! Limits of a decoder, and the handling of its end.

/// Default of [`Config::max_event_size`]: 16 MiB.
pub const DEFAULT_MAX_EVENT_SIZE: usize = 16 << 20;

/// Limits of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    pub(crate) max_event_size: usize,
    pub(crate) overflow: Overflow,
}

/// Behaviour after a block exceeded [`Config::max_event_size`] and the error was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Overflow {
    /// Skips the rest of the block in constant memory and continues after its empty line.
    #[default]
    Resync,
    /// Ignores all further input.
    Terminate,
}

impl Config {
    /// Returns the defaults: 16 MiB per event, [`Overflow::Resync`].
    pub const fn new() -> Self {
        Self { max_event_size: DEFAULT_MAX_EVENT_SIZE, overflow: Overflow::Resync }
    }

    /// Sets the maximum size of a block in bytes: its decoded data, type and id, plus the current line. Comments and
    /// unknown fields do not count.
    ///
    /// Default: [`DEFAULT_MAX_EVENT_SIZE`]. `usize::MAX` means no limit.
    #[must_use]
    pub const fn max_event_size(mut self, bytes: usize) -> Self {
        self.max_event_size = bytes;
        self
    }

    /// Sets the behaviour after the limit was exceeded. Default: [`Overflow::Resync`].
    #[must_use]
    pub const fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

/// Handling of an incomplete block at the end of the input.
///
/// Some servers, among them LLM APIs, omit the last empty line or even the last line end. [`Lenient`](Self::Lenient)
/// accepts that. Where an aborted connection looks like the end of the input, the last event may be truncated then.
///
/// All adapters have this setting: `.events()`, `.sse()`, `Reader` and `SseCodec` as `with_ending`, `EventSource` as
/// `EventSourceBuilder::ending`. The default of `EventSource` is [`Strict`](Self::Strict), because it reconnects and can
/// receive the event again. `json` and `json_until_done` decode what their events yield, so that an unterminated `[DONE]`
/// is an end by default; they have the setting for an end without `[DONE]`. [`Decoder`](crate::Decoder) has a method for each.
#[cfg(any(feature = "std", feature = "futures"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ending {
    /// Drops the block, as the standard requires.
    Strict,
    /// Treats the end of the input as the end of the line and of the block, and returns its event.
    #[default]
    Lenient,
}
