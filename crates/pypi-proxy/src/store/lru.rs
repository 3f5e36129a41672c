//! In-memory index of the cache directory in least-recently-used order.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::time::SystemTime;

use hashlink::{LinkedHashMap, LruCache};

use super::Digest;
use crate::metrics::named;

named! {
    /// Area of the cache directory.
    pub enum CacheArea {
        /// Stored files, named by SHA-256.
        Files = "files",
        /// Index pages.
        Pages = "pages",
        /// SHA-256 of files for which the index page has no SHA-256.
        References = "references",
        /// Facts about files, such as their sizes, that the index page lacks.
        FileMetadata = "file_metadata",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CacheEntry {
    File(Digest),
    /// Any other file, by its path below the cache directory.
    Other(CacheArea, Arc<str>),
}

impl CacheEntry {
    pub(super) fn area(&self) -> CacheArea {
        match self {
            Self::File(_) => CacheArea::Files,
            Self::Other(area, _) => *area,
        }
    }
}

/// Disk usage of an area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of entries.
    pub entries: u64,
    /// Bytes on disk. Entries other than files are rounded up to blocks of 4 KiB.
    pub bytes: u64,
}

/// All entries from the least to the most recently used.
#[derive(Debug)]
pub(super) struct LruIndex {
    entries: LinkedHashMap<CacheEntry, EntryState>,
    /// Open handles of the most recently used files.
    pub(super) open: LruCache<Digest, Arc<File>>,
    usage: [Usage; 4],
    /// Entries removed while the cache directory is scanned. The scan may have listed them before they were removed.
    removed_during_scan: Option<HashSet<CacheEntry>>,
}

#[derive(Debug)]
pub(super) struct EntryState {
    pub(super) len: u64,
    /// Name for the status page, set by the first request for the file.
    pub(super) label: Option<Arc<str>>,
    /// Time of the last use. The time on disk is at most a minute older.
    pub(super) accessed: SystemTime,
}

impl EntryState {
    /// Records a use. Returns whether the time on disk is due for an update: at the first use in each minute.
    pub(super) fn record_access(&mut self, now: SystemTime) -> bool {
        let minute = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs() / 60)
        };
        let is_due = minute(self.accessed) != minute(now);
        self.accessed = now;
        is_due
    }
}

impl LruIndex {
    pub(super) fn new(max_open: usize) -> Self {
        let (entries, open) = (LinkedHashMap::new(), LruCache::new(max_open));
        Self { entries, open, usage: Default::default(), removed_during_scan: None }
    }

    pub(super) fn usage(&self, area: CacheArea) -> Usage {
        self.usage[area as usize]
    }

    fn bytes(&self) -> u64 {
        self.usage.iter().map(|usage| usage.bytes).sum()
    }

    fn add_usage(&mut self, area: CacheArea, len: u64) {
        let usage = &mut self.usage[area as usize];
        usage.entries += 1;
        usage.bytes += len;
    }

    /// Returns the entries of an area: label or path, bytes, and time of the last use. Copies no text, because requests
    /// wait meanwhile.
    pub(super) fn of_area(&self, area: CacheArea) -> Vec<(Option<Arc<str>>, u64, SystemTime)> {
        let entries = self.entries.iter().filter(|(entry, _)| entry.area() == area);
        let facts = entries.map(|(entry, state)| {
            let name = match entry {
                CacheEntry::File(_) => state.label.clone(),
                CacheEntry::Other(_, path) => Some(path.clone()),
            };
            (name, state.len, state.accessed)
        });
        facts.collect()
    }

    /// Marks an entry as most recently used and returns it.
    pub(super) fn touch(&mut self, entry: &CacheEntry) -> Option<&mut EntryState> {
        self.entries.to_back(entry)
    }

    /// Adds an entry as the most recently used.
    pub(super) fn insert(&mut self, entry: CacheEntry, len: u64, accessed: SystemTime) {
        self.remove(&entry);
        if let Some(removed_during_scan) = &mut self.removed_during_scan {
            removed_during_scan.remove(&entry);
        }
        self.add_usage(entry.area(), len);
        self.entries.insert(entry, EntryState { len, label: None, accessed });
    }

    /// Starts to record removed entries, until [`Self::insert_scanned`].
    pub(super) fn begin_scan(&mut self) {
        self.removed_during_scan = Some(HashSet::new());
    }

    /// Adds the result of a scan, sorted by access time, as less recently used than all existing entries.
    pub(super) fn insert_scanned(
        &mut self,
        found: impl DoubleEndedIterator<Item = (CacheEntry, u64, SystemTime)>,
    ) {
        let removed_during_scan = self.removed_during_scan.take().unwrap_or_default();
        for (entry, len, accessed) in found.rev() {
            if !removed_during_scan.contains(&entry) && !self.entries.contains_key(&entry) {
                self.add_usage(entry.area(), len);
                self.entries.insert(entry.clone(), EntryState { len, label: None, accessed });
                self.entries.to_front(&entry);
            }
        }
    }

