//! What was asked of an index, and what came.

use std::array;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

use crate::histogram::{Counted, Histogram};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Page = 0,
    File = 1,
}

/// Why there was no answer, or only part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Timeout = 0,
    /// No connection, or one that broke.
    Connection = 1,
}

impl Asked {
    pub(crate) const ALL: [Self; 2] = [Self::Page, Self::File];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::File => "file",
        }
    }
}

impl Fault {
    pub(crate) const ALL: [Self; 2] = [Self::Timeout, Self::Connection];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection",
        }
    }
}

/// Whether an index does what is asked of it, as far as the last request tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Unknown,
    Answers,
    Fails,
}

/// Counters of one index.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    kinds: [Counters; 2],
    condition: AtomicU8,
}

#[derive(Debug, Default)]
struct Counters {
    /// By the first digit of the status, 2 to 5.
    answers: [AtomicU64; 4],
    faults: [AtomicU64; 2],
    bytes: AtomicU64,
    /// Until the head of the answer.
    latency: Histogram,
}

impl Meter {
    pub(super) fn answered(&self, asked: Asked, status: StatusCode, time: Duration) {
        let counters = &self.kinds[asked as usize];
        let class = usize::from(status.as_u16() / 100).clamp(2, 5) - 2;
        counters.answers[class].fetch_add(1, Ordering::Relaxed);
        counters.latency.record(time);
        let is_refused = matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::PROXY_AUTHENTICATION_REQUIRED
                | StatusCode::TOO_MANY_REQUESTS
        );
        self.found(!is_refused && !status.is_server_error());
    }

    pub(super) fn failed(&self, asked: Asked, is_timeout: bool) {
        let fault = if is_timeout { Fault::Timeout } else { Fault::Connection };
        self.kinds[asked as usize].faults[fault as usize].fetch_add(1, Ordering::Relaxed);
        self.found(false);
    }

    pub(super) fn received(&self, asked: Asked, bytes: usize) {
        self.kinds[asked as usize].bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn found(&self, is_well: bool) {
        self.condition.store(if is_well { 1 } else { 2 }, Ordering::Relaxed);
    }

    pub(crate) fn condition(&self) -> Condition {
        match self.condition.load(Ordering::Relaxed) {
            0 => Condition::Unknown,
            1 => Condition::Answers,
            _ => Condition::Fails,
        }
    }

    /// How many answers there were, by the first digit of their status from 2 to 5.
    pub(crate) fn answers(&self, asked: Asked) -> [u64; 4] {
        array::from_fn(|class| self.kinds[asked as usize].answers[class].load(Ordering::Relaxed))
    }

    pub(crate) fn faults(&self, asked: Asked, fault: Fault) -> u64 {
        self.kinds[asked as usize].faults[fault as usize].load(Ordering::Relaxed)
    }

    /// Bytes of bodies, after decompression.
    pub(crate) fn bytes(&self, asked: Asked) -> u64 {
        self.kinds[asked as usize].bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn latency(&self, asked: Asked) -> Counted {
        self.kinds[asked as usize].latency.counted()
    }
}
