//! What codecs accept: [`Limits`] and [`Options`].

use crate::error::{Fault, Kind};

/// Bounds on what untrusted bytes can make a decoder do. [`max_depth`](Self::max_depth) applies to encoding as well.
///
/// Lengths and counts are checked before anything is allocated, and the least number of bytes that a count stands for
/// must be present. So memory follows the size of the input, and these limits bound it further. What exceeds one of
/// them fails with [`Error::is_limit`](crate::Error::is_limit).
///
/// ```
/// let limits = tightwire_parco::Limits::default().max_bytes(4096).max_elements(1000);
/// let error = tightwire_parco::Options::default().limits(limits).decode_exact::<Vec<u8>>(&[0xff, 0xff]).unwrap_err();
/// assert!(error.is_limit());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) bytes: usize,
    pub(crate) elements: usize,
    pub(crate) zero_sized: usize,
    pub(crate) allocation: usize,
    pub(crate) depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: Self::MAX_BYTES,
            elements: Self::MAX_ELEMENTS,
            zero_sized: Self::MAX_ZERO_SIZED,
            allocation: Self::MAX_ALLOCATION,
            depth: Self::MAX_DEPTH,
        }
    }
}

impl Limits {
    /// Default of [`max_bytes`](Self::max_bytes): 100 MiB, the constant of the Go library.
    pub const MAX_BYTES: usize = 100 << 20;
    /// Default of [`max_elements`](Self::max_elements): ten million, the constant of the Go library.
    pub const MAX_ELEMENTS: usize = 10_000_000;
    /// Default of [`max_zero_sized`](Self::max_zero_sized): 4096.
    pub const MAX_ZERO_SIZED: usize = 4096;
    /// Default of [`max_allocation`](Self::max_allocation): 1 GiB.
    pub const MAX_ALLOCATION: usize = 1 << 30;
    /// Default of [`max_depth`](Self::max_depth): 64.
    pub const MAX_DEPTH: u32 = 64;

    /// The longest string or blob, in bytes; exactly this many are accepted. Default: [`MAX_BYTES`](Self::MAX_BYTES).
    #[must_use]
    pub const fn max_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The most elements of one slice, or entries of one map; exactly this many are accepted. Default:
    /// [`MAX_ELEMENTS`](Self::MAX_ELEMENTS).
    #[must_use]
    pub const fn max_elements(mut self, elements: usize) -> Self {
        self.elements = elements;
        self
    }

    /// The most elements of one collection whose elements take no bytes, such as empty structs.
    ///
    /// No input stands behind such elements, so a count alone would buy work. Default:
    /// [`MAX_ZERO_SIZED`](Self::MAX_ZERO_SIZED).
    #[must_use]
    pub const fn max_zero_sized(mut self, elements: usize) -> Self {
        self.zero_sized = elements;
        self
    }

    /// The most bytes that one message may make the decoder allocate.
    ///
    /// They are counted as the lengths of owned strings and blobs plus elements times the size of their type. For a
    /// message that is read from a stream it is also the most bytes of the message. Default:
    /// [`MAX_ALLOCATION`](Self::MAX_ALLOCATION).
    #[must_use]
    pub const fn max_allocation(mut self, bytes: usize) -> Self {
        self.allocation = bytes;
        self
    }

    /// Maximum depth of structs nested in each other; the message itself is the first level. Default:
    /// [`MAX_DEPTH`](Self::MAX_DEPTH).
    ///
    /// Encoding fails at the same depth as decoding, so that a message that was written can be read.
    #[must_use]
    pub const fn max_depth(mut self, levels: u32) -> Self {
        self.depth = levels;
        self
    }
}

/// Levels of structs that may still be nested below a place in a message; see [`Limits::max_depth`].
///
/// [`Put::size`](crate::Put::size) passes it down. The default is that of a whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Levels(pub(crate) u32);

impl Levels {
    /// The levels that are left inside a struct.
    ///
    /// # Errors
    ///
    /// Fails if the struct is deeper than [`Limits::max_depth`] allows.
    #[inline]
    pub fn deeper(self) -> Result<Self, Fault> {
        self.0.checked_sub(1).map(Self).ok_or(Fault(Kind::Depth))
    }
}

impl Default for Levels {
    fn default() -> Self {
        Self(Limits::MAX_DEPTH)
    }
}

/// How strictly flags are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// What no encoder writes is an error: the default.
    #[default]
    Strict,
    /// The leniency of the Go library: any flag byte but 1 means false or absent, and a located time without a zone
    /// is its zero time.
    Compat,
}

/// What becomes of a map on the wire that has a key more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DuplicateKeys {
    /// The last entry wins, as in Go: the default.
    #[default]
    LastWins,
    /// It is an error: [`Error::is_duplicate_key`](crate::Error::is_duplicate_key). Targets that keep all entries, such
    /// as `Vec<(K, V)>`, do not look for duplicates.
    Reject,
}

/// How to decode: limits, strictness, duplicate keys. For encoding, [`Limits::max_depth`] is the only one that matters.
///
/// The functions of the crate's root use the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) limits: Limits,
    pub(crate) mode: Mode,
    pub(crate) duplicates: DuplicateKeys,
}

impl Options {
    /// The defaults: strict, the last of duplicate keys wins, the limits of [`Limits::default`].
    pub const fn new() -> Self {
        Self {
            limits: Limits {
                bytes: Limits::MAX_BYTES,
                elements: Limits::MAX_ELEMENTS,
                zero_sized: Limits::MAX_ZERO_SIZED,
                allocation: Limits::MAX_ALLOCATION,
                depth: Limits::MAX_DEPTH,
            },
            mode: Mode::Strict,
            duplicates: DuplicateKeys::LastWins,
        }
    }

    pub(crate) const fn levels(&self) -> Levels {
        Levels(self.limits.depth)
    }

    /// Sets the limits.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how strictly flags are read.
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets what becomes of duplicate keys.
    #[must_use]
    pub const fn duplicate_keys(mut self, duplicates: DuplicateKeys) -> Self {
        self.duplicates = duplicates;
        self
    }
}
