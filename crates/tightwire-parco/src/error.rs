//! The public [`Error`], and [`Fault`], the error code that codecs return internally.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use alloc::string::String;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;

/// An error code of one word. It stays in a register, which keeps the success path of codecs fast.
///
/// Implementations of [`Put`](crate::Put) and [`Get`](crate::Get) return it. The [`Writer`](crate::Writer) or
/// [`Reader`](crate::Reader) records the details (offset, path, missing bytes), and both are combined into an
/// [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub(crate) ErrorKind);

impl Fault {
    /// The wire type cannot carry the value, for example a length above the range of its header.
    pub const OVERFLOW: Self = Self(ErrorKind::Overflow);
    /// The number of elements differs from the length of a fixed-size array.
    pub const INVALID_LENGTH: Self = Self(ErrorKind::InvalidLength);
    /// The bytes are not a valid value of the target type, and no other code applies.
    pub const INVALID_VALUE: Self = Self(ErrorKind::InvalidValue);
    /// The message exceeds one of the [`Limits`](crate::Limits).
    pub const LIMIT: Self = Self(ErrorKind::Limit);
    /// The type, value or id is not part of the schema.
    pub const UNKNOWN_TYPE: Self = Self(ErrorKind::UnknownType);
    /// The bytes of a string are not UTF-8.
    pub const INVALID_UTF8: Self = Self(ErrorKind::InvalidUtf8);
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text())
    }
}

impl core::error::Error for Fault {}

macro_rules! kinds {
    ($($(#[$attribute:meta])* $kind:ident = $text:literal;)*) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        // In a `Result`, a shorter code would overlap a part of a pointer, which would then be moved in parts.
        #[repr(usize)]
        pub(crate) enum ErrorKind {
            $($(#[$attribute])* $kind,)*
        }

        impl ErrorKind {
            fn text(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }
    };
}

kinds! {
    #[default]
    UnexpectedEnd = "the input ends inside a value";
    Overflow = "a value or length is out of range";
    LengthOverflow = "a length does not fit its header";
    Overlong = "a varint is longer than necessary";
    InvalidBool = "a flag is neither 0 nor 1";
    InvalidUtf8 = "text is not UTF-8";
    InvalidLength = "wrong number of elements";
    InvalidValue = "the bytes are not a valid value of the target type";
    StructEnd = "the length of a struct ends inside or before a required field";
    SchemaMismatch = "the fingerprint is that of another schema";
    UnknownType = "unknown id or type";
    AlreadyRegistered = "the id is already registered";
    DuplicateKey = "a map or set contains a key twice";
    WrongOrder = "a map or set is not in canonical order";
    TrailingBytes = "bytes follow the value";
    Limit = "a limit is exceeded";
    Depth = "structs are nested too deeply";
    UnknownZone = "unknown time zone";
    BufferFull = "the buffer is too small";
    Io = "input or output failed";
    NotSelfDescribing = "the type can only be decoded from a self-describing format (it calls `deserialize_any` or similar, as \
        flattened, untagged and tagged types do)";
    SkippedField = "a field is skipped, but a message contains every field";
    Rejected = "the `Serialize` implementation failed";
    Custom = "the message is rejected";
}

/// A limit in the text of an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    Bytes,
    Elements,
    ZeroSized,
    Allocation,
    Depth,
    /// The attribute `max`, or [`Max`](crate::wire::Max).
    Attribute,
    /// The range of a header.
    Header,
}

/// A limit, and the value that exceeds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exceeded {
    limit: Limit,
    value: u64,
    most: u64,
}

impl Exceeded {
    pub(crate) const fn new(limit: Limit, value: usize, most: usize) -> Self {
        Self { limit, value: value as u64, most: most as u64 }
    }

    fn kind(self) -> ErrorKind {
        match self.limit {
            Limit::Depth => ErrorKind::Depth,
            Limit::Header => ErrorKind::LengthOverflow,
            _ => ErrorKind::Limit,
        }
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, setter) = match self.limit {
            Limit::Bytes => ("bytes of a string or blob", "`Limits::max_bytes`"),
            Limit::Elements => ("elements", "`Limits::max_elements`"),
            Limit::ZeroSized => ("elements without bytes", "`Limits::max_zero_sized`"),
            Limit::Allocation => ("bytes of memory", "`Limits::max_allocation`"),
            Limit::Depth => ("nested structs", "`Limits::max_depth`"),
            Limit::Attribute => ("bytes or elements", "`#[parco(max = ..)]`"),
            Limit::Header => ("bytes or elements", "`#[parco(header = varint)]` or a wider integer"),
        };
        write!(f, "{} {unit}, but at most {} (set {setter})", self.value, self.most)
    }
}

/// One step of the path from a message to the value that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segment {
    /// A struct field, by its name in the schema.
    Field(&'static str),
    /// A struct field whose name is only known at run time.
    #[cfg(feature = "alloc")]
    Name(String),
    /// An element of a slice or array; the index starts at zero.
    Index(usize),
    /// The key of the map entry with this index.
    Key(usize),
    /// The value of the map entry with this index.
    Value(usize),
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            #[cfg(feature = "alloc")]
            Self::Name(name) => write!(f, ".{name}"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(index) => write!(f, "[key {index}]"),
            Self::Value(index) => write!(f, "[value {index}]"),
        }
    }
}

/// The path of a failure. Without an allocator it is empty.
#[cfg(feature = "alloc")]
type Path = Vec<Segment>;
#[cfg(not(feature = "alloc"))]
type Path = [Segment; 0];

/// The contents of an [`Error`], on the heap if there is one, so that a `Result` stays small.
#[cfg(feature = "alloc")]
type Details = Box<Inner>;
#[cfg(not(feature = "alloc"))]
type Details = Inner;

/// Path and byte counts of a failure, recorded while the fault is returned to the caller.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// For `UnexpectedEnd`: the minimum number of missing bytes.
    pub(crate) missing: usize,
    /// Number of bytes between the start of the failed value and the current position.
    pub(crate) rewind: usize,
    /// Everything else about the failure, with the innermost segment of the path first. Created only on a failure, so
    /// that valid messages do not pay for it.
    error: Option<Details>,
}

