//! State that the store, its downloads and its scans share.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::Semaphore;

use super::cache_dir::CacheDir;
use super::lru::{CacheArea, CacheEntry, LruIndex};
use super::pages_dir::PageLocks;
use super::{Config, Digest, Download, Key, Reference};
use crate::failures::FailureLog;
use crate::flight::Flights;
use crate::metrics::{Counter, Counters};
use crate::{Error, sys, system};

/// Entries other than files are counted in blocks of this size.
pub(super) const BLOCK_SIZE: u64 = 4096;
/// Minimum and maximum time between two searches for unused entries.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) limits: Arc<Limits>,
    pub(super) dir: CacheDir,
    pub(super) permits: Arc<Semaphore>,
    pub(super) stats: StoreMetrics,
    pub(super) failures: FailureLog,
    /// Set when the disk is full: it still is while it has less than this many bytes available.
    pub(super) full_below: Mutex<Option<u64>>,
    /// Bytes of partial files on disk.
    pub(super) partial: Counter,
    pub(super) lru: Mutex<LruIndex>,
    /// Locked while a thread scans the folder.
    pub(super) scan_lock: Arc<Mutex<()>>,
    pub(super) page_locks: Arc<PageLocks>,
    pub(super) downloads: Arc<Flights<Download>>,
    /// SHA-256 of files, by the origins of their references.
    pub(super) digests_by_origin: Mutex<HashMap<Digest, Digest>>,
}

/// A file in the store.
#[derive(Clone, Debug)]
pub struct StoredFile {
    /// Open file handle. Stays readable if the file is deleted from the store.
    pub file: Arc<File>,
    /// Length in bytes.
    pub len: u64,
    /// SHA-256 of the content.
    pub digest: Digest,
}

/// The disk is no longer full if this many bytes were freed.
const FREED: u64 = 16 << 20;

/// Returns whether an error was caused by a full disk or an exhausted quota.
pub(crate) fn is_disk_full(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| StdError::source(*error));
    causes.any(|cause| {
        let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    })
}

#[derive(Debug, Default)]
pub(super) struct StoreMetrics {
    pub(super) fetched: Counter,
    pub(super) failed: Counter,
    pub(super) corrupt: Counter,
    pub(super) resumed: Counter,
    pub(super) unwritten: Counter,
    pub(super) evicted: Counters<CacheArea>,
    pub(super) expired: Counters<CacheArea>,
}

