//! Limits on documents.

/// Limits on a document. A value equal to a limit is accepted; exceeding a limit is an error
/// ([`Error::is_limit`](crate::Error::is_limit)).
///
/// ```
/// use psrp::clixml::{Limits, ReadOptions, Reader};
///
/// let options = ReadOptions::new().limits(Limits::new().max_nodes(2));
/// let mut items = Reader::with_options(b"<S>a</S><S>b</S><S>c</S>", options);
/// assert!(items.nth(2).unwrap().unwrap_err().is_limit());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) size: usize,
    pub(crate) depth: usize,
    pub(crate) nodes: usize,
    pub(crate) decoded_size: usize,
}

impl Limits {
    /// The limits of [`import`](super::import): 64 MiB of text and 128 MiB of decoded values. With these, a reader
    /// allocates less than 512 MiB.
    pub const IMPORT: Self =
        Self { size: 64 << 20, decoded_size: 128 << 20, nodes: 4 << 20, depth: Self::DEFAULT_MAX_DEPTH };
    /// Default of [`max_size`](Self::max_size): 10 MiB.
    pub const DEFAULT_MAX_SIZE: usize = 10 << 20;
    /// Default of [`max_depth`](Self::max_depth): 49, the maximum depth that PowerShell accepts.
    pub const DEFAULT_MAX_DEPTH: usize = 49;
    /// Default of [`max_nodes`](Self::max_nodes): 1,048,576.
    pub const DEFAULT_MAX_NODES: usize = 1 << 20;
    /// Default of [`max_decoded_size`](Self::max_decoded_size): 64 MiB.
    pub const DEFAULT_MAX_DECODED_SIZE: usize = 64 << 20;
    /// Maximum of [`max_depth`](Self::max_depth), and of the path through objects when references are followed.
    ///
    /// Values are written recursively, so that a deeper document could overflow the stack of a thread.
    pub const MAX_DEPTH: usize = 512;

    /// Creates the default limits.
    pub const fn new() -> Self {
        Self {
            size: Self::DEFAULT_MAX_SIZE,
            depth: Self::DEFAULT_MAX_DEPTH,
            nodes: Self::DEFAULT_MAX_NODES,
            decoded_size: Self::DEFAULT_MAX_DECODED_SIZE,
        }
    }

    setters! {
        /// Maximum length of the input, in bytes. Default: [`DEFAULT_MAX_SIZE`](Self::DEFAULT_MAX_SIZE), 10 MiB.
        max_size(bytes: usize) => size = bytes;
        /// Maximum nesting depth of values, the innermost included: objects, member sets, and the primitive inside
        /// them. Default: [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH), 49. At most [`MAX_DEPTH`](Self::MAX_DEPTH);
        /// larger values are reduced to that.
        max_depth(levels: usize) => depth = if levels < Self::MAX_DEPTH { levels } else { Self::MAX_DEPTH };
        /// Maximum number of values, references and type names in one input. Default:
        /// [`DEFAULT_MAX_NODES`](Self::DEFAULT_MAX_NODES), 1,048,576.
        max_nodes(count: usize) => nodes = count;
        /// Maximum decoded size of one input: the memory of its values in bytes, all items together. An empty object
        /// takes six bytes in a document and about two hundred in memory. Default:
        /// [`DEFAULT_MAX_DECODED_SIZE`](Self::DEFAULT_MAX_DECODED_SIZE), 64 MiB.
        ///
        /// While it decodes, a reader allocates at most three times this limit, plus at most six times the size of the
        /// longest text.
        max_decoded_size(bytes: usize) => decoded_size = bytes;
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
