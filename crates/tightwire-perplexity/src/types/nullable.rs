//! Members that may be absent, `null`, or a value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::wire::member::Member;

/// A member of a request for which `null` means something else than leaving it out.
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
    /// The member is left out.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// The member has a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Whether the member is left out.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Whether the member is `null`.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value, if there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value, if there is one.
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

/// Absent values are written as `null`, for only the object around them can leave them out.
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

impl<T: Member> Member for Nullable<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Ok(Some(T::read(deserializer)?.map_or(Self::Null, Self::Value)))
    }

    fn missing() -> Self {
        Self::Absent
    }
}
