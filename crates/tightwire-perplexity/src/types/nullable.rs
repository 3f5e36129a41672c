//! Request fields that can be absent, `null` or a value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::wire::field::FieldValue;

/// A request field for which `null` differs from omitting the field.
///
/// # Examples
/// ```
/// use tightwire_perplexity::types::{Nullable, batches::CreateRequest};
///
/// let request = CreateRequest::new("file_1");
/// assert!(request.metadata.is_absent());
/// let request = request.metadata(Nullable::Null);
/// assert!(tightwire_json::to_string(&request)?.ends_with(r#""metadata":null}"#));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Nullable<T> {
    /// The field is omitted.
    #[default]
    Absent,
    /// The field is `null`.
    Null,
    /// The field has a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Returns whether the field is omitted.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns whether the field is `null`.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns a reference to the value, if any.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Returns the value, if any.
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl From<&str> for Nullable<String> {
    fn from(value: &str) -> Self {
        Self::Value(value.to_owned())
    }
}

/// An absent value is written as `null`, because only the enclosing object can omit it.
impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Absent | Self::Null => serializer.serialize_unit(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

impl<T: FieldValue> FieldValue for Nullable<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(Some(T::read(deserializer)?.map_or(Self::Null, Self::Value)))
    }

    fn missing() -> Self {
        Self::Absent
    }

    fn is_written(&self) -> bool {
        !self.is_absent()
    }
}
