//! What the server has seen.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::request::Request;

/// How much the server has seen so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests received whole.
    pub requests: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Connections that are open now.
    pub open: u64,
}

/// The newest requests, and counts of everything.
#[derive(Debug)]
pub(crate) struct Log {
    requests: Mutex<VecDeque<Request>>,
    max_requests: usize,
    counts: watch::Sender<Counts>,
}

impl Log {
    pub(crate) fn new(max_requests: usize) -> Self {
        Self { requests: Mutex::default(), max_requests, counts: watch::Sender::default() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record(&self, request: &Request) {
        if self.max_requests > 0 {
            let mut requests = self.lock();
            if requests.len() == self.max_requests {
                requests.pop_front();
            }
            requests.push_back(request.clone());
        }
        self.counts.send_modify(|counts| counts.requests += 1);
    }

    /// Counts a new connection and gives it its number.
    pub(crate) fn opened(&self) -> u64 {
        let mut number = 0;
        self.counts.send_modify(|counts| {
            counts.connections += 1;
            counts.open += 1;
            number = counts.connections;
        });
        number
    }

    pub(crate) fn closed(&self) {
        self.counts.send_modify(|counts| counts.open -= 1);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.lock().iter().cloned().collect()
    }

    pub(crate) fn take(&self) -> Vec<Request> {
        self.lock().drain(..).collect()
    }

    pub(crate) fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    pub(crate) async fn wait_for(&self, condition: impl FnMut(&Counts) -> bool) -> Counts {
        let mut receiver = self.counts.subscribe();
        // The sender lives in `self`, so that the channel cannot end meanwhile.
        *receiver.wait_for(condition).await.expect("the sender lives")
    }
}
