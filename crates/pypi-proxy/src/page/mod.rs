//! Pages of a package index: parsing them as an upstream sends them, and writing them for clients.

mod evidence;
#[cfg(feature = "proxy")]
mod facts;
mod file;
#[cfg(feature = "proxy")]
mod filter;
mod html;
mod json;
mod links;
mod list;
mod locations;
mod render;
mod scan;

use std::fmt;
use std::sync::OnceLock;

use bytes::Bytes;
use file::FileRecord;

pub use file::{Details, File, Metadata};
pub use list::ProjectList;

#[cfg(feature = "proxy")]
pub(crate) use facts::{FileFacts, ProjectFacts};
#[cfg(feature = "proxy")]
pub(crate) use links::Links;

/// Version of the simple repository API that a page uses. The major version is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    /// Minor version.
    pub minor: u8,
}

impl ApiVersion {
    /// 1.0, the first version.
    pub const MIN: Self = Self { minor: 0 };
    /// 1.4, the newest supported version. Pages of newer versions are passed on as version 1.4.
    pub const MAX: Self = Self { minor: 4 };
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

/// Status of a project at its index (PEP 792).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProjectStatus {
    /// Active, or a status that is not known.
    #[default]
    Active,
    /// No new releases are expected.
    Archived,
    /// Considered unsafe; the index offers no files.
    Quarantined,
    /// Obsolete, possibly superseded by another project.
    Deprecated,
}

impl ProjectStatus {
    fn parse(text: &str) -> Self {
        let statuses = [Self::Archived, Self::Quarantined, Self::Deprecated];
        statuses.into_iter().find(|status| status.name() == text).unwrap_or_default()
    }

    /// Name on index pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Quarantined => "quarantined",
            Self::Deprecated => "deprecated",
        }
    }
}

/// From this number of files on, files are searched in an index sorted by name.
const SORTED_SEARCH_MIN: usize = 32;

/// A project's page as parsed from an upstream: the files and their fields.
///
/// All fields of the upstream, known or unknown, are passed on unchanged, except for the URLs of the files and of their
/// provenance. They are replaced by links that are relative to the page, so that clients download from the proxy: the
/// bare file name, or the path of the file at the upstream ([`Page::from_json_at`]), and the file name with `.provenance`
/// appended. [`File::url`] and [`File::provenance`] return the URLs of the upstream.
///
/// ```
/// use pypi_proxy::Page;
///
/// let upstream = br#"{"meta": {"api-version": "1.1"}, "name": "six", "files": [{"filename": "six-1.16.0.tar.gz",
///     "url": "https://files.example.org/ab/cd/six-1.16.0.tar.gz", "hashes": {}, "size": 34041, "x-own": [1]}]}"#;
/// let page = Page::from_json(upstream.to_vec())?;
/// let file = page.file("six-1.16.0.tar.gz").unwrap();
/// assert_eq!(file.url(), "https://files.example.org/ab/cd/six-1.16.0.tar.gz");
/// assert_eq!(file.details().size, Some(34041));
///
/// let json = String::from_utf8_lossy(page.json());
/// assert!(json.contains(r#""url": "six-1.16.0.tar.gz""#));
/// assert!(json.contains(r#""x-own": [1]"#));
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[derive(Clone)]
pub struct Page {
    api_version: ApiVersion,
    serial: Option<u64>,
    status: ProjectStatus,
    /// Other fields of `meta`, each with a leading comma.
    meta: Vec<u8>,
    /// Other fields of the page, each with a leading comma.
    other_fields: Vec<u8>,
    name: String,
    /// Items of the array `versions`, unchanged.
    versions: Option<Vec<u8>>,
    files: Vec<FileRecord>,
    /// Document for clients.
    json: Bytes,
    /// Names and URLs of the files and their provenance.
    texts: String,
    skipped: usize,
    /// Indexes of the files sorted by name. Created by the first search if there are at least [`SORTED_SEARCH_MIN`]
    /// files.
    sorted: OnceLock<Box<[u32]>>,
}

impl Page {
    /// API version of the page.
    pub fn api_version(&self) -> ApiVersion {
        self.api_version
    }

    /// Serial number of the page, if the upstream sends one. A lower number than before comes from an outdated copy.
    pub fn last_serial(&self) -> Option<u64> {
        self.serial
    }

    /// Sets the serial number unless the page contains one.
    #[cfg(feature = "proxy")]
    pub(crate) fn with_serial(mut self, serial: Option<u64>) -> Self {
        self.serial = self.serial.or(serial);
        self
    }

    /// Project name: normalized if the page was parsed for a project ([`Page::from_json_at`]), otherwise as spelled by
    /// the upstream. Empty if the page has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Status of the project.
    pub fn project_status(&self) -> ProjectStatus {
        self.status
    }

    /// Returns the files in the order of the upstream.
    pub fn files(&self) -> impl ExactSizeIterator<Item = File<'_>> {
        self.files.iter().map(|record| File { page: self, record })
    }

    /// Returns the file with this name; the first if there are several.
    pub fn file(&self, name: &str) -> Option<File<'_>> {
        if self.files.len() < SORTED_SEARCH_MIN {
            return self.files().find(|file| file.name() == name);
        }
        let file = |index: u32| File { page: self, record: &self.files[index as usize] };
        let sorted = self.sorted.get_or_init(|| {
            // Fits: each file takes more than one byte of a document of less than 4 GiB.
            let mut sorted: Box<[u32]> = (0..u32::try_from(self.files.len()).unwrap_or(u32::MAX)).collect();
            sorted.sort_by_key(|index| file(*index).name());
            sorted
        });
        let at = sorted.partition_point(|index| file(*index).name() < name);
        let found = file(*sorted.get(at)?);
        (found.name() == name).then_some(found)
    }

    /// Returns the names and URLs of all files and their provenance as one string, to detect changes.
    #[cfg(feature = "proxy")]
    pub(crate) fn locations(&self) -> &str {
        &self.texts
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn size_in_memory(&self) -> usize {
        let records = self.files.len() * (size_of::<FileRecord>() + size_of::<u32>());
        self.json.len()
            + self.texts.len()
            + self.meta.len()
            + self.other_fields.len()
            + records
            + size_of::<Self>()
    }

    /// Number of files that are left out because of an invalid name or URL.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

/// Shows the number of files instead of the files.
impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("name", &self.name)
            .field("api_version", &self.api_version)
            .field("last_serial", &self.serial)
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}
