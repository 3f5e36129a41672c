//! Validation error of a request.

use std::fmt;

/// Error of the local validation of a request, such as
/// [`chat::Request::validate`](super::chat::Request::validate).
///
/// Use the `is_*` methods to tell the reasons apart. `Display` names the field and the rule, never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    field: String,
    reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Reason {
    Empty,
    Range(String),
    Long(usize, &'static str),
    Form(&'static str),
}

impl Invalid {
    pub(crate) fn empty(field: impl Into<String>) -> Self {
        Self { field: field.into(), reason: Reason::Empty }
    }

    pub(crate) fn range(field: impl Into<String>, from: impl fmt::Display, to: impl fmt::Display) -> Self {
        Self { field: field.into(), reason: Reason::Range(format!("{from}..={to}")) }
    }

    pub(crate) fn long(field: impl Into<String>, limit: usize, unit: &'static str) -> Self {
        Self { field: field.into(), reason: Reason::Long(limit, unit) }
    }

    pub(crate) fn form(field: impl Into<String>, rule: &'static str) -> Self {
        Self { field: field.into(), reason: Reason::Form(rule) }
    }

    /// Prefixes the field path with `parent`.
    #[must_use]
    pub(crate) fn inside(mut self, parent: impl fmt::Display) -> Self {
        self.field = format!("{parent}.{}", self.field);
        self
    }

    /// Returns the path of the invalid field, such as `tools[1].server_label`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns whether a required value is missing or empty.
    pub fn is_empty(&self) -> bool {
        self.reason == Reason::Empty
    }

    /// Returns whether a number is out of range.
    pub fn is_range(&self) -> bool {
        matches!(self.reason, Reason::Range(_))
    }

    /// Returns whether a string or list is too long.
    pub fn is_too_long(&self) -> bool {
        matches!(self.reason, Reason::Long(..))
    }

    /// Returns whether a string or a combination of fields is malformed.
    pub fn is_form(&self) -> bool {
        matches!(self.reason, Reason::Form(_))
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field;
        match &self.reason {
            Reason::Empty => write!(f, "{field} is missing or empty"),
            Reason::Range(range) => write!(f, "{field} is outside of {range}"),
            Reason::Long(limit, unit) => write!(f, "{field} has more than {limit} {unit}"),
            Reason::Form(rule) => write!(f, "{field} {rule}"),
        }
    }
}

impl std::error::Error for Invalid {}

/// Rejects an empty string or list.
pub(crate) fn present(field: &str, is_empty: bool) -> Result<(), Invalid> {
    if is_empty { Err(Invalid::empty(field)) } else { Ok(()) }
}

/// Rejects a number out of range, and NaN.
pub(crate) fn within<T: PartialOrd + fmt::Display + Copy>(
    field: &str,
    value: Option<T>,
    from: T,
    to: T,
) -> Result<(), Invalid> {
    match value {
        Some(value) if !(value >= from && value <= to) => Err(Invalid::range(field, from, to)),
        _ => Ok(()),
    }
}

/// Rejects a length above `limit`.
pub(crate) fn at_most(field: &str, len: usize, limit: usize, unit: &'static str) -> Result<(), Invalid> {
    if len > limit { Err(Invalid::long(field, limit, unit)) } else { Ok(()) }
}
