//! Object of a tree.
//!
//! Its entries are sorted by key. With the feature `preserve_order`, they are in the order of insertion.

use std::borrow::Borrow;
#[cfg(not(feature = "preserve_order"))]
use std::collections::btree_map::{self as imp, BTreeMap as Entries};
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::iter::FusedIterator;
use std::ops;

#[cfg(feature = "preserve_order")]
use indexmap::map as imp;
use serde::de::{self, Deserialize, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::error::Error;
use crate::value::Value;

#[cfg(all(feature = "preserve_order", feature = "std"))]
type Hashes = std::hash::RandomState;
#[cfg(all(feature = "preserve_order", not(feature = "std")))]
type Hashes = foldhash::fast::RandomState;
#[cfg(feature = "preserve_order")]
type Entries<K, V> = indexmap::IndexMap<K, V, Hashes>;

/// JSON object: values by key.
pub struct Map<K, V> {
    map: Entries<K, V>,
}

/// Methods that look up a key and return something of its entry.
macro_rules! by_key {
    ($($(#[$attribute:meta])* fn $name:ident(self: $self:ty) -> $result:ty = $imp:ident;)*) => {
        $(
            $(#[$attribute])*
            #[inline]
            pub fn $name<Q>(self: $self, key: &Q) -> $result
            where
                String: Borrow<Q>,
                Q: ?Sized + Ord + Eq + Hash,
            {
                self.map.$imp(key)
            }
        )*
    };
}

impl Map<String, Value> {
    /// Returns an empty map.
    #[inline]
    pub fn new() -> Self {
        Self { map: Entries::default() }
    }

    /// Returns an empty map. Only with the feature `preserve_order`, it has memory for this number of entries.
    #[inline]
    pub fn with_capacity(capacity: usize) -> Self {
        #[cfg(feature = "preserve_order")]
        return Self { map: Entries::with_capacity_and_hasher(capacity, Hashes::default()) };
        #[cfg(not(feature = "preserve_order"))]
        {
            let _ = capacity;
            Self::new()
        }
    }

    /// Removes all entries.
    #[inline]
    pub fn clear(&mut self) {
        self.map.clear();
    }

    by_key! {
        /// Returns the value of a key.
        fn get(self: &Self) -> Option<&Value> = get;
        /// Returns whether the map has a key.
        fn contains_key(self: &Self) -> bool = contains_key;
        /// Returns the value of a key.
        fn get_mut(self: &mut Self) -> Option<&mut Value> = get_mut;
        /// Returns the entry of a key.
        fn get_key_value(self: &Self) -> Option<(&String, &Value)> = get_key_value;
    }

    #[cfg(not(feature = "preserve_order"))]
    by_key! {
        /// Removes a key and returns its value.
        ///
        /// With the feature `preserve_order`, the last entry takes its place.
        fn remove(self: &mut Self) -> Option<Value> = remove;
        /// Removes and returns the entry of a key.
        ///
        /// With the feature `preserve_order`, the last entry takes its place.
        fn remove_entry(self: &mut Self) -> Option<(String, Value)> = remove_entry;
    }

    #[cfg(feature = "preserve_order")]
    by_key! {
        /// Removes a key and returns its value.
        ///
        /// With the feature `preserve_order`, the last entry takes its place.
        fn remove(self: &mut Self) -> Option<Value> = swap_remove;
        /// Removes and returns the entry of a key.
        ///
        /// With the feature `preserve_order`, the last entry takes its place.
        fn remove_entry(self: &mut Self) -> Option<(String, Value)> = swap_remove_entry;
        /// Removes a key and returns its value. The last entry takes its place.
        fn swap_remove(self: &mut Self) -> Option<Value> = swap_remove;
        /// Removes and returns the entry of a key. The last entry takes its place.
        fn swap_remove_entry(self: &mut Self) -> Option<(String, Value)> = swap_remove_entry;
        /// Removes a key and returns its value. Moves all entries after it.
        fn shift_remove(self: &mut Self) -> Option<Value> = shift_remove;
        /// Removes and returns the entry of a key. Moves all entries after it.
        fn shift_remove_entry(self: &mut Self) -> Option<(String, Value)> = shift_remove_entry;
    }

    /// Sets the value of a key, and returns the previous one. A key that the map already has is not replaced.
    #[inline]
    pub fn insert(&mut self, k: String, v: Value) -> Option<Value> {
        self.map.insert(k, v)
    }

    /// Sets the value of a key, moves its entry to this position, and returns the previous value.
    #[cfg(feature = "preserve_order")]
    #[inline]
    pub fn shift_insert(&mut self, index: usize, k: String, v: Value) -> Option<Value> {
        self.map.shift_insert(index, k, v)
    }

    /// Moves all entries of another map into this one.
    #[inline]
    pub fn append(&mut self, other: &mut Self) {
        #[cfg(feature = "preserve_order")]
        self.map.extend(std::mem::take(&mut other.map));
        #[cfg(not(feature = "preserve_order"))]
        self.map.append(&mut other.map);
    }

    /// Returns the entry of a key, to read or to change it.
    pub fn entry<S>(&mut self, key: S) -> Entry<'_>
    where
        S: Into<String>,
    {
        match self.map.entry(key.into()) {
            imp::Entry::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant }),
            imp::Entry::Occupied(occupied) => Entry::Occupied(OccupiedEntry { occupied }),
        }
    }

    /// Returns the number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Returns whether there are no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns an iterator over the entries.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter { iter: self.map.iter() }
    }

    /// Returns an iterator over the entries, whose values can be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut { iter: self.map.iter_mut() }
    }

    /// Returns an iterator over the keys.
    #[inline]
    pub fn keys(&self) -> Keys<'_> {
        Keys { iter: self.map.keys() }
    }

    /// Returns an iterator over the values.
    #[inline]
    pub fn values(&self) -> Values<'_> {
        Values { iter: self.map.values() }
    }

    /// Returns an iterator over the values, which can be changed.
    #[inline]
    pub fn values_mut(&mut self) -> ValuesMut<'_> {
        ValuesMut { iter: self.map.values_mut() }
    }

    /// Returns an iterator that owns the values.
    #[inline]
    pub fn into_values(self) -> IntoValues {
        IntoValues { iter: self.map.into_values() }
    }

    /// Removes the entries for which `f` returns `false`.
    #[inline]
    pub fn retain<F>(&mut self, f: F)
    where
        F: FnMut(&String, &mut Value) -> bool,
    {
        self.map.retain(f);
    }

    /// Sorts the entries by key. They already are without the feature `preserve_order`.
    #[inline]
    pub fn sort_keys(&mut self) {
        #[cfg(feature = "preserve_order")]
        self.map.sort_unstable_keys();
    }
}