impl Trace {
    /// Records the limit that was exceeded and returns the fault.
    #[cold]
    pub(crate) fn exceed(&mut self, exceeded: Exceeded) -> Fault {
        self.error.get_or_insert_default().exceeded = Some(exceeded);
        Fault(exceeded.kind())
    }

    #[cold]
    pub(crate) fn push(&mut self, segment: Segment) {
        #[cfg(feature = "alloc")]
        self.error.get_or_insert_default().path.push(segment);
        #[cfg(not(feature = "alloc"))]
        let _ = segment;
    }

    /// Records the text of a `Serialize` or `Deserialize` implementation.
    #[cfg(feature = "serde")]
    #[cold]
    pub(crate) fn explain(&mut self, message: Option<Box<str>>) {
        self.error.get_or_insert_default().message = message;
    }

    #[cold]
    pub(crate) fn into_error(self, fault: Fault, offset: usize) -> Error {
        let mut error = self.error.unwrap_or_default();
        error.kind = fault.0;
        error.offset = Some(offset.saturating_sub(self.rewind));
        error.missing = self.missing;
        error.path.reverse();
        Error(error)
    }
}

/// An encoding or decoding error: kind, byte offset and field path.
///
/// The offset counts from the first byte of the message. When decoding, it is the start of the value that could not be
/// read; if a length header was read but its contents were not, it is the start of the contents. When encoding, it is
/// the number of bytes written before the value. The error text contains no input bytes, unless a `Deserialize`
/// implementation puts them into its message.
#[derive(Debug)]
pub struct Error(Details);

#[derive(Debug, Default)]
struct Inner {
    kind: ErrorKind,
    offset: Option<usize>,
    missing: usize,
    path: Path,
    /// For a limit: the value that exceeds it.
    exceeded: Option<Exceeded>,
    /// Text of a `Serialize` or `Deserialize` implementation, or of the program.
    #[cfg(feature = "alloc")]
    message: Option<Box<str>>,
    #[cfg(feature = "std")]
    source: Option<std::io::Error>,
}

impl Error {
    pub(crate) fn bare(kind: ErrorKind) -> Self {
        let mut error = Self::at(kind, 0);
        error.0.offset = None;
        error
    }

    pub(crate) fn at(kind: ErrorKind, offset: usize) -> Self {
        Trace::default().into_error(Fault(kind), offset)
    }

    #[cfg(feature = "std")]
    pub(crate) fn io(source: std::io::Error) -> Self {
        let mut error = Self::bare(ErrorKind::Io);
        error.0.source = Some(source);
        error
    }

    /// Creates an error of the calling program, for example for a message that is valid but not expected.
    ///
    /// ```
    /// let error = tightwire_parco::Error::custom("the version is not supported");
    /// assert_eq!(error.to_string(), "the message is rejected: the version is not supported");
    /// assert!(error.is_custom());
    /// ```
    #[cfg(feature = "alloc")]
    pub fn custom(message: impl fmt::Display) -> Self {
        let mut error = Self::bare(ErrorKind::Custom);
        error.0.message = Some(alloc::format!("{message}").into());
        error
    }

    /// Returns the byte offset from the start of the message, if known.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// Returns the path to the value that failed, outermost segment first. It is empty for the message itself,
    /// and without the feature `alloc`.
    pub fn path(&self) -> &[Segment] {
        &self.0.path
    }

    /// Returns the minimum number of missing bytes, if the input ended too early.
    ///
    /// The message may need more: the size of the fields after these bytes is not known yet.
    pub fn missing(&self) -> Option<usize> {
        self.is_unexpected_end().then_some(self.0.missing)
    }

