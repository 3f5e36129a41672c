//! Descriptions of values in errors.

use crate::Value;
use crate::value::Base;

const NAMES: [&str; 25] = [
    "$null",
    "a boolean",
    "a character",
    "an integer",
    "a floating-point number",
    "a decimal number",
    "a string",
    "a URI",
    "an XML document",
    "a script block",
    "a GUID",
    "a version",
    "a date",
    "a time span",
    "bytes",
    "a secure string",
    "a progress record",
    "a reference to an enclosing object",
    "members",
    "a list",
    "a dictionary",
    "an object",
    "an object that wraps a value",
    "a lone surrogate",
    "a dictionary entry",
];

/// Returns whether the text is a result of [`name`] and so contains no value.
pub(super) fn is_name(text: &str) -> bool {
    NAMES.contains(&text)
}

pub(super) fn name(value: &Value) -> &'static str {
    match value {
        Value::Nil => "$null",
        Value::Bool(_) => "a boolean",
        Value::Char(_) => "a character",
        Value::SByte(_)
        | Value::Byte(_)
        | Value::Int16(_)
        | Value::UInt16(_)
        | Value::Int32(_)
        | Value::UInt32(_)
        | Value::Int64(_)
        | Value::UInt64(_) => "an integer",
        Value::Single(_) | Value::Double(_) => "a floating-point number",
        Value::Decimal(_) => "a decimal number",
        Value::String(_) => "a string",
        Value::Uri(_) => "a URI",
        Value::Xml(_) => "an XML document",
        Value::ScriptBlock(_) => "a script block",
        Value::Guid(_) => "a GUID",
        Value::Version(_) => "a version",
        Value::DateTime(_) => "a date",
        Value::TimeSpan(_) => "a time span",
        Value::Bytes(_) => "bytes",
        Value::SecureString(_) => "a secure string",
        Value::Progress(_) => "a progress record",
        Value::Cycle(_) => "a reference to an enclosing object",
        Value::MemberSet(_) => "members",
        Value::Object(object) => match object.base() {
            Base::None => "an object",
            Base::List(..) => "a list",
            Base::Dictionary(_) => "a dictionary",
            Base::Value(inner) => match inner {
                Value::Object(_) => "an object that wraps a value",
                inner => name(inner),
            },
        },
    }
}
