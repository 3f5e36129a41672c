//! Modules for `#[serde(with = "..")]` that select CLIXML elements.

use std::marker::PhantomData;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use uuid::Uuid;

use super::passthrough::{self, DeserializeValue, SerializeValue};
use super::path_error::{PathError, Result};
use super::plain;
use crate::error::Kind;
use crate::value::TimeSpan;
use crate::{PsString, Value, b64};

/// A Rust type that can be written as the element kind `K`, the marker type of a module such as [`guid`].
///
/// Implemented for the types listed at each module, and for `Option` and `Vec` of them.
pub trait AsElement<K>: Sized + private::Sealed<K> {
    /// Writes the element.
    ///
    /// # Errors
    ///
    /// Fails like the serializer.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error>;

    /// Reads the element.
    ///
    /// # Errors
    ///
    /// Fails like the deserializer, and if the value is not such an element.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error>;
}

pub(super) mod private {
    pub trait Sealed<K> {}
}

/// Conversion between an element kind and a type.
trait Element<T> {
    const EXPECTED: &'static str;

    fn to_value(value: &T) -> Result<Value>;

    fn from_value(value: &Value) -> Option<T>;

    fn serialize_plain<S: Serializer>(value: &T, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let value = Self::to_value(value).map_err(serde::ser::Error::custom)?;
        plain::Plain::new(&value).serialize(serializer)
    }

    fn deserialize_plain<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<T, D::Error> {
        let value = plain::deserialize(deserializer)?;
        let found = super::kinds::name(&value);
        Self::from_value(&value)
            .ok_or_else(|| de::Error::invalid_type(de::Unexpected::Other(found), &Self::EXPECTED))
    }
}

/// Serializes a value as an element kind.
struct SerializeElement<'a, K, T>(&'a T, PhantomData<K>);

impl<K: Element<T>, T> SerializeValue for SerializeElement<'_, K, T> {
    fn value(&self) -> Result<Value> {
        K::to_value(self.0)
    }

    fn serialize_plain<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        K::serialize_plain(self.0, serializer)
    }
}

/// Deserializes a value from an element kind.
struct DeserializeElement<K, T>(T, PhantomData<K>);

impl<'de, K: Element<T>, T> DeserializeValue<'de> for DeserializeElement<K, T> {
    const EXPECTED: &'static str = K::EXPECTED;

    fn from_value<D: Deserializer<'de>>(value: Value, _: D) -> std::result::Result<Option<Self>, D::Error> {
        Ok(K::from_value(&value).map(|value| Self(value, PhantomData)))
    }

    fn deserialize_plain<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        K::deserialize_plain(deserializer).map(|value| Self(value, PhantomData))
    }
}

/// Adapts an item of an `Option` or `Vec`.
struct Item<K, T>(T, PhantomData<K>);

impl<K, T: AsElement<K>> Serialize for Item<K, &T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        AsElement::<K>::serialize(self.0, serializer)
    }
}

impl<'de, K, T: AsElement<K>> Deserialize<'de> for Item<K, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        T::deserialize(deserializer).map(|value| Self(value, PhantomData))
    }
}

impl<K, T: AsElement<K>> private::Sealed<K> for Option<T> {}

impl<K, T: AsElement<K>> AsElement<K> for Option<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Serialize::serialize(&self.as_ref().map(|value| Item(value, PhantomData::<K>)), serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let item: Option<Item<K, T>> = Deserialize::deserialize(deserializer)?;
        Ok(item.map(|item| item.0))
    }
}

impl<K, T: AsElement<K>> private::Sealed<K> for Vec<T> {}

impl<K, T: AsElement<K>> AsElement<K> for Vec<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|value| Item(value, PhantomData::<K>)))
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let items: Vec<Item<K, T>> = Deserialize::deserialize(deserializer)?;
        Ok(items.into_iter().map(|item| item.0).collect())
    }
}

macro_rules! modules {
    ($($(#[$doc:meta])* $module:ident, $kind:ident: $($type:ty),+;)*) => {$(
        $(#[$doc])*
        pub mod $module {
            use super::{AsElement, Deserializer, Serializer};

            /// The element kind of this module.
            #[derive(Debug)]
            pub enum $kind {}

            /// Called by code that serde derives.
            ///
            /// # Errors
            ///
            /// Fails like the serializer.
            pub fn serialize<T: AsElement<$kind>, S: Serializer>(
                value: &T,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                value.serialize(serializer)
            }

            /// Called by code that serde derives.
            ///
            /// # Errors
            ///
            /// Fails like the deserializer, and if the value is not such an element.
            pub fn deserialize<'de, T: AsElement<$kind>, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<T, D::Error> {
                T::deserialize(deserializer)
            }
        }

        $(
            impl private::Sealed<$module::$kind> for $type {}

            impl AsElement<$module::$kind> for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                    passthrough::serialize(&SerializeElement(self, PhantomData::<$module::$kind>), serializer)
                }

                fn deserialize<'de, D: Deserializer<'de>>(
                    deserializer: D,
                ) -> std::result::Result<Self, D::Error> {
                    let element: DeserializeElement<$module::$kind, Self> = passthrough::deserialize(deserializer)?;
                    Ok(element.0)
                }
            }
        )+
    )*};
}

