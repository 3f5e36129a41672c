//! Documents that are cached like pages: the JSON API of an index, and the provenance of files.

use std::sync::Arc;

use bytes::Bytes;

use super::cache::slot_of;
use super::rendered::{FilteredDocument, Origin};
use super::{CachedPage, PageCache, RenderedPage};
use crate::error::Kind;
use crate::page::{Page, ProjectList};
use crate::resource::Resource;
use crate::{Error, ProjectName, system};

/// A parsed document, of one index or merged.
#[derive(Clone, Debug)]
pub(super) enum Document {
    Project(Arc<Page>),
    List(Arc<ProjectList>),
    /// Description in the JSON API, or provenance.
    Json {
        json: Bytes,
        serial: Option<u64>,
    },
}

impl Document {
    pub(super) fn json(&self) -> &Bytes {
        match self {
            Self::Project(page) => page.json(),
            Self::List(list) => list.json(),
            Self::Json { json, .. } => json,
        }
    }

    /// Returns the serial number, if the index sends one.
    pub(super) fn serial(&self) -> Option<u64> {
        match self {
            Self::Project(page) => page.last_serial(),
            Self::List(_) => None,
            Self::Json { serial, .. } => *serial,
        }
    }

    /// Returns the valid names of a project list.
    pub(super) fn names(&self) -> impl Iterator<Item = ProjectName> {
        let list = if let Self::List(list) = self { Some(list) } else { None };
        list.into_iter().flat_map(|list| list.names()).filter_map(|name| ProjectName::parse(name).ok())
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
            Resource::Page(project) => self.project(project).await,
            Resource::Json(project, _) if self.0.has_rules => {
                let page = self.project(project).await?.page;
                let cached = self.document(resource).await?;
                Ok(CachedPage { page: cached.page.only_listed(page).await?, ..cached })
            }
            _ => self.document(resource).await,
        }
    }

    pub(super) async fn document(&self, document: &Resource) -> Result<CachedPage, Error> {
        let slot = slot_of(&mut self.0.slots.lock().documents, document, || document.clone());
        self.get(slot).await
    }
}

impl RenderedPage {
    /// Removes the files that are not on the project's page from a document of the JSON API. The result is remembered
    /// for the same page.
    async fn only_listed(self: &Arc<Self>, page: Arc<Self>) -> Result<Arc<Self>, Error> {
        let Document::Json { json, serial } = &self.content else { return Ok(self.clone()) };
        if let Some(filtered) = &*self.filtered.lock()
            && std::ptr::eq(filtered.page.as_ptr(), Arc::as_ptr(&page))
        {
            return Ok(filtered.document.clone().unwrap_or_else(|| self.clone()));
        }
        let (json, of, serial) = (json.clone(), Arc::downgrade(&page), *serial);
        let modified = self.modified().max(page.modified());
        let work = move || {
            let json = crate::json_api::filtered(&json, |file| page.lists(file))?;
            let page = |json: Vec<u8>| {
                let content = Document::Json { json: json.into(), serial };
                Arc::new(Self::new(content, modified, Origin::default()))
            };
            Ok(json.map(page))
        };
        let aborted = |_| Err(Error::with(Kind::Page, "filtering a document was aborted"));
        let document = system::spawn_blocking(work).await.unwrap_or_else(aborted)?;
        *self.filtered.lock() = Some(FilteredDocument { page: of, document: document.clone() });
        Ok(document.unwrap_or_else(|| self.clone()))
    }

    /// Returns whether the page for clients has a file of this name.
    fn lists(&self, file: &str) -> bool {
        matches!(&self.content, Document::Project(page) if page.file(file).is_some())
    }
}
