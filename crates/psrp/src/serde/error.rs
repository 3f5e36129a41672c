//! Errors of conversions with serde.

use std::fmt;

use serde::de::{Error as _, Expected, Unexpected};

use crate::Error;
use crate::error::Kind;
use crate::redacted::Redacted;

pub(super) type Result<T, E = Error> = std::result::Result<T, E>;

/// A message of the type's own serde code. It may quote a value, so it is only shown as the source of the error.
#[derive(Debug)]
struct TypeMessage(Redacted<String>);

impl fmt::Display for TypeMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeMessage {}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::with(Kind::Unwritable, "rejected by its type")
            .caused_by(TypeMessage(Redacted(message.to_string())))
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
impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::with(Kind::Mismatch, "rejected by its type")
            .caused_by(TypeMessage(Redacted(message.to_string())))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // Only use names from this crate; other types could put a value here.
        let found = match unexpected {
            Unexpected::Other(name) if super::kinds::is_name(name) => name,
            _ => found(&unexpected),
        };
        Self::with(Kind::Mismatch, format!("expected {expected}, found {found}"))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::with(
            Kind::Mismatch,
            format!("expected {expected}, found {} with an invalid value", found(&unexpected)),
        )
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::with(Kind::Mismatch, format!("expected {expected}, found {length} items"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::with(Kind::Mismatch, format!("unknown variant, expected one of {expected:?}"))
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::with(Kind::Mismatch, format!("unknown member, expected one of {expected:?}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::with(Kind::Mismatch, format!("the member {field} is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::with(Kind::Mismatch, format!("the member {field} occurs twice"))
    }
}

/// Creates the error for a value of another kind than expected.
#[cold]
pub(super) fn mismatch(value: &crate::Value, expected: &dyn Expected) -> Error {
    Error::invalid_type(Unexpected::Other(super::kinds::name(value)), expected)
}
