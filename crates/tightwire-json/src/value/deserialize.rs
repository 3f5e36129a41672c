//! Deserialization of trees.

use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{
    self, Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};

use super::array_ops::ArrayVisitor;
use super::map_ops::MapVisitor;
use super::number::{NumberVisitor, from_bytes};
use super::{Array, Map, Value};
use crate::error::Result;

/// Returns whether `V` and `T` are the same type.
#[inline(always)]
fn is<V, T>() -> bool {
    typeid::of::<V>() == typeid::of::<T>()
}

/// Returns whether the visitor builds a tree of any type, or a number.
#[inline(always)]
pub(crate) fn is_any<V>() -> bool {
    is::<V, ValueVisitor>() || is::<V, NumberVisitor>()
}

/// Returns the opening brackets of the containers that a visitor of this crate builds a tree from, `None` for a visitor
/// of another crate. Other decoders and formats handle the visitors like any other.
#[inline(always)]
pub(crate) fn containers<V>() -> Option<&'static [u8]> {
    if is::<V, ValueVisitor>() {
        Some(b"{[")
    } else if is::<V, MapVisitor>() {
        Some(b"{")
    } else if is::<V, ArrayVisitor>() {
        Some(b"[")
    } else if is::<V, NumberVisitor>() {
        Some(b"")
    } else {
        None
    }
}

/// Bytes that a visitor gets instead of a tree. Their address tells them from bytes of a document.
static MARK: [u8; 1] = [0];

thread_local! {
    /// Without a destructor, so that documents can also be decoded in destructors of other variables of the thread.
    static HANDED_OVER: Cell<Option<ManuallyDrop<Value>>> = const { Cell::new(None) };
}

/// Returns a decoded tree to a visitor of [`containers`]. serde has no method for it: the visitor gets bytes that only
/// this crate has, and takes the tree from a variable of the thread.
pub(crate) fn hand_over<'de, V: Visitor<'de>>(tree: Value, visitor: V) -> Result<V::Value> {
    HANDED_OVER.set(Some(ManuallyDrop::new(tree)));
    visitor.visit_borrowed_bytes(&MARK)
}

/// Returns the tree that was handed over to a visitor with these bytes, or the number that they contain.
pub(super) fn handed_over<E: de::Error>(bytes: &[u8], expected: &dyn de::Expected) -> Result<Value, E> {
    let tree = match std::ptr::eq(bytes, &MARK) {
        true => HANDED_OVER.take().map(ManuallyDrop::into_inner),
        false => from_bytes(bytes).map(Value::Number),
    };
    tree.ok_or_else(|| E::invalid_type(Unexpected::Bytes(bytes), expected))
}

/// Maximum number of elements for which room is reserved because of a length hint.
const MAX_HINT: usize = 4096;

/// Returns the capacity for a length hint, which may be wrong.
pub(super) fn bounded(hint: Option<usize>) -> usize {
    hint.unwrap_or(0).min(MAX_HINT)
}

impl<'de> Deserialize<'de> for Value {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Builds a tree from any format. The last value of a duplicate key is kept, at the position of the first.
struct ValueVisitor;

/// Implements methods of a visitor that convert a scalar to a [`Value`].
macro_rules! visit {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method<E: de::Error>(self, value: $type) -> Result<Self::Value, E> {
                Ok(value.into())
            }
        )*
    };
}
pub(super) use visit;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    visit! {
        visit_bool(bool)
        visit_i64(i64)
        visit_i128(i128)
        visit_u64(u64)
        visit_u128(u128)
        visit_f64(f64)
        visit_str(&str)
        visit_string(String)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        Array::deserialize(SeqAccessDeserializer::new(access)).map(Value::Array)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        Map::deserialize(MapAccessDeserializer::new(access)).map(Value::Object)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Value, E> {
        handed_over(bytes, &self)
    }
}

/// Converts a tree to another type.
///
/// `T::deserialize(&value)` does the same without consuming the tree, and can borrow strings from it.
///
/// # Errors
///
/// If the tree is not of the type `T`.
///
/// # Examples
///
/// ```
/// use tightwire_json::{from_value, json};
///
/// assert_eq!(from_value::<Vec<u8>>(json!([1, 2]))?, [1, 2]);
/// assert!(from_value::<Vec<u8>>(json!([1, 256])).unwrap_err().is_data());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    T::deserialize(value)
}
