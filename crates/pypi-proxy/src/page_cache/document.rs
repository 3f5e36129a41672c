//! Documents that are cached like pages: the JSON API of an index, and the provenance of files.

use std::sync::Arc;

use bytes::Bytes;

use super::rendered::{AppliedRules, FilteredDocument, MergedContent};
use super::slot::Slot;
use super::{CachedPage, PageCache, RenderedPage};
use crate::Error;
use crate::error::Kind;
use crate::resource::Resource;

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

impl PageCache {
    /// Returns a document. A description in the JSON API comes from the first index that has it; if there are rules, files
    /// that the project's page does not list are removed from it.
    ///
    /// # Errors
    ///
    /// Same as [`Self::project`].
    pub(crate) async fn resource(&self, resource: &Resource) -> Result<CachedPage, Error> {
        match resource {
            Resource::List => self.list().await,
            Resource::Page(project) => self.project(project).await,
            Resource::Json(project, _) if self.0.has_rules => {
                let page = self.project(project).await?.page;
                let cached = self.document(resource).await?;
                Ok(CachedPage { page: cached.page.only_listed(page).await?, ..cached })
            }
            Resource::Json(..) | Resource::Provenance(_) => self.document(resource).await,
        }
    }

    async fn document(&self, document: &Resource) -> Result<CachedPage, Error> {
        let slot = {
            let mut slots = self.0.slots.lock();
            match slots.documents.to_back(document) {
                Some(slot) => slot.clone(),
                None => {
                    let slot = Arc::new(Slot::new(document.clone()));
                    slots.documents.insert(document.clone(), slot.clone());
                    slot
                }
            }
        };
        self.get(slot).await
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
