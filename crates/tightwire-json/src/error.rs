//! Error type of this crate.

use std::fmt;

use serde::de;

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of encoding or decoding.
///
/// The `is_*` predicates tell its kind. `Display` does not print the source, and no values of the document: only names
/// of fields, and the messages of `Serialize` and `Deserialize` implementations. The wording is not part of the API.
///
/// The size of the type is one pointer.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    offset: Option<u64>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The document is not valid JSON.
    Syntax(Syntax),
    /// The document is truncated.
    Eof,
    /// The document is valid JSON, but not of the requested type.
    Data(Box<str>),
    /// The document exceeds a limit.
    Limit(Limit, usize),
    /// The value cannot be encoded.
    Encode(Box<str>),
    /// Reading or writing failed.
    Io,
}

/// Violation of RFC 8259.
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
        Self { inner: Box::new(Inner { kind, offset, source: None }) }
    }

    #[cold]
    pub(crate) fn syntax(what: Syntax, offset: usize) -> Self {
        Self::new(Kind::Syntax(what), Some(offset as u64))
    }

    #[cold]
    pub(crate) fn eof(offset: usize) -> Self {
        Self::new(Kind::Eof, Some(offset as u64))
    }

    /// Wraps the error of a reader, writer, stream or sink.
    #[cold]
    pub(crate) fn io(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { inner: Box::new(Inner { kind: Kind::Io, offset: None, source: Some(source.into()) }) }
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

    /// Adds the offset of the document in its stream to the offset of the error.
    #[cold]
    pub(crate) fn moved_by(mut self, start: u64) -> Self {
        self.inner.offset = self.inner.offset.map(|offset| offset + start);
        self
    }

    /// Returns `true` if the document is not valid JSON (RFC 8259): malformed, not UTF-8, or with a lone surrogate; or
    /// if it has a duplicate key and [`Duplicates::Error`](crate::Duplicates::Error) is set.
    pub fn is_syntax(&self) -> bool {
        matches!(self.inner.kind, Kind::Syntax(_))
    }

    /// Returns `true` if the document is truncated or empty.
    pub fn is_eof(&self) -> bool {
        matches!(self.inner.kind, Kind::Eof)
    }

    /// Returns `true` if the document is valid JSON, but not of the requested type.
    pub fn is_data(&self) -> bool {
        matches!(self.inner.kind, Kind::Data(_))
    }

    /// Returns `true` if the document exceeds a limit of [`Limits`](crate::Limits) or the maximum length of a line.
    pub fn is_limit(&self) -> bool {
        matches!(self.inner.kind, Kind::Limit(..))
    }

    /// Returns `true` if a value cannot be encoded: NaN or infinity, a map key that cannot be written as a string, a
    /// raw value that is not JSON, or an error of a `Serialize` implementation; with
    /// [`Mode::Canonical`](crate::Mode::Canonical) also a duplicate key or an integer that is not exact as a double.
    pub fn is_encode(&self) -> bool {
        matches!(self.inner.kind, Kind::Encode(_))
    }

    /// Returns `true` if the reader, writer, stream or sink failed. Its error is the source.
    pub fn is_io(&self) -> bool {
        matches!(self.inner.kind, Kind::Io)
    }

    /// Returns the byte offset of the error in the document, or in the stream for a [`Decoder`](crate::Decoder) or
    /// [`ChunkDecoder`](crate::ChunkDecoder).
    ///
    /// For a malformed document, it is the first byte that makes the document invalid. For a value of the wrong type,
    /// it is the first byte of the value; for a missing field, the end of the object.
    pub fn offset(&self) -> Option<u64> {
        self.inner.offset
    }

    /// Returns the exceeded limit in levels or bytes, if [`is_limit`](Self::is_limit).
    pub fn limit(&self) -> Option<usize> {
        match self.inner.kind {
            Kind::Limit(_, limit) => Some(limit),
            _ => None,
        }
    }

    /// Converts [`offset`](Self::offset) to line and column in `document`, the decoded input. Both start at 1; columns
    /// count bytes. `None` if there is no offset or if it is outside of `document`.
    ///
    /// # Examples
    /// ```
    /// let document = b"{\n  \"a\": tru\n}";
    /// let error = tightwire_json::from_slice::<tightwire_json::Value>(document).unwrap_err();
    /// assert_eq!(error.line_column(document), Some((2, 11)));
    /// ```
    pub fn line_column(&self, document: &[u8]) -> Option<(usize, usize)> {
        let offset = usize::try_from(self.inner.offset?).ok()?;
        let before = document.get(..offset)?;
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        Some((lines + 1, column + 1))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.kind {
            Kind::Syntax(what) => f.write_str(match what {
                Syntax::Value => "expected value",
                Syntax::ArrayEnd => "expected `,` or `]`",
                Syntax::ObjectEnd => "expected `,` or `}`",
                Syntax::Key => "expected string as object key",
                Syntax::Colon => "expected `:`",
                Syntax::Number => "malformed number",
                Syntax::Control => "unescaped control character in string",
                Syntax::Escape => "invalid escape in string",
                Syntax::Surrogate => "lone surrogate in string",
                Syntax::Utf8 => "invalid UTF-8",
                Syntax::Trailing => "trailing characters",
                Syntax::Duplicate => "duplicate key",
                Syntax::RecordSeparator => "expected record separator",
            })?,
            Kind::Eof => f.write_str("unexpected end of document")?,
            Kind::Data(message) | Kind::Encode(message) => f.write_str(message)?,
            Kind::Limit(what, limit) => match what {
                Limit::Depth => write!(f, "document is nested deeper than {limit} levels")?,
                Limit::Document => write!(f, "document is larger than {limit} bytes")?,
                Limit::String => write!(f, "string is longer than {limit} bytes")?,
                Limit::Line => write!(f, "line is longer than {limit} bytes")?,
            },
            Kind::Io => f.write_str("reading or writing failed")?,
        }
        match self.inner.offset {
            Some(offset) => write!(f, " at offset {offset}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.inner.kind)
            .field("offset", &self.inner.offset)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Kind::Encode(message.to_string().into()), None)
    }
}

/// Returns the type of a value. Omits the value itself, which may be a secret.
fn describe(unexpected: de::Unexpected<'_>) -> &'static str {
    use de::Unexpected as U;
    match unexpected {
        U::Bool(_) => "boolean",
        U::Unsigned(_) | U::Signed(_) => "integer",
        U::Float(_) => "floating point number",
        U::Char(_) | U::Str(_) => "string",
        U::Bytes(_) => "bytes",
        U::Unit | U::Option => "null",
        U::Seq => "array",
        U::Map | U::NewtypeStruct => "object",
        U::Enum | U::UnitVariant | U::NewtypeVariant | U::TupleVariant | U::StructVariant => "enum variant",
        U::Other(_) => "other value",
    }
}

/// Formats a list of field or variant names.
struct OneOf(&'static [&'static str]);

impl fmt::Display for OneOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if index == 0 { "" } else { ", " })?;
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
        Self::custom(format_args!("invalid type: {}, expected {expected}", describe(unexpected)))
    }

    #[cold]
    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("invalid value: {}, expected {expected}", describe(unexpected)))
    }

    #[cold]
    fn unknown_variant(_variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!("unknown variant, expected one of {}", OneOf(expected)))
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        // The name is input of any length.
        const MAX_FIELD_LEN: usize = 64;
        let end =
            (0..=MAX_FIELD_LEN.min(field.len())).rev().find(|&at| field.is_char_boundary(at)).unwrap_or(0);
        let more = if end < field.len() { "..." } else { "" };
        Self::custom(format_args!(
            "unknown field `{}{more}`, expected one of {}",
            &field[..end],
            OneOf(expected)
        ))
    }
}
