//! Limits of a decoder.

/// The default of [`Config::max_event_size`]: 16 MiB.
pub const DEFAULT_MAX_EVENT_SIZE: usize = 16 << 20;

/// What a decoder accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    pub(crate) max_event_size: usize,
    pub(crate) overflow: Overflow,
}

/// What happens after a block exceeded [`Config::max_event_size`]. The error is reported once in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Overflow {
    /// The rest of the block is skipped in constant memory and decoding goes on after its empty line.
    #[default]
    Resync,
    /// The decoder ignores everything that follows.
    Terminate,
}

impl Config {
    /// The defaults: 16 MiB per event, [`Overflow::Resync`].
    pub const fn new() -> Self {
        Self { max_event_size: DEFAULT_MAX_EVENT_SIZE, overflow: Overflow::Resync }
    }

    /// Bounds the memory that one block may hold, in bytes: its decoded data, type and id, plus the line
    /// being received. Lines that cannot become a field cost nothing.
    ///
    /// Default: [`DEFAULT_MAX_EVENT_SIZE`]. `usize::MAX` means no limit.
    #[must_use]
    pub const fn max_event_size(mut self, bytes: usize) -> Self {
        self.max_event_size = bytes;
        self
    }

    /// Chooses what happens after the limit was exceeded. Default: [`Overflow::Resync`].
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
