//! Documents of indexes that the page cache keeps. Each has one key for memory, disk, bucket and index.

use std::borrow::Cow;
use std::fmt;

use url::Url;

use crate::ProjectName;
use crate::digest::Digest;
use crate::upstream::Upstream;

/// Name of the project list on disk and in the bucket. Project names do not start with `@`.
pub(crate) const LIST: &str = "@list";
/// Maximum bytes of the provenance of a file. That of a file with one attestation has about 10 KiB.
pub(crate) const MAX_PROVENANCE: u64 = 4 << 20;

/// A document of an index.
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

    pub(crate) fn project(&self) -> Option<&ProjectName> {
        match self {
            Self::List => None,
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
            Self::List | Self::Page(_) => true,
            Self::Json(..) => upstream.json_api().is_some(),
            Self::Provenance(file) => file.index == number,
        }
    }

    /// Returns the URL at an index, or `None` if the index has no JSON API.
    pub(crate) fn url(&self, upstream: &Upstream) -> Option<Url> {
        match self {
            Self::List | Self::Page(_) => Some(upstream.page_url(self.project())),
            Self::Json(project, version) => upstream.json_url(project, version.as_deref()),
            Self::Provenance(file) => Some(file.url.clone()),
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

    /// Returns the name of its file on disk and in the bucket. Project names contain no `@`.
    pub(crate) fn entry(&self) -> Cow<'_, str> {
        let (project, identity) = match self {
            Self::List => return Cow::Borrowed(LIST),
            Self::Page(project) => return Cow::Borrowed(project.as_str()),
            Self::Json(project, None) => (project, "json".to_owned()),
            Self::Json(project, Some(version)) => (project, format!("json {version}")),
            Self::Provenance(file) => (&file.project, format!("provenance {} {}", file.name, file.url)),
        };
        Cow::Owned(format!("{project}@{:032x}", xxhash_rust::xxh3::xxh3_128(identity.as_bytes())))
    }
}

/// Describes the document for logs and the status page.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("list of projects"),
            Self::Page(project) => write!(f, "{project}"),
            Self::Json(project, _) => write!(f, "{project} (JSON API)"),
            Self::Provenance(file) => write!(f, "{} (provenance)", file.project),
        }
    }
}
