//! Request counters of an index.

use std::array;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use http::StatusCode;

use crate::counter::Counter;
use crate::histogram::{Histogram, HistogramSnapshot};
use crate::named::named;

named! {
    /// Kind of a request to an index.
    pub(crate) enum RequestKind {
        Page = "page",
        File = "file",
    }
}

named! {
    /// Transport error of a request.
    pub(crate) enum Fault {
        Timeout = "timeout",
        /// The connection failed or broke.
        Connection = "connection",
    }
}

/// State of an index after its last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Unknown,
    Responding,
    Failing,
}

/// Request counters of one index.
#[derive(Debug, Default)]
pub(crate) struct UpstreamMetrics {
    kinds: [Counters; 2],
    condition: AtomicU8,
}

#[derive(Debug, Default)]
struct Counters {
    /// Responses by status class, 2xx to 5xx.
    responses: [Counter; 4],
    faults: [Counter; 2],
    bytes: Counter,
    /// Time until the response header.
    latency: Histogram,
}

impl UpstreamMetrics {
    pub(super) fn record_response(&self, kind: RequestKind, status: StatusCode, time: Duration) {
        let counters = &self.kinds[kind as usize];
        let class = usize::from(status.as_u16() / 100).clamp(2, 5) - 2;
        counters.responses[class].add(1);
        counters.latency.record(time);
        let is_rejected = matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::PROXY_AUTHENTICATION_REQUIRED
                | StatusCode::TOO_MANY_REQUESTS
        );
        self.set_condition(!is_rejected && !status.is_server_error());
    }

    pub(super) fn record_failure(&self, kind: RequestKind, is_timeout: bool) {
        let fault = if is_timeout { Fault::Timeout } else { Fault::Connection };
        self.kinds[kind as usize].faults[fault as usize].add(1);
        self.set_condition(false);
    }

    pub(super) fn record_bytes(&self, kind: RequestKind, bytes: usize) {
        self.kinds[kind as usize].bytes.add(bytes as u64);
    }

    fn set_condition(&self, is_success: bool) {
        self.condition.store(if is_success { 1 } else { 2 }, Ordering::Relaxed);
    }

    pub(crate) fn condition(&self) -> Condition {
        match self.condition.load(Ordering::Relaxed) {
            0 => Condition::Unknown,
            1 => Condition::Responding,
            _ => Condition::Failing,
        }
    }

    /// Returns the responses by status class, 2xx to 5xx.
    pub(crate) fn responses(&self, kind: RequestKind) -> [u64; 4] {
        array::from_fn(|class| self.kinds[kind as usize].responses[class].get())
    }

    pub(crate) fn faults(&self, kind: RequestKind, fault: Fault) -> u64 {
        self.kinds[kind as usize].faults[fault as usize].get()
    }

    /// Returns the received body bytes after decompression.
    pub(crate) fn bytes(&self, kind: RequestKind) -> u64 {
        self.kinds[kind as usize].bytes.get()
    }

    pub(crate) fn latency(&self, kind: RequestKind) -> HistogramSnapshot {
        self.kinds[kind as usize].latency.snapshot()
    }
}
