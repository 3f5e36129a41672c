//! Values that pass between a type and this crate's own serializer as they are.
//!
//! serde knows no GUID, no version and no shared object. Types that stand for such a value ask for a newtype of a name
//! that only this crate's serializer and deserializer know. These set a slot of the thread open or fill it, and the
//! type takes or gives the [`Value`] itself. With any other format the slot is closed, and the type has a form of plain
//! data instead.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

use super::fault::Result;
use super::kinds;
use crate::Value;

/// The name of a newtype whose value is handed over.
pub(super) const VALUE: &str = "$psrp::value";

enum Slot {
    /// Nobody asks.
    Closed,
    /// The serializer asks the type that it calls for its value.
    Asked,
    /// The answer.
    Given(Result<Value>),
    /// What the deserializer offers to the visitor that it calls.
    Offered(Value),
}

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Closed) };
}

/// Puts back what was in the slot before, also if the code in between panics.
struct Restore(Option<Slot>);

impl Restore {
    fn replacing_with(slot: Slot) -> Self {
        Self(Some(SLOT.replace(slot)))
    }

    /// What is in the slot now; what was in it before goes back.
    fn finish(mut self) -> Slot {
        SLOT.replace(self.0.take().unwrap_or(Slot::Closed))
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            SLOT.replace(before);
        }
    }
}

/// A type that stands for a value of its own kind.
pub(super) trait Give {
    /// The value, for this crate's serializer.
    fn give(&self) -> Result<Value>;

    /// Plain data, for any other serializer.
    fn give_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

/// What is inside the newtype.
struct Hand<'a, T: ?Sized>(&'a T);

impl<T: Give + ?Sized> Serialize for Hand<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asked = SLOT.with_borrow_mut(|slot| {
            let asked = matches!(slot, Slot::Asked);
            if asked {
                *slot = Slot::Closed;
            }
            asked
        });
        if !asked {
            return self.0.give_plain(serializer);
        }
        let value = self.0.give();
        SLOT.replace(Slot::Given(value));
        serializer.serialize_unit()
    }
}

/// What `Serialize::serialize` of a type that gives itself calls.
pub(super) fn serialize<T: Give + ?Sized, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_struct(VALUE, &Hand(value))
}

/// What this crate's serializer does with a newtype named [`VALUE`].
pub(super) fn ask<T: Serialize + ?Sized, S>(inner: &T, serializer: S) -> Result<Value>
where
    S: Serializer<Ok = Value, Error = super::fault::Fault>,
{
    let restore = Restore::replacing_with(Slot::Asked);
    let result = inner.serialize(serializer);
    match restore.finish() {
        Slot::Given(value) => value,
        // Somebody else uses the name.
        _ => result,
    }
}

/// A type that is made of a value of its own kind.
pub(super) trait Take<'de>: Sized {
    /// What errors say was expected.
    const EXPECTED: &'static str;

    /// From this crate's deserializer; `None` if the value is no such thing.
    ///
    /// `deserializer` reads the same value, for a type that also wants what is inside it.
    fn take<D: Deserializer<'de>>(value: Value, deserializer: D) -> Result<Option<Self>, D::Error>;

    /// From the plain data of any other deserializer.
    fn take_plain<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// What `Deserialize::deserialize` of a type that takes itself calls.
pub(super) fn deserialize<'de, T: Take<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_newtype_struct(VALUE, Taker(PhantomData))
}

/// What this crate's deserializer does with a newtype named [`VALUE`].
pub(super) fn offer<'de, D, V>(value: Value, deserializer: D, visitor: V) -> Result<V::Value, D::Error>
where
    D: Deserializer<'de>,
    V: Visitor<'de>,
{
    let restore = Restore::replacing_with(Slot::Offered(value));
    let result = visitor.visit_newtype_struct(deserializer);
    restore.finish();
    result
}

struct Taker<T>(PhantomData<T>);

/// Not all deserializers know newtypes: those of keys and of buffered data pass on what they have.
macro_rules! plain {
    ($($visit:ident($type:ty)),* $(,)?) => {$(
        fn $visit<E: de::Error>(self, value: $type) -> Result<Self::Value, E> {
            T::take_plain(value.into_deserializer())
        }
    )*};
}

impl<'de, T: Take<'de>> Visitor<'de> for Taker<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        let offered = SLOT.with_borrow_mut(|slot| match std::mem::replace(slot, Slot::Closed) {
            Slot::Offered(value) => Some(value),
            other => {
                *slot = other;
                None
            }
        });
        let Some(value) = offered else { return T::take_plain(deserializer) };
        let name = kinds::name(&value);
        match T::take(value, deserializer)? {
            Some(taken) => Ok(taken),
            None => Err(de::Error::invalid_type(Unexpected::Other(name), &self)),
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
        T::take_plain(().into_deserializer())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        T::take_plain(SeqAccessDeserializer::new(items))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, entries: A) -> Result<T, A::Error> {
        T::take_plain(MapAccessDeserializer::new(entries))
    }
}
