//! Conversion errors with the path to the value.

use std::fmt;

use serde::de::{Error as _, Expected, Unexpected};

use crate::Error;
use crate::error::Kind;
use crate::redacted::Redacted;

/// An [`Error`] and the path to the value, innermost segment first.
#[derive(Debug)]
pub struct PathError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    error: Error,
    path: Vec<PathSegment>,
}

/// A segment of the path. Contains only names of the Rust type, because names in a document may be secret.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathSegment {
    /// Field of a struct, or variant of an enum.
    Member(&'static str),
    /// Item of a list.
    Item(usize),
    /// Key of a dictionary entry, or name of a member.
    Key(usize),
    /// Value of a dictionary entry, or of a member that the type does not name.
    Value(usize),
}

pub(super) type Result<T, E = PathError> = std::result::Result<T, E>;

impl PathError {
    #[cold]
    pub(super) fn new(kind: Kind, detail: impl Into<Box<str>>) -> Self {
        Error::with(kind, detail).into()
    }

    /// Adds an outer segment to the path.
    #[cold]
    pub(super) fn at(mut self, segment: PathSegment) -> Self {
        // The depth of values is limited, but the user may raise the limit.
        if self.0.path.len() < 256 {
            self.0.path.push(segment);
        }
        self
    }

    /// Adds the variant that contains the value, if there is one.
    #[cold]
    pub(super) fn in_variant(self, variant: Option<&'static str>) -> Self {
        variant.map(PathSegment::Member).into_iter().fold(self, Self::at)
    }

    /// Converts to an [`Error`] with the path in its message.
    #[cold]
    pub(super) fn into_error(self) -> Error {
        use fmt::Write as _;

        let Inner { error, path } = *self.0;
        if path.is_empty() {
            return error;
        }
        let mut text = String::new();
        for segment in path.iter().rev() {
            let _ = match segment {
                PathSegment::Member(name) if text.is_empty() => write!(text, "{name}"),
                PathSegment::Member(name) => write!(text, ".{name}"),
                PathSegment::Item(index) => write!(text, "[{index}]"),
                PathSegment::Key(index) => write!(text, "[key {index}]"),
                PathSegment::Value(index) => write!(text, "[value {index}]"),
            };
        }
        error.within(&text)
    }
}

impl From<Error> for PathError {
    fn from(error: Error) -> Self {
        Self(Box::new(Inner { error, path: Vec::new() }))
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.error, f)
    }
}

impl std::error::Error for PathError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.error.source()
    }
}

/// A message of the type's own serde code. It may quote a value, so it is only shown as the source of the error.
#[derive(Debug)]
struct TypeMessage(Redacted<String>);

impl fmt::Display for TypeMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeMessage {}

impl serde::ser::Error for PathError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::with(Kind::Unwritable, "rejected by its type")
            .caused_by(TypeMessage(Redacted(message.to_string())))
            .into()
    }
}

/// Returns the kind of the value without the value itself, which serde would show.
fn found(unexpected: &Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a floating-point number",
        Unexpected::Char(_) => "a character",
        Unexpected::Str(_) => "a string",
        Unexpected::Bytes(_) => "bytes",
        Unexpected::Unit => "$null",
        Unexpected::Option => "an optional value",
        Unexpected::NewtypeStruct => "a wrapper",
        Unexpected::Seq => "a list",
        Unexpected::Map => "members or a dictionary",
        Unexpected::Enum => "an enum variant",
        Unexpected::UnitVariant => "a variant without value",
        Unexpected::NewtypeVariant => "a variant with a value",
        Unexpected::TupleVariant => "a variant with items",
        Unexpected::StructVariant => "a variant with members",
        Unexpected::Other(_) => "a value of another type",
    }
}

/// Messages name the expected type, but never show the value, which may be secret.
impl serde::de::Error for PathError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::with(Kind::Mismatch, "rejected by its type")
            .caused_by(TypeMessage(Redacted(message.to_string())))
            .into()
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // Only use names from this crate; other types could put a value here.
        let found = match unexpected {
            Unexpected::Other(name) if super::kinds::is_name(name) => name,
            _ => found(&unexpected),
        };
        Self::new(Kind::Mismatch, format!("expected {expected}, found {found}"))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(
            Kind::Mismatch,
            format!("expected {expected}, found {} with an invalid value", found(&unexpected)),
        )
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(Kind::Mismatch, format!("expected {expected}, found {length} items"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Kind::Mismatch, format!("unknown variant, expected one of {expected:?}"))
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Kind::Mismatch, format!("unknown member, expected one of {expected:?}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Kind::Mismatch, format!("the member {field} is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Kind::Mismatch, format!("the member {field} occurs twice"))
    }
}

/// Creates the error for a value of another kind than expected.
#[cold]
pub(super) fn mismatch(value: &crate::Value, expected: &dyn Expected) -> PathError {
    PathError::invalid_type(Unexpected::Other(super::kinds::name(value)), expected)
}
