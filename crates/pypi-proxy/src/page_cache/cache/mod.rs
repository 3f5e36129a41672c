//! In-memory cache of index pages: lookup, revalidation, stale-while-revalidate and stale-if-error.

mod refresh;
mod stored;

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use hashlink::LinkedHashMap;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::claims::{ClaimedNames, Claims, RemovedNames};
use super::disk::DiskCache;
use super::document::Document;
use super::merge::Merging;
use super::slot::{Content, Slot, State, UpstreamPage, parse_stored};
use super::source::Source;
use super::{CacheStatus, Config, IndexStrategy, RefreshOutcome, RenderedPage};
use crate::bucket::Bucket;
use crate::error::Kind;
use crate::failures::FailureLog;
use crate::flight::{FetchQueue, Flights};
use crate::metrics::Counters;
use crate::page::{FileFacts, Page};
use crate::resource::Resource;
use crate::rules::Rules;
use crate::store::Digest;
use crate::upstream::Upstream;
use crate::{Error, ProjectName, system};

/// Minimum time between requests to a failed upstream while a stale page can be served.
const UPSTREAM_BACKOFF: Duration = Duration::from_secs(5);

/// Cache of the pages of one or more upstream indexes.
///
/// Fresh pages are served from memory. Stale pages are served while they are revalidated in the background
/// (`stale_while_revalidate`), and for longer if the upstream fails (`stale_if_error`). Concurrent requests for a page
/// that is not cached share one request per upstream.
#[derive(Clone)]
pub struct PageCache(pub(super) Arc<Inner>);

pub(super) struct Inner {
    merging: Arc<Merging>,
    /// Numbers of the upstreams in the order in which they are contacted for a project. Those of one group are contacted
    /// at the same time.
    groups: Vec<Vec<usize>>,
    /// Numbers of the private upstreams, with the names that they have listed.
    private: Vec<(usize, Arc<ClaimedNames>)>,
    config: Config,
    /// Whether rules besides that about quarantined projects apply.
    pub(super) has_rules: bool,
    disk: Option<DiskCache>,
    bucket: Option<Bucket>,
    pub(super) slots: Arc<Mutex<Slots>>,
    /// [`Slots::reloads`] of this configuration.
    reloads: u64,
    flights: Arc<Flights<Refresh>>,
    refreshes: Arc<Counters<RefreshOutcome>>,
    failures: Arc<FailureLog>,
    queue: Arc<FetchQueue>,
}

/// A refresh in flight: its slot, which a purge may have replaced, and a channel that is closed when it is complete.
type Refresh = (Arc<Slot>, watch::Receiver<()>);

/// The names that were removed from each private upstream since a refresh began.
type Removed = Vec<Arc<RemovedNames>>;

#[derive(Default)]
pub(super) struct Slots {
    projects: LinkedHashMap<ProjectName, Arc<Slot>>,
    /// The list of projects, and documents, which are evicted before projects because few clients request them.
    pub(super) documents: LinkedHashMap<Resource, Arc<Slot>>,
    /// Total size of all entries, in bytes.
    bytes: u64,
    /// Number of reloads that have kept the pages in memory.
    reloads: u64,
}

impl Flights<Refresh> {
    fn is_refreshing(&self, slot: &Arc<Slot>) -> bool {
        self.join(&slot.resource, |(of, _)| Arc::ptr_eq(of, slot).then_some(())).is_some()
    }
}

impl Slots {
    /// Returns whether the slot was neither purged nor evicted.
    fn has(&self, slot: &Arc<Slot>) -> bool {
        let cached = match &slot.resource {
            Resource::Page(project) => self.projects.get(project),
            document => self.documents.get(document),
        };
        cached.is_some_and(|cached| Arc::ptr_eq(cached, slot))
    }

    fn remove(&mut self, resource: &Resource) -> Option<Arc<Slot>> {
        match resource {
            Resource::Page(project) => self.projects.remove(project),
            document => self.documents.remove(document),
        }
    }
}

