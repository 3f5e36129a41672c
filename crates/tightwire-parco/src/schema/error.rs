//! What can be wrong with a schema, and with a value given as text.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// Why a schema, or the text of a schema or value, was not understood.
///
/// It tells the place in the schema by the names and positions of the parts, outermost first. No text of the input
/// appears in it but these names.
pub struct SchemaError(Box<Inner>);

struct Inner {
    kind: Kind,
    path: String,
    #[cfg(feature = "schema-json")]
    source: Option<serde_json::Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Syntax,
    Invalid(&'static str),
    #[cfg_attr(not(feature = "schema-json"), expect(dead_code, reason = "only the languages of JSON use it"))]
    Mismatch(&'static str),
    OutOfRange,
    Duplicate,
    UnknownId,
    Limit(&'static str),
    NotInGo(&'static str),
}

impl SchemaError {
    pub(super) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner {
            kind,
            path: String::new(),
            #[cfg(feature = "schema-json")]
            source: None,
        }))
    }

    pub(super) fn invalid(what: &'static str) -> Self {
        Self::new(Kind::Invalid(what))
    }

    #[cfg(feature = "schema-json")]
    pub(super) fn mismatch(what: &'static str) -> Self {
        Self::new(Kind::Mismatch(what))
    }

    #[cfg(feature = "schema-json")]
    pub(super) fn syntax(source: serde_json::Error) -> Self {
        let mut error = Self::new(Kind::Syntax);
        error.0.source = Some(source);
        error
    }

    /// Adds a step of the way, on the way out.
    pub(super) fn within(mut self, step: impl fmt::Display) -> Self {
        self.0.path = alloc::format!("{step}{}", self.0.path);
        self
    }

    /// The way to the part that is wrong, such as `.pet.age` or `.grades[key]`; empty for the whole.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Whether a text is not JSON.
    pub fn is_syntax(&self) -> bool {
        self.0.kind == Kind::Syntax
    }

    /// Whether a schema describes nothing that can be on the wire.
    pub fn is_invalid(&self) -> bool {
        matches!(self.0.kind, Kind::Invalid(_))
    }

    /// Whether a value is not of the schema's type.
    pub fn is_mismatch(&self) -> bool {
        matches!(self.0.kind, Kind::Mismatch(_))
    }

    /// Whether the id of a model does not fit its form.
    pub fn is_out_of_range(&self) -> bool {
        self.0.kind == Kind::OutOfRange
    }

    /// Whether there are two models for one id, or two members of one name.
    pub fn is_duplicate(&self) -> bool {
        self.0.kind == Kind::Duplicate
    }

    /// Whether a value names an id that has no model.
    pub fn is_unknown_id(&self) -> bool {
        self.0.kind == Kind::UnknownId
    }

    /// Whether a schema or value is larger or deeper than what is taken.
    pub fn is_limit(&self) -> bool {
        matches!(self.0.kind, Kind::Limit(_))
    }

    /// Whether the Go library has nothing for a part of the schema.
    pub fn is_not_in_go(&self) -> bool {
        matches!(self.0.kind, Kind::NotInGo(_))
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.kind {
            Kind::Syntax => "the text is not JSON",
            Kind::OutOfRange => "an id does not fit its form",
            Kind::Duplicate => "two models have one id, or two members one name",
            Kind::UnknownId => "an id has no model",
            Kind::Invalid(what) | Kind::Mismatch(what) | Kind::Limit(what) | Kind::NotInGo(what) => what,
        })?;
        if !self.0.path.is_empty() {
            write!(f, " at {}", self.0.path)?;
        }
        Ok(())
    }
}

impl fmt::Debug for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("SchemaError");
        debug.field("kind", &self.0.kind).field("path", &self.0.path);
        #[cfg(feature = "schema-json")]
        debug.field("source", &self.0.source);
        debug.finish()
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
