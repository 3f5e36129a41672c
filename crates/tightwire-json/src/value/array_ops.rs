//! Methods and traits of arrays, same as those of `Vec`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeBounds;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::deserialize::handed_over;
use super::{Array, Value};

impl Array {
    /// Returns an empty array with room for `capacity` elements.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut array = Self::new();
        array.reserve(capacity);
        array
    }

    /// Reserves room for `additional` more elements.
    pub fn reserve(&mut self, additional: usize) {
        self.to_mut().reserve(additional);
    }

    /// Appends an element.
    pub fn push(&mut self, value: Value) {
        self.to_mut().push(value);
    }

    /// Removes the last element and returns it.
    pub fn pop(&mut self) -> Option<Value> {
        self.to_mut().pop()
    }

    /// Inserts an element before the position `index`.
    ///
    /// # Panics
    ///
    /// If `index` is larger than the length.
    pub fn insert(&mut self, index: usize, value: Value) {
        self.to_mut().insert(index, value);
    }

    /// Removes the element at `index` and returns it. The elements behind it move.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    pub fn remove(&mut self, index: usize) -> Value {
        self.to_mut().remove(index)
    }

    /// Removes the element at `index` and returns it. The last element takes its place.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    pub fn swap_remove(&mut self, index: usize) -> Value {
        self.to_mut().swap_remove(index)
    }

    /// Removes all elements from the position `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.to_mut().truncate(len);
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Removes the elements for which `keep` returns `false`.
    pub fn retain(&mut self, keep: impl FnMut(&Value) -> bool) {
        self.to_mut().retain(keep);
    }

    /// Removes the elements of a range and returns them.
    ///
    /// # Panics
    ///
    /// If the range ends behind the last element or before its start.
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::Drain<'_, Value> {
        self.to_mut().drain(range)
    }

    /// Moves all elements of `other` to the end of this array.
    pub fn append(&mut self, other: &mut Self) {
        self.to_mut().append(other.to_mut());
    }

    /// Appends clones of the elements of a slice.
    pub fn extend_from_slice(&mut self, values: &[Value]) {
        self.to_mut().extend_from_slice(values);
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Array {}

impl Hash for Array {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl AsRef<[Value]> for Array {
    fn as_ref(&self) -> &[Value] {
        self
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Array {
    fn from(values: [T; N]) -> Self {
        values.into_iter().map(Into::into).collect()
    }
}

impl FromIterator<Value> for Array {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        values.into_iter().collect::<Vec<_>>().into()
    }
}

impl Extend<Value> for Array {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, values: I) {
        self.to_mut().extend(values);
    }
}

impl IntoIterator for Array {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Array {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Array {
    type Item = &'a mut Value;
    type IntoIter = std::slice::IterMut<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

macro_rules! equal {
    ($([$($generics:tt)*] $type:ty, $values:ty;)*) => {
        $(
            impl<T, $($generics)*> PartialEq<$type> for Array
            where
                Value: PartialEq<T>,
            {
                fn eq(&self, other: &$type) -> bool {
                    self.as_slice() == &other[..]
                }
            }

            impl<$($generics)*> PartialEq<Array> for $values {
                fn eq(&self, other: &Array) -> bool {
                    &self[..] == other.as_slice()
                }
            }
        )*
    };
}

equal! {
    [] Vec<T>, Vec<Value>;
    [] [T], [Value];
    [] &[T], &[Value];
    [const N: usize] [T; N], [Value; N];
}

impl Serialize for Array {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

pub(super) struct ArrayVisitor;

impl<'de> Visitor<'de> for ArrayVisitor {
    type Value = Array;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Array, A::Error> {
        // serde limits the capacity that a length hint reserves.
        Vec::<Value>::deserialize(SeqAccessDeserializer::new(access)).map(Array::from)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Array, E> {
        match handed_over(bytes, &self)? {
            Value::Array(array) => Ok(array),
            other => Err(E::invalid_type(other.unexpected(), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Array {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ArrayVisitor)
    }
}
