//! The folder of the store, where everything has its place.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::Digest;
use super::recency::{Entry, Part};
use crate::Error;
use crate::error::Kind;

/// Says that a folder is a cache of ours. It is locked while it is in use.
const MARKER: &str = "pypi-proxy-cache";
/// Another number is another layout.
const VERSION: &str = "1\n";
const PARTS: [&str; 4] = ["files", "partial", "refs", "pages"];

/// A folder that holds nothing but what the proxy has put there.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: PathBuf,
    next: AtomicU64,
    /// Locked as long as this lives.
    _marker: File,
}

impl Folder {
    /// Opens or makes the folder.
    ///
    /// Nothing is ever removed from a folder that was not made here. Unless `allow_shared` is set, other users must not be
    /// able to write to it.
    pub(super) fn open(dir: &Path, allow_shared: bool) -> Result<Self, Error> {
        create(dir, true).map_err(Error::storage)?;
        let check = |dir: &Path| if allow_shared { Ok(()) } else { check_private(dir) };
        check(dir)?;
        let path = dir.join(MARKER);
        let is_new = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => false,
            Ok(_) => return Err(foreign("its marker is no file")),
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(Error::storage(error)),
        };
        if is_new && fs::read_dir(dir).map_err(Error::storage)?.next().is_some() {
            return Err(foreign("it holds something else"));
        }
        let mut marker =
            OpenOptions::new().read(true).write(true).create(is_new).open(&path).map_err(Error::storage)?;
        if marker.try_lock().is_err() {
            return Err(Error::new(Kind::Busy));
        }
        let mut version = String::new();
        marker.read_to_string(&mut version).map_err(Error::storage)?;
        match version.as_str() {
            VERSION => {}
            "" => marker.write_all(VERSION.as_bytes()).map_err(Error::storage)?,
            _ => return Err(foreign("it is of another version")),
        }
        for part in PARTS {
            let path = dir.join(part);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => check(&path)?,
                // A link could lead the cache to files of others.
                Ok(_) => return Err(foreign("a part of it is no folder")),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    create(&path, false).map_err(Error::storage)?;
                }
                Err(error) => return Err(Error::storage(error)),
            }
        }
        let folder = Self { dir: dir.to_owned(), next: AtomicU64::new(0), _marker: marker };
        // What was on its way when the last proxy ended.
        for entry in fs::read_dir(folder.part("partial")).map_err(Error::storage)?.flatten() {
            let _ = fs::remove_file(entry.path());
        }
        Ok(folder)
    }

    fn part(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where files are.
    pub(super) fn files(&self) -> PathBuf {
        self.part("files")
    }

    /// Where it is noted which SHA-256 a file has whose page does not tell it.
    pub(super) fn refs(&self) -> PathBuf {
        self.part("refs")
    }

    /// Where pages are kept.
    pub(super) fn pages(&self) -> PathBuf {
        self.part("pages")
    }

    pub(super) fn file(&self, digest: &Digest) -> PathBuf {
        spread(&self.files(), digest)
    }

    /// The reference with this origin.
    pub(super) fn reference(&self, origin: &Digest) -> PathBuf {
        spread(&self.refs(), origin)
    }

    /// Where something is.
    pub(super) fn entry(&self, entry: &Entry) -> PathBuf {
        match entry {
            Entry::File(digest) => self.file(digest),
            Entry::Other(_, path) => self.dir.join(&**path),
        }
    }

    pub(super) fn reference_entry(&self, origin: &Digest) -> Entry {
        let name = origin.to_string();
        Entry::Other(Part::References, format!("refs/{}/{}", &name[..2], &name[2..]).into())
    }

    /// The origin of a reference at a path.
    pub(super) fn origin(path: &Path) -> Option<Digest> {
        let mut parts = path.components().rev().map_while(|part| part.as_os_str().to_str());
        let (name, front) = (parts.next()?, parts.next()?);
        format!("{front}{name}").parse().ok()
    }

    /// A page, or what was learned of files, at a path below the folder for pages.
    pub(super) fn page_entry(&self, path: &Path) -> Option<Entry> {
        let part = if path.starts_with("facts") { Part::FileMetadata } else { Part::Pages };
        Some(Entry::Other(part, format!("pages/{}", path.to_str()?).into()))
    }

    /// A new file for something on its way.
    pub(super) fn partial(&self) -> Result<(PathBuf, File), Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.part("partial").join(format!("{}-{number}", std::process::id()));
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(Error::storage)?;
        Ok((path, file))
    }

    /// Opens a file for reading, but not what a link leads to, nor anything that is no file.
    pub(crate) fn read(path: &Path) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            // A pipe would be waited for.
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            options.custom_flags(flags.bits().cast_signed());
        }
        let file = options.open(path)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
    }

    /// Makes a folder in another one. That one is not made: whoever has removed it may have put something else there.
    pub(crate) fn make(path: &Path) -> std::io::Result<()> {
        match create(path, false) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    }

    /// Gives something on its way its place, at once and as a whole.
    pub(super) fn publish(&self, partial: &Path, digest: &Digest) -> Result<(), Error> {
        let path = self.file(digest);
        if let Some(folder) = path.parent() {
            Self::make(folder).map_err(Error::storage)?;
        }
        fs::rename(partial, path).map_err(Error::storage)
    }
}

/// Makes a directory that other users can't write to, whatever the umask is.
fn create(path: &Path, is_recursive: bool) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(is_recursive);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(path)
}

/// Refuses a directory whose content other users can replace. Root may own it: root can replace anything.
#[cfg(unix)]
fn check_private(dir: &Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = fs::metadata(dir).map_err(Error::storage)?;
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    let problem = if owner != user && owner != 0 {
        format!("is owned by another user (uid {owner})")
    } else if metadata.mode() & 0o022 != 0 {
        format!("is writable by other users (mode {:o})", metadata.mode() & 0o7777)
    } else {
        return Ok(());
    };
    let dir = dir.display();
    let text = format!("{dir} {problem}: use a directory of this user alone, or set allow_shared_cache_dir");
    Err(Error::with(Kind::Storage, text))
}

#[cfg(not(unix))]
fn check_private(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// A path in one of 256 folders.
fn spread(part: &Path, digest: &Digest) -> PathBuf {
    let name = digest.to_string();
    part.join(&name[..2]).join(&name[2..])
}

#[cold]
fn foreign(what: &str) -> Error {
    Error::with(Kind::Storage, format!("the folder is no cache of this proxy: {what}"))
}
