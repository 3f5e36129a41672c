//! What was rejected, and its form on the wire.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Value;

/// One rejected field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldError {
    /// The name of the field on the wire, with the path to it: `name`, `address.city`, `tags[2]`.
    /// `global` where a whole object was rejected.
    pub field: Cow<'static, str>,
    /// The rule that rejected it.
    pub tag: Cow<'static, str>,
    /// The rejected value; left out when `None`, which it is unless [`ValidationErrors::with_values`] was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The parameter of the rule, such as the smallest length; left out when empty.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub param: Cow<'static, str>,
    /// What is wrong, for people.
    pub message: Cow<'static, str>,
}

impl FieldError {
    /// The field of errors that concern a whole object.
    pub const GLOBAL_FIELD: &'static str = "global";
    /// The tag of rules without a name of their own.
    pub const CUSTOM_TAG: &'static str = "custom";

    /// An error without value and parameter.
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        tag: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            field: field.into(),
            tag: tag.into(),
            value: None,
            param: Cow::Borrowed(""),
            message: message.into(),
        }
    }

    /// An error about a whole object: field `global`, tag `custom`.
    pub fn global(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Self::GLOBAL_FIELD, Self::CUSTOM_TAG, message)
    }
}

/// All rejected fields of an object.
///
/// On the wire: `{"errors":[{"field","tag","value","param","message"}]}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationErrors {
    errors: Vec<FieldError>,
}

/// Rejected fields and their number, the data of a failed answer: `{"errors":[...],"count":n}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationSummary {
    /// The rejected fields.
    pub errors: Vec<FieldError>,
    /// How many there are.
    pub count: usize,
}

impl ValidationErrors {
    /// Takes errors as they are.
    pub fn new(errors: impl IntoIterator<Item = FieldError>) -> Self {
        Self { errors: errors.into_iter().collect() }
    }

    /// Adds an error.
    pub fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// The errors.
    pub fn iter(&self) -> std::slice::Iter<'_, FieldError> {
        self.errors.iter()
    }

    /// The first error.
    pub fn first(&self) -> Option<&FieldError> {
        self.errors.first()
    }

    /// The first error of a field.
    pub fn first_of(&self, field: &str) -> Option<&FieldError> {
        self.errors.iter().find(|error| error.field == field)
    }

    /// The errors of a field.
    pub fn of<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a FieldError> {
        self.errors.iter().filter(move |error| error.field == field)
    }

    /// All messages.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.errors.iter().map(|error| &*error.message)
    }

    /// The errors by field.
    pub fn by_field(&self) -> BTreeMap<&str, Vec<&FieldError>> {
        let mut fields: BTreeMap<&str, Vec<&FieldError>> = BTreeMap::new();
        for error in &self.errors {
            fields.entry(&error.field).or_default().push(error);
        }
        fields
    }

    /// How many errors there are.
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Whether nothing was rejected.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The data of a failed answer.
    pub fn into_summary(self) -> ValidationSummary {
        ValidationSummary { count: self.errors.len(), errors: self.errors }
    }

    /// Adds the rejected values, looked up by field path in the object that was validated.
    ///
    /// Values of the rules `password` and `strongpwd` are secrets and stay out. Everything else goes into answers
    /// and logs as it is, which is why this is not the default.
    ///
    /// # Errors
    ///
    /// When `object` cannot be serialized.
    pub fn with_values(mut self, object: &(impl Serialize + ?Sized)) -> crate::Result<Self> {
        let object: Value = crate::from_slice(&crate::to_vec(object)?)?;
        for error in &mut self.errors {
            if !matches!(&*error.tag, "password" | "strongpwd") {
                error.value = find(&object, &error.field).filter(|value| !value.is_null()).cloned();
            }
        }
        Ok(self)
    }
}

/// Walks a path of the form `a.b[2].c`.
fn find<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split(['.', '[']).try_fold(object, |value, step| match step.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None if step.is_empty() => Some(value),
        None => value.get(step),
    })
}

impl FromIterator<FieldError> for ValidationErrors {
    fn from_iter<I: IntoIterator<Item = FieldError>>(errors: I) -> Self {
        Self::new(errors)
    }
}

impl IntoIterator for ValidationErrors {
    type Item = FieldError;
    type IntoIter = std::vec::IntoIter<FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.errors.into_iter()
    }
}

impl<'a> IntoIterator for &'a ValidationErrors {
    type Item = &'a FieldError;
    type IntoIter = std::slice::Iter<'a, FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.errors.iter()
    }
}

impl fmt::Display for ValidationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("validation failed")?;
        for (index, error) in self.errors.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            f.write_str(&error.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for ValidationErrors {}
