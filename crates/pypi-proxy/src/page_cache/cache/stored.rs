//! Access to the pages on disk, for export and import of a cache.

use std::sync::Arc;
use std::time::SystemTime;

use super::PageCache;
use crate::error::Kind;
use crate::page::ProjectFacts;
use crate::page_cache::disk::{DiskCache, StoredPage, is_document, unix_seconds};
use crate::page_cache::merge::combine;
use crate::page_cache::slot::{Content, Slot, parse_body};
use crate::page_cache::{CacheStatus, CachedPage, Imported};
use crate::resource::Resource;
use crate::rules::Rules;
use crate::upstream::Upstream;
use crate::{Error, ProjectName};

impl PageCache {
    /// Returns the pages on disk.
    pub(crate) fn disk(&self) -> Result<&DiskCache, Error> {
        self.0.disk.as_ref().ok_or_else(|| Error::with(Kind::Storage, "pages are not stored on disk"))
    }

    /// Merges the copies of a page on disk, regardless of their age. Applies no rules to files.
    pub(crate) async fn stored_content(&self, project: &ProjectName) -> Option<CachedPage> {
        let slot = Arc::new(Slot::new(Resource::Page(project.clone())));
        let parts = self.load(&slot).await;
        let merging = self.0.merging.with_rules(Rules::default());
        match combine(&parts, Some(project), &merging) {
            Ok((Content::Page(page), _)) => Some(CachedPage { page, status: CacheStatus::Hit }),
            _ => None,
        }
    }

    /// Stores a page unless there is one that is at least as new. The page must be valid.
    pub(crate) fn import_page(
        &self,
        upstream: &Upstream,
        project: Option<&ProjectName>,
        page: StoredPage,
    ) -> Result<Imported, Error> {
        let disk = self.disk()?;
        let StoredPage { body, checked, modified } = page;
        let resource = Resource::page(project);
        if let Some((_, old)) = disk.load(upstream, &resource.entry())
            && (old.body.serial, unix_seconds(old.checked)) >= (body.serial, unix_seconds(checked))
        {
            let is_same = old.body.bytes == body.bytes && old.body.is_json == body.is_json;
            return Ok(if is_same { Imported::Same } else { Imported::Other });
        }
        let document = DiskCache::document(&body, &resource, checked, modified)?;
        parse_body(body, &resource, upstream.page_url(project).path(), &ProjectFacts::default())?;
        disk.import(upstream.id(), &resource.entry(), &document, checked)?;
        self.forget(project);
        Ok(Imported::New)
    }

    /// Stores the compressed file of a document unless there is one that is at least as new. Returns whether it was
    /// stored, or `None` if it is malformed.
    pub(crate) fn import_document(
        &self,
        upstream: &Upstream,
        project: &ProjectName,
        name: &str,
        document: &[u8],
        checked: SystemTime,
    ) -> Result<Option<bool>, Error> {
        let disk = self.disk()?;
        let page = DiskCache::read(document, upstream.max_page(), checked, upstream.budget().reserve());
        // The time in the document must not make it newer than the manifest says.
        let is_valid = page.is_some_and(|page| page.checked == checked);
        if !is_document(name, project) || !is_valid {
            return Ok(None);
        }
        let is_as_new = |(_, touched): (Vec<u8>, SystemTime)| unix_seconds(touched) >= unix_seconds(checked);
        if disk.open(upstream.id(), name).is_some_and(is_as_new) {
            return Ok(Some(false));
        }
        disk.import(upstream.id(), name, document, checked).map(|()| Some(true))
    }

    /// Adds facts to those of a project. Returns false if they are malformed.
    pub(crate) fn import_facts(&self, project: &ProjectName, json: &[u8]) -> Result<bool, Error> {
        let disk = self.disk()?;
        let Ok(new) = tightwire_json::from_slice::<ProjectFacts>(json) else { return Ok(false) };
        if !new.is_valid() {
            return Ok(false);
        }
        let old = disk.load_facts(project);
        let mut all = old.clone();
        all.merge(new);
        if all != old {
            disk.store_facts(project, &all)?;
            self.forget(Some(project));
        }
        Ok(true)
    }
}
