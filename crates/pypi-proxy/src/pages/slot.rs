//! What is known of one page.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use object_store::UpdateVersion;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Entry, Verdict};
use crate::page::{Facts, Page, ProjectList};
use crate::upstream::Validators;
use crate::{Error, ProjectName};

/// Bytes of an entry in a hash table of pointers that is as empty as it ever gets.
const HASH_ENTRY: usize = 24;
/// Bytes of an error with its cause, about.
const FAILURE: usize = 512;
/// Allocations of a slot without a page: two names, the slot, its entry in the map, and the parts. Each has about as many
/// bytes of the allocator's own.
const ALLOCATIONS: usize = 5;
const ALLOCATION: usize = 16;

/// The page of a project, or the list of all if there is no name.
pub(super) struct Slot {
    pub(super) name: Option<ProjectName>,
    pub(super) state: Mutex<State>,
    /// Held by the one that asks the indexes.
    pub(super) parts: tokio::sync::Mutex<Option<Vec<Part>>>,
    /// What was learned of the files, with how often that was so.
    learned: Mutex<(Facts, u64)>,
}

pub(super) struct State {
    pub(super) known: Known,
    pub(super) fresh_until: Instant,
    /// There while the indexes are asked; it changes when they have answered.
    pub(super) running: Option<watch::Receiver<()>>,
    /// Why they could not be asked the last time, and when.
    pub(super) failure: Option<(Instant, Error)>,
    /// What the entry counted with when it was last weighed.
    pub(super) weight: u64,
    /// What the page is to those who waited for it.
    pub(super) came: Verdict,
}

impl State {
    /// Whether nothing is known and nobody asks.
    pub(super) fn is_unused(&self) -> bool {
        matches!(self.known, Known::Nothing) && self.running.is_none() && self.failure.is_none()
    }
}

#[derive(Clone)]
pub(super) enum Known {
    Nothing,
    Missing,
    Page(Arc<Entry>),
}

/// What one index has.
#[derive(Clone, Default)]
pub(super) struct Part {
    pub(super) content: Option<PartContent>,
    pub(super) validators: Validators,
    /// When the index last said that this is how it is; `None` if it never did.
    pub(super) checked: Option<SystemTime>,
    pub(super) modified: Option<SystemTime>,
    /// How often something had been learned of the files when the content was read.
    pub(super) learned: u64,
    /// The version that the bucket had when it was last looked for there.
    pub(super) shared: Option<UpdateVersion>,
}

#[derive(Clone)]
pub(super) enum PartContent {
    Project(Arc<Page>),
    List(Arc<ProjectList>),
}

impl Part {
    /// How long ago it was checked; a clock that was set back makes it as old as can be.
    pub(super) fn age(&self) -> Duration {
        self.checked
            .and_then(|checked| SystemTime::now().duration_since(checked).ok())
            .unwrap_or(Duration::MAX)
    }
}

impl Slot {
    pub(super) fn new(name: Option<ProjectName>) -> Self {
        let state = State {
            known: Known::Nothing,
            fresh_until: Instant::now(),
            running: None,
            failure: None,
            weight: 0,
            came: Verdict::Miss,
        };
        Self {
            name,
            state: Mutex::new(state),
            parts: tokio::sync::Mutex::new(None),
            learned: Mutex::default(),
        }
    }

    /// Bytes in memory beside the page: the slot, its entry in the map of all slots, and what is known of each index.
    pub(super) fn weight(&self, state: &State, indexes: usize) -> u64 {
        // Once in the slot, once as the key.
        let names = self.name.as_ref().map_or(0, |name| 2 * name.as_str().len());
        let entry = size_of::<(ProjectName, Arc<Self>)>() + 2 * size_of::<usize>() + HASH_ENTRY;
        let parts = indexes * size_of::<Part>();
        let failure = if state.failure.is_some() { FAILURE } else { 0 };
        (size_of::<Self>() + names + entry + parts + failure + ALLOCATIONS * ALLOCATION) as u64
    }

    /// What was learned of the files, and how often.
    pub(super) fn learned(&self) -> std::sync::MutexGuard<'_, (Facts, u64)> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
