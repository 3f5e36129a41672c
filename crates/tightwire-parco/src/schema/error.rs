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
    path: String,
    #[cfg(feature = "schema-json")]
    source: Option<serde_json::Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaErrorKind {
    Syntax,
    Invalid(&'static str),
    #[cfg_attr(not(feature = "schema-json"), expect(dead_code, reason = "only the languages of JSON use it"))]
    Mismatch(&'static str),
    OutOfRange,
    Duplicate(&'static str),
    UnknownId,
    Limit(&'static str),
}

impl SchemaError {
    pub(super) fn new(kind: SchemaErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            path: String::new(),
            #[cfg(feature = "schema-json")]
            source: None,
        }))
    }

    pub(super) fn invalid(what: &'static str) -> Self {
        Self::new(SchemaErrorKind::Invalid(what))
    }

    pub(super) fn limit(what: &'static str) -> Self {
        Self::new(SchemaErrorKind::Limit(what))
    }

    #[cfg(feature = "schema-json")]
    pub(super) fn mismatch(what: &'static str) -> Self {
        Self::new(SchemaErrorKind::Mismatch(what))
    }

    #[cfg(feature = "schema-json")]
    pub(super) fn syntax(source: serde_json::Error) -> Self {
        let mut error = Self::new(SchemaErrorKind::Syntax);
        error.0.source = Some(source);
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
    is_invalid: Invalid(_);
    /// Returns whether a value does not match the schema.
    is_mismatch: Mismatch(_);
    /// Returns whether the id of a model does not fit its wire type.
    is_out_of_range: OutOfRange;
    /// Returns whether two models have the same id, two fields of a struct the same name, or an object has a key twice.
    is_duplicate: Duplicate(_);
    /// Returns whether a value contains an id that is not in the schema.
    is_unknown_id: UnknownId;
    /// Returns whether a schema or value is too large or too deeply nested.
    is_limit: Limit(_);
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.kind {
            SchemaErrorKind::Syntax => "invalid JSON",
            SchemaErrorKind::OutOfRange => "an id does not fit its wire type",
            SchemaErrorKind::UnknownId => "unknown model id",
            SchemaErrorKind::Duplicate(what)
            | SchemaErrorKind::Invalid(what)
            | SchemaErrorKind::Mismatch(what)
            | SchemaErrorKind::Limit(what) => what,
        })?;
        if !self.0.path.is_empty() {
            write!(f, " at {}", self.0.path)?;
        }
        Ok(())
    }
}

impl core::error::Error for SchemaError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        #[cfg(feature = "schema-json")]
        if let Some(source) = &self.0.source {
            return Some(source);
        }
        None
    }
}
