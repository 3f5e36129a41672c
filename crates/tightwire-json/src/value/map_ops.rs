//! Methods and traits of objects.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops;
use std::str::FromStr;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::deserialize::{bounded, handed_over};
use super::map::Owned;
use super::map_entry::{self, OccupiedEntry, VacantEntry};
use super::map_iter::{IntoIter, IntoValues, Iter, IterMut, Keys, Values, ValuesMut};
use super::{JsonString, Map, Value};
use crate::error::{Error, Result};

/// Key that a [`Map`] is searched for: a [`JsonString`], or any type as which a `String` can be borrowed.
///
/// This trait is sealed.
pub trait Key {
    #[doc(hidden)]
    fn find<'m>(&self, map: &'m Map) -> Option<(usize, &'m Value)>;
}

impl Key for JsonString {
    #[inline]
    fn find<'m>(&self, map: &'m Map) -> Option<(usize, &'m Value)> {
        map.find(self.as_bytes())
    }
}

impl<Q: Hash + ?Sized> Key for Q
where
    String: Borrow<Q>,
{
    #[inline]
    fn find<'m>(&self, map: &'m Map) -> Option<(usize, &'m Value)> {
        let mut search = Search { map, found: None };
        self.hash(&mut search);
        search.found?
    }
}

/// Hasher that searches the object for the hashed text. This finds the text of every key type: [`Borrow`] requires that
/// a key has the same hash as a `String`, which hashes its text first.
struct Search<'m> {
    map: &'m Map,
    /// Result of the search, if it has begun.
    found: Option<Option<(usize, &'m Value)>>,
}

impl Hasher for Search<'_> {
    #[inline]
    fn write(&mut self, text: &[u8]) {
        self.found.get_or_insert_with(|| self.map.find(text));
    }

    // Mark the length of the text.
    fn write_u8(&mut self, _end: u8) {}
    fn write_usize(&mut self, _len: usize) {}

    fn finish(&self) -> u64 {
        0
    }
}

impl Map<String, Value> {
    /// Returns an empty object with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut map = Self::new();
        map.to_mut().reserve(capacity);
        map
    }

    /// Returns the number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.key_slice().len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.key_slice().is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the value of a key.
    #[inline]
    pub fn get<Q: Key + ?Sized>(&self, key: &Q) -> Option<&Value> {
        key.find(self).map(|(_, value)| value)
    }

    /// Returns the value of a key, for changes.
    pub fn get_mut<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<&mut Value> {
        let (position, _) = key.find(self)?;
        self.to_mut().values_mut().get_mut(position)
    }

    /// Returns the entry of a key.
    pub fn get_key_value<Q: Key + ?Sized>(&self, key: &Q) -> Option<(&JsonString, &Value)> {
        let (position, value) = key.find(self)?;
        Some((&self.key_slice()[position].text, value))
    }

    /// Returns whether there is an entry with this key.
    pub fn contains_key<Q: Key + ?Sized>(&self, key: &Q) -> bool {
        key.find(self).is_some()
    }

    /// Sets the value of a key and returns the previous one. A new entry is the last one.
    pub fn insert(&mut self, key: String, value: Value) -> Option<Value> {
        self.set(key.into(), value)
    }

    /// Same as [`insert`](Self::insert), with a key of the tree.
    pub(crate) fn set(&mut self, key: JsonString, value: Value) -> Option<Value> {
        match self.entry_of(key) {
            map_entry::Entry::Occupied(mut entry) => Some(entry.insert(value)),
            map_entry::Entry::Vacant(entry) => {
                entry.insert(value);
                None
            }
        }
    }

    /// Sets the value of a key, moves its entry to the position `index`, and returns the previous value. Takes time in
    /// proportion to the number of entries.
    ///
    /// # Panics
    ///
    /// If `index` is larger than the number of other entries.
    pub fn shift_insert(&mut self, index: usize, key: String, value: Value) -> Option<Value> {
        let position = self.find(key.as_bytes()).map(|(position, _)| position);
        let owned = self.to_mut();
        let previous = position.map(|position| owned.shift_remove(position).1);
        owned.shift_insert(index, key.into(), value);
        previous
    }

    /// Removes a key and returns its value. Same as [`swap_remove`](Self::swap_remove).
    pub fn remove<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<Value> {
        self.swap_remove(key)
    }

    /// Removes a key and returns it with its value. Same as [`swap_remove_entry`](Self::swap_remove_entry).
    pub fn remove_entry<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<(JsonString, Value)> {
        self.swap_remove_entry(key)
    }

    /// Removes a key and returns its value. The last entry takes its position. Takes constant time.
    pub fn swap_remove<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<Value> {
        self.swap_remove_entry(key).map(|(_, value)| value)
    }

    /// Removes a key and returns it with its value. The last entry takes its position. Takes constant time.
    pub fn swap_remove_entry<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<(JsonString, Value)> {
        let (position, _) = key.find(self)?;
        Some(self.to_mut().swap_remove(position))
    }

    /// Removes a key and returns its value. The order of the other entries is unchanged. Takes time in proportion to
    /// the number of entries; use [`retain`](Self::retain) to remove many of them.
    pub fn shift_remove<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<Value> {
        self.shift_remove_entry(key).map(|(_, value)| value)
    }

    /// Removes a key and returns it with its value. Same as [`shift_remove`](Self::shift_remove) otherwise.
    pub fn shift_remove_entry<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<(JsonString, Value)> {
        let (position, _) = key.find(self)?;
        Some(self.to_mut().shift_remove(position))
    }

    /// Moves all entries of `other` into this object. Values of keys that exist in both are replaced.
    pub fn append(&mut self, other: &mut Self) {
        self.extend(std::mem::take(other));
    }

    /// Returns the entry of a key, which may not exist.
    pub fn entry<S: Into<String>>(&mut self, key: S) -> map_entry::Entry<'_> {
        self.entry_of(key.into().into())
    }

    /// Same as [`entry`](Self::entry), with a key of the tree.
    pub(super) fn entry_of(&mut self, key: JsonString) -> map_entry::Entry<'_> {
        match self.find(key.as_bytes()) {
            Some((position, _)) => {
                map_entry::Entry::Occupied(OccupiedEntry { owned: self.to_mut(), position })
            }
            None => map_entry::Entry::Vacant(VacantEntry { owned: self.to_mut(), key }),
        }
    }

    /// Returns an iterator over the entries, in order.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.key_slice().iter().zip(self.value_slice()))
    }

    /// Returns an iterator over the entries, in order, with values for changes.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        let (keys, values) = self.to_mut().entries_mut();
        IterMut(keys.iter().zip(values))
    }

    /// Returns an iterator over the keys, in order.
    pub fn keys(&self) -> Keys<'_> {
        Keys(self.key_slice().iter())
    }

    /// Returns an iterator over the values, in order.
    pub fn values(&self) -> Values<'_> {
        Values(self.value_slice().iter())
    }

    /// Returns an iterator over the values, in order, for changes.
    pub fn values_mut(&mut self) -> ValuesMut<'_> {
        ValuesMut(self.to_mut().values_mut().iter_mut())
    }

    /// Returns an iterator over the owned values, in order.
    pub fn into_values(self) -> IntoValues {
        IntoValues(self.into_owned().into_values().into_iter())
    }

    fn into_owned(mut self) -> Owned {
        std::mem::take(self.to_mut())
    }

    /// Removes the entries for which `keep` returns `false`. The order of the others is unchanged.
    pub fn retain(&mut self, mut keep: impl FnMut(&JsonString, &mut Value) -> bool) {
        self.to_mut().change(|entries| entries.retain_mut(|(key, value)| keep(&key.text, value)));
    }

    /// Sorts the entries by their keys, in byte order. Values are not changed: see
    /// [`sort_all_objects`](Value::sort_all_objects).
    pub fn sort_keys(&mut self) {
        self.to_mut()
            .change(|entries| entries.sort_unstable_by(|(one, _), (other, _)| one.text.cmp(&other.text)));
    }
}

