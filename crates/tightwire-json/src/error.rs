//! Error type. The paths are those of serde_json.

use std::borrow::Cow;
use std::{fmt, io};

use serde::de;

use crate::marks::NUMBER_BYTES;
use crate::path::{Path, Segment, shorten};

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of encoding or decoding.
///
/// The `is_*` predicates tell its kind. `Display` writes the path of the value, the expected and the found type, and
/// the position: `users[3].address.zip: expected a string, found a number (line 12, column 9)`. The path is omitted for an
/// error at the root, and the position if there is no document. If a reader or writer failed, `Display` prints its error.
/// It prints no values of the document: only keys, and the messages of `Serialize` and `Deserialize` implementations. The
/// wording is not part of the API.
///
/// The path and the position are computed when an error leaves the decoder, in one pass over the document up to the
/// error. A successful call does no work for them.
///
/// The size of the type is one pointer.
///
/// # Examples
///
/// ```
/// use tightwire_json::ErrorDetails;
///
/// #[derive(Debug, serde::Deserialize)]
/// struct User {
///     name: String,
/// }
///
/// let document = "[\n  {\"name\": \"Ada\"},\n  {\"name\": 7}\n]";
/// let error = tightwire_json::from_str::<Vec<User>>(document).unwrap_err();
/// assert_eq!(error.to_string(), "[1].name: expected a string, found a number (line 3, column 12)");
/// assert_eq!(error.path().unwrap().to_string(), "[1].name");
/// assert_eq!((error.line(), error.column(), error.offset()), (3, 12, Some(32)));
/// ```
pub struct Error {
    pub(crate) inner: Box<Inner>,
}

pub(crate) struct Inner {
    pub(crate) kind: Kind,
    pub(crate) offset: Option<u64>,
    /// The error concerns the value that ends at the offset, or that begins behind it.
    pub(crate) is_near_value: bool,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) path: Path,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Kind of an [`Error`], with the variants of serde_json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Reading or writing failed.
    Io,
    /// The document is not valid JSON, or exceeds a limit.
    Syntax,
    /// The document is valid JSON but not of the requested type, or the value cannot be encoded.
    Data,
    /// The document is truncated or empty.
    Eof,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The document is not valid JSON.
    Syntax(Syntax),
    /// The document is truncated.
    Eof,
    /// The document is valid JSON, but not of the requested type.
    Data(Box<str>),
    /// The document is valid JSON, but not of the requested type. Formatted only by `Display`: serde makes such an error
    /// for each variant of an untagged enum that does not match, and drops it.
    Mismatch {
        /// Description by the type.
        expected: Box<str>,
        found: Found,
    },
    /// The document exceeds a limit.
    Limit(Limit, usize),
    /// The value cannot be encoded.
    Encode(Box<str>),
    /// Reading or writing failed.
    Io,
}

/// Value that is not of the requested type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Value of another type.
    Type(&'static str),
    /// Value of the expected type, which is nevertheless not accepted.
    Value(&'static str),
    /// Array or object with the wrong number of elements.
    Len(usize),
}

/// Violation of RFC 8259, whose sections the variants name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// No valid first byte of a value (section 3).
    Value,
    /// Neither `,` nor the closing bracket of an array (section 5).
    ArrayEnd,
    /// Neither `,` nor the closing brace of an object (section 4).
    ObjectEnd,
    /// No string where a key is expected (section 4).
    Key,
    /// No `:` after a key (section 4).
    Colon,
    /// Malformed number (section 6).
    Number,
    /// Control character in a string (section 7).
    Control,
    /// Invalid escape (section 7).
    Escape,
    /// Lone surrogate (section 8.2).
    Surrogate,
    /// Invalid UTF-8 (section 8.1).
    Utf8,
    /// Comma before a closing bracket (sections 4 and 5).
    Comma,
    /// Byte order mark (section 8.1).
    ByteOrderMark,
    /// Anything but white space after the value (section 2).
    Trailing,
    /// Duplicate key (section 4), reported only with `Duplicates::Error`.
    Duplicate,
    /// Bytes before the first record separator of a text sequence (RFC 7464, section 2.1).
    RecordSeparator,
}

