//! Text forms of values.

use std::borrow::Cow;

use uuid::fmt::Hyphenated;

use crate::value::Base;
use crate::value::ascii::AsciiBuffer;
use crate::{PsString, Value};

/// The text form of a value.
pub(in crate::serde) enum Text<'v> {
    Borrowed(&'v PsString),
    Owned(String),
    Short(AsciiBuffer),
    Unit(u16),
}

impl Text<'_> {
    /// Returns the text, or `None` if it contains a lone surrogate.
    pub(in crate::serde) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Borrowed(text) => text.as_str(),
            Self::Owned(text) => Some(text),
            Self::Short(text) => Some(text.as_str()),
            Self::Unit(_) => None,
        }
    }

    /// Returns the text, with U+FFFD in place of each lone surrogate.
    pub(in crate::serde) fn lossy(&self) -> Cow<'_, str> {
        match self {
            Self::Borrowed(text) => text.to_str_lossy(),
            Self::Owned(text) => Cow::Borrowed(text),
            Self::Short(text) => Cow::Borrowed(text.as_str()),
            Self::Unit(_) => Cow::Borrowed("\u{FFFD}"),
        }
    }

    pub(in crate::serde) fn into_ps_string(self) -> PsString {
        match self {
            Self::Borrowed(text) => text.clone(),
            Self::Owned(text) => text.into(),
            Self::Short(text) => text.as_str().into(),
            Self::Unit(unit) => PsString::from_utf16(&[unit]),
        }
    }
}

/// Returns the text form of a value: a string, a value that is written as text, or the result of `ToString`.
///
/// Numbers, booleans, bytes and secrets have none.
pub(in crate::serde) fn text(value: &Value) -> Option<Text<'_>> {
    Some(match value {
        Value::String(text) | Value::Uri(text) | Value::Xml(text) | Value::ScriptBlock(text) => {
            Text::Borrowed(text)
        }
        Value::Char(unit) => match char::from_u32(u32::from(*unit)) {
            Some(char) => Text::Owned(char.into()),
            None => Text::Unit(*unit),
        },
        Value::Guid(id) => {
            let mut text = AsciiBuffer::new();
            text.push_bytes(id.hyphenated().encode_lower(&mut [0; Hyphenated::LENGTH]).as_bytes());
            Text::Short(text)
        }
        Value::Version(version) => Text::Owned(version.to_string()),
        Value::DateTime(time) => Text::Short(time.text()),
        Value::TimeSpan(span) => Text::Short(span.text()),
        Value::Decimal(number) => Text::Short(number.text()),
        Value::Object(object) => {
            let wrapped = match object.base() {
                Base::Value(_) => text_of_base(value.base()),
                _ => None,
            };
            return wrapped.or_else(|| object.to_string_text().map(Text::Borrowed));
        }
        _ => return None,
    })
}

/// Returns the text form of a wrapped value; nested objects were already unwrapped.
fn text_of_base(base: &Value) -> Option<Text<'_>> {
    match base {
        Value::Object(object) => object.to_string_text().map(Text::Borrowed),
        base => text(base),
    }
}
