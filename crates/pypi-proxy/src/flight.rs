//! Single flight: concurrent requests for a resource share one task.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::resource::Resource;

/// Tasks in flight by resource, each with the state that its callers share. Clones share the tasks.
pub(crate) struct Flights<T>(Arc<Mutex<Running<T>>>);

struct Running<T> {
    flights: HashMap<Resource, (u64, T)>,
    started: u64,
}

/// A flight, owned by its task. It ends when this is dropped, also if the task panics.
pub(crate) struct Flight<T> {
    flights: Flights<T>,
    resource: Resource,
    number: u64,
}

impl<T> Flights<T> {
    /// Returns what `join` returns for the flight of a resource. If there is none, or `join` returns `None`, `start` returns
    /// the shared state of a new flight, which is returned as well: the caller starts its task.
    pub(crate) fn join_or_start<R, E>(
        &self,
        resource: &Resource,
        join: impl FnOnce(&T) -> Option<R>,
        start: impl FnOnce() -> Result<(T, R), E>,
    ) -> Result<(R, Option<Flight<T>>), E> {
        let mut running = self.0.lock();
        if let Some(joined) = running.flights.get(resource).and_then(|(_, shared)| join(shared)) {
            return Ok((joined, None));
        }
        let (shared, result) = start()?;
        running.started += 1;
        let number = running.started;
        running.flights.insert(resource.clone(), (number, shared));
        Ok((result, Some(Flight { flights: self.clone(), resource: resource.clone(), number })))
    }

    /// Returns what `join` returns for the flight of a resource, if there is one.
    pub(crate) fn join<R>(&self, resource: &Resource, join: impl FnOnce(&T) -> Option<R>) -> Option<R> {
        self.0.lock().flights.get(resource).and_then(|(_, shared)| join(shared))
    }

    /// Calls a function with each flight.
    pub(crate) fn all<R>(&self, each: impl Fn(&T) -> R) -> Vec<R> {
        self.0.lock().flights.values().map(|(_, shared)| each(shared)).collect()
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.lock().flights.len() as u64
    }
}

impl<T> Clone for Flights<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Running { flights: HashMap::new(), started: 0 })))
    }
}

impl<T> Drop for Flight<T> {
    fn drop(&mut self) {
        let mut running = self.flights.0.lock();
        // A flight that could not be joined has been replaced.
        if running.flights.get(&self.resource).is_some_and(|(number, _)| *number == self.number) {
            running.flights.remove(&self.resource);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_share_a_flight_until_it_ends_or_is_replaced() {
        let flights = Flights::default();
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
        assert_eq!((shared, start(4).0, flights.all(|shared| *shared)), (3, 3, vec![3]));
        drop(last);
        assert_eq!(flights.join(&Resource::List, join), None);
        let failed = flights.join_or_start(&Resource::List, join, || Err::<(u8, u8), _>("full"));
        assert_eq!((failed.err(), flights.count()), (Some("full"), 0));
    }
}
