//! What bounds a document that is read.

/// The default of [`Limits::max_depth`]: arrays and objects in each other.
pub const DEFAULT_MAX_DEPTH: usize = 128;

/// The default of [`Limits::max_document`]: 64 MiB.
pub const DEFAULT_MAX_DOCUMENT: usize = 64 << 20;

/// What bounds a document that is read. Reaching a limit is fine, exceeding it is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub(crate) depth: usize,
    pub(crate) document: usize,
    pub(crate) string: usize,
}

impl Limits {
    /// The largest value that [`max_depth`](Self::max_depth) takes.
    ///
    /// Decoding into a value recurses once per level, so that more would let a document exhaust the stack of a
    /// thread.
    pub const MAX_DEPTH: usize = 512;

    /// The defaults: depth 128, documents of 64 MiB, strings as long as the document.
    pub const fn new() -> Self {
        Self { depth: DEFAULT_MAX_DEPTH, document: DEFAULT_MAX_DOCUMENT, string: usize::MAX }
    }

    /// For text that this program produced itself, and only for what does not recurse.
    pub(crate) const fn unlimited() -> Self {
        Self { depth: usize::MAX, document: usize::MAX, string: usize::MAX }
    }

    /// Bounds how many arrays and objects may enclose each other. Default: [`DEFAULT_MAX_DEPTH`]; values above
    /// [`Limits::MAX_DEPTH`] count as that.
    #[must_use]
    pub const fn max_depth(mut self, levels: usize) -> Self {
        self.depth = if levels < Self::MAX_DEPTH { levels } else { Self::MAX_DEPTH };
        self
    }

    /// Bounds the length of a document in bytes, white space included. Readers buffer 8 KiB more at most.
    /// Default: [`DEFAULT_MAX_DOCUMENT`]; `usize::MAX` means no limit.
    #[must_use]
    pub const fn max_document(mut self, bytes: usize) -> Self {
        self.document = bytes;
        self
    }

    /// Bounds the length of a string or key in bytes, as written between its quotes. Default: no limit of its
    /// own.
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
