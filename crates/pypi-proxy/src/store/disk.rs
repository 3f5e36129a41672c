//! Content-addressed file store: stored files, downloads in flight, and eviction.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{Context, SHA256};
use tokio::sync::Semaphore;

use super::cache_dir::CacheDir;
use super::download_task::DownloadTask;
use super::lru::{CacheArea, CacheEntry, LruIndex, Usage};
use super::{Config, Digest, Download, DownloadStatus, Expected, FileSource};
use crate::bucket::{Bucket, TieredSource};
use crate::{Error, ProjectName};

/// Minimum time between updates of a file's access time on disk.
pub(super) const ACCESS_GRANULARITY: Duration = Duration::from_secs(60);

/// Bytes written by [`Store::probe`]: a whole block, because an empty file may need no space.
const PROBE: usize = 4096;

/// Entries other than files are counted in blocks of this size.
pub(super) const BLOCK_SIZE: u64 = 4096;

/// File store, addressed by SHA-256. Clones share the same store.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) dir: CacheDir,
    pub(super) permits: Arc<Semaphore>,
    pub(super) stats: Counters,
    /// Bytes of partial files on disk.
    pub(super) partial: AtomicU64,
    lru: Mutex<LruIndex>,
    /// Locked while a thread scans the folder.
    pub(super) scan_lock: Arc<Mutex<()>>,
    downloads: Mutex<HashMap<Key, Download>>,
    /// SHA-256 of files, by the origins of their references.
    digests_by_origin: Mutex<HashMap<Digest, Digest>>,
}

/// Identifies a file in the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// SHA-256 of the file, as listed on its page.
    Digest(Digest),
    /// For files whose page has no SHA-256.
    Reference(Reference),
}

/// A file whose page has no SHA-256: its project, its name, and the origin that its content is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    pub(crate) project: ProjectName,
    pub(crate) file: Box<str>,
    /// SHA-256 of the project, the file name and the origin.
    pub(crate) origin: Digest,
}

impl Reference {
    /// Creates a reference to a file of a project. `origin` is everything that distinguishes it from other files of
    /// that name: the URLs of the index and of the file, and the hashes on the page.
    ///
    /// ```
    /// use pypi_proxy::ProjectName;
    /// use pypi_proxy::store::Reference;
    ///
    /// let six = ProjectName::parse("six")?;
    /// let of = |index| Reference::new(six.clone(), "six-1.0.whl", &[index, "https://files.example.org/six-1.0.whl"]);
    /// assert_ne!(of("https://a.example.org/simple/"), of("https://b.example.org/simple/"));
    /// # Ok::<(), pypi_proxy::Error>(())
    /// ```
    pub fn new(project: ProjectName, file: &str, origin: &[&str]) -> Self {
        let mut hash = Context::new(&SHA256);
        for part in [project.as_str(), file].iter().chain(origin) {
            // The lengths make the concatenation unambiguous.
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self { project, file: file.into(), origin: hash.finish().into() }
    }
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

/// Result of [`Store::fetch`].
#[derive(Debug)]
pub enum FetchState {
    /// The file is stored.
    Stored(StoredFile),
    /// The file is being downloaded, for this caller and possibly for others.
    InFlight(Download),
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) fetched: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) corrupt: AtomicU64,
    pub(super) resumed: AtomicU64,
    pub(super) unwritten: AtomicU64,
    /// Indexed by [`CacheArea`].
    evicted: [AtomicU64; 4],
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
    /// Fails if the folder has other content, is used by another proxy, is owned or writable by other users, or can't
    /// be read or written ([`Error::is_storage`]).
    pub fn open(config: Config) -> Result<Self, Error> {
        let dir = CacheDir::open(&config.dir, config.allow_shared_dir)?;
        let lru = LruIndex::new(config.max_bytes, config.max_open_files);
        let permits = Arc::new(Semaphore::new(config.max_concurrent_downloads.max(1)));
        let inner = Inner {
            dir,
            permits,
            stats: Counters::default(),
            partial: AtomicU64::new(0),
            lru: Mutex::new(lru),
            scan_lock: Arc::default(),
            downloads: Mutex::default(),
            digests_by_origin: Mutex::default(),
            config,
        };
        let store = Self(Arc::new(inner));
        store.scan_in_background();
        Ok(store)
    }

