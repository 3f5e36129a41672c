//! Single flight: concurrent requests for a resource share one task. A queue limits the tasks that fetch pages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::Error;
use crate::error::Kind;
use crate::metrics::Counter;
use crate::resource::Resource;

/// Tasks in flight by resource, each with the state that its callers share.
pub(crate) struct Flights<T>(Mutex<HashMap<Resource, Arc<T>>>);

/// A flight, owned by its task. It ends when this is dropped, also if the task panics.
pub(crate) struct Flight<T> {
    flights: Arc<Flights<T>>,
    resource: Resource,
    shared: Arc<T>,
}

impl<T> Flights<T> {
    /// Returns the result of `join` for the flight of a resource. If there is no flight, or `join` returns `None`, `start`
    /// returns the shared state of a new flight and the result. The caller spawns the task of this flight.
    pub(crate) fn join_or_start<R, E>(
        self: &Arc<Self>,
        resource: &Resource,
        join: impl FnOnce(&T) -> Option<R>,
        start: impl FnOnce() -> Result<(T, R), E>,
    ) -> Result<(R, Option<Flight<T>>), E> {
        let mut flights = self.0.lock();
        if let Some(joined) = flights.get(resource).and_then(|shared| join(shared.as_ref())) {
            return Ok((joined, None));
        }
        let (shared, result) = start()?;
        let flight = Flight { flights: self.clone(), resource: resource.clone(), shared: Arc::new(shared) };
        flights.insert(resource.clone(), flight.shared.clone());
        Ok((result, Some(flight)))
    }

    /// Returns the result of `join` for the flight of a resource, if there is one.
    pub(crate) fn join<R>(&self, resource: &Resource, join: impl FnOnce(&T) -> Option<R>) -> Option<R> {
        self.0.lock().get(resource).and_then(|shared| join(shared.as_ref()))
    }

    /// Returns the result of a function for each flight.
    pub(crate) fn map<R>(&self, each: impl Fn(&T) -> R) -> Vec<R> {
        self.0.lock().values().map(|shared| each(shared.as_ref())).collect()
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.lock().len() as u64
    }
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Drop for Flight<T> {
    fn drop(&mut self) {
        let mut flights = self.flights.0.lock();
        // A flight that could not be joined has been replaced.
        if flights.get(&self.resource).is_some_and(|shared| Arc::ptr_eq(shared, &self.shared)) {
            flights.remove(&self.resource);
        }
    }
}

/// `Retry-After` of a request that is rejected because the queue is full.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limits the numbers of concurrent and of queued fetches of pages.
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
pub(crate) struct FetchPermit {
    running: Arc<Semaphore>,
    _all: OwnedSemaphorePermit,
}

impl FetchQueue {
    /// Creates a queue. At least one fetch may run, and each number is at most 1,000,000.
    pub(crate) fn new(max_running: usize, max_queued: usize) -> Arc<Self> {
        let max_running = max_running.clamp(1, 1_000_000);
        let max_all = max_running + max_queued.min(1_000_000);
        let (running, all) = (Arc::new(Semaphore::new(max_running)), Arc::new(Semaphore::new(max_all)));
        Arc::new(Self { running, all, max_running, max_all, rejected: Counter::default() })
    }

    /// Returns a place, or `None` if the queue is full.
    pub(crate) fn try_enter(&self) -> Option<FetchPermit> {
        let all = self.all.clone().try_acquire_owned().ok()?;
        Some(FetchPermit { running: self.running.clone(), _all: all })
    }

    /// Counts a rejected request and returns its error.
    #[cold]
    pub(crate) fn reject(&self) -> Error {
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
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.running.acquire().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_share_a_flight_until_it_ends_or_is_replaced() {
        let flights = Arc::new(Flights::default());
        // Only flights with small numbers can be joined.
        let join = |shared: &u8| (*shared < 9).then_some(*shared);
        let start =
            |new: u8| flights.join_or_start(&Resource::List, join, || Ok::<_, ()>((new, new))).unwrap();
        let (shared, first) = start(1);
        assert_eq!((shared, start(2).0, flights.count()), (1, 1, 1));
        drop(first);
        assert_eq!(flights.count(), 0);
        let (_, replaced) = start(9);
        let (shared, last) = start(3);
        drop(replaced);
        assert_eq!((shared, start(4).0, flights.map(|shared| *shared)), (3, 3, vec![3]));
        drop(last);
        assert_eq!(flights.join(&Resource::List, join), None);
        let failed = flights.join_or_start(&Resource::List, join, || Err::<(u8, u8), _>("full"));
        assert_eq!((failed.err(), flights.count()), (Some("full"), 0));
    }
}
