//! Errors of encoding and decoding.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Display};
use std::io;

use serde::{de, ser};

/// Any error of this crate: I/O, malformed JSON, or values of another type than expected.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    reason: Reason,
    /// 0 if there is no position.
    line: usize,
    column: usize,
}

/// Result with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// Reading or writing failed.
    Io,
    /// The input is not valid JSON.
    Syntax,
    /// The input is valid JSON, but not of the requested type.
    Data,
    /// The input ended too early.
    Eof,
}

#[cfg(feature = "std")]
type IoError = io::Error;
/// Text of the error: without `std`, errors of serde_json are unwind safe, and those of the standard library are not.
#[cfg(not(feature = "std"))]
type IoError = String;

/// Kind of an error, with its text or source.
pub(crate) enum Reason {
    Message(Box<str>),
    Io(IoError),
    Eof(&'static str),
    Syntax(&'static str),
}

/// Text of [`Reason::CONTROL`].
pub(crate) const CONTROL: &str = "control character (\\u0000-\\u001F) found while parsing a string";

impl Reason {
    pub(crate) const EOF_LIST: Self = Self::Eof("EOF while parsing a list");
    pub(crate) const EOF_OBJECT: Self = Self::Eof("EOF while parsing an object");
    pub(crate) const EOF_STRING: Self = Self::Eof("EOF while parsing a string");
    pub(crate) const EOF_VALUE: Self = Self::Eof("EOF while parsing a value");
    pub(crate) const COLON: Self = Self::Syntax("expected `:`");
    pub(crate) const LIST_END: Self = Self::Syntax("expected `,` or `]`");
    pub(crate) const OBJECT_END: Self = Self::Syntax("expected `,` or `}`");
    pub(crate) const IDENT: Self = Self::Syntax("expected ident");
    pub(crate) const VALUE: Self = Self::Syntax("expected value");
    pub(crate) const QUOTE: Self = Self::Syntax("expected `\"`");
    pub(crate) const ESCAPE: Self = Self::Syntax("invalid escape");
    pub(crate) const NUMBER: Self = Self::Syntax("invalid number");
    pub(crate) const OUT_OF_RANGE: Self = Self::Syntax("number out of range");
    pub(crate) const UNICODE: Self = Self::Syntax("invalid unicode code point");
    pub(crate) const CONTROL: Self = Self::Syntax(CONTROL);
    pub(crate) const KEY: Self = Self::Syntax("key must be a string");
    pub(crate) const NUMERIC_KEY: Self = Self::Syntax("invalid value: expected key to be a number in quotes");
    pub(crate) const FINITE_KEY: Self = Self::Syntax("float key must be finite (got NaN or +/-inf)");
    pub(crate) const SURROGATE: Self = Self::Syntax("lone leading surrogate in hex escape");
    pub(crate) const TRAILING_COMMA: Self = Self::Syntax("trailing comma");
    pub(crate) const TRAILING: Self = Self::Syntax("trailing characters");
    pub(crate) const HEX_END: Self = Self::Syntax("unexpected end of hex escape");
    pub(crate) const DEPTH: Self = Self::Syntax("recursion limit exceeded");
}

impl Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(text) => f.write_str(text),
            Self::Io(error) => Display::fmt(error, f),
            Self::Eof(text) | Self::Syntax(text) => f.write_str(text),
        }
    }
}

impl Error {
    #[cold]
    pub(crate) fn new(reason: Reason, line: usize, column: usize) -> Self {
        Self { inner: Box::new(Inner { reason, line, column }) }
    }

    /// Returns an error without a position.
    #[cold]
    pub(crate) fn of(reason: Reason) -> Self {
        Self::new(reason, 0, 0)
    }

    #[doc(hidden)]
    #[cold]
    pub fn io(error: io::Error) -> Self {
        #[cfg(not(feature = "std"))]
        let error = error.to_string();
        Self::of(Reason::Io(error))
    }

    /// Sets the position, unless the error has one.
    #[cold]
    pub(crate) fn or_at(mut self, position: impl FnOnce() -> (usize, usize)) -> Self {
        if self.inner.line == 0 {
            (self.inner.line, self.inner.column) = position();
        }
        self
    }

    /// Returns the line of the error, from 1. It is 0 if there is no position.
    pub fn line(&self) -> usize {
        self.inner.line
    }

    /// Returns the column of the error, in bytes from 1. It is 0 at the start of a line, and if there is no position.
    pub fn column(&self) -> usize {
        self.inner.column
    }

    /// Returns the kind of the error.
    pub fn classify(&self) -> Category {
        match self.inner.reason {
            Reason::Message(_) => Category::Data,
            Reason::Io(_) => Category::Io,
            Reason::Eof(_) => Category::Eof,
            Reason::Syntax(_) => Category::Syntax,
        }
    }

    /// Returns whether reading or writing failed.
    pub fn is_io(&self) -> bool {
        self.classify() == Category::Io
    }

    /// Returns whether the input is not valid JSON.
    pub fn is_syntax(&self) -> bool {
        self.classify() == Category::Syntax
    }

    /// Returns whether the input is valid JSON, but not of the requested type.
    pub fn is_data(&self) -> bool {
        self.classify() == Category::Data
    }

    /// Returns whether the input ended too early. More input may complete it.
    pub fn is_eof(&self) -> bool {
        self.classify() == Category::Eof
    }

    /// Returns the kind of the I/O error, if [`is_io`](Self::is_io).
    #[cfg(feature = "std")]
    pub fn io_error_kind(&self) -> Option<io::ErrorKind> {
        match &self.inner.reason {
            Reason::Io(error) => Some(error.kind()),
            _ => None,
        }
    }
}

/// Returns the I/O error of the reader or writer. Other errors are of the kind [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) or
/// [`InvalidData`](io::ErrorKind::InvalidData).
#[cfg(feature = "std")]
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = if error.is_eof() { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::InvalidData };
        match error.inner.reason {
            Reason::Io(original) => original,
            _ => Self::new(kind, error),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.inner.reason {
            #[cfg(feature = "std")]
            Reason::Io(error) => error.source(),
            _ => None,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { reason, line, column } = &*self.inner;
        match line {
            0 => Display::fmt(reason, f),
            _ => write!(f, "{reason} at line {line} column {column}"),
        }
    }
}

impl Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { reason, line, column } = &*self.inner;
        write!(f, "Error({:?}, line: {line}, column: {column})", reason.to_string())
    }
}

impl de::Error for Error {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        from_message(&message.to_string())
    }

    #[cold]
    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("invalid type: {}, expected {expected}", Found(unexpected)))
    }

    #[cold]
    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("invalid value: {}, expected {expected}", Found(unexpected)))
    }
}

impl ser::Error for Error {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        from_message(&message.to_string())
    }
}

/// Unexpected value in terms of JSON.
struct Found<'a>(de::Unexpected<'a>);

impl Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            de::Unexpected::Unit => f.write_str("null"),
            de::Unexpected::Float(value) => {
                write!(f, "floating point `{}`", zmij::Buffer::new().format(value))
            }
            other => Display::fmt(&other, f),
        }
    }
}

/// Returns an error with this message. A position at its end becomes that of the error: type-erased deserializers pass
/// errors of this crate as text.
fn from_message(message: &str) -> Error {
    let position = || {
        let (text, position) = message.rsplit_once(" at line ")?;
        let (line, column) = position.split_once(" column ")?;
        let number = |digits: &str| {
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        };
        Some((text, number(line)?, number(column)?))
    };
    let (text, line, column) = position().unwrap_or((message, 0, 0));
    Error::new(Reason::Message(text.into()), line, column)
}
