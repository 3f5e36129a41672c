//! Queue that limits concurrent page fetches.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use super::Config;
use crate::Error;
use crate::error::Kind;
use crate::metrics::Counter;

/// `Retry-After` of a request that is rejected because the queue is full.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limits the pages that are fetched at a time and those that wait for it.
pub(crate) struct FetchQueue {
    /// One permit per fetch in flight.
    running: Arc<Semaphore>,
    /// One permit per fetch in flight or queued.
    all: Arc<Semaphore>,
    max_running: usize,
    max_all: usize,
    pub(crate) rejected: Counter,
}

/// A place in the queue.
pub(super) struct FetchPermit {
    running: Arc<Semaphore>,
    _all: OwnedSemaphorePermit,
}

impl FetchQueue {
    pub(super) fn of(config: &Config) -> Arc<Self> {
        Arc::new(Self::new(config.max_fetches.clamp(1, 1_000_000), config.max_queued.min(1_000_000)))
    }

    pub(super) fn new(max_running: usize, max_queued: usize) -> Self {
        let max_all = max_running + max_queued;
        let (running, all) = (Arc::new(Semaphore::new(max_running)), Arc::new(Semaphore::new(max_all)));
        Self { running, all, max_running, max_all, rejected: Counter::default() }
    }

    /// Returns a place, or `None` if the queue is full.
    pub(super) fn try_enter(&self) -> Option<FetchPermit> {
        let all = self.all.clone().try_acquire_owned().ok()?;
        Some(FetchPermit { running: self.running.clone(), _all: all })
    }

    /// Counts a rejected request and returns its error.
    #[cold]
    pub(super) fn reject(&self) -> Error {
        self.rejected.add(1);
        Error::with(Kind::Limit, "too many pages are being fetched from the indexes")
            .retried_after(Some(RETRY_AFTER))
    }

    pub(crate) fn running(&self) -> u64 {
        self.max_running.saturating_sub(self.running.available_permits()) as u64
    }

    pub(crate) fn queued(&self) -> u64 {
        let all = self.max_all.saturating_sub(self.all.available_permits()) as u64;
        all.saturating_sub(self.running())
    }
}

impl FetchPermit {
    /// Waits until the fetch may start. Never returns `None`, because the semaphore is not closed.
    pub(super) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.running.acquire().await.ok()
    }
}