/// A page, and how the cache answered the request for it.
#[derive(Clone, Debug)]
pub struct CachedPage {
    /// The page, ready to be sent.
    pub page: Arc<RenderedPage>,
    /// Sent to the client in the header `X-Cache`.
    pub status: CacheStatus,
}

/// Page of a project from one index, without rules.
#[derive(Debug)]
#[non_exhaustive]
pub struct IndexPage {
    /// The page, if the index has the project.
    pub page: Option<Arc<Page>>,
    /// When the index last sent or confirmed this.
    pub checked: Option<SystemTime>,
    /// Whether the index is not contacted, because a rule or the order of the indexes takes the project from another one.
    pub is_excluded: bool,
    /// Error of the index, if the page is an expired copy or missing because of it.
    pub error: Option<Error>,
}

impl IndexPage {
    fn excluded() -> Self {
        Self { page: None, checked: None, is_excluded: true, error: None }
    }
}

enum Lookup {
    Served(Result<CachedPage, Error>),
    Wait(watch::Receiver<()>),
    /// An upstream has to be contacted, but the fetch queue is full.
    Full,
}

impl PageCache {
    /// Creates a cache for these upstreams. [`Config::strategy`] selects the pages of a project that several of them have.
    pub fn new(upstreams: Vec<Arc<Upstream>>, config: Config) -> Self {
        let queue = FetchQueue::new(config.max_fetches, config.max_queued);
        let (slots, flights, refreshes) = (Arc::default(), Arc::default(), Arc::default());
        Self::with_parts(upstreams, config, slots, flights, refreshes, Arc::default(), queue)
    }

    /// Creates a cache with other upstreams and another configuration, which continues the counters of this one. It
    /// keeps the pages in memory if the rules, `wheel_metadata`, `upload_times`, the use of several upstreams, and the URLs
    /// and TTLs of the upstreams and their JSON APIs are the same. Otherwise they are loaded from disk. Failures and negative
    /// entries are forgotten.
    #[must_use]
    pub fn reconfigure(&self, upstreams: Vec<Arc<Upstream>>, config: Config) -> Self {
        let (old, new) = (&self.0.config, &config);
        let key = |upstream: &Arc<Upstream>| (upstream.id(), upstream.ttl(), upstream.json_api().cloned());
        let is_same_page = self.upstreams().iter().map(key).eq(upstreams.iter().map(key))
            && (&old.rules, old.wheel_metadata, old.upload_times)
                == (&new.rules, new.wheel_metadata, new.upload_times)
            && (old.strategy, &old.merge_projects, &old.private)
                == (new.strategy, &new.merge_projects, &new.private);
        let (slots, flights) =
            if is_same_page { (self.0.slots.clone(), self.0.flights.clone()) } else { Default::default() };
        {
            let mut slots = slots.lock();
            slots.reloads += 1;
            let all = slots.projects.values().chain(slots.documents.values());
            all.for_each(|slot| slot.state.lock().forget_failure());
        }
        let is_same_queue = (old.max_fetches, old.max_queued) == (new.max_fetches, new.max_queued);
        let new_queue = || FetchQueue::new(new.max_fetches, new.max_queued);
        let queue = if is_same_queue { self.0.queue.clone() } else { new_queue() };
        let (refreshes, failures) = (self.0.refreshes.clone(), self.0.failures.clone());
        Self::with_parts(upstreams, config, slots, flights, refreshes, failures, queue)
    }

