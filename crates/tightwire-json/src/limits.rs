//! Limits of decoding.

/// Default of [`Limits::max_depth`]: 128 levels.
pub const DEFAULT_MAX_DEPTH: usize = 128;

/// Default of [`Limits::max_document`]: 64 MiB.
pub const DEFAULT_MAX_DOCUMENT: usize = 64 << 20;

/// Limits of decoding. All are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub(crate) depth: usize,
    pub(crate) document: usize,
    pub(crate) string: usize,
}

impl Limits {
    /// Maximum of [`max_depth`](Self::max_depth): 512 levels.
    ///
    /// Decoding recurses once per level. A document of this depth fits into the default stack of a thread, 2 MiB.
    pub const MAX_DEPTH: usize = 512;

    /// Returns the defaults: 128 levels, documents of 64 MiB, no separate limit for strings.
    pub const fn new() -> Self {
        Self { depth: DEFAULT_MAX_DEPTH, document: DEFAULT_MAX_DOCUMENT, string: usize::MAX }
    }

    /// Returns no limits. Only for parsing without recursion, of text that this program produced.
    pub(crate) const fn unlimited() -> Self {
        Self { depth: usize::MAX, document: usize::MAX, string: usize::MAX }
    }

    /// Sets the maximum nesting of arrays and objects. Default: [`DEFAULT_MAX_DEPTH`]; capped at [`Limits::MAX_DEPTH`].
    #[must_use]
    pub const fn max_depth(mut self, levels: usize) -> Self {
        self.depth = if levels < Self::MAX_DEPTH { levels } else { Self::MAX_DEPTH };
        self
    }

    /// Sets the maximum size of a document in bytes, including white space. [`Decoder`](crate::Decoder) buffers up to
    /// 8 KiB more. Default: [`DEFAULT_MAX_DOCUMENT`]; `usize::MAX` means no limit.
    #[must_use]
    pub const fn max_document(mut self, bytes: usize) -> Self {
        self.document = bytes;
        self
    }

    /// Sets the maximum length of a string or key in bytes, as written between the quotes. Default: no limit.
    #[must_use]
    pub const fn max_string(mut self, bytes: usize) -> Self {
        self.string = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
