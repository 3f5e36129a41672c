//! State of one page in the cache.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use object_store::UpdateVersion;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{CacheStatus, RenderedPage};
use crate::page::{Page, ProjectFacts, ProjectList};
use crate::upstream::Validators;
use crate::{Error, ProjectName};

/// Estimated bytes of an entry in a hash table of pointers with the lowest possible load.
const HASH_ENTRY: usize = 24;
/// Estimated bytes of an error with its cause.
const FAILURE_SIZE: usize = 512;
/// Allocations of a slot without a page: two names, the slot, its map entry, and the upstreams' pages.
const ALLOCATIONS: usize = 5;
/// Estimated overhead of the allocator, in bytes per allocation.
const ALLOCATOR_OVERHEAD: usize = 16;

/// Cache slot of a project's page, or of the project list if there is no name.
pub(super) struct Slot {
    pub(super) name: Option<ProjectName>,
    pub(super) state: Mutex<State>,
    /// The upstreams' pages. Locked while a refresh is running.
    pub(super) parts: tokio::sync::Mutex<Option<Vec<UpstreamPage>>>,
    /// Facts about the files, with the number of changes so far.
    facts: Mutex<(ProjectFacts, u64)>,
}

pub(super) struct State {
    pub(super) content: Content,
    pub(super) fresh_until: Instant,
    /// Present while a refresh is running. Its sender is dropped when the refresh is complete.
    pub(super) in_flight: Option<watch::Receiver<()>>,
    /// Error of the last refresh and when it happened.
    pub(super) failure: Option<(Instant, Error)>,
    /// Bytes that the slot counts toward the total of the cache.
    pub(super) size_in_memory: u64,
    /// Cache status for the clients that waited for the last refresh.
    pub(super) status: CacheStatus,
}

impl State {
    /// Returns whether there is no content, no error, and no refresh in flight.
    pub(super) fn is_unused(&self) -> bool {
        matches!(self.content, Content::NotLoaded) && self.in_flight.is_none() && self.failure.is_none()
    }
}

#[derive(Clone)]
pub(super) enum Content {
    NotLoaded,
    NotFound,
    Page(Arc<RenderedPage>),
}

/// The page of one upstream.
#[derive(Clone, Default)]
pub(super) struct UpstreamPage {
    pub(super) content: Option<UpstreamContent>,
    pub(super) validators: Validators,
    /// When the upstream last sent or confirmed the page; `None` if it never did.
    pub(super) checked: Option<SystemTime>,
    pub(super) modified: Option<SystemTime>,
    /// Number of changes of the facts when the content was parsed.
    pub(super) facts_version: u64,
    /// Version of the object in the bucket when it was last read.
    pub(super) bucket_version: Option<UpdateVersion>,
}

#[derive(Clone)]
pub(super) enum UpstreamContent {
    Project(Arc<Page>),
    List(Arc<ProjectList>),
}

impl UpstreamPage {
    /// Returns the time since the last confirmation, or [`Duration::MAX`] if it is unknown or in the future.
    pub(super) fn age(&self) -> Duration {
        self.checked
            .and_then(|checked| SystemTime::now().duration_since(checked).ok())
            .unwrap_or(Duration::MAX)
    }
}

impl Slot {
    pub(super) fn new(name: Option<ProjectName>) -> Self {
        let state = State {
            content: Content::NotLoaded,
            fresh_until: Instant::now(),
            in_flight: None,
            failure: None,
            size_in_memory: 0,
            status: CacheStatus::Miss,
        };
        Self { name, state: Mutex::new(state), parts: tokio::sync::Mutex::new(None), facts: Mutex::default() }
    }

    /// Returns the bytes in memory without the page: the slot, its map entry, and the state per upstream.
    pub(super) fn size_in_memory(&self, state: &State, indexes: usize) -> u64 {
        // The name is in the slot and in the map key.
        let names = self.name.as_ref().map_or(0, |name| 2 * name.as_str().len());
        let entry = size_of::<(ProjectName, Arc<Self>)>() + 2 * size_of::<usize>() + HASH_ENTRY;
        let parts = indexes * size_of::<UpstreamPage>();
        let failure = if state.failure.is_some() { FAILURE_SIZE } else { 0 };
        (size_of::<Self>() + names + entry + parts + failure + ALLOCATIONS * ALLOCATOR_OVERHEAD) as u64
    }

    pub(super) fn facts(&self) -> std::sync::MutexGuard<'_, (ProjectFacts, u64)> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // No code panics while it holds the lock in the middle of an update.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