impl Inner {
    /// Records an error of the disk: whether it is full.
    pub(super) fn record_disk_error(&self, error: &(dyn StdError + 'static)) {
        if is_disk_full(error) {
            *self.full_below.lock() = Some(self.available().saturating_add(FREED));
        }
    }

    /// Returns whether a file could not be stored because the disk was full, and no space was freed since.
    pub(super) fn is_disk_full(&self) -> bool {
        self.full_below.lock().is_some_and(|limit| self.available() < limit)
    }

    /// Returns the available bytes of the disk, or 0 if they are unknown.
    fn available(&self) -> u64 {
        sys::available(&self.config.dir)
    }

    pub(super) fn get(
        &self,
        digest: &Digest,
        label: impl FnOnce() -> Option<Arc<str>>,
    ) -> Option<StoredFile> {
        let now = system::now();
        let (file, len, is_access_due) = {
            let mut lru = self.lru.lock();
            let Some(entry) = lru.touch(&CacheEntry::File(*digest)) else {
                drop(lru);
                return self.open(digest, None, now);
            };
            let is_access_due = entry.record_access(now);
            if entry.label.is_none() {
                entry.label = label();
            }
            let len = entry.len;
            (lru.open.get(digest).cloned(), len, is_access_due)
        };
        let Some(file) = file else { return self.open(digest, Some(len), now) };
        if is_access_due {
            // If this fails, the file is only evicted earlier after a restart.
            let _ = file.set_modified(now);
        }
        Some(StoredFile { file, len, digest: *digest })
    }

    /// Opens a file. Deletes it if it is not of length `len`; `None` accepts any length.
    fn open(&self, digest: &Digest, len: Option<u64>, now: SystemTime) -> Option<StoredFile> {
        let path = self.dir.file(digest);
        let opened = CacheDir::read(&path).and_then(|file| Ok((file.metadata()?, file)));
        let entry = CacheEntry::File(*digest);
        let Ok((metadata, file)) = opened else {
            self.lru.lock().remove(&entry);
            return None;
        };
        // Without `sync`, a power failure can truncate a file.
        if !metadata.is_file() || len.is_some_and(|len| len != metadata.len()) {
            let _ = std::fs::remove_file(path);
            self.lru.lock().remove(&entry);
            return None;
        }
        // If this fails, the file is only evicted earlier after a restart.
        let _ = file.set_modified(now);
        let file = Arc::new(file);
        let mut lru = self.lru.lock();
        if len.is_none() {
            lru.insert(entry, metadata.len(), now);
        }
        lru.open.insert(*digest, file.clone());
        Some(StoredFile { file, len: metadata.len(), digest: *digest })
    }

    /// Evicts the least recently used entries until there is room for `partial` more bytes.
    pub(super) fn evict(&self, partial: u64) {
        let evicted = self.lru.lock().evict(self.limits.max_bytes(), partial);
        for entry in evicted {
            // If this fails, the next scan finds the file again.
            let _ = self.discard(&entry);
            self.stats.evicted[entry.area()].add(1);
        }
    }

    /// Deletes the entries that were not used since a time.
    pub(super) fn expire(&self, before: SystemTime) -> std::io::Result<()> {
        let expired = self.lru.lock().expire(before);
        let mut result = Ok(());
        for entry in expired {
            // If this fails, the next scan finds the file again.
            result = result.and(self.discard(&entry));
            self.stats.expired[entry.area()].add(1);
        }
        result
    }

    /// Marks an entry of an area other than files as recently used.
    pub(super) fn touch(&self, entry: &CacheEntry) {
        let now = system::now();
        let is_access_due = self.lru.lock().touch(entry).is_some_and(|state| state.record_access(now));
        if is_access_due {
            self.dir.record_access(entry, now);
        }
    }

    /// Deletes an evicted entry from the disk.
    pub(super) fn discard(&self, entry: &CacheEntry) -> std::io::Result<()> {
        let path = self.dir.entry(entry);
        if entry.area() == CacheArea::References
            && let Some(origin) = CacheDir::origin(&path)
        {
            self.digests_by_origin.lock().remove(&origin);
        }
        CacheDir::remove(&path)
    }

    /// Replaces an entry of an area other than files. If there is no room for the new one, deletes the old one.
    pub(super) fn write(
        &self,
        entry: CacheEntry,
        bytes: &[u8],
        modified: Option<SystemTime>,
    ) -> Result<(), Error> {
        let len = (bytes.len() as u64).next_multiple_of(BLOCK_SIZE);
        if len > self.limits.max_bytes() {
            return self.remove(&entry);
        }
        self.evict(self.partial.get().saturating_add(len));
        CacheDir::replace(&self.dir.entry(&entry), bytes, modified)?;
        self.lru.lock().insert(entry, len, system::now());
        Ok(())
    }

    /// Deletes an entry of an area other than files. A missing one is no error.
    pub(super) fn remove(&self, entry: &CacheEntry) -> Result<(), Error> {
        self.lru.lock().remove(entry);
        self.discard(entry).map_err(Error::storage)
    }

    /// Moves a verified file to its final place, unless it is too large or that fails. Then the file is deleted.
    pub(super) fn commit(
        &self,
        key: &Key,
        label: Option<Arc<str>>,
        stored: StoredFile,
        path: &Path,
    ) -> StoredFile {
        let sync = || if self.config.sync { stored.file.sync_all() } else { Ok(()) };
        let publish =
            || sync().map_err(Error::storage).and_then(|()| self.publish(key, label, &stored, path));
        let published =
            if stored.len > self.limits.max_bytes() { Ok(false) } else { publish().map(|()| true) };
        match published {
            Ok(true) => *self.full_below.lock() = None,
            Ok(false) => drop(std::fs::remove_file(path)),
            Err(error) => {
                self.record_disk_error(&error);
                let _ = std::fs::remove_file(path);
            }
        }
        stored
    }

    /// Moves a verified file to its final place.
    pub(super) fn publish(
        &self,
        key: &Key,
        label: Option<Arc<str>>,
        stored: &StoredFile,
        path: &Path,
    ) -> Result<(), Error> {
        let StoredFile { len, digest, .. } = *stored;
        if let Key::Reference(Reference { origin, .. }) = key {
            // This may evict an older copy of the file, so it precedes the move. If it fails, the file is downloaded again
            // after a restart.
            let _ = self.write(CacheDir::reference_entry(origin), digest.to_string().as_bytes(), None);
            self.digests_by_origin.lock().insert(*origin, digest);
        }
        self.dir.publish(path, &digest)?;
        {
            let mut lru = self.lru.lock();
            let entry = CacheEntry::File(digest);
            lru.insert(entry.clone(), len, system::now());
            lru.open.insert(digest, stored.file.clone());
            if let Some(entry_state) = lru.touch(&entry) {
                entry_state.label = label;
            }
        }
        self.evict(0);
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.limits.close();
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("dir", &self.config.dir).finish_non_exhaustive()
    }
}

/// Maximum size and age of the entries.
pub(super) struct Limits {
    max_bytes: AtomicU64,
    expiry: Mutex<Expiry>,
    /// Notified when `expiry` changes.
    changed: Condvar,
}

struct Expiry {
    unused_ttl: Option<Duration>,
    is_closed: bool,
}

impl Limits {
    pub(super) fn new(max_bytes: u64, unused_ttl: Option<Duration>) -> Self {
        let expiry = Mutex::new(Expiry { unused_ttl, is_closed: false });
        Self { max_bytes: max_bytes.into(), expiry, changed: Condvar::new() }
    }

    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, max_bytes: u64, unused_ttl: Option<Duration>) {
        self.max_bytes.store(max_bytes, Ordering::Relaxed);
        self.expiry.lock().unused_ttl = unused_ttl;
        self.changed.notify_all();
    }

    /// Ends [`Self::expire_periodically`].
    pub(super) fn close(&self) {
        self.expiry.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Calls `expire` periodically while there is a TTL, until the store is closed. Blocks the thread.
    pub(super) fn expire_periodically(&self, mut expire: impl FnMut(Duration)) {
        let mut expiry = self.expiry.lock();
        while !expiry.is_closed {
            let Some(unused_ttl) = expiry.unused_ttl else {
                self.changed.wait(&mut expiry);
                continue;
            };
            MutexGuard::unlocked(&mut expiry, || expire(unused_ttl));
            if !expiry.is_closed && expiry.unused_ttl == Some(unused_ttl) {
                let pause = (unused_ttl / 4).clamp(MIN_PAUSE, MAX_PAUSE);
                self.changed.wait_for(&mut expiry, pause);
            }
        }
    }
}

pub(super) fn read_reference(path: &Path) -> Option<Digest> {
    let mut text = String::new();
    CacheDir::read(path).ok()?.take(65).read_to_string(&mut text).ok()?;
    text.trim_end().parse().ok()
}
