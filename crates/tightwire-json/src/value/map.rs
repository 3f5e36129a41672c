//! Objects of trees.

use std::hash::BuildHasher;
use std::marker::PhantomData;

use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table};

use super::memory::{Counted, INNER, Inner};
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
/// ```
/// use tightwire_json::{Map, json};
///
/// let mut map = Map::new();
/// map.insert("b", json!(1));
/// map.insert("a", json!([2]));
/// assert_eq!(map["a"][0], 2);
/// assert!(map.keys().eq(["b", "a"]));
/// ```
#[repr(C)]
pub struct Map<K = String, V = Value> {
    repr: Repr,
    parameters: PhantomData<fn() -> (K, V)>,
}

// The layout is defined, so that the decoder can write it.
#[derive(Default)]
#[repr(u8)]
enum Repr {
    #[default]
    Empty = 0,
    /// Behind a pointer, because [`Value`] has no room for it.
    Owned(Box<Owned>) = 2,
    /// Object of a decoded document.
    Shared(Counted<Entry>) = 3,
    /// Object inside of another container of a decoded document.
    #[allow(dead_code, reason = "the decoder writes it as words")]
    Inner(Inner<Entry>) = INNER,
}

impl Clone for Repr {
    fn clone(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Owned(owned) => Self::Owned(owned.clone()),
            Self::Shared(entries) => Self::Shared(entries.clone()),
            Self::Inner(entries) => Self::Shared(entries.counted()),
        }
    }
}

/// Key and value.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Entry {
    /// Makes a key with its tag look like a [`Value`], which the decoder writes.
    tag: u8,
    pub(super) key: JsonString,
    pub(super) value: Value,
}

impl Entry {
    pub(super) fn new(key: JsonString, value: Value) -> Self {
        Self { tag: 0, key, value }
    }
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
    fn with_capacity(capacity: usize) -> Self {
        Self { positions: HashTable::with_capacity(capacity), state: RandomState::default() }
    }

    fn new(entries: &[Entry]) -> Self {
        let mut index = Self::with_capacity(entries.len());
        for (position, entry) in entries.iter().enumerate() {
            index.find_or_insert(&entry.key, position, |position| &entries[position].key);
        }
        index
    }

    /// Returns the position of a key, and its entry.
    #[inline(never)]
    fn find<'a>(&self, key: &str, entries: &'a [Entry]) -> Option<(usize, &'a Entry)> {
        let is_same = |position: &u32| entries[*position as usize].key.as_str() == key;
        let position = *self.positions.find(self.state.hash_one(key), is_same)? as usize;
        Some((position, &entries[position]))
    }

    /// Returns the position of a key, or adds it with this position.
    fn find_or_insert<'a>(
        &mut self,
        key: &str,
        position: usize,
        keys: impl Fn(usize) -> &'a JsonString,
    ) -> Option<usize> {
        let hash = self.state.hash_one(key);
        let is_same = |position: &u32| keys(*position as usize).as_str() == key;
        let hash_of = |position: &u32| self.state.hash_one(keys(*position as usize).as_str());
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
        self.entries.push(Entry::new(key, value));
        let position = self.entries.len() - 1;
        match &mut self.index {
            Some(index) => {
                let key = |position: usize| &self.entries[position].key;
                index.find_or_insert(key(position), position, key);
            }
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

/// Moves duplicate keys to the end: the last value is kept, at the position of the first. Returns the number of
/// different keys, and the index of a large object.
pub(super) fn deduplicate(entries: &mut [Entry]) -> (usize, Option<Index>) {
    let mut index = (entries.len() >= INDEXED).then(|| Index::with_capacity(entries.len()));
    let mut kept = 0;
    for at in 0..entries.len() {
        let (before, key) = (&entries[..kept], &entries[at].key);
        let first = match &mut index {
            Some(index) => index.find_or_insert(key, kept, |position| &before[position].key),
            None => before.iter().position(|entry| entry.key == *key),
        };
        match first {
            Some(position) => {
                let (before, rest) = entries.split_at_mut(at);
                std::mem::swap(&mut before[position].value, &mut rest[0].value);
            }
            None => {
                entries.swap(kept, at);
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

    /// Returns the entries in order.
    #[inline]
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.repr {
            Repr::Empty => &[],
            Repr::Owned(owned) => &owned.entries,
            Repr::Shared(entries) => entries.inner().items(),
            Repr::Inner(entries) => entries.items(),
        }
    }

    /// Returns the position of a key, and its entry.
    #[inline]
    pub(super) fn find(&self, key: &str) -> Option<(usize, &Entry)> {
        let (entries, index) = match &self.repr {
            Repr::Empty => return None,
            Repr::Owned(owned) => (&*owned.entries, owned.index.as_ref()),
            Repr::Shared(entries) => (entries.inner().items(), entries.inner().index()),
            Repr::Inner(entries) => (entries.items(), entries.index()),
        };
        match index {
            Some(index) => index.find(key, entries),
            None => entries.iter().enumerate().find(|(_, entry)| is_same(&entry.key, key)),
        }
    }

    /// Returns the entries for changes. The first call for an object of a decoded document copies its entries, but not
    /// the elements of its values.
    pub(super) fn to_mut(&mut self) -> &mut Owned {
        if !matches!(self.repr, Repr::Owned(_)) {
            let mut owned = Box::new(Owned { entries: self.entries().to_vec(), index: None });
            owned.rebuild();
            self.repr = Repr::Owned(owned);
        }
        match &mut self.repr {
            Repr::Owned(owned) => owned,
            _ => unreachable!("the object is owned"),
        }
    }

    /// Returns the entries of an object of a [`Builder`](super::memory::Builder), `None` for an empty one.
    pub(super) fn into_inner(self) -> Option<Inner<Entry>> {
        match self.repr {
            Repr::Inner(entries) => Some(entries),
            _ => None,
        }
    }
}

impl From<Counted<Entry>> for Map<String, Value> {
    fn from(entries: Counted<Entry>) -> Self {
        Self { repr: Repr::Shared(entries), parameters: PhantomData }
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
            && self
                .entries()
                .iter()
                .all(|entry| other.find(&entry.key).is_some_and(|(_, found)| found.value == entry.value))
    }
}
