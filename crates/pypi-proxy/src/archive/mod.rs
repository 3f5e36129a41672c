//! Export and import of a cache as one file, for machines without a network.
//!
//! An archive is a tar file, optionally compressed with zstd. Its first entry is a manifest in JSON with the SHA-256
//! and size of every other entry, and its name contains the SHA-256 of the manifest. Names are hashes, and owners, modes
//! and times are constant, so equal contents result in equal archives.
//!
//! Pages belong to an index, which is identified by its URL without credentials, query and fragment.
//! [`Proxy::import`](crate::serve::Proxy::import) stores pages for the index of the same URL, or for another one if
//! [`ImportOptions::indexes`] maps it. Files belong to their hashes. Files whose page has no SHA-256 belong to the index and
//! the URL on the page as well, and are bound to those of the importing proxy.

mod export;
mod import;
mod manifest;
mod stream;
mod tar;

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use crate::error::Kind;
use crate::store::Digest;
use crate::{Error, ProjectName};

#[doc(hidden)]
pub use stream::{check_archive, entry, with_manifest};

/// Contents of an archive that [`Proxy::export`](crate::serve::Proxy::export) writes.
#[derive(Clone, Default)]
pub struct ExportOptions<'o> {
    /// Projects whose pages and files are exported. Default: all, and the lists of projects.
    pub projects: Option<Vec<ProjectName>>,
    /// Decides whether a file of a project is exported, by its name and its SHA-256 if known. Metadata and signatures
    /// are exported with their file. Default: all files.
    pub files: Option<&'o FileFilter<'o>>,
    /// Compresses the archive with zstd. Pages become smaller, files do not. Default: off.
    pub is_compressed: bool,
}

/// Selects files by project, file name and SHA-256.
pub type FileFilter<'f> = dyn Fn(&ProjectName, &str, Option<&Digest>) -> bool + Sync + 'f;

impl fmt::Debug for ExportOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExportOptions")
            .field("projects", &self.projects)
            .field("is_compressed", &self.is_compressed)
            .finish_non_exhaustive()
    }
}

/// Result of [`Proxy::export`](crate::serve::Proxy::export).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportReport {
    /// SHA-256 of the manifest, which identifies the contents.
    pub manifest: Digest,
    /// URLs of the indexes.
    pub indexes: Vec<String>,
    /// Number of pages.
    pub pages: u64,
    /// Number of different files, including metadata and signatures.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Files that [`ExportOptions::files`] selected, but that are not stored, with their projects.
    pub missing: Vec<(ProjectName, String)>,
}

/// Options of [`Proxy::import`](crate::serve::Proxy::import).
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Indexes of the proxy for indexes in the archive, by URL. Default: the ones with the same URL.
    pub indexes: BTreeMap<String, String>,
    /// Fails before anything is stored if the files would exceed this size of the cache. Default: no limit.
    pub max_bytes: Option<u64>,
}

/// Result of [`Proxy::import`](crate::serve::Proxy::import).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// SHA-256 of the manifest, which identifies the contents.
    pub manifest: Digest,
    /// Number of imported pages.
    pub pages: u64,
    /// Number of pages that were not imported, because the cache has the same or a newer one.
    pub kept_pages: u64,
    /// Number of imported files, including metadata and signatures.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Number of files that were stored already.
    pub stored_files: u64,
    /// Number of files that the cache has now, but that no page leads to, because the cache has a newer page without a
    /// SHA-256 of them.
    pub unbound_files: u64,
    /// Size of the cache after the import, in bytes.
    pub cache_bytes: u64,
}

#[cold]
fn damaged(what: impl Into<Box<str>>) -> Error {
    Error::with(Kind::Archive, what)
}

#[cold]
fn unwritten(error: io::Error) -> Error {
    Error::with(Kind::Archive, "can't be written").caused_by(error)
}