    fn with_parts(
        upstreams: Vec<Arc<Upstream>>,
        config: Config,
        slots: Arc<Mutex<Slots>>,
        flights: Arc<Flights<Refresh>>,
        refreshes: Arc<Counters<RefreshOutcome>>,
        failures: Arc<FailureLog>,
        queue: Arc<FetchQueue>,
    ) -> Self {
        let disk = config.dir.clone().map(|dir| DiskCache::new(dir, config.name.as_deref()));
        let bucket = config.bucket.clone().filter(|_| disk.is_some());
        let rules = Arc::new(config.rules.clone());
        let has_rules = rules.is_on();
        let private = (0..upstreams.len()).filter(|index| config.private.contains(index)).map(|index| {
            let (id, url) = (upstreams[index].id(), upstreams[index].page_url(None));
            let names = config.claims.register(id, url.as_str(), || {
                disk.as_ref().map(|disk| known_names(disk, &upstreams[index])).unwrap_or_default()
            });
            (index, names)
        });
        let private: Vec<_> = private.collect();
        let is_private = |index: &usize| config.private.contains(index);
        let (first, others): (Vec<_>, Vec<_>) = (0..upstreams.len()).partition(is_private);
        let groups = match config.strategy {
            IndexStrategy::FirstIndex => first.into_iter().chain(others).map(|index| vec![index]).collect(),
            _ => [first, others].into_iter().filter(|group| !group.is_empty()).collect(),
        };
        let reloads = slots.lock().reloads;
        let (strategy, unchecked) = (config.strategy, config.merge_projects.clone());
        let merging = Arc::new(Merging { upstreams, strategy, unchecked, rules });
        Self(Arc::new(Inner {
            merging,
            groups,
            private,
            config,
            has_rules,
            disk,
            bucket,
            slots,
            reloads,
            flights,
            refreshes,
            failures,
            queue,
        }))
    }

    /// Returns the page of a project.
    ///
    /// # Errors
    ///
    /// Fails if the rules forbid the project ([`Error::is_forbidden`]), or if no upstream has it
    /// ([`Error::is_not_found`]). Fails if an upstream fails and no page is young enough for `stale_if_error`
    /// ([`Error::is_upstream`], [`Error::is_timeout`], [`Error::is_forbidden`], [`Error::is_page`],
    /// [`Error::is_limit`]), or if there is no such page and the fetch queue is full ([`Error::is_limit`] with
    /// [`Error::retry_after`]).
    pub async fn project(&self, name: &ProjectName) -> Result<CachedPage, Error> {
        self.rules().check_project(name)?;
        self.page(name).await
    }

    /// Returns the page of a project, even if the rules forbid the project.
    pub(crate) async fn page(&self, name: &ProjectName) -> Result<CachedPage, Error> {
        let served = self.get(self.slot(name)).await?;
        if self.is_current(name, &served) {
            return Ok(served);
        }
        // A private index has listed the name since the page was cached.
        self.forget(Some(name));
        let served = self.get(self.slot(name)).await?;
        if self.is_current(name, &served) { Ok(served) } else { Err(Error::new(Kind::NotFound)) }
    }

    /// Returns whether all pages that were merged may be used.
    fn is_current(&self, name: &ProjectName, served: &CachedPage) -> bool {
        !self.0.config.claims.is_active()
            || served.page.indexes().all(|index| self.is_unclaimed(name.as_str(), index))
    }

    /// Returns whether no private index has listed this name, or this upstream is one that has.
    fn is_unclaimed(&self, name: &str, index: usize) -> bool {
        let claims = &self.0.config.claims;
        !claims.has(name) || self.0.private.iter().any(|(at, names)| *at == index && names.contains(name))
    }

    /// Returns the list of all projects.
    ///
    /// # Errors
    ///
    /// Same as [`Self::project`].
    pub async fn list(&self) -> Result<CachedPage, Error> {
        self.document(&Resource::List).await
    }