/// Limit of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Depth,
    Document,
    String,
    Line,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind, offset: Option<u64>) -> Self {
        let (is_near_value, path) = (false, Path::default());
        let inner = Inner { kind, offset, is_near_value, line: 0, column: 0, path, source: None };
        Self { inner: Box::new(inner) }
    }

    #[cold]
    pub(crate) fn syntax(what: Syntax, offset: usize) -> Self {
        Self::new(Kind::Syntax(what), Some(offset as u64))
    }

    #[cold]
    pub(crate) fn eof(offset: usize) -> Self {
        Self::new(Kind::Eof, Some(offset as u64))
    }

    #[cold]
    pub(crate) fn over_limit(what: Limit, limit: usize, offset: u64) -> Self {
        Self::new(Kind::Limit(what, limit), Some(offset))
    }

    #[cold]
    fn mismatch(expected: &dyn de::Expected, found: Found) -> Self {
        Self::new(Kind::Mismatch { expected: expected.to_string().into(), found }, None)
    }

    /// Wraps the error of a reader, writer, stream or sink.
    #[cold]
    pub(crate) fn io(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut error = Self::new(Kind::Io, None);
        error.inner.source = Some(source.into());
        error
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.inner.kind
    }

    /// Adds an offset if the error has none.
    #[cold]
    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.inner.offset.get_or_insert(offset as u64);
        self
    }

    /// Adds the position of the value that ends at `offset`, or that begins behind `offset`, if the error has none.
    #[cold]
    pub(crate) fn near_value(mut self, offset: usize) -> Self {
        self.inner.is_near_value |= self.inner.offset.is_none();
        self.at(offset)
    }

    /// Removes the path if `T` is a type of serde_path_to_error, whose message begins with the path. serde does not tell a
    /// deserializer that another one wraps it.
    #[cold]
    pub(crate) fn without_tracked_path<T>(mut self) -> Self {
        if std::any::type_name::<T>().starts_with("serde_path_to_error::") {
            self.inner.path = Path::default();
        }
        self
    }

    /// Adds a segment in front of the path.
    #[cold]
    pub(crate) fn inside(mut self, segment: Segment) -> Self {
        self.inner.path.prepend(segment);
        self
    }

    /// Sets line and column.
    #[cold]
    pub(crate) fn with_position(mut self, line: usize, column: usize) -> Self {
        (self.inner.line, self.inner.column) = (line, column);
        self
    }

    /// Adds the offset of the document in its stream to the offset of the error.
    #[cold]
    pub(crate) fn moved_by(mut self, start: u64) -> Self {
        self.inner.offset = self.inner.offset.map(|offset| offset + start);
        self
    }

    /// Converts a position in a document to one in the input: `lines` line breaks precede the document, and `columns`
    /// bytes precede it in its first line.
    #[cold]
    pub(crate) fn behind(mut self, lines: usize, columns: usize) -> Self {
        let Inner { line, column, .. } = &mut *self.inner;
        match *line {
            0 => return self,
            1 => *column += columns,
            _ => {}
        }
        *line += lines;
        self
    }

    /// Returns whether the document is not valid JSON (RFC 8259): malformed, not UTF-8, or with a lone surrogate; or
    /// has a duplicate key and [`Duplicates::Error`](crate::Duplicates::Error) is set.
    pub fn is_syntax(&self) -> bool {
        matches!(self.inner.kind, Kind::Syntax(_))
    }

    /// Returns whether the document is truncated or empty.
    pub fn is_eof(&self) -> bool {
        matches!(self.inner.kind, Kind::Eof)
    }

    /// Returns whether the document is valid JSON, but not of the requested type.
    pub fn is_data(&self) -> bool {
        matches!(self.inner.kind, Kind::Data(_) | Kind::Mismatch { .. })
    }

    /// Returns whether the document exceeds a limit of [`Limits`](crate::Limits) or the maximum length of a line.
    pub fn is_limit(&self) -> bool {
        matches!(self.inner.kind, Kind::Limit(..))
    }

    /// Returns whether a value cannot be encoded: NaN or infinity, a map key that cannot be written as a string, a
    /// raw value that is not JSON, or an error of a `Serialize` implementation; with
    /// [`Mode::Canonical`](crate::Mode::Canonical) also a duplicate key or an integer that is not exact as a double.
    pub fn is_encode(&self) -> bool {
        matches!(self.inner.kind, Kind::Encode(_))
    }

    /// Returns whether the reader, writer, stream or sink failed. `Display` prints its error, and the conversion into
    /// [`io::Error`] returns or contains it.
    pub fn is_io(&self) -> bool {
        matches!(self.inner.kind, Kind::Io)
    }

    /// Returns the kind, as serde_json does: an exceeded limit is [`Category::Syntax`], and a value that cannot be
    /// encoded [`Category::Data`]. The predicates distinguish them.
    pub fn classify(&self) -> Category {
        match self.inner.kind {
            Kind::Syntax(_) | Kind::Limit(..) => Category::Syntax,
            Kind::Eof => Category::Eof,
            Kind::Data(_) | Kind::Mismatch { .. } | Kind::Encode(_) => Category::Data,
            Kind::Io => Category::Io,
        }
    }

    /// Returns the kind of the source, if [`is_io`](Self::is_io): [`io::ErrorKind::Other`] if the source is not an
    /// [`io::Error`].
    pub fn io_error_kind(&self) -> Option<io::ErrorKind> {
        let kind = |source: &(dyn std::error::Error + Send + Sync + 'static)| {
            source.downcast_ref::<io::Error>().map_or(io::ErrorKind::Other, io::Error::kind)
        };
        self.inner.source.as_deref().map(kind)
    }

    /// Returns the line of the error. The first line is 1; 0 means that there is no position: the error is one of
    /// encoding or I/O.
    ///
    /// Counts from the start of the document. For NDJSON, it is the line in the stream.
    pub fn line(&self) -> usize {
        self.inner.line
    }

    /// Returns the column of the error in its line, in bytes. The first column is 1; 0 means that there is no position.
    pub fn column(&self) -> usize {
        self.inner.column
    }
}

