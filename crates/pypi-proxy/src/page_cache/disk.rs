//! Index pages on disk.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::page::ProjectFacts;
use crate::resource::{LIST, MAX_PROVENANCE, Resource};
use crate::store::{CacheDir, Digest, PagesDir};
use crate::upstream::{PageBody, Reservation, Upstream, Validators};
use crate::{Error, ProjectName, sys};

/// Version of the file format. Files of another version are ignored.
const VERSION: u32 = 1;

/// Maximum size of the facts of a project, in bytes.
pub(crate) const MAX_FACTS: u64 = 16 << 20;

/// Maximum size of the header of a page, in bytes.
const MAX_HEADER: u64 = 1 << 20;

/// Suffix of files that would have the name of a device. No name of a resource ends with it.
const DEVICE: &str = "@";

/// A folder with one file per page and upstream: a header line in JSON, then the page as received, compressed with
/// zstd.
#[derive(Clone, Debug)]
pub(crate) struct DiskCache {
    dir: PagesDir,
    /// Folder of the facts. Named indexes have own ones: their files of the same name may be different ones.
    facts: String,
}

/// First line of a file.
#[derive(Serialize, Deserialize)]
struct StoredHeader {
    version: u32,
    etag: Option<String>,
    last_modified: Option<String>,
    serial: Option<u64>,
    is_json: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_redirected: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// When the upstream last confirmed the page, in seconds since 1970.
    checked: u64,
    modified: u64,
    len: u64,
    /// File whose provenance it is, and its SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl StoredHeader {
    fn validators(&self) -> Validators {
        Validators { etag: self.etag.clone(), last_modified: self.last_modified.clone() }
    }
}

/// A page read from disk or bucket.
pub(crate) struct StoredPage {
    pub(crate) body: PageBody,
    /// When the upstream last confirmed the page.
    pub(crate) checked: SystemTime,
    pub(crate) modified: SystemTime,
}

impl DiskCache {
    pub(super) fn new(dir: PagesDir, name: Option<&str>) -> Self {
        Self { dir, facts: name.map_or_else(|| "facts".into(), |name| format!("facts@{name}")) }
    }

    /// Reads the compressed file of a page, and the time of its last confirmation. Returns `None` if there is none or
    /// it can't be read, because the page can always be fetched again.
    pub(super) fn open(&self, index: u64, name: &str) -> Option<(Vec<u8>, SystemTime)> {
        let mut file = self.dir.open(&entry(index, name))?;
        // `touch` sets the modification time when the upstream confirms the page.
        let touched = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some((bytes, touched))
    }

    /// Reads a page or document of an upstream. Returns its compressed file as well.
    pub(crate) fn load(&self, upstream: &Upstream, name: &str) -> Option<(Vec<u8>, StoredPage)> {
        let (file, touched) = self.open(upstream.id(), name)?;
        let page = Self::read(&file, upstream.max_page(), touched, upstream.budget().reserve())?;
        Some((file, page))
    }

    /// Returns the decompressed size of the page in a document.
    pub(super) fn page_len(document: &[u8]) -> Option<u64> {
        Self::header(document).map(|(header, _)| header.len)
    }

    /// Parses the header. Returns it with the offset of the page.
    fn header(document: &[u8]) -> Option<(StoredHeader, usize)> {
        let end = memchr::memchr(b'\n', document)?;
        let header: StoredHeader = tightwire_json::from_slice(&document[..end]).ok()?;
        (header.version == VERSION).then_some((header, end + 1))
    }

    /// Returns the serial, if the upstream sends one, and the time of the last confirmation, to compare the age of
    /// documents.
    pub(super) fn age(document: &[u8]) -> Option<(Option<u64>, u64)> {
        Self::header(document).map(|(header, _)| (header.serial, header.checked))
    }

    /// Decodes a document whose page has at most `max_page` bytes. The page was last confirmed at `touched` or at the
    /// time in the header, whichever is later. `reservation` has reserved the memory for the page.
    pub(super) fn read(
        bytes: &[u8],
        max_page: u64,
        touched: SystemTime,
        reservation: Reservation,
    ) -> Option<StoredPage> {
        let (header, start) = Self::header(bytes)?;
        let page = Self::page(&header, &bytes[start..], max_page)?;
        let validators = header.validators();
        let body = PageBody {
            bytes: page,
            is_json: header.is_json,
            has_page_type: true,
            is_redirected: header.is_redirected,
            base: header.base.and_then(|base| base.parse().ok()).map(Box::new),
            validators,
            serial: header.serial,
            reservation,
        };
        let time = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let checked = time(header.checked).max(touched);
        Some(StoredPage { body, checked, modified: time(header.modified) })
    }