    /// Returns the subfolder for index pages. Its size counts toward the limit of the store.
    pub fn pages_dir(&self) -> PagesDir {
        PagesDir { path: self.0.dir.pages(), store: Arc::downgrade(&self.0) }
    }

    /// Returns the disk usage of an area.
    pub fn usage(&self, area: CacheArea) -> Usage {
        self.0.lru().usage(area)
    }

    /// Returns the number of entries of an area that were evicted.
    pub(crate) fn evicted(&self, area: CacheArea) -> u64 {
        self.0.stats.evicted[area as usize].load(Ordering::Relaxed)
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

    pub(crate) fn bucket(&self) -> Option<&Bucket> {
        self.0.config.bucket.as_ref()
    }

    /// Maximum bytes of all areas; `u64::MAX` means no limit.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.0.config.max_bytes
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.0.config.dir
    }

    /// Returns the status of all downloads in flight.
    pub(crate) fn downloads_in_flight(&self) -> Vec<DownloadStatus> {
        self.0.downloads().values().map(Download::status).collect()
    }

    /// Returns the `count` projects with the largest files in total: name, bytes, and number of files. Files that were
    /// not requested since the store was opened have no label and are left out.
    pub(crate) fn largest(&self, count: usize) -> Vec<(String, u64, u64)> {
        let labels = self.0.lru().labels();
        let mut sums: HashMap<&str, (u64, u64)> = HashMap::new();
        for (label, len) in &labels {
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

    /// Checks that the folder is writable. Blocks the thread.
    pub(crate) fn probe(&self) -> Result<(), Error> {
        use std::io::Write as _;

        let (path, mut file) = self.0.dir.partial()?;
        let written = file.write_all(&[0; PROBE]);
        std::fs::remove_file(path).and(written).map_err(Error::storage)
    }

    /// Returns the SHA-256 of a file that was downloaded from the same origin before.
    pub fn lookup(&self, reference: &Reference) -> Option<Digest> {
        let origin = reference.origin;
        self.0.lru().touch(&self.0.dir.reference_entry(&origin));
        if let Some(digest) = self.0.digests_by_origin().get(&origin) {
            return Some(*digest);
        }
        let digest = super::scan::read_reference(&self.0.dir.reference(&origin))?;
        self.0.digests_by_origin().insert(origin, digest);
        Some(digest)
    }

    /// Returns the stored file, the download in flight, or a new download from `source`.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    pub fn fetch(&self, key: Key, expected: Expected, source: impl FileSource) -> FetchState {
        let mut downloads = self.0.downloads();
        // A download whose first bytes are no longer available can't serve this caller.
        if let Some(download) = downloads.get(&key).and_then(Download::reserve) {
            return FetchState::InFlight(download);
        }
        // It may have been stored since the caller's lookup.
        if let Key::Digest(digest) = &key
            && let Some(stored) = self.get(digest)
        {
            return FetchState::Stored(stored);
        }
        let download = Download::new(source.label());
        downloads.insert(key.clone(), download.clone());
        drop(downloads);
        let download_for_caller = download.reserve().unwrap_or_else(|| download.clone());
        let (inner, state) = (self.0.clone(), download.state.clone());
        match &self.0.config.bucket {
            None => tokio::spawn(DownloadTask::new(inner, key, expected, source, state).run()),
            Some(bucket) => {
                let source = TieredSource::new(bucket.clone(), key.clone(), expected, source, download);
                tokio::spawn(DownloadTask::new(inner, key, expected, source, state).run())
            }
        };
        FetchState::InFlight(download_for_caller)
    }

    /// Returns the download in flight of a file.
    pub fn in_flight(&self, key: &Key) -> Option<Download> {
        self.0.downloads().get(key).filter(|download| download.has_all_bytes()).cloned()
    }

    /// Returns whether the store can hold any file.
    pub(crate) fn is_enabled(&self) -> bool {
        self.0.config.max_bytes > 0
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
        self.0.lru().remove(&CacheEntry::File(*digest));
        Ok(is_removed)
    }

    /// Returns the current contents and counters.
    pub fn stats(&self) -> Stats {
        let (files, bytes) = self.0.lru().file_usage();
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { fetched, failed, corrupt, resumed, unwritten, evicted } = &self.0.stats;
        Stats {
            files,
            bytes,
            in_flight: self.0.downloads().len() as u64,
            fetched: load(fetched),
            failed: load(failed),
            corrupt: load(corrupt),
            resumed: load(resumed),
            unwritten: load(unwritten),
            evicted: load(&evicted[CacheArea::Files as usize]),
            partial: load(&self.0.partial),
        }
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    pub(super) fn from_inner(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Inner {
    pub(super) fn lru(&self) -> MutexGuard<'_, LruIndex> {
        // No code panics while it holds one of these locks in the middle of an update.
        self.lru.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn downloads(&self) -> MutexGuard<'_, HashMap<Key, Download>> {
        self.downloads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn digests_by_origin(&self) -> MutexGuard<'_, HashMap<Digest, Digest>> {
        self.digests_by_origin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, digest: &Digest, label: impl FnOnce() -> Option<Arc<str>>) -> Option<StoredFile> {
        let now = SystemTime::now();
        let (file, len, is_access_due) = {
            let mut lru = self.lru();
            match lru.touch(&CacheEntry::File(*digest)) {
                Some(entry_state) => {
                    let is_access_due = now
                        .duration_since(entry_state.access_recorded)
                        .is_ok_and(|since| since >= ACCESS_GRANULARITY);
                    if is_access_due {
                        entry_state.access_recorded = now;
                    }
                    if entry_state.label.is_none() {
                        entry_state.label = label();
                    }
                    (entry_state.file.clone(), Some(entry_state.len), is_access_due)
                }
                None => (None, None, false),
            }
        };
        let Some(file) = file else { return self.open(digest, len, now) };
        if is_access_due {
            // If this fails, the file is only evicted earlier after a restart.
            let _ = file.set_modified(now);
        }
        Some(StoredFile { file, len: len.unwrap_or_default(), digest: *digest })
    }

    /// Opens a file. Deletes it if it is not of length `len`; `None` accepts any length.
    fn open(&self, digest: &Digest, len: Option<u64>, now: SystemTime) -> Option<StoredFile> {
        let path = self.dir.file(digest);
        let opened = CacheDir::read(&path).and_then(|file| Ok((file.metadata()?, file)));
        let entry = CacheEntry::File(*digest);
        let Ok((metadata, file)) = opened else {
            self.lru().remove(&entry);
            return None;
        };
        // Without `sync`, a power failure can truncate a file.
        if !metadata.is_file() || len.is_some_and(|len| len != metadata.len()) {
            let _ = std::fs::remove_file(path);
            self.lru().remove(&entry);
            return None;
        }
        let file = Arc::new(file);
        let mut lru = self.lru();
        if len.is_none() {
            lru.insert(entry.clone(), metadata.len(), now);
        }
        lru.keep_open(&entry, &file);
        Some(StoredFile { file, len: metadata.len(), digest: *digest })
    }

    /// Evicts the least recently used entries until there is room for `partial` more bytes.
    pub(super) fn evict(&self, partial: u64) {
        let evicted = self.lru().evict(partial);
        for entry in evicted {
            // If this fails, the next scan finds the file again.
            let _ = self.discard(&entry);
            self.stats.evicted[entry.area() as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Deletes an evicted entry from the disk.
    pub(super) fn discard(&self, entry: &CacheEntry) -> std::io::Result<()> {
        let path = self.dir.entry(entry);
        if entry.area() == CacheArea::References
            && let Some(origin) = CacheDir::origin(&path)
        {
            self.digests_by_origin().remove(&origin);
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes room for an entry of an area other than files. Returns whether it fits at all.
    fn make_room(&self, len: u64) -> bool {
        let len = len.next_multiple_of(BLOCK_SIZE);
        if len > self.config.max_bytes {
            return false;
        }
        self.evict(self.partial.load(Ordering::Relaxed).saturating_add(len));
        true
    }

    /// Counts an entry of an area other than files.
    fn record_write(&self, entry: CacheEntry, len: u64) {
        self.lru().insert(entry, len.next_multiple_of(BLOCK_SIZE), SystemTime::now());
    }

    /// Moves a verified file to its final place, unless it is too large or that fails.
    pub(super) fn commit(
        &self,
        key: &Key,
        label: Option<Arc<str>>,
        stored: StoredFile,
        path: &Path,
    ) -> StoredFile {
        let StoredFile { len, digest, .. } = stored;
        let publish = || {
            if self.config.sync {
                stored.file.sync_all().map_err(Error::storage)?;
            }
            self.dir.publish(path, &digest)
        };
        if len > self.config.max_bytes || publish().is_err() {
            let _ = std::fs::remove_file(path);
            return stored;
        }
        {
            let mut lru = self.lru();
            let entry = CacheEntry::File(digest);
            lru.insert(entry.clone(), len, SystemTime::now());
            lru.keep_open(&entry, &stored.file);
            if let Some(entry_state) = lru.touch(&entry) {
                entry_state.label = label;
            }
        }
        if let Key::Reference(Reference { origin, .. }) = key {
            if super::scan::write_reference(&self.dir.reference(origin), &digest).is_ok() {
                self.record_write(self.dir.reference_entry(origin), BLOCK_SIZE);
            }
            self.digests_by_origin().insert(*origin, digest);
        }
        self.evict(0);
        stored
    }
}

/// Folder for index pages. If it belongs to a [`Store`], its size counts toward the limit of the store.
#[derive(Clone, Debug)]
pub struct PagesDir {
    path: PathBuf,
    store: Weak<Inner>,
}

impl PagesDir {
    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn entry(&self, path: &Path) -> Option<(Arc<Inner>, CacheEntry)> {
        let store = self.store.upgrade()?;
        let entry = store.dir.page_entry(path.strip_prefix(&self.path).ok()?)?;
        Some((store, entry))
    }

    /// Makes room for a file of this length. Returns whether it fits at all.
    pub(crate) fn make_room(&self, len: u64) -> bool {
        self.store.upgrade().is_none_or(|store| store.make_room(len))
    }

    /// Counts a file that was written.
    pub(crate) fn record_write(&self, path: &Path, len: u64) {
        if let Some((store, entry)) = self.entry(path) {
            store.record_write(entry, len);
        }
    }

    /// Marks a file as recently used.
    pub(crate) fn touch(&self, path: &Path) {
        if let Some((store, entry)) = self.entry(path) {
            store.lru().touch(&entry);
        }
    }

    /// Removes a deleted file from the count.
    pub(crate) fn removed(&self, path: &Path) {
        if let Some((store, entry)) = self.entry(path) {
            store.lru().remove(&entry);
        }
    }

    /// Removes all files from the count.
    pub(crate) fn cleared(&self) {
        if let Some(store) = self.store.upgrade() {
            store.lru().remove_areas(&[CacheArea::Pages, CacheArea::FileMetadata]);
        }
    }
}

/// A folder outside of a store, without a size limit.
impl From<PathBuf> for PagesDir {
    fn from(path: PathBuf) -> Self {
        Self { path, store: Weak::new() }
    }
}

/// A folder outside of a store, without a size limit.
impl From<&Path> for PagesDir {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("dir", &self.config.dir).finish_non_exhaustive()
    }
}

/// Shows the folder and the counters.
impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.0.config.dir).field("stats", &self.stats()).finish()
    }
}
