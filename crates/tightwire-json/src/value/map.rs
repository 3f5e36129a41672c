//! Objects of trees.

use std::hash::BuildHasher;
use std::iter::Zip;
use std::marker::PhantomData;
use std::vec;

use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table};

use super::memory::Repr;
use super::{JsonString, Value};
use crate::scan::is_same;

/// Number of entries from which an object has an index. Smaller ones are searched from the first entry on.
pub(super) const INDEXED: usize = 16;

/// Object of a [`Value`]: keys and values in the order of insertion.
///
/// The parameters exist so that `Map<String, Value>` can be written as with serde_json; there is no other instance. Keys
/// are [`JsonString`]s.
///
/// # Examples
///
/// ```
/// use tightwire_json::{Map, json};
///
/// let mut map = Map::new();
/// map.insert("b".into(), json!(1));
/// map.insert("a".into(), json!([2]));
/// assert_eq!(map["a"][0], 2);
/// assert!(map.keys().eq(["b", "a"]));
/// ```
#[repr(C)]
pub struct Map<K = String, V = Value> {
    repr: Repr<Owned, Map>,
    parameters: PhantomData<fn() -> (K, V)>,
}

/// Key. The tag makes it look like a [`Value`], which the decoder writes.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Key {
    tag: u8,
    pub(super) text: JsonString,
}

impl From<JsonString> for Key {
    fn from(text: JsonString) -> Self {
        Self { tag: 0, text }
    }
}

/// Entries of an object that can be changed. There are as many keys as values.
#[derive(Clone, Default)]
pub(super) struct Owned {
    keys: Vec<Key>,
    values: Vec<Value>,
    /// Present from [`INDEXED`] entries on. Stays when entries are removed, so that a change around this number does not
    /// build it again and again.
    index: Option<Index>,
}

/// Positions of the entries of a large object, by the hash of the key.
#[derive(Clone)]
pub(super) struct Index {
    positions: HashTable<u32>,
    state: RandomState,
}

impl Index {
    fn with_capacity(capacity: usize) -> Self {
        Self { positions: HashTable::with_capacity(capacity), state: RandomState::default() }
    }

    fn new(keys: &[Key]) -> Self {
        let mut index = Self::with_capacity(keys.len());
        for position in 0..keys.len() {
            index.find_or_insert(&keys[position].text, position, keys);
        }
        index
    }

    /// Returns the position of a key, if it is one of `keys`.
    #[inline(never)]
    fn find(&self, key: &[u8], keys: &[Key]) -> Option<usize> {
        let is_same =
            |position: &u32| keys.get(*position as usize).is_some_and(|other| other.text.as_bytes() == key);
        self.positions.find(self.state.hash_one(key), is_same).map(|position| *position as usize)
    }

    /// Returns the position of a key, or adds it with this position.
    fn find_or_insert(&mut self, key: &str, position: usize, keys: &[Key]) -> Option<usize> {
        let hash = self.state.hash_one(key.as_bytes());
        let is_same = |position: &u32| *keys[*position as usize].text == *key;
        let hash_of = |position: &u32| self.state.hash_one(keys[*position as usize].text.as_bytes());
        match self.positions.entry(hash, is_same, hash_of) {
            hash_table::Entry::Occupied(entry) => Some(*entry.get() as usize),
            hash_table::Entry::Vacant(entry) => {
                // An object with 2^32 entries does not fit into the memory that a document may have.
                entry.insert(position as u32);
                None
            }
        }
    }

    fn remove(&mut self, key: &str, position: usize) {
        let hash = self.state.hash_one(key.as_bytes());
        if let Ok(found) = self.positions.find_entry(hash, |other| *other as usize == position) {
            found.remove();
        }
    }

    /// Changes the position of a key.
    fn replace(&mut self, key: &str, from: usize, to: usize) {
        let hash = self.state.hash_one(key.as_bytes());
        if let Some(position) = self.positions.find_mut(hash, |other| *other as usize == from) {
            *position = to as u32;
        }
    }
}

impl Owned {
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut [Value] {
        &mut self.values
    }

    pub(super) fn entries_mut(&mut self) -> (&[Key], &mut [Value]) {
        (&self.keys, &mut self.values)
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.keys.reserve(additional);
        self.values.reserve(additional);
    }

    /// Appends an entry with a new key.
    pub(super) fn push(&mut self, key: JsonString, value: Value) -> &mut Value {
        let position = self.keys.len();
        self.keys.push(key.into());
        self.values.push(value);
        match &mut self.index {
            Some(index) => {
                index.find_or_insert(&self.keys[position].text, position, &self.keys);
            }
            None => self.rebuild(),
        }
        &mut self.values[position]
    }

    /// Removes an entry and moves the last one to its position.
    ///
    /// # Panics
    ///
    /// If `position` is out of range.
    pub(super) fn swap_remove(&mut self, position: usize) -> (JsonString, Value) {
        if let Some(index) = &mut self.index {
            let last = self.keys.len() - 1;
            index.remove(&self.keys[position].text, position);
            if position != last {
                index.replace(&self.keys[last].text, last, position);
            }
        }
        (self.keys.swap_remove(position).text, self.values.swap_remove(position))
    }

