//! Parser for the configuration file.

use std::collections::BTreeMap;

use super::value::Raw;

/// Parses a TOML file: setting names with their values, and a message for each value of an unsupported type.
///
/// # Errors
///
/// Returns a message if the text is not TOML. No message contains a value.
pub(super) fn read(text: &str) -> Result<(BTreeMap<String, Raw>, Vec<String>), String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        // The message of the TOML parser would quote the line, which may contain a password.
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        line.map_or_else(|| "invalid TOML".into(), |line| format!("line {line}: invalid TOML"))
    })?;
    let mut values = BTreeMap::new();
    let mut problems = Vec::new();
    for (key, value) in table {
        match raw(value) {
            Some(value) => drop(values.insert(key, value)),
            None => problems.push(format!("{}: expected a value or an array of values", key.escape_debug())),
        }
    }
    Ok((values, problems))
}

fn raw(value: toml::Value) -> Option<Raw> {
    match value {
        toml::Value::Array(items) => items.into_iter().map(scalar).collect::<Option<_>>().map(Raw::Items),
        value => scalar(value).map(Raw::Text),
    }
}

fn scalar(value: toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(is_on) => Some(is_on.to_string()),
        toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => None,
    }
}
