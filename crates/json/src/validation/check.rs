//! Runs rules and reports what they reject.

use std::fmt::Display;

use garde::Validate;
use garde::i18n::with_i18n;

use super::messages::{Marks, field_error};
use super::{FieldError, ValidationErrors};
use crate::errno::Language;

/// Runs the rules of a type.
///
/// # Errors
///
/// All rejected fields, in the order in which the type declares them, with messages in `language`.
pub fn validate<T>(value: &T, language: Language) -> Result<(), ValidationErrors>
where
    T: Validate<Context: Default> + ?Sized,
{
    let Err(report) = with_i18n(Marks, || value.validate()) else {
        return Ok(());
    };
    Err(report.iter().map(|(path, error)| field_error(path, error, language)).collect())
}

/// Runs a check of one's own first and the rules of the type only when it passes.
///
/// # Errors
///
/// The text of the check's error with the field `global` and the tag `custom`, or all rejected fields.
///
/// ```
/// use garde::Validate;
/// use json::errno::Language;
/// use json::validation::validate_with;
///
/// #[derive(Validate)]
/// struct Range {
///     #[garde(range(min = 0))]
///     first: i64,
///     #[garde(skip)]
///     last: i64,
/// }
///
/// let ordered = |range: &Range| if range.first <= range.last { Ok(()) } else { Err("first is after last") };
/// let errors = validate_with(&Range { first: 2, last: 1 }, Language::English, ordered).unwrap_err();
/// assert_eq!(errors.to_string(), "validation failed: first is after last");
/// assert_eq!(errors.first().unwrap().field, "global");
/// ```
pub fn validate_with<T, E>(
    value: &T,
    language: Language,
    check: impl FnOnce(&T) -> Result<(), E>,
) -> Result<(), ValidationErrors>
where
    T: Validate<Context: Default> + ?Sized,
    E: Display,
{
    check(value).map_err(|error| ValidationErrors::new([FieldError::global(error.to_string())]))?;
    validate(value, language)
}
