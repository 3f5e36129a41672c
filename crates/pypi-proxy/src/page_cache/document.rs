//! Documents that are cached like pages: the JSON API of an index, and the provenance of files.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use url::Url;

use super::rendered::{AppliedRules, FilteredDocument, MergedContent};
use super::slot::Slot;
use super::{CachedPage, PageCache, RenderedPage};
use crate::error::Kind;
use crate::store::Digest;
use crate::upstream::Upstream;
use crate::{Error, ProjectName};

/// Maximum bytes of the provenance of a file. That of a file with one attestation has about 10 KiB.
pub(super) const MAX_PROVENANCE: u64 = 4 << 20;

/// A document of a project, besides its page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Document {
    /// Description of a project, or of one of its versions.
    Json { version: Option<Box<str>> },
    /// Attestations of a file.
    Provenance {
        file: Box<str>,
        /// SHA-256 of the file, if its page has one.
        sha256: Option<Digest>,
        /// Number of the index that has the file.
        index: usize,
        url: Url,
    },
}

/// Key of a document in memory.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct DocumentKey {
    pub(super) project: ProjectName,
    pub(super) document: Document,
}

/// Body of a document.
#[derive(Clone, Debug)]
pub(super) struct DocumentBody {
    pub(super) json: Bytes,
    pub(super) serial: Option<u64>,
}

impl DocumentBody {
    /// Checks that the body is JSON.
    pub(super) fn parse(bytes: Vec<u8>, serial: Option<u64>) -> Result<Self, Error> {
        match tightwire_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
            Ok(_) => Ok(Self { json: bytes.into(), serial }),
            Err(error) => Err(Error::with(Kind::Page, "a document that is not JSON").caused_by(error)),
        }
    }
}

impl Document {
    /// Returns whether an index may have the document.
    pub(super) fn is_offered(&self, number: usize, upstream: &Upstream) -> bool {
        match self {
            Self::Json { .. } => upstream.json_api().is_some(),
            Self::Provenance { index, .. } => *index == number,
        }
    }

    /// Returns the URL at an index, or `None` if the index does not offer such documents.
    pub(super) fn url(&self, project: &ProjectName, upstream: &Upstream) -> Option<Url> {
        match self {
            Self::Json { version } => upstream.json_url(project, version.as_deref()),
            Self::Provenance { url, .. } => Some(url.clone()),
        }
    }

    /// Returns the maximum size at an index, in bytes.
    pub(super) fn max_len(&self, upstream: &Upstream) -> u64 {
        match self {
            Self::Json { .. } => upstream.max_page(),
            Self::Provenance { .. } => upstream.max_page().min(MAX_PROVENANCE),
        }
    }

    /// Returns the bytes of all texts.
    pub(super) fn text_len(&self) -> usize {
        match self {
            Self::Json { version } => version.as_ref().map_or(0, |version| version.len()),
            Self::Provenance { file, url, .. } => file.len() + url.as_str().len(),
        }
    }

    /// Returns the name of the document's file. Project names contain no `@`.
    pub(super) fn entry(&self, project: &ProjectName) -> String {
        let identity = match self {
            Self::Json { version: None } => Cow::Borrowed("json"),
            Self::Json { version: Some(version) } => Cow::Owned(format!("json {version}")),
            Self::Provenance { file, url, .. } => Cow::Owned(format!("provenance {file} {url}")),
        };
        format!("{project}@{:032x}", xxhash_rust::xxh3::xxh3_128(identity.as_bytes()))
    }
}

impl PageCache {
    /// Returns the description of a project in the JSON API, or of one version. It comes from the first index that has
    /// it. If there are rules, files that the project's page does not list are removed.
    ///
    /// # Errors
    ///
    /// Same as [`Self::project`].
    pub(crate) async fn json(
        &self,
        project: &ProjectName,
        version: Option<&str>,
    ) -> Result<CachedPage, Error> {
        let page = if self.0.has_rules { Some(self.project(project).await?.page) } else { None };
        let cached = self.document(project, Document::Json { version: version.map(Box::from) }).await?;
        match page {
            None => Ok(cached),
            Some(page) => Ok(CachedPage { page: cached.page.only_listed(page).await?, ..cached }),
        }
    }

    fn document_slot(&self, key: DocumentKey) -> Arc<Slot> {
        let mut slots = self.0.slots.lock();
        if let Some(slot) = slots.documents.to_back(&key) {
            return slot.clone();
        }
        let slot = Arc::new(Slot::of_document(key.clone()));
        slots.documents.insert(key, slot.clone());
        slot
    }

    /// Returns a document.
    ///
    /// # Errors
    ///
    /// Same as [`Self::project`].
    pub(crate) async fn document(
        &self,
        project: &ProjectName,
        document: Document,
    ) -> Result<CachedPage, Error> {
        self.get(self.document_slot(DocumentKey { project: project.clone(), document })).await
    }
}

impl RenderedPage {
    /// Removes the files that are not on the project's page from a document of the JSON API. The result is remembered
    /// for the same page.
    async fn only_listed(self: &Arc<Self>, page: Arc<Self>) -> Result<Arc<Self>, Error> {
        let MergedContent::Document(body) = &self.content else { return Ok(self.clone()) };
        if let Some(filtered) = &*self.filtered.lock()
            && std::ptr::eq(filtered.page.as_ptr(), Arc::as_ptr(&page))
        {
            return Ok(filtered.document.clone().unwrap_or_else(|| self.clone()));
        }
        let (json, of, serial) = (body.json.clone(), Arc::downgrade(&page), body.serial);
        let modified = self.modified().max(page.modified());
        let work = move || {
            let json = crate::json_api::filtered(&json, |file| page.lists(file))?;
            let page = |json: Vec<u8>| {
                let content = MergedContent::Document(DocumentBody { json: json.into(), serial });
                Arc::new(Self::new(content, modified, AppliedRules::default()))
            };
            Ok(json.map(page))
        };
        let aborted = |_| Err(Error::with(Kind::Page, "filtering a document was aborted"));
        let document = tokio::task::spawn_blocking(work).await.unwrap_or_else(aborted)?;
        *self.filtered.lock() = Some(FilteredDocument { page: of, document: document.clone() });
        Ok(document.unwrap_or_else(|| self.clone()))
    }

    /// Returns whether the page for clients has a file of this name.
    fn lists(&self, file: &str) -> bool {
        match &self.content {
            MergedContent::Project { merged, .. } => merged.file(file).is_some(),
            MergedContent::List(_) | MergedContent::Document(_) => false,
        }
    }
}