    pub(super) fn remove(&mut self, entry: &CacheEntry) -> Option<u64> {
        if let Some(removed_during_scan) = &mut self.removed_during_scan {
            removed_during_scan.insert(entry.clone());
        }
        let state = self.entries.remove(entry)?;
        if let CacheEntry::File(digest) = entry {
            self.open.remove(digest);
        }
        let usage = &mut self.usage[entry.area() as usize];
        usage.entries -= 1;
        usage.bytes -= state.len;
        Some(state.len)
    }

    pub(super) fn remove_areas(&mut self, areas: &[CacheArea]) {
        let in_areas = |entry: &&CacheEntry| areas.contains(&entry.area());
        let entries: Vec<_> = self.entries.keys().filter(in_areas).cloned().collect();
        for entry in entries {
            self.remove(&entry);
        }
    }

    /// Removes and returns the entries to be deleted, so that `more` bytes fit within the limit.
    pub(super) fn evict(&mut self, max_bytes: u64, more: u64) -> Vec<CacheEntry> {
        let mut evicted = Vec::new();
        while self.bytes().saturating_add(more) > max_bytes
            && let Some((entry, _)) = self.entries.front()
        {
            let entry = entry.clone();
            self.remove(&entry);
            evicted.push(entry);
        }
        evicted
    }

    /// Removes and returns the entries to be deleted because their last use was before a time.
    pub(super) fn expire(&mut self, before: SystemTime) -> Vec<CacheEntry> {
        let mut expired = Vec::new();
        // The order is that of the last uses.
        while let Some((entry, state)) = self.entries.front()
            && state.accessed < before
        {
            let entry = entry.clone();
            self.remove(&entry);
            expired.push(entry);
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Even numbers are files, odd ones belong to other areas.
    fn entry(number: u8) -> CacheEntry {
        match number % 4 {
            0 | 2 => CacheEntry::File(Digest([number; 32])),
            1 => CacheEntry::Other(CacheArea::Pages, format!("pages/1/{number}").into()),
            _ => CacheEntry::Other(CacheArea::References, format!("refs/{number}").into()),
        }
    }

    fn total(lru: &LruIndex) -> (u64, u64) {
        let usage = CacheArea::ALL.map(|area| lru.usage(area));
        (usage.iter().map(|usage| usage.entries).sum(), usage.iter().map(|usage| usage.bytes).sum())
    }

    #[test]
    fn entries_removed_during_a_scan_stay_removed() {
        let mut lru = LruIndex::new(4);
        lru.insert(entry(1), 10, SystemTime::UNIX_EPOCH);
        lru.begin_scan();
        lru.remove(&entry(1));
        lru.remove(&entry(2));
        lru.insert(entry(3), 20, SystemTime::UNIX_EPOCH);
        let found = [1, 2, 3, 4].map(|number| (entry(number), 5, SystemTime::UNIX_EPOCH));
        lru.insert_scanned(found.into_iter());
        assert_eq!(total(&lru), (2, 25));
    }

    #[test]
    fn entries_expire_by_their_last_use() {
        let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let mut lru = LruIndex::new(4);
        for number in 1..=4 {
            lru.insert(entry(number), 5, at(number.into()));
        }
        // Seconds of the same minute need no update on disk.
        assert!(!lru.touch(&entry(1)).unwrap().record_access(at(59)));
        assert!(lru.touch(&entry(2)).unwrap().record_access(at(60)));
        assert_eq!(lru.expire(at(3)), []);
        assert_eq!(lru.expire(at(59)), [entry(3), entry(4)]);
        assert_eq!(lru.expire(at(61)), [entry(1), entry(2)]);
        assert_eq!(total(&lru), (0, 0));
    }

    proptest! {
        /// Compares the index with a model in a plain vector.
        #[test]
        fn the_least_recently_used_entry_is_evicted_first(steps in proptest::collection::vec((0u8..3, 0u8..12, 0u64..40), 0..200)) {
            let mut lru = LruIndex::new(4);
            let mut model: Vec<(u8, u64)> = Vec::new();
            for (action, number, len) in steps {
                match action {
                    0 => {
                        lru.insert(entry(number), len, SystemTime::UNIX_EPOCH);
                        model.retain(|(other, _)| *other != number);
                        model.push((number, len));
                    }
                    1 => {
                        let found = lru.touch(&entry(number)).map(|state| state.len);
                        let at = model.iter().position(|(other, _)| *other == number);
                        let expected = at.map(|at| { let state = model.remove(at); model.push(state); state.1 });
                        prop_assert_eq!(found, expected);
                    }
                    _ => {
                        prop_assert_eq!(lru.remove(&entry(number)).is_some(), model.iter().any(|(other, _)| *other == number));
                        model.retain(|(other, _)| *other != number);
                    }
                }
                let mut expected = Vec::new();
                while model.iter().map(|(_, len)| len).sum::<u64>() + 10 > 100 && !model.is_empty() {
                    expected.push(entry(model.remove(0).0));
                }
                prop_assert_eq!(lru.evict(100, 10), expected);
                let expected_total = (model.len() as u64, model.iter().map(|(_, len)| len).sum::<u64>());
                prop_assert_eq!(total(&lru), expected_total);
            }
        }
    }
}
