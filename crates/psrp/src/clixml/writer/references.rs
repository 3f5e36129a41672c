//! Objects and type names already written to the document, by identity.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Object;
use crate::value::TypeNames;

/// Maximum capacity of tables that are reused for the next document.
const MAX_REUSED_CAPACITY: usize = 1024;

/// Hashes addresses, whose lowest bits are always zero.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, number: usize) {
        let product = (self.0 ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ product >> 32;
    }
}

type AddressMap = HashMap<usize, u32, BuildHasherDefault<AddressHasher>>;

/// The objects of a document that may occur again, and the next reference number.
#[derive(Default)]
pub(super) struct ObjectTable {
    numbers: AddressMap,
    next: u32,
    /// Handles that keep objects alive, so that no new object gets their address while the document continues.
    pinned: Vec<Object>,
}

impl ObjectTable {
    /// Returns the reference number of an object that was written before.
    pub(super) fn find(&self, object: &Object) -> Option<u32> {
        if self.numbers.is_empty() { None } else { self.numbers.get(&object.address()).copied() }
    }

    /// Assigns the next reference number. [`find`](Self::find) only finds the object if `may_recur` is set.
    pub(super) fn add(&mut self, object: &Object, may_recur: bool) -> u32 {
        let number = self.next;
        self.next += 1;
        if may_recur {
            self.numbers.insert(object.address(), number);
        }
        number
    }

    pub(super) fn pin(&mut self, object: &Object) {
        self.pinned.push(object.clone());
    }

    pub(super) fn clear(&mut self) {
        // Most messages are primitives, for which the tables stay empty.
        if self.next != 0 {
            self.next = 0;
            self.clear_objects();
        }
    }

    /// Removes all objects; reference numbers continue.
    pub(super) fn clear_objects(&mut self) {
        if self.numbers.capacity() > MAX_REUSED_CAPACITY {
            self.numbers = AddressMap::default();
        } else {
            self.numbers.clear();
        }
        if self.pinned.capacity() > MAX_REUSED_CAPACITY {
            self.pinned = Vec::new();
        } else {
            self.pinned.clear();
        }
    }
}

/// The lists of type names of a document. Lists with the same names share a reference number.
#[derive(Default)]
pub(super) struct TypeNameTable {
    /// Lists in order of their reference numbers, which begin with `first`.
    lists: Vec<TypeNames>,
    first: u32,
    /// Reference numbers of all lists, filled when there are more than a few. `lists` keeps the addresses valid.
    addresses: AddressMap,
    contents: HashMap<TypeNames, u32>,
}

impl TypeNameTable {
    /// Maximum number of lists for a linear search.
    const LINEAR: usize = 8;

    /// Returns the reference number of a list that was written before, or as an error the number of the new list.
    pub(super) fn find_or_add(&mut self, names: &TypeNames) -> Result<u32, u32> {
        let number = self.first + self.lists.len() as u32;
        if self.lists.len() <= Self::LINEAR {
            let found = self.lists.iter().position(|own| own.ptr_eq(names));
            let found = found.or_else(|| self.lists.iter().position(|own| own == names));
            if let Some(found) = found {
                return Ok(self.first + found as u32);
            }
        } else if let Some(found) = self.addresses.get(&names.address()) {
            return Ok(*found);
        } else if let Some(found) = self.contents.get(names) {
            return Ok(*found);
        }
        self.lists.push(names.clone());
        if self.lists.len() > Self::LINEAR {
            self.index();
        }
        Err(number)
    }

    /// Adds new lists to the tables.
    fn index(&mut self) {
        for index in self.contents.len()..self.lists.len() {
            let (names, number) = (&self.lists[index], self.first + index as u32);
            self.addresses.insert(names.address(), number);
            self.contents.insert(names.clone(), number);
        }
    }

    pub(super) fn clear(&mut self) {
        if !self.lists.is_empty() {
            self.clear_lists();
        }
        self.first = 0;
    }

    /// Removes all lists; reference numbers continue.
    pub(super) fn clear_lists(&mut self) {
        self.first += self.lists.len() as u32;
        if self.lists.capacity() > MAX_REUSED_CAPACITY {
            *self = Self { first: self.first, ..Self::default() };
        } else {
            self.lists.clear();
            self.addresses.clear();
            self.contents.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(number: usize) -> TypeNames {
        TypeNames::new([format!("T{number}"), "System.Object".to_owned()])
    }

    #[test]
    fn lists_are_found_by_content_at_any_count() {
        let mut lists = TypeNameTable::default();
        for _ in 0..2 {
            for number in 0..40 {
                assert_eq!(lists.find_or_add(&names(number)), Err(number as u32));
                for earlier in 0..=number {
                    assert_eq!(lists.find_or_add(&names(earlier)), Ok(earlier as u32));
                }
            }
            lists.clear();
        }
    }
}
