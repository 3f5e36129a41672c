//! The settings of a file.

use std::collections::BTreeMap;

use super::value::Raw;

/// Reads a file of TOML: names of settings with their values.
///
/// # Errors
///
/// All that is wrong with it, in words that show no value.
pub(super) fn read(text: &str) -> Result<(BTreeMap<String, Raw>, Vec<String>), String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        // Its own text would show the line, which may hold a password.
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        line.map_or_else(|| "it is no TOML".into(), |line| format!("line {line} is no TOML"))
    })?;
    let mut values = BTreeMap::new();
    let mut problems = Vec::new();
    for (key, value) in table {
        match raw(value) {
            Some(value) => drop(values.insert(key, value)),
            None => problems.push(format!("{} is neither one value nor a list of them", key.escape_debug())),
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
