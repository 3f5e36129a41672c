//! Object storage, identifiers and time of the built-in API.

use std::collections::{BTreeMap, VecDeque};

/// Maximum objects of each type; the oldest are evicted.
const MAX_OBJECTS: usize = 1_000;

/// Maximum size of the objects of each type, in bytes of the requests that created them.
const MAX_BYTES: usize = 256 << 20;

/// Time of the first request. It advances by one second per request, so that responses do not depend on a
/// clock.
const EPOCH: u64 = 1_700_000_000;

/// Counts requests and objects, for identifiers and time.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: u64,
    /// Identifiers issued per prefix.
    issued: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// Starts a request and returns its number, from 1.
    pub(crate) fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Returns the API's own time, in Unix seconds.
    pub(crate) fn now(&self) -> u64 {
        EPOCH + self.requests - 1
    }

    /// Returns the next identifier with this prefix: `file_1`, `file_2`.
    pub(crate) fn id(&mut self, prefix: &'static str) -> String {
        let number = self.issued.entry(prefix).or_default();
        *number += 1;
        format!("{prefix}{number}")
    }
}

/// Objects by identifier, in order of creation.
#[derive(Debug)]
pub(crate) struct Store<T> {
    objects: VecDeque<Stored<T>>,
    /// Total size of the objects.
    bytes: usize,
}

#[derive(Debug)]
struct Stored<T> {
    id: String,
    /// Size of the request that created the object.
    bytes: usize,
    object: T,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { objects: VecDeque::new(), bytes: 0 }
    }
}

impl<T> Store<T> {
    pub(crate) fn insert(&mut self, id: String, bytes: usize, object: T) {
        self.objects.push_back(Stored { id, bytes, object });
        self.bytes += bytes;
        // Never evict the newest object, whatever its size.
        while self.objects.len() > 1 && (self.objects.len() > MAX_OBJECTS || self.bytes > MAX_BYTES) {
            self.remove_at(0);
        }
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.objects.iter().position(|stored| stored.id == id)
    }

    fn remove_at(&mut self, index: usize) -> Option<T> {
        let stored = self.objects.remove(index)?;
        self.bytes -= stored.bytes;
        Some(stored.object)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.position(id).map(|index| &self.objects[index].object)
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.position(id).map(|index| &mut self.objects[index].object)
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        self.position(id).and_then(|index| self.remove_at(index))
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.objects.iter().map(|stored| &stored.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_objects_are_evicted_by_count() {
        let mut store = Store::default();
        for number in 0..=MAX_OBJECTS {
            store.insert(number.to_string(), 1, number);
        }
        assert_eq!(store.get("0"), None);
        assert_eq!(store.get("1"), Some(&1));
        assert_eq!(store.values().count(), MAX_OBJECTS);
        assert_eq!(store.remove("1"), Some(1));
        assert_eq!(store.remove("1"), None);
        assert_eq!(store.bytes, MAX_OBJECTS - 1);
    }

    #[test]
    fn oldest_objects_are_evicted_by_size() {
        let mut store = Store::default();
        for number in 0..3 {
            store.insert(number.to_string(), MAX_BYTES / 2, number);
        }
        assert_eq!(store.values().copied().collect::<Vec<_>>(), [1, 2]);
        store.insert("3".to_owned(), MAX_BYTES + 1, 3);
        assert_eq!(store.values().copied().collect::<Vec<_>>(), [3]);
    }
}
