//! `#[serde(with = "psrp::serde::element")]`: writes a field as the CLIXML element of its type instead of text or a list.
//!
//! | type | CLIXML | other formats |
//! |---|---|---|
//! | [`Uuid`] | `<G>` | text |
//! | `Vec<u8>`, `Box<[u8]>` | `<BA>` | Base64, or bytes in binary formats |
//! | [`Duration`] | `<TS>`, rounded down to 100 ns | text such as `PT1.5S` |
//! | `Option` of these | the element, or `<Nil />` | the value, or null |

use std::time::Duration;

use serde::de::Deserializer;
use serde::ser::Serializer;
use uuid::Uuid;

use super::error::Result;
use super::passthrough::{self, DeserializeValue, SerializeValue};
use crate::error::Kind;
use crate::value::TimeSpan;
use crate::{Error, Value, b64};

/// A type with a CLIXML element. Implemented for the types listed at the [module](self).
pub trait Element: SerializeValue + DeserializeValue {}

impl Element for Uuid {}
impl Element for Vec<u8> {}
impl Element for Box<[u8]> {}
impl Element for Duration {}
impl<T: Element> Element for Option<T> {}

/// Called by code that serde derives.
///
/// # Errors
///
/// Fails like the serializer, and for a duration of more than 29,000 years.
pub fn serialize<T: Element, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    passthrough::serialize(value, serializer)
}

/// Called by code that serde derives.
///
/// # Errors
///
/// Fails like the deserializer, and if the value is not such an element.
pub fn deserialize<'de, T: Element, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    passthrough::deserialize(deserializer)
}

impl<T: Element> SerializeValue for Option<T> {
    fn value(&self) -> Result<Value> {
        self.as_ref().map_or(Ok(Value::Nil), T::value)
    }
}

impl<T: Element> DeserializeValue for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_value(value: Value) -> Option<Self> {
        if value.is_nil() { Some(None) } else { T::from_value(value).map(Some) }
    }

    fn from_plain(value: Value, is_human_readable: bool) -> Option<Self> {
        if value.is_nil() { Some(None) } else { T::from_plain(value, is_human_readable).map(Some) }
    }
}

impl SerializeValue for Uuid {
    fn value(&self) -> Result<Value> {
        Ok(Value::Guid(*self))
    }
}

impl DeserializeValue for Uuid {
    const EXPECTED: &'static str = "a GUID";

    fn from_value(value: Value) -> Option<Self> {
        match value.base() {
            Value::Guid(id) => Some(*id),
            base => base.as_str()?.parse().ok(),
        }
    }
}

/// Implements bytes for both owned types.
macro_rules! impl_bytes {
    ($($type:ty),*) => {$(
        impl SerializeValue for $type {
            fn value(&self) -> Result<Value> {
                Ok(Value::from(&self[..]))
            }
        }

        impl DeserializeValue for $type {
            const EXPECTED: &'static str = "bytes";

            /// Also accepts a list of numbers.
            fn from_value(value: Value) -> Option<Self> {
                if let Some(bytes) = value.as_bytes() {
                    return Some(bytes.into());
                }
                let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
                value.items()?.iter().map(byte).collect()
            }

            fn from_plain(value: Value, is_human_readable: bool) -> Option<Self> {
                match value.as_str() {
                    Some(text) if is_human_readable => b64::decode_to_box(text.as_bytes()).map(Into::into),
                    _ => Self::from_value(value),
                }
            }
        }
    )*};
}

impl_bytes!(Vec<u8>, Box<[u8]>);

impl SerializeValue for Duration {
    fn value(&self) -> Result<Value> {
        TimeSpan::try_from(*self)
            .map(Value::TimeSpan)
            .map_err(|_| Error::with(Kind::Unwritable, "a time span of more than 29,000 years"))
    }
}

impl DeserializeValue for Duration {
    const EXPECTED: &'static str = "a non-negative time span";

    fn from_value(value: Value) -> Option<Self> {
        Self::try_from(TimeSpan::from_value(value)?).ok()
    }
}
