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

    /// What was learned of the files, and how often.
    pub(super) fn learned(&self) -> std::sync::MutexGuard<'_, (Facts, u64)> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
