//! Which files are there, and which nobody wanted the longest.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::time::SystemTime;

use hashlink::{LinkedHashMap, LinkedHashSet};

use super::Digest;

/// Files in the order in which they were last wanted, with a limit of their bytes.
#[derive(Debug)]
pub(super) struct Recency {
    files: LinkedHashMap<Digest, Item>,
    /// Those that are held open, in the same order.
    open: LinkedHashSet<Digest>,
    max_open: usize,
    bytes: u64,
    max_bytes: u64,
    /// What was removed while somebody looks through the folder, who may have seen it before.
    gone: Option<HashSet<Digest>>,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) len: u64,
    pub(super) file: Option<Arc<File>>,
    /// What it is called, for people, as soon as somebody has asked for it by that.
    pub(super) label: Option<Arc<str>>,
    /// When the disk was last told that it was wanted.
    pub(super) noted: SystemTime,
}

impl Recency {
    pub(super) fn new(max_bytes: u64, max_open: usize) -> Self {
        let (files, open) = (LinkedHashMap::new(), LinkedHashSet::new());
        Self { files, open, max_open, bytes: 0, max_bytes, gone: None }
    }

    /// How many files there are, and their bytes.
    pub(super) fn count(&self) -> (u64, u64) {
        (self.files.len() as u64, self.bytes)
    }

    /// All files: what they are called, and their bytes.
    pub(super) fn labels(&self) -> Vec<(Option<Arc<str>>, u64)> {
        self.files.values().map(|item| (item.label.clone(), item.len)).collect()
    }

    /// A file that is wanted now.
    pub(super) fn touch(&mut self, digest: &Digest) -> Option<&mut Item> {
        if self.open.contains(digest) {
            self.open.to_back(digest);
        }
        self.files.to_back(digest)
    }

    /// Holds a file open, and lets go of the one that nobody wanted the longest if there are too many.
    pub(super) fn hold(&mut self, digest: &Digest, file: &Arc<File>) {
        if self.max_open == 0 {
            return;
        }
        if let Some(item) = self.files.get_mut(digest) {
            item.file = Some(file.clone());
            self.open.insert(*digest);
        }
        if self.open.len() > self.max_open
            && let Some(oldest) = self.open.pop_front()
            && let Some(item) = self.files.get_mut(&oldest)
        {
            item.file = None;
        }
    }

    /// Adds a file as the one that was wanted last.
    pub(super) fn insert(&mut self, digest: Digest, len: u64, noted: SystemTime) {
        self.remove(&digest);
        if let Some(gone) = &mut self.gone {
            gone.remove(&digest);
        }
        self.files.insert(digest, Item { len, file: None, label: None, noted });
        self.bytes += len;
    }

    /// Somebody begins to look through the folder.
    pub(super) fn search(&mut self) {
        self.gone = Some(HashSet::new());
    }

    /// Adds the files that a search has found as ones that were wanted before all that there are, in that order among
    /// themselves.
    pub(super) fn insert_before(
        &mut self,
        files: impl DoubleEndedIterator<Item = (Digest, u64, SystemTime)>,
    ) {
        let gone = self.gone.take().unwrap_or_default();
        for (digest, len, noted) in files.rev() {
            if !gone.contains(&digest) && !self.files.contains_key(&digest) {
                self.bytes += len;
                self.files.insert(digest, Item { len, file: None, label: None, noted });
                self.files.to_front(&digest);
            }
        }
    }

    pub(super) fn remove(&mut self, digest: &Digest) -> Option<u64> {
        if let Some(gone) = &mut self.gone {
            gone.insert(*digest);
        }
        let item = self.files.remove(digest)?;
        self.open.remove(digest);
        self.bytes -= item.len;
        Some(item.len)
    }

    /// The files to remove so that there is room for `more` bytes that are on their way.
    pub(super) fn evict(&mut self, more: u64) -> Vec<Digest> {
        self.evict_to(self.max_bytes, more)
    }

    /// The same with another limit.
    pub(super) fn evict_to(&mut self, max_bytes: u64, more: u64) -> Vec<Digest> {
        let mut evicted = Vec::new();
        while self.bytes.saturating_add(more) > max_bytes
            && let Some((digest, item)) = self.files.pop_front()
        {
            self.open.remove(&digest);
            self.bytes -= item.len;
            if let Some(gone) = &mut self.gone {
                gone.insert(digest);
            }
            evicted.push(digest);
        }
        evicted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest(number: u8) -> Digest {
        Digest([number; 32])
    }

    #[test]
    fn what_goes_during_a_search_stays_gone() {
        let mut recency = Recency::new(100, 4);
        recency.insert(digest(1), 10, SystemTime::UNIX_EPOCH);
        recency.search();
        recency.remove(&digest(1));
        recency.remove(&digest(2));
        recency.insert(digest(3), 20, SystemTime::UNIX_EPOCH);
        let found = [1, 2, 3, 4].map(|number| (digest(number), 5, SystemTime::UNIX_EPOCH));
        recency.insert_before(found.into_iter());
        assert_eq!(recency.count(), (2, 25));
    }

    proptest! {
        /// Against a plain list.
        #[test]
        fn the_least_recent_goes_first(steps in proptest::collection::vec((0u8..3, 0u8..12, 0u64..40), 0..200)) {
            let mut recency = Recency::new(100, 4);
            let mut naive: Vec<(u8, u64)> = Vec::new();
            for (action, number, len) in steps {
                match action {
                    0 => {
                        recency.insert(digest(number), len, SystemTime::UNIX_EPOCH);
                        naive.retain(|(other, _)| *other != number);
                        naive.push((number, len));
                    }
                    1 => {
                        let found = recency.touch(&digest(number)).map(|item| item.len);
                        let at = naive.iter().position(|(other, _)| *other == number);
                        let expected = at.map(|at| { let item = naive.remove(at); naive.push(item); item.1 });
                        prop_assert_eq!(found, expected);
                    }
                    _ => {
                        prop_assert_eq!(recency.remove(&digest(number)).is_some(), naive.iter().any(|(other, _)| *other == number));
                        naive.retain(|(other, _)| *other != number);
                    }
                }
                let mut expected = Vec::new();
                while naive.iter().map(|(_, len)| len).sum::<u64>() + 10 > 100 && !naive.is_empty() {
                    expected.push(digest(naive.remove(0).0));
                }
                prop_assert_eq!(recency.evict(10), expected);
                let count = (naive.len() as u64, naive.iter().map(|(_, len)| len).sum::<u64>());
                prop_assert_eq!(recency.count(), count);
            }
        }
    }
}
