//! Decoder settings: [`Limits`] and [`Options`].

use crate::error::{ErrorKind, Exceeded, Fault, Limit};
use crate::wire::Wire;
#[cfg(feature = "alloc")]
use crate::write::Writer;

/// Defines methods that set a field.
macro_rules! setters {
    ($($(#[$doc:meta])* $setter:ident($field:ident: $type:ty);)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $setter(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    )*};
}

/// Limits on the resources that a message can use. Encoding enforces them as decoding does: with the same limits, a value that
/// was encoded can be decoded to its type.
///
/// Lengths and counts are checked before anything is allocated: the input must contain at least the minimum number of
/// bytes that a count requires, so memory use is proportional to the size of the input. These limits bound it further.
/// Exceeding one fails with [`Error::is_limit`](crate::Error::is_limit); the text contains the value, the limit and its
/// setter.
///
/// The defaults fit files of real programs, such as a table of 500 MB: a program that opens a file, or holds a message in
/// memory, has already decided about its size. A server that reads streams of untrusted peers should set
/// [`max_allocation`](Self::max_allocation) to the largest message that it expects.
///
/// ```
/// let limits = tightwire_parco::Limits::default().max_bytes(10).max_elements(1000);
/// let options = tightwire_parco::Options::default().limits(limits);
/// let error = options.decode_exact::<String>(b"\x0bhello world").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a limit is exceeded: 11 bytes of a string or blob, but at most 10 (set `Limits::max_bytes`) (byte 1)",
/// );
/// assert!(options.to_vec("hello world").unwrap_err().is_limit());
/// # Ok::<(), tightwire_parco::Error>(())
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
        Self::new()
    }
}

impl Limits {
    /// Creates the default limits.
    pub const fn new() -> Self {
        Self {
            bytes: Self::MAX_BYTES,
            elements: Self::MAX_ELEMENTS,
            zero_sized: Self::MAX_ZERO_SIZED,
            allocation: Self::MAX_ALLOCATION,
            depth: Self::MAX_DEPTH,
        }
    }

    /// Default of [`max_bytes`](Self::max_bytes): that of [`max_allocation`](Self::max_allocation).
    pub const MAX_BYTES: usize = Self::MAX_ALLOCATION;
    /// Default of [`max_elements`](Self::max_elements): that of [`max_allocation`](Self::max_allocation).
    pub const MAX_ELEMENTS: usize = Self::MAX_ALLOCATION;
    /// Default of [`max_zero_sized`](Self::max_zero_sized): 4096.
    pub const MAX_ZERO_SIZED: usize = 4096;
    /// Default of [`max_allocation`](Self::max_allocation): 4 GiB, or `isize::MAX` if that is less.
    pub const MAX_ALLOCATION: usize =
        if usize::BITS > 32 { (4_u64 << 30) as usize } else { isize::MAX as usize };
    /// Default of [`max_depth`](Self::max_depth): 64.
    pub const MAX_DEPTH: u32 = 64;

    setters! {
        /// Sets the maximum length of a string, a blob, or a slice of elements of one byte each. Default: [`MAX_BYTES`](Self::MAX_BYTES).
        max_bytes(bytes: usize);
        /// Sets the maximum number of elements of one slice, or entries of one map. Default:
        /// [`MAX_ELEMENTS`](Self::MAX_ELEMENTS).
        max_elements(elements: usize);
        /// Sets the maximum number of elements of one collection whose elements take no bytes, such as empty structs.
        ///
        /// No input bytes back such elements, so a small message could otherwise cause an arbitrary amount of work.
        /// Default: [`MAX_ZERO_SIZED`](Self::MAX_ZERO_SIZED).
        max_zero_sized(zero_sized: usize);
        /// Sets the maximum number of bytes that the decoder may allocate for one message.
        ///
        /// It counts the lengths of owned strings and blobs, and elements times the size of their Rust type. The encoder counts
        /// the same of the type that it encodes, and strings whether owned or not. For a message that is encoded or read from a
        /// stream it is also the maximum size of the message. Default: [`MAX_ALLOCATION`](Self::MAX_ALLOCATION).
        max_allocation(allocation: usize);
        /// Sets the maximum depth of nested structs; the message itself is the first level. Default:
        /// [`MAX_DEPTH`](Self::MAX_DEPTH).
        max_depth(depth: u32);
    }

    /// Returns the limit that this number of elements exceeds.
    #[inline(always)]
    pub(crate) fn exceeded(&self, count: usize, size: ElementSize) -> Option<Exceeded> {
        let most = if size.fixed == Some(1) { self.bytes } else { self.elements };
        if count <= most && (size.min > 0 || count <= self.zero_sized) {
            return None;
        }
        Some(match size {
            ElementSize { fixed: Some(1), .. } => Exceeded::new(Limit::Bytes, count, self.bytes),
            _ if count > self.elements => Exceeded::new(Limit::Elements, count, self.elements),
            _ => Exceeded::new(Limit::ZeroSized, count, self.zero_sized),
        })
    }
}

/// Encoded size of an element: minimum, and the size if all have the same.
#[derive(Clone, Copy, Debug)]
pub struct ElementSize {
    pub(crate) min: usize,
    pub(crate) fixed: Option<usize>,
}

impl ElementSize {
    /// Returns the size of the values of a wire type.
    #[inline]
    pub fn of(wire: &impl Wire) -> Self {
        Self { min: wire.min_size(), fixed: wire.fixed_size() }
    }

    /// Returns the size of entries with these keys and values.
    #[inline]
    pub fn of_entry(key: &impl Wire, value: &impl Wire) -> Self {
        Self::of(key).and(Self::of(value))
    }

    /// Returns the size of this value and another one.
    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), fixed: crate::wire::both(self.fixed, other.fixed) }
    }
}

