//! Names that private indexes have listed. No other index is used for them, whatever happens to the private one.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};

use crate::error::{Chain, Kind};
use crate::store::{CacheDir, PagesDir};
use crate::{Error, ProjectName, sys};

/// Maximum number of names of one index.
const MAX_NAMES: usize = if cfg!(test) { 1000 } else { 1_000_000 };

/// Names of the projects that private indexes have listed, on a page or in their project list.
///
/// A project with such a name is served only from a private index that has listed it: while that index is down, after
/// it has removed the project, and after a restart. Clones share the names; all indexes of a proxy should share them.
///
/// At most 1,000,000 names per index are recorded. A name is removed only by an operator, with [`Claims::remove`] or by
/// purging the project.
#[derive(Clone, Default)]
pub struct Claims(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Folder with one file per index; `None` to keep the names in memory only.
    dir: Option<PathBuf>,
    indexes: RwLock<BTreeMap<u64, Index>>,
    /// Number of indexes that are private now.
    active: AtomicUsize,
}

#[derive(Default)]
struct Index {
    names: Arc<ClaimedNames>,
    is_private: bool,
}

/// Names of one index.
#[derive(Default)]
pub(super) struct ClaimedNames {
    file: Option<PathBuf>,
    /// URL of the index; empty if it is unknown.
    url: Mutex<String>,
    names: RwLock<HashSet<ProjectName>>,
    /// Names that are not in the file yet.
    unsaved: Mutex<Vec<ProjectName>>,
    refreshes: Mutex<Vec<Weak<RemovedNames>>>,
}

/// Names that were removed since a refresh began, which does not claim them.
pub(super) type RemovedNames = Mutex<HashSet<ProjectName>>;

impl Claims {
    /// Reads the recorded names of all indexes. Names are recorded beside this folder of pages.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be read or has a line that is not a project name ([`Error::is_storage`]).
    pub fn open(pages: &PagesDir) -> Result<Self, Error> {
        Self::read(pages, false)
    }

    /// Reads the recorded names of all indexes, and changes no file.
    ///
    /// # Errors
    ///
    /// Same as [`Self::open`].
    pub fn open_read_only(pages: &PagesDir) -> Result<Self, Error> {
        Self::read(pages, true)
    }

