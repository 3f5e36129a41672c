//! Request counters of an index.

use std::ops::Index;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use http::StatusCode;

use crate::metrics::{Counter, Counters, Histogram, StatusClass, named};

named! {
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
    kinds: [KindMetrics; RequestKind::ALL.len()],
    condition: AtomicU8,
}

#[derive(Debug, Default)]
pub(crate) struct KindMetrics {
    pub(crate) responses: Counters<StatusClass>,
    pub(crate) faults: Counters<Fault>,
    /// Received body bytes after decompression.
    pub(crate) bytes: Counter,
    /// Time until the response header.
    pub(crate) latency: Histogram,
}

impl Index<RequestKind> for UpstreamMetrics {
    type Output = KindMetrics;

    fn index(&self, kind: RequestKind) -> &KindMetrics {
        &self.kinds[kind as usize]
    }
}

impl UpstreamMetrics {
    pub(super) fn record_response(&self, kind: RequestKind, status: StatusCode, time: Duration) {
        self[kind].responses[status.into()].add(1);
        self[kind].latency.record(time);
        let is_rejected = matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::PROXY_AUTHENTICATION_REQUIRED
                | StatusCode::TOO_MANY_REQUESTS
        );
        self.set_condition(!is_rejected && !status.is_server_error());
    }

    pub(super) fn record_failure(&self, kind: RequestKind, is_timeout: bool) {
        self[kind].faults[if is_timeout { Fault::Timeout } else { Fault::Connection }].add(1);
        self.set_condition(false);
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
}