impl Default for Map<String, Value> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Map<String, Value> {
    #[inline]
    fn clone(&self) -> Self {
        Self { map: self.map.clone() }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        self.map.clone_from(&source.map);
    }
}

impl PartialEq for Map<String, Value> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl Eq for Map<String, Value> {}

impl Hash for Map<String, Value> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        #[cfg(not(feature = "preserve_order"))]
        self.map.hash(state);
        #[cfg(feature = "preserve_order")]
        {
            let mut entries: Vec<_> = self.map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            entries.hash(state);
        }
    }
}

/// # Panics
///
/// If the map does not have the key.
impl<Q> ops::Index<&Q> for Map<String, Value>
where
    String: Borrow<Q>,
    Q: ?Sized + Ord + Eq + Hash,
{
    type Output = Value;

    fn index(&self, index: &Q) -> &Value {
        &self.map[index]
    }
}

/// # Panics
///
/// If the map does not have the key.
impl<Q> ops::IndexMut<&Q> for Map<String, Value>
where
    String: Borrow<Q>,
    Q: ?Sized + Ord + Eq + Hash,
{
    fn index_mut(&mut self, index: &Q) -> &mut Value {
        self.get_mut(index).expect("no entry found for key")
    }
}

impl Debug for Map<String, Value> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.map.fmt(f)
    }
}

