//! Values that have a text.

use std::borrow::Cow;

use uuid::fmt::Hyphenated;

use crate::value::Base;
use crate::value::ascii::AsciiBuffer;
use crate::{PsString, Value};

/// The text of a value.
pub(in crate::serde) enum Text<'v> {
    Kept(&'v PsString),
    Made(String),
    Short(AsciiBuffer),
    Unit(u16),
}

impl Text<'_> {
    /// The text, unless it has a lone surrogate.
    pub(in crate::serde) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Kept(text) => text.as_str(),
            Self::Made(text) => Some(text),
            Self::Short(text) => Some(text.as_str()),
            Self::Unit(_) => None,
        }
    }

    /// The text, with U+FFFD in place of each lone surrogate.
    pub(in crate::serde) fn lossy(&self) -> Cow<'_, str> {
        match self {
            Self::Kept(text) => text.to_str_lossy(),
            Self::Made(text) => Cow::Borrowed(text),
            Self::Short(text) => Cow::Borrowed(text.as_str()),
            Self::Unit(_) => Cow::Borrowed("\u{FFFD}"),
        }
    }

    pub(in crate::serde) fn into_ps_string(self) -> PsString {
        match self {
            Self::Kept(text) => text.clone(),
            Self::Made(text) => text.into(),
            Self::Short(text) => text.as_str().into(),
            Self::Unit(unit) => PsString::from_utf16(&[unit]),
        }
    }
}

/// The text of a value: that of a string, of a value that is written as text, or what `ToString` gave.
///
/// Numbers, booleans and bytes have none, and neither have secrets.
pub(in crate::serde) fn text(value: &Value) -> Option<Text<'_>> {
    Some(match value {
        Value::String(text) | Value::Uri(text) | Value::Xml(text) | Value::ScriptBlock(text) => {
            Text::Kept(text)
        }
        Value::Char(unit) => match char::from_u32(u32::from(*unit)) {
            Some(char) => Text::Made(char.into()),
            None => Text::Unit(*unit),
        },
        Value::Guid(id) => {
            let mut text = AsciiBuffer::new();
            text.push_bytes(id.hyphenated().encode_lower(&mut [0; Hyphenated::LENGTH]).as_bytes());
            Text::Short(text)
        }
        Value::Version(version) => Text::Made(version.to_string()),
        Value::DateTime(time) => Text::Short(time.text()),
        Value::TimeSpan(span) => Text::Short(span.text()),
        Value::Decimal(number) => Text::Short(number.text()),
        Value::Object(object) => {
            let wrapped = match object.base() {
                Base::Value(_) => text_of_base(value.base()),
                _ => None,
            };
            return wrapped.or_else(|| object.to_string_text().map(Text::Kept));
        }
        _ => return None,
    })
}

/// The text of what an object wraps; objects are looked through already.
fn text_of_base(base: &Value) -> Option<Text<'_>> {
    match base {
        Value::Object(object) => object.to_string_text().map(Text::Kept),
        base => text(base),
    }
}