impl Eq for Map<String, Value> {}

/// Does not depend on the order, like `==`.
impl Hash for Map<String, Value> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        entries.hash(state);
    }
}

impl fmt::Debug for Map<String, Value> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// # Panics
///
/// If the key does not exist.
impl<Q: Key + ?Sized> ops::Index<&Q> for Map<String, Value> {
    type Output = Value;

    fn index(&self, key: &Q) -> &Value {
        self.get(key).expect("the object has no such key")
    }
}

/// # Panics
///
/// If the key does not exist.
impl<Q: Key + ?Sized> ops::IndexMut<&Q> for Map<String, Value> {
    fn index_mut(&mut self, key: &Q) -> &mut Value {
        self.get_mut(key).expect("the object has no such key")
    }
}

/// The last value of a duplicate key is kept, at the position of the first.
impl<K: Into<JsonString>> FromIterator<(K, Value)> for Map<String, Value> {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Into<JsonString>> Extend<(K, Value)> for Map<String, Value> {
    fn extend<I: IntoIterator<Item = (K, Value)>>(&mut self, entries: I) {
        let entries = entries.into_iter();
        // `json!` adds one entry at a time.
        if let count @ 2.. = entries.size_hint().0 {
            self.to_mut().reserve(count);
        }
        for (key, value) in entries {
            self.set(key.into(), value);
        }
    }
}

impl IntoIterator for Map<String, Value> {
    type Item = (JsonString, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self.into_owned().into_entries())
    }
}

impl<'a> IntoIterator for &'a Map<String, Value> {
    type Item = (&'a JsonString, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Map<String, Value> {
    type Item = (&'a JsonString, &'a mut Value);
    type IntoIter = IterMut<'a>;

    fn into_iter(self) -> IterMut<'a> {
        self.iter_mut()
    }
}

/// Decodes a document that is an object.
impl FromStr for Map<String, Value> {
    type Err = Error;

    fn from_str(document: &str) -> Result<Self> {
        crate::from_str(document)
    }
}

impl Serialize for Map<String, Value> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

pub(super) struct MapVisitor;

impl<'de> Visitor<'de> for MapVisitor {
    type Value = Map;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Map, E> {
        Ok(Map::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Map, A::Error> {
        let mut map = Map::with_capacity(bounded(access.size_hint()));
        while let Some((key, value)) = access.next_entry::<JsonString, Value>()? {
            map.set(key, value);
        }
        Ok(map)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Map, E> {
        match handed_over(bytes, &self)? {
            Value::Object(map) => Ok(map),
            other => Err(E::invalid_type(other.unexpected(), &self)),
        }
    }
}

/// The last value of a duplicate key is kept, at the position of the first.
impl<'de> Deserialize<'de> for Map<String, Value> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor)
    }
}
