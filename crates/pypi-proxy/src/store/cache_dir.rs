//! Layout of the cache directory.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::Digest;
use super::lru::{CacheArea, CacheEntry};
use crate::error::Kind;
use crate::{Error, layout, sys, system};

/// Marker file that identifies a cache directory and contains the version of its layout. It is locked while a proxy uses
/// the folder, and therefore never replaced.
const MARKER: &str = "pypi-proxy-cache";
/// Newest version of the layout that this program supports, which new folders get.
const VERSION: u32 = 1;
const SUBDIRS: [&str; 5] = ["files", "partial", "refs", "pages", "claims"];

/// A cache directory, locked for this process.
#[derive(Debug)]
pub(crate) struct CacheDir {
    dir: PathBuf,
    next: AtomicU64,
    /// Holds the lock.
    _marker: File,
}

impl CacheDir {
    /// Opens or creates the folder.
    ///
    /// Nothing is deleted from a folder without the marker. Unless `allow_shared` is set, other users must not have
    /// write access.
    pub(super) fn open(dir: &Path, allow_shared: bool) -> Result<Self, Error> {
        sys::create_dir(dir, true).map_err(Error::storage)?;
        let check = |dir: &Path| if allow_shared { Ok(()) } else { check_private(dir) };
        check(dir)?;
        let path = dir.join(MARKER);
        let entries = count(dir)?;
        let is_new = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => false,
            Ok(_) => return Err(not_a_cache(dir, "its marker is not a file")),
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(Error::storage(error)),
        };
        if is_new && entries > 0 {
            return Err(not_a_cache(dir, "it has other content"));
        }
        let (mut marker, is_locked) = sys::lock(&path, is_new).map_err(|error| unreadable(&path, error))?;
        // A newer layout is reported even while a newer program uses the folder.
        let is_blank = check_layout(&path, &marker, entries)?;
        if !is_locked {
            return Err(Error::new(Kind::Busy));
        }
        if is_blank {
            // Synced, so that after a power failure a folder with content always has its version.
            let written = marker.write_all(layout::marker(VERSION).as_bytes());
            written.and_then(|()| marker.sync_all()).map_err(Error::storage)?;
        }
        for part in SUBDIRS {
            let path = dir.join(part);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => check(&path)?,
                // A link could lead to files outside of the cache.
                Ok(_) => return Err(not_a_cache(dir, "a subfolder is not a folder")),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    sys::create_dir(&path, false).map_err(Error::storage)?;
                }
                Err(error) => return Err(Error::storage(error)),
            }
        }
        let dir = Self { dir: dir.to_owned(), next: AtomicU64::new(0), _marker: marker };
        // Partial downloads of the previous process.
        for entry in fs::read_dir(dir.part("partial")).map_err(Error::storage)?.flatten() {
            let _ = fs::remove_file(entry.path());
        }
        Ok(dir)
    }

    /// Checks the layout of a folder that another process may use. A folder without a marker has no content.
    pub(super) fn check(dir: &Path) -> Result<(), Error> {
        let path = dir.join(MARKER);
        match Self::read(&path) {
            Ok(marker) => check_layout(&path, &marker, count(dir)?).map(drop),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(unreadable(&path, error)),
        }
    }

    /// Returns a subfolder: `files`, `partial` (downloads), `refs` (which map an origin to the SHA-256 of a file),
    /// `pages` or `claims` (names of private indexes).
    pub(super) fn part(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn file(&self, digest: &Digest) -> PathBuf {
        self.dir.join(sharded("files", digest))
    }

    pub(super) fn entry(&self, entry: &CacheEntry) -> PathBuf {
        match entry {
            CacheEntry::File(digest) => self.file(digest),
            CacheEntry::Other(_, path) => self.dir.join(&**path),
        }
    }

    pub(super) fn reference_entry(origin: &Digest) -> CacheEntry {
        CacheEntry::Other(CacheArea::References, sharded("refs", origin).into())
    }

    /// Records the time of the last use of an entry on disk. If this fails, the entry is only evicted earlier after a
    /// restart.
    pub(super) fn record_access(&self, entry: &CacheEntry, now: SystemTime) {
        // The modification time of a page is when its upstream last confirmed it.
        let _ = sys::set_times(&self.entry(entry), now, entry.area() != CacheArea::Pages);
    }

    /// Parses the origin of a reference from its path.
    pub(super) fn origin(path: &Path) -> Option<Digest> {
        let mut parts = path.components().rev().map_while(|part| part.as_os_str().to_str());
        let (name, front) = (parts.next()?, parts.next()?);
        format!("{front}{name}").parse().ok()
    }

    /// Returns the entry of a page or of file facts, from its path below the subfolder of pages.
    pub(super) fn page_entry(path: &str) -> CacheEntry {
        let area = if is_facts(path) { CacheArea::FileMetadata } else { CacheArea::Pages };
        CacheEntry::Other(area, format!("pages/{path}").into())
    }

    /// Creates a file for a download.
    pub(super) fn partial(&self) -> Result<(PathBuf, File), Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.part("partial").join(format!("{}-{number}", std::process::id()));
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(Error::storage)?;
        Ok((path, file))
    }

    /// Opens a regular file for reading. Does not follow links.
    pub(crate) fn read(path: &Path) -> std::io::Result<File> {
        let file = sys::open(path)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
    }

    /// Creates a folder if it does not exist. Its parent is not created: another process may have replaced it.
    pub(crate) fn create_subdir(path: &Path) -> std::io::Result<()> {
        match sys::create_dir(path, false) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    }

    /// Writes a file atomically, and creates its folder if it does not exist. Sets its modification time if there is one.
    pub(crate) fn replace(path: &Path, bytes: &[u8], modified: Option<SystemTime>) -> Result<(), Error> {
        let dir = path.parent().unwrap_or(path);
        Self::create_subdir(dir).map_err(Error::storage)?;
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(Error::storage)?;
        system::disk().and_then(|()| file.write_all(bytes)).map_err(Error::storage)?;
        if let Some(time) = modified {
            file.as_file().set_modified(time).map_err(Error::storage)?;
        }
        // On Windows, this also clears the attribute of temporary files, which are not written to the disk.
        let temporary = file.into_temp_path().keep().map_err(|error| Error::storage(error.error))?;
        sys::replace(&temporary, path).map_err(|error| {
            let _ = fs::remove_file(&temporary);
            Error::storage(error)
        })
    }

    /// Deletes a file. A missing one is no error.
    pub(super) fn remove(path: &Path) -> std::io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Moves a complete download to its final place, atomically.
    pub(super) fn publish(&self, partial: &Path, digest: &Digest) -> Result<(), Error> {
        let path = self.file(digest);
        if let Some(dir) = path.parent() {
            Self::create_subdir(dir).map_err(Error::storage)?;
        }
        sys::replace(partial, &path).map_err(Error::storage)
    }
}

