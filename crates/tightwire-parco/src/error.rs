//! What can go wrong: the public [`Error`], and the one-byte [`Fault`] that codecs pass upwards until it is made.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A failure on its way up: one byte, so that results stay in registers on the hot path.
///
/// Implementations of [`Put`](crate::Put) and [`Get`](crate::Get) return it. What does not fit into a byte (offset,
/// path, amounts) is kept by the [`Writer`](crate::Writer) or [`Reader`](crate::Reader), and joins it in an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub(crate) Kind);

impl Fault {
    /// A value that its wire form cannot carry, such as a length above the header's range.
    pub const OVERFLOW: Self = Self(Kind::Overflow);
    /// A number of elements that differs from the fixed one.
    pub const INVALID_LENGTH: Self = Self(Kind::InvalidLength);
    /// Bytes that are no value of the target, where no other fault is closer.
    pub const INVALID_VALUE: Self = Self(Kind::InvalidValue);
    /// A limit of [`Limits`](crate::Limits) that the message exceeds.
    pub const LIMIT: Self = Self(Kind::Limit);
    /// A type, value or id that the schema does not know.
    pub const UNKNOWN_TYPE: Self = Self(Kind::UnknownType);
    /// Bytes that are not UTF-8 where text was asked for.
    pub const INVALID_UTF8: Self = Self(Kind::InvalidUtf8);
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text())
    }
}

impl core::error::Error for Fault {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    UnexpectedEnd,
    Overflow,
    InvalidBool,
    InvalidUtf8,
    InvalidLength,
    InvalidValue,
    UnknownType,
    AlreadyRegistered,
    DuplicateKey,
    TrailingBytes,
    Limit,
    Depth,
    UnknownZone,
    BufferFull,
    Io,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "the input ends inside a value",
            Self::Overflow => "a value or length is out of range",
            Self::InvalidBool => "a flag is neither 0 nor 1",
            Self::InvalidUtf8 => "text is not UTF-8",
            Self::InvalidLength => "the number of elements is not the fixed one",
            Self::InvalidValue => "the bytes are no value of the target type",
            Self::UnknownType => "the id or type is not known",
            Self::AlreadyRegistered => "the id is registered already",
            Self::DuplicateKey => "a map has a key twice",
            Self::TrailingBytes => "bytes follow the value",
            Self::Limit => "a limit is exceeded",
            Self::Depth => "structs are nested deeper than max_depth allows",
            Self::UnknownZone => "the time zone is not known",
            Self::BufferFull => "the buffer is too small",
            Self::Io => "input or output failed",
        }
    }
}

/// One step of the way from a message to the value that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segment {
    /// A field of a struct, by its name in the schema.
    Field(&'static str),
    /// A field whose name is known at run time only.
    Name(String),
    /// An element of a slice or array, from zero.
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
            Self::Name(name) => write!(f, ".{name}"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(index) => write!(f, "[key {index}]"),
            Self::Value(index) => write!(f, "[value {index}]"),
        }
    }
}

/// Where a failure happened, gathered from the inside out.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Innermost first.
    segments: Vec<Segment>,
    /// For `UnexpectedEnd`: how many bytes are missing at least.
    pub(crate) missing: usize,
    /// How many of the bytes that were read belong to the value that failed.
    pub(crate) behind: usize,
}

impl Trace {
    #[cold]
    pub(crate) fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    pub(crate) fn into_error(mut self, fault: Fault, offset: usize) -> Error {
        self.segments.reverse();
        Error(Box::new(Inner {
            kind: fault.0,
            offset: Some(offset.saturating_sub(self.behind)),
            missing: self.missing,
            path: self.segments,
            #[cfg(feature = "std")]
            source: None,
        }))
    }
}

/// Why a message could not be encoded or decoded: kind, byte offset and field path.
///
/// The offset counts from the first byte of the message. On decoding it is where the value starts that could not be
/// read, or what its header counts if the header could be; on encoding the number of bytes that the values before it
/// take. No input appears in the text.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    offset: Option<usize>,
    missing: usize,
    path: Vec<Segment>,
    #[cfg(feature = "std")]
    source: Option<std::io::Error>,
}

impl Error {
    pub(crate) fn bare(kind: Kind) -> Self {
        Self(Box::new(Inner {
            kind,
            offset: None,
            missing: 0,
            path: Vec::new(),
            #[cfg(feature = "std")]
            source: None,
        }))
    }

