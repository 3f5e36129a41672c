//! Errors of schemas and of values in JSON.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::error::predicates;

/// An error in a schema, or in the JSON text of a schema or value.
///
/// It contains the path in the schema by the names and positions of the parts, outermost first. Apart from these names
/// it contains no text of the input.
#[derive(Debug)]
pub struct SchemaError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: SchemaErrorKind,
    text: &'static str,
    path: String,
    source: Option<Box<dyn core::error::Error + Send + Sync>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaErrorKind {
    Syntax,
    Invalid,
    Mismatch,
    OutOfRange,
    Duplicate,
    UnknownId,
    Limit,
}

impl SchemaError {
    pub(super) fn new(kind: SchemaErrorKind, text: &'static str) -> Self {
        Self(Box::new(Inner { kind, text, path: String::new(), source: None }))
    }

    pub(super) fn invalid(text: &'static str) -> Self {
        Self::new(SchemaErrorKind::Invalid, text)
    }

    #[cfg(feature = "schema-json")]
    pub(super) fn mismatch(text: &'static str) -> Self {
        Self::new(SchemaErrorKind::Mismatch, text)
    }

    #[cfg(feature = "schema-json")]
    pub(super) fn syntax(source: serde_json::Error) -> Self {
        let mut error = Self::new(SchemaErrorKind::Syntax, "invalid JSON");
        error.0.source = Some(Box::new(source));
        error
    }

    /// Prepends a step to the path.
    pub(super) fn within(mut self, step: impl fmt::Display) -> Self {
        self.0.path = alloc::format!("{step}{}", self.0.path);
        self
    }

    /// Returns the path to the invalid part, such as `.pet.age` or `.grades[key]`; empty for the whole schema.
    pub fn path(&self) -> &str {
        &self.0.path
    }
}

/// Results whose errors get a step of the path.
pub(super) trait Within {
    /// Prepends a step to the path of an error.
    fn within(self, step: impl fmt::Display) -> Self;
}

impl<T> Within for Result<T, SchemaError> {
    fn within(self, step: impl fmt::Display) -> Self {
        self.map_err(|error| error.within(step))
    }
}

predicates! { SchemaError, SchemaErrorKind:
    /// Returns whether a text is not JSON.
    is_syntax: Syntax;
    /// Returns whether the schema is invalid.
    is_invalid: Invalid;
    /// Returns whether a value does not match the schema.
    is_mismatch: Mismatch;
    /// Returns whether the id of a model does not fit its wire type.
    is_out_of_range: OutOfRange;
    /// Returns whether two models have the same id, two fields of a struct the same name, or an object has a key twice.
    is_duplicate: Duplicate;
    /// Returns whether a value contains an id that is not in the schema.
    is_unknown_id: UnknownId;
    /// Returns whether a schema or value is too large or too deeply nested.
    is_limit: Limit;
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text)?;
        if !self.0.path.is_empty() {
            write!(f, " at {}", self.0.path)?;
        }
        Ok(())
    }
}

impl core::error::Error for SchemaError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&**self.0.source.as_ref()?)
    }
}
