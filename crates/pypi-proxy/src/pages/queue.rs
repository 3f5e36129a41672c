//! The queue of pages that are requested from the indexes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::Error;
use crate::error::Kind;

/// After how long a client may try again when the queue is full.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limits how many pages are requested at once, and how many wait for that.
pub(crate) struct Queue {
    /// A permit for each page that is requested.
    running: Arc<Semaphore>,
    /// A permit for each of these and for each page in the queue.
    all: Arc<Semaphore>,
    max_running: usize,
    max_all: usize,
    rejected: AtomicU64,
}

/// The place of a page in the queue.
pub(super) struct Place {
    running: Arc<Semaphore>,
    _all: OwnedSemaphorePermit,
}

impl Queue {
    pub(super) fn new(max_running: usize, max_queued: usize) -> Self {
        let max_all = max_running + max_queued;
        let (running, all) = (Arc::new(Semaphore::new(max_running)), Arc::new(Semaphore::new(max_all)));
        Self { running, all, max_running, max_all, rejected: AtomicU64::new(0) }
    }

    /// A place, unless the queue is full.
    pub(super) fn enter(&self) -> Option<Place> {
        let all = self.all.clone().try_acquire_owned().ok()?;
        Some(Place { running: self.running.clone(), _all: all })
    }

    /// Counts a request for which there was no place.
    #[cold]
    pub(super) fn reject(&self) -> Error {
        self.rejected.fetch_add(1, Ordering::Relaxed);
        Error::with(Kind::Limit, "too many pages are requested from the indexes at once")
            .retried_after(Some(RETRY_AFTER))
    }

    /// Pages that are requested now.
    pub(crate) fn running(&self) -> u64 {
        self.max_running.saturating_sub(self.running.available_permits()) as u64
    }

    /// Pages that wait for that.
    pub(crate) fn queued(&self) -> u64 {
        let all = self.max_all.saturating_sub(self.all.available_permits()) as u64;
        all.saturating_sub(self.running())
    }

    /// Requests that were rejected so far.
    pub(crate) fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }
}

impl Place {
    /// Waits until the page may be requested. The semaphore is never closed.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.running.acquire().await.ok()
    }
}
