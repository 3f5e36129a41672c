//! Record of requests and connection counts.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::request::Request;
use crate::server::Config;

/// Counts of requests and connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Complete requests received.
    pub requests: u64,
    /// Accepted connections.
    pub connections: u64,
    /// Open connections.
    pub open: u64,
}

/// The newest requests, and the counts.
#[derive(Debug)]
pub(crate) struct Log {
    record: Mutex<Record>,
    config: Config,
    counts: watch::Sender<Counts>,
}

#[derive(Debug, Default)]
struct Record {
    requests: VecDeque<Request>,
    /// Total size of the recorded bodies.
    bytes: usize,
}

impl Log {
    pub(crate) fn new(config: Config) -> Self {
        Self { record: Mutex::default(), config, counts: watch::Sender::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record(&self, request: &Request) {
        let mut record = self.lock();
        record.bytes += request.body.len();
        record.requests.push_back(request.clone());
        while record.requests.len() > self.config.max_requests || record.bytes > self.config.max_record_bytes
        {
            let Some(oldest) = record.requests.pop_front() else { break };
            record.bytes -= oldest.body.len();
        }
        drop(record);
        self.counts.send_modify(|counts| counts.requests += 1);
    }

    /// Counts a new connection and returns its number.
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
        // `self` owns the sender, so the channel stays open.
        *receiver.wait_for(condition).await.expect("the sender lives")
    }
}
