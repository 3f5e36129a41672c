//! The manifest of an archive: what its entries are, with their hashes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::damaged;
use crate::error::Kind;
use crate::name::is_file_name;
use crate::page_cache::is_document;
use crate::store::Digest;
use crate::{Error, ProjectName, upstream};

const FORMAT: &str = "pypi-proxy archive";
const VERSION: u32 = 1;

/// The first entry of an archive. All lists are sorted and have no duplicates.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: String,
    version: u32,
    /// URLs of the indexes, without credentials. Pages refer to them by number.
    pub(super) indexes: Vec<String>,
    pub(super) documents: Vec<DocumentEntry>,
    pub(super) facts: Vec<FactsEntry>,
    pub(super) files: Vec<FileEntry>,
    pub(super) pages: Vec<PageEntry>,
}

/// A document of a project besides its page, such as the provenance of a file, as in the cache.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentEntry {
    pub(super) index: usize,
    pub(super) project: String,
    /// File name in the cache: `PROJECT@` and 32 hexadecimal digits.
    pub(super) name: String,
    /// When the index last confirmed the document, in seconds since 1970.
    pub(super) checked: u64,
    pub(super) sha256: String,
    pub(super) size: u64,
}

/// Facts about the files of a project.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactsEntry {
    pub(super) project: String,
    pub(super) sha256: String,
    pub(super) size: u64,
}

/// A file, or the metadata or signature of one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileEntry {
    pub(super) project: String,
    pub(super) name: String,
    pub(super) sha256: String,
    pub(super) size: u64,
}

/// A page as the index sent it. Without a project, the list of all projects.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageEntry {
    pub(super) index: usize,
    pub(super) project: Option<String>,
    pub(super) is_json: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_redirected: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<String>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) serial: Option<u64>,
    /// When the index last confirmed the page, in seconds since 1970.
    pub(super) checked: u64,
    pub(super) modified: u64,
    pub(super) sha256: String,
    pub(super) size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlobKind {
    Document,
    Facts,
    File,
    Page,
}

/// Content of an entry of the archive. Formatted as the name of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Blob {
    pub(super) kind: BlobKind,
    pub(super) digest: Digest,
}

impl fmt::Display for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = match self.kind {
            BlobKind::Document => "documents",
            BlobKind::Facts => "facts",
            BlobKind::File => "files",
            BlobKind::Page => "pages",
        };
        write!(f, "{folder}/{}", self.digest)
    }
}

/// Maximum sizes of the contents, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) facts: u64,
    pub(super) file: u64,
    pub(super) page: u64,
}

impl Limits {
    pub(super) fn of(self, kind: BlobKind) -> u64 {
        match kind {
            BlobKind::Facts => self.facts,
            BlobKind::File => self.file,
            // Compression does not make a document much larger.
            BlobKind::Page | BlobKind::Document => self.page,
        }
    }
}

/// The part that is the same in all versions.
#[derive(Deserialize)]
struct Version {
    format: String,
    version: u32,
}

impl Manifest {
    pub(super) fn new(indexes: Vec<String>) -> Self {
        let (documents, facts, files, pages) = Default::default();
        Self { format: FORMAT.into(), version: VERSION, indexes, documents, facts, files, pages }
    }

    pub(super) fn to_json(&self) -> Result<Vec<u8>, Error> {
        tightwire_json::to_vec(self)
            .map_err(|error| damaged("the manifest can't be written").caused_by(error))
    }

