//! Everything that the proxy caches: documents of indexes, and files. Each has one key for memory, disk, bucket and index.

use std::borrow::Cow;
use std::fmt;

use aws_lc_rs::digest::{Context, SHA256};
use url::Url;

use crate::ProjectName;
use crate::digest::Digest;
use crate::upstream::Upstream;

/// Name of the project list on disk and in the bucket. Project names do not start with `@`.
pub(crate) const LIST: &str = "@list";
/// Maximum bytes of the provenance of a file. That of a file with one attestation has about 10 KiB.
pub(crate) const MAX_PROVENANCE: u64 = 4 << 20;

/// A document of an index, or a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Resource {
    /// List of all projects.
    List,
    /// Page of a project.
    Page(ProjectName),
    /// Description of a project in the JSON API, or of one of its versions.
    Json(ProjectName, Option<Box<str>>),
    /// Attestations of a file.
    Provenance(Box<FileId>),
    /// A file, which all indexes share.
    File(Key),
}

/// Identifies a file in the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// SHA-256 of the file, as listed on its page.
    Digest(Digest),
    /// For files whose page has no SHA-256.
    Reference(Reference),
}

/// A file whose page has no SHA-256: its project, its name, and the origin that its content is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    pub(crate) project: ProjectName,
    pub(crate) file: Box<str>,
    /// SHA-256 of the project, the file name and the origin.
    pub(crate) origin: Digest,
}

impl Reference {
    /// Creates a reference to a file of a project. `origin` is everything that distinguishes it from other files of
    /// that name: the URLs of the index and of the file, and the hashes on the page.
    ///
    /// ```
    /// use pypi_proxy::ProjectName;
    /// use pypi_proxy::store::Reference;
    ///
    /// let six = ProjectName::parse("six")?;
    /// let of = |index| Reference::new(six.clone(), "six-1.0.whl", &[index, "https://files.example.org/six-1.0.whl"]);
    /// assert_ne!(of("https://a.example.org/simple/"), of("https://b.example.org/simple/"));
    /// # Ok::<(), pypi_proxy::Error>(())
    /// ```
    pub fn new(project: ProjectName, file: &str, origin: &[&str]) -> Self {
        let mut hash = Context::new(&SHA256);
        for part in [project.as_str(), file].iter().chain(origin) {
            // The lengths make the concatenation unambiguous.
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self { project, file: file.into(), origin: hash.finish().into() }
    }
}

/// Identity of a file with attestations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    pub(crate) project: ProjectName,
    pub(crate) name: Box<str>,
    /// SHA-256 of the file, if its page has one.
    pub(crate) sha256: Option<Digest>,
    /// Number of the index that has the file.
    pub(crate) index: usize,
    /// URL of the attestations.
    pub(crate) url: Url,
}

impl Resource {
    /// Returns the page of a project, or the project list for `None`.
    pub(crate) fn page(project: Option<&ProjectName>) -> Self {
        project.map_or(Self::List, |project| Self::Page(project.clone()))
    }

    /// Returns the project; `None` for the list of projects, and for a file of which only the hash is known.
    pub(crate) fn project(&self) -> Option<&ProjectName> {
        match self {
            Self::List | Self::File(Key::Digest(_)) => None,
            Self::File(Key::Reference(reference)) => Some(&reference.project),
            Self::Page(project) | Self::Json(project, _) => Some(project),
            Self::Provenance(file) => Some(&file.project),
        }
    }

    /// Returns whether it is the page of a project or the project list.
    pub(crate) fn is_page(&self) -> bool {
        matches!(self, Self::List | Self::Page(_))
    }

    /// Returns whether an index may have it.
    pub(crate) fn is_offered(&self, number: usize, upstream: &Upstream) -> bool {
        match self {
            Self::List | Self::Page(_) | Self::File(_) => true,
            Self::Json(..) => upstream.json_api().is_some(),
            Self::Provenance(file) => file.index == number,
        }
    }

    /// Returns the URL of a document at an index, or `None` if the index has no JSON API. The URL of a file is on its page.
    pub(crate) fn url(&self, upstream: &Upstream) -> Option<Url> {
        match self {
            Self::List | Self::Page(_) => Some(upstream.page_url(self.project())),
            Self::Json(project, version) => upstream.json_url(project, version.as_deref()),
            Self::Provenance(file) => Some(file.url.clone()),
            Self::File(_) => None,
        }
    }

    /// Returns the maximum size at an index, in bytes.
    pub(crate) fn max_len(&self, upstream: &Upstream) -> u64 {
        match self {
            Self::Provenance(_) => upstream.max_page().min(MAX_PROVENANCE),
            _ => upstream.max_page(),
        }
    }

    /// Returns the bytes of all texts.
    pub(crate) fn text_len(&self) -> usize {
        let text = match self {
            Self::Json(_, Some(version)) => version.len(),
            Self::Provenance(file) => file.name.len() + file.url.as_str().len(),
            _ => 0,
        };
        self.project().map_or(0, |project| project.as_str().len() + text)
    }

    /// Returns the name of its file on disk and in the bucket, and of its lease. Project names contain no `@`.
    pub(crate) fn entry(&self) -> Cow<'_, str> {
        let (project, identity) = match self {
            Self::List => return Cow::Borrowed(LIST),
            Self::Page(project) => return Cow::Borrowed(project.as_str()),
            Self::Json(project, None) => (project, "json".to_owned()),
            Self::Json(project, Some(version)) => (project, format!("json {version}")),
            Self::Provenance(file) => (&file.project, format!("provenance {} {}", file.name, file.url)),
            Self::File(Key::Digest(digest)) => return Cow::Owned(digest.to_string()),
            Self::File(Key::Reference(reference)) => return Cow::Owned(reference.origin.to_string()),
        };
        Cow::Owned(format!("{project}@{:032x}", xxhash_rust::xxh3::xxh3_128(identity.as_bytes())))
    }
}

/// Describes the resource for logs and the status page.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("list of projects"),
            Self::Page(project) => write!(f, "{project}"),
            Self::Json(project, _) => write!(f, "{project} (JSON API)"),
            Self::Provenance(file) => write!(f, "{} (provenance)", file.project),
            Self::File(Key::Digest(digest)) => write!(f, "{digest}"),
            Self::File(Key::Reference(Reference { project, file, .. })) => write!(f, "{project}/{file}"),
        }
    }
}
