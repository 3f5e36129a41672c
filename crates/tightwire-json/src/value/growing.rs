//! Changes of a tree whose document is still being received, for [`crate::partial`]. Positions avoid comparing keys.

use super::Value;
use crate::Segment;

/// Adds an element, or an entry that replaces one with the same key. Returns its position in the container.
pub(crate) fn add(container: &mut Value, key: &str, value: Value) -> usize {
    match container {
        Value::Array(items) => {
            let items = items.to_mut();
            items.push(value);
            items.len() - 1
        }
        Value::Object(map) => {
            let found = map.find(key.as_bytes()).map(|(position, _)| position);
            let entries = map.to_mut();
            if let Some(position) = found
                && let Some(slot) = entries.values_mut().get_mut(position)
            {
                *slot = value;
                return position;
            }
            entries.push(key.into(), value);
            entries.keys().len() - 1
        }
        _ => 0,
    }
}

/// Returns the value at a position of a container, for changes.
pub(crate) fn child_mut(container: &mut Value, position: usize) -> Option<&mut Value> {
    match container {
        Value::Array(items) => items.to_mut().get_mut(position),
        Value::Object(map) => map.to_mut().values_mut().get_mut(position),
        _ => None,
    }
}

/// Exchanges the value at a position of a container with `value`.
pub(crate) fn swap(container: &mut Value, position: usize, value: &mut Value) {
    if let Some(slot) = child_mut(container, position) {
        std::mem::swap(slot, value);
    }
}

/// Returns the value at a position of a container.
pub(crate) fn child(container: &Value, position: usize) -> Option<(Segment<&str>, &Value)> {
    match container {
        Value::Array(items) => items.get(position).map(|item| (Segment::Index(position), item)),
        Value::Object(map) => {
            map.iter().nth(position).map(|(key, value)| (Segment::Key(key.as_str()), value))
        }
        _ => None,
    }
}

/// Appends to an open string, in amortized constant time per byte.
pub(crate) fn append(string: Option<&mut Value>, text: &str) {
    if let Some(Value::String(string)) = string {
        string.push_str(text);
    }
}

/// Ends the growth of a value.
pub(crate) fn complete(value: &mut Value) {
    if let Value::String(string) = value {
        string.shrink();
    }
}
