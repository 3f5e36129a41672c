//! State of one page in the cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use object_store::UpdateVersion;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::disk::{DiskCache, StoredPage};
use super::document::Document;
use super::{CacheStatus, RenderedPage};
use crate::error::Kind;
use crate::page::{ProjectFacts, ProjectList};
use crate::resource::Resource;
use crate::upstream::{PageBody, Validators};
use crate::{Error, ProjectName, system};

/// Estimated bytes of an entry in a hash table of pointers with the lowest possible load.
const HASH_ENTRY: usize = 24;
/// Estimated bytes of an error with its cause.
const FAILURE_SIZE: usize = 512;
/// Allocations of a slot without a page: two names, the slot, its map entry, and the upstreams' pages.
const ALLOCATIONS: usize = 5;
/// Estimated overhead of the allocator, in bytes per allocation.
const ALLOCATOR_OVERHEAD: usize = 16;

/// Cache slot of a document.
pub(super) struct Slot {
    pub(super) resource: Resource,
    pub(super) state: Mutex<State>,
    /// The upstreams' pages. Locked while a refresh is running.
    pub(super) parts: tokio::sync::Mutex<Option<Vec<UpstreamPage>>>,
    /// Facts about the files, with the number of changes so far.
    pub(super) facts: Mutex<(ProjectFacts, u64)>,
    /// Number of changes that the facts on disk have. Locked while they are written.
    stored_facts: Mutex<u64>,
    created: Instant,
    /// Minutes from `created` to the last use that was recorded on disk.
    used: AtomicU64,
}

pub(super) struct State {
    pub(super) content: Content,
    pub(super) fresh_until: Instant,
    /// Error of the last refresh and when it happened; no time if the next request need not wait.
    pub(super) failure: Option<(Option<Instant>, Error)>,
    /// Bytes that the slot counts toward the total of the cache.
    pub(super) size_in_memory: u64,
    /// Cache status for the clients that waited for the last refresh.
    pub(super) status: CacheStatus,
}

impl State {
    /// Forgets the error of the last refresh, and that the project was not found.
    pub(super) fn forget_failure(&mut self) {
        self.failure = None;
        self.end_backoff();
    }

    /// Lets the next request contact the upstreams, although the last refresh failed or did not find the project.
    pub(super) fn end_backoff(&mut self) {
        if let Some((at, _)) = &mut self.failure {
            *at = None;
        }
        if matches!(self.content, Content::NotFound) {
            self.fresh_until = Instant::now();
        }
    }
}

#[derive(Clone)]
pub(super) enum Content {
    NotLoaded,
    NotFound,
    Page(Arc<RenderedPage>),
}

#[derive(Clone, Default)]
pub(super) struct UpstreamPage {
    pub(super) content: Option<Document>,
    pub(super) validators: Validators,
    /// When the upstream last sent or confirmed the page; `None` if it never did.
    pub(super) checked: Option<SystemTime>,
    pub(super) modified: Option<SystemTime>,
    /// Whether the page came from another origin, so that it claims no name.
    pub(super) is_redirected: bool,
    /// Whether the upstream was not contacted, because the project may not be taken from it.
    pub(super) is_excluded: bool,
    /// Number of changes of the facts when the content was parsed.
    pub(super) facts_version: u64,
    /// Version of the object in the bucket when it was last read.
    pub(super) bucket_version: Option<UpdateVersion>,
}

impl UpstreamPage {
    /// A project that the upstream does not have.
    pub(super) fn missing() -> Self {
        Self { checked: Some(system::now()), ..Self::default() }
    }

    /// A project that may not be taken from the upstream.
    pub(super) fn excluded() -> Self {
        Self { is_excluded: true, ..Self::missing() }
    }

    /// Returns the time since the last confirmation, or [`Duration::MAX`] if it is unknown or in the future.
    pub(super) fn age(&self) -> Duration {
        self.checked.and_then(|checked| system::now().duration_since(checked).ok()).unwrap_or(Duration::MAX)
    }
}

impl State {
    /// Replaces the content. Unchanged content keeps its encoded variants and its modification date.
    pub(super) fn replace(&mut self, content: Content) {
        match (&self.content, &content) {
            (Content::Page(old), Content::Page(new)) if old.is_same(new) => old.confirm_rules(new),
            (Content::Page(old), Content::Page(new)) => {
                new.inherit_counts(old);
                self.content = content;
            }
            _ => self.content = content,
        }
    }
}