    fn read(pages: &PagesDir, is_read_only: bool) -> Result<Self, Error> {
        let dir = (!is_read_only).then(|| pages.claims().to_owned());
        let mut all = BTreeMap::new();
        let files = match fs::read_dir(pages.claims()) {
            Ok(files) => files,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self(Arc::new(Inner { dir, ..Inner::default() })));
            }
            Err(error) => return Err(Error::storage(error)),
        };
        for file in files {
            let path = file.map_err(Error::storage)?.path();
            let id = path.file_name().and_then(|name| u64::from_str_radix(name.to_str()?, 16).ok());
            // Other files, such as backups of an editor, are not from this program.
            let Some(id) = id else { continue };
            all.insert(
                id,
                Index { names: Arc::new(ClaimedNames::read(path, is_read_only)?), is_private: false },
            );
        }
        Ok(Self(Arc::new(Inner { dir, indexes: all.into(), ..Inner::default() })))
    }

    /// Returns the same names for a new configuration, in which no index is private yet. Names that either adds are in
    /// both.
    pub(crate) fn for_reload(&self) -> Self {
        let indexes = self.0.indexes.read();
        let indexes =
            indexes.iter().map(|(id, index)| (*id, Index { names: index.names.clone(), is_private: false }));
        let indexes = RwLock::new(indexes.collect());
        Self(Arc::new(Inner { dir: self.0.dir.clone(), indexes, ..Inner::default() }))
    }

    /// Removes a name of all indexes. Returns whether any of them had it. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be written ([`Error::is_storage`]).
    pub fn remove(&self, name: &ProjectName) -> Result<bool, Error> {
        let indexes: Vec<_> = self.0.indexes.read().values().map(|index| index.names.clone()).collect();
        indexes.iter().try_fold(false, |found, names| Ok(names.remove(name)? || found))
    }

    /// Returns the recorded names of each index, sorted, with the URL of the index.
    pub fn names(&self) -> Vec<(String, Vec<ProjectName>)> {
        let of_index = |index: &Index| {
            let mut names: Vec<_> = index.names.names.read().iter().cloned().collect();
            names.sort_unstable();
            (index.names.url.lock().clone(), names)
        };
        self.0.indexes.read().values().map(of_index).collect()
    }

    /// Marks an index as private and returns its names. `url` describes it in the file, and `found` returns the names
    /// that it is known to have if no file exists yet.
    pub(super) fn register(
        &self,
        id: u64,
        url: &str,
        found: impl FnOnce() -> Vec<ProjectName>,
    ) -> Arc<ClaimedNames> {
        let inner = &self.0;
        let mut is_new = false;
        let new = || {
            is_new = true;
            let file = inner.dir.as_ref().map(|dir| dir.join(format!("{id:016x}")));
            Index { names: Arc::new(ClaimedNames { file, ..ClaimedNames::default() }), is_private: false }
        };
        let names = {
            let mut indexes = inner.indexes.write();
            let index = indexes.entry(id).or_insert_with(new);
            if !std::mem::replace(&mut index.is_private, true) {
                inner.active.fetch_add(1, Ordering::Relaxed);
            }
            index.names.clone()
        };
        url.clone_into(&mut names.url.lock());
        if is_new {
            names.add(url, found().into_iter());
        }
        names
    }

    /// Returns whether any index is private.
    pub(super) fn is_active(&self) -> bool {
        self.0.active.load(Ordering::Relaxed) > 0
    }

    /// Returns whether any private index has listed this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.is_active()
            && self.0.indexes.read().values().any(|index| index.is_private && index.names.contains(name))
    }
}

impl ClaimedNames {
    fn read(path: PathBuf, is_read_only: bool) -> Result<Self, Error> {
        let unreadable = || Error::with(Kind::Storage, format!("{} can't be read", path.display()));
        let mut text = fs::read_to_string(&path).map_err(|error| unreadable().caused_by(error))?;
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        if complete < text.len() {
            // The program was killed while it appended a line.
            text.truncate(complete);
            if !is_read_only {
                CacheDir::replace(&path, text.as_bytes(), None)?;
            }
        }
        let (mut url, mut names) = (String::new(), HashSet::new());
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix('#') {
                if url.is_empty() {
                    comment.trim().clone_into(&mut url);
                }
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let name = ProjectName::parse(line).map_err(|error| {
                let text = format!("{}, line {}: expected a project name", path.display(), number + 1);
                Error::with(Kind::Storage, text).caused_by(error)
            })?;
            names.insert(name);
        }
        let file = (!is_read_only).then_some(path);
        Ok(Self { file, url: url.into(), names: names.into(), ..Self::default() })
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.read().contains(name)
    }

    /// Returns the names that are removed from now on.
    pub(super) fn watch_removed(&self) -> Arc<RemovedNames> {
        let (removed, mut refreshes) = (Arc::default(), self.refreshes.lock());
        refreshes.retain(|refresh| refresh.strong_count() > 0);
        refreshes.push(Arc::downgrade(&removed));
        removed
    }

    /// Removes a name. Returns whether it was recorded.
    fn remove(&self, name: &ProjectName) -> Result<bool, Error> {
        let mut unsaved = self.unsaved.lock();
        for refresh in self.refreshes.lock().iter().filter_map(Weak::upgrade) {
            refresh.lock().insert(name.clone());
        }
        let mut names = self.names.write();
        if !names.contains(name) {
            return Ok(false);
        }
        if let Some(file) = &self.file {
            let mut text = format!("# {}\n", self.url.lock());
            for name in names.iter().filter(|other| *other != name) {
                text += name.as_str();
                text.push('\n');
            }
            CacheDir::replace(file, text.as_bytes(), None)?;
            unsaved.clear();
        }
        Ok(names.remove(name))
    }

