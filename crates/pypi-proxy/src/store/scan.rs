//! Scans of the cache directory: initial index, garbage collection and verification.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use super::cache_dir::{CacheDir, is_facts};
use super::disk::Store;
use super::lru::{CacheArea, CacheEntry, Usage};
use super::shared::{BLOCK_SIZE, Inner};
use super::{Digest, VerifyReport};
use crate::digest::Hasher;
use crate::{Error, system};

/// Result of [`Store::collect`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcReport {
    /// Number of deleted files.
    pub removed: u64,
    /// Bytes of deleted files.
    pub removed_bytes: u64,
    /// Number of remaining files.
    pub files: u64,
    /// Bytes of remaining files.
    pub bytes: u64,
}

impl Store {
    /// Deletes entries of all areas that were not used for `unused_ttl`, then the least recently used ones until at most
    /// `max_bytes` remain. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be deleted ([`Error::is_storage`]).
    pub fn collect(&self, unused_ttl: Option<Duration>, max_bytes: u64) -> Result<GcReport, Error> {
        let inner = &self.0;
        scan(&inner.config.dir, &inner.scan_lock, &Arc::downgrade(inner));
        // A scan between the eviction of a file and its deletion would add it again.
        let _no_scan = inner.scan_lock.lock();
        let before = self.usage(CacheArea::Files);
        if let Some(before) = unused_ttl.and_then(|unused_ttl| system::now().checked_sub(unused_ttl)) {
            inner.expire(before).map_err(Error::storage)?;
        }
        let evicted = inner.lru.lock().evict(max_bytes, 0);
        for entry in &evicted {
            inner.discard(entry).map_err(Error::storage)?;
        }
        let Usage { entries: files, bytes } = self.usage(CacheArea::Files);
        let (removed, removed_bytes) =
            (before.entries.saturating_sub(files), before.bytes.saturating_sub(bytes));
        Ok(GcReport { removed, removed_bytes, files, bytes })
    }

    /// Starts a thread that indexes the folder by access time and deletes unused entries periodically.
    pub(super) fn scan_in_background(&self) {
        let inner = Arc::downgrade(&self.0);
        let (dir, scan_lock) = (self.0.config.dir.clone(), self.0.scan_lock.clone());
        let (opened, limits) = (SystemTime::now(), self.0.limits.clone());
        let work = move || {
            ["pages", "refs"].iter().for_each(|part| remove_leftover_files(&dir.join(part), opened));
            // The scan holds only a weak reference, so that it does not keep the folder locked after the store is
            // dropped.
            scan(&dir, &scan_lock, &inner);
            if let Some(inner) = inner.upgrade() {
                inner.evict(0);
            }
            limits.expire_periodically(|unused_ttl| {
                let before = system::now().checked_sub(unused_ttl);
                if let (Some(before), Some(inner)) = (before, inner.upgrade()) {
                    // A scan between the removal of an entry and its deletion would add it again.
                    let _no_scan = scan_lock.lock();
                    // Entries that can't be deleted are found by the next scan.
                    let _ = inner.expire(before);
                }
            });
        };
        // Without the thread, files are still found when they are requested.
        let _ = system::spawn_thread("pypi-proxy-scan", work);
    }

    /// Computes the SHA-256 of a stored file. Returns `None` if it does not exist, and an impossible hash if it can't be
    /// read.
    pub(crate) fn actual_digest(&self, digest: &Digest) -> Option<Digest> {
        hash(&self.0, digest).map(|(actual, _)| actual)
    }

    /// Verifies the hashes of all files and deletes corrupt ones. Calls `each` after every file. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Fails if a corrupt file can't be deleted ([`Error::is_storage`]).
    pub fn verify(&self, mut each: impl FnMut(&Digest, bool)) -> Result<VerifyReport, Error> {
        let inner = &self.0;
        let digests: Vec<_> = stored_files(&inner.dir.part("files")).map(|(digest, _)| digest).collect();
        let mut verified = VerifyReport::default();
        for digest in digests {
            match hash(inner, &digest) {
                // Deleted since the scan.
                None => {}
                Some((found, len)) if found == digest => {
                    verified.good += 1;
                    verified.bytes += len;
                    each(&digest, true);
                }
                Some(_) => {
                    self.remove(&digest)?;
                    verified.bad.push(digest);
                    each(&digest, false);
                }
            }
        }
        Ok(verified)
    }
}

