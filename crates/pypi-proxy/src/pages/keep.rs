//! Pages on disk.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::page::Facts;
use crate::store::{Folder, PagesDir};
use crate::upstream::{PageBody, Reservation, Validators};
use crate::{Error, ProjectName};

/// Another number is another form, whose files are not read.
const VERSION: u32 = 1;

/// The most bytes that are read of what was learned of a project's files.
const MAX_FACTS: u64 = 16 << 20;

/// A folder with a file for each page of each index: a line of JSON, and the page as the index sent it, compressed.
#[derive(Clone, Debug)]
pub(super) struct Keep {
    dir: PagesDir,
    max_page: u64,
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    etag: Option<String>,
    last_modified: Option<String>,
    serial: Option<u64>,
    is_json: bool,
    /// Seconds since 1970.
    checked: u64,
    modified: u64,
    len: u64,
}

/// A page that was kept.
pub(super) struct Kept {
    pub(super) body: PageBody,
    pub(super) checked: SystemTime,
    pub(super) modified: SystemTime,
}

impl Keep {
    pub(super) fn new(dir: PagesDir, max_page: u64) -> Self {
        Self { dir, max_page }
    }

    /// No name of a project is as long as a hash with a mark in front, or has one.
    fn path(&self, index: u64, project: Option<&ProjectName>) -> PathBuf {
        self.dir.path().join(format!("{index:016x}")).join(project.map_or("@list", ProjectName::as_str))
    }

    /// A page as it is kept, still compressed, and when it was last checked. `None` if there is none that can be read: a
    /// page can always be had again.
    pub(super) fn open(&self, index: u64, project: Option<&ProjectName>) -> Option<(Vec<u8>, SystemTime)> {
        let path = self.path(index, project);
        let mut file = Folder::read(&path).ok()?;
        self.dir.touch(&path);
        // It is touched when the index says that nothing has changed.
        let touched = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some((bytes, touched))
    }

    /// The bytes of the page in a document, after decompression.
    pub(super) fn page_len(document: &[u8]) -> Option<u64> {
        Self::head(document).map(|(head, _)| head.len)
    }

    /// The most bytes of a page.
    pub(super) fn max_page(&self) -> u64 {
        self.max_page
    }

    /// What a document begins with, and where the page is in it.
    fn head(document: &[u8]) -> Option<(Head, usize)> {
        let end = memchr::memchr(b'\n', document)?;
        let head: Head = tightwire_json::from_slice(&document[..end]).ok()?;
        (head.version == VERSION).then_some((head, end + 1))
    }

    /// What tells which of two documents is older: the serial if the index has one, and when it was checked.
    pub(super) fn age(document: &[u8]) -> Option<(Option<u64>, u64)> {
        Self::head(document).map(|(head, _)| (head.serial, head.checked))
    }

    /// Reads a document with a page of at most so many bytes, which was checked at this time if not later. The share has
    /// room for the page.
    pub(super) fn read(
        bytes: &[u8],
        max_page: u64,
        touched: SystemTime,
        reservation: Reservation,
    ) -> Option<Kept> {
        let (head, start) = Self::head(bytes)?;
        if head.len > max_page {
            return None;
        }
        let mut page = Vec::new();
        let mut decoder = zstd::Decoder::new(&bytes[start..]).ok()?;
        decoder.by_ref().take(head.len.saturating_add(1)).read_to_end(&mut page).ok()?;
        if page.len() as u64 != head.len {
            return None;
        }
        let validators = Validators { etag: head.etag, last_modified: head.last_modified };
        let body =
            PageBody { bytes: page, is_json: head.is_json, validators, serial: head.serial, reservation };
        let time = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let checked = time(head.checked).max(touched);
        Some(Kept { body, checked, modified: time(head.modified) })
    }

    /// A page as it is kept.
    pub(super) fn document(
        body: &PageBody,
        checked: SystemTime,
        modified: SystemTime,
    ) -> Result<Vec<u8>, Error> {
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let head = Head {
            version: VERSION,
            etag: body.validators.etag.clone(),
            last_modified: body.validators.last_modified.clone(),
            serial: body.serial,
            is_json: body.is_json,
            checked: seconds(checked),
            modified: seconds(modified),
            len: body.bytes.len() as u64,
        };
        let mut document =
            tightwire_json::to_vec(&head).map_err(|error| Error::storage(std::io::Error::other(error)))?;
        document.push(b'\n');
        document.extend_from_slice(&zstd::bulk::compress(&body.bytes, 1).map_err(Error::storage)?);
        Ok(document)
    }

    /// Replaces what was kept.
    pub(super) fn store(
        &self,
        index: u64,
        project: Option<&ProjectName>,
        document: &[u8],
    ) -> Result<(), Error> {
        self.write(&self.path(index, project), document)
    }

    /// Replaces a file. If there is no room for it, the old one is removed.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let len = bytes.len() as u64;
        if !self.dir.make_room(len) {
            return self.delete(path);
        }
        let folder = path.parent().unwrap_or(self.dir.path());
        Folder::make(folder).map_err(Error::storage)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::storage)?;
        file.write_all(bytes).map_err(Error::storage)?;
        file.persist(path).map_err(|error| Error::storage(error.error))?;
        self.dir.wrote(path, len);
        Ok(())
    }

    fn delete(&self, path: &Path) -> Result<(), Error> {
        self.dir.removed(path);
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::storage(error)),
            _ => Ok(()),
        }
    }

    /// Notes that a page is still what it was.
    pub(super) fn touch(&self, index: u64, project: Option<&ProjectName>, now: SystemTime) {
        let path = self.path(index, project);
        if let Ok(file) = Folder::read(&path) {
            self.dir.touch(&path);
            // Without it, the page counts as older than it is.
            let _ = file.set_modified(now);
        }
    }

    /// No index has such a number.
    fn facts_path(&self, project: &ProjectName) -> PathBuf {
        self.dir.path().join("facts").join(project.as_str())
    }

    /// What was learned of the files of a project.
    pub(super) fn load_facts(&self, project: &ProjectName) -> Facts {
        let read = || {
            let mut bytes = Vec::new();
            let path = self.facts_path(project);
            self.dir.touch(&path);
            fs::File::open(path).ok()?.take(MAX_FACTS).read_to_end(&mut bytes).ok()?;
            tightwire_json::from_slice(&bytes).ok()
        };
        read().unwrap_or_default()
    }

    /// Replaces what was learned.
    pub(super) fn store_facts(&self, project: &ProjectName, facts: &Facts) -> Result<(), Error> {
        let bytes =
            tightwire_json::to_vec(facts).map_err(|error| Error::storage(std::io::Error::other(error)))?;
        self.write(&self.facts_path(project), &bytes)
    }

    /// Forgets what was learned.
    pub(super) fn remove_facts(&self, project: &ProjectName) {
        // What is left of it is true all the same.
        let _ = self.delete(&self.facts_path(project));
    }

    /// Forgets all pages.
    pub(super) fn clear(&self) -> Result<(), Error> {
        self.dir.cleared();
        let folders = match fs::read_dir(self.dir.path()) {
            Ok(folders) => folders,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::storage(error)),
        };
        for folder in folders {
            fs::remove_dir_all(folder.map_err(Error::storage)?.path()).map_err(Error::storage)?;
        }
        Ok(())
    }

    /// Forgets a page.
    pub(super) fn remove(&self, index: u64, project: Option<&ProjectName>) -> Result<(), Error> {
        self.delete(&self.path(index, project))
    }
}
