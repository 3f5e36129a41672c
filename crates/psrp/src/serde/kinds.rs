//! Descriptions of values in errors.

use crate::Value;
use crate::value::Base;

macro_rules! kinds {
    ($($value:pat, $base:pat => $name:literal;)*) => {
        /// Returns whether the text is a result of [`name`] and so contains no value.
        pub(super) fn is_name(text: &str) -> bool {
            [$($name),*].contains(&text)
        }

        fn name_of(value: &Value, base: &Base) -> &'static str {
            match (value, base) {
                $(($value, $base) => $name,)*
            }
        }
    };
}

kinds! {
    Value::Nil, _ => "$null";
    Value::Bool(_), _ => "a boolean";
    Value::Char(_), _ => "a character";
    Value::SByte(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_), _ => "an integer";
    Value::Byte(_) | Value::UInt16(_) | Value::UInt32(_) | Value::UInt64(_), _ => "an integer";
    Value::Single(_) | Value::Double(_), _ => "a floating-point number";
    Value::Decimal(_), _ => "a decimal number";
    Value::String(_), _ => "a string";
    Value::Uri(_), _ => "a URI";
    Value::Xml(_), _ => "an XML document";
    Value::ScriptBlock(_), _ => "a script block";
    Value::Guid(_), _ => "a GUID";
    Value::Version(_), _ => "a version";
    Value::DateTime(_), _ => "a date";
    Value::TimeSpan(_), _ => "a time span";
    Value::Bytes(_), _ => "bytes";
    Value::SecureString(_), _ => "a secure string";
    Value::Progress(_), _ => "a progress record";
    Value::Cycle(_), _ => "a reference to an enclosing object";
    Value::MemberSet(_), _ => "members";
    Value::Object(_), Base::None => "an object";
    Value::Object(_), Base::List(..) => "a list";
    Value::Object(_), Base::Dictionary(_) => "a dictionary";
    Value::Object(_), Base::Value(_) => "an object that wraps a value";
}

pub(super) fn name(value: &Value) -> &'static str {
    match value {
        Value::Object(object) => match object.base() {
            Base::Value(inner) if !matches!(inner, Value::Object(_)) => name(inner),
            base => name_of(value, base),
        },
        value => name_of(value, &Base::None),
    }
}