    /// Returns the page of a project from each index, without rules about files: a fresh copy on disk, otherwise a response
    /// of the index. Contacts the same indexes as a request for the page. Changes nothing in memory and on disk.
    pub async fn inspect(&self, name: &ProjectName) -> Vec<IndexPage> {
        let slot = Arc::new(Slot::new(Resource::Page(name.clone())));
        let mut parts = self.load(&slot).await;
        let mut pages: Vec<_> = parts.iter().map(|_| IndexPage::excluded()).collect();
        for group in self.groups(&slot) {
            let allowed: Vec<_> =
                group.iter().copied().filter(|index| self.is_index_allowed(name, *index)).collect();
            let fetched = allowed.iter().map(|index| {
                let (part, slot) = (parts[*index].clone(), &slot);
                async move {
                    Source { disk: None, bucket: None, ..self.source(slot, *index) }.fetch(part, None).await
                }
            });
            let mut is_missing = false;
            for (index, result) in allowed.iter().zip(join_all(fetched).await) {
                let error = match result {
                    Ok(part) => {
                        parts[*index] = part;
                        None
                    }
                    Err(error) => Some(error),
                };
                let part = &parts[*index];
                is_missing |= part.content.is_none()
                    && error.as_ref().is_some_and(|error| !self.is_skippable(*index, error));
                let page = match &part.content {
                    Some(Document::Project(page)) => Some(page.clone()),
                    _ => None,
                };
                pages[*index] = IndexPage { page, checked: part.checked, is_excluded: false, error };
            }
            // An index that fails may have the project.
            if is_missing || self.is_decisive(&group, &parts) {
                break;
            }
        }
        pages
    }

    /// Removes a project's page and its other documents (or, for `None`, the project list) from memory, disk and
    /// bucket. Private indexes no longer claim the name of the project, until one of them lists it again.
    ///
    /// # Errors
    ///
    /// Fails if it can't be deleted from the disk ([`Error::is_storage`]) or the bucket ([`Error::is_bucket`]).
    pub async fn purge(&self, project: Option<&ProjectName>) -> Result<(), Error> {
        self.forget(project);
        if let Some(name) = project.cloned() {
            let claims = self.claims().clone();
            let removed = system::spawn_blocking(move || claims.remove(&name));
            removed.await.unwrap_or(Ok(false))?;
        }
        let Some(disk) = self.0.disk.clone() else { return Ok(()) };
        let indexes: Vec<_> = self.upstreams().iter().map(|upstream| upstream.id()).collect();
        disk.record_purge(&indexes, project);
        let shared = self.purge_bucket(&indexes, project).await;
        // Refreshes that began since may have read the bucket: this stops them as well.
        let name = project.cloned();
        let work = move || disk.purge(&indexes, name.as_ref());
        system::spawn_blocking(work).await.unwrap_or(Ok(()))?;
        // Requests that began before may have loaded the page from disk.
        self.forget(project);
        shared
    }

    async fn purge_bucket(&self, indexes: &[u64], project: Option<&ProjectName>) -> Result<(), Error> {
        let Some(bucket) = &self.0.bucket else { return Ok(()) };
        for index in indexes {
            bucket.purge_page(*index, &Resource::page(project)).await?;
            if project.is_some() {
                bucket.purge_documents(*index, project).await?;
            }
        }
        Ok(())
    }

    /// Removes a page from memory.
    fn forget(&self, project: Option<&ProjectName>) {
        let mut slots = self.0.slots.lock();
        let documents = slots.documents.keys().filter(|document| document.project() == project).cloned();
        for resource in documents.chain([Resource::page(project)]).collect::<Vec<_>>() {
            if let Some(slot) = slots.remove(&resource) {
                slots.bytes -= std::mem::take(&mut slot.state.lock().size_in_memory);
            }
        }
    }

    /// Removes all pages from memory.
    fn forget_all(&self) {
        let mut slots = self.0.slots.lock();
        *slots = Slots { reloads: slots.reloads, ..Slots::default() };
    }

    /// Removes all pages from memory, disk and bucket. The cache of the default index also removes the pages of the
    /// others from the disk.
    ///
    /// # Errors
    ///
    /// Same as [`Self::purge`].
    pub async fn purge_all(&self) -> Result<(), Error> {
        self.forget_all();
        let Some(disk) = self.0.disk.clone() else { return Ok(()) };
        let ids: Vec<_> = self.upstreams().iter().map(|upstream| upstream.id()).collect();
        let is_default = self.0.config.name.is_none();
        disk.record_clear();
        let mut shared = Ok(());
        if let Some(bucket) = &self.0.bucket {
            for index in &ids {
                shared = shared.and(bucket.purge_documents(*index, None).await);
            }
        }
        let work = move || if is_default { disk.clear() } else { disk.clear_indexes(ids.into_iter()) };
        system::spawn_blocking(work).await.unwrap_or(Ok(()))?;
        self.forget_all();
        shared
    }

