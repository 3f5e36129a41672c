//! The copies of a page from one upstream: on disk, in the bucket, and at the upstream itself.

use std::sync::Arc;
use std::time::SystemTime;

use object_store::UpdateVersion;

use super::disk::{DiskCache, StoredPage};
use super::document::Document;
use super::slot::{Slot, UpstreamPage, is_older, parse_body, parse_stored};
use crate::bucket::{Bucket, ClaimStep, Lease};
use crate::error::{Chain, Kind};
use crate::failures::FailureLog;
use crate::json_api;
use crate::resource::Resource;
use crate::system::{self, spawn_blocking};
use crate::upstream::{PageResponse, Upstream, Validators};
use crate::{Error, ProjectName};

/// Page of one upstream.
pub(super) struct Source<'a> {
    pub(super) upstream: &'a Upstream,
    pub(super) slot: &'a Arc<Slot>,
    pub(super) disk: Option<&'a DiskCache>,
    pub(super) bucket: Option<&'a Bucket>,
    /// Number of purges of the page before the first request. After a further purge, the responses are not stored.
    pub(super) purges: u64,
    /// Log of failed requests for upload times; `None` if they are not requested.
    pub(super) failures: Option<&'a FailureLog>,
    /// Whether the rules allow requesting the page from this upstream.
    pub(super) is_allowed: bool,
}

