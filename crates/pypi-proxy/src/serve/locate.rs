//! Files that clients can request, and where they come from.

use std::sync::Arc;

use url::Url;

use super::service::State;
use crate::error::Kind;
use crate::page::{Details, Metadata, Page};
use crate::page_cache::{CachedPage, RenderedPage};
use crate::store::{Digest, Expected, FileSource, Key, Reference};
use crate::upstream::{self, Upstream, Validators};
use crate::{Checksum, Error, ProjectName, file_name, index_path};

/// Result of the search for a file by its path at an index.
pub(super) enum Location {
    /// A page lists it.
    Listed {
        project: ProjectName,
        cached: CachedPage,
        /// Whether facts about the file are facts about the file of this name on the page of the project.
        has_facts: bool,
    },
    /// No page lists it.
    Unlisted(UnlistedProjects),
}

/// Projects that a file may belong to, whose pages do not list it.
pub(super) struct UnlistedProjects {
    /// The projects with their pages, if an upstream has them.
    pub(super) candidates: Vec<(ProjectName, Option<CachedPage>)>,
    /// Rule that forbids another such project.
    pub(super) refused: Option<Error>,
}

impl State {
    /// Searches for a file by its path at the index.
    ///
    /// The project is derived from the file name. If no page lists the path, the file of the same name on the page of
    /// the project is the file: indexes change hosts and paths, and file names are unique in an index.
    pub(super) async fn locate(&self, path: &str, name: &str) -> Result<Location, Error> {
        let base = file_name::base(name);
        let (mut candidates, mut refused) = (Vec::new(), None);
        for project in file_name::projects(base) {
            let Ok(project) = ProjectName::parse(project) else { continue };
            match self.pages.project(&project).await {
                Ok(cached) if cached.page.file(name).or_else(|| cached.page.file(base)).is_some() => {
                    let other = self.part_with(path, name, &project, &cached);
                    let has_facts = other.is_none();
                    return Ok(Location::Listed { project, cached: other.unwrap_or(cached), has_facts });
                }
                Ok(cached) => candidates.push((project, Some(cached))),
                Err(error) if error.violation().is_some() => refused = refused.or(Some(error)),
                Err(error) if error.is_not_found() => candidates.push((project, None)),
                Err(error) => return Err(error),
            }
        }
        Ok(Location::Unlisted(UnlistedProjects { candidates, refused }))
    }

    /// Returns the part of a merged page with this path, unless it is the first one with the file.
    fn part_with(
        &self,
        path: &str,
        name: &str,
        project: &ProjectName,
        cached: &CachedPage,
    ) -> Option<CachedPage> {
        // The usual case.
        if cached.page.parts().len() < 2 {
            return None;
        }
        let base = file_name::base(name);
        let is_path = |url: &str, index: usize, suffix: &str| {
            let url = self.upstreams.get(index).and_then(|upstream| upstream.resolve(project, url).ok());
            let paths = url.as_ref().map(Url::path).zip(path.strip_suffix(suffix));
            paths.is_some_and(|(listed, path)| index_path::decode(listed) == index_path::decode(path))
        };
        let parts = cached.page.parts().iter().filter_map(|part| match part.1.file(name) {
            Some(file) => Some((part, file.url(), "")),
            None => Some((part, part.1.file(base)?.url(), &name[base.len()..])),
        });
        let (at, (part, ..)) =
            parts.enumerate().find(|(_, (part, url, suffix))| is_path(url, part.0, suffix))?;
        let page = Arc::new(cached.page.only(part));
        (at > 0).then_some(CachedPage { page, status: cached.status })
    }
}

/// A file, metadata or signature that can be requested, and its origin.
pub(super) struct FileTarget {
    pub(super) upstream: Arc<Upstream>,
    pub(super) url: Url,
    pub(super) key: Key,
    pub(super) expected: Expected,
    /// The wheel that contains the metadata, if the upstream does not offer it separately. Then `url` is the wheel's
    /// URL.
    pub(super) wheel: Option<Wheel>,
    /// Whether the page lists the file itself. Metadata and signatures are not listed.
    pub(super) is_listed: bool,
}

pub(super) struct Wheel {
    pub(super) name: String,
    pub(super) sha256: Option<Digest>,
}