impl Serialize for Map<String, Value> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Map<String, Value> {
    #[inline]
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor;

        impl<'de> Visitor<'de> for MapVisitor {
            type Value = Map<String, Value>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            #[inline]
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Map::new())
            }

            #[inline]
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut map = Map::new();
                while let Some((key, value)) = entries.next_entry()? {
                    map.insert(key, value);
                }
                Ok(map)
            }
        }

        deserializer.deserialize_map(MapVisitor)
    }
}

impl FromIterator<(String, Value)> for Map<String, Value> {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(iter: T) -> Self {
        Self { map: iter.into_iter().collect() }
    }
}

impl Extend<(String, Value)> for Map<String, Value> {
    fn extend<T: IntoIterator<Item = (String, Value)>>(&mut self, iter: T) {
        self.map.extend(iter);
    }
}

impl IntoDeserializer<'_, Error> for Map<String, Value> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> IntoDeserializer<'de, Error> for &'de Map<String, Value> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Entry of a [`Map`], whether it exists or not.
pub enum Entry<'a> {
    /// The map does not have the key.
    Vacant(VacantEntry<'a>),
    /// The map has the key.
    Occupied(OccupiedEntry<'a>),
}

/// Key that a [`Map`] does not have.
pub struct VacantEntry<'a> {
    vacant: imp::VacantEntry<'a, String, Value>,
}

/// Key of a [`Map`], and its value.
pub struct OccupiedEntry<'a> {
    occupied: imp::OccupiedEntry<'a, String, Value>,
}

impl<'a> Entry<'a> {
    /// Returns the key.
    pub fn key(&self) -> &String {
        match self {
            Self::Vacant(entry) => entry.key(),
            Self::Occupied(entry) => entry.key(),
        }
    }

    /// Returns the value, and inserts this one before if there is none.
    pub fn or_insert(self, default: Value) -> &'a mut Value {
        self.or_insert_with(|| default)
    }

    /// Returns the value, and inserts the result of the function before if there is none.
    pub fn or_insert_with<F>(self, default: F) -> &'a mut Value
    where
        F: FnOnce() -> Value,
    {
        match self {
            Self::Vacant(entry) => entry.insert(default()),
            Self::Occupied(entry) => entry.into_mut(),
        }
    }

    /// Changes the value if there is one.
    pub fn and_modify<F>(mut self, f: F) -> Self
    where
        F: FnOnce(&mut Value),
    {
        if let Self::Occupied(entry) = &mut self {
            f(entry.get_mut());
        }
        self
    }
}

impl<'a> VacantEntry<'a> {
    /// Returns the key.
    #[inline]
    pub fn key(&self) -> &String {
        self.vacant.key()
    }

    /// Inserts the key with this value.
    #[inline]
    pub fn insert(self, value: Value) -> &'a mut Value {
        self.vacant.insert(value)
    }
}

impl<'a> OccupiedEntry<'a> {
    /// Returns the key.
    #[inline]
    pub fn key(&self) -> &String {
        self.occupied.key()
    }

    /// Returns the value.
    #[inline]
    pub fn get(&self) -> &Value {
        self.occupied.get()
    }

    /// Returns the value.
    #[inline]
    pub fn get_mut(&mut self) -> &mut Value {
        self.occupied.get_mut()
    }

