//! Runs rules and reports what they reject.

use std::fmt::Display;

use garde::Validate;
use garde::i18n::with_i18n;
use serde::Deserialize;

use super::fields::{fields_of, name_of};
use super::messages::{Marks, field_error};
use super::{FieldError, ValidationErrors};
use crate::errno::Language;

/// Runs the rules of a type.
///
/// # Errors
///
/// All rejected fields under their Rust names and in alphabetical order, as garde reports them, with messages in
/// `language`.
pub fn validate<T>(value: &T, language: Language) -> Result<(), ValidationErrors>
where
    T: Validate<Context: Default> + ?Sized,
{
    check(value, language, &[])
}

/// Runs the rules of a type that serde reads, such as the body of a request.
///
/// # Errors
///
/// All rejected fields under the names that they have on the wire and in the order in which the type declares them,
/// with messages in `language`. The names of the type itself are known from its `Deserialize` implementation and
/// matched regardless of case and separators, as `rename_all` changes them; inside nested types, and where a field
/// is renamed to another word, the Rust name stands.
pub fn validate_input<'de, T>(value: &T, language: Language) -> Result<(), ValidationErrors>
where
    T: Validate<Context: Default> + Deserialize<'de>,
{
    check(value, language, fields_of::<T>())
}

fn check<T>(value: &T, language: Language, names: &[&'static str]) -> Result<(), ValidationErrors>
where
    T: Validate<Context: Default> + ?Sized,
{
    let Err(report) = with_i18n(Marks, || value.validate()) else {
        return Ok(());
    };
    let mut errors: Vec<_> = report
        .iter()
        .map(|(path, error)| {
            let path = path.to_string();
            let end = path.find(['.', '[']).unwrap_or(path.len());
            match name_of(&path[..end], names) {
                Some((position, name)) => {
                    (position, field_error(format!("{name}{}", &path[end..]), error, language))
                }
                None => (names.len(), field_error(path, error, language)),
            }
        })
        .collect();
    // Stable, so that the errors of one field keep their order.
    errors.sort_by_key(|(position, _)| *position);
    Err(errors.into_iter().map(|(_, error)| error).collect())
}

/// Runs a check of one's own first and the rules of the type only when it passes.
///
/// # Errors
///
/// The text of the check's error with the field `global` and the tag `custom`, or all rejected fields.
///
/// ```
/// use garde::Validate;
/// use tightwire_json::errno::Language;
/// use tightwire_json::validation::validate_with;
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
