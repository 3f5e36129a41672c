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
    record: Mutex<Record>,
    limits: Limits,
    counts: watch::Sender<Counts>,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
}

#[derive(Debug, Default)]
struct Record {
    requests: VecDeque<Request>,
    /// The length of all bodies.
    bytes: usize,
}

impl Log {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { record: Mutex::default(), limits, counts: watch::Sender::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record(&self, request: &Request) {
        let mut record = self.lock();
        record.bytes += request.body.len();
        record.requests.push_back(request.clone());
        while record.requests.len() > self.limits.requests || record.bytes > self.limits.bytes {
            let Some(oldest) = record.requests.pop_front() else { break };
            record.bytes -= oldest.body.len();
        }
        drop(record);
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
        self.lock().requests.iter().cloned().collect()
    }

    pub(crate) fn take(&self) -> Vec<Request> {
        let mut record = self.lock();
        record.bytes = 0;
        std::mem::take(&mut record.requests).into()
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