modules! {
    /// `Uuid` as `<G>`; as text in other formats.
    guid, Guid: Uuid;
    /// Text as `<URI>`.
    uri, Uri: String, PsString;
    /// Text as `<XD>`, an XML document.
    xml, Xml: String, PsString;
    /// Text as `<SBK>`, a script block.
    script_block, ScriptBlock: String, PsString;
    /// Bytes as `<BA>` instead of a list of numbers; as Base64 or bytes in other formats.
    bytes, Bytes: Vec<u8>, Box<[u8]>;
    /// A UTF-16 code unit as `<C>`, which may be a lone surrogate, unlike `char`; as a number in other formats.
    char_unit, CharUnit: u16;
    /// `Duration` as `<TS>`, rounded down to 100 ns; as text such as `PT1.5S` in other formats.
    duration, Span: Duration;
}

impl Element<Uuid> for guid::Guid {
    const EXPECTED: &'static str = "a GUID";

    fn to_value(value: &Uuid) -> Result<Value> {
        Ok(Value::Guid(*value))
    }

    fn from_value(value: &Value) -> Option<Uuid> {
        match value.base() {
            Value::Guid(id) => Some(*id),
            base => base.as_str()?.parse().ok(),
        }
    }
}

/// Implements a kind of text for both string types.
macro_rules! impl_text_elements {
    ($($kind:ty, $variant:ident: $expected:literal;)*) => {$(
        impl Element<PsString> for $kind {
            const EXPECTED: &'static str = $expected;

            fn to_value(value: &PsString) -> Result<Value> {
                Ok(Value::$variant(value.clone()))
            }

            fn from_value(value: &Value) -> Option<PsString> {
                value.as_ps_string().cloned()
            }
        }

        impl Element<String> for $kind {
            const EXPECTED: &'static str = $expected;

            fn to_value(value: &String) -> Result<Value> {
                Ok(Value::$variant(value.as_str().into()))
            }

            fn from_value(value: &Value) -> Option<String> {
                value.as_str().map(Into::into)
            }
        }
    )*};
}

impl_text_elements! {
    uri::Uri, Uri: "a URI";
    xml::Xml, Xml: "an XML document";
    script_block::ScriptBlock, ScriptBlock: "a script block";
}

/// Implements bytes for both owned types.
macro_rules! impl_byte_elements {
    ($($type:ty),*) => {$(
        impl Element<$type> for bytes::Bytes {
            const EXPECTED: &'static str = "bytes";

            fn to_value(value: &$type) -> Result<Value> {
                Ok(Value::from(&value[..]))
            }

            fn from_value(value: &Value) -> Option<$type> {
                bytes_of(value).map(Into::into)
            }

            fn deserialize_plain<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<$type, D::Error> {
                let human = deserializer.is_human_readable();
                let value = plain::deserialize(deserializer)?;
                let bytes = match value.as_str() {
                    Some(text) if human => b64::decode_to_box(text.as_bytes()).map(Vec::from),
                    _ => bytes_of(&value),
                };
                bytes.map(Into::into).ok_or_else(|| de::Error::custom("expected bytes or Base64"))
            }
        }
    )*};
}

impl_byte_elements!(Vec<u8>, Box<[u8]>);

/// Returns bytes, also from a list of numbers.
fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    if let Some(bytes) = value.as_bytes() {
        return Some(bytes.to_vec());
    }
    value.items()?.iter().map(|item| item.as_u64().and_then(|byte| u8::try_from(byte).ok())).collect()
}

impl Element<u16> for char_unit::CharUnit {
    const EXPECTED: &'static str = "a character";

    fn to_value(value: &u16) -> Result<Value> {
        Ok(Value::Char(*value))
    }

    fn from_value(value: &Value) -> Option<u16> {
        match value.base() {
            Value::Char(unit) => Some(*unit),
            Value::String(text) => match text.to_utf16()[..] {
                [unit] => Some(unit),
                _ => None,
            },
            base => base.as_u64().and_then(|unit| u16::try_from(unit).ok()),
        }
    }

    fn serialize_plain<S: Serializer>(value: &u16, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_u16(*value)
    }
}

impl Element<Duration> for duration::Span {
    const EXPECTED: &'static str = "a non-negative time span";

    fn to_value(value: &Duration) -> Result<Value> {
        match i64::try_from(value.as_nanos() / 100) {
            Ok(ticks) => Ok(Value::TimeSpan(TimeSpan::from_ticks(ticks))),
            Err(_) => Err(PathError::new(Kind::Unwritable, "a time span of more than 29,000 years")),
        }
    }

    fn from_value(value: &Value) -> Option<Duration> {
        let span: TimeSpan = match value.base() {
            Value::TimeSpan(span) => *span,
            base => base.as_str()?.parse().ok()?,
        };
        let ticks = u64::try_from(span.ticks()).ok()?;
        let second = TimeSpan::TICKS_PER_SECOND as u64;
        Some(Duration::new(ticks / second, (ticks % second) as u32 * 100))
    }
}
