//! What is stored, and what is on its way.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{Context, SHA256};
use tokio::sync::Semaphore;

use super::folder::Folder;
use super::recency::{Entry, Part, Recency, Usage};
use super::transfer::Transfer;
use super::{Config, Digest, Expected, Fill, Running, Source};
use crate::bucket::{Bucket, TieredSource};
use crate::{Error, ProjectName};

/// How exactly the disk knows when a file was wanted.
pub(super) const NOTE: Duration = Duration::from_secs(60);

/// What is written to see whether something can be: a block, for an empty file may need none.
const PROBE: usize = 4096;

/// What an entry of another part than the files takes on disk at least.
pub(super) const BLOCK: u64 = 4096;

/// Files, by their hashes.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) folder: Folder,
    pub(super) permits: Arc<Semaphore>,
    pub(super) stats: Counters,
    /// Bytes on disk of what is on its way.
    pub(super) partial: AtomicU64,
    recency: Mutex<Recency>,
    /// Held by who looks through the folder.
    pub(super) search: Arc<Mutex<()>>,
    fills: Mutex<HashMap<Key, Fill>>,
    /// Hashes of files by the origins of their references.
    refs: Mutex<HashMap<Digest, Digest>>,
}

/// What a file is asked for by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Its hash, which its page tells.
    Digest(Digest),
    /// What its page tells of it, if that is no SHA-256.
    Reference(Reference),
}

/// A file whose page offers no SHA-256: which file of which project it is, and the origin that its content is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    pub(crate) project: ProjectName,
    pub(crate) file: Box<str>,
    /// SHA-256 of everything that it is bound to.
    pub(crate) origin: Digest,
}

impl Reference {
    /// A file of a project. Its origin is all that another file would differ in: the URLs of the index and of the file, and
    /// the hashes that the page offers.
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
            // With their lengths, the parts of no other reference run together to the same bytes.
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self { project, file: file.into(), origin: hash.finish().into() }
    }
}

/// A file that is stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The open file: it stays readable if it is removed from the store.
    pub file: Arc<File>,
    /// Its length in bytes.
    pub len: u64,
    /// Its hash.
    pub digest: Digest,
}

/// What [`Store::fill`] finds.
#[derive(Debug)]
pub enum Filling {
    /// The file is there.
    Stored(Stored),
    /// The file is on its way, for this caller or for others as well.
    Running(Fill),
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) fetched: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) corrupt: AtomicU64,
    pub(super) resumed: AtomicU64,
    pub(super) unwritten: AtomicU64,
    /// By the part of the folder.
    evicted: [AtomicU64; 4],
}

/// What there is, and what has happened since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Files that are stored.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files on their way.
    pub running: u64,
    /// Files that were fetched.
    pub fetched: u64,
    /// Files that could not be fetched.
    pub failed: u64,
    /// Files that came, but were not what they should have been.
    pub corrupt: u64,
    /// Times that a source was asked for the rest of a file.
    pub resumed: u64,
    /// Files that could not be written, but were passed on.
    pub unwritten: u64,
    /// Files that were removed to make room.
    pub evicted: u64,
    /// Bytes on disk of files that are on their way.
    pub partial: u64,
}

impl Store {
    /// Opens the folder of a store, and makes it if it is not there. What is in it is found by and by, on a thread of its
    /// own; a file that is asked for before that is found at once.
    ///
    /// # Errors
    ///
    /// Fails if the folder holds something else, if another proxy uses it, if other users own it or can write to it, or if it
    /// can't be read or written ([`Error::is_storage`]).
    pub fn open(config: Config) -> Result<Self, Error> {
        let folder = Folder::open(&config.dir, config.allow_shared_dir)?;
        let recency = Recency::new(config.max_bytes, config.max_handles);
        let permits = Arc::new(Semaphore::new(config.max_fills));
        let inner = Inner {
            folder,
            permits,
            stats: Counters::default(),
            partial: AtomicU64::new(0),
            recency: Mutex::new(recency),
            search: Arc::default(),
            fills: Mutex::default(),
            refs: Mutex::default(),
            config,
        };
        let store = Self(Arc::new(inner));
        store.find();
        Ok(store)
    }

