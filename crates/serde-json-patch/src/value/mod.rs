//! Tree of values of unknown types.

mod de;
mod from;
mod index;
mod partial_eq;
mod ser;

use std::fmt::{self, Debug, Display};

use serde::de::DeserializeOwned;
use serde::ser::Serialize;

pub use self::index::Index;
pub use self::ser::Serializer;
use crate::error::Error;
pub use crate::map::Map;
pub use crate::number::Number;
#[cfg(feature = "raw_value")]
pub use crate::raw::{RawValue, to_raw_value};

/// Any JSON value.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub enum Value {
    /// The literal `null`.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object.
    Object(Map<String, Self>),
}

impl Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(value) => write!(f, "Bool({value})"),
            Self::Number(number) => Debug::fmt(number, f),
            Self::String(text) => write!(f, "String({text:?})"),
            Self::Array(elements) => {
                f.write_str("Array ")?;
                Debug::fmt(elements, f)
            }
            Self::Object(entries) => {
                f.write_str("Object ")?;
                Debug::fmt(entries, f)
            }
        }
    }
}

/// Writes JSON, indented by two spaces with `{:#}`.
impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if f.alternate() { crate::to_string_pretty(self) } else { crate::to_string(self) };
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

impl Value {
    /// Returns the element or the value at an index or key, `None` if there is none or if the value is of another type.
    pub fn get<I: Index>(&self, index: I) -> Option<&Self> {
        index.index_into(self)
    }

    /// Returns the element or the value at an index or key, `None` if there is none or if the value is of another type.
    pub fn get_mut<I: Index>(&mut self, index: I) -> Option<&mut Self> {
        index.index_into_mut(self)
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_object().is_some()
    }

    /// Returns the entries if the value is an object.
    pub fn as_object(&self) -> Option<&Map<String, Self>> {
        match self {
            Self::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the entries if the value is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Map<String, Self>> {
        match self {
            Self::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns whether the value is an array.
    pub fn is_array(&self) -> bool {
        self.as_array().is_some()
    }

    /// Returns the elements if the value is an array.
    pub fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the elements if the value is an array.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns whether the value is a string.
    pub fn is_string(&self) -> bool {
        self.as_str().is_some()
    }

    /// Returns the text if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the value is a number.
    pub fn is_number(&self) -> bool {
        self.as_number().is_some()
    }

    /// Returns the number if the value is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns whether the value is an integer that `i64` can represent.
    pub fn is_i64(&self) -> bool {
        self.as_number().is_some_and(Number::is_i64)
    }

    /// Returns whether the value is an integer that `u64` can represent.
    pub fn is_u64(&self) -> bool {
        self.as_number().is_some_and(Number::is_u64)
    }

    /// Returns whether the value is a float; see [`Number::is_f64`].
    pub fn is_f64(&self) -> bool {
        self.as_number().is_some_and(Number::is_f64)
    }

    /// Returns the integer if the value is one that `i64` can represent.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Returns the integer if the value is one that `u64` can represent.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Returns the nearest float if the value is a number.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// Returns whether the value is a boolean.
    pub fn is_boolean(&self) -> bool {
        self.as_bool().is_some()
    }

    /// Returns the boolean if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns `()` if the value is `null`.
    pub fn as_null(&self) -> Option<()> {
        self.is_null().then_some(())
    }

    /// Returns the value at a JSON Pointer (RFC 6901).
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        let mut tokens = tokens(pointer)?;
        tokens.try_fold(self, |value, token| match value {
            Self::Object(entries) => entries.get(&token),
            Self::Array(elements) => elements.get(array_index(&token)?),
            _ => None,
        })
    }

    /// Returns the value at a JSON Pointer (RFC 6901).
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        let mut tokens = tokens(pointer)?;
        tokens.try_fold(self, |value, token| match value {
            Self::Object(entries) => entries.get_mut(&token),
            Self::Array(elements) => elements.get_mut(array_index(&token)?),
            _ => None,
        })
    }

    /// Returns the value and leaves `null`.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Sorts the entries of all objects by key. They already are without the feature `preserve_order`.
    pub fn sort_all_objects(&mut self) {
        #[cfg(feature = "preserve_order")]
        match self {
            Self::Object(entries) => {
                entries.sort_keys();
                entries.values_mut().for_each(Self::sort_all_objects);
            }
            Self::Array(elements) => elements.iter_mut().for_each(Self::sort_all_objects),
            _ => {}
        }
    }
}

/// Returns the unescaped tokens of a JSON Pointer, `None` if it does not begin with a slash.
fn tokens(pointer: &str) -> Option<impl Iterator<Item = String>> {
    let is_valid = pointer.is_empty() || pointer.starts_with('/');
    is_valid.then(|| pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")))
}

/// Returns the index of an array that a token of a JSON Pointer is.
fn array_index(token: &str) -> Option<usize> {
    if token.starts_with('+') || (token.starts_with('0') && token.len() > 1) {
        return None;
    }
    token.parse().ok()
}

impl Default for &Value {
    fn default() -> Self {
        static NULL: Value = Value::Null;
        &NULL
    }
}

/// Converts a value to a tree.
///
/// # Errors
///
/// If the `Serialize` implementation fails, or if a map has a key that is no string.
pub fn to_value<T>(value: T) -> Result<Value, Error>
where
    T: Serialize,
{
    value.serialize(Serializer)
}

/// Converts a tree to a value.
///
/// # Errors
///
/// If the tree has not the structure that the type expects.
pub fn from_value<T>(value: Value) -> Result<T, Error>
where
    T: DeserializeOwned,
{
    T::deserialize(value)
}
