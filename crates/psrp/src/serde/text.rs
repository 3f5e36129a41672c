//! Text forms of values.

use std::borrow::Cow;

use uuid::fmt::Hyphenated;

use crate::value::Base;
use crate::{PsString, Value};

/// Returns the text form of a value: a string, a value that is written as text, or the result of `ToString`.
///
/// Numbers, booleans, bytes and secrets have none.
pub(super) fn text(value: &Value) -> Option<Cow<'_, PsString>> {
    let text = match value {
        Value::String(text) | Value::Uri(text) | Value::Xml(text) | Value::ScriptBlock(text) => {
            return Some(Cow::Borrowed(text));
        }
        Value::Object(object) => {
            let wrapped = match (object.base(), value.base()) {
                (Base::Value(_), Value::Object(inner)) => inner.to_string_text().map(Cow::Borrowed),
                (Base::Value(_), inner) => text(inner),
                _ => None,
            };
            return wrapped.or_else(|| object.to_string_text().map(Cow::Borrowed));
        }
        Value::Char(unit) => PsString::from_utf16(&[*unit]),
        Value::Guid(id) => (&*id.hyphenated().encode_lower(&mut [0; Hyphenated::LENGTH])).into(),
        Value::Version(version) => version.to_string().into(),
        Value::DateTime(time) => time.text().as_str().into(),
        Value::TimeSpan(span) => span.text().as_str().into(),
        Value::Decimal(number) => number.text().as_str().into(),
        _ => return None,
    };
    Some(Cow::Owned(text))
}