    /// Parses and checks a manifest.
    pub(super) fn parse(json: &[u8]) -> Result<Self, Error> {
        let malformed = |error: tightwire_json::Error| damaged("malformed manifest").caused_by(error);
        let Version { format, version } = tightwire_json::from_slice(json).map_err(malformed)?;
        if format != FORMAT {
            return Err(damaged("it was not written by pypi-proxy export"));
        }
        if version != VERSION {
            let text = format!("its format version is {version}, but this program reads version {VERSION}");
            return Err(damaged(text));
        }
        let manifest: Self = tightwire_json::from_slice(json).map_err(malformed)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), Error> {
        for url in &self.indexes {
            let config = upstream::Config::new(url).ok();
            if config.is_none_or(|config| config.url.as_str() != url) {
                return Err(damaged("invalid URL of an index"));
            }
        }
        let sorted = self.facts.is_sorted_by(|a, b| a.project < b.project)
            && self.files.is_sorted_by(|a, b| (&a.project, &a.name) < (&b.project, &b.name))
            && self.documents.is_sorted_by(|a, b| (a.index, &a.name) < (b.index, &b.name))
            && self.pages.is_sorted_by(|a, b| (a.index, &a.project) < (b.index, &b.project));
        if !sorted {
            return Err(damaged("the manifest has duplicate or unsorted entries"));
        }
        let mut projects = self.facts.iter().map(|entry| &entry.project).chain(
            self.files.iter().map(|entry| &entry.project).chain(
                self.documents
                    .iter()
                    .map(|entry| &entry.project)
                    .chain(self.pages.iter().filter_map(|entry| entry.project.as_ref())),
            ),
        );
        let is_normal = |name: &String| ProjectName::parse(name).is_ok_and(|parsed| parsed.as_str() == name);
        if !projects.all(is_normal) {
            return Err(damaged("invalid name of a project"));
        }
        if !self.files.iter().all(|entry| is_file_name(&entry.name)) {
            return Err(damaged("invalid name of a file"));
        }
        // All projects are valid.
        let is_document = |entry: &DocumentEntry| {
            ProjectName::parse(&entry.project).is_ok_and(|project| is_document(&entry.name, &project))
        };
        if !self.documents.iter().all(is_document) {
            return Err(damaged("invalid name of a document"));
        }
        let mut indexes =
            self.pages.iter().map(|entry| entry.index).chain(self.documents.iter().map(|entry| entry.index));
        if !indexes.all(|index| index < self.indexes.len()) {
            return Err(damaged("a page of an unknown index"));
        }
        Ok(())
    }

    /// Returns the contents in the order of the archive, with their sizes.
    pub(super) fn blobs(&self) -> Result<BTreeMap<Blob, u64>, Error> {
        let documents = self.documents.iter().map(|entry| (BlobKind::Document, &entry.sha256, entry.size));
        let facts = self.facts.iter().map(|entry| (BlobKind::Facts, &entry.sha256, entry.size));
        let files = self.files.iter().map(|entry| (BlobKind::File, &entry.sha256, entry.size));
        let pages = self.pages.iter().map(|entry| (BlobKind::Page, &entry.sha256, entry.size));
        let mut blobs = BTreeMap::new();
        for (kind, sha256, size) in documents.chain(facts).chain(files).chain(pages) {
            let blob = Blob { kind, digest: parse_digest(sha256)? };
            if blobs.insert(blob, size).is_some_and(|other| other != size) {
                return Err(damaged(format!("{blob} has two sizes")));
            }
        }
        Ok(blobs)
    }

    pub(super) fn check_sizes(&self, limits: Limits) -> Result<(), Error> {
        for (blob, size) in self.blobs()? {
            let max = limits.of(blob.kind);
            if size > max {
                let setting = match blob.kind {
                    BlobKind::File => " (set max_file_size)",
                    BlobKind::Page | BlobKind::Document => " (set max_page_size)",
                    BlobKind::Facts => "",
                };
                let text = format!("{blob} in the archive has {size} bytes; the maximum is {max}{setting}");
                return Err(Error::with(Kind::Limit, text));
            }
        }
        Ok(())
    }
}

pub(super) fn parse_digest(text: &str) -> Result<Digest, Error> {
    // Only one spelling, so that the archive is the same if written again.
    let digest = text.parse::<Digest>().ok().filter(|digest| digest.to_string() == text);
    digest.ok_or_else(|| damaged("invalid SHA-256 in the manifest"))
}

pub(super) fn parse_project(text: &str) -> Result<ProjectName, Error> {
    ProjectName::parse(text).map_err(|_| damaged("invalid name of a project"))
}
