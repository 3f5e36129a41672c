//! Converts typed answers to values.

use std::str::FromStr;

use psrp::host::FieldDescription;
use psrp::value::{DateTime, Decimal, TimeSpan, Value, Version};
use uuid::Uuid;

/// How the answer to a prompt field is read and converted.
#[derive(Clone, Debug)]
pub(super) enum FieldType {
    /// Secure string; not echoed.
    Secure,
    /// Credential: user name and password.
    Credential,
    /// List of values.
    List(Box<Self>),
    /// Value converted by this function, which returns `None` for an invalid text.
    Scalar(fn(&str) -> Option<Value>),
    /// Text that the server converts.
    Text,
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
            "boolean" | "bool" | "management.automation.switchparameter" | "switchparameter" => boolean,
            "char" => |text| {
                let mut units = text.encode_utf16();
                units.next().filter(|_| units.next().is_none()).map(Value::Char)
            },
            "sbyte" => parse::<i8>,
            "byte" => parse::<u8>,
            "int16" | "short" => parse::<i16>,
            "uint16" | "ushort" => parse::<u16>,
            "int32" | "int" => parse::<i32>,
            "uint32" | "uint" => parse::<u32>,
            "int64" | "long" => parse::<i64>,
            "uint64" | "ulong" => parse::<u64>,
            "single" | "float" => parse::<f32>,
            "double" => parse::<f64>,
            "decimal" => parse::<Decimal>,
            "guid" => parse::<Uuid>,
            "version" => parse::<Version>,
            // The server parses other spellings of dates and time spans.
            "datetime" => |text| parse::<DateTime>(text).or_else(|| Some(text.trim().into())),
            "timespan" => |text| parse::<TimeSpan>(text).or_else(|| Some(text.trim().into())),
            "uri" => |text| Some(Value::Uri(text.trim().into())),
            "management.automation.scriptblock" | "scriptblock" => {
                |text| Some(Value::ScriptBlock(text.into()))
            }
            _ => return Self::Text,
        })
    }

    /// Converts a text, `None` if it is not a valid value.
    pub(super) fn convert(&self, text: &str) -> Option<Value> {
        match self {
            Self::Scalar(convert) => convert(text),
            _ => Some(text.into()),
        }
    }
}

fn parse<T: FromStr + Into<Value>>(text: &str) -> Option<Value> {
    text.trim().parse::<T>().ok().map(Into::into)
}

fn boolean(text: &str) -> Option<Value> {
    match text.trim().trim_start_matches('$').to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "1" => Some(true.into()),
        "false" | "no" | "n" | "0" => Some(false.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_recognized_by_name() {
        let shape = |name| match FieldType::named(name) {
            FieldType::List(item) => format!("List({:?})", item.convert("1").unwrap()),
            FieldType::Scalar(convert) => format!("{:?}", convert("1").unwrap()),
            other => format!("{other:?}"),
        };
        for (name, expected) in [
            ("System.Int32", "Int32(1)"),
            ("int", "Int32(1)"),
            ("System.String", "Text"),
            ("System.Security.SecureString", "Secure"),
            ("System.Management.Automation.PSCredential", "Credential"),
            ("System.String[]", "List(String(\"1\"))"),
            ("System.Int64[]", "List(Int64(1))"),
            ("System.Int32[][]", "Text"),
            ("System.Nullable`1[[System.Double, mscorlib, Version=4.0.0.0]]", "Double(1.0)"),
            ("System.Collections.Generic.List`1[[System.Int32, mscorlib]]", "List(Int32(1))"),
            ("System.Collections.ArrayList", "List(String(\"1\"))"),
            ("Contoso.Widget", "Text"),
            ("[", "Text"),
            ("", "Text"),
        ] {
            assert_eq!(shape(name), expected, "{name}");
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