/// Details of an [`Error`] that serde_json's error does not have.
///
/// It is a trait, so that a program with an extension trait for serde_json's error can have methods with these names. Its
/// methods need no import, because [`Error`] dereferences to it; those of the program come first.
///
/// ```
/// let error = tightwire_json::from_str::<Vec<u8>>("[1, true]").unwrap_err();
/// assert_eq!(error.path().unwrap().to_string(), "[1]");
/// ```
///
/// ```
/// trait Place {
///     fn path(&self) -> &'static str;
/// }
///
/// impl Place for tightwire_json::Error {
///     fn path(&self) -> &'static str {
///         "of the program"
///     }
/// }
///
/// let error = tightwire_json::from_str::<Vec<u8>>("[1, true]").unwrap_err();
/// assert_eq!(error.path(), "of the program");
/// ```
///
/// This trait is sealed.
pub trait ErrorDetails: sealed::Sealed {
    /// Returns the path of the value that the error concerns. `None` if it is the root, or if reading or writing
    /// failed.
    ///
    /// | error | path |
    /// | --- | --- |
    /// | value of the wrong type, or rejected by its type | the value |
    /// | missing, unknown or duplicate field; key of the wrong type | the object |
    /// | malformed value, truncated document, limit | the innermost value that begins before the error |
    /// | malformed text between two values, or in a key | the array or object |
    /// | value that cannot be encoded | the value |
    ///
    /// serde buffers the content of a flattened field and of an internally tagged or untagged enum; an error inside of
    /// it has the path of the object with the flattened field, or of the enum.
    ///
    /// A document that is too large or not UTF-8 is not validated before the error, so that its path is only correct if
    /// the document is valid up to there.
    fn path(&self) -> Option<&Path>;

