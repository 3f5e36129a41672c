//! The one error type of this crate.

use std::fmt;

use serde::de;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong while encoding or decoding.
///
/// The kind is private; ask the `is_*` predicates. `Display` prints this level only, never the source, and
/// never a value of the document: at most names of fields, and what a `Serialize` or `Deserialize`
/// implementation put into an error of its own. The wording is not part of the API.
///
/// The type is one word wide.
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
    /// The document is not JSON.
    Syntax(Syntax),
    /// The document ends before it is complete.
    Eof,
    /// The document is JSON, but not of the type that was asked for.
    Data(Box<str>),
    /// A limit is exceeded.
    Limit(Limit, usize),
    /// The value has no JSON form.
    Encode(Box<str>),
    /// Reading or writing failed.
    Io,
}

/// How a document violates RFC 8259.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// A byte that cannot begin a value (section 3).
    Value,
    /// Neither `,` nor the closing bracket of an array (section 5).
    ArrayEnd,
    /// Neither `,` nor the closing brace of an object (section 4).
    ObjectEnd,
    /// Something else than a string where a key must be (section 4).
    Key,
    /// No `:` after a key (section 4).
    Colon,
    /// A number that is not of the grammar of section 6.
    Number,
    /// A control character inside a string (section 7).
    Control,
    /// A backslash that does not begin an escape (section 7).
    Escape,
    /// Half of a surrogate pair (section 8.2).
    Surrogate,
    /// Bytes that are not UTF-8 (section 8.1).
    Utf8,
    /// Anything but white space after the value (section 2).
    Trailing,
    /// A key that its object has already, refused on request (section 4).
    Duplicate,
}

/// Which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Depth,
    Document,
    String,
    #[cfg_attr(not(feature = "ndjson"), allow(dead_code, reason = "only NDJSON has lines"))]
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

    #[cold]
    pub(crate) fn io(source: std::io::Error) -> Self {
        Self { inner: Box::new(Inner { kind: Kind::Io, offset: None, source: Some(Box::new(source)) }) }
    }

    /// A stream or sink below failed.
    #[cfg(feature = "ndjson")]
    pub(crate) fn transport(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { inner: Box::new(Inner { kind: Kind::Io, offset: None, source: Some(source.into()) }) }
    }

    /// The same error with a place, if it has none.
    #[cold]
    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.inner.offset.get_or_insert(offset as u64);
        self
    }

    /// The same error in a document that begins at `start` of a stream.
    #[cold]
    pub(crate) fn moved_by(mut self, start: u64) -> Self {
        self.inner.offset = self.inner.offset.map(|offset| offset + start);
        self
    }

    /// Whether the document is not JSON (RFC 8259): malformed, not UTF-8, or with a lone surrogate; or whether it has a
    /// key twice and [`Duplicates::Error`](crate::Duplicates::Error) refuses that.
    pub fn is_syntax(&self) -> bool {
        matches!(self.inner.kind, Kind::Syntax(_))
    }

    /// Whether the document ends before it is complete. An empty document counts as such.
    pub fn is_eof(&self) -> bool {
        matches!(self.inner.kind, Kind::Eof)
    }

    /// Whether the document is JSON, but not of the type that was asked for.
    pub fn is_data(&self) -> bool {
        matches!(self.inner.kind, Kind::Data(_))
    }

    /// Whether a limit of [`Limits`](crate::Limits) or of a stream is exceeded.
    pub fn is_limit(&self) -> bool {
        matches!(self.inner.kind, Kind::Limit(..))
    }

    /// Whether a value could not be encoded: NaN or an infinity, a map key that has no form as a string, a raw value
    /// that is not JSON, or an error of the value's own `Serialize` implementation.
    pub fn is_encode(&self) -> bool {
        matches!(self.inner.kind, Kind::Encode(_))
    }

    /// Whether the reader, writer, stream or sink failed. The cause is the source.
    pub fn is_io(&self) -> bool {
        matches!(self.inner.kind, Kind::Io)
    }

    /// Where in the document it happened, in bytes from its start; for a [`Decoder`](crate::Decoder), from the
    /// start of the stream.
    ///
    /// For malformed documents it is the first byte that no JSON document can have at this place, for values of
    /// the wrong type the first byte of the value or the end of the object that lacks something.
    pub fn offset(&self) -> Option<u64> {
        self.inner.offset
    }

    /// The limit that was exceeded, if [`is_limit`](Self::is_limit): levels or bytes.
    pub fn limit(&self) -> Option<usize> {
        match self.inner.kind {
            Kind::Limit(_, limit) => Some(limit),
            _ => None,
        }
    }

    /// The line and the column of [`offset`](Self::offset) in `document`, the input that the error is about.
    /// Both count from 1, columns in bytes. `None` if there is no offset, or none that lies in `document`.
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
                Syntax::Value => "expected a value",
                Syntax::ArrayEnd => "expected `,` or `]`",
                Syntax::ObjectEnd => "expected `,` or `}`",
                Syntax::Key => "expected a key",
                Syntax::Colon => "expected `:`",
                Syntax::Number => "malformed number",
                Syntax::Control => "control character in a string",
                Syntax::Escape => "unknown escape in a string",
                Syntax::Surrogate => "lone surrogate in a string",
                Syntax::Utf8 => "invalid UTF-8",
                Syntax::Trailing => "characters after the document",
                Syntax::Duplicate => "duplicate key",
            })?,
            Kind::Eof => f.write_str("unexpected end of the document")?,
            Kind::Data(message) | Kind::Encode(message) => f.write_str(message)?,
            Kind::Limit(what, limit) => match what {
                Limit::Depth => write!(f, "nesting exceeds {limit} levels")?,
                Limit::Document => write!(f, "document exceeds {limit} bytes")?,
                Limit::String => write!(f, "string exceeds {limit} bytes")?,
                Limit::Line => write!(f, "line exceeds {limit} bytes")?,
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

/// Names the type of a value and leaves the value out, since it may be a secret.
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

/// Lists names of the program.
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
        // A name from outside may be of any length.
        const SHOWN: usize = 64;
        let end = (0..=SHOWN.min(field.len())).rev().find(|&at| field.is_char_boundary(at)).unwrap_or(0);
        let more = if end < field.len() { "..." } else { "" };
        Self::custom(format_args!(
            "unknown field `{}{more}`, expected one of {}",
            &field[..end],
            OneOf(expected)
        ))
    }
}