/// Remaining levels of nested structs; see [`Limits::max_depth`].
///
/// [`Put::size`](crate::Put::size) passes it down. The default is that of a whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Levels(pub(crate) u32);

impl Levels {
    /// Returns the levels that remain inside a nested struct.
    ///
    /// # Errors
    ///
    /// Fails if the struct is deeper than [`Limits::max_depth`] allows.
    #[inline]
    pub fn deeper(self) -> Result<Self, Fault> {
        self.0.checked_sub(1).map(Self).ok_or(Fault(ErrorKind::Depth))
    }

    /// Returns the options of a nested message whose other limits are checked elsewhere.
    pub(crate) const fn alone(self) -> Options {
        let most = usize::MAX;
        Options::new().limits(Limits {
            bytes: most,
            elements: most,
            zero_sized: most,
            allocation: most,
            depth: self.0,
        })
    }

    /// Returns the number of bytes that `put` writes for a nested message.
    #[cfg(feature = "alloc")]
    pub(crate) fn size_of(
        self,
        put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        match crate::write::to_vec(&self.alone(), put) {
            Ok(bytes) => Ok(bytes.len()),
            Err(error) => Err(error.fault()),
        }
    }
}

impl Default for Levels {
    fn default() -> Self {
        Self(Limits::MAX_DEPTH)
    }
}

/// How strictly flag bytes and varints are decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Rejects everything that no encoder writes. The default.
    #[default]
    Strict,
    /// As lenient as the Go library: every flag byte except 1 means false or absent, and a time with an empty zone name
    /// is Go's zero time. Varints may be longer than necessary.
    Compat,
}

/// How a map that contains a key more than once is decoded, and a set that contains an element more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DuplicateKeys {
    /// The last entry wins, as in Go. The default.
    #[default]
    LastWins,
    /// Decoding fails with [`Error::is_duplicate_key`](crate::Error::is_duplicate_key). Targets that store all entries,
    /// such as `Vec<(K, V)>`, are not checked for duplicates, except with [`Options::canonical`].
    Reject,
}

/// Options: limits, canonical order, and for decoding strictness and duplicate keys.
///
/// The functions of the crate root use the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) limits: Limits,
    pub(crate) mode: Mode,
    pub(crate) duplicates: DuplicateKeys,
    pub(crate) canonical: bool,
}

impl Options {
    /// The default in static memory, so that calls without options do not write them to the stack.
    pub(crate) const DEFAULT: &Self = &Self::new();

    /// Creates the default options: strict, last duplicate key wins, [`Limits::default`].
    pub const fn new() -> Self {
        Self {
            limits: Limits::new(),
            mode: Mode::Strict,
            duplicates: DuplicateKeys::LastWins,
            canonical: false,
        }
    }

    pub(crate) const fn levels(&self) -> Levels {
        Levels(self.limits.depth)
    }

    setters! {
        /// Sets the limits.
        limits(limits: Limits);
        /// Sets how strictly flag bytes and varints are decoded.
        mode(mode: Mode);
        /// Sets how duplicate map keys are handled.
        duplicate_keys(duplicates: DuplicateKeys);
    }

    /// Selects the canonical mode: equal maps and sets have equal bytes, for signatures, hashes and comparisons of messages.
    ///
    /// Maps are encoded in the order of the bytes of their encoded keys, and sets in that of their encoded elements, compared
    /// as unsigned numbers from the first byte, a prefix first. The order does not depend on the Rust type, so that a
    /// `HashMap`, a `BTreeMap` and an `IndexMap` have the same bytes. Decoders refuse another order
    /// ([`Error::is_not_canonical`](crate::Error::is_not_canonical)) and duplicates
    /// ([`Error::is_duplicate_key`](crate::Error::is_duplicate_key)), and so do encoders of a type that can contain duplicates,
    /// such as `Vec<(K, V)>`.
    ///
    /// Sets are `BTreeSet`, `HashSet` and those of other crates. They are not recognized by serde, which encodes them as
    /// sequences, nor by a [schema](crate::schema) without Rust types; a `BinaryHeap` is not a set. Views of the input
    /// ([`Seq`](crate::Seq), [`Entries`](crate::Entries)) are only encoded if they were decoded in this mode. Use it together
    /// with [`Mode::Strict`].
    ///
    /// Encoding copies the bytes of each map and set once per level of nesting.
    ///
    /// ```
    /// use std::collections::{BTreeSet, HashSet};
    ///
    /// let options = tightwire_parco::Options::new().canonical();
    /// let set: HashSet<u16> = [256, 3, 2].into();
    /// assert_eq!(options.to_vec(&set)?, [3, 0, 1, 2, 0, 3, 0]);
    /// assert_eq!(options.decode_exact::<HashSet<u16>>(&[3, 0, 1, 2, 0, 3, 0])?, set);
    /// assert!(options.decode_exact::<BTreeSet<u8>>(&[2, 1, 1]).unwrap_err().is_duplicate_key());
    /// assert!(options.decode_exact::<BTreeSet<u8>>(&[2, 2, 1]).unwrap_err().is_not_canonical());
    /// # Ok::<(), tightwire_parco::Error>(())
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn canonical(mut self) -> Self {
        self.canonical = true;
        self
    }
}