    /// Removes an entry. The order of the others is unchanged.
    ///
    /// # Panics
    ///
    /// If `position` is out of range.
    pub(super) fn shift_remove(&mut self, position: usize) -> (JsonString, Value) {
        let removed = (self.keys.remove(position).text, self.values.remove(position));
        self.rebuild();
        removed
    }

    /// Inserts an entry with a new key before the one at `position`.
    ///
    /// # Panics
    ///
    /// If `position` is out of range.
    pub(super) fn shift_insert(&mut self, position: usize, key: JsonString, value: Value) {
        self.keys.insert(position, key.into());
        self.values.insert(position, value);
        self.rebuild();
    }

    /// Changes the entries in any way that does not add a key twice.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Vec<(Key, Value)>)) {
        let mut entries = std::mem::take(self).into_entries().collect();
        change(&mut entries);
        (self.keys, self.values) = entries.into_iter().unzip();
        self.rebuild();
    }

    fn rebuild(&mut self) {
        self.index = (self.keys.len() >= INDEXED).then(|| Index::new(&self.keys));
    }

    pub(super) fn into_entries(self) -> Zip<vec::IntoIter<Key>, vec::IntoIter<Value>> {
        self.keys.into_iter().zip(self.values)
    }

    pub(super) fn into_values(self) -> Vec<Value> {
        self.values
    }
}

/// Moves duplicate keys to the end: the last value is kept, at the position of the first. Returns the number of
/// different keys, and the index of a large object.
pub(super) fn deduplicate(keys: &mut [Key], values: &mut [Value]) -> (usize, Option<Index>) {
    let mut index = (keys.len() >= INDEXED).then(|| Index::with_capacity(keys.len()));
    let mut kept = 0;
    for at in 0..keys.len() {
        let (before, key) = (&keys[..kept], &keys[at].text);
        let first = match &mut index {
            Some(index) => index.find_or_insert(key, kept, before),
            None => before.iter().position(|other| other.text == *key),
        };
        match first {
            Some(position) => values.swap(position, at),
            None => {
                keys.swap(kept, at);
                values.swap(kept, at);
                kept += 1;
            }
        }
    }
    (kept, index.filter(|_| kept >= INDEXED))
}

impl Map<String, Value> {
    /// Returns an empty object.
    pub const fn new() -> Self {
        Self { repr: Repr::Empty, parameters: PhantomData }
    }

    /// Returns the keys, the values and the index.
    #[inline]
    fn parts(&self) -> (&[Key], &[Value], Option<&Index>) {
        match &self.repr {
            Repr::Empty => (&[], &[], None),
            Repr::Owned(owned) => (&owned.keys, &owned.values, owned.index.as_ref()),
            Repr::Shared(items) => (items.inner().keys(), items.inner().items(), items.inner().index()),
            Repr::Inner(items) => (items.keys(), items.items(), items.index()),
        }
    }

    /// Returns the keys in order.
    #[inline]
    pub(super) fn key_slice(&self) -> &[Key] {
        self.parts().0
    }

    /// Returns the values in order.
    #[inline]
    pub(super) fn value_slice(&self) -> &[Value] {
        self.parts().1
    }

    /// Returns the position of a key, and its value.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<(usize, &Value)> {
        let (keys, values, index) = self.parts();
        match index {
            Some(index) => {
                let position = index.find(key, keys)?;
                Some((position, values.get(position)?))
            }
            None => keys
                .iter()
                .zip(values)
                .enumerate()
                .find(|(_, (other, _))| is_same(other.text.as_bytes(), key))
                .map(|(position, (_, value))| (position, value)),
        }
    }

    /// Returns the entries for changes. The first call for an object of a decoded document copies its entries, but not
    /// the elements of its values.
    pub(super) fn to_mut(&mut self) -> &mut Owned {
        if !matches!(self.repr, Repr::Owned(_)) {
            let (keys, values) = (self.key_slice().to_vec(), self.value_slice().to_vec());
            let mut owned = Box::new(Owned { keys, values, index: None });
            owned.rebuild();
            self.repr = Repr::Owned(owned);
        }
        match &mut self.repr {
            Repr::Owned(owned) => owned,
            _ => unreachable!("the object is owned"),
        }
    }

    /// Changes the representation.
    pub(super) fn map_repr(self, change: impl FnOnce(Repr<Owned, Self>) -> Repr<Owned, Self>) -> Self {
        Self { repr: change(self.repr), parameters: PhantomData }
    }
}

impl Default for Map<String, Value> {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Map<String, Value> {
    fn clone(&self) -> Self {
        Self { repr: self.repr.clone(), parameters: PhantomData }
    }
}

/// Objects are equal if they have the same keys with the same values, in any order.
impl PartialEq for Map<String, Value> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}