    /// Returns the byte offset of the error in the document, or in the stream for a [`Decoder`](crate::Decoder) or
    /// [`ChunkDecoder`](crate::ChunkDecoder).
    ///
    /// For a malformed document, it is the first byte that makes the document invalid. For a value of the wrong type,
    /// it is the first byte of the value; for an unknown or duplicate field, the key; for a missing field, the end of
    /// the object.
    fn offset(&self) -> Option<u64>;

    /// Returns the exceeded limit in levels or bytes, if [`Error::is_limit`].
    fn limit(&self) -> Option<usize>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Error {}
}

impl ErrorDetails for Error {
    fn path(&self) -> Option<&Path> {
        Some(&self.inner.path).filter(|path| !path.segments().is_empty())
    }

    fn offset(&self) -> Option<u64> {
        self.inner.offset
    }

    fn limit(&self) -> Option<usize> {
        match self.inner.kind {
            Kind::Limit(_, limit) => Some(limit),
            _ => None,
        }
    }
}

impl std::ops::Deref for Error {
    type Target = dyn ErrorDetails + Send + Sync;

    fn deref(&self) -> &Self::Target {
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = self.path() {
            write!(f, "{path}: ")?;
        }
        match &self.inner.kind {
            Kind::Syntax(what) => f.write_str(match what {
                Syntax::Value => "expected a value",
                Syntax::ArrayEnd => "expected `,` or `]`",
                Syntax::ObjectEnd => "expected `,` or `}`",
                Syntax::Key => "expected a string as key",
                Syntax::Colon => "expected `:`",
                Syntax::Number => "malformed number",
                Syntax::Control => "unescaped control character in a string",
                Syntax::Escape => "invalid escape in a string",
                Syntax::Surrogate => "lone surrogate in a string",
                Syntax::Utf8 => "invalid UTF-8",
                Syntax::Comma => "comma before a closing bracket",
                Syntax::ByteOrderMark => "the document begins with a byte order mark (remove it)",
                Syntax::Trailing => "expected the end of the document",
                Syntax::Duplicate => "duplicate key",
                Syntax::RecordSeparator => "expected record separator",
            })?,
            Kind::Eof => f.write_str("unexpected end of the document")?,
            Kind::Data(message) | Kind::Encode(message) => f.write_str(message)?,
            Kind::Mismatch { expected, found } => {
                let expected = plain(expected);
                match found {
                    Found::Value("number") if expected.ends_with("-bit integer") => {
                        write!(f, "expected {expected}, found a number that it cannot represent")?;
                    }
                    found => write!(f, "expected {expected}, found {found}")?,
                }
            }
            Kind::Limit(what, limit) => match what {
                Limit::Depth => write!(f, "the document is nested deeper than {limit} levels")?,
                Limit::Document => write!(f, "the document is larger than {limit} bytes")?,
                Limit::String => write!(f, "the string is longer than {limit} bytes")?,
                Limit::Line => write!(f, "the line is longer than {limit} bytes")?,
            },
            Kind::Io => self.inner.source.as_ref().map_or(Ok(()), |source| write!(f, "{source}"))?,
        }
        match (self.inner.line, self.inner.column) {
            (0, _) => Ok(()),
            (line, column) => write!(f, " (line {line}, column {column})"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.inner.kind)
            .field("path", &format_args!("{}", self.inner.path))
            .field("line", &self.inner.line)
            .field("column", &self.inner.column)
            .field("offset", &self.inner.offset)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl std::error::Error for Error {
    /// Returns the source of the error of a reader or writer, because `Display` prints that error itself.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.source.as_deref()?.source()
    }
}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Kind::Encode(message.to_string().into()), None)
    }
}