    /// The part of the folder that pages may be kept in.
    pub fn pages_dir(&self) -> PagesDir {
        PagesDir { path: self.0.folder.pages(), store: Arc::downgrade(&self.0) }
    }

    /// What a part of the folder takes of the maximum.
    pub fn usage(&self, part: Part) -> Usage {
        self.0.recency().usage(part)
    }

    /// How many entries of a part were removed to make room.
    pub(crate) fn evicted(&self, part: Part) -> u64 {
        self.0.stats.evicted[part as usize].load(Ordering::Relaxed)
    }

    /// A file that is stored.
    pub fn get(&self, digest: &Digest) -> Option<Stored> {
        self.0.get(digest, || None)
    }

    /// The same of a file that is called so, which is noted the first time.
    pub(crate) fn get_called(&self, digest: &Digest, label: impl FnOnce() -> Arc<str>) -> Option<Stored> {
        let stored = self.0.get(digest, || Some(label()))?;
        if let Some(bucket) = &self.0.config.bucket {
            bucket.retry_upload(&stored);
        }
        Some(stored)
    }

    /// The bucket that it shares its files in.
    pub(crate) fn bucket(&self) -> Option<&Bucket> {
        self.0.config.bucket.as_ref()
    }

    /// The most bytes of all parts of the folder; `u64::MAX` for no limit.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.0.config.max_bytes
    }

    /// The folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.0.config.dir
    }

    /// The files that are on their way.
    pub(crate) fn transfers(&self) -> Vec<Running> {
        self.0.fills().values().map(Fill::state).collect()
    }

    /// The projects whose files are the largest together: their names, bytes, and how many files they are. Files that
    /// nobody has asked for since the store was opened have no name yet, and are left out.
    pub(crate) fn largest(&self, count: usize) -> Vec<(String, u64, u64)> {
        let labels = self.0.recency().labels();
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

    /// Whether something can be written. It blocks.
    pub(crate) fn probe(&self) -> Result<(), Error> {
        use std::io::Write as _;

        let (path, mut file) = self.0.folder.partial()?;
        let written = file.write_all(&[0; PROBE]);
        std::fs::remove_file(path).and(written).map_err(Error::storage)
    }

    /// The SHA-256 of a file that was fetched before, of the same origin.
    pub fn lookup(&self, reference: &Reference) -> Option<Digest> {
        let origin = reference.origin;
        self.0.recency().touch(&self.0.folder.reference_entry(&origin));
        if let Some(digest) = self.0.refs().get(&origin) {
            return Some(*digest);
        }
        let digest = super::scan::read_reference(&self.0.folder.reference(&origin))?;
        self.0.refs().insert(origin, digest);
        Some(digest)
    }

    /// The file, or its transfer: the one that runs, or a new one from this source.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    pub fn fill(&self, key: Key, expected: Expected, source: impl Source) -> Filling {
        let mut fills = self.0.fills();
        // One whose begin is nowhere any more is of no use for this caller.
        if let Some(fill) = fills.get(&key).and_then(Fill::hold) {
            return Filling::Running(fill);
        }
        // It may have been stored since the caller has looked.
        if let Key::Digest(digest) = &key
            && let Some(stored) = self.get(digest)
        {
            return Filling::Stored(stored);
        }
        let fill = Fill::new(source.label());
        fills.insert(key.clone(), fill.clone());
        drop(fills);
        let held = fill.hold().unwrap_or_else(|| fill.clone());
        let (inner, shared) = (self.0.clone(), fill.shared.clone());
        match &self.0.config.bucket {
            None => tokio::spawn(Transfer::new(inner, key, expected, source, shared).run()),
            Some(bucket) => {
                let source = TieredSource::new(bucket.clone(), key.clone(), expected, source, fill);
                tokio::spawn(Transfer::new(inner, key, expected, source, shared).run())
            }
        };
        Filling::Running(held)
    }

    /// The transfer of a file that is on its way.
    pub fn running(&self, key: &Key) -> Option<Fill> {
        self.0.fills().get(key).filter(|fill| fill.is_whole()).cloned()
    }

    /// Whether there is room for any file at all.
    pub(crate) fn is_on(&self) -> bool {
        self.0.config.max_bytes > 0
    }

    /// Removes a file. Those who read it go on.
    ///
    /// # Errors
    ///
    /// Fails if it is there and can't be removed ([`Error::is_storage`]).
    pub fn remove(&self, digest: &Digest) -> Result<bool, Error> {
        let is_removed = match std::fs::remove_file(self.0.folder.file(digest)) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            // It stays there, and counts.
            Err(error) => return Err(Error::storage(error)),
        };
        self.0.recency().remove(&Entry::File(*digest));
        Ok(is_removed)
    }

    /// What there is, and what has happened.
    pub fn stats(&self) -> Stats {
        let (files, bytes) = self.0.recency().count();
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { fetched, failed, corrupt, resumed, unwritten, evicted } = &self.0.stats;
        Stats {
            files,
            bytes,
            running: self.0.fills().len() as u64,
            fetched: load(fetched),
            failed: load(failed),
            corrupt: load(corrupt),
            resumed: load(resumed),
            unwritten: load(unwritten),
            evicted: load(&evicted[Part::Files as usize]),
            partial: load(&self.0.partial),
        }
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    pub(super) fn of(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Inner {
    pub(super) fn recency(&self) -> MutexGuard<'_, Recency> {
        // Nothing panics while it holds one of these locks half-way through a change.
        self.recency.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn fills(&self) -> MutexGuard<'_, HashMap<Key, Fill>> {
        self.fills.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refs(&self) -> MutexGuard<'_, HashMap<Digest, Digest>> {
        self.refs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, digest: &Digest, label: impl FnOnce() -> Option<Arc<str>>) -> Option<Stored> {
        let now = SystemTime::now();
        let (held, len, is_due) = {
            let mut recency = self.recency();
            match recency.touch(&Entry::File(*digest)) {
                Some(item) => {
                    let is_due = now.duration_since(item.noted).is_ok_and(|since| since >= NOTE);
                    if is_due {
                        item.noted = now;
                    }
                    if item.label.is_none() {
                        item.label = label();
                    }
                    (item.file.clone(), Some(item.len), is_due)
                }
                None => (None, None, false),
            }
        };
        let Some(file) = held else { return self.open(digest, len, now) };
        if is_due {
            // How recently it was wanted is only a matter of what goes first.
            let _ = file.set_modified(now);
        }
        Some(Stored { file, len: len.unwrap_or_default(), digest: *digest })
    }

    /// Opens a file that has this length, or whatever length if that is not known yet.
    fn open(&self, digest: &Digest, len: Option<u64>, now: SystemTime) -> Option<Stored> {
        let path = self.folder.file(digest);
        let opened = Folder::read(&path).and_then(|file| Ok((file.metadata()?, file)));
        let entry = Entry::File(*digest);
        let Ok((metadata, file)) = opened else {
            self.recency().remove(&entry);
            return None;
        };
        // One that was not synced may be cut short by a power cut.
        if !metadata.is_file() || len.is_some_and(|len| len != metadata.len()) {
            let _ = std::fs::remove_file(path);
            self.recency().remove(&entry);
            return None;
        }
        let file = Arc::new(file);
        let mut recency = self.recency();
        if len.is_none() {
            recency.insert(entry.clone(), metadata.len(), now);
        }
        recency.hold(&entry, &file);
        Some(Stored { file, len: metadata.len(), digest: *digest })
    }

    /// Removes what nobody wanted the longest, so that there is room for what is on its way.
    pub(super) fn evict(&self, partial: u64) {
        let evicted = self.recency().evict(partial);
        for entry in evicted {
            // What stays there is found with the next search.
            let _ = self.discard(&entry);
            self.stats.evicted[entry.part() as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes something from the disk that does not count any more.
    pub(super) fn discard(&self, entry: &Entry) -> std::io::Result<()> {
        let path = self.folder.entry(entry);
        if entry.part() == Part::References
            && let Some(origin) = Folder::origin(&path)
        {
            self.refs().remove(&origin);
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes room for something of another part than the files. Whether there is.
    fn make_room(&self, len: u64) -> bool {
        let len = len.next_multiple_of(BLOCK);
        if len > self.config.max_bytes {
            return false;
        }
        self.evict(self.partial.load(Ordering::Relaxed).saturating_add(len));
        true
    }

    /// Counts something of another part than the files, which was written or found.
    fn wrote(&self, entry: Entry, len: u64) {
        self.recency().insert(entry, len.next_multiple_of(BLOCK), SystemTime::now());
    }

    /// Gives a file that was verified its place, if there may be one.
    pub(super) fn commit(&self, key: &Key, label: Option<Arc<str>>, stored: Stored, path: &Path) -> Stored {
        let Stored { len, digest, .. } = stored;
        let publish = || {
            if self.config.sync {
                stored.file.sync_all().map_err(Error::storage)?;
            }
            self.folder.publish(path, &digest)
        };
        if len > self.config.max_bytes || publish().is_err() {
            let _ = std::fs::remove_file(path);
            return stored;
        }
        {
            let mut recency = self.recency();
            let entry = Entry::File(digest);
            recency.insert(entry.clone(), len, SystemTime::now());
            recency.hold(&entry, &stored.file);
            if let Some(item) = recency.touch(&entry) {
                item.label = label;
            }
        }
        if let Key::Reference(Reference { origin, .. }) = key {
            if super::scan::write_reference(&self.folder.reference(origin), &digest).is_ok() {
                self.wrote(self.folder.reference_entry(origin), BLOCK);
            }
            self.refs().insert(*origin, digest);
        }
        self.evict(0);
        stored
    }
}

/// A folder for pages. That of a [`Store`] counts with the files.
#[derive(Clone, Debug)]
pub struct PagesDir {
    path: PathBuf,
    store: Weak<Inner>,
}

impl PagesDir {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn entry(&self, path: &Path) -> Option<(Arc<Inner>, Entry)> {
        let store = self.store.upgrade()?;
        let entry = store.folder.page_entry(path.strip_prefix(&self.path).ok()?)?;
        Some((store, entry))
    }

    /// Makes room for a file of this length. Whether there is.
    pub(crate) fn make_room(&self, len: u64) -> bool {
        self.store.upgrade().is_none_or(|store| store.make_room(len))
    }

    /// Counts a file that was written.
    pub(crate) fn wrote(&self, path: &Path, len: u64) {
        if let Some((store, entry)) = self.entry(path) {
            store.wrote(entry, len);
        }
    }

    /// Notes that a file is wanted.
    pub(crate) fn touch(&self, path: &Path) {
        if let Some((store, entry)) = self.entry(path) {
            store.recency().touch(&entry);
        }
    }

    /// Counts a file no more.
    pub(crate) fn removed(&self, path: &Path) {
        if let Some((store, entry)) = self.entry(path) {
            store.recency().remove(&entry);
        }
    }

    /// Counts none of the files any more.
    pub(crate) fn cleared(&self) {
        if let Some(store) = self.store.upgrade() {
            store.recency().remove_parts(&[Part::Pages, Part::FileMetadata]);
        }
    }
}

/// A folder of no store, without a limit.
impl From<PathBuf> for PagesDir {
    fn from(path: PathBuf) -> Self {
        Self { path, store: Weak::new() }
    }
}

/// A folder of no store, without a limit.
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

/// Shows how much there is.
impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.0.config.dir).field("stats", &self.stats()).finish()
    }
}
