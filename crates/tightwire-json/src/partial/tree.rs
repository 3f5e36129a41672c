//! Operations on trees that are still growing.

use super::Segment;
use crate::Value;

/// Adds an element, or an entry that replaces one with the same key. Returns its position in the container.
pub(super) fn add(container: &mut Value, key: &str, value: Value) -> usize {
    match container {
        Value::Array(items) => {
            items.push(value);
            items.len() - 1
        }
        Value::Object(map) => {
            map.insert(key.to_owned(), value);
            map.keys().position(|other| other == key).unwrap_or_default()
        }
        _ => 0,
    }
}

/// Exchanges the value at a position of a container with `value`.
pub(super) fn swap(container: &mut Value, position: usize, value: &mut Value) {
    let slot = match container {
        Value::Array(items) => items.get_mut(position),
        Value::Object(map) => map.values_mut().nth(position),
        _ => None,
    };
    if let Some(slot) = slot {
        std::mem::swap(slot, value);
    }
}

/// Returns the child at a position of a container.
pub(super) fn child(container: &Value, position: usize) -> Option<(Segment<'_>, &Value)> {
    match container {
        Value::Array(items) => items.get(position).map(|item| (Segment::Index(position), item)),
        Value::Object(map) => map.iter().nth(position).map(|(key, value)| (Segment::Key(key), value)),
        _ => None,
    }
}

/// Appends to an open string, in amortized constant time per byte.
pub(super) fn append(string: Option<&mut Value>, text: &str) {
    if let Some(Value::String(string)) = string {
        string.push_str(text);
    }
}

/// Ends the growth of a value.
pub(super) fn complete(_value: &mut Value) {}
