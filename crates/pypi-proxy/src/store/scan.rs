//! Finding what is in the folder, and whether it is what it should be.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{Context, SHA256};

use super::disk::{BLOCK, Inner, NOTE};
use super::folder::Folder;
use super::recency::{Entry, Part};
use super::{Digest, Store};
use crate::Error;

/// How often files are looked for that nobody wants, at the most and at the least.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(600);

/// What [`Store::verify`] has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Files that are what their hashes say.
    pub good: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that are not, and were removed.
    pub bad: Vec<Digest>,
}

/// What [`Store::collect`] has removed and left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// Files that were removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Files that are left.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Store {
    /// Removes the files that nobody wanted for this long, if a time is given, and then what nobody wanted the longest, of
    /// all parts of the folder, until the rest has no more bytes than this. It blocks for as long as that takes.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be removed ([`Error::is_storage`]).
    pub fn collect(&self, unused: Option<Duration>, max_bytes: u64) -> Result<Collected, Error> {
        let inner = self.inner();
        let parts = Parts::of(inner);
        let found = find(&parts, &inner.search, &Arc::downgrade(inner)).unwrap_or_default();
        let before = inner.recency().count();
        if let Some(unused) = unused {
            let now = SystemTime::now();
            let is_old = |noted| now.duration_since(noted).is_ok_and(|since| since >= unused);
            for (_, entry, _) in found.iter().filter(|(noted, ..)| is_old(*noted)) {
                if let Entry::File(digest) = entry {
                    self.remove(digest)?;
                }
            }
        }
        let evicted = inner.recency().evict_to(max_bytes, 0);
        for entry in &evicted {
            inner.discard(entry).map_err(Error::storage)?;
        }
        let (files, bytes) = inner.recency().count();
        Ok(Collected {
            removed: before.0.saturating_sub(files),
            removed_bytes: before.1.saturating_sub(bytes),
            files,
            bytes,
        })
    }

    /// Puts the files of the folder in the order in which they were last wanted, on a thread.
    pub(super) fn find(&self) {
        let inner = Arc::downgrade(self.inner());
        let (parts, search) = (Parts::of(self.inner()), self.inner().search.clone());
        let (opened, unused) = (SystemTime::now(), self.inner().config.unused);
        let work = move || {
            [&parts.pages, &parts.refs].into_iter().for_each(|part| sweep(part, opened));
            // The folder is not held for a search that nobody waits for.
            let found = find(&parts, &search, &inner);
            if let (Some(_), Some(inner)) = (found, inner.upgrade()) {
                inner.evict(0);
            }
            let Some(unused) = unused else { return };
            loop {
                #[expect(clippy::disallowed_methods, reason = "the thread is for this alone")]
                std::thread::sleep((unused / 4).clamp(MIN_PAUSE, MAX_PAUSE));
                let Some(inner) = inner.upgrade() else { return };
                // What can't be removed now may be the next time.
                let _ = Self::of(inner).collect(Some(unused + NOTE), u64::MAX);
            }
        };
        // Without a thread everything is still found when it is asked for.
        let _ = std::thread::Builder::new().name("pypi-proxy-scan".into()).spawn(work);
    }

    /// Reads all files, and removes those that are not what their hashes say. It blocks for as long as that takes.
    ///
    /// # Errors
    ///
    /// Fails if a bad file can't be removed ([`Error::is_storage`]).
    pub fn verify(&self, mut each: impl FnMut(&Digest, bool)) -> Result<Verified, Error> {
        let inner = self.inner();
        let mut digests = Vec::new();
        walk(&inner.folder.files(), &mut |digest, _| digests.push(digest));
        let mut verified = Verified::default();
        for digest in digests {
            match hash(inner, &digest) {
                // It was removed meanwhile.
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

/// Removes what was being written when the last proxy ended.
fn sweep(part: &Path, opened: SystemTime) {
    for folder in fs::read_dir(part).into_iter().flatten().flatten() {
        // Not what a link leads to.
        if !folder.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            // No name of a project or file begins with a dot.
            let is_left = file.file_name().as_encoded_bytes().starts_with(b".tmp")
                && file.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|time| time < opened);
            if is_left {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

/// The parts of a folder, without holding it.
struct Parts {
    files: PathBuf,
    pages: PathBuf,
    refs: PathBuf,
}

impl Parts {
    fn of(inner: &Inner) -> Self {
        let folder = &inner.folder;
        Self { files: folder.files(), pages: folder.pages(), refs: folder.refs() }
    }
}

/// Puts what is in the folder in its order; `None` if the store is gone.
fn find(parts: &Parts, search: &Mutex<()>, inner: &Weak<Inner>) -> Option<Vec<(SystemTime, Entry, u64)>> {
    let _search = search.lock().unwrap_or_else(PoisonError::into_inner);
    inner.upgrade()?.recency().search();
    let mut found = Vec::new();
    let noted = |metadata: &fs::Metadata| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    walk(&parts.files, &mut |digest, metadata| {
        found.push((noted(&metadata), Entry::File(digest), metadata.len()));
    });
    for (part, name) in [(&parts.pages, "pages"), (&parts.refs, "refs")] {
        each(part, &mut |folder, file, metadata| {
            let part = match (name, folder) {
                ("refs", _) => Part::References,
                (_, "facts") => Part::FileMetadata,
                _ => Part::Pages,
            };
            let entry = Entry::Other(part, format!("{name}/{folder}/{file}").into());
            found.push((noted(&metadata), entry, metadata.len().next_multiple_of(BLOCK)));
        });
    }
    found.sort_unstable();
    // Those that were asked for meanwhile are more recent than all of these.
    let older = found.iter().map(|(noted, entry, len)| (entry.clone(), *len, *noted));
    inner.upgrade()?.recency().insert_before(older);
    Some(found)
}

/// `None` for a file that is not there; one that can't be read has no hash that fits.
fn hash(inner: &Inner, digest: &Digest) -> Option<(Digest, u64)> {
    let mut file = Folder::read(&inner.folder.file(digest)).ok()?;
    let mut hash = Context::new(&SHA256);
    let mut buffer = vec![0; 256 * 1024];
    let mut len = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hash.update(&buffer[..count]);
                len += count as u64;
            }
            Err(_) => return Some((Digest([0; 32]), 0)),
        }
    }
    Some((hash.finish().into(), len))
}

/// Calls `found` with each file that has its place here, and with nothing else.
fn walk(files: &Path, found: &mut dyn FnMut(Digest, fs::Metadata)) {
    each(files, &mut |front, name, metadata| {
        if let Ok(digest) = format!("{front}{name}").parse() {
            found(digest, metadata);
        }
    });
}

/// Calls `found` with the folder and the name of each file in one of the folders of a part.
fn each(part: &Path, found: &mut dyn FnMut(&str, &str, fs::Metadata)) {
    for folder in fs::read_dir(part).into_iter().flatten().flatten() {
        let front = folder.file_name();
        let (Some(front), true) = (front.to_str(), folder.file_type().is_ok_and(|kind| kind.is_dir())) else {
            continue;
        };
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            // Not what a link leads to.
            let (Ok(metadata), name) = (file.metadata(), file.file_name()) else { continue };
            // What begins with a dot is being written.
            if let Some(name) = name.to_str().filter(|name| !name.starts_with('.'))
                && metadata.is_file()
            {
                found(front, name, metadata);
            }
        }
    }
}

pub(super) fn read_reference(path: &Path) -> Option<Digest> {
    let mut text = String::new();
    Folder::read(path).ok()?.take(65).read_to_string(&mut text).ok()?;
    text.trim_end().parse().ok()
}

pub(super) fn write_reference(path: &Path, digest: &Digest) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    Folder::make(folder).map_err(Error::storage)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::storage)?;
    file.write_all(digest.to_string().as_bytes()).map_err(Error::storage)?;
    file.persist(path).map_err(|error| Error::storage(error.error))?;
    Ok(())
}