    /// Decompresses a page of at most `max` bytes.
    fn page(header: &StoredHeader, compressed: &[u8], max: u64) -> Option<Vec<u8>> {
        if header.len > max {
            return None;
        }
        let mut page = Vec::new();
        let mut decoder = zstd::Decoder::new(compressed).ok()?;
        decoder.by_ref().take(header.len.saturating_add(1)).read_to_end(&mut page).ok()?;
        (page.len() as u64 == header.len).then_some(page)
    }

    /// Encodes a page with its header.
    pub(super) fn document(
        body: &PageBody,
        resource: &Resource,
        checked: SystemTime,
        modified: SystemTime,
    ) -> Result<Vec<u8>, Error> {
        let (file, sha256) = match resource {
            Resource::Provenance(file) => (Some(file.name.to_string()), file.sha256),
            _ => (None, None),
        };
        let header = StoredHeader {
            version: VERSION,
            etag: body.validators.etag.clone(),
            last_modified: body.validators.last_modified.clone(),
            serial: body.serial,
            is_json: body.is_json,
            is_redirected: body.is_redirected,
            base: body.base.as_ref().map(ToString::to_string),
            checked: unix_seconds(checked),
            modified: unix_seconds(modified),
            len: body.bytes.len() as u64,
            file,
            sha256: sha256.map(|sha256| sha256.to_string()),
        };
        let mut document = to_json(&header)?;
        document.push(b'\n');
        document.extend_from_slice(&zstd::bulk::compress(&body.bytes, 1).map_err(Error::storage)?);
        Ok(document)
    }

    /// Stores an imported page that the upstream last confirmed at this time. Refreshes in flight no longer store theirs.
    pub(super) fn import(
        &self,
        index: u64,
        name: &str,
        document: &[u8],
        checked: SystemTime,
    ) -> Result<(), Error> {
        let entry = entry(index, name);
        self.dir.record_purge(Some(&entry));
        self.dir.write(&entry, document, Some(checked))
    }

    /// Returns the number of purges so far of a page, for [`Self::store`].
    pub(super) fn purges(&self, index: u64, name: &str) -> u64 {
        self.dir.purges(&entry(index, name))
    }

    /// Stores a page that the upstream last confirmed at this time, unless it was purged after this number of purges, or
    /// another refresh has stored a newer one: with other settings, or of another named index.
    pub(super) fn store(
        &self,
        index: u64,
        name: &str,
        document: &[u8],
        checked: SystemTime,
        purges: u64,
    ) -> Result<(), Error> {
        self.dir.write_newer(&entry(index, name), document, checked, purges)
    }

    /// Returns the projects with a page of an upstream, and `None` for the list of projects.
    pub(crate) fn projects(&self, index: u64) -> Vec<Option<ProjectName>> {
        let parse = |name: String| match name.strip_suffix(DEVICE).unwrap_or(&name) {
            LIST => Some(None),
            name => ProjectName::parse(name).ok().filter(|project| project.as_str() == name).map(Some),
        };
        self.dir.names(&folder(index)).into_iter().filter_map(parse).collect()
    }

    /// Returns the names of the documents of a project besides its page: `PROJECT@` and an identifier.
    pub(crate) fn documents(&self, index: u64, project: &ProjectName) -> Vec<String> {
        let names = self.dir.names(&folder(index)).into_iter();
        names.filter(|name| is_document(name, project)).collect()
    }

    /// Records that the upstream has confirmed the page with these validators. Returns false if the page was evicted from the
    /// disk, or an older one is there.
    pub(super) fn touch(&self, index: u64, name: &str, now: SystemTime, validators: &Validators) -> bool {
        let is_same = |file: &File| {
            let mut line = Vec::new();
            BufReader::new(file.take(MAX_HEADER)).read_until(b'\n', &mut line).is_ok()
                && Self::header(&line).is_some_and(|(header, _)| header.validators() == *validators)
        };
        self.dir.confirm(&entry(index, name), now, is_same)
    }

    /// Marks the copies of a page, and the facts of its project, as recently used.
    pub(super) fn record_use(&self, indexes: &[u64], resource: &Resource) {
        indexes.iter().for_each(|index| self.dir.touch(&entry(*index, &resource.entry())));
        resource.project().into_iter().for_each(|project| self.dir.touch(&self.facts_entry(project)));
    }

    /// Returns the entry of the facts of a project. The subfolders of upstreams are named by 16 hexadecimal digits, so
    /// `facts` can't collide with one.
    fn facts_entry(&self, project: &ProjectName) -> String {
        let end = if sys::is_device(project.as_str()) { DEVICE } else { "" };
        format!("{}/{project}{end}", self.facts)
    }

    /// Loads the facts about the files of a project; empty if there are none.
    pub(super) fn load_facts(&self, project: &ProjectName) -> ProjectFacts {
        let read = || {
            let mut bytes = Vec::new();
            self.dir.open(&self.facts_entry(project))?.take(MAX_FACTS).read_to_end(&mut bytes).ok()?;
            tightwire_json::from_slice(&bytes).ok()
        };
        read().unwrap_or_default()
    }