    /// Records facts about a file, such as its size, that its page lacks. They appear on the page after its next
    /// refresh. A page in JSON only gets the hash of the metadata, because it has its own sizes and times.
    pub(crate) fn record_facts(&self, project: &ProjectName, file: &str, fact: FileFacts) {
        let Some(slot) = self.0.slots.lock().projects.get(project).cloned() else { return };
        {
            let mut facts = slot.facts.lock();
            if !facts.0.record(file, fact) {
                return;
            }
            facts.1 += 1;
        }
        let Some(disk) = self.0.disk.clone() else { return };
        let project = project.clone();
        system::spawn_blocking(move || slot.store_facts(&disk, &project));
    }

    pub(crate) fn claims(&self) -> &Claims {
        &self.0.config.claims
    }

    pub(crate) fn extracts_metadata(&self) -> bool {
        self.0.config.wheel_metadata
    }

    /// Returns whether this wheel was already searched for metadata.
    pub(crate) fn is_examined(&self, project: &ProjectName, file: &str, wheel: &Digest) -> bool {
        let slot = self.0.slots.lock().projects.get(project).cloned();
        slot.is_some_and(|slot| slot.facts.lock().0.is_examined(file, wheel))
    }

    /// Returns the access rules.
    pub(crate) fn rules(&self) -> &Rules {
        &self.0.merging.rules
    }

    fn upstreams(&self) -> &[Arc<Upstream>] {
        &self.0.merging.upstreams
    }

    /// Returns whether a page was created with the current rules. The project list does not depend on changes.
    fn has_current_rules(&self, page: &RenderedPage) -> bool {
        !page.is_project() || page.rules_generation() == self.rules().generation()
    }

    /// Returns the source of a page at an upstream.
    fn source<'a>(&'a self, slot: &'a Arc<Slot>, index: usize) -> Source<'a> {
        let upstream = &self.upstreams()[index];
        let purges = |disk: &DiskCache| disk.purges(upstream.id(), &slot.resource.entry());
        Source {
            upstream,
            purges: self.0.disk.as_ref().map_or(0, purges),
            slot,
            disk: self.0.disk.as_ref(),
            bucket: self.0.bucket.as_ref(),
            failures: self.0.config.upload_times.then_some(&*self.0.failures),
            is_allowed: slot.resource.is_offered(index, upstream)
                && slot.resource.project().is_none_or(|name| self.is_index_allowed(name, index)),
        }
    }

    /// Returns whether a project may be requested from an upstream.
    pub(crate) fn is_index_allowed(&self, project: &ProjectName, index: usize) -> bool {
        let name = project.as_str();
        self.rules().is_index_allowed(name, index) && self.is_unclaimed(name, index)
    }

    /// Returns the groups of upstreams to contact for a page in sequence.
    fn groups(&self, slot: &Slot) -> Vec<Vec<usize>> {
        // The project list has the projects of all upstreams.
        let is_list = slot.resource == Resource::List;
        if is_list { vec![(0..self.upstreams().len()).collect()] } else { self.0.groups.clone() }
    }

    /// Returns whether a project of this group is not taken from any later group.
    fn is_decisive(&self, group: &[usize], parts: &[UpstreamPage]) -> bool {
        let is_private = |index: &usize| self.0.config.private.contains(index);
        (self.0.config.strategy == IndexStrategy::FirstIndex || group.iter().any(is_private))
            && group.iter().any(|index| parts[*index].content.is_some())
    }

    /// Returns whether other upstreams may have a project although this one failed. In offline mode, nothing but the
    /// copies exists. An index without credentials may refuse access to projects that it does not have.
    fn is_skippable(&self, index: usize, error: &Error) -> bool {
        let is_open =
            || !self.0.config.private.contains(&index) && !self.upstreams()[index].has_credentials();
        error.is_offline() || error.is_refused() && is_open()
    }

