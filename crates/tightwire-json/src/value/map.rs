//! Objects of trees.

use std::hash::BuildHasher;
use std::marker::PhantomData;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{JsonString, Value};

/// Number of entries from which an object has an index. Smaller ones are searched from the first entry on.
const INDEXED: usize = 16;

/// Object of a [`Value`]: keys and values in the order of insertion.
///
/// The parameters exist so that `Map<String, Value>` can be written as with serde_json; there is no other instance. Keys
/// are [`JsonString`]s.
///
/// # Examples
/// ```
/// use tightwire_json::{Map, json};
///
/// let mut map = Map::new();
/// map.insert("b", json!(1));
/// map.insert("a", json!([2]));
/// assert_eq!(map["a"][0], 2);
/// assert!(map.keys().eq(["b", "a"]));
/// ```
pub struct Map<K = String, V = Value> {
    repr: Repr,
    parameters: PhantomData<fn() -> (K, V)>,
}

#[derive(Clone)]
enum Repr {
    /// Behind a pointer, because [`Value`] has no room for it.
    Owned(Box<Owned>),
}

impl Default for Repr {
    fn default() -> Self {
        Self::Owned(Box::default())
    }
}

/// Key and value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: JsonString,
    pub(super) value: Value,
}

/// Entries of an object that can be changed.
#[derive(Clone, Default)]
pub(super) struct Owned {
    entries: Vec<Entry>,
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
    fn new(entries: &[Entry]) -> Self {
        let mut index =
            Self { positions: HashTable::with_capacity(entries.len()), state: RandomState::default() };
        for (position, entry) in entries.iter().enumerate() {
            index.insert(entries, &entry.key, position);
        }
        index
    }

    fn find(&self, entries: &[Entry], key: &str) -> Option<usize> {
        let same = |position: &u32| entries[*position as usize].key.as_str() == key;
        self.positions.find(self.state.hash_one(key), same).map(|position| *position as usize)
    }

    fn insert(&mut self, entries: &[Entry], key: &str, position: usize) {
        let hash = |position: &u32| self.state.hash_one(entries[*position as usize].key.as_str());
        // The limit for documents keeps the number of entries below 2^32.
        self.positions.insert_unique(self.state.hash_one(key), position as u32, hash);
    }

    fn remove(&mut self, key: &str, position: usize) {
        let hash = self.state.hash_one(key);
        if let Ok(found) = self.positions.find_entry(hash, |other| *other as usize == position) {
            found.remove();
        }
    }

    /// Changes the position of a key.
    fn replace(&mut self, key: &str, from: usize, to: usize) {
        let hash = self.state.hash_one(key);
        if let Some(position) = self.positions.find_mut(hash, |other| *other as usize == from) {
            *position = to as u32;
        }
    }
}

impl Owned {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the entries. Only their values may be changed.
    pub(super) fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    pub(super) fn value_mut(&mut self, position: usize) -> Option<&mut Value> {
        self.entries.get_mut(position).map(|entry| &mut entry.value)
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.entries.reserve(additional);
    }

    /// Appends an entry with a new key.
    pub(super) fn push(&mut self, key: JsonString, value: Value) -> &mut Value {
        self.entries.push(Entry { key, value });
        let position = self.entries.len() - 1;
        match &mut self.index {
            Some(index) => index.insert(&self.entries, &self.entries[position].key, position),
            None => self.rebuild(),
        }
        &mut self.entries[position].value
    }

    /// Removes an entry and moves the last one to its position.
    ///
    /// # Panics
    /// If `position` is out of range.
    pub(super) fn swap_remove(&mut self, position: usize) -> Entry {
        if let Some(index) = &mut self.index {
            let last = self.entries.len() - 1;
            index.remove(&self.entries[position].key, position);
            if position != last {
                index.replace(&self.entries[last].key, last, position);
            }
        }
        self.entries.swap_remove(position)
    }

    /// Changes the entries in any way that does not add a key twice.
    pub(super) fn change<T>(&mut self, change: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
        self.index = None;
        let result = change(&mut self.entries);
        self.rebuild();
        result
    }

    fn rebuild(&mut self) {
        self.index = (self.entries.len() >= INDEXED).then(|| Index::new(&self.entries));
    }

    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }
}

impl Map<String, Value> {
    /// Returns an empty object.
    pub fn new() -> Self {
        Self { repr: Repr::default(), parameters: PhantomData }
    }

    /// Returns the entries in order.
    #[inline]
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.repr {
            Repr::Owned(owned) => &owned.entries,
        }
    }

    /// Returns the position of a key.
    pub(super) fn find(&self, key: &str) -> Option<usize> {
        let (entries, index) = match &self.repr {
            Repr::Owned(owned) => (&owned.entries[..], owned.index.as_ref()),
        };
        match index {
            Some(index) => index.find(entries, key),
            None => entries.iter().position(|entry| entry.key.as_str() == key),
        }
    }

    /// Returns the entries for changes.
    pub(super) fn to_mut(&mut self) -> &mut Owned {
        match &mut self.repr {
            Repr::Owned(owned) => owned,
        }
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
        self.entries().len() == other.entries().len()
            && self.entries().iter().all(|entry| {
                other.find(&entry.key).is_some_and(|position| other.entries()[position].value == entry.value)
            })
    }
}
