//! Converts typed answers to values.

use psrp::host::FieldDescription;
use psrp::value::{DateTime, Decimal, PsString, TimeSpan, Value, Version};
use uuid::Uuid;

/// How the answer to a prompt field is read and converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    /// Secure string; not echoed.
    Secure,
    /// Credential: user name and password.
    Credential,
    /// List of values.
    List(Box<Self>),
    /// Value of a type converted locally.
    Scalar(ScalarType),
    /// Text that the server converts.
    Text,
}

/// Types that are converted locally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarType {
    Bool,
    Char,
    SByte,
    Byte,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Single,
    Double,
    Decimal,
    Guid,
    Version,
    DateTime,
    TimeSpan,
    Uri,
    ScriptBlock,
}

impl FieldType {
    pub(super) fn of(field: &FieldDescription) -> Self {
        let name = [&field.parameter_type_full_name, &field.parameter_type_name]
            .into_iter()
            .flatten()
            .find(|name| !name.is_empty());
        name.map_or(Self::Text, |name| Self::named(&name.to_str_lossy()))
    }

    fn named(name: &str) -> Self {
        if let Some(item) = name.strip_suffix("[]") {
            return match Self::named(item) {
                // Nested arrays cannot be entered.
                Self::List(_) => Self::Text,
                item => Self::List(Box::new(item)),
            };
        }
        // The first generic argument is in brackets, followed by its assembly after a comma.
        if let Some((outer, arguments)) = name.split_once('[') {
            let argument = arguments.trim_start_matches('[').split([',', ']']).next().unwrap_or_default();
            let inner = Self::named(argument.trim());
            return match outer.to_ascii_lowercase().trim_start_matches("system.") {
                "nullable`1" => inner,
                outer if outer.starts_with("collections.") && outer.ends_with("`1") => {
                    Self::List(Box::new(inner))
                }
                _ => Self::Text,
            };
        }
        let lower = name.to_ascii_lowercase();
        Self::Scalar(match lower.trim_start_matches("system.") {
            "security.securestring" | "securestring" => return Self::Secure,
            "management.automation.pscredential" | "pscredential" => return Self::Credential,
            "collections.arraylist" | "collections.ilist" => return Self::List(Box::new(Self::Text)),
            "boolean" | "bool" | "management.automation.switchparameter" | "switchparameter" => {
                ScalarType::Bool
            }
            "char" => ScalarType::Char,
            "sbyte" => ScalarType::SByte,
            "byte" => ScalarType::Byte,
            "int16" | "short" => ScalarType::Int16,
            "uint16" | "ushort" => ScalarType::UInt16,
            "int32" | "int" => ScalarType::Int32,
            "uint32" | "uint" => ScalarType::UInt32,
            "int64" | "long" => ScalarType::Int64,
            "uint64" | "ulong" => ScalarType::UInt64,
            "single" | "float" => ScalarType::Single,
            "double" => ScalarType::Double,
            "decimal" => ScalarType::Decimal,
            "guid" => ScalarType::Guid,
            "version" => ScalarType::Version,
            "datetime" => ScalarType::DateTime,
            "timespan" => ScalarType::TimeSpan,
            "uri" => ScalarType::Uri,
            "management.automation.scriptblock" | "scriptblock" => ScalarType::ScriptBlock,
            _ => return Self::Text,
        })
    }

    /// Converts a text, `None` if it is not a valid value.
    pub(super) fn convert(&self, text: &str) -> Option<Value> {
        let Self::Scalar(known) = self else { return Some(text.into()) };
        let trimmed = text.trim();
        Some(match known {
            ScalarType::Bool => match trimmed.trim_start_matches('$').to_ascii_lowercase().as_str() {
                "true" | "yes" | "y" | "1" => true.into(),
                "false" | "no" | "n" | "0" => false.into(),
                _ => return None,
            },
            ScalarType::Char => {
                let mut units = text.encode_utf16();
                let unit = units.next().filter(|_| units.next().is_none())?;
                Value::Char(unit)
            }
            ScalarType::SByte => trimmed.parse::<i8>().ok()?.into(),
            ScalarType::Byte => trimmed.parse::<u8>().ok()?.into(),
            ScalarType::Int16 => trimmed.parse::<i16>().ok()?.into(),
            ScalarType::UInt16 => trimmed.parse::<u16>().ok()?.into(),
            ScalarType::Int32 => trimmed.parse::<i32>().ok()?.into(),
            ScalarType::UInt32 => trimmed.parse::<u32>().ok()?.into(),
            ScalarType::Int64 => trimmed.parse::<i64>().ok()?.into(),
            ScalarType::UInt64 => trimmed.parse::<u64>().ok()?.into(),
            ScalarType::Single => trimmed.parse::<f32>().ok()?.into(),
            ScalarType::Double => trimmed.parse::<f64>().ok()?.into(),
            ScalarType::Decimal => trimmed.parse::<Decimal>().ok()?.into(),
            ScalarType::Guid => trimmed.parse::<Uuid>().ok()?.into(),
            ScalarType::Version => trimmed.parse::<Version>().ok()?.into(),
            // The server parses other spellings of dates and time spans.
            ScalarType::DateTime => trimmed.parse::<DateTime>().map_or_else(|_| trimmed.into(), Value::from),
            ScalarType::TimeSpan => trimmed.parse::<TimeSpan>().map_or_else(|_| trimmed.into(), Value::from),
            ScalarType::Uri => Value::Uri(PsString::from(trimmed)),
            ScalarType::ScriptBlock => Value::ScriptBlock(PsString::from(text)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_recognized_by_name() {
        let one = |known| FieldType::Scalar(known);
        let list = |item| FieldType::List(Box::new(item));
        for (name, expected) in [
            ("System.Int32", one(ScalarType::Int32)),
            ("int", one(ScalarType::Int32)),
            ("System.String", FieldType::Text),
            ("System.Security.SecureString", FieldType::Secure),
            ("System.Management.Automation.PSCredential", FieldType::Credential),
            ("System.String[]", list(FieldType::Text)),
            ("System.Int64[]", list(one(ScalarType::Int64))),
            ("System.Int32[][]", FieldType::Text),
            ("System.Nullable`1[[System.Double, mscorlib, Version=4.0.0.0]]", one(ScalarType::Double)),
            ("System.Collections.Generic.List`1[[System.Int32, mscorlib]]", list(one(ScalarType::Int32))),
            ("System.Collections.ArrayList", list(FieldType::Text)),
            ("Contoso.Widget", FieldType::Text),
            ("[", FieldType::Text),
            ("", FieldType::Text),
        ] {
            assert_eq!(FieldType::named(name), expected, "{name}");
        }
    }

    #[test]
    fn texts_are_converted_to_the_type() {
        let convert = |name: &str, text: &str| FieldType::named(name).convert(text);
        assert_eq!(convert("System.Int32", " 42 "), Some(Value::Int32(42)));
        assert_eq!(convert("System.Byte", "256"), None);
        assert_eq!(convert("System.Boolean", "$True"), Some(Value::Bool(true)));
        assert_eq!(convert("System.Boolean", "perhaps"), None);
        assert_eq!(convert("System.Char", "x"), Some(Value::Char(120)));
        assert_eq!(convert("System.Char", "xy"), None);
        assert_eq!(convert("System.String", " x "), Some(" x ".into()));
        assert_eq!(convert("System.Decimal", "1.50"), Some("1.50".parse::<Decimal>().unwrap().into()));
        assert_eq!(convert("System.DateTime", "next monday"), Some("next monday".into()));
    }
}
