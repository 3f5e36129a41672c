//! Passes [`Value`]s through serde unchanged.
//!
//! serde has no GUIDs, versions or shared objects. Types that represent such values serialize as a newtype with a name
//! that only this crate's serializer and deserializer recognize. These exchange the [`Value`] with the type through a
//! thread-local slot. With other formats the slot is empty, and the type uses plain data instead.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde::ser::{self, Serialize, Serializer};

use super::error::Result;
use super::{kinds, plain};
use crate::{Error, Value};

/// Name of the newtype.
pub(super) const VALUE: &str = "$psrp::value";

enum Slot {
    Empty,
    /// The serializer requests a complete value from a `Serialize` implementation.
    Requested,
    /// Value from the `Serialize` implementation for the serializer.
    Provided(Result<Value>),
    /// Value from the deserializer for the visitor.
    Passed(Value),
}

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Empty) };
}

/// Restores the previous state of the slot, even on panic.
struct SlotGuard(Option<Slot>);

impl SlotGuard {
    fn replacing_with(slot: Slot) -> Self {
        Self(Some(SLOT.replace(slot)))
    }

    /// Restores the previous state and returns the current one.
    fn finish(mut self) -> Slot {
        SLOT.replace(self.0.take().unwrap_or(Slot::Empty))
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            SLOT.replace(before);
        }
    }
}

/// A type that is serialized as a [`Value`].
pub trait SerializeValue {
    /// Returns the value for this crate's serializer.
    fn value(&self) -> Result<Value>;

    /// Serializes plain data with other serializers: by default, the plain form of the value.
    fn serialize_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.value().map_err(ser::Error::custom)?;
        plain::Plain::new(&value).serialize(serializer)
    }
}

struct Passthrough<'a, T: ?Sized>(&'a T);

impl<T: SerializeValue + ?Sized> Serialize for Passthrough<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let requested = SLOT.with_borrow_mut(|slot| {
            let requested = matches!(slot, Slot::Requested);
            if requested {
                *slot = Slot::Empty;
            }
            requested
        });
        if !requested {
            return self.0.serialize_plain(serializer);
        }
        let value = self.0.value();
        SLOT.replace(Slot::Provided(value));
        serializer.serialize_unit()
    }
}

/// Implements `Serialize::serialize` for a [`SerializeValue`] type.
pub(super) fn serialize<T: SerializeValue + ?Sized, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_struct(VALUE, &Passthrough(value))
}

/// Serializes a newtype with the name [`VALUE`], for this crate's serializer.
pub(super) fn serialize_newtype<T: Serialize + ?Sized, S>(inner: &T, serializer: S) -> Result<Value>
where
    S: Serializer<Ok = Value, Error = Error>,
{
    let guard = SlotGuard::replacing_with(Slot::Requested);
    let result = inner.serialize(serializer);
    match guard.finish() {
        Slot::Provided(value) => value,
        // Another type uses the name.
        _ => result,
    }
}

/// A type that is deserialized from a [`Value`].
pub trait DeserializeValue: Sized {
    /// Description of the expected value for errors.
    const EXPECTED: &'static str;

    /// Converts a value of this crate's deserializer; `None` if it has the wrong kind.
    fn from_value(value: Value) -> Option<Self>;

    /// Converts plain data of other deserializers; `None` if it has the wrong kind.
    fn from_plain(value: Value, _is_human_readable: bool) -> Option<Self> {
        Self::from_value(value)
    }
}

/// Implements `Deserialize::deserialize` for a [`DeserializeValue`] type.
pub(super) fn deserialize<'de, T: DeserializeValue, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_newtype_struct(VALUE, ValueVisitor(PhantomData))
}

/// Deserializes plain data of other deserializers.
fn deserialize_plain<'de, T: DeserializeValue, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let is_human_readable = deserializer.is_human_readable();
    convert(plain::deserialize(deserializer)?, |value| T::from_plain(value, is_human_readable))
}

fn convert<T: DeserializeValue, E: de::Error>(
    value: Value,
    convert: impl FnOnce(Value) -> Option<T>,
) -> Result<T, E> {
    let name = kinds::name(&value);
    convert(value).ok_or_else(|| E::invalid_type(Unexpected::Other(name), &T::EXPECTED))
}

/// Deserializes a newtype with the name [`VALUE`], for this crate's deserializer.
pub(super) fn deserialize_newtype<'de, D, V>(
    value: Value,
    deserializer: D,
    visitor: V,
) -> Result<V::Value, D::Error>
where
    D: Deserializer<'de>,
    V: Visitor<'de>,
{
    let guard = SlotGuard::replacing_with(Slot::Passed(value));
    let result = visitor.visit_newtype_struct(deserializer);
    guard.finish();
    result
}

struct ValueVisitor<T>(PhantomData<T>);

/// Deserializers of keys and of buffered data do not support newtypes and call these methods.
macro_rules! plain {
    ($($visit:ident($type:ty)),* $(,)?) => {$(
        fn $visit<E: de::Error>(self, value: $type) -> Result<Self::Value, E> {
            deserialize_plain(value.into_deserializer())
        }
    )*};
}

impl<'de, T: DeserializeValue> Visitor<'de> for ValueVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        let passed = SLOT.with_borrow_mut(|slot| match std::mem::replace(slot, Slot::Empty) {
            Slot::Passed(value) => Some(value),
            other => {
                *slot = other;
                None
            }
        });
        match passed {
            Some(value) => convert(value, T::from_value),
            None => deserialize_plain(deserializer),
        }
    }

    plain! {
        visit_bool(bool),
        visit_i8(i8),
        visit_i16(i16),
        visit_i32(i32),
        visit_i64(i64),
        visit_u8(u8),
        visit_u16(u16),
        visit_u32(u32),
        visit_u64(u64),
        visit_f32(f32),
        visit_f64(f64),
        visit_char(char),
        visit_str(&str),
        visit_string(String),
        visit_bytes(&[u8]),
    }

    fn visit_unit<E: de::Error>(self) -> Result<T, E> {
        deserialize_plain(().into_deserializer())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        deserialize_plain(SeqAccessDeserializer::new(items))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, entries: A) -> Result<T, A::Error> {
        deserialize_plain(MapAccessDeserializer::new(entries))
    }
}