    /// Records the names that a private upstream lists.
    async fn claim(&self, index: usize, slot: &Arc<Slot>, part: &UpstreamPage, removed: &Removed) {
        let private = self.0.private.iter().zip(removed).find(|((at, _), _)| *at == index);
        let Some(((_, names), removed)) = private else { return };
        let Some(content) = part.content.clone().filter(|_| !part.is_redirected) else { return };
        let project = slot.resource.project().cloned();
        if project.as_ref().is_some_and(|name| names.contains(name.as_str())) {
            return;
        }
        let (names, removed, url) = (names.clone(), removed.clone(), self.upstreams()[index].page_url(None));
        let work = move || match project {
            Some(name) => names.claim(url.as_str(), std::iter::once(name), &removed),
            None => names.claim(url.as_str(), content.names(), &removed),
        };
        let _ = system::spawn_blocking(work).await;
    }

    /// Returns the size of all pages in memory, in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.slots.lock().bytes
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        self.0.config.max_bytes
    }

    /// Returns the number of entries in memory, including negative ones (404).
    pub(crate) fn count(&self) -> u64 {
        let slots = self.0.slots.lock();
        (slots.projects.len() + slots.documents.len()) as u64
    }

    pub(crate) fn refreshes(&self) -> &Counters<RefreshOutcome> {
        &self.0.refreshes
    }

    pub(crate) fn queue(&self) -> &FetchQueue {
        &self.0.queue
    }

    /// Returns whether any page could be served with all upstreams down.
    pub(crate) fn has_any_page(&self) -> bool {
        let slots = self.0.slots.lock();
        let has_page = |slot: &Arc<Slot>| {
            slot.resource.is_page() && matches!(slot.state.lock().content, Content::Page(_))
        };
        slots.projects.values().chain(slots.documents.values()).any(has_page)
    }

    /// Returns the last failures of the upstreams.
    pub(crate) fn failures(&self) -> &FailureLog {
        &self.0.failures
    }

    /// Returns the projects whose pages are in memory, with the time of their last use, accurate to the minute, and the
    /// number of file requests since their pages were loaded.
    pub(crate) fn projects_in_memory(&self) -> Vec<(ProjectName, SystemTime, u64)> {
        let slots = self.0.slots.lock();
        let page = |(name, slot): (&ProjectName, &Arc<Slot>)| match &slot.state.lock().content {
            Content::Page(page) => Some((name.clone(), slot.last_use(), page.file_requests())),
            _ => None,
        };
        slots.projects.iter().filter_map(page).collect()
    }

    fn slot(&self, name: &ProjectName) -> Arc<Slot> {
        slot_of(&mut self.0.slots.lock().projects, name, || Resource::Page(name.clone()))
    }

    pub(super) async fn get(&self, slot: Arc<Slot>) -> Result<CachedPage, Error> {
        let mut in_flight = match self.lookup(&slot) {
            Lookup::Served(result) => return result,
            Lookup::Wait(in_flight) => in_flight,
            Lookup::Full => {
                self.drop_unused(&slot);
                return Err(self.0.queue.reject());
            }
        };
        let mut is_overdue = false;
        let mut deadline = std::pin::pin!(tokio::time::sleep(self.0.config.stale_wait));
        loop {
            tokio::select! {
                biased;
                changed = in_flight.changed() => {
                    // The sender is dropped when the refresh is complete.
                    if changed.is_err() {
                        return self.outcome(&slot);
                    }
                }
                () = &mut deadline, if !is_overdue => is_overdue = true,
            }
            // A page was loaded from disk, or the client has waited long enough for a newer one.
            if let Some(served) = self.stored_while_refreshing(&slot, is_overdue) {
                return Ok(served);
            }
        }
    }

    /// Returns a page that may be served before the running refresh is complete.
    fn stored_while_refreshing(&self, slot: &Arc<Slot>, is_overdue: bool) -> Option<CachedPage> {
        let state = slot.state.lock();
        if !self.0.flights.is_refreshing(slot) {
            return None;
        }
        let config = &self.0.config;
        let time = if is_overdue { config.stale_if_error } else { config.stale_while_revalidate };
        let served = self.stale(&state, time)?;
        let is_fresh = Instant::now() < state.fresh_until;
        Some(if is_fresh { CachedPage { status: CacheStatus::Hit, ..served } } else { served })
    }

    /// Looks a page up in memory, and starts a refresh if it is needed.
    fn lookup(&self, slot: &Arc<Slot>) -> Lookup {
        let state = slot.state.lock();
        let now = Instant::now();
        if slot.record_use(now) {
            self.record_use_on_disk(slot);
        }
        let is_current = match &state.content {
            Content::Page(page) => self.has_current_rules(page),
            Content::NotFound | Content::NotLoaded => true,
        };
        if now < state.fresh_until && is_current {
            match &state.content {
                Content::Page(page) => {
                    return Lookup::Served(Ok(CachedPage { page: page.clone(), status: CacheStatus::Hit }));
                }
                Content::NotFound => return Lookup::Served(Err(Error::new(Kind::NotFound).remembered())),
                Content::NotLoaded => {}
            }
        }
        // Changed rules are applied to the page even if the upstream sent `Retry-After`.
        if let (Some((Some(at), failure)), true) = (&state.failure, is_current) {
            let pause = failure.retry_after().map(|time| (*at + time).saturating_duration_since(now));
            let is_backing_off = now < *at + UPSTREAM_BACKOFF || pause.is_some_and(|pause| !pause.is_zero());
            if is_backing_off && let Some(served) = self.stale(&state, self.0.config.stale_if_error) {
                return Lookup::Served(Ok(served));
            }
            // The upstream sent `Retry-After`.
            if let Some(pause) = pause.filter(|pause| !pause.is_zero()) {
                return Lookup::Served(Err(failure.repeat().retried_after(Some(pause))));
            }
        }
        let join = |(of, in_flight): &Refresh| Arc::ptr_eq(of, slot).then(|| (in_flight.clone(), None));
        let start = || {
            let started = self.0.queue.try_enter().map(|permit| {
                let (done, in_flight) = watch::channel(());
                ((slot.clone(), in_flight.clone()), (in_flight, Some((done, permit))))
            });
            started.ok_or(())
        };
        let joined = self.0.flights.join_or_start(&slot.resource, join, start);
        let Ok(((in_flight, task), flight)) = joined else {
            return match self.stale(&state, self.0.config.stale_if_error) {
                Some(served) => Lookup::Served(Ok(served)),
                None => Lookup::Full,
            };
        };
        if let (Some((done, permit)), Some(flight)) = (task, flight) {
            system::spawn(self.clone().run_refresh(slot.clone(), done, flight, permit));
        }
        match self.stale(&state, self.0.config.stale_while_revalidate) {
            Some(served) => Lookup::Served(Ok(served)),
            None => Lookup::Wait(in_flight),
        }
    }

    /// Records on disk that a page in memory is used, so that its copies on disk are not evicted.
    #[cold]
    fn record_use_on_disk(&self, slot: &Arc<Slot>) {
        let Some(disk) = self.0.disk.clone() else { return };
        let indexes: Vec<_> = self.upstreams().iter().map(|upstream| upstream.id()).collect();
        let slot = slot.clone();
        system::spawn_blocking(move || disk.record_use(&indexes, &slot.resource));
    }

    /// Returns the result of a completed refresh, even if the page is stale again by now.
    fn outcome(&self, slot: &Slot) -> Result<CachedPage, Error> {
        let state = slot.state.lock();
        match (&state.content, &state.failure) {
            (_, Some((_, failure))) => {
                self.stale(&state, self.0.config.stale_if_error).ok_or_else(|| failure.repeat())
            }
            (Content::Page(page), None) => Ok(CachedPage { page: page.clone(), status: state.status }),
            (Content::NotFound, None) => Err(Error::new(Kind::NotFound)),
            (Content::NotLoaded, None) => Err(Error::with(Kind::Upstream, "the request was aborted")),
        }
    }

    /// Returns the page if it expired less than `time` ago and the rules have not changed.
    fn stale(&self, state: &State, time: Duration) -> Option<CachedPage> {
        match &state.content {
            Content::Page(page)
                if Instant::now() < state.fresh_until + time && self.has_current_rules(page) =>
            {
                Some(CachedPage { page: page.clone(), status: CacheStatus::Stale })
            }
            _ => None,
        }
    }

    /// Removes a slot that was created for a rejected request.
    fn drop_unused(&self, slot: &Arc<Slot>) {
        let mut slots = self.0.slots.lock();
        let state = slot.state.lock();
        let has_content = !matches!(state.content, Content::NotLoaded);
        let is_unused = !has_content && state.failure.is_none() && !self.0.flights.is_refreshing(slot);
        if slots.has(slot) && is_unused {
            slots.remove(&slot.resource);
        }
    }

    /// Updates the size of a slot, and evicts the least recently requested ones while the limit is exceeded.
    fn account_and_evict(&self, slot: &Arc<Slot>) {
        let mut slots = self.0.slots.lock();
        if !slots.has(slot) {
            return;
        }
        {
            let mut state = slot.state.lock();
            // Negative entries take memory, too.
            let page = if let Content::Page(page) = &state.content { page.size_in_memory() } else { 0 };
            let size_in_memory = page + slot.size_in_memory(&state, self.upstreams().len());
            slots.bytes =
                slots.bytes + size_in_memory - std::mem::replace(&mut state.size_in_memory, size_in_memory);
        }
        let max = self.0.config.max_bytes;
        let is_kept = |other: &Arc<Slot>| {
            // The list of projects would soon be requested again.
            let is_list = other.resource == Resource::List;
            is_list || Arc::ptr_eq(other, slot) || self.0.flights.is_refreshing(other)
        };
        evict(&mut slots, max, is_kept, |slots| &mut slots.documents);
        evict(&mut slots, max, is_kept, |slots| &mut slots.projects);
    }
}

