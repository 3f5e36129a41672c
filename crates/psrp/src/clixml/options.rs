//! Limits on documents, and options of the reader and the writer.

use std::sync::Arc;

use crate::PsString;
use crate::crypto::Cipher;

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

impl_default!(Limits);

/// Options of [`Reader`](super::Reader).
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    pub(super) limits: Limits,
    pub(super) cipher: Option<Arc<dyn Cipher>>,
    pub(super) has_clear_secrets: bool,
}

impl ReadOptions {
    /// Creates the default options.
    pub const fn new() -> Self {
        Self { limits: Limits::new(), cipher: None, has_clear_secrets: false }
    }

    setters! {
        /// Sets the limits. Default: [`Limits::new`].
        limits(limits: Limits) => limits = limits;
        /// Sets the cipher that decrypts secure strings. Default: none; they stay encrypted and can be written
        /// unchanged.
        cipher(cipher: Arc<dyn Cipher>) => cipher = Some(cipher);
    }

    /// Reads secure strings of protocol 2.4, which are not encrypted.
    pub(crate) fn clear_secrets(mut self) -> Self {
        self.has_clear_secrets = true;
        self
    }

    pub(crate) const fn max_decoded_size(&self) -> usize {
        self.limits.decoded_size
    }
}

/// Options of [`Writer`](super::Writer).
///
/// ```
/// use psrp::clixml::{WriteOptions, Writer};
/// use psrp::{Object, Value};
///
/// let deep = (0..60).fold(Value::from("x"), |inner, _| Object::list([inner]).into());
/// assert!(Writer::new().write(&deep).unwrap_err().is_limit());
///
/// let mut writer = Writer::with_options(WriteOptions::new().replace_too_deep("..."));
/// assert!(writer.write(&deep)?.windows(10).any(|part| part == b"<S>...</S>"));
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WriteOptions {
    pub(super) depth: usize,
    pub(super) too_deep: Option<PsString>,
    pub(super) cipher: Option<Arc<dyn Cipher>>,
}

impl WriteOptions {
    /// Default of [`max_depth`](Self::max_depth): 49, the maximum depth that PowerShell reads.
    pub const DEFAULT_MAX_DEPTH: usize = Limits::DEFAULT_MAX_DEPTH;

    /// Creates the default options.
    pub const fn new() -> Self {
        Self { depth: Self::DEFAULT_MAX_DEPTH, too_deep: None, cipher: None }
    }

    setters! {
        /// Maximum nesting depth of values, the innermost included: objects, member sets, and the primitive inside
        /// them. Deeper values are an error. Default: [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH), 49. At most
        /// [`Limits::MAX_DEPTH`]; larger values are reduced to that.
        max_depth(levels: usize) => depth = if levels < Limits::MAX_DEPTH { levels } else { Limits::MAX_DEPTH };
        /// Writes this string in place of each value that is nested too deep, like PowerShell. Default: such values are
        /// an error.
        replace_too_deep(text: impl Into<PsString>) => too_deep = Some(text.into());
        /// Sets the cipher for secure strings. Default: none; only strings that are still encrypted can be written.
        cipher(cipher: Arc<dyn Cipher>) => cipher = Some(cipher);
    }
}

impl_default!(WriteOptions);