/// Returns the source if it is an [`io::Error`]. Otherwise, the new error contains the old one, with the kinds
/// of serde_json: [`io::ErrorKind::UnexpectedEof`] for a truncated document, [`io::ErrorKind::InvalidData`] for other
/// errors of the document and the value.
impl From<Error> for io::Error {
    fn from(mut error: Error) -> Self {
        match error.inner.source.take().map(|source| source.downcast::<Self>()) {
            Some(Ok(original)) => *original,
            Some(Err(source)) => Self::other(source),
            None if error.is_eof() => Self::new(io::ErrorKind::UnexpectedEof, error),
            None => Self::new(io::ErrorKind::InvalidData, error),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type("null") | Self::Value("null") => f.write_str("null"),
            Self::Type(noun) if noun.starts_with(['a', 'e', 'o']) => write!(f, "an {noun}"),
            Self::Type(noun) => write!(f, "a {noun}"),
            Self::Value(noun) => write!(f, "another {noun}"),
            Self::Len(1) => f.write_str("1 element"),
            Self::Len(len) => write!(f, "{len} elements"),
        }
    }
}

/// Returns the type of a value. Omits the value itself, which may be a secret.
pub(crate) fn describe(unexpected: de::Unexpected<'_>) -> &'static str {
    use de::Unexpected as U;
    match unexpected {
        U::Bool(_) => "boolean",
        U::Unsigned(_) | U::Signed(_) => "number",
        U::Float(_) => "floating-point number",
        U::Char(_) | U::Str(_) => "string",
        U::Bytes(bytes) if bytes.starts_with(NUMBER_BYTES) => "number that is kept as written",
        U::Bytes(_) => "byte string",
        U::Unit | U::Option => "null",
        U::Seq => "array",
        U::Map => "object",
        U::Enum | U::UnitVariant | U::NewtypeVariant | U::TupleVariant | U::StructVariant => "enum variant",
        U::NewtypeStruct | U::Other(_) => "value",
    }
}

/// Returns a description in terms of JSON. Descriptions of serde and of derived types name the Rust type.
fn plain(text: &str) -> Cow<'_, str> {
    /// Beginnings of the descriptions of derived types.
    const DERIVED: [(&str, &str); 8] = [
        ("struct variant ", "an object"),
        ("struct ", "an object"),
        ("internally tagged enum ", "an object"),
        ("adjacently tagged enum ", "an object"),
        ("enum ", "a string or an object"),
        ("tuple struct ", "an array"),
        ("tuple variant ", "an array"),
        ("unit struct ", "null"),
    ];
    if let Some(len) = text.strip_prefix("a tuple of size ") {
        return format!("an array of length {len}").into();
    }
    let derived = DERIVED.iter().find(|(start, _)| text.starts_with(start)).map(|(_, plain)| *plain);
    let plain = match (text, derived) {
        (_, Some(plain)) => match text.split_once(" with ") {
            Some((_, elements)) => return format!("an array of {elements}").into(),
            None => plain,
        },
        ("i8", _) => "an 8-bit integer",
        ("i16", _) => "a 16-bit integer",
        ("i32", _) => "a 32-bit integer",
        ("i64" | "isize", _) => "a 64-bit integer",
        ("i128", _) => "a 128-bit integer",
        ("u8", _) => "an unsigned 8-bit integer",
        ("u16", _) => "an unsigned 16-bit integer",
        ("u32", _) => "an unsigned 32-bit integer",
        ("u64" | "usize", _) => "an unsigned 64-bit integer",
        ("u128", _) => "an unsigned 128-bit integer",
        ("f32" | "f64", _) => "a number",
        ("unit", _) => "null",
        ("a sequence", _) => "an array",
        ("a map", _) => "an object",
        _ => text,
    };
    plain.into()
}

/// Formats a list of field or variant names.
struct OneOf(&'static [&'static str]);

impl fmt::Display for OneOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{separator}`{name}`")?;
        }
        if self.0.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

impl de::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Kind::Data(message.to_string().into()), None)
    }

    #[cold]
    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::mismatch(expected, Found::Type(describe(unexpected)))
    }

    #[cold]
    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::mismatch(expected, Found::Value(describe(unexpected)))
    }

    #[cold]
    fn invalid_length(len: usize, expected: &dyn de::Expected) -> Self {
        Self::mismatch(expected, Found::Len(len))
    }

    #[cold]
    fn unknown_variant(_variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!("expected {}, found another variant", OneOf(expected)))
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!("unknown field `{}`, expected {}", shorten(field), OneOf(expected)))
    }
}