    pub(super) fn store_facts(&self, project: &ProjectName, facts: &ProjectFacts) -> Result<(), Error> {
        self.dir.write(&self.facts_entry(project), &to_json(facts)?, None)
    }

    /// Returns the facts of a project in JSON, if there are any.
    pub(crate) fn facts_json(&self, project: &ProjectName) -> Option<Vec<u8>> {
        let facts = self.load_facts(project);
        (facts != ProjectFacts::default()).then(|| to_json(&facts).ok())?
    }

    /// Stops refreshes in flight of a project, or of the project list, from storing what they began to request.
    pub(super) fn record_purge(&self, indexes: &[u64], project: Option<&ProjectName>) {
        let page = Resource::page(project);
        indexes.iter().for_each(|index| self.dir.record_purge(Some(&entry(*index, &page.entry()))));
    }

    /// Deletes the copies of the page of a project, its other documents and the facts about its files, or the copies of the
    /// project list.
    pub(super) fn purge(&self, indexes: &[u64], project: Option<&ProjectName>) -> Result<(), Error> {
        if let Some(project) = project {
            // Remaining facts are still true, because each is bound to a hash.
            let _ = self.dir.remove(&self.facts_entry(project));
        }
        self.record_purge(indexes, project);
        indexes.iter().try_for_each(|index| {
            let documents = project.map(|project| self.documents(*index, project)).unwrap_or_default();
            let page = Resource::page(project);
            let remove = |name: &str| self.dir.remove(&entry(*index, name));
            remove(&page.entry())?;
            documents.iter().try_for_each(|name| remove(name))
        })
    }

    /// Like [`Self::record_purge`], for all pages.
    pub(super) fn record_clear(&self) {
        self.dir.record_purge(None);
    }

    /// Deletes the pages and facts of all indexes.
    pub(super) fn clear(&self) -> Result<(), Error> {
        self.dir.clear()
    }

    /// Deletes the pages of these indexes and the facts about their files.
    pub(super) fn clear_indexes(&self, indexes: impl Iterator<Item = u64>) -> Result<(), Error> {
        self.record_clear();
        for folder in indexes.map(folder).chain([self.facts.clone()]) {
            for name in self.dir.names(&folder) {
                self.dir.remove(&format!("{folder}/{name}"))?;
            }
        }
        Ok(())
    }

    /// Deletes a page that the upstream did not have at this time, unless a newer one is there.
    pub(super) fn remove_older(&self, index: u64, name: &str, now: SystemTime) -> Result<(), Error> {
        self.dir.remove_older(&entry(index, name), now)
    }
}

/// Returns the subfolder of an upstream.
fn folder(index: u64) -> String {
    format!("{index:016x}")
}

/// Returns the entry of a page of an upstream. `name` is its file name: [`Resource::entry`].
fn entry(index: u64, name: &str) -> String {
    let mut entry = format!("{index:016x}/{name}");
    if sys::is_device(name) {
        entry += DEVICE;
    }
    entry
}

/// Provenance of a file, read from the folder of a cache.
pub(crate) struct StoredProvenance {
    /// Name of the file.
    pub(crate) file: String,
    /// SHA-256 of the file, if its page has one.
    pub(crate) sha256: Option<Digest>,
    /// Body of the document; `None` if it can't be read.
    pub(crate) document: Option<Vec<u8>>,
}

/// Reads all provenance in the folder of a cache.
pub(crate) fn stored_provenance(dir: &PagesDir) -> impl Iterator<Item = StoredProvenance> + use<> {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries(dir.path()).flat_map(move |folder| entries(&folder.path()));
    // Only the names of documents have a `@` after the name of a project.
    let is_document = |name: &str| name.find('@').is_some_and(|at| at > 0) && !name.starts_with('.');
    files.filter(move |file| file.file_name().to_str().is_some_and(is_document)).filter_map(|file| {
        let mut bytes = Vec::new();
        CacheDir::read(&file.path()).ok()?.read_to_end(&mut bytes).ok()?;
        let (header, start) = DiskCache::header(&bytes)?;
        let document = DiskCache::page(&header, &bytes[start..], MAX_PROVENANCE);
        let sha256 = header.sha256.and_then(|sha256| sha256.parse().ok());
        Some(StoredProvenance { file: header.file?, sha256, document })
    })
}

/// Returns whether this is the file name of a document of a project: `PROJECT@` and 32 hexadecimal digits.
pub(crate) fn is_document(name: &str, project: &ProjectName) -> bool {
    let id = name.strip_prefix(project.as_str()).and_then(|rest| rest.strip_prefix('@'));
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    id.is_some_and(|id| id.len() == 32 && id.bytes().all(is_digit))
}

/// Returns the full seconds since 1970.
pub(crate) fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    tightwire_json::to_vec(value).map_err(|error| Error::storage(std::io::Error::other(error)))
}