/// Returns the names that a private upstream has listed, from its pages and its project list on disk.
fn known_names(disk: &DiskCache, upstream: &Upstream) -> Vec<ProjectName> {
    let page = |name: Option<ProjectName>| {
        let slot = Slot::new(Resource::page(name.as_ref()));
        let (_, page) = disk.load(upstream, &slot.resource.entry())?;
        let part = parse_stored(page, &slot, upstream.page_url(name.as_ref()).path())?;
        let content = part.content.filter(|_| !part.is_redirected)?;
        Some(name.into_iter().chain(content.names()).collect::<Vec<_>>())
    };
    disk.projects(upstream.id()).into_iter().filter_map(page).flatten().collect()
}

/// Returns the slot of a key, which becomes the most recently used.
pub(super) fn slot_of<K: Clone + Eq + Hash>(
    slots: &mut LinkedHashMap<K, Arc<Slot>>,
    key: &K,
    resource: impl FnOnce() -> Resource,
) -> Arc<Slot> {
    if let Some(slot) = slots.to_back(key) {
        return slot.clone();
    }
    let slot = Arc::new(Slot::new(resource()));
    slots.insert(key.clone(), slot.clone());
    slot
}

/// Evicts the least recently requested entries of a map while the total size exceeds the limit, except for those that
/// are kept.
fn evict<K: Eq + Hash>(
    slots: &mut Slots,
    max: u64,
    is_kept: impl Fn(&Arc<Slot>) -> bool,
    map: impl Fn(&mut Slots) -> &mut LinkedHashMap<K, Arc<Slot>>,
) {
    let mut kept = Vec::new();
    while slots.bytes > max {
        let Some((key, oldest)) = map(slots).pop_front() else { break };
        if is_kept(&oldest) {
            kept.push((key, oldest));
        } else {
            slots.bytes -= std::mem::take(&mut oldest.state.lock().size_in_memory);
        }
    }
    for (key, slot) in kept {
        map(slots).insert(key, slot);
    }
}

impl fmt::Debug for PageCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageCache")
            .field("upstreams", &self.upstreams())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
