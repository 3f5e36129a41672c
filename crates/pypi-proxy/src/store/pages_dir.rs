//! Folder of index pages and of facts about files.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Weak;
use std::time::SystemTime;

use super::cache_dir::CacheDir;
use super::lru::CacheArea;
use super::shared::{BLOCK_SIZE, Inner};
use crate::Error;

/// Folder for index pages. If it belongs to a [`Store`](super::Store), its size counts toward the limit of the store.
///
/// An entry is a file in a subfolder: `FOLDER/NAME`.
#[derive(Clone, Debug)]
pub struct PagesDir {
    pub(super) path: PathBuf,
    /// Folder for the names of private indexes, which are not evicted.
    pub(super) claims: PathBuf,
    pub(super) store: Weak<Inner>,
}

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

    /// Replaces an entry unless it was modified after this time, by a clock that was right.
    pub(crate) fn write_newer(&self, entry: &str, bytes: &[u8], modified: SystemTime) -> Result<(), Error> {
        let store = self.store.upgrade();
        let _one_at_a_time = store.as_ref().map(|store| store.lock_page(entry));
        let last = fs::metadata(self.path.join(entry)).and_then(|metadata| metadata.modified());
        if last.is_ok_and(|last| modified < last && last <= SystemTime::now()) {
            return Ok(());
        }
        self.write(entry, bytes, Some(modified))
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
        Self { claims: path.join("claims"), path, store: Weak::new() }
    }
}

/// A folder outside of a store, without a size limit.
impl From<&Path> for PagesDir {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}