impl FileTarget {
    pub(super) fn of(
        cached: &CachedPage,
        project: &ProjectName,
        name: &str,
        proxy: &State,
    ) -> Result<Self, Error> {
        let missing = || Error::new(Kind::NotFound);
        let listed = cached.page.file(name);
        let is_listed = listed.is_some();
        let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let (index, file) = listed.or_else(|| cached.page.file(base)).ok_or_else(missing)?;
        let details = file.details();
        let mut wheel = None;
        let (sha256, checksum) = match (extension, details.metadata) {
            _ if is_listed => (details.sha256, details.checksum),
            ("metadata", Metadata::Present(sha256)) => (sha256, details.metadata_checksum),
            ("metadata", metadata @ (Metadata::Extracted(_) | Metadata::Unknown))
                if base.ends_with(".whl") && proxy.pages.extracts_metadata() =>
            {
                wheel = Some(Wheel { name: base.to_owned(), sha256: details.sha256.map(Digest) });
                (if let Metadata::Extracted(sha256) = metadata { Some(sha256) } else { None }, None)
            }
            ("asc", _) if details.has_signature != Some(false) => (None, None),
            _ => return Err(missing()),
        };
        let sha256 = sha256.map(Digest);
        let upstream = proxy.upstreams.get(index).ok_or_else(missing)?.clone();
        let mut url = upstream.resolve(project, file.url())?;
        if !is_listed && wheel.is_none() {
            let path = format!("{}.{extension}", url.path());
            url.set_path(&path);
        }
        let key = match sha256 {
            Some(digest) => Key::Digest(digest),
            None => reference(&upstream, project, name, &url, checksum, &details),
        };
        let expected = Expected { sha256, checksum, size: details.size.filter(|_| is_listed) };
        Ok(Self { upstream, url, key, expected, wheel, is_listed })
    }

    /// Returns the possible origins of a file that the page of its project does not list, by its path at the index: the
    /// host of the listed files if all have the same one, otherwise the host of the index.
    ///
    /// The path must be below the parent folder of the index, or, on another host, below the first folder of the listed
    /// files. Otherwise clients could read anything else that the host serves to this proxy.
    pub(super) fn unlisted(
        page: &RenderedPage,
        project: &ProjectName,
        name: &str,
        path: &str,
        proxy: &State,
    ) -> Result<Vec<Self>, Error> {
        let is_allowed = |index: &usize| proxy.pages.is_index_allowed(project, *index);
        let indexes: Vec<(usize, Option<(&str, &str)>)> = match page.parts() {
            [] => (0..proxy.upstreams.len()).filter(is_allowed).map(|index| (index, None)).collect(),
            parts => parts.iter().map(|(index, page)| (*index, file_host(page))).collect(),
        };
        let mut targets = Vec::new();
        for (index, host) in indexes {
            let Some(upstream) = proxy.upstreams.get(index).cloned() else { continue };
            let (host, listed) = host.unwrap_or_default();
            let url = upstream.resolve(project, &format!("{host}{path}"))?;
            let index = upstream.page_url(None);
            let folder = if url.origin() == index.origin() {
                let parent = index.path().trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
                &index.path()[..parent]
            } else {
                listed.find('/').map_or("", |at| &listed[..=at])
            };
            let is_below = path.trim_start_matches('/').starts_with(folder.trim_start_matches('/'));
            if url.path() == path && is_below {
                let key = reference(&upstream, project, name, &url, None, &Details::default());
                let expected = Expected::default();
                targets.push(Self { upstream, url, key, expected, wheel: None, is_listed: false });
            }
        }
        Ok(targets)
    }

    /// Returns whether the page has the hash of the file, but not its size.
    pub(super) fn needs_facts(&self) -> bool {
        self.is_listed && self.expected.sha256.is_some() && self.expected.size.is_none()
    }
}

/// Returns the identity of a file without a SHA-256: the index, the URL and the other hashes on the page.
fn reference(
    upstream: &Upstream,
    project: &ProjectName,
    name: &str,
    url: &Url,
    checksum: Option<Checksum>,
    details: &Details<'_>,
) -> Key {
    let index = upstream.page_url(None);
    let hashes = format!("{checksum:?} {:?} {:?}", details.sha256, details.checksum);
    Key::Reference(Reference::new(project.clone(), name, &[index.as_str(), url.as_str(), &hashes]))
}

/// Returns the scheme and host of the files on a page, and the path of the first one without its leading slash. Returns
/// `None` if a URL is relative or the hosts differ.
fn file_host(page: &Page) -> Option<(&str, &str)> {
    fn split(url: &str) -> Option<(&str, &str)> {
        let authority = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let at = url.len() - authority.len() + authority.find('/')?;
        Some((&url[..at], &url[at + 1..]))
    }
    let mut hosts = page.files().map(|file| split(file.url()));
    let first = hosts.next()??;
    hosts.all(|host| host.is_some_and(|(host, _)| host == first.0)).then_some(first)
}

pub(super) struct UpstreamSource {
    pub(super) upstream: Arc<Upstream>,
    pub(super) url: Url,
    pub(super) label: Arc<str>,
}

impl FileSource for UpstreamSource {
    fn origin(&self) -> Option<String> {
        Some(self.upstream.to_string())
    }

    fn label(&self) -> Option<Arc<str>> {
        Some(self.label.clone())
    }

    async fn open(&mut self, from: u64, validators: &Validators) -> Result<upstream::FileBody, Error> {
        self.upstream.file(&self.url, from, validators).await
    }
}