/// Fails if users other than root can replace the content of the folder.
fn check_private(dir: &Path) -> Result<(), Error> {
    let Some(problem) = sys::access_problem(dir).map_err(Error::storage)? else { return Ok(()) };
    let dir = dir.display();
    let text = format!("{dir} {problem}: use a directory of this user alone, or set allow_shared_cache_dir");
    Err(Error::with(Kind::Storage, text))
}

/// Returns whether a path below the folder of pages is that of facts about files, of the default or a named index.
pub(super) fn is_facts(path: &str) -> bool {
    path.split(['/', '@']).next() == Some("facts")
}

/// Path of a file in one of 256 subfolders.
fn sharded(part: &str, digest: &Digest) -> String {
    let name = digest.to_string();
    format!("{part}/{}/{}", &name[..2], &name[2..])
}

/// Returns the number of entries of a folder, at most 2. They are counted before the marker is looked at, because another
/// process may be creating the folder: it creates the marker, writes the version, and then creates the subfolders.
fn count(dir: &Path) -> Result<usize, Error> {
    fs::read_dir(dir).map(|entries| entries.take(2).count()).map_err(Error::storage)
}

/// Checks the version in the marker. Returns whether the marker is empty in a folder without other entries: then the
/// program was killed before it wrote the version.
fn check_layout(path: &Path, marker: &File, entries: usize) -> Result<bool, Error> {
    let mut content = Vec::new();
    marker.take(layout::READ_LEN).read_to_end(&mut content).map_err(|error| unreadable(path, error))?;
    if content.is_empty() && entries < 2 {
        return Ok(true);
    }
    let checked = layout::check(&content, VERSION, &path.display().to_string(), "another directory");
    checked.map(|()| false).map_err(|problem| Error::with(Kind::Storage, problem))
}

#[cold]
fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::with(Kind::Storage, format!("{} can't be read", path.display())).caused_by(error)
}

#[cold]
fn not_a_cache(dir: &Path, what: &str) -> Error {
    Error::with(Kind::Storage, format!("{} is not a cache of this proxy: {what}", dir.display()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_use_of_a_page_keeps_its_modification_time() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CacheDir::open(&folder.path().join("cache"), false).unwrap();
        let (old, new) =
            (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
        for (area, modified) in
            [(CacheArea::Pages, old), (CacheArea::FileMetadata, new), (CacheArea::References, new)]
        {
            let path = dir.dir.join("pages").join(area.name());
            let file = File::create(&path).unwrap();
            file.set_times(fs::FileTimes::new().set_accessed(old).set_modified(old)).unwrap();
            dir.record_access(&CacheEntry::Other(area, format!("pages/{}", area.name()).into()), new);
            let times = fs::metadata(path).unwrap();
            assert_eq!((times.accessed().unwrap(), times.modified().unwrap()), (new, modified), "{area:?}");
        }
    }
}
