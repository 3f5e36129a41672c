//! Content-addressed file store: stored files, downloads in flight, and eviction.

use std::collections::HashMap;
use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::cache_dir::CacheDir;
use super::download_task::DownloadTask;
use super::lru::{CacheArea, CacheEntry, LruIndex, Usage};
use super::shared::{Inner, Limits, StoreMetrics};
use super::tiered::TieredSource;
use super::{
    Config, Digest, Download, DownloadStatus, Expected, FileSource, Key, PagesDir, Reference, StoredFile,
};
use crate::bucket::Bucket;
use crate::digest::Hasher;
use crate::failures::FailureLog;
use crate::metrics::{Counter, Counters};
use crate::resource::Resource;
use crate::{Error, system};

/// Bytes written by [`Store::probe`]: a whole block, because an empty file may need no space.
const PROBE: usize = 4096;

/// File store, addressed by SHA-256. Clones share the same store.
#[derive(Clone)]
pub struct Store(pub(super) Arc<Inner>);

/// Result of [`Store::fetch`].
#[derive(Debug)]
pub enum FetchState {
    /// The file is stored.
    Stored(StoredFile),
    /// The file is being downloaded, for this caller and possibly for others.
    InFlight(Download),
}

/// Current contents of a store, and counters since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Number of stored files.
    pub files: u64,
    /// Bytes of stored files.
    pub bytes: u64,
    /// Number of downloads in flight.
    pub in_flight: u64,
    /// Completed downloads.
    pub fetched: u64,
    /// Failed downloads.
    pub failed: u64,
    /// Downloads whose content did not match the expected hash or length.
    pub corrupt: u64,
    /// Attempts to continue an interrupted download.
    pub resumed: u64,
    /// Downloads that were passed on to clients but could not be written to disk.
    pub unwritten: u64,
    /// Files evicted to make room.
    pub evicted: u64,
    /// Bytes of partial files on disk.
    pub partial: u64,
}

impl Store {
    /// Opens a store, and creates its folder if it does not exist. A background thread scans the folder; files that it
    /// has not reached yet are found when they are requested.
    ///
    /// # Errors
    ///
    /// Fails if the folder has other content or a newer layout, is used by another proxy, is owned or writable by other
    /// users, or can't be read or written ([`Error::is_storage`]).
    pub fn open(config: Config) -> Result<Self, Error> {
        let dir = CacheDir::open(&config.dir, config.allow_shared_dir)?;
        let lru = LruIndex::new(config.max_open_files);
        let permits = Arc::new(Semaphore::new(config.max_concurrent_downloads.max(1)));
        let inner = Inner {
            limits: Arc::new(Limits::new(config.max_bytes, config.unused_ttl)),
            dir,
            permits,
            stats: StoreMetrics::default(),
            failures: FailureLog::default(),
            full_below: Mutex::default(),
            partial: Counter::default(),
            lru: Mutex::new(lru),
            scan_lock: Arc::default(),
            page_locks: Arc::default(),
            downloads: Arc::default(),
            digests_by_origin: Mutex::default(),
            config,
        };
        let store = Self(Arc::new(inner));
        store.scan_in_background();
        Ok(store)
    }

    /// Changes [`Config::max_bytes`] and [`Config::unused_ttl`], and evicts entries beyond the new size. Blocks the
    /// thread.
    pub fn set_limits(&self, max_bytes: u64, unused_ttl: Option<Duration>) {
        self.0.limits.set(max_bytes, unused_ttl);
        self.0.evict(self.0.partial.get());
    }

    /// Returns the subfolder for index pages. Its size counts toward the limit of the store.
    pub fn pages_dir(&self) -> PagesDir {
        let [path, claims] = ["pages", "claims"].map(|part| self.0.dir.part(part));
        PagesDir { path, claims, store: Arc::downgrade(&self.0), locks: self.0.page_locks.clone() }
    }

    /// Returns the disk usage of an area.
    pub fn usage(&self, area: CacheArea) -> Usage {
        self.0.lru.lock().usage(area)
    }

    pub(crate) fn evicted(&self) -> &Counters<CacheArea> {
        &self.0.stats.evicted
    }

    /// Returns the number of entries that were deleted because they were not used, by area.
    pub(crate) fn expired(&self) -> &Counters<CacheArea> {
        &self.0.stats.expired
    }

    /// Returns a stored file.
    pub fn get(&self, digest: &Digest) -> Option<StoredFile> {
        self.0.get(digest, || None)
    }