    /// Moves an error in a part of a list behind the elements and bytes before the part.
    #[cfg(feature = "std")]
    pub(crate) fn shift(mut self, elements: usize, bytes: usize) -> Self {
        if let Some(Segment::Index(index)) = self.0.path.first_mut() {
            *index += elements;
        }
        self.0.offset = self.0.offset.map(|offset| offset + bytes);
        self
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn fault(&self) -> Fault {
        Fault(self.0.kind)
    }

    /// Returns the Go library's error text for the same failure, including its spelling mistakes, if it has one.
    ///
    /// Use it to compare logs of Rust and Go programs.
    pub fn go_message(&self) -> Option<&'static str> {
        Some(match self.0.kind {
            ErrorKind::UnexpectedEnd => "unsufficient bytes read",
            ErrorKind::Overflow | ErrorKind::LengthOverflow | ErrorKind::Limit | ErrorKind::Depth => {
                "bytes overflow"
            }
            ErrorKind::BufferFull => "unsufficient bytes written",
            ErrorKind::InvalidLength => "invalid length",
            ErrorKind::AlreadyRegistered => "builder is registered already",
            ErrorKind::UnknownType => "unknown type",
            _ => return None,
        })
    }
}

/// Defines methods that return whether an error is of a kind.
macro_rules! predicates {
    ($error:ident, $kinds:ident: $($(#[$doc:meta])* $name:ident: $($kind:ident)|+;)*) => {
        impl $error {
            $(
                $(#[$doc])*
                pub fn $name(&self) -> bool {
                    $(self.0.kind == $kinds::$kind)||+
                }
            )*
        }
    };
}
#[cfg(feature = "alloc")]
pub(crate) use predicates;

predicates! { Error, ErrorKind:
    /// Returns whether the input ends inside a value.
    is_unexpected_end: UnexpectedEnd;
    /// Returns whether a value or length does not fit its wire type, or a length is negative.
    is_overflow: Overflow | LengthOverflow;
    /// Returns whether a flag byte is neither 0 nor 1.
    is_invalid_bool: InvalidBool;
    /// Returns whether the bytes of a string are not UTF-8.
    is_invalid_utf8: InvalidUtf8;
    /// Returns whether a fixed-size array, or a collection of a serde type, has the wrong number of elements.
    is_invalid_length: InvalidLength;
    /// Returns whether the bytes are not a valid value of the target type and no other predicate applies, a varint is
    /// longer than necessary, the length of an evolve struct ends inside or before a required field, or a `Serialize`
    /// implementation failed.
    is_invalid_value: InvalidValue | Overlong | StructEnd | Rejected;
    /// Returns whether a stream or frame starts with the fingerprint of another schema. Malformed messages
    /// never cause this error, but a damaged fingerprint does.
    is_schema_mismatch: SchemaMismatch;
    /// Returns whether a serde type needs a self-describing format, or skips a field when it is encoded.
    is_unsupported: NotSelfDescribing | SkippedField;
    /// Returns whether an id, or the type behind it, is not registered.
    is_unknown_type: UnknownType;
    /// Returns whether the id is already registered.
    is_already_registered: AlreadyRegistered;
    /// Returns whether a map contains a key twice, or a set an element, and the options reject duplicates.
    is_duplicate_key: DuplicateKey;
    /// Returns whether a map or set is not in the order that [`Options::canonical`](crate::Options::canonical) requires, or a
    /// view was decoded without it.
    is_not_canonical: WrongOrder;
    /// Returns whether bytes remain after a value that must use the whole input.
    is_trailing_bytes: TrailingBytes;
    /// Returns whether one of the [`Limits`](crate::Limits) is exceeded.
    is_limit: Limit | Depth;
    /// Returns whether a time zone is unknown or has no name.
    is_unknown_zone: UnknownZone;
    /// Returns whether the output buffer is too small.
    is_buffer_full: BufferFull;
    /// Returns whether reading from or writing to a stream failed; [`source`](core::error::Error::source) returns the cause.
    is_io: Io;
    /// Returns whether the program created the error with [`Error::custom`].
    is_custom: Custom;
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.kind.text())?;
        if let Some(exceeded) = &self.0.exceeded {
            write!(f, ": {exceeded}")?;
        }
        #[cfg(feature = "alloc")]
        if let Some(message) = &self.0.message {
            write!(f, ": {message}")?;
        }
        if !self.0.path.is_empty() {
            f.write_str(" at ")?;
            self.0.path.iter().try_for_each(|segment| segment.fmt(f))?;
        }
        if let Some(offset) = self.0.offset {
            write!(f, " (byte {offset})")?;
        }
        Ok(())
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        #[cfg(feature = "std")]
        if let Some(source) = &self.0.source {
            return Some(source);
        }
        None
    }
}

/// An error of a stream, or the [`Error`] that it contains.
#[cfg(feature = "std")]
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::io)
    }
}

/// Uses the kind of the underlying I/O error if a stream failed, [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof)
/// if the input ends inside a value, and [`InvalidData`](std::io::ErrorKind::InvalidData) otherwise. `get_ref` and
/// `downcast` return the [`Error`].
#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error.0.source {
            Some(source) => source.kind(),
            None if error.is_unexpected_end() => std::io::ErrorKind::UnexpectedEof,
            None => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
