//! Typed answers.

use psrp::host::FieldDescription;
use psrp::value::{DateTime, Decimal, PsString, TimeSpan, Value, Version};
use uuid::Uuid;

/// What kind of answer a field of a prompt takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    /// A text that is not shown.
    Secure,
    /// A user and a password.
    Credential,
    /// Several answers.
    List(Box<Self>),
    /// A value of a type that is known here, by its name without `System.` and in lower case.
    One(Known),
    /// A value that the server converts from text.
    Text,
}

/// The types that are converted here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
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
                // An array of arrays is more than a user can type.
                Self::List(_) => Self::Text,
                item => Self::List(Box::new(item)),
            };
        }
        // The first argument of a generic type stands between brackets, with its assembly after a comma.
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
        Self::One(match lower.trim_start_matches("system.") {
            "security.securestring" | "securestring" => return Self::Secure,
            "management.automation.pscredential" | "pscredential" => return Self::Credential,
            "collections.arraylist" | "collections.ilist" => return Self::List(Box::new(Self::Text)),
            "boolean" | "bool" | "management.automation.switchparameter" | "switchparameter" => Known::Bool,
            "char" => Known::Char,
            "sbyte" => Known::SByte,
            "byte" => Known::Byte,
            "int16" | "short" => Known::Int16,
            "uint16" | "ushort" => Known::UInt16,
            "int32" | "int" => Known::Int32,
            "uint32" | "uint" => Known::UInt32,
            "int64" | "long" => Known::Int64,
            "uint64" | "ulong" => Known::UInt64,
            "single" | "float" => Known::Single,
            "double" => Known::Double,
            "decimal" => Known::Decimal,
            "guid" => Known::Guid,
            "version" => Known::Version,
            "datetime" => Known::DateTime,
            "timespan" => Known::TimeSpan,
            "uri" => Known::Uri,
            "management.automation.scriptblock" | "scriptblock" => Known::ScriptBlock,
            _ => return Self::Text,
        })
    }

    /// The value of a text, `None` if it is none of the type.
    pub(super) fn convert(&self, text: &str) -> Option<Value> {
        let Self::One(known) = self else { return Some(text.into()) };
        let trimmed = text.trim();
        Some(match known {
            Known::Bool => match trimmed.trim_start_matches('$').to_ascii_lowercase().as_str() {
                "true" | "yes" | "y" | "1" => true.into(),
                "false" | "no" | "n" | "0" => false.into(),
                _ => return None,
            },
            Known::Char => {
                let mut units = text.encode_utf16();
                let unit = units.next().filter(|_| units.next().is_none())?;
                Value::Char(unit)
            }
            Known::SByte => trimmed.parse::<i8>().ok()?.into(),
            Known::Byte => trimmed.parse::<u8>().ok()?.into(),
            Known::Int16 => trimmed.parse::<i16>().ok()?.into(),
            Known::UInt16 => trimmed.parse::<u16>().ok()?.into(),
            Known::Int32 => trimmed.parse::<i32>().ok()?.into(),
            Known::UInt32 => trimmed.parse::<u32>().ok()?.into(),
            Known::Int64 => trimmed.parse::<i64>().ok()?.into(),
            Known::UInt64 => trimmed.parse::<u64>().ok()?.into(),
            Known::Single => trimmed.parse::<f32>().ok()?.into(),
            Known::Double => trimmed.parse::<f64>().ok()?.into(),
            Known::Decimal => trimmed.parse::<Decimal>().ok()?.into(),
            Known::Guid => trimmed.parse::<Uuid>().ok()?.into(),
            Known::Version => trimmed.parse::<Version>().ok()?.into(),
            // Dates and spans are typed in many ways: the server takes the text of those that are not known here.
            Known::DateTime => trimmed.parse::<DateTime>().map_or_else(|_| trimmed.into(), Value::from),
            Known::TimeSpan => trimmed.parse::<TimeSpan>().map_or_else(|_| trimmed.into(), Value::from),
            Known::Uri => Value::Uri(PsString::from(trimmed)),
            Known::ScriptBlock => Value::ScriptBlock(PsString::from(text)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_their_names() {
        let one = |known| FieldType::One(known);
        let list = |item| FieldType::List(Box::new(item));
        for (name, expected) in [
            ("System.Int32", one(Known::Int32)),
            ("int", one(Known::Int32)),
            ("System.String", FieldType::Text),
            ("System.Security.SecureString", FieldType::Secure),
            ("System.Management.Automation.PSCredential", FieldType::Credential),
            ("System.String[]", list(FieldType::Text)),
            ("System.Int64[]", list(one(Known::Int64))),
            ("System.Int32[][]", FieldType::Text),
            ("System.Nullable`1[[System.Double, mscorlib, Version=4.0.0.0]]", one(Known::Double)),
            ("System.Collections.Generic.List`1[[System.Int32, mscorlib]]", list(one(Known::Int32))),
            ("System.Collections.ArrayList", list(FieldType::Text)),
            ("Contoso.Widget", FieldType::Text),
            ("[", FieldType::Text),
            ("", FieldType::Text),
        ] {
            assert_eq!(FieldType::named(name), expected, "{name}");
        }
    }

    #[test]
    fn texts_become_values_of_the_type() {
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