impl Slot {
    pub(super) fn new(resource: Resource) -> Self {
        let state = State {
            content: Content::NotLoaded,
            fresh_until: Instant::now(),
            failure: None,
            size_in_memory: 0,
            status: CacheStatus::Miss,
        };
        Self {
            resource,
            state: Mutex::new(state),
            parts: tokio::sync::Mutex::new(None),
            facts: Mutex::default(),
            stored_facts: Mutex::default(),
            created: Instant::now(),
            used: AtomicU64::new(0),
        }
    }

    /// Writes the facts to disk, unless a concurrent call has written them. If it fails, they are only missing after the next
    /// start, or are requested again.
    pub(super) fn store_facts(&self, disk: &DiskCache, project: &ProjectName) {
        let mut stored = self.stored_facts.lock();
        let (facts, version) = self.facts.lock().clone();
        if version > *stored && disk.store_facts(project, &facts).is_ok() {
            *stored = version;
        }
    }

    /// Records a use. Returns whether it is due to be recorded on disk: once a minute.
    pub(super) fn record_use(&self, now: Instant) -> bool {
        let minute = now.saturating_duration_since(self.created).as_secs() / 60;
        let last = self.used.load(Ordering::Relaxed);
        // One of several concurrent requests records it.
        minute > last
            && self.used.compare_exchange(last, minute, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Returns the minute of the last use.
    pub(super) fn last_use(&self) -> SystemTime {
        let used = self.created + Duration::from_secs(60 * self.used.load(Ordering::Relaxed));
        let now = system::now();
        now.checked_sub(used.elapsed()).unwrap_or(now)
    }

    /// Returns the bytes in memory without the page: the slot, its map entry, and the state per upstream.
    pub(super) fn size_in_memory(&self, state: &State, indexes: usize) -> u64 {
        // The texts are in the slot and in the map key.
        let names = 2 * self.resource.text_len();
        let entry = size_of::<(ProjectName, Arc<Self>)>() + 2 * size_of::<usize>() + HASH_ENTRY;
        let parts = indexes * size_of::<UpstreamPage>();
        let failure = if state.failure.is_some() { FAILURE_SIZE } else { 0 };
        (size_of::<Self>() + names + entry + parts + failure + ALLOCATIONS * ALLOCATOR_OVERHEAD) as u64
    }
}

/// Returns whether the new page has a lower serial, which means that it comes from an outdated copy of the index.
pub(super) fn is_older(new: &Document, old: Option<&Document>) -> bool {
    matches!((new.serial(), old.and_then(Document::serial)), (Some(new), Some(old)) if new < old)
}

/// `page` is the path of the page at the index.
pub(super) fn parse_stored(stored: StoredPage, slot: &Slot, page: &str) -> Option<UpstreamPage> {
    let (facts, facts_version) = slot.facts.lock().clone();
    let (validators, is_redirected) = (stored.body.validators.clone(), stored.body.is_redirected);
    let content = parse_body(stored.body, &slot.resource, page, &facts).ok()?;
    let (checked, modified) = (Some(stored.checked), Some(stored.modified));
    Some(UpstreamPage {
        content: Some(content),
        validators,
        checked,
        modified,
        is_redirected,
        is_excluded: false,
        facts_version,
        bucket_version: None,
    })
}

/// Parses the body of a response, in JSON or HTML: a document, the page of a project, or the project list. `page` is the
/// path of the page at the index.
pub(super) fn parse_body(
    body: PageBody,
    resource: &Resource,
    page: &str,
    facts: &ProjectFacts,
) -> Result<Document, Error> {
    match resource {
        Resource::List => {
            let list = ProjectList::parse(body.bytes, body.is_json, page);
            list.map(|list| Document::List(Arc::new(list)))
        }
        Resource::Page(project) => {
            let page = body.into_page(project, page, facts);
            page.map(|page| Document::Project(Arc::new(page)))
        }
        // Files are no documents.
        Resource::Json(..) | Resource::Provenance(_) | Resource::File(_) => {
            match tightwire_json::from_slice::<serde::de::IgnoredAny>(&body.bytes) {
                Ok(_) => Ok(Document::Json { json: body.bytes.into(), serial: body.serial }),
                Err(error) => Err(Error::with(Kind::Page, "a document that is not JSON").caused_by(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_use_is_recorded_once_a_minute() {
        let slot = Slot::new(Resource::List);
        let mut recorded = 0;
        for _ in 0..181 {
            recorded += usize::from(slot.record_use(Instant::now()));
            assert!(!slot.record_use(Instant::now()));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(recorded, 3);
    }
}