    /// Returns the value for as long as the map is borrowed.
    #[inline]
    pub fn into_mut(self) -> &'a mut Value {
        self.occupied.into_mut()
    }

    /// Sets the value and returns the previous one.
    #[inline]
    pub fn insert(&mut self, value: Value) -> Value {
        self.occupied.insert(value)
    }

    /// Removes the entry and returns its value.
    ///
    /// With the feature `preserve_order`, the last entry takes its place.
    #[inline]
    pub fn remove(self) -> Value {
        self.remove_entry().1
    }

    /// Removes the entry and returns its value. The last entry takes its place.
    #[cfg(feature = "preserve_order")]
    #[inline]
    pub fn swap_remove(self) -> Value {
        self.occupied.swap_remove()
    }

    /// Removes the entry and returns its value. Moves all entries after it.
    #[cfg(feature = "preserve_order")]
    #[inline]
    pub fn shift_remove(self) -> Value {
        self.occupied.shift_remove()
    }

    /// Removes and returns the entry.
    ///
    /// With the feature `preserve_order`, the last entry takes its place.
    #[inline]
    pub fn remove_entry(self) -> (String, Value) {
        #[cfg(feature = "preserve_order")]
        return self.occupied.swap_remove_entry();
        #[cfg(not(feature = "preserve_order"))]
        self.occupied.remove_entry()
    }

    /// Removes and returns the entry. The last entry takes its place.
    #[cfg(feature = "preserve_order")]
    #[inline]
    pub fn swap_remove_entry(self) -> (String, Value) {
        self.occupied.swap_remove_entry()
    }

    /// Removes and returns the entry. Moves all entries after it.
    #[cfg(feature = "preserve_order")]
    #[inline]
    pub fn shift_remove_entry(self) -> (String, Value) {
        self.occupied.shift_remove_entry()
    }
}

macro_rules! iterators {
    ($($(#[$attribute:meta])* $name:ident $(<$lifetime:lifetime>)? => $item:ty;)*) => {
        $(
            $(#[$attribute])*
            pub struct $name $(<$lifetime>)? {
                iter: imp::$name<$($lifetime,)? String, Value>,
            }

            impl $(<$lifetime>)? Iterator for $name $(<$lifetime>)? {
                type Item = $item;

                #[inline]
                fn next(&mut self) -> Option<$item> {
                    self.iter.next()
                }

                #[inline]
                fn size_hint(&self) -> (usize, Option<usize>) {
                    self.iter.size_hint()
                }
            }

            impl $(<$lifetime>)? DoubleEndedIterator for $name $(<$lifetime>)? {
                #[inline]
                fn next_back(&mut self) -> Option<$item> {
                    self.iter.next_back()
                }
            }

            impl $(<$lifetime>)? ExactSizeIterator for $name $(<$lifetime>)? {
                #[inline]
                fn len(&self) -> usize {
                    self.iter.len()
                }
            }

            impl $(<$lifetime>)? FusedIterator for $name $(<$lifetime>)? {}
        )*
    };
}

iterators! {
    /// Iterator over the entries of a [`Map`].
    #[derive(Clone, Debug)]
    Iter<'a> => (&'a String, &'a Value);
    /// Iterator over the entries of a [`Map`], whose values can be changed.
    #[derive(Debug)]
    IterMut<'a> => (&'a String, &'a mut Value);
    /// Iterator that owns the entries of a [`Map`].
    #[derive(Debug)]
    IntoIter => (String, Value);
    /// Iterator over the keys of a [`Map`].
    #[derive(Clone, Debug)]
    Keys<'a> => &'a String;
    /// Iterator over the values of a [`Map`].
    #[derive(Clone, Debug)]
    Values<'a> => &'a Value;
    /// Iterator over the values of a [`Map`], which can be changed.
    #[derive(Debug)]
    ValuesMut<'a> => &'a mut Value;
    /// Iterator that owns the values of a [`Map`].
    #[derive(Debug)]
    IntoValues => Value;
}

impl<'a> IntoIterator for &'a Map<String, Value> {
    type Item = (&'a String, &'a Value);
    type IntoIter = Iter<'a>;

    #[inline]
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Map<String, Value> {
    type Item = (&'a String, &'a mut Value);
    type IntoIter = IterMut<'a>;

    #[inline]
    fn into_iter(self) -> IterMut<'a> {
        self.iter_mut()
    }
}

impl IntoIterator for Map<String, Value> {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    #[inline]
    fn into_iter(self) -> IntoIter {
        IntoIter { iter: self.map.into_iter() }
    }
}