impl Source<'_> {
    pub(super) async fn load(&self) -> UpstreamPage {
        if self.disk.is_some() && !self.is_allowed {
            return UpstreamPage::excluded();
        }
        let Some(stored) = self.read().await else { return UpstreamPage::default() };
        let (slot, path) = (self.slot.clone(), self.path());
        spawn_blocking(move || parse_stored(stored, &slot, &path)).await.ok().flatten().unwrap_or_default()
    }

    /// Returns the copy in the bucket if it is newer than `part`. If it is stale, too, acquires the lease to request
    /// the page, or waits for the proxy that owns the lease.
    pub(super) async fn newer_in_bucket(&self, part: &UpstreamPage) -> (UpstreamPage, Option<Lease>) {
        let is_fresh = |part: &UpstreamPage| part.age() < self.upstream.ttl();
        let (Some(bucket), true) = (self.bucket, self.is_allowed && !is_fresh(part)) else {
            return (part.clone(), None);
        };
        let Ok(newer) = self.read_bucket(bucket, part).await else {
            return (UpstreamPage { bucket_version: None, ..part.clone() }, None);
        };
        if is_fresh(&newer) {
            return (newer, None);
        }
        let lease = match bucket.claim_page(self.upstream.id(), &self.slot.resource).await {
            ClaimStep::Acquired(lease) => Some(lease),
            ClaimStep::Released => None,
            ClaimStep::Wait(_) | ClaimStep::Unavailable => return (newer, None),
        };
        // Another proxy may have written the page since the first read.
        let newest = self.read_bucket(bucket, &newer).await.unwrap_or(newer);
        (newest, lease)
    }

    /// Returns the copy in the bucket if it is newer than `part`. Fails if the bucket fails.
    async fn read_bucket(&self, bucket: &Bucket, part: &UpstreamPage) -> Result<UpstreamPage, Error> {
        let Some(disk) = self.disk.cloned() else { return Ok(part.clone()) };
        let (id, max, known) = (self.upstream.id(), self.upstream.max_page(), part.checked);
        let Some(page) = bucket.page(id, &self.slot.resource, max).await? else {
            return Ok(UpstreamPage { bucket_version: None, ..part.clone() });
        };
        if part.bucket_version.as_ref() == Some(&page.version) {
            return Ok(part.clone());
        }
        let old = UpstreamPage { bucket_version: Some(page.version), ..part.clone() };
        let document = page.bytes;
        let mut reservation = self.upstream.budget().reserve();
        reservation.grow(DiskCache::page_len(&document).unwrap_or(0).min(max)).await;
        let (slot, before, path, purges) = (self.slot.clone(), old.clone(), self.path(), self.purges);
        let work = move || {
            let stored = DiskCache::read(&document, max, SystemTime::UNIX_EPOCH, reservation)?;
            let checked = stored.checked;
            if known.is_some_and(|known| known >= checked) {
                return None;
            }
            let new = parse_stored(stored, &slot, &path)?;
            if is_older(new.content.as_ref()?, before.content.as_ref()) {
                return None;
            }
            // If this fails, the disk keeps an older copy.
            let _ = disk.store(id, &slot.resource.entry(), &document, checked, purges);
            Some(UpstreamPage { bucket_version: before.bucket_version, ..new })
        };
        Ok(spawn_blocking(work).await.ok().flatten().unwrap_or(old))
    }

    /// Requests the page from the upstream, unless `part` is fresh. Releases the lease after the page is in the bucket.
    pub(super) async fn fetch(
        &self,
        part: UpstreamPage,
        lease: Option<Lease>,
    ) -> Result<UpstreamPage, Error> {
        let now = system::now();
        if !self.is_allowed {
            return Ok(UpstreamPage::excluded());
        }
        // Fresh on disk, or from an upstream with a longer time to live than the others.
        if part.age() < self.upstream.ttl() {
            let has_new_times = self.request_times(&part).await;
            return Ok(if has_new_times { self.reparse_with_facts(part).await } else { part });
        }
        let id = self.upstream.id();
        let body = match self.request(&part.validators).await? {
            PageResponse::NotModified if part.content.is_some() => {
                self.request_times(&part).await;
                let mut part = self.reparse_with_facts(UpstreamPage { checked: Some(now), ..part }).await;
                let stored = if self.bucket.is_some() { self.read_same(&part).await } else { None };
                if let (Some(disk), slot) = (self.disk.cloned(), self.slot.clone()) {
                    let known = part.validators.clone();
                    let work = move || disk.touch(id, &slot.resource.entry(), now, &known);
                    if !spawn_blocking(work).await.unwrap_or(true) {
                        // The next request gets the whole page, to store it again.
                        part.validators = Validators::default();
                    }
                }
                if let Some(stored) = stored {
                    let slot = self.slot.clone();
                    let work =
                        move || DiskCache::document(&stored.body, &slot.resource, now, stored.modified).ok();
                    let document = spawn_blocking(work).await.ok().flatten();
                    self.publish(document, part.bucket_version.clone(), lease);
                }
                return Ok(part);
            }
            PageResponse::NotModified => {
                return Err(Error::with(Kind::Upstream, "304 Not Modified for a request without validators"));
            }
            PageResponse::NotFound => {
                if part.content.is_some() {
                    // Otherwise the page would be back after the next start.
                    if let (Some(disk), slot) = (self.disk.cloned(), self.slot.clone()) {
                        let work = move || disk.remove_older(id, &slot.resource.entry(), now);
                        let _ = spawn_blocking(work).await;
                    }
                    if let Some(bucket) = self.bucket
                        && let Ok(Some(page)) = bucket.page(id, &self.slot.resource, self.upstream.max_page()).await
                        // Otherwise another proxy or refresh has written it meanwhile.
                        && part.bucket_version == Some(page.version)
                    {
                        // If this fails, the copy in the bucket is revalidated like any other.
                        let _ = bucket.purge_page(id, &self.slot.resource).await;
                    }
                }
                return Ok(UpstreamPage::missing());
            }
            PageResponse::Page(body) => {
                let lacks_times =
                    || !body.is_json || memchr::memmem::find(&body.bytes, b"\"upload-time\"").is_none();
                if self.failures.is_some() && lacks_times() {
                    self.record_times().await;
                }
                body
            }
        };
        let (validators, is_redirected) = (body.validators.clone(), body.is_redirected);
        let (disk, slot, old) = (self.disk.cloned(), self.slot.clone(), part.content.clone());
        let (path, purges) = (self.path(), self.purges);
        let work = move || {
            // The page takes over the memory of the response body, so the disk copy is made first. A failure to store
            // it is not an error of the request.
            let document =
                disk.as_ref().and_then(|_| DiskCache::document(&body, &slot.resource, now, now).ok());
            let (facts, facts_version) = slot.facts.lock().clone();
            let content = parse_body(body, &slot.resource, &path, &facts)?;
            let count = match &content {
                Document::Project(page) => page.skipped(),
                Document::List(list) => list.skipped(),
                Document::Json { .. } => 0,
            };
            if count > 0 {
                let page = slot.resource.entry();
                tracing::warn!(%page, count, "entries are left out because of invalid names or URLs");
            }
            if is_older(&content, old.as_ref()) {
                return Ok((None, facts_version, None));
            }
            if let (Some(disk), Some(document)) = (disk, &document)
                && let Err(error) = disk.store(id, &slot.resource.entry(), document, now, purges)
            {
                tracing::warn!(page = %slot.resource.entry(), error = %Chain(&error), "a page can't be stored");
            }
            Ok((Some(content), facts_version, document))
        };
        let aborted = |_| Err(Error::with(Kind::Page, "parsing was aborted"));
        let (content, facts_version, document) = spawn_blocking(work).await.unwrap_or_else(aborted)?;
        self.publish(document, part.bucket_version.clone(), lease);
        let (checked, modified) = (Some(now), Some(now));
        Ok(match content {
            None => UpstreamPage { checked, ..part },
            content => {
                UpstreamPage { content, validators, checked, modified, is_redirected, facts_version, ..part }
            }
        })
    }

    /// Returns the path of the page at the upstream.
    fn path(&self) -> String {
        self.upstream.page_url(self.slot.resource.project()).path().to_owned()
    }

    /// Requests the page or document from the upstream.
    async fn request(&self, known: &Validators) -> Result<PageResponse, Error> {
        let resource = &self.slot.resource;
        if resource.is_page() {
            return self.upstream.page(resource.project(), known).await;
        }
        match resource.url(self.upstream) {
            Some(url) => self.upstream.document(&url, resource.max_len(self.upstream), known).await,
            None => Ok(PageResponse::NotFound),
        }
    }

    /// Requests upload times if a file of the page has a hash and no time. Returns whether there are new ones.
    async fn request_times(&self, part: &UpstreamPage) -> bool {
        let Some(Document::Project(page)) = part.content.as_ref().filter(|_| self.failures.is_some()) else {
            return false;
        };
        let lacks_time = page.files().any(|file| {
            let details = file.details();
            details.sha256.is_some() && details.upload_time.is_none()
        });
        lacks_time && self.record_times().await
    }

    /// Requests upload times from the JSON API, if they are enabled, and records them as facts about files. Returns whether
    /// there are new ones.
    async fn record_times(&self) -> bool {
        let (Some(failures), Resource::Page(project)) = (self.failures, &self.slot.resource) else {
            return false;
        };
        self.try_record_times(project).await.unwrap_or_else(|error| {
            failures.record(&format!("{project} (upload times)"), Some(self.upstream.to_string()), &error);
            false
        })
    }

    async fn try_record_times(&self, project: &ProjectName) -> Result<bool, Error> {
        let Some(url) = self.upstream.json_url(project, None) else { return Ok(false) };
        let known = Validators::default();
        // An index may have no JSON API, or no description of this project.
        let PageResponse::Page(body) = self.upstream.document(&url, self.upstream.max_page(), &known).await?
        else {
            return Ok(false);
        };
        let (disk, slot, project) = (self.disk.cloned(), self.slot.clone(), project.clone());
        let work = move || {
            let uploads = json_api::uploads(&body.bytes)?;
            let is_changed = {
                let mut facts = slot.facts.lock();
                let is_changed = uploads.fold(false, |any, (file, fact)| facts.0.record(&file, fact) || any);
                facts.1 += u64::from(is_changed);
                is_changed
            };
            if let (true, Some(disk)) = (is_changed, disk) {
                slot.store_facts(&disk, &project);
            }
            Ok(is_changed)
        };
        let aborted = |_| Err(Error::with(Kind::Page, "parsing was aborted"));
        spawn_blocking(work).await.unwrap_or_else(aborted)
    }

    /// Parses the page again if facts about its files were recorded since.
    async fn reparse_with_facts(&self, part: UpstreamPage) -> UpstreamPage {
        let (facts, facts_version) = self.slot.facts.lock().clone();
        if facts_version <= part.facts_version {
            return part;
        }
        let part = UpstreamPage { facts_version, ..part };
        let Some(stored) = self.read_same(&part).await else { return part };
        let (slot, path) = (self.slot.clone(), self.path());
        let parse = move || parse_body(stored.body, &slot.resource, &path, &facts).ok();
        match spawn_blocking(parse).await.ok().flatten() {
            // Keep the page without the new facts.
            None => part,
            content => UpstreamPage { content, modified: Some(system::now()), ..part },
        }
    }

    /// Like [`Self::read`], unless another refresh has stored a different page.
    async fn read_same(&self, part: &UpstreamPage) -> Option<StoredPage> {
        self.read().await.filter(|stored| stored.body.validators == part.validators)
    }

    /// Reads the page from disk. Its decompressed size counts toward the memory budget of the upstream.
    async fn read(&self) -> Option<StoredPage> {
        let (disk, slot) = (self.disk?.clone(), self.slot.clone());
        let (id, max) = (self.upstream.id(), self.upstream.max_page());
        let (document, touched) =
            spawn_blocking(move || disk.open(id, &slot.resource.entry())).await.ok()??;
        let mut reservation = self.upstream.budget().reserve();
        reservation.grow(DiskCache::page_len(&document)?.min(max)).await;
        spawn_blocking(move || DiskCache::read(&document, max, touched, reservation)).await.ok()?
    }

    /// Uploads a page for other proxies, unless the bucket has one that is at least as new.
    fn publish(&self, document: Option<Vec<u8>>, version: Option<UpdateVersion>, lease: Option<Lease>) {
        let (Some(bucket), Some(document), Some(disk)) = (self.bucket, document, self.disk.cloned()) else {
            return;
        };
        let Some(own) = DiskCache::age(&document) else { return };
        let is_as_new = move |other: &[u8]| DiskCache::age(other).is_some_and(|other| other >= own);
        let (id, max_page) = (self.upstream.id(), self.upstream.max_page());
        let (slot, purges) = (self.slot.clone(), self.purges);
        let is_purged = move || disk.purges(id, &slot.resource.entry()) != purges;
        bucket.store_page(id, &self.slot.resource, document, version, lease, max_page, is_as_new, is_purged);
    }
}
