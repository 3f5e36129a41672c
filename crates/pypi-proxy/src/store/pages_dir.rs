//! Folder of index pages and of facts about files.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use parking_lot::Mutex;

use super::cache_dir::CacheDir;
use super::lru::CacheArea;
use super::shared::{BLOCK_SIZE, Inner};
use crate::{Error, system};

/// Folder for index pages. If it belongs to a [`Store`](super::Store), its size counts toward the limit of the store.
///
/// An entry is a file in a subfolder: `FOLDER/NAME`.
#[derive(Clone, Debug)]
pub struct PagesDir {
    pub(super) path: PathBuf,
    /// Folder for the names of private indexes, which are not evicted.
    pub(super) claims: PathBuf,
    pub(super) store: Weak<Inner>,
    pub(super) locks: Arc<PageLocks>,
}

/// Locks of pages while they are compared with new ones and changed, with the number of purges. The documents of a project
/// share a lock, and sometimes several projects: after a purge, the pages that are being refreshed are stored later.
pub(super) type PageLocks = [(Mutex<()>, AtomicU64); 32];

impl PagesDir {
    /// Returns the pages below a cache directory that another process may use, for reading only.
    ///
    /// # Errors
    ///
    /// Fails if the layout of the directory is newer than this program, or unknown ([`Error::is_storage`]).
    pub fn of_cache(cache_dir: &Path) -> Result<Self, Error> {
        CacheDir::check(cache_dir)?;
        Ok(Self { claims: cache_dir.join("claims"), ..Self::from(cache_dir.join("pages")) })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn claims(&self) -> &Path {
        &self.claims
    }

    /// Returns whether an entry could be written at all.
    pub(crate) fn has_room(&self) -> bool {
        self.store.upgrade().is_none_or(|store| store.limits.max_bytes() >= BLOCK_SIZE)
    }

    /// Opens an entry and marks it as recently used. Returns `None` if there is none or it can't be read.
    pub(crate) fn open(&self, entry: &str) -> Option<File> {
        let file = CacheDir::read(&self.path.join(entry)).ok()?;
        self.touch(entry);
        Some(file)
    }

    /// Marks an entry as recently used.
    pub(crate) fn touch(&self, entry: &str) {
        if let Some(store) = self.store.upgrade() {
            store.touch(&CacheDir::page_entry(entry));
        }
    }

    /// Replaces an entry. If there is no room for the new one, deletes the old one.
    pub(crate) fn write(&self, entry: &str, bytes: &[u8], modified: Option<SystemTime>) -> Result<(), Error> {
        match self.store.upgrade() {
            Some(store) => store.write(CacheDir::page_entry(entry), bytes, modified),
            None => CacheDir::replace(&self.path.join(entry), bytes, modified),
        }
    }

    fn lock(&self, entry: &str) -> &(Mutex<()>, AtomicU64) {
        let project = entry.split('@').next().unwrap_or_default();
        &self.locks[project.bytes().map(usize::from).sum::<usize>() % self.locks.len()]
    }

    /// Returns the number of purges so far of an entry, or of others with its lock.
    pub(crate) fn purges(&self, entry: &str) -> u64 {
        self.lock(entry).1.load(Ordering::SeqCst)
    }

    /// Counts a purge of an entry, or of all: what began before is no longer stored. To be called before they are deleted.
    pub(crate) fn record_purge(&self, entry: Option<&str>) {
        let locks = entry.map_or(&self.locks[..], |entry| std::slice::from_ref(self.lock(entry)));
        for (lock, purges) in locks {
            let _locked = lock.lock();
            purges.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns whether an entry was modified after this time, by a clock that was right.
    fn is_newer(&self, entry: &str, time: SystemTime) -> bool {
        let last = fs::metadata(self.path.join(entry)).and_then(|metadata| metadata.modified());
        last.is_ok_and(|last| time < last && last <= system::now())
    }

    /// Replaces an entry that was requested at this time and after this number of purges, unless it is newer or was purged
    /// since.
    pub(crate) fn write_newer(
        &self,
        entry: &str,
        bytes: &[u8],
        time: SystemTime,
        purges: u64,
    ) -> Result<(), Error> {
        let _locked = self.lock(entry).0.lock();
        if purges != self.purges(entry) || self.is_newer(entry, time) {
            return Ok(());
        }
        self.write(entry, bytes, Some(time))
    }

    /// Sets the modification time of an entry to this time, unless it is newer. Returns false if it was evicted, or if
    /// `is_same` returns false.
    pub(crate) fn confirm(&self, entry: &str, time: SystemTime, is_same: impl FnOnce(&File) -> bool) -> bool {
        let _locked = self.lock(entry).0.lock();
        let Some(file) = self.open(entry) else { return !self.has_room() };
        if self.is_newer(entry, time) {
            return true;
        }
        let is_same = is_same(&file);
        if is_same {
            // If this fails, the entry is only revalidated earlier.
            let _ = file.set_modified(time);
        }
        is_same
    }

    /// Deletes an entry unless it is newer than this time. Older changes that are in flight are no longer stored.
    pub(crate) fn remove_older(&self, entry: &str, time: SystemTime) -> Result<(), Error> {
        let (lock, purges) = self.lock(entry);
        let _locked = lock.lock();
        if self.is_newer(entry, time) {
            return Ok(());
        }
        purges.fetch_add(1, Ordering::SeqCst);
        self.remove(entry)
    }

    /// Deletes an entry. A missing one is no error.
    pub(crate) fn remove(&self, entry: &str) -> Result<(), Error> {
        match self.store.upgrade() {
            Some(store) => store.remove(&CacheDir::page_entry(entry)),
            None => CacheDir::remove(&self.path.join(entry)).map_err(Error::storage),
        }
    }

    /// Returns the names of the entries of a subfolder, and of files that are still being written.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path.join(folder)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Deletes all entries.
    pub(crate) fn clear(&self) -> Result<(), Error> {
        self.record_purge(None);
        if let Some(store) = self.store.upgrade() {
            store.lru.lock().remove_areas(&[CacheArea::Pages, CacheArea::FileMetadata]);
        }
        let folders = match fs::read_dir(&self.path) {
            Ok(folders) => folders,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::storage(error)),
        };
        for folder in folders {
            let path = folder.map_err(Error::storage)?.path();
            if path != self.claims {
                fs::remove_dir_all(path).map_err(Error::storage)?;
            }
        }
        Ok(())
    }
}

/// A folder outside of a store, without a size limit.
impl From<PathBuf> for PagesDir {
    fn from(path: PathBuf) -> Self {
        Self { claims: path.join("claims"), path, store: Weak::new(), locks: Arc::default() }
    }
}

/// A folder outside of a store, without a size limit.
impl From<&Path> for PagesDir {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}
