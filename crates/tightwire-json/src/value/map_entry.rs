//! Entry of an object for a key that may not exist.

use std::fmt;

use super::map::Owned;
use super::{JsonString, Value};

/// Entry of a [`Map`](super::Map), from [`Map::entry`](super::Map::entry).
#[derive(Debug)]
pub enum Entry<'a> {
    /// The key does not exist.
    Vacant(VacantEntry<'a>),
    /// The key exists.
    Occupied(OccupiedEntry<'a>),
}

/// Key that does not exist in the object.
pub struct VacantEntry<'a> {
    pub(super) owned: &'a mut Owned,
    pub(super) key: JsonString,
}

/// Key that exists in the object.
pub struct OccupiedEntry<'a> {
    pub(super) owned: &'a mut Owned,
    pub(super) position: usize,
}

impl<'a> Entry<'a> {
    /// Returns the key.
    pub fn key(&self) -> &JsonString {
        match self {
            Self::Vacant(entry) => entry.key(),
            Self::Occupied(entry) => entry.key(),
        }
    }

    /// Returns the value, after the insertion of `default` if the key does not exist.
    pub fn or_insert(self, default: Value) -> &'a mut Value {
        self.or_insert_with(|| default)
    }

    /// Returns the value, after the insertion of the result of `default` if the key does not exist.
    pub fn or_insert_with(self, default: impl FnOnce() -> Value) -> &'a mut Value {
        match self {
            Self::Vacant(entry) => entry.insert(default()),
            Self::Occupied(entry) => entry.into_mut(),
        }
    }

    /// Changes the value if the key exists.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut Value)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }
}

impl<'a> VacantEntry<'a> {
    /// Returns the key.
    pub fn key(&self) -> &JsonString {
        &self.key
    }

    /// Inserts the key with this value, as the last entry.
    pub fn insert(self, value: Value) -> &'a mut Value {
        self.owned.push(self.key, value)
    }
}

impl<'a> OccupiedEntry<'a> {
    /// Returns the key.
    pub fn key(&self) -> &JsonString {
        &self.owned.keys()[self.position].text
    }

    /// Returns the value.
    pub fn get(&self) -> &Value {
        &self.owned.values()[self.position]
    }

    /// Returns the value for changes.
    pub fn get_mut(&mut self) -> &mut Value {
        &mut self.owned.values_mut()[self.position]
    }

    /// Returns the value for changes, with the lifetime of the object.
    pub fn into_mut(self) -> &'a mut Value {
        &mut self.owned.values_mut()[self.position]
    }

    /// Sets the value and returns the previous one.
    pub fn insert(&mut self, value: Value) -> Value {
        std::mem::replace(self.get_mut(), value)
    }

    /// Removes the entry and returns its value. Same as [`swap_remove`](Self::swap_remove).
    pub fn remove(self) -> Value {
        self.swap_remove()
    }

    /// Removes the entry and returns it. Same as [`swap_remove_entry`](Self::swap_remove_entry).
    pub fn remove_entry(self) -> (JsonString, Value) {
        self.swap_remove_entry()
    }

    /// Removes the entry and returns its value. The last entry takes its position. Takes constant time.
    pub fn swap_remove(self) -> Value {
        self.swap_remove_entry().1
    }

    /// Removes the entry and returns it. The last entry takes its position. Takes constant time.
    pub fn swap_remove_entry(self) -> (JsonString, Value) {
        self.owned.swap_remove(self.position)
    }

    /// Removes the entry and returns its value. The order of the other entries is unchanged. Takes time in proportion to
    /// the number of entries.
    pub fn shift_remove(self) -> Value {
        self.shift_remove_entry().1
    }

    /// Removes the entry and returns it. Same as [`shift_remove`](Self::shift_remove) otherwise.
    pub fn shift_remove_entry(self) -> (JsonString, Value) {
        self.owned.shift_remove(self.position)
    }
}

impl fmt::Debug for VacantEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(&self.key).finish()
    }
}

impl fmt::Debug for OccupiedEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedEntry").field("key", self.key()).field("value", self.get()).finish()
    }
}