    pub(crate) fn at(kind: Kind, offset: usize) -> Self {
        Trace::default().into_error(Fault(kind), offset)
    }

    #[cfg(feature = "std")]
    pub(crate) fn io(source: std::io::Error) -> Self {
        let mut error = Self::bare(Kind::Io);
        error.0.source = Some(source);
        error
    }

    /// The position in bytes from the start of the message, if there is one.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// The way to the value that failed, outermost step first; empty for the message itself.
    pub fn path(&self) -> &[Segment] {
        &self.0.path
    }

    /// How many more bytes are needed at least, where the input ended too early.
    ///
    /// More may be missing: what follows is not known before these bytes are there.
    pub fn missing(&self) -> Option<usize> {
        self.is_unexpected_end().then_some(self.0.missing)
    }

    /// Whether the input ends inside a value.
    pub fn is_unexpected_end(&self) -> bool {
        self.0.kind == Kind::UnexpectedEnd
    }

    /// Whether a value or length does not fit its wire form, or a length is negative.
    pub fn is_overflow(&self) -> bool {
        self.0.kind == Kind::Overflow
    }

    /// Whether a flag byte is neither 0 nor 1.
    pub fn is_invalid_bool(&self) -> bool {
        self.0.kind == Kind::InvalidBool
    }

    /// Whether bytes are not UTF-8 where text was asked for.
    pub fn is_invalid_utf8(&self) -> bool {
        self.0.kind == Kind::InvalidUtf8
    }

    /// Whether an array has another number of elements than its schema says.
    pub fn is_invalid_length(&self) -> bool {
        self.0.kind == Kind::InvalidLength
    }

    /// Whether bytes are no value of the target type, where no other predicate is closer.
    pub fn is_invalid_value(&self) -> bool {
        self.0.kind == Kind::InvalidValue
    }

    /// Whether an id, or the type behind it, is not registered.
    pub fn is_unknown_type(&self) -> bool {
        self.0.kind == Kind::UnknownType
    }

    /// Whether an id was registered before.
    pub fn is_already_registered(&self) -> bool {
        self.0.kind == Kind::AlreadyRegistered
    }

    /// Whether a map has a key twice and the options refuse that.
    pub fn is_duplicate_key(&self) -> bool {
        self.0.kind == Kind::DuplicateKey
    }

    /// Whether bytes follow the value where none may.
    pub fn is_trailing_bytes(&self) -> bool {
        self.0.kind == Kind::TrailingBytes
    }

    /// Whether one of [`Limits`](crate::Limits) is exceeded.
    pub fn is_limit(&self) -> bool {
        matches!(self.0.kind, Kind::Limit | Kind::Depth)
    }

    /// Whether a time zone has no meaning here.
    pub fn is_unknown_zone(&self) -> bool {
        self.0.kind == Kind::UnknownZone
    }

    /// Whether the buffer given for the output is too small.
    pub fn is_buffer_full(&self) -> bool {
        self.0.kind == Kind::BufferFull
    }

    /// Whether reading from or writing to a stream failed; the cause is the source.
    pub fn is_io(&self) -> bool {
        self.0.kind == Kind::Io
    }

    /// The text of the Go library's error for the same situation, its spelling included, where it has one.
    ///
    /// For those who compare logs of both sides.
    pub fn go_message(&self) -> Option<&'static str> {
        Some(match self.0.kind {
            Kind::UnexpectedEnd => "unsufficient bytes read",
            Kind::Overflow | Kind::Limit | Kind::Depth => "bytes overflow",
            Kind::BufferFull => "unsufficient bytes written",
            Kind::InvalidLength => "invalid length",
            Kind::AlreadyRegistered => "builder is registered already",
            Kind::UnknownType => "unknown type",
            _ => return None,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.kind.text())?;
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

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug.field("kind", &self.0.kind).field("offset", &self.0.offset).field("path", &self.0.path);
        #[cfg(feature = "std")]
        debug.field("source", &self.0.source);
        debug.finish()
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

/// The kind is that of the cause where a stream failed, [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) where the
/// input ends inside a value, and otherwise [`InvalidData`](std::io::ErrorKind::InvalidData). The error is what
/// `get_ref` and `downcast` give back.
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