    /// Returns a stored file. `label` is called if the file has no label yet.
    pub(crate) fn get_labeled(
        &self,
        digest: &Digest,
        label: impl FnOnce() -> Arc<str>,
    ) -> Option<StoredFile> {
        let stored = self.0.get(digest, || Some(label()))?;
        if let Some(bucket) = &self.0.config.bucket {
            bucket.retry_upload(&stored);
        }
        Some(stored)
    }

    /// Returns [`Config::bucket`].
    pub fn bucket(&self) -> Option<&Bucket> {
        self.0.config.bucket.as_ref()
    }

    /// Maximum bytes of all areas; `u64::MAX` means no limit.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.0.limits.max_bytes()
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.0.config.dir
    }

    pub(crate) fn downloads_in_flight(&self) -> Vec<DownloadStatus> {
        self.0.downloads.map(Download::status)
    }

    /// Returns the last failed downloads.
    pub(crate) fn failures(&self) -> &FailureLog {
        &self.0.failures
    }

    /// Returns the entries of an area: the label of a file or the path of another entry, the bytes, and the time of the
    /// last use. A file that was not requested since the store was opened has no label.
    pub(crate) fn entries(&self, area: CacheArea) -> Vec<(Option<Arc<str>>, u64, SystemTime)> {
        self.0.lru.lock().of_area(area)
    }

    /// Returns the `count` projects with the largest files in total: name, bytes, and number of files. Files that were
    /// not requested since the store was opened have no label and are left out.
    pub(crate) fn largest(&self, count: usize) -> Vec<(String, u64, u64)> {
        let labels = self.entries(CacheArea::Files);
        let mut sums: HashMap<&str, (u64, u64)> = HashMap::new();
        for (label, len, _) in &labels {
            if let Some((project, _)) = label.as_deref().and_then(|label| label.split_once('/')) {
                let (bytes, files) = sums.entry(project).or_default();
                *bytes += len;
                *files += 1;
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|(project, (bytes, _))| (std::cmp::Reverse(*bytes), *project));
        sums.into_iter()
            .take(count)
            .map(|(project, (bytes, files))| (project.to_owned(), bytes, files))
            .collect()
    }

    /// Returns whether a file could not be stored because the disk was full, and no space was freed since.
    pub(crate) fn is_disk_full(&self) -> bool {
        self.0.is_disk_full()
    }

    /// Checks that the folder is writable. Blocks the thread.
    pub(crate) fn probe(&self) -> Result<(), Error> {
        let (path, mut file) = self.0.dir.partial()?;
        let written = file.write_all(&[0; PROBE]);
        std::fs::remove_file(path).and(written).map_err(Error::storage)
    }

    /// Returns the SHA-256 of a file that was downloaded from the same origin before.
    pub fn lookup(&self, reference: &Reference) -> Option<Digest> {
        let origin = reference.origin;
        let entry = CacheDir::reference_entry(&origin);
        self.0.touch(&entry);
        if let Some(digest) = self.0.digests_by_origin.lock().get(&origin) {
            return Some(*digest);
        }
        let digest = super::shared::read_reference(&self.0.dir.entry(&entry))?;
        self.0.digests_by_origin.lock().insert(origin, digest);
        Some(digest)
    }

    /// Returns the SHA-256 of a file, if it is known.
    pub(crate) fn digest(&self, key: &Key) -> Option<Digest> {
        match key {
            Key::Digest(digest) => Some(*digest),
            Key::Reference(reference) => self.lookup(reference),
        }
    }

    /// Returns the stored file, the download in flight, or a new download from `source`.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    pub fn fetch(&self, key: Key, expected: Expected, source: impl FileSource) -> FetchState {
        let start = || {
            // It may have been stored since the caller's lookup.
            if let Key::Digest(digest) = &key
                && let Some(stored) = self.get(digest)
            {
                return Err(stored);
            }
            let download = Download::new(source.label());
            let reserved = download.reserve().unwrap_or_else(|| download.clone());
            Ok((download, reserved))
        };
        // A download whose first bytes are no longer available can't serve this caller.
        let resource = Resource::File(key.clone());
        let (reserved, flight) = match self.0.downloads.join_or_start(&resource, Download::reserve, start) {
            Ok(joined) => joined,
            Err(stored) => return FetchState::Stored(stored),
        };
        let Some(flight) = flight else { return FetchState::InFlight(reserved) };
        let (inner, state, download) = (self.0.clone(), reserved.state.clone(), reserved.observer());
        match &self.0.config.bucket {
            None => system::spawn(DownloadTask::new(inner, flight, key, expected, source, state).run()),
            Some(bucket) => {
                let source = TieredSource::new(bucket.clone(), key.clone(), expected, source, download);
                system::spawn(DownloadTask::new(inner, flight, key, expected, source, state).run())
            }
        };
        FetchState::InFlight(reserved)
    }

    /// Returns the download in flight of a file.
    pub fn in_flight(&self, key: &Key) -> Option<Download> {
        let usable = |download: &Download| download.has_all_bytes().then(|| download.clone());
        self.0.downloads.join(&Resource::File(key.clone()), usable)
    }

    /// Maximum bytes of a file.
    pub(crate) fn max_file(&self) -> u64 {
        self.0.config.max_file
    }

    /// Stores a file that `write` passes to its argument in parts. `write` fails if the content does not have this
    /// hash; then nothing is stored. Returns false if the file was stored already, in which case its content is ignored.
    /// Blocks the thread.
    pub(crate) fn insert(
        &self,
        digest: &Digest,
        len: u64,
        write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        if self.get(digest).is_some_and(|stored| stored.len == len) {
            write(&mut |_| Ok(()))?;
            return Ok(false);
        }
        let (path, mut file) = self.0.dir.partial()?;
        let store = || {
            write(&mut |bytes| file.write_all(bytes).map_err(Error::storage))?;
            if self.0.config.sync {
                file.sync_all().map_err(Error::storage)?;
            }
            Ok(())
        };
        if let Err(error) = store() {
            // A remaining file is deleted when the folder is opened next.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        let stored = StoredFile { file: Arc::new(file), len, digest: *digest };
        self.0.publish(&Key::Digest(*digest), None, &stored, &path).inspect_err(|_| {
            let _ = std::fs::remove_file(&path);
        })?;
        Ok(true)
    }

    /// Makes a stored file the content of a reference, unless it is not as expected. Returns whether it is now. Blocks the
    /// thread.
    pub(crate) fn bind(
        &self,
        reference: &Reference,
        digest: &Digest,
        expected: &Expected,
    ) -> Result<bool, Error> {
        let Some(stored) = self.get(digest) else { return Ok(false) };
        if expected.size.is_some_and(|size| size != stored.len) {
            return Ok(false);
        }
        if expected.checksum.is_some()
            && !Hasher::new(expected.checksum).read(&stored.file, stored.len).map_err(Error::storage)?.1
        {
            return Ok(false);
        }
        let origin = &reference.origin;
        self.0.write(CacheDir::reference_entry(origin), digest.to_string().as_bytes(), None)?;
        self.0.digests_by_origin.lock().insert(*origin, *digest);
        Ok(true)
    }

    /// Deletes a file. Open handles stay readable. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be deleted ([`Error::is_storage`]).
    pub fn remove(&self, digest: &Digest) -> Result<bool, Error> {
        let is_removed = match std::fs::remove_file(self.0.dir.file(digest)) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            // The file stays in the index, because it still takes space.
            Err(error) => return Err(Error::storage(error)),
        };
        self.0.lru.lock().remove(&CacheEntry::File(*digest));
        Ok(is_removed)
    }

    /// Deletes a file. A download of it in flight is not stored. Returns the SHA-256 of the file, if it is known.
    pub(crate) fn purge(&self, key: &Key) -> Result<Option<Digest>, Error> {
        let state =
            self.0.downloads.join(&Resource::File(key.clone()), |download| Some(download.state.clone()));
        if let Some(state) = state {
            *state.is_purged.lock() = true;
        }
        let digest = self.digest(key);
        digest.map(|digest| self.remove(&digest)).transpose()?;
        Ok(digest)
    }

    /// Returns the current contents and counters.
    pub fn stats(&self) -> Stats {
        let Usage { entries: files, bytes } = self.usage(CacheArea::Files);
        let StoreMetrics { fetched, failed, corrupt, resumed, unwritten, evicted, expired: _ } =
            &self.0.stats;
        Stats {
            files,
            bytes,
            in_flight: self.0.downloads.count(),
            fetched: fetched.get(),
            failed: failed.get(),
            corrupt: corrupt.get(),
            resumed: resumed.get(),
            unwritten: unwritten.get(),
            evicted: evicted[CacheArea::Files].get(),
            partial: self.0.partial.get(),
        }
    }
}

/// Shows the folder and the counters.
impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.0.config.dir).field("stats", &self.stats()).finish()
    }
}
