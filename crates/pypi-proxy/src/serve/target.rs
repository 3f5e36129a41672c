//! Files that clients can request, and where they come from.

use std::sync::Arc;

use url::Url;

use super::service::State;
use crate::error::Kind;
use crate::page::Metadata;
use crate::page_cache::CachedPage;
use crate::store::{Digest, Expected, FileSource, Key, Reference, Store};
use crate::upstream::{self, Upstream, Validators};
use crate::{Error, ProjectName};

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
        // Without a SHA-256, the identity is the index, the URL and the other hashes on the page.
        let key = sha256.map(Key::Digest).unwrap_or_else(|| {
            let index = upstream.page_url(None);
            let hashes = format!("{checksum:?} {:?} {:?}", details.sha256, details.checksum);
            Key::Reference(Reference::new(project.clone(), name, &[index.as_str(), url.as_str(), &hashes]))
        });
        let expected = Expected { sha256, checksum, size: details.size.filter(|_| is_listed) };
        Ok(Self { upstream, url, key, expected, wheel, is_listed })
    }

    /// Returns the SHA-256 of the file, from the page or from an earlier download of the same origin.
    pub(super) fn digest(&self, store: &Store) -> Option<Digest> {
        match &self.key {
            Key::Digest(digest) => Some(*digest),
            Key::Reference(reference) => store.lookup(reference),
        }
    }

    /// Returns whether the page has the hash of the file, but not its size.
    pub(super) fn needs_facts(&self) -> bool {
        self.is_listed && self.expected.sha256.is_some() && self.expected.size.is_none()
    }
}

pub(super) struct UpstreamSource {
    pub(super) upstream: Arc<Upstream>,
    pub(super) url: Url,
    pub(super) label: Arc<str>,
}

impl FileSource for UpstreamSource {
    fn label(&self) -> Option<Arc<str>> {
        Some(self.label.clone())
    }

    async fn open(&mut self, from: u64, validators: &Validators) -> Result<upstream::FileBody, Error> {
        self.upstream.file(&self.url, from, validators).await
    }
}