    /// Records the names that a refresh has found, except for removed ones.
    pub(super) fn claim(&self, url: &str, found: impl Iterator<Item = ProjectName>, removed: &RemovedNames) {
        self.add(url, found.filter(|name| !removed.lock().contains(name)));
    }

    /// Records names. Blocks the thread if there are new ones. If they can't be stored, they are kept in memory, and
    /// stored with the next ones.
    fn add(&self, url: &str, found: impl Iterator<Item = ProjectName>) {
        let mut new = Vec::new();
        let mut unsaved = self.unsaved.lock();
        {
            let mut names = self.names.write();
            for name in found {
                if names.len() >= MAX_NAMES && !names.contains(name.as_str()) {
                    tracing::error!(
                        index = url,
                        "a private index has over {MAX_NAMES} projects; the others are not protected"
                    );
                    break;
                }
                if names.insert(name.clone()) {
                    new.push(name);
                }
            }
        }
        let Some(file) = self.file.as_ref().filter(|_| !new.is_empty()) else { return };
        unsaved.extend(new);
        match append(file, url, &unsaved) {
            Ok(()) => unsaved.clear(),
            Err(error) => {
                let error = Chain(&error);
                tracing::error!(index = url, %error, "names of a private index can't be stored");
            }
        }
    }
}

/// Appends names to a file, and creates it if it does not exist.
fn append(path: &Path, url: &str, names: &[ProjectName]) -> Result<(), std::io::Error> {
    CacheDir::create_subdir(path.parent().unwrap_or(path))?;
    let mut file = sys::append(path)?;
    let mut text = String::new();
    if file.metadata()?.len() == 0 {
        text = format!("# {url}\n");
    }
    for name in names {
        text += name.as_str();
        text.push('\n');
    }
    file.write_all(text.as_bytes())?;
    file.sync_data()
}

/// Shows only the number of private indexes.
impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims")
            .field("indexes", &self.0.active.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_names_is_limited() {
        let dir = tempfile::tempdir().unwrap();
        let claims = Claims::open(&dir.path().into()).unwrap();
        let name = |number: usize| ProjectName::parse(&format!("a-{number}")).unwrap();
        let names = claims.register(1, "https://a.example.org/", || (0..MAX_NAMES + 1).map(name).collect());
        assert!(claims.has("a-0") && names.contains(&format!("a-{}", MAX_NAMES - 1)));
        assert!(!claims.has(&format!("a-{MAX_NAMES}")));
        // Known names are no problem, and all of them are stored.
        names.add("https://a.example.org/", [name(1), name(MAX_NAMES)].into_iter());
        let again = Claims::open(&dir.path().into()).unwrap();
        assert!(!again.has("a-0"), "the index is not private yet");
        let names = again.register(1, "https://a.example.org/", || unreachable!("there is a file"));
        assert_eq!(names.names.read().len(), MAX_NAMES);
        assert!(again.is_active() && again.has("a-0"));
    }

    #[test]
    fn names_are_shared_with_the_configuration_of_a_reload() {
        let url = "https://a.example.org/";
        let name = |name: &str| [ProjectName::parse(name).unwrap()].into_iter();
        let before = Claims::default();
        let old = before.register(1, url, || name("first").collect());
        let after = before.for_reload();
        assert!(!after.has("first"), "the index is not private yet");
        let new = after.register(1, url, || unreachable!("the index is known"));
        // A request that started before the reload.
        old.add(url, name("second"));
        new.add(url, name("third"));
        for claimed in ["first", "second", "third"] {
            assert!(before.has(claimed) && after.has(claimed), "{claimed}");
        }
    }
}
