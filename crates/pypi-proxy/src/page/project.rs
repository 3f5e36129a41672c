//! The page of a project.

use std::fmt;
use std::sync::OnceLock;

use bytes::Bytes;

use super::File;
use super::file::Record;

/// The version of the simple repository API that a page is written in. The major number is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    /// The minor number.
    pub minor: u8,
}

impl ApiVersion {
    /// 1.0, the first.
    pub const MIN: Self = Self { minor: 0 };
    /// 1.4, the newest that is known here. Pages of newer versions are passed on as pages of this one.
    pub const MAX: Self = Self { minor: 4 };
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

/// From so many files on, looking at all is slower than looking at a few.
const MANY: usize = 32;

/// The files of a project, from a page of an upstream.
///
/// What the upstream tells of a file is kept as it is, known or not; only its URL is replaced by the bare name, which is
/// relative to the page, so that clients come back here. [`File::url`] is the upstream's.
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
    pub(super) api_version: ApiVersion,
    pub(super) serial: Option<u64>,
    /// Members of `meta` that are not told by the fields above, each with a comma in front.
    pub(super) meta: Vec<u8>,
    /// The same of the page itself.
    pub(super) members: Vec<u8>,
    pub(super) name: String,
    /// The items of `versions`, as they came.
    pub(super) versions: Option<Vec<u8>>,
    pub(super) files: Vec<Record>,
    /// The document for clients.
    pub(super) json: Bytes,
    /// Names and URLs of the files.
    pub(super) texts: String,
    pub(super) skipped: usize,
    /// The files in the order of their names, once somebody has asked for one of many.
    pub(super) order: OnceLock<Box<[u32]>>,
}

impl Page {
    /// The version of the API that the page is written in.
    pub fn api_version(&self) -> ApiVersion {
        self.api_version
    }

    /// The number that the upstream counts its changes with, if it tells: one that goes backwards is from an old copy.
    pub fn last_serial(&self) -> Option<u64> {
        self.serial
    }

    /// The name as the upstream gives it; empty if it does not.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The files, in the order of the upstream.
    pub fn files(&self) -> impl ExactSizeIterator<Item = File<'_>> {
        self.files.iter().map(|record| File { page: self, record })
    }

    /// The file with this name; the first of several.
    pub fn file(&self, name: &str) -> Option<File<'_>> {
        if self.files.len() < MANY {
            return self.files().find(|file| file.name() == name);
        }
        let file = |index: u32| File { page: self, record: &self.files[index as usize] };
        let order = self.order.get_or_init(|| {
            // An object has more than one byte, and all are in a document of less than 4 GiB.
            let mut order: Box<[u32]> = (0..u32::try_from(self.files.len()).unwrap_or(u32::MAX)).collect();
            order.sort_by_key(|index| file(*index).name());
            order
        });
        let at = order.partition_point(|index| file(*index).name() < name);
        let found = file(*order.get(at)?);
        (found.name() == name).then_some(found)
    }

    /// Names and URLs of the files.
    #[cfg(feature = "proxy")]
    pub(crate) fn locations(&self) -> &str {
        &self.texts
    }

    /// Bytes in memory.
    #[cfg(feature = "proxy")]
    pub(crate) fn weight(&self) -> usize {
        let records = self.files.len() * (size_of::<Record>() + size_of::<u32>());
        self.json.len()
            + self.texts.len()
            + self.meta.len()
            + self.members.len()
            + records
            + size_of::<Self>()
    }

    /// How many files of the upstream are left out, because their names or URLs can't be used.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

/// Shows what it is about, not all of the files.
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