/// Deletes temporary files of a previous process.
fn remove_leftover_files(part: &Path, opened: SystemTime) {
    // Names of projects and files do not start with a dot.
    for (_, _, file, metadata) in files_below(part).filter(|(_, name, ..)| name.starts_with(".tmp")) {
        if metadata.modified().is_ok_and(|time| time < opened) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Adds all files of the folder to the index, ordered by access time, unless the store was dropped.
fn scan(dir: &Path, scan_lock: &Mutex<()>, inner: &Weak<Inner>) {
    let _search = scan_lock.lock();
    let Some(store) = inner.upgrade() else { return };
    store.lru.lock().begin_scan();
    drop(store);
    // A clock that was wrong must not keep entries forever.
    let now = system::now();
    let last_access =
        |metadata: &fs::Metadata| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH).min(now);
    let files = stored_files(&dir.join("files"));
    let files = files.map(|(digest, file)| (last_access(&file), CacheEntry::File(digest), file.len()));
    let mut found: Vec<_> = files.collect();
    for part in ["pages", "refs"] {
        // Files that start with a dot are still being written.
        let files = files_below(&dir.join(part)).filter(|(_, name, ..)| !name.starts_with('.'));
        found.extend(files.map(|(dir, name, _, metadata)| {
            let area = match (part, &*dir) {
                ("refs", _) => CacheArea::References,
                (_, dir) if is_facts(dir) => CacheArea::FileMetadata,
                _ => CacheArea::Pages,
            };
            let entry = CacheEntry::Other(area, format!("{part}/{dir}/{name}").into());
            let mut used = last_access(&metadata);
            // The modification time of a page is when its upstream last confirmed it.
            if area == CacheArea::Pages {
                used = used.max(metadata.accessed().unwrap_or(used).min(now));
            }
            (used, entry, metadata.len().next_multiple_of(BLOCK_SIZE))
        }));
    }
    found.sort_unstable();
    // Entries used during the scan are more recent than all of these.
    let older = found.iter().map(|(last_access, entry, len)| (entry.clone(), *len, *last_access));
    if let Some(store) = inner.upgrade() {
        store.lru.lock().insert_scanned(older);
    }
}

/// Computes the hash and length of a file. Returns `None` if it does not exist, and an impossible hash if it can't be
/// read.
fn hash(inner: &Inner, digest: &Digest) -> Option<(Digest, u64)> {
    let file = CacheDir::read(&inner.dir.file(digest)).ok()?;
    let hashed = file.metadata().and_then(|metadata| {
        let (found, _) = Hasher::new(None).read(&file, metadata.len())?;
        Ok((found, metadata.len()))
    });
    Some(hashed.unwrap_or((Digest([0; 32]), 0)))
}

/// Returns the files whose names are valid hashes.
fn stored_files(files: &Path) -> impl Iterator<Item = (Digest, fs::Metadata)> + use<> {
    files_below(files)
        .filter_map(|(dir, name, _, metadata)| Some((format!("{dir}{name}").parse().ok()?, metadata)))
}

/// Returns the regular files two levels below a folder, with the names of their subfolders and of themselves. Does not
/// follow links.
fn files_below(part: &Path) -> impl Iterator<Item = (String, String, fs::DirEntry, fs::Metadata)> + use<> {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries(part).filter(|dir| dir.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.flat_map(move |dir| entries(&dir.path()).map(move |file| (dir.file_name(), file))).filter_map(
        |(dir, file)| {
            let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((dir.into_string().ok()?, file.file_name().into_string().ok()?, file, metadata))
        },
    )
}
