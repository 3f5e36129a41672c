//! What a document has written already, by identity.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Object;
use crate::value::TypeNames;

/// Tables larger than this are not kept for the next document.
const KEPT: usize = 1024;

/// Spreads addresses, of which the lowest bits are always zero.
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

type Addresses = HashMap<usize, u32, BuildHasherDefault<AddressHasher>>;

/// The objects of a document that may come again, and the number of the next.
#[derive(Default)]
pub(super) struct Objects {
    numbers: Addresses,
    next: u32,
    /// Handles to objects that could otherwise go away while the document goes on, and leave their address to others.
    pinned: Vec<Object>,
}

impl Objects {
    /// The number of an object that was written before.
    pub(super) fn find(&self, object: &Object) -> Option<u32> {
        if self.numbers.is_empty() { None } else { self.numbers.get(&object.address()).copied() }
    }

    /// Gives the next object its number. Only one that is `kept` is found again.
    pub(super) fn add(&mut self, object: &Object, kept: bool) -> u32 {
        let number = self.next;
        self.next += 1;
        if kept {
            self.numbers.insert(object.address(), number);
        }
        number
    }

    pub(super) fn pin(&mut self, object: &Object) {
        self.pinned.push(object.clone());
    }

    pub(super) fn clear(&mut self) {
        // Most documents of messages are primitives, for which all tables stay as they are.
        if self.next != 0 {
            self.next = 0;
            self.forget();
        }
    }

    /// Finds none of the objects so far any more; numbers go on.
    pub(super) fn forget(&mut self) {
        if self.numbers.capacity() > KEPT {
            self.numbers = Addresses::default();
        } else {
            self.numbers.clear();
        }
        if self.pinned.capacity() > KEPT {
            self.pinned = Vec::new();
        } else {
            self.pinned.clear();
        }
    }
}

/// The lists of type names of a document. Two lists with the same names are one.
#[derive(Default)]
pub(super) struct Lists {
    /// By number, from the first one on.
    lists: Vec<TypeNames>,
    first: u32,
    /// Numbers of all lists, once there are more than a few. Holding on to the lists keeps their addresses.
    addresses: Addresses,
    contents: HashMap<TypeNames, u32>,
}

impl Lists {
    /// So many lists are compared one by one.
    const FEW: usize = 8;

    /// The number of a list that was written before, or the next number as an error.
    pub(super) fn find_or_add(&mut self, names: &TypeNames) -> Result<u32, u32> {
        let number = self.first + self.lists.len() as u32;
        if self.lists.len() <= Self::FEW {
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
        if self.lists.len() > Self::FEW {
            self.index();
        }
        Err(number)
    }

    /// Adds to the tables what they do not have yet.
    fn index(&mut self) {
        for index in self.contents.len()..self.lists.len() {
            let (names, number) = (&self.lists[index], self.first + index as u32);
            self.addresses.insert(names.address(), number);
            self.contents.insert(names.clone(), number);
        }
    }

    pub(super) fn clear(&mut self) {
        if !self.lists.is_empty() {
            self.forget();
        }
        self.first = 0;
    }

    /// Finds none of the lists so far any more; numbers go on.
    pub(super) fn forget(&mut self) {
        self.first += self.lists.len() as u32;
        if self.lists.capacity() > KEPT {
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
    fn lists_are_found_by_content_whatever_their_number() {
        let mut lists = Lists::default();
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

    #[test]
    fn lists_that_begin_alike_differ() {
        let mut lists = Lists::default();
        assert_eq!(lists.find_or_add(&TypeNames::new(["A", "B"])), Err(0));
        assert_eq!(lists.find_or_add(&TypeNames::new(["A"])), Err(1));
        assert_eq!(lists.find_or_add(&TypeNames::new(["A", "C"])), Err(2));
    }
}
