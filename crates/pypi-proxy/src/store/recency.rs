//! What is on disk, and which of it nobody wanted the longest.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::time::SystemTime;

use hashlink::{LinkedHashMap, LinkedHashSet};

use super::Digest;

/// A part of the folder of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Files, by their hashes.
    Files = 0,
    /// Pages of indexes.
    Pages = 1,
    /// Hashes of files whose pages tell no SHA-256.
    References = 2,
    /// What was learned of files beside their pages.
    FileMetadata = 3,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 4] = [Self::Files, Self::Pages, Self::References, Self::FileMetadata];

    /// The name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Pages => "pages",
            Self::References => "references",
            Self::FileMetadata => "file_metadata",
        }
    }
}

/// Something on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Entry {
    File(Digest),
    /// By its path below the folder of the store.
    Other(Part, Box<str>),
}

impl Entry {
    pub(super) fn part(&self) -> Part {
        match self {
            Self::File(_) => Part::Files,
            Self::Other(part, _) => *part,
        }
    }
}

/// How much there is of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of entries.
    pub entries: u64,
    /// Their bytes. Those of other parts than the files are rounded up to blocks of 4 KiB, which they take on disk.
    pub bytes: u64,
}

/// What is on disk, in the order in which it was last wanted, with a limit of all bytes together.
#[derive(Debug)]
pub(super) struct Recency {
    entries: LinkedHashMap<Entry, Item>,
    /// Those that are held open, in the same order.
    open: LinkedHashSet<Entry>,
    max_open: usize,
    usage: [Usage; 4],
    max_bytes: u64,
    /// What was removed while somebody looks through the folder, who may have seen it before.
    gone: Option<HashSet<Entry>>,
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
        let (entries, open) = (LinkedHashMap::new(), LinkedHashSet::new());
        Self { entries, open, max_open, usage: Default::default(), max_bytes, gone: None }
    }

    /// How many files there are, and their bytes.
    pub(super) fn count(&self) -> (u64, u64) {
        let Usage { entries, bytes } = self.usage(Part::Files);
        (entries, bytes)
    }

    pub(super) fn usage(&self, part: Part) -> Usage {
        self.usage[part as usize]
    }

    fn bytes(&self) -> u64 {
        self.usage.iter().map(|usage| usage.bytes).sum()
    }

    fn count_in(&mut self, part: Part, len: u64) {
        let usage = &mut self.usage[part as usize];
        usage.entries += 1;
        usage.bytes += len;
    }

    fn count_out(&mut self, part: Part, len: u64) {
        let usage = &mut self.usage[part as usize];
        usage.entries -= 1;
        usage.bytes -= len;
    }

    /// All files: what they are called, and their bytes.
    pub(super) fn labels(&self) -> Vec<(Option<Arc<str>>, u64)> {
        let files = self.entries.iter().filter(|(entry, _)| entry.part() == Part::Files);
        files.map(|(_, item)| (item.label.clone(), item.len)).collect()
    }

    /// Something that is wanted now.
    pub(super) fn touch(&mut self, entry: &Entry) -> Option<&mut Item> {
        if self.open.contains(entry) {
            self.open.to_back(entry);
        }
        self.entries.to_back(entry)
    }

    /// Holds a file open, and lets go of the one that nobody wanted the longest if there are too many.
    pub(super) fn hold(&mut self, entry: &Entry, file: &Arc<File>) {
        if self.max_open == 0 {
            return;
        }
        if let Some(item) = self.entries.get_mut(entry) {
            item.file = Some(file.clone());
            self.open.insert(entry.clone());
        }
        if self.open.len() > self.max_open
            && let Some(oldest) = self.open.pop_front()
            && let Some(item) = self.entries.get_mut(&oldest)
        {
            item.file = None;
        }
    }

    /// Adds something as what was wanted last.
    pub(super) fn insert(&mut self, entry: Entry, len: u64, noted: SystemTime) {
        self.remove(&entry);
        if let Some(gone) = &mut self.gone {
            gone.remove(&entry);
        }
        self.count_in(entry.part(), len);
        self.entries.insert(entry, Item { len, file: None, label: None, noted });
    }

    /// Somebody begins to look through the folder.
    pub(super) fn search(&mut self) {
        self.gone = Some(HashSet::new());
    }

    /// Adds what a search has found as wanted before all that there is, in that order among itself.
    pub(super) fn insert_before(&mut self, found: impl DoubleEndedIterator<Item = (Entry, u64, SystemTime)>) {
        let gone = self.gone.take().unwrap_or_default();
        for (entry, len, noted) in found.rev() {
            if !gone.contains(&entry) && !self.entries.contains_key(&entry) {
                self.count_in(entry.part(), len);
                self.entries.insert(entry.clone(), Item { len, file: None, label: None, noted });
                self.entries.to_front(&entry);
            }
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry) -> Option<u64> {
        if let Some(gone) = &mut self.gone {
            gone.insert(entry.clone());
        }
        let item = self.entries.remove(entry)?;
        self.open.remove(entry);
        self.count_out(entry.part(), item.len);
        Some(item.len)
    }

    /// Removes everything of some parts.
    pub(super) fn remove_parts(&mut self, parts: &[Part]) {
        let of_parts = |entry: &&Entry| parts.contains(&entry.part());
        let entries: Vec<_> = self.entries.keys().filter(of_parts).cloned().collect();
        for entry in entries {
            self.remove(&entry);
        }
    }

    /// What to remove so that there is room for `more` bytes that are on their way.
    pub(super) fn evict(&mut self, more: u64) -> Vec<Entry> {
        self.evict_to(self.max_bytes, more)
    }

    /// The same with another limit.
    pub(super) fn evict_to(&mut self, max_bytes: u64, more: u64) -> Vec<Entry> {
        let mut evicted = Vec::new();
        while self.bytes().saturating_add(more) > max_bytes
            && let Some((entry, item)) = self.entries.pop_front()
        {
            self.open.remove(&entry);
            self.count_out(entry.part(), item.len);
            if let Some(gone) = &mut self.gone {
                gone.insert(entry.clone());
            }
            evicted.push(entry);
        }
        evicted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every other one is a file, the rest is of the other parts.
    fn entry(number: u8) -> Entry {
        match number % 4 {
            0 | 2 => Entry::File(Digest([number; 32])),
            1 => Entry::Other(Part::Pages, format!("pages/1/{number}").into()),
            _ => Entry::Other(Part::References, format!("refs/{number}").into()),
        }
    }

    fn total(recency: &Recency) -> (u64, u64) {
        let usage = Part::ALL.map(|part| recency.usage(part));
        (usage.iter().map(|usage| usage.entries).sum(), usage.iter().map(|usage| usage.bytes).sum())
    }

    #[test]
    fn what_goes_during_a_search_stays_gone() {
        let mut recency = Recency::new(100, 4);
        recency.insert(entry(1), 10, SystemTime::UNIX_EPOCH);
        recency.search();
        recency.remove(&entry(1));
        recency.remove(&entry(2));
        recency.insert(entry(3), 20, SystemTime::UNIX_EPOCH);
        let found = [1, 2, 3, 4].map(|number| (entry(number), 5, SystemTime::UNIX_EPOCH));
        recency.insert_before(found.into_iter());
        assert_eq!(total(&recency), (2, 25));
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
                        recency.insert(entry(number), len, SystemTime::UNIX_EPOCH);
                        naive.retain(|(other, _)| *other != number);
                        naive.push((number, len));
                    }
                    1 => {
                        let found = recency.touch(&entry(number)).map(|item| item.len);
                        let at = naive.iter().position(|(other, _)| *other == number);
                        let expected = at.map(|at| { let item = naive.remove(at); naive.push(item); item.1 });
                        prop_assert_eq!(found, expected);
                    }
                    _ => {
                        prop_assert_eq!(recency.remove(&entry(number)).is_some(), naive.iter().any(|(other, _)| *other == number));
                        naive.retain(|(other, _)| *other != number);
                    }
                }
                let mut expected = Vec::new();
                while naive.iter().map(|(_, len)| len).sum::<u64>() + 10 > 100 && !naive.is_empty() {
                    expected.push(entry(naive.remove(0).0));
                }
                prop_assert_eq!(recency.evict(10), expected);
                let count = (naive.len() as u64, naive.iter().map(|(_, len)| len).sum::<u64>());
                prop_assert_eq!(total(&recency), count);
            }
        }
    }
}
